#!/bin/sh
# SPDX-License-Identifier: MIT
# Logs that must not be written: another process does, the file system is
# read-only, a newer tunepipe wrote them.  Each is named, and left as it is.
. "$(dirname "$0")/lib.sh"
HERE_SCRIPT=$(cd "$(dirname "$0")" && pwd)/log_refused.sh

if [ "${1:-}" = --read-only ]; then # FOLDER HERE: in a name space of its own
    mount -t tmpfs none "$2" && cp -r "$3/log" "$3/experiment" "$2" &&
        mount -o remount,ro "$2" && cd "$3" || exit 99
    "$T" dispatch --grace 1h --dir "$2/log" --resume < /dev/null 2> resumed
    echo $? >> resumed
    "$T" dispatch --grace 1h --quiet --tuner random --dir "$2/new" < /dev/null 2> new
    echo $? >> new
    "$T" resume "$2/experiment" > goes_on 2>&1
    echo $? >> goes_on
    "$T" log "$2/log" > log.out && "$T" replay --verify "$2/log" > replayed &&
        "$T" show "$2/experiment" > shown
    exit
fi

f() { printf '%s%014d%s' "$1" "${#2}" "$2"; }

session() {
    {
        f IN '{"x": {"_type": "uniform", "_value": [0, 1]}}'
        f GE 2
    } | "$T" dispatch --grace 1h --quiet --tuner random --seed 1 --dir log > answers
}

read_only() {
    session
    echo 'tunepipe trial report --final 1' | experiment 'maxTrialNumber: 1'
    run 0 && cp -r "$dir" experiment && rm experiment/summary.json &&
        mkdir mounted || return 1
    unshare -rm true 2> unshare || { echo 'no name space of its own'; return 77; }
    unshare -rm sh "$HERE_SCRIPT" --read-only "$PWD/mounted" "$PWD"
    [ $? = 99 ] && { echo 'no tmpfs of its own'; return 77; }
    for what in resumed new; do
        has $what 'Read-only file system' && [ "$(tail -n 1 $what)" = 5 ] &&
            [ "$(wc -l < $what)" = 2 ] || fail "$what: $(cat $what)" || return 1
    done
    has goes_on 'Read-only file system' && [ "$(tail -n 1 goes_on)" != 0 ] &&
        has replayed identical: && has shown 'trial' && has log.out 'GE2'
}
check "a read-only file system" read_only

two_writers() {
    session
    mkfifo in
    "$T" dispatch --grace 1h --quiet --dir log --resume < in > a.out 2> a.err &
    first=$!
    exec 4> in
    f PI '' >&4
    until grep -aq ' R 2 ' log/command.log; do kill -0 $first || return 1; done
    "$T" dispatch --grace 1h --dir log --resume < /dev/null 2> b.err
    [ $? = 5 ] && has b.err "log/command.lock: locked by process $first" &&
        "$T" replay --verify log > /dev/null || return 1
    kill -KILL $first
    wait $first
    exec 4>&-
    "$T" dispatch --grace 1h --dir log --resume < /dev/null > b.out 2> b.err &&
        "$T" replay --verify log > /dev/null
}
check "two writers, and one whose other was killed" two_writers

# An orphan, whose plugin computes for longer than anybody would wait for a lock:
# it has its grace, and is waited for.
a_writer_that_leaves() {
    mkfifo in
    "$T" dispatch --quiet --dir log --tuner hangs --plugin-path "$PLUGINS" \
        --tuner-args "{\"id\": 0, \"once\": \"$PWD/hung\"}" --grace 3s \
        < in > a.out 2> a.err &
    first=$!
    exec 4> in
    { f IN '{"x":{"_type":"choice","_value":["only"]}}'; f GE 1; } >&4
    until [ -e hung ]; do kill -0 $first || return 1; done
    exec 4>&-
    "$T" dispatch --dir log --resume --plugin-path "$PLUGINS" < /dev/null \
        > b.out 2> b.err || fail "$(cat b.err)" || return
    wait $first
    status=$?
    [ $status = 6 ] || fail "the first ended with $status" || return
    has b.out '"x": "only"' || return
    "$T" replay --verify --plugin-path "$PLUGINS" log > replayed ||
        fail "$(cat replayed)"
}
check "a writer whose manager is gone is waited for" a_writer_that_leaves

