#!/bin/sh
# SPDX-License-Identifier: MIT
# kill -9 of dispatcher, manager or both at many moments of an experiment with
# fast trials, of each kind: every result is there, once; nobody is left; in
# lock step the table is that of an undisturbed run.  KILL_ROUNDS=N: so many
# experiments (make torture), from seed KILL_SEED on; KILL_KIND: all of this
# kind; KILL_COUNT=FILE gets what was killed.
. "$(dirname "$0")/lib.sh"

trials=30
rounds=${KILL_ROUNDS:-6}
kills=${KILLS:-12}
MEDIAN='{name: medianstop, classArgs: {optimize_mode: maximize, start_step: 1}}'
STOPS="{plugin: $PLUGINS/stops_at.so, classArgs: {step: 9}}"

# The value of a trial tells which it was.
plain() {
    experiment "maxTrialNumber: $trials" 'trialConcurrency: 3' "$@" << 'E'
m=$TUNEPIPE_TRIAL_DIR/metrics
echo "intermediate 1" >> "$m"
echo "intermediate 2" >> "$m"
echo "final 1$TUNEPIPE_TRIAL_ID" >> "$m"
E
}

# Each third waits for the assessor's word.
waiting() {
    experiment "maxTrialNumber: $trials" 'trialConcurrency: 3' "$@" << 'E'
m=$TUNEPIPE_TRIAL_DIR/metrics
for i in 1 2; do
    case $TUNEPIPE_TRIAL_ID in
    *[0369]) tunepipe trial report --sync $i ;;
    *) echo "intermediate $i" >> "$m" ;;
    esac
done
echo "final 1$TUNEPIPE_TRIAL_ID" >> "$m"
E
}

set_up() {
    case $kind in
    plain) plain "assessor: $STOPS" ;;
    waiting) waiting "assessor: $STOPS" ;;
    program)
        plain 'tuner: {name: exec, classArgs: {command: [python3, tuner.py]}}'
        cp "$TP_SOURCE/tuners/exec/tuner.py" .
        ;;
    lockstep) lockstep ;;
    segments) lockstep 'segmentSize: 2k' 'oldSegments: compress' ;;
    dropped) plain "assessor: $STOPS" 'segmentSize: 2k' 'oldSegments: drop' ;;
    esac
}

# What they report depends on their parameters, and some are stopped.
lockstep() {
    experiment "maxTrialNumber: $trials" 'trialConcurrency: 3' "seed: $seed" \
        'deterministic: true' "assessor: $MEDIAN" "$@" << 'E'
m=$TUNEPIPE_TRIAL_DIR/metrics
for i in 1 2 3; do
    v=${TUNEPIPE_PARAM_x#0.}
    echo "intermediate 0.$i$v" >> "$m"
done
echo "final 1$TUNEPIPE_TRIAL_ID" >> "$m"
E
}

# twice WHAT PATTERN: nothing in the log matches more than once.
twice() {
    grep -o "$2" log | sort | uniq -d > twice
    [ ! -s twice ] || fail "$1 told twice: $(head -n 1 twice)"
}

# A superseded attempt may have reported; the last one counts.
results() {
    [ "$(wc -l < "$dir/results.jsonl")" = "$trials" ] ||
        fail "$(wc -l < "$dir/results.jsonl") results" || return 1
    for i in $(seq -f %05.0f 0 $((trials - 1))); do
        grep -q "\"trial\": \"$i\".*\"status\": \"succeeded\".*\"value\": 1$i.0" \
            "$dir/results.jsonl" || fail "no result of trial $i" || return 1
    done
    twice 'a final result' '"[0-9]*", "type": "FINAL".*"attempt": [0-9]*'
    twice 'an end' '<  EN{"trial_job_id": "[0-9]*"'
}

# In lock step what was told is told again when its answer is not known.
table() {
    "$T" show --json "$1" | sed 's/"duration_s": [^,]*, //g; s/}, {/},\n{/g'
}

same_table() {
    mkdir whole && cd whole || return 1
    cp ../e.yml ../trial.sh . && "$T" run e.yml > out 2> err ||
        fail "undisturbed: $(tail -n 1 err)" || return 1
    table tunepipe-experiments/* > ../want
    cd ..
    table "$dir" > got
    diff want got > diff || { fail "another table"; cut -c 1-200 diff; false; }
}

left() {
    for words in /proc/[0-9]*/cmdline; do
        tr '\0' ' ' < "$words" | grep -F -- "--dir $PWD" && return 1
    done 2> /dev/null # they end while we look
    return 0
}

judge() {
    case $kind in
    lockstep | segments) same_table && replays ;;
    dropped) results ;; # its first segments are gone
    *) results && replays ;;
    esac
}

round() {
    set_up
    "$TP_BUILD/tests/tools/killer" "$seed" "$kills" "$T" e.yml > out 2> err ||
        fail "seed $seed: status $?: $(tail -n 1 err)" || return 1
    [ -z "${KILL_COUNT:-}" ] || grep '^killed: ' out >> "$KILL_COUNT"
    dir=$(ls -d "$PWD"/tunepipe-experiments/*)
    "$T" log "$dir" > log && judge && left > left.out ||
        fail "seed $seed: $(cat left.out)"
}

seed=${KILL_SEED:-1}
until [ "$rounds" -le 0 ]; do
    case $((seed % 6)) in
    0) kind=lockstep ;;
    1) kind=plain ;;
    2) kind=waiting ;;
    3) kind=program ;;
    4) kind=segments ;;
    5) kind=dropped ;;
    esac
    kind=${KILL_KIND:-$kind}
    [ $kind != program ] || command -v python3 > "$work/python" || kind=plain
    eval "round_$seed() { round; }"
    check "kill -9 at many moments, $kind, seed $seed" "round_$seed"
    seed=$((seed + 1))
    rounds=$((rounds - 1))
done
finish
