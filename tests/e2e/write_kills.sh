#!/bin/sh
# SPDX-License-Identifier: MIT
# The manager dies in the midst of a write, or beside any other call that
# changes a file: it goes on with every result there, once.  A moment in so
# many is taken, another one with each seed; KILL_EVERY=1: all of them (make
# torture), KILL_SEED=N: which ones else.
# not under tsan
. "$(dirname "$0")/lib.sh"

every=${KILL_EVERY:-16}
seed=${KILL_SEED:-1}
trials=3

export LD_PRELOAD ASAN_OPTIONS
ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0"
case $TP_BUILD in
*/tsan) echo 'skipped write_kills (its runtime comes first)'; exit 0 ;;
esac

# dying AT VERB WORD: `tunepipe VERB WORD`, whose manager dies at that moment.
dying() {
    at=$1
    shift
    KILL_AT=$at KILL_COUNT=$PWD/count \
        LD_PRELOAD=$TP_BUILD/tests/preload/killat.so "$T" "$@" > out 2> err
}

# Reports of each kind; trial 1 is stopped.
set_up() {
    experiment "maxTrialNumber: $trials" 'trialConcurrency: 2' "$@" \
        "assessor: {plugin: $PLUGINS/stops_at.so, classArgs: {step: 3}}" << 'E'
m=$TUNEPIPE_TRIAL_DIR/metrics
echo "intermediate 1" >> "$m"
[ "$TUNEPIPE_TRIAL_ID" = 00002 ] || tunepipe trial report --sync 2
[ "$TUNEPIPE_TRIAL_ID" != 00001 ] || tunepipe trial report --sync 3 || exit 0
echo "final 1$TUNEPIPE_TRIAL_ID" >> "$m"
E
}

# once: the experiment is over, each trial there once, as it has to be.
once() {
    [ "$(wc -l < "$dir/results.jsonl")" = "$trials" ] ||
        fail "$(wc -l < "$dir/results.jsonl") results" || return 1
    for i in 00000 00002; do
        grep -q "\"trial\": \"$i\".*\"succeeded\".*\"value\": 1$i.0" \
            "$dir/results.jsonl" || fail "no result of trial $i" || return 1
    done
    # Nobody waits for the word of a manager that is dead: it may go on.
    grep -q '"trial": "00001", .*"\(stopped", "value": \|succeeded", "value": 100001.0\)' \
        "$dir/results.jsonl" || fail "no end of trial 1" || return 1
    "$T" log "$dir" > log || return 1
    for what in 'EN{"trial_job_id": "[0-9]*"' \
        '"[0-9]*", "type": "FINAL".*"attempt": [0-9]*'; do
        [ -z "$(grep -o "$what" log | sort | uniq -d)" ] ||
            fail "told twice: $(grep -o "$what" log | sort | uniq -d)" ||
            return 1
    done
    replays
}

left() {
    for words in /proc/[0-9]*/cmdline; do
        tr '\0' ' ' < "$words" | grep -F -- "--dir $PWD" && return 1
    done 2> /dev/null # they end while we look
    return 0
}

# What there is before the experiment's own file is none yet.
goes_on() {
    dir=$(ls -d tunepipe-experiments/* 2>&-)
    [ -n "$dir" ] && [ -e "$dir/experiment.json" ] || return 0
    "$T" resume "$dir" > out 2> err || fail "resume: $(tail -n 1 err)" ||
        return 1
    [ ! -e "$dir/results.jsonl.tmp" ] && once && left > left.out ||
        fail "left: $(cat left.out)"
}

# moments TOTAL: those to be tried, one a line.
moments() { seq $((1 + seed % every)) "$every" "$1"; }

run_dies() {
    set_up
    dying 0 run e.yml || fail "undisturbed: status $?" || return 1
    for at in $(moments "$(cat count)"); do
        rm -rf tunepipe-experiments
        dying "$at" run e.yml
        status=$?
        [ $status = 137 ] || [ $status = 0 ] ||
            fail "moment $at: status $status" || return 1
        goes_on || fail "moment $at of run" || return 1
    done
}
check "the manager dies beside a write" run_dies

# What onFailure tells in the place of a result is none, whoever tells it: of
# all moments that one is looked for where the value has come and the end has
# not, which is told in the same write and much longer.
told_half() {
    long=a_name_that_makes_the_end_of_a_trial_longer_than_its_result
    experiment 'maxTrialNumber: 1' \
        'onFailure: {then: report, value: -100}' \
        "searchSpace: {$long: {_type: choice, _value: [$long$long$long]}}" << 'E'
exit 0
E
    dying 0 run e.yml
    for at in $(seq "$(cat count)" -1 1); do
        rm -rf tunepipe-experiments
        dying "$at" run e.yml
        dir=$(ls -d tunepipe-experiments/*)
        "$T" log "$dir" > log && ! grep -q '<  EN{' log || continue
        grep -q '"value": "-100' log && break
    done
    has log '"value": "-100' || return 1
    : > "$dir/results.jsonl" # as when power is lost
    "$T" resume "$dir" > out 2> err
    "$T" log "$dir" > log && [ "$(grep -c '"FINAL"' log)" = 1 ] &&
        has log '"event": "FAILED"' &&
        has "$dir/results.jsonl" '"failed", "value": null' &&
        has "$dir/results.jsonl" 'no final metric (reported as -100)' && replays
}
check "the manager dies between what onFailure reports and the end" told_half

# It had died before, in the midst of a trial.
resume_dies() {
    set_up
    dying 60 run e.yml
    dir=$(ls -d tunepipe-experiments/*)
    cp -a tunepipe-experiments before
    dying 0 resume "$dir" || fail "undisturbed: status $?" || return 1
    for at in $(moments "$(cat count)"); do
        rm -rf tunepipe-experiments
        cp -a before tunepipe-experiments
        dying "$at" resume "$dir"
        status=$?
        [ $status = 137 ] || [ $status = 0 ] ||
            fail "moment $at: status $status" || return 1
        [ -e "$dir/summary.json" ] || goes_on ||
            fail "moment $at of resume" || return 1
        once || fail "moment $at of resume" || return 1
    done
}
check "the manager that goes on dies beside a write" resume_dies

finish
