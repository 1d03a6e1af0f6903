#!/bin/sh
# SPDX-License-Identifier: MIT
# A recorded session with an advisor: whatever reads a log reads it, and it goes
# on from wherever it is cut off.  (tests/transcripts/advisor*.wire are the
# sessions themselves.)
set -u
: "${TP_BUILD:?is not set: run the tests with make check}"
: "${TP_SOURCE:?is not set: run the tests with make check}"
. "$TP_SOURCE/tests/e2e/lib.sh"

(cd "$work" && "$TP_BUILD/tests/tools/wire" \
    "$TP_SOURCE/tests/transcripts/advisor.wire") > "$work/session.out" 2>&1 ||
    { cat "$work/session.out"; exit 1; }
LOG=$work/log
export TUNEPIPE_PLUGIN_PATH="$PLUGINS"

explained() {
    "$T" explain "$LOG" B > b && "$T" explain "$LOG" D > d &&
        "$T" explain "$LOG" D --json > json || return 1
    has b 'rung 0, budget 1' && has b 'by tuner advisor' &&
        has b 'paused      its budget: 1.0, limit 1.0' &&
        has b 'PAUSED (command' && has d 'rung 1, budget 3' &&
        has d 'finished    its budget: 3.0, limit 3.0' &&
        has json '"decision": "finish", "rule": "its budget"'
}
check "advisor: why a trial was paused, promoted, finished" explained

listed() {
    "$T" log "$LOG" --trial B > b || return 1
    has b 'DT{"trial_job_id": "B", "decision": "pause"}' || return 1
    "$T" log "$LOG" --command DT --json > dt || return 1
    [ "$(wc -l < dt)" = 6 ] || fail "$(wc -l < dt) DT, expected 6"
}
check "advisor: its decisions in the log" listed

# The manager's frames to a new dispatcher: it waits for each DT that it needs.
played() {
    "$T" replay "$LOG" --pipe "$T dispatch --quiet --tuner advisor \
--tuner-args '{\"budget\":3,\"eta\":3}' --seed 1 --extensions --dir again" > out ||
        return 1
    has out '0 differences' && has out 'DT           6         6' &&
        "$T" replay again --verify > out && has out identical
}
check "advisor: the session played to another dispatcher" played

asked() {
    "$T" replay "$LOG" --assessor medianstop > what 2> err &&
        "$T" replay "$LOG" --tuner random > what 2> err || fail "$(cat err)"
    "$T" replay "$LOG" --tuner advisor > what 2> err || fail "$(cat err)"
    "$T" fork "$LOG" --at 9 forked > out 2> err || fail "$(cat err)"
    "$T" replay forked --verify > out || return 1
    "$T" fork "$LOG" --at 9 refused --assessor medianstop > out 2> err
    status=$?
    [ $status = 3 ] || fail "status $status" || return
    has err 'assessor medianstop: expected none: tuner advisor decides itself'
}
check "advisor: what if, and forks" asked

# rest DIR: goes on, and ends; what it says stands in ./rest.
rest() {
    printf 'TE00000000000000' | "$T" dispatch --grace 1h --resume --dir "$1" \
        > rest 2> err || fail "$1: $(cat err)"
}

cut_anywhere() {
    size=$(wc -c < "$LOG/command.log")
    head=$(grep -a -b -m 1 ' < 1 ' "$LOG/command.log" | cut -d : -f 1)
    for at in $(seq "$head" $(((size - head) / 23 + 1)) "$size"); do
        rm -rf cut && mkdir cut || return 1
        head -c "$at" "$LOG/command.log" > cut/command.log
        rest cut && "$T" replay cut --verify > out 2>&1 ||
            fail "cut at $at: $(cat out)" || return 1
    done
}
check "advisor: it goes on wherever it was cut off" cut_anywhere

# The same in segments: a pause that was said before is said again behind a
# snapshot.
in_segments() {
    "$TP_BUILD/tests/tools/segment" "$LOG/command.log" many 600 > out 2>&1 ||
        fail "$(cat out)" || return 1
    "$T" replay many --verify > out && has out identical || return 1
    "$T" replay "$LOG" --pipe "$T dispatch --quiet --tuner advisor \
--tuner-args '{\"budget\":3,\"eta\":3}' --seed 1 --extensions --dir small \
--segment-size 300" > out || return 1
    has out '0 differences' &&
        "$T" replay small --verify > out && has out identical
}
check "advisor: in segments" in_segments

finish
