#!/bin/sh
# SPDX-License-Identifier: MIT
# Plays both halves of experiments that NNI's manager was stopped in and
# resumed, the second one on the log of the first.
set -u
: "${TP_BUILD:?is not set: run the tests with make check}"
: "${TP_SOURCE:?is not set: run the tests with make check}"
. "$TP_SOURCE/tests/e2e/lib.sh"
RECORDINGS=$TP_SOURCE/tests/data/recordings

# play FIRST SECOND [kill]: every result of FD is on record or told now; of an
# orderly stop, all are on record.
play() {
    "$TP_BUILD/tests/tools/restart" "$RECORDINGS/$1" "$RECORDINGS/$2" \
        ${3:+"$3"} || { tail -n 5 said; return 1; }
    # shellcheck disable=SC2046
    set -- "${3:-}" $(grep -o '[0-9]* of [0-9]* results imported, [0-9]*' said)
    [ "$#" = 7 ] || fail "no word on results in $(cat said)" || return 1
    [ "$1" = kill ] || [ "$2" = 0 ] || fail "$2 results were told twice" ||
        return 1
    [ $(($2 + $7)) = "$4" ] || fail "$2 + $7 results of $4" || return 1
    "$T" replay checkpoint --verify > out || fail "$(cat out)" || return 1
    "$T" replay checkpoint --assessor medianstop > out 2>&1 || fail "$(cat out)" ||
        return 1
    "$T" explain checkpoint 0 > out 2>&1 || fail "$(cat out)"
}

random() { play resume_a_first resume_b_resumed; }
random_killed() { play resume_a_first resume_b_resumed kill; }
grid() {
    play resume_grid_a_first resume_grid_b_resumed || return 1
    "$T" explain checkpoint 6 > out && grep -q 'given out again: it was 3' out ||
        fail "$(cat out)"
}
grid_killed() { play resume_grid_a_first resume_grid_b_resumed kill; }
v210() { play ws/v210_resume_a_first ws/v210_resume_b_resumed; }
v210_killed() { play ws/v210_resume_a_first ws/v210_resume_b_resumed kill; }
v3() { play ws/v3_resume_a_first ws/v3_resume_b_resumed; }
v3_killed() { play ws/v3_resume_a_first ws/v3_resume_b_resumed kill; }
v3_grid() { play ws/v3_resume_grid_a_first ws/v3_resume_grid_b_resumed; }
v3_grid_killed() {
    play ws/v3_resume_grid_a_first ws/v3_resume_grid_b_resumed kill
}

# A program ends with its dispatcher.  The next one is told all results once,
# and what runs again; what was lost it may propose again.
program() {
    cat > program.wire << 'EOF'
run dispatch --nni --tuner exec --dir $DIR/log --tuner-args {"command":["sh","$SOURCE/tests/programs/steps.sh","IN","+ID","GE","+TR:{\"parameter_id\":0,\"parameters\":{\"x\":0.5}}","+TR:{\"parameter_id\":1,\"parameters\":{\"x\":0.25}}","+TR:{\"parameter_id\":2,\"parameters\":{\"x\":1.0}}"]}
> IN {"x":{"_type":"uniform","_value":[0,1]}}
< ID
> GE 3
< TR {"parameter_id": 0, *
< TR {"parameter_id": 1, *
< TR {"parameter_id": 2, *
> ME {"parameter_id": 0, "trial_job_id": "A", "type": "FINAL", "sequence": 0, "value": "5"}
> GE 0
< NO *
signal KILL
exit 137
run dispatch --resume --dir $DIR/log
> IN {"x":{"_type":"uniform","_value":[0,1]}}
< ID
> FD [{"parameter":{"x":0.5},"value":"5","trialJobId":"A"},{"parameter":{"x":0.25},"value":"6","trialJobId":"B"},{"parameter":{"x":0.75},"value":7}]
> AD [{"parameter_id":null,"parameters":{"x":0}},{"parameter_id":2,"parameters":{"x":1}}]
> GE 3
< TR {"parameter_id": 3, *
< TR {"parameter_id": 4, *
< TR {"parameter_id": 5, *
> ME {"parameter_id": 2, "trial_job_id": "C", "type": "FINAL", "sequence": 0, "value": "8"}
> TE
exit 0
replay
EOF
    "$TP_BUILD/tests/tools/wire" program.wire || return 1
    sed -n '/^FD/,$p' told > second
    cat > want << 'EOF'
FD [{"parameter": {"x": 0.5}, "value": "5"}, {"parameter": {"x": 0.25}, "value": "6.0"}, {"parameter": {"x": 0.75}, "value": 7}]
AD [{"parameter_id": 2, "parameter_source": "algorithm", "parameters": {"x": 1.0}, "parameter_index": 0}]
GE 3
ME {"parameter_id": 2, "trial_job_id": "C", "type": "FINAL", "sequence": 0, "value": "8"}
TE 
EOF
    diff want second
}

check "restart of a manager of 2.7" random
check "restart of a manager of 2.7 whose dispatcher was killed" random_killed
check "restart of a manager of 2.7 within a grid" grid
check "restart of a manager of 2.7 within a grid, killed" grid_killed
check "restart of a manager of 2.10" v210
check "restart of a manager of 2.10 whose dispatcher was killed" v210_killed
check "restart of a manager of 3.0" v3
check "restart of a manager of 3.0 whose dispatcher was killed" v3_killed
check "restart of a manager of 3.0 behind a finished grid" v3_grid
check "restart of a manager of 3.0 behind a grid, killed" v3_grid_killed
check "restart of a manager whose tuner is a program" program
finish
