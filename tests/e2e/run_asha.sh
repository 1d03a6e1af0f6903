#!/bin/sh
# SPDX-License-Identifier: MIT
# The tuner asha under the manager: real trials, real checkpoints.
# not under tsan
# with clang, too
. "$(dirname "$0")/lib.sh"

# asha ARGUMENTS LINE... < TRIAL: as `experiment`.
asha() {
    arguments=$1
    shift
    experiment "tuner: {name: asha, classArgs: {max_budget: 9, $arguments}}" \
        'direction: maximize' "$@"
}

# A trial that reports and saves for ever, and goes on from where it was.
heedless() {
    cat << 'E'
step=0
[ -z "$TUNEPIPE_RESTORE_DIR" ] || step=$(cat "$TUNEPIPE_RESTORE_DIR/step")
echo "from $step of $TUNEPIPE_BUDGET" >> "$HERE/said"
while :; do
    step=$((step + 1))
    value=$(awk "BEGIN {print $TUNEPIPE_PARAM_x + $step / 1000}")
    tunepipe trial report "$value"
    echo "$step" > "$TUNEPIPE_CHECKPOINT_DIR/step"
    tunepipe trial checkpoint save || exit 1
done
E
}

# said N TEXT: so many trials said that of their beginning.
said() {
    n=$(grep -cx "$2" said)
    [ "$n" = "$1" ] || fail "$n '$2', expected $1: $(sort said | uniq -c)"
}

# Nine configurations, of which one may be in the last rung; the best is.
promotes() {
    heedless | asha 'type: promotion, configurations: 9, searcher: random' \
        'trialConcurrency: 3' 'deterministic: true'
    run 0 && said 9 'from 0 of 1' && said 3 'from 1 of 3' &&
        said 1 'from 3 of 9' && count 1 succeeded &&
        count 12 paused && replays || return 1
    left=$(ls "$dir/checkpoints")
    [ "$left" = 00012 ] || fail "left: $left" || return 1
    best=$(grep -o '"x": [0-9.]*' "$dir/results.jsonl" | sort -k 2 -g |
        tail -n 1)
    grep '"status": "succeeded"' "$dir/results.jsonl" | grep -qF "$best" ||
        fail "$best did not get to the end"
}
check "asha promotes the best to the end, and keeps its checkpoint alone" promotes

# Three of the first rung and one of the second are all: with as many again one
# gets to the end.
too_few() {
    heedless | asha 'type: promotion, searcher: random' 'maxTrialNumber: 4' \
        'deterministic: true'
    run 0 && count 4 paused &&
        has out 'budget: no trial was given all of it: 4 of 4 are paused' &&
        go_on=$(sed -n 's/^go on:  tunepipe //p' out) &&
        [ "$go_on" = "resume $PWD/$dir --max-trials 8" ] || return 1
    # $go_on: two words and an option
    HERE=$PWD "$T" $go_on > out 2> err || return 1
    "$T" show "$dir" > shown && has shown '8 ended' || return 1
    HERE=$PWD "$T" resume "$dir" --max-trials 30 > out 2> err &&
        "$T" show --json "$dir" > show.json && has show.json '"succeeded"' &&
        lacks out 'budget: no trial' && lacks out 'go on:'
}
check "too few trials for a whole budget: it says so, and how to go on" too_few

# Trials that know nothing of budgets and save nothing.
stops() {
    asha 'searcher: random' 'trialConcurrency: 2' 'maxTrialNumber: 30' \
        'deterministic: true' << 'E'
while :; do
    tunepipe trial report "$TUNEPIPE_PARAM_x"
done
E
    run 0 && replays || return 1
    for n in 1 3 9; do
        grep -qE "\"intermediates\": $n," "$dir/results.jsonl" ||
            fail "none has used $n" || return 1
    done
    lengths=$(grep -o '"intermediates": [0-9]*' "$dir/results.jsonl" |
        sort -u | wc -l)
    [ "$lengths" = 3 ] || fail "$lengths lengths"
}
check "asha stops at rungs what does not care for budgets" stops

explains() {
    heedless | asha 'type: promotion, configurations: 4, eta: 2' \
        'deterministic: true'
    run 0 && has err 'of 4 configurations none may get to max_budget' &&
        "$T" explain "$dir" 0 > why || return 1
    has why 'a new configuration in bracket 1 of 1' &&
        has why 'rung 1 of 5 (budget 1): rank 1 of 1' &&
        "$T" explain "$dir" 2 > why && has why 'it goes on to rung 2'
}
check "asha explains bracket, rung, rank and cut" explains

finish
