#!/bin/sh
# SPDX-License-Identifier: MIT
# What trials that have ended leave in memory: next to nothing, in a manager
# that saw their ends, in one that goes on behind them, in verbs that read of
# them.  A tenth of what they once left is allowed.  scripts/soak does the same
# with a million.
# not under tsan
# takes long
. "$(dirname "$0")/lib.sh"
export TUNEPIPE_PROGRAM="$T"
TRIALS=20000
study=$work/study config=$work/s.yml

# Allocators that keep what was freed tell nothing of what is kept.
case $TP_BUILD in
*/asan) echo "skipped ceilings (its allocator keeps what is freed)" && exit 0 ;;
esac

# own FOLDER manager|dispatcher: KiB of its own memory.
own() {
    read -r pid _ < "$1/$2.pid"
    awk '/^RssAnon/ { print $2 }' "/proc/$pid/status"
}

# A server ends when nobody uses it any more.
await_end() {
    read -r pid _ < "$study/manager.pid" && tail --pid="$pid" -f /dev/null
}

most() { # WHAT KIB AT-MOST
    [ "$2" -le "$3" ] || fail "$1: $2 KiB, expected $3 at most"
}

ended() {
    printf '%s\n' 'searchSpace: {x: {_type: uniform, _value: [0, 1]}}' \
        'direction: minimize' 'seed: 1' 'tuner: {name: random}' > "$config"
    mkfifo go
    "$TP_BUILD/tests/tools/asks" "$study" "$config" $TRIALS < go | {
        exec 3> go
        while read -r n; do
            echo "$(own "$study" manager) $(own "$study" dispatcher)"
            echo >&3
        done
    } > memory
    [ "$(wc -l < memory)" = 10 ] || fail "$(cat memory)" || return 1
    read -r manager dispatcher < memory
    tail -n 1 memory > last
    read -r manager_now dispatcher_now < last
    most "manager" $((manager_now - manager)) 256 &&
        most "dispatcher" $((dispatcher_now - dispatcher)) 256
}
check "trials that have ended leave a manager as it was" ended

resumed() {
    await_end
    mkfifo go
    "$TP_BUILD/tests/tools/asks" "$study" "$config" 1 < go | {
        exec 3> go
        read -r n && own "$study" manager
    } > memory
    most "the next manager" "$(cat memory)" 4096
}
check "nor do they burden the next one" resumed

looked_at() {
    await_end
    [ "$(wc -l < "$study/results.jsonl")" = $((TRIALS + 1)) ] || return 1
    for verb in status show why; do
        word=
        [ $verb != why ] || word=7
        "$TP_BUILD/tests/tools/peak" peak "$T" $verb "$study" $word > said &&
            most $verb "$(cat peak)" 8192 || return 1
    done
}
check "nor verbs that read of them" looked_at

# whole N: so many trials have their results, and the log has their ends.
whole() {
    "$TP_BUILD/tests/tools/asks" "$study" "$config" 1 < /dev/null > said &&
        await_end || return 1
    results=$(sort -u "$study/results.jsonl" | grep -c '"succeeded", "value": [0-9]')
    ends=$(cat "$study"/command*.log |
        grep -a -o ' EN{"trial_job_id": "[0-9]*"' | sort -u | wc -l)
    [ "$results $ends" = "$1 $1" ] || fail "$1 trials: $results results, $ends ends"
}

lost() {
    sed -i '101,$d' "$study/results.jsonl"
    whole $((TRIALS + 2)) || return 1
    truncate -s $(($(stat -c %s "$study/command.log") / 10)) "$study/command.log"
    whole $((TRIALS + 3))
}
check "nor are they lost where results or log have lost them" lost

finish
