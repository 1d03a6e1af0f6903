#!/bin/sh
# SPDX-License-Identifier: MIT
# tunepipe replay LOG --tuner: what another tuner would have thought of the
# recorded trials.  `scores` likes what is near the best result, by its first
# parameter.
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
    [ "$got" = "$want" ] || fail "status $got, expected $want: $(cat err)"
}

# Grid gives out 0 to 9 in their order; the results rise up to 7 and fall.  After
# the first result 0 is the best; of the hundred points 7 is the eighth nearest.
record() {
    {
        echo "run dispatch --quiet --tuner grid --seed 3 --dir log"
        echo '> IN {"x": {"_type": "randint", "_value": [0, 100]}, "c": {"_type": "choice", "_value": [7]}}'
        echo "< ID"
        for i in 0 1 2 3 4 5 6 7 8 9; do
            echo "> GE 1"
            echo "< TR {\"parameter_id\": $i, *"
            [ $i = 4 ] || echo "> ME {\"parameter_id\": $i, \"trial_job_id\": \"T$i\", \"type\": \"FINAL\", \"sequence\": 0, \"value\": \"-$(((i - 7) * (i - 7)))\"}"
            echo "> EN {\"trial_job_id\": \"T$i\", \"event\": \"SUCCEEDED\", \"hyper_params\": \"{\\\"parameter_id\\\": $i}\"}"
        done
        echo "> FD [{\"parameter\": {\"x\": 3, \"c\": 7}, \"value\": 100}]"
        echo "eof"
        echo "exit 0"
    } > wire
    "$TP_BUILD/tests/tools/wire" wire
}

# A manager tells the ends first, and of the first trial another job's result.
late_results() {
    frame() { printf '%s%014d%s' "$1" "${#2}" "$2"; }
    final() {
        frame ME "{\"parameter_id\": $1, \"trial_job_id\": \"$2\", \"type\": \"FINAL\", \"sequence\": 0, \"value\": \"$3\"}"
    }
    end() {
        frame EN "{\"trial_job_id\": \"$2\", \"event\": \"$3\", \"hyper_params\": \"{\\\"parameter_id\\\": $1}\"}"
    }
    {
        frame IN '{"x": {"_type": "uniform", "_value": [0, 1]}}'
        frame GE 2
        end 0 first USER_CANCELED
        final 0 second 0.9
        end 0 second SUCCEEDED
        end 1 third SUCCEEDED
        final 1 third 0.3
    } > frames
    "$T" dispatch --quiet --grace 1h --tuner random --seed 1 \
        --direction maximize --dir late < frames > answers &&
        ask 0 late --tuner random --json || return 1
    grep -o '"told": 2\|"best": "[a-z]*"\|"final": [^,]*' out | tr '\n' ' ' > got
    echo '"told": 2 "best": "second" "final": 0.9 "final": 0.3 ' | tr -d '\n' |
        cmp - got || fail "$(cat got out)" || return 1
    "$T" explain late third > out && has out 'final 0.3 (command 7)'
}
check "results behind the ends are told" late_results

ranks() {
    record || return 1
    ask 0 log --tuner scores || return 1
    has out "told: 9 results of 10 trials, 1 imported" &&
        has out "best trial: T7 (-0.0, to maximize): given out with 6 results known; this tuner prefers it to 90 % of the search space from 1 on, 5 earlier" &&
        has out "not told: 1 trials without a final result (stopped, failed or still running), 0 that do not fit" &&
        has out "the log cannot tell what this tuner's own suggestions would have brought" || return 1
    grep -q '^T0 .* -  {"x": 0, "c": 7}' out && grep -q '^T1 .* 9[0-9]\.[0-9] %  {"x": 1, "c": 7}' out &&
        grep -q '^- .* 4  *none  *not told' out || fail "$(cat out)"
}

# Up to a command; as JSON; the same twice.
until_and_json() {
    record && ask 0 log --tuner scores --until 8 --json || return 1
    has out '"can_rank": true, "trials": 3, "told": 2, "imported": 0, "without_result": 1, "unfit": 0' &&
        has out '"best": "T1", "best_preferred_from": 1' &&
        has out '{"trial": "T0", "parameter_id": 0, "parameters": {"x": 0, "c": 7}, "final": -49.0, "told": true, "known_then": 0, "known": 0, "rank": null, "own": null}' || return 1
    cp out once
    ask 0 log --tuner scores --until 8 --json && cmp out once
}

one_that_cannot() {
    record && ask 0 log --tuner grid || return 1
    has out 'this tuner cannot rank parameters (it has no `score`)' &&
        has out 'instead: {"x": 0, "c": 7}' && has out 'instead: {"x": 1, "c": 7}' || return 1
    ask 0 "$LOG" --tuner tpe && # whose own default is to minimize
        has out '"optimize_mode": "maximize"' && lacks out 'give it' || return 1
    ask 0 "$LOG" --tuner random:'{"optimize_mode": "minimize"}' &&
        has out 'the tuner is to minimize, the experiment maximizes: give it {"optimize_mode": "maximize"}'
}

refused() {
    ask 3 "$LOG" --tuner nobody && has err "no tuner 'nobody'" &&
        ask 2 "$LOG" --tuner 'grid:{' && has err "--tuner grid: byte " &&
        ask 2 "$LOG" --tuner ':{}' && has err "expected NAME or NAME:JSON" &&
        ask 3 "$LOG" --tuner 'grid:{"start": 1}' &&
        ask 2 "$LOG" --tuner grid --verify && ask 2 "$LOG" --tuner exec &&
        has err "tuner exec: expected a plugin" && ask 5 nowhere --tuner grid
}

check "tuner: ranks" ranks
check "tuner: up to a command, as JSON" until_and_json
check "tuner: one that cannot rank" one_that_cannot
check "tuner: refused" refused
finish
