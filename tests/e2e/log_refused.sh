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
    cmp before "$log" && [ ! -e "$log.void" ] && [ ! -e new ]
}
check "a log of a newer version" newer

finish
