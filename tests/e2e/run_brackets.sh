#!/bin/sh
# SPDX-License-Identifier: MIT
# Experiments with hyperband and bohb, to the end of their brackets.
# not under tsan
. "$(dirname "$0")/lib.sh"

# A trial that counts its steps in its checkpoint, and never ends by itself;
# lines from stdin stand before each step.
steps() {
    cat << 'E'
step=0
[ -z "$TUNEPIPE_RESTORE_DIR" ] || step=$(cat "$TUNEPIPE_RESTORE_DIR/step")
echo "$TUNEPIPE_PARAMETER_ID from $step of $TUNEPIPE_BUDGET" >> "$HERE/said"
while :; do
    step=$((step + 1))
E
    cat
    cat << 'E'
    tunepipe trial report --sync \
        "$(awk "BEGIN {print $TUNEPIPE_PARAM_x + $step / 1000}")"
    status=$?
    echo "$step" > "$TUNEPIPE_CHECKPOINT_DIR/step"
    tunepipe trial checkpoint save || exit 1
    case $status in 0) ;; 8 | 9) exit 0 ;; *) exit 1 ;; esac
done
E
}

# numbers TEXT: how many trials went on from which step, with which budget.
numbers() {
    got=$(sed 's/^[^ ]* //' said | sort | uniq -c | tr -s ' ' | tr '\n' ';')
    [ "$got" = "$1" ] || fail "trials said: $got"
}

# only TRIAL...: what others had saved is gone.
only() {
    left=$(cd "$dir/checkpoints" && echo *)
    [ "$left" = "$*" ] || fail "left: $left"
}

one="tuner: {name: hyperband, classArgs: {R: 9, eta: 3, brackets: 1}}"
whole=' 9 from 0 of 1; 3 from 1 of 3; 1 from 3 of 9;'

bracket() {
    steps < /dev/null | experiment "$one" 'trialConcurrency: 3'
    run 0 && count 12 paused && count 1 succeeded && numbers "$whole" &&
        only 00012 && [ "$(cat "$dir"/checkpoints/00012/*/step)" = 9 ] &&
        replays || return 1
    # The best of the greatest budget comes first.
    for words in --all '--page 1'; do
        # shellcheck disable=SC2086
        "$T" show "$dir" $words > shown || return
        rows=$(awk '$1 ~ /^000/ { print $3, $4 $6 }' shown | tr -d '()')
        [ "$(echo "$rows" | sort -k 1,1nr -k 2,2n)" = "$rows" ] &&
            [ "$(echo "$rows" | sed 's/ .*//' | uniq -c | xargs)" = '1 9 3 3 9 1' ] &&
            ! grep -q 'TRIAL_BUDGET=' shown || fail "$(cat shown)" || return
    done
    best=$(grep ' of 9$' said | sed 's/ .*//')
    has said "0-2_0_${best##*_} from 0 of 1" &&
        has said "0-2_1_${best##*_} from 1 of 3" &&
        has "$dir/results.jsonl" '"TRIAL_BUDGET": 9' || return 1
    "$T" explain "$dir" "$best" > why && has why 'bracket 0-2, round 2 of 0 to 2' &&
        has why 'rank 1 of 3 by value' && has why 'promoted to budget 9' &&
        best=$("$T" show "$dir" | sed -n 's/^best .*, trial \([0-9]*\) .*/\1/p') &&
        "$T" why "$dir" "$best" > why && has why ' succeeded after '
}
check "a bracket ends, and with it the experiment" bracket

# Of the first round four die, and the best of the second.
deaths() {
    echo 'case $TUNEPIPE_PARAMETER_ID in *_0_[0246] | *_1_7) exit 9 ;; esac' |
        steps | experiment "$one" 'trialConcurrency: 4' \
        'onRepeatedFailure: ignore'
    run 0 && count 1 succeeded && only 00012 && replays &&
        [ "$(grep -c ' of 9$' said)" = 1 ] && lacks said '0-2_2_7'
}
check "those that die are counted out" deaths

none() {
    echo 'exit 9' | steps | experiment "$one" 'trialConcurrency: 4' \
        'onRepeatedFailure: ignore'
    run 1 && count 9 failed && numbers ' 9 from 0 of 1;' && replays
}
check "a bracket in which all die ends" none

anew() {
    experiment "$one" 'trialConcurrency: 3' << 'E'
while :; do
    tunepipe trial report --sync "$TUNEPIPE_PARAM_x"
    case $? in 0) ;; 8 | 9) exit 0 ;; *) exit 1 ;; esac
done
E
    run 0 && count 12 paused && count 1 succeeded &&
        [ "$(grep -c 'saved no checkpoint' err)" = 1 ]
}
check "that there is nothing to go on from is told, once" anew

# Three times, in each round.  Nobody tells a trial to end while no manager is
# there: what goes on from it may begin some steps later.
killed() {
    mkdir once
    echo 'case $TUNEPIPE_PARAMETER_ID.$step in
    0-2_0_5.1 | 0-2_1_*.[3-9] | 0-2_1_*.?? | 0-2_2_*.[6-9] | 0-2_2_*.??)
        ! mkdir "$HERE/once/$TUNEPIPE_BUDGET" 2>&- ||
            kill -KILL "$(cat "$HERE/pid")" ;;
    esac' | steps | experiment "$one" 'trialConcurrency: 2'
    run 137
    for time in 1 2; do
        resume 137 || return 1
    done
    resume 0 && count 12 paused && count 1 succeeded && only 00012 &&
        [ "$(sed 's/.*of//' said | tr -d '\n')" = ' 1 1 1 1 1 1 1 1 1 3 3 3 9' ] &&
        replays
}
check "a manager that is killed in each round" killed

two='tuner: {name: bohb, classArgs: {min_budget: 1, max_budget: 9, brackets: 2}}'

bohb() {
    steps < /dev/null | experiment "$two" 'trialConcurrency: 3'
    run 0 && count 17 paused && count 2 succeeded &&
        numbers ' 9 from 0 of 1; 5 from 0 of 3; 3 from 1 of 3; 2 from 3 of 9;' &&
        replays
}
check "bohb, two brackets" bohb

finish
