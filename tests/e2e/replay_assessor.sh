#!/bin/sh
# SPDX-License-Identifier: MIT
# tunepipe replay LOG --assessor: what another one would have done.
# not under tsan
set -u
: "${TP_BUILD:?is not set: run the tests with make check}"
: "${TP_SOURCE:?is not set: run the tests with make check}"
. "$TP_SOURCE/tests/e2e/lib.sh"
LOG=$TP_SOURCE/tests/data/logs/medianstop.log

ask() { # STATUS OPTION...
    want=$1
    shift
    "$T" replay --plugin-path "$PLUGINS" "$@" > out 2> err
    got=$?
    [ "$got" = "$want" ] || fail "status $got, expected $want"
}

# The one that was there decides as it did.
the_same_one() {
    ask 0 "$LOG" --assessor medianstop || return 1
    has out "would stop 24 of 48 trials (recorded: 24; 24 of them at the same step)" &&
        has out "saves 0 of 229 recorded steps and 0.0 s of trials" &&
        has out "best trial: T20 (0.9996, to maximize): survives" &&
        lacks out "goes on" && lacks out "~" && lacks out "the log cannot tell" || return 1
    ask 0 "$LOG" --assessor medianstop --json || return 1
    has out '"stopped": 24, "stopped_recorded": 24, "stopped_same": 24, "steps": 229' &&
        has out '"unknown": 0, "first_other": 0, "open": 0' &&
        has out '{"trial": "T2", "parameter_id": 2, "steps": 8, "event": "SUCCEEDED", "final": 0.3961, "recorded": null, "then": null, "saved_steps": 0'
}

# It stops at the second value: of 25 trials with 8 steps and 2 with 4 it saves
# 6 and 2 each; 21 had been stopped at their first.
one_that_stops_early() {
    ask 0 "$LOG" --assessor stops_at --assessor-args '{"step": 2}' --json || return 1
    has out '"stopped": 27, "stopped_recorded": 24, "stopped_same": 0, "steps": 229, "saved_steps": 154, ' &&
        has out '"best": "T20", "best_survives": false, "best_left": null, "unknown": 21, "first_other": 5, "open": 44, ' &&
        has out '"recorded": {"step": 7, "value": 0.1934, "command": 39, ' || return 1
    ask 0 "$LOG" --assessor stops_at --assessor-args '{"step": 2}' || return 1
    has out "best trial: T20 (0.9996, to maximize): would be stopped at step 1" &&
        has out "the log cannot tell: 21 trials that were really stopped would go on" &&
        has out "the first other decision is at command 5, on trial T0: the 44 trials given out behind it (~)" &&
        grep -q '^~T47 ' out && grep -q '^ T0 ' out
}

never() {
    ask 0 "$LOG" --assessor stops_at --assessor-args '{"step": 99}' --until 43 || return 1
    has out "would stop 0 of 7 trials (recorded: 4; 0 of them" &&
        has out "best trial: T2 (0.3961, to maximize): survives"
}

# It is told the experiment's where it is not told another one.
the_same_direction() {
    "$T" dispatch --tuner random --seed 1 --direction minimize --dir log \
        < /dev/null 2> err || return 1
    ask 0 log --assessor medianstop && has out '"optimize_mode": "minimize"' &&
        lacks out 'give it'
}

the_other_direction() {
    ask 0 "$LOG" --assessor medianstop --assessor-args '{"optimize_mode": "minimize"}' || return 1
    has out "the assessor is to minimize, the experiment maximizes: give it --assessor-args"
}

# Records of a program in the log are no obstacle; one cannot be asked.
programs() {
    ask 2 "$LOG" --assessor exec --assessor-args '{"command": ["true"]}' || return 1
    has err "assessor exec: expected a plugin" || return 1
    command -v python3 > /dev/null || { echo "needs python3"; return 77; }
    cat > wire << END
run dispatch --quiet --tuner random --seed 3 --assessor exec --assessor-args {"command":["python3","$TP_SOURCE/tuners/exec/assessor.py"]} --dir log
> IN {"x": {"_type": "uniform", "_value": [0, 8]}}
< ID
> GE 1
< TR {"parameter_id": 0, *
> ME {"parameter_id": 0, "trial_job_id": "A", "type": "PERIODICAL", "sequence": 0, "value": "2"}
eof
exit 0
END
    "$TP_BUILD/tests/tools/wire" wire || return 1
    ask 0 log --assessor stops_at --assessor-args '{"step": 1}' || return 1
    has out "would stop 1 of 1 trials" && has out "had not ended" &&
        has out "best trial: no trial has a final result"
}

# hinted TEXT OPTION...: an error with TEXT that says where plugins are looked for.
hinted() {
    text=$1
    shift
    "$T" replay "$LOG" "$@" > out 2> err
    [ $? = 3 ] && has err "$text" &&
        grep -q "; one of yours: {plugin: FILE} in an experiment, else the folder of its file by --plugin-path" err
}

refused() {
    ask 3 "$LOG" --assessor nobody && has err "no assessor 'nobody'" &&
        ask 2 "$LOG" --assessor medianstop --assessor-args '{' &&
        has err "--assessor-args: " &&
        ask 3 "$LOG" --assessor medianstop --assessor-args '{"start": 1}' &&
        hinted "no assessor 'nobody'" --assessor nobody &&
        hinted "no assessor 'nobody'" --assessor nobody --plugin-path . &&
        ! hinted "unknown argument" --assessor medianstop \
            --assessor-args '{"start": 1}' &&
        ask 2 "$LOG" --assessor-args '{}' && ask 2 "$LOG" --json &&
        ask 5 nowhere --assessor medianstop
}

check "assessor: the same one" the_same_one
check "assessor: one that stops early" one_that_stops_early
check "assessor: never, and up to a command" never
check "assessor: the experiment's direction" the_same_direction
check "assessor: the other direction" the_other_direction
check "assessor: programs" programs
check "assessor: refused" refused
finish
