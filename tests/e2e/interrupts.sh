#!/bin/sh
# SPDX-License-Identifier: MIT
# SIGTERM, SIGINT, `tunepipe stop` and kill -9 of manager, dispatcher or both, at
# many moments, each followed by `resume`: every experiment ends with the trials
# that were asked for, none cancelled, none lost, none doubled; in lock step
# with the table of an undisturbed run.  INTERRUPT_ROUNDS=N: so many experiments
# (make torture), from seed INTERRUPT_SEED on; INTERRUPT_KIND: all of this kind.
# not under tsan
. "$(dirname "$0")/lib.sh"

rounds=${INTERRUPT_ROUNDS:-5}
seed=${INTERRUPT_SEED:-1}
strikes=5

# What they report depends on their parameters; a few steps each.
plain() {
    experiment 'maxTrialNumber: 12' 'trialConcurrency: 3' 'grace: 1s' \
        'tuner: {name: random, classArgs: {optimize_mode: maximize}}' "$@" << 'E'
for i in 1 2 3; do
    tunepipe trial report "$i$TUNEPIPE_PARAM_x"
    sleep 0.02
done
tunepipe trial report --final "1$TUNEPIPE_PARAM_x"
E
}

# Told to end they report their result.
in_grace() {
    experiment 'maxTrialNumber: 12' 'trialConcurrency: 3' 'grace: 30s' \
        'tuner: {name: random, classArgs: {optimize_mode: maximize}}' << 'E'
trap 'tunepipe trial report --final "1$TUNEPIPE_PARAM_x"; exit 0' TERM
for i in 1 2 3; do
    tunepipe trial report "$i$TUNEPIPE_PARAM_x"
    sleep 0.02
done
tunepipe trial report --final "1$TUNEPIPE_PARAM_x"
E
}

lockstep() {
    plain 'deterministic: true' "seed: $seed" \
        'assessor: {name: medianstop, classArgs: {optimize_mode: maximize, start_step: 1}}'
}

# They save behind each report and go on from there, until they are told to end.
turns() {
    experiment 'trialConcurrency: 3' 'grace: 1s' "$@" << 'E'
step=0
[ -z "$TUNEPIPE_RESTORE_DIR" ] || step=$(cat "$TUNEPIPE_RESTORE_DIR/step")
[ "$step" = "$TUNEPIPE_STEP" ] || echo "$step, $TUNEPIPE_STEP" >> "$HERE/odd"
while [ "$step" -lt 20 ]; do
    step=$((step + 1))
    tunepipe trial report --sync "$(awk "BEGIN {print $TUNEPIPE_PARAM_x + $step / 1000}")"
    status=$?
    echo "$step" > "$TUNEPIPE_TRIAL_DIR/step"
    tunepipe trial checkpoint save "$TUNEPIPE_TRIAL_DIR/step" || exit 1
    [ $status = 0 ] || exit 0
done
E
}

asha() {
    turns 'deterministic: true' "seed: $seed" 'tuner: {name: asha, classArgs: {
        optimize_mode: maximize, max_budget: 9, type: promotion,
        configurations: 9, searcher: random}}'
}

pbt() {
    turns 'tuner: {name: pbt, classArgs: {optimize_mode: maximize,
        population_size: 3, fraction: 0.3, interval: 2, max_budget: 6}}'
}

table() {
    sed 's/"duration_s": [^,]*, //; s/"attempt": [^,]*, //' \
        "$1/results.jsonl"
}

same_table() {
    mkdir whole && cd whole || return 1
    cp ../e.yml ../trial.sh . && HERE=$PWD "$T" run e.yml > out 2> err ||
        fail "undisturbed: $(tail -n 1 err)" || return 1
    table tunepipe-experiments/* > ../want
    cd ..
    table "$dir" > got
    diff want got > diff || { fail "another table"; cut -c 1-300 diff; false; }
}

# once N STATUS...: these trials, each once, and no others.
once() {
    n=$1
    shift
    grep -o '"trial": "[0-9]*"' "$dir/results.jsonl" | sort > trials
    seq -f '"trial": "%05.0f"' 0 $((n - 1)) | cmp -s - trials ||
        fail "not each trial once: $(tr '\n' ' ' < trials)" || return 1
    others=$(grep -o '"status": "[a-z ]*"' "$dir/results.jsonl" | sort -u |
        grep -v "$@")
    [ -z "$others" ] || fail "$others" || return 1
    "$T" log "$dir" > log
    grep -o '<  EN{"trial_job_id": "[0-9]*"' log | sort | uniq -d > twice
    case $kind in
    plain | in_grace | pbt) [ ! -s twice ] || fail "ends told twice: $(cat twice)" ;;
    esac
}

judge() {
    case $kind in
    plain | in_grace) once 12 succeeded ;;
    lockstep) once 12 -e succeeded -e stopped && same_table ;;
    asha)
        once "$(wc -l < "$dir/results.jsonl")" -e succeeded -e paused &&
            same_table && [ ! -e odd ] ;;
    pbt) once 9 -e succeeded -e paused && [ ! -e odd ] ;;
    esac
}

round() {
    $kind
    HERE=$PWD "$TP_BUILD/tests/tools/killer" "$seed" "$strikes" "$T" e.yml \
        --interrupt > out 2> err ||
        fail "seed $seed: status $?: $(tail -n 3 err)" || return 1
    dir=$(ls -d "$PWD"/tunepipe-experiments/*)
    [ -z "${INTERRUPT_COUNT:-}" ] || grep '^killed: ' out >> "$INTERRUPT_COUNT"
    judge && replays || fail "seed $seed $([ ! -e odd ] || cat odd)"
}

until [ "$rounds" -le 0 ]; do
    case $((seed % 5)) in
    0) kind=lockstep ;;
    1) kind=plain ;;
    2) kind=asha ;;
    3) kind=pbt ;;
    4) kind=in_grace ;;
    esac
    kind=${INTERRUPT_KIND:-$kind}
    eval "round_$seed() { round; }"
    check "interruptions at many moments, $kind, seed $seed" "round_$seed"
    seed=$((seed + 1))
    rounds=$((rounds - 1))
done
finish