# Nothing is made there.
no_log() {
    mkdir empty
    for dir in empty nowhere; do
        "$T" dispatch --grace 1h --resume --dir "$dir" < /dev/null > out 2> err
        [ $? = 5 ] && has err "$dir/command.log: cannot open, expected an experiment's folder, with command.log: " ||
            return 1
    done
    [ -z "$(ls -A empty)" ] && [ ! -e nowhere ]
}
check "a folder without a log" no_log

# lefts LOG: sizes of what a dispatcher leaves of its beginning that is killed
# there, plain and followed by zeros; -: no log.
lefts() {
    head=$(head -n 2 "$1" | wc -c)
    for size in 0 7 15 16 30 60 $((head - 1)); do echo $size "$size+"; done
    echo -
}

# leave LOG SIZE: the log is that.
leave() {
    case $2 in
    -) rm "$1" ;;
    *+) truncate -s "${2%+}" "$1" && truncate -s +4096 "$1" ;;
    *) truncate -s "$2" "$1" ;;
    esac
}

unbegun() {
    session && cp -r log whole || return 1
    for size in $(lefts log/command.log); do
        rm -rf log && cp -r whole log && leave log/command.log "$size"
        f GE 2 | "$T" dispatch --dir log --resume --tuner random --seed 7 \
            > out 2> err || fail "$size: $(cat err)" || return 1
        [ "$(grep -c 'a new session begins, with tuner random$' err)" = 1 ] &&
            head -n 2 log/command.log | grep -q '"seed": 7' &&
            "$T" log log > all && has all GE ||
            fail "$size: $(cat err)" || return 1
    done
    "$T" dispatch --dir log --resume --tuner random < /dev/null 2> err
    [ $? = 2 ] && has err '--tuner: not with --resume: the log has it' ||
        return 1
    # What was durable, and is damaged, is no beginning.
    rm -rf log && cp -r whole log &&
        printf '?' | dd of=log/command.log bs=1 seek=40 conv=notrunc 2> dd &&
        cp log/command.log before || return 1
    "$T" dispatch --dir log --resume < /dev/null 2> err
    [ $? = 5 ] && cmp log/command.log before
}
check "a log that was never begun is a new session" unbegun

unbegun_experiment() {
    echo 'tunepipe trial report --final 1' | experiment 'maxTrialNumber: 1' \
        'tuner: {name: random, classArgs: {optimize_mode: minimize}}'
    "$T" run e.yml --dispatcher /bin/false > out 2> err
    [ $? != 0 ] && cp -r tunepipe-experiments before && run 0 || return 1
    cp "$dir/command.log" "$dir/command.lock" .
    for size in $(lefts command.log); do
        rm -rf tunepipe-experiments && cp -r before tunepipe-experiments
        dir=$(echo tunepipe-experiments/*)
        cp command.log command.lock "$dir" && leave "$dir/command.log" "$size"
        resume 0 && count 1 succeeded && replays &&
            has out 'recorded anything: a new session begins' ||
            fail "$size: $(cat err)" || return 1
    done
}
check "tunepipe resume begins a session that never was" unbegun_experiment

newer() {
    echo 'tunepipe trial report --final 1' | experiment 'maxTrialNumber: 1'
    run 0 && rm "$dir/summary.json" || return 1
    log=$dir/command.log
    sed -i '1s/ 1$/ 2/' "$log"
    cp "$log" before
    for words in "dispatch --resume --dir $dir" "log $dir" "resume $dir" \
        "replay --verify $dir" "log $dir --at 1" "fork $dir --at 1 new" \
        "log $dir --repair new"; do
        # shellcheck disable=SC2086
        "$T" $words < /dev/null > out 2> err
        [ $? = 5 ] && has err 'version' || fail "$words: $(cat err)" || return 1
    done
    "$T" show "$dir" > out && has out 'state:  ' &&
        lacks out 'its manager died' || return 1
    cmp before "$log" && [ ! -e "$log.void" ] && [ ! -e new ]
}
check "a log of a newer version" newer

finish
