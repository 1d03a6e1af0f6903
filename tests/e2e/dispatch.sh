#!/bin/sh
# SPDX-License-Identifier: MIT
# tunepipe dispatch on regular files, folders and descriptors of all kinds.
set -u
: "${TP_BUILD:?is not set: run the tests with make check}"
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
cd "$folder" || exit 1
failed=0

# report NAME COMMAND...: its output is shown when it fails.
report() {
    name=dispatch_$1
    shift
    if "$@" > "$folder/out" 2>&1; then
        echo "ok $name"
    else
        sed 's/^/# /' "$folder/out"
        echo "FAILED $name"
        failed=1
    fi
}

# frame CODE [PAYLOAD] (ASCII)
frame() {
    payload=${2:-}
    printf '%s%014d%s' "$1" ${#payload} "$payload"
}

session() {
    frame IN '{"x":{"_type":"choice","_value":["only"]}}'
    frame PI
    frame GE 2
}

answers() {
    frame ID
    for id in 0 1; do
        frame TR "{\"parameter_id\": $id, \"parameter_source\": \
\"algorithm\", \"parameters\": {\"x\": \"only\"}, \"parameter_index\": 0}"
    done
}

dispatch() {
    "$TP_BUILD/tunepipe" dispatch --tuner random --seed 1 \
        --filter 'dedup:{"allow": true}' "$@"
}

# status WANTED COMMAND...: it ends with that status.
status() {
    wanted=$1
    shift
    "$@"
    got=$?
    [ $got = "$wanted" ] || {
        echo "status $got, expected $wanted"
        return 1
    }
}

from_file_to_file() {
    dispatch < in > got && cmp got want
}

from_file_to_pipe() {
    dispatch < in | cmp - want
}

from_pipe_to_file() {
    session | dispatch > got && cmp got want
}

from_null() {
    dispatch < /dev/null > got && [ ! -s got ]
}

appended() {
    echo before > got && dispatch < in >> got &&
        { echo before && cat want; } | cmp - got
}

full_device() {
    dispatch < in > /dev/full 2> err
    got=$?
    cat err
    [ $got = 4 ] &&
        grep -q 'output: the manager reads no more: No space left' err
}

# Both descriptors are the same file, open for reading and writing.
same_file() {
    cp in both && dispatch --in-fd 5 --out-fd 6 5< both 6>> both &&
        [ "$(wc -c < both)" -gt "$(wc -c < in)" ]
}

missing_parents() {
    dispatch --dir a/b/c < in > got && [ -f a/b/c/command.log ] &&
        [ "$(stat -c %a a/b a/b/c a/b/c/command.log | tr '\n' ' ')" = \
            '700 700 600 ' ] &&
        "$TP_BUILD/tunepipe" replay a/b/c --verify
}

a_log_is_there() {
    cp a/b/c/command.log kept &&
        status 5 dispatch --dir a/b/c < in 2> err &&
        grep -q 'a/b/c/command.log: an experiment is recorded there' err &&
        cmp kept a/b/c/command.log
}

folder_is_a_file() {
    status 5 dispatch --dir in < in 2> err && grep -q 'Not a directory' err &&
        status 5 dispatch --dir in/below < in 2> err &&
        grep -q 'in/below: cannot make the folder' err
}

# A second writer, while the first one lives: it is known to have the lock
# when it has answered.
second_writer() {
    mkfifo to from && dispatch --dir two < to > from 2> first.err &
    first=$!
    while [ ! -p from ]; do :; done
    exec 7> to 8< from
    session >&7
    head -c 16 <&8 > /dev/null
    status 5 dispatch --dir two < in 2> err
    got=$?
    exec 7>&- 8<&-
    wait $first
    cat err
    [ $got = 0 ] && grep -q 'two/command.lock: locked by process [0-9]' err
}

not_open() {
    status 2 dispatch --in-fd 7 < in 2> err &&
        grep -q 'descriptor 7 is not open' err
}

write_only_input() {
    status 4 dispatch --in-fd 7 7> file 2> err &&
        grep -q 'input: cannot read: Bad file descriptor' err
}

# One line, whatever is wrong with the command line.
usage() {
    for words in '--seed x' '--seed -1' '--seed 18446744073709551615' \
        '--digits 7' '--grace soon' '--max-queued 1X' \
        '--early-stopped never' '--on-error stop' '--ask-error no' \
        '--tuner-args {' '--seed' 'word' '--in-fd 70000'; do
        # shellcheck disable=SC2086
        status 2 dispatch $words < /dev/null 2> err || return 1
        [ "$(wc -l < err)" = 1 ] || {
            echo "$words:" && cat err
            return 1
        }
    done
}

# Killed before its log said that the failure of command 3 left command 4: that
# is handled by who goes on, and the log says so from then on.
killed_behind_a_failure() {
    { frame IN '{"x":{"_type":"choice","_value":["only"]}}'
      for _ in 1 2 3; do frame GE 1; done; } > three
    ! dispatch --on-error fail --filter 'error:{"call": "ask", "every": 2}' \
        --dir log < three > out1 &&
        at=$(grep -abm1 ' S 4 .*T left by the stop' log/command.log) &&
        head -c "${at%%:*}" log/command.log > cut && cat cut > log/command.log &&
        "$TP_BUILD/tunepipe" dispatch --resume --dir log < /dev/null > out2 &&
        grep -q '"parameter_id": 2' out2 &&
        [ "$(grep -ac ' S 4 .*T left by the stop' log/command.log)" = 1 ] &&
        "$TP_BUILD/tunepipe" dispatch --resume --dir log < /dev/null > out3 &&
        [ ! -s out3 ] &&
        "$TP_BUILD/tunepipe" replay log --verify
}

session > in
answers > want
report from_file_to_file from_file_to_file
report from_file_to_pipe from_file_to_pipe
report from_pipe_to_file from_pipe_to_file
report from_null from_null
report appends appended
report full_device full_device
report same_file same_file
report missing_parents missing_parents
report a_log_is_there a_log_is_there
report folder_is_a_file folder_is_a_file
report second_writer second_writer
report not_open not_open
report write_only_input write_only_input
report killed_behind_a_failure killed_behind_a_failure
report usage usage
exit $failed
