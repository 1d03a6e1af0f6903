#!/bin/sh
# SPDX-License-Identifier: MIT
# run --dry-run: what a run would begin with, and nothing begun.
# not under tsan
. "$(dirname "$0")/lib.sh"

# dry STATUS [OPTION...]
dry() {
    want=$1
    shift
    "$T" run --dry-run e.yml "$@" > dry.out 2> dry.err
    got=$?
    [ ! -e tunepipe-experiments ] || fail "made a folder" || return 1
    [ "$got" = "$want" ] || fail "status $got, expected $want: $(cat dry.err)"
}

# Parameters, one set a line, as dry.out and as the trials' folders have them.
foreseen() { sed -n 's/^trial [0-9]*: //p' dry.out; }
real() { cat "$dir"/trials/*/parameters.json; }

same_as_a_run() {
    echo 'echo "$TUNEPIPE_SEED" >> seeds; tunepipe trial report --final 1' |
        experiment 'maxTrialNumber: 5' 'trialConcurrency: 2' \
            'searchSpace: {x: {_type: uniform, _value: [0, 1]}, o: {_type: choice, _value: ["a b", "it'"'"'s $(touch no)"]}}'
    dry 0 && run 0 && foreseen > foreseen && real > real || return 1
    [ "$(wc -l < foreseen)" = 5 ] || fail "not five sets" || return 1
    cmp foreseen real && has dry.out 'trials from 00002 on: a run asks' &&
        has dry.out 'seed 1; 2 at a time' || return 1
    sed -n 's/.*TUNEPIPE_SEED=\([0-9]*\) .*/\1/p' dry.out | sort > told
    sort seeds | cmp - told
}
check "the parameters and seeds are those of a run" same_as_a_run

commands_work() {
    echo 'echo "$TUNEPIPE_TRIAL_ID $TUNEPIPE_PARAM_o" >> ran' |
        experiment 'maxTrialNumber: 2' 'tuner: {name: gridsearch}' \
            "searchSpace: {o: {_type: choice, _value: [\"it's \$(touch no)\", '; touch no']}}"
    dry 0 && sed -n 's/^  cd/cd/p' dry.out > commands && sh commands &&
        [ ! -e no ] && printf '%s\n' "00000 it's \$(touch no)" \
        '00001 ; touch no' | cmp - ran
}
check "a command that is pasted into a shell does what the trial would" \
    commands_work

prepares() {
    echo 'echo "trial $TUNEPIPE_PARAM_x" >> ran' |
        experiment 'maxTrialNumber: 1' 'trialConcurrency: 1' \
            'prepareCommand: echo "prepared $TUNEPIPE_PARAM_x" >> ran'
    dry 0 && sed -n 's/^  cd/cd/p' dry.out > commands && sh commands || return 1
    x=$(foreseen | grep -o '[0-9.]*')
    printf '%s\n' "prepared $x" "trial $x" | cmp - ran && dry 0 --json &&
        has dry.out '"prepare": "cd '
}
check "prepareCommand comes before" prepares

# Nearly all of the lognormal is beyond the doubles: the grid, which could be
# refined for ever, says so; and so does all that asks it again.
no_point_to_find() {
    echo true | experiment 'maxTrialNumber: 2' \
        'tuner: {name: grid, classArgs: {optimize_mode: minimize}}' \
        'searchSpace: {x: {_type: lognormal, _value: [1000, 10]}, u: {_type: uniform, _value: [0, 1]}}'
    dry 1 && has dry.err 'tuner grid: ask: x: in 131072 points of the grid' &&
        run 1 && has err 'x: in 131072 points of the grid all values are too' &&
        replay=$("$T" replay "$dir") || fail "replay: $replay" || return 1
    "$T" resume "$dir" > out 2> err
    [ $? = 1 ] && has err 'no parameters'
}
check "a grid of values that no double holds is refused" no_point_to_find

as_json() {
    echo true | experiment 'deterministic: true'
    dry 0 && foreseen > foreseen && dry 0 --json && [ ! -s dry.err ] || return 1
    [ "$(grep -o '"TUNEPIPE_LOCKSTEP": "1"' dry.out | wc -l)" = 5 ] &&
        [ "$(grep -o '"command": "cd ' dry.out | wc -l)" = 5 ] || return 1
    grep -o '"parameters": {[^}]*}' dry.out | sed 's/"parameters": //' |
        cmp - foreseen && has dry.out '{"seed": 1, "sure": 1, "ended": null' ||
        return 1
    "$T" run --json e.yml 2> err
    [ $? = 2 ] && has err '--json is for --dry-run'
}
check "--json" as_json

few() {
    echo true | experiment 'tuner: {name: gridsearch}' \
        'searchSpace: {o: {_type: choice, _value: [1, 2, 3]}}'
    dry 0 && [ "$(foreseen | wc -l)" = 3 ] &&
        has dry.out 'then no more: there is nothing more to try' || return 1
    echo 'maxTrialNumber: 2' >> e.yml
    dry 0 && [ "$(foreseen | wc -l)" = 2 ] && lacks dry.out 'no more'
}
check "fewer than five" few

refused() {
    echo true | experiment 'maxTrialNumber: 0'
    dry 3 && has dry.err 'e.yml:6: maxTrialNumber: expected' || return 1
    echo true | experiment 'tuner: {name: rndom}'
    dry 3 && has dry.err "did you mean 'random'" || return 1
    echo true | experiment "tuner: {plugin: $PLUGINS/space_fails.so}"
    dry 3 && has dry.err 'refused the search space' || return 1
    echo true | experiment "tuner: {plugin: $PLUGINS/ask_fails.so}"
    dry 1 && has dry.err 'the tuner failed to give parameters'
}
check "what a run would refuse" refused

drawn() {
    echo true | experiment 'maxTrialNumber: 1' 'seed:'
    dry 0 && grep -q '^seed [0-9]*, drawn now; 1 at a time' dry.out
}
check "a seed that is drawn is told" drawn

# Which of them the trial finds is what the warning says.
same_variable() {
    experiment 'maxTrialNumber: 1' \
        'tuner: {name: random, classArgs: {optimize_mode: minimize}}' \
        'searchSpace: {a b: {_type: choice, _value: [1]}, a_b: {_type: choice, _value: [2]}, a-b: {_type: choice, _value: [3]}, a-c: {_type: choice, _value: [4]}, n: {_type: choice, _value: [{_name: one, k.x: {_type: choice, _value: [5]}}]}, n_k_x: {_type: choice, _value: [6]}}' << 'E'
printf '%s %s\n' "$TUNEPIPE_PARAM_a_b" "$TUNEPIPE_PARAM_n_k_x" > "$HERE/seen"
tunepipe trial report --final 1
E
    run 0 && [ "$(cat seen)" = '1 5' ] || fail "$(cat seen)" || return 1
    rm -r tunepipe-experiments
    dry 0 || return 1
    for words in err dry.err; do
        for pair in "a b' and 'a_b' both become \$TUNEPIPE_PARAM_a_b: a trial that has both finds 'a b'" \
            "a b' and 'a-b' both become \$TUNEPIPE_PARAM_a_b: a trial that has both finds 'a b'" \
            "n/k.x' and 'n_k_x' both become \$TUNEPIPE_PARAM_n_k_x: a trial that has both finds 'n/k.x'"; do
            has $words "searchSpace: warning: parameters '$pair" || return 1
        done
        [ "$(grep -c 'both become' $words)" = 3 ] || fail "$(cat $words)" ||
            return 1
    done
}
check "parameters of one variable" same_variable

finish
