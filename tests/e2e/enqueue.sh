#!/bin/sh
# SPDX-License-Identifier: MIT
# Sets of parameters that are tried first: in their order, completed, and told
# to the tuner, also across deaths.  Trials that are added meanwhile:
# control.sh.
. "$(dirname "$0")/lib.sh"

nested='searchSpace: {x: {_type: loguniform, _value: [1e-4, 1]},
    n: {_type: quniform, _value: [8, 64, 8]}, act: {_type: choice, _value: [relu, tanh]},
    net: {_type: choice, _value: [{_name: a, u: {_type: randint, _value: [0, 9]}},
        {_name: b, w: {_type: uniform, _value: [0, 1]}, z: {_type: uniform, _value: [5, 6]}}]}}'
sets='enqueue: [{x: 0.01, n: 22, act: tanh, net: {_name: b, w: 0.25, z: 5.5}},
    {x: 0.02, n: 24.000000000000004}, {net: {_name: b}}]'

# enqueued TRIAL TEXT: its parameters have the text.
enqueued() { has "$dir/trials/$1/parameters.json" "$2"; }

tried_first() {
    echo 'tunepipe trial report --final "$TUNEPIPE_PARAM_x"' |
        experiment "$nested" "$sets" 'maxTrialNumber: 5' 'trialConcurrency: 2'
    "$T" run --dry-run e.yml > dry 2>&1 && run 0 && count 5 succeeded &&
        enqueued 00000 '{"x": 0.01, "n": 24, "act": "tanh", "net": {"_name": "b", "w": 0.25, "z": 5.5}}' &&
        enqueued 00001 '"x": 0.02, "n": 24,' &&
        enqueued 00002 '{"_name": "b", "w": 0.' && enqueued 00002 '"z": 5.' && replays || return 1
    for id in 00000 00001 00002; do
        has dry "trial $id: $(cat "$dir/trials/$id/parameters.json")" || return 1
    done
    has dry 'trials from 00003 on: a run asks for them' &&
        "$T" explain "$dir" 2 > said && has said "the user's own, told by command 2 (AD)" &&
        "$T" explain --json "$dir" 2 > said && has said '"parameter_source": "customized"'
}
check "sets are tried first, as the dry run shows them" tried_first

# The tuner says what it is told.
learned() {
    echo 'tunepipe trial report --final "$TUNEPIPE_PARAM_x"' |
        experiment 'enqueue: [{x: 0.125}]' 'maxTrialNumber: 2' \
            "tuner: {plugin: $PLUGINS/tells.so}"
    run 0 && has "$dir/dispatcher.log" 'tell -1 0.125 = 0.125 custom' &&
        has "$dir/dispatcher.log" '0.015625 = 0.015625 final'
}
check "the tuner is told of them as custom" learned

refused() {
    echo 'exit 9' | experiment "$nested" "maxTrialNumber: 7" enqueue: \
        '  - {x: 2}' '  - {lr: 1}' '  - {act: rlu}' '  - {net: a}' \
        '  - {net: {_name: a, w: 1}}' '  - 3' '  - {n: 8, actt: tanh}' '  - {}'
    run 3 && [ "$dir" = ./no-experiment ] &&
        has err 'e.yml:11: enqueue[0]: x: is 2, expected a number within [0.0001, 1.0]' &&
        has err 'e.yml:12: enqueue[1]: lr: the search space has no such parameter' &&
        has err "e.yml:13: enqueue[2]: act: \"rlu\" is none of the choices, expected one of \"relu\", \"tanh\" (did you mean 'relu'?)" &&
        has err 'e.yml:14: enqueue[3]: net: is "a", expected an object with _name' &&
        has err 'e.yml:15: enqueue[4]: net/w: the search space has no such parameter here' &&
        has err "e.yml:16: enqueue[5]: expected a map, got '3'" &&
        has err "e.yml:17: enqueue[6]: actt: the search space has no such parameter (did you mean 'act'?)" &&
        has err 'e.yml:18: enqueue[7]: is one more than maxTrialNumber, 7' &&
        has err '8 mistakes' || return 1
    echo 'exit 9' | experiment 'enqueue: {x: 1}'
    run 3 && has err "e.yml:6: enqueue: expected a list of maps from parameters to values, got a map" ||
        return 1
    echo 'exit 9' | experiment 'tuner: {name: BatchTuner}' 'enqueue: [{b: 1}]' \
        'searchSpace: {b: {_type: choice, _value: [1, 2]}}'
    run 3 && has err 'enqueue[0]: not with the tuner batch'
}
check "what is wrong with them is told at once" refused

died() {
    write_kill_them kill_them
    experiment "$sets" "$nested" 'maxTrialNumber: 4' << E
[ "\$TUNEPIPE_TRIAL_ID" != 0000$2 ] || ! mkdir "\$HERE/killed" 2>&- ||
    sh "\$HERE/kill_them" $1
tunepipe trial report --final "\$TUNEPIPE_PARAM_x"
E
    if [ "$1" = dispatcher ]; then
        run 0
    else
        run 137 2>&- && resume 0
    fi && count 4 succeeded && enqueued 00001 '"x": 0.02' &&
        enqueued 00002 '"_name": "b"' && replays &&
        [ "$("$T" log "$dir" | grep -o '"parameter_source": "customized"' | wc -l)" -ge 3 ]
}
for whom in manager dispatcher both; do
    for at in 0 2; do
        eval "died_${whom}_$at() { died $whom $at; }"
        check "each is tried once though $whom died in set $at" "died_${whom}_$at"
    done
done

# The program has not taken the search space when all die: who goes on sends it
# again, and what was told of the sets in between, too.
space_lost() {
    cat > tuner.sh << 'E'
head -c 16 > "$HERE/in"
! mkdir "$HERE/killed" 2>&- || exec sh "$HERE/kill_them" both
: > "$HERE/taken"
{
    cat "$HERE/in"
    exec cat
} | python3 "$1"
E
    write_kill_them kill_them
    experiment 'enqueue: [{x: 0.9}, {x: 0.8}]' 'maxTrialNumber: 4' \
        "tuner: {name: exec, classArgs: {command: [sh, $PWD/tuner.sh, $TP_SOURCE/tuners/exec/tuner.py]}}" << 'E'
for i in $(seq 15000); do [ -e "$HERE/taken" ] || sleep 0.02; done
tunepipe trial report --final "$TUNEPIPE_PARAM_x"
E
    run 137 2>&- && resume 0 && count 4 succeeded && replays &&
        has "$dir/dispatcher.log" "best so far: 0.9 from {'x': 0.9}" &&
        has "$dir/dispatcher.log" "best so far: 0.8 from {'x': 0.8}" &&
        lacks "$dir/dispatcher.log" 'never given out'
}
check "they are told again with a space that a program had not taken" space_lost

# Nothing was told of them: the space alone is on record.
not_begun() {
    echo 'tunepipe trial report --final "$TUNEPIPE_PARAM_x"' |
        experiment "$nested" "$sets" 'maxTrialNumber: 4'
    run 0 && "$T" fork --at 1 "$dir" forked > out 2>&1 && old=$dir && dir=forked &&
        resume 0 && count 4 succeeded && replays || return 1
    for id in 00000 00001 00002 00003; do
        cmp "$old/trials/$id/parameters.json" "forked/trials/$id/parameters.json" ||
            return 1
    done
}
check "those that were not begun are begun by who goes on" not_begun

finish
