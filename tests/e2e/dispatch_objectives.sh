#!/bin/sh
# SPDX-License-Identifier: MIT
# tunepipe dispatch --objectives, its log, and what is asked of that log: a
# session of several values that is killed again and again, replay, explain,
# fork, other tuners and assessors.
set -u
: "${TP_BUILD:?is not set: run the tests with make check}"
: "${TP_SOURCE:?is not set: run the tests with make check}"
. "$TP_SOURCE/tests/e2e/lib.sh"

OF='{"objectives":[{"name":"acc","direction":"maximize"},{"name":"ms","direction":"minimize"}],"resultConstraints":["ms<=20"]}'

# report TRIAL STEP: its parabola has the best of both values at trial 7.
report() {
    d=$((($1 - 7) * ($1 - 7)))
    echo "> ME {\"parameter_id\": $1, \"trial_job_id\": \"T$1\", \"type\": \"PERIODICAL\", \"sequence\": $2, \"value\": \"{\\\"acc\\\": -$d.$2, \\\"ms\\\": $((d / 8 + 2 - $2))}\"}"
}
end() { # TRIAL
    d=$((($1 - 7) * ($1 - 7)))
    echo "> ME {\"parameter_id\": $1, \"trial_job_id\": \"T$1\", \"type\": \"FINAL\", \"sequence\": 0, \"value\": {\"acc\": -$d, \"ms\": $((d / 8))}}"
    echo "> EN {\"trial_job_id\": \"T$1\", \"event\": \"SUCCEEDED\", \"hyper_params\": \"{\\\"parameter_id\\\": $1}\"}"
}

# session TUNER ASSESSOR OPTIONS KILLS: of 25 trials with three reports each,
# killed within so many of them, when all that was sent is known to be on record.
session() {
    {
        echo "ignore KI"
        echo "run dispatch --quiet --seed 3 --objectives $OF --segment-size 4k --dir log --tuner $1 --assessor $2 $3"
        echo '> IN {"x": {"_type": "uniform", "_value": [0, 1]}, "y": {"_type": "uniform", "_value": [0, 1]}}'
        echo "< ID"
        echo "> GE 1"
        echo '< TR {"parameter_id": 0, *'
        i=0
        while [ $i -lt 25 ]; do
            report $i 0
            report $i 1
            echo "> GE 1"
            echo "< TR {\"parameter_id\": $((i + 1)), *"
            [ $i -ge "$4" ] || {
                echo "signal KILL"
                echo "exit 137"
                echo "ignore KI"
                echo "run dispatch --quiet --resume --dir log"
            }
            report $i 2
            end $i
            i=$((i + 1))
        done
        echo "eof"
        echo "exit 0"
    } > wire
    "$TP_BUILD/tests/tools/wire" wire > said 2>&1 || {
        cat said
        return 1
    }
}

# What the session has answered, without times, in no order.
answers() { "$T" log log --command TR,KI | sed 's/^.* \(TR\|KI\)/\1/' | sort; }

# killed TUNER ASSESSOR OPTIONS: killed 20 times it answers the same.
killed() {
    session "$1" "$2" "$3" 0 && answers > whole && grep -q ^KI whole &&
        rm -rf log && session "$1" "$2" "$3" 20 && answers > cut &&
        cmp whole cut && "$T" replay --verify log > out &&
        grep -q '^identical' out
}

# TPE from the third result on.  An assessor that knows no other trials: which
# of them have ended before a stop is written is a race.
TPE='tpe --tuner-args {"tpe_args":{"n_startup_jobs":3}}'

killed_with_what_is_made_of_all() {
    # beyond the limits
    killed "$TPE" 'threshold --assessor-args {"upper":3}' ""
}
killed_with_one_that_is_judged() {
    killed "$TPE" 'threshold --assessor-args {"upper":25}' \
        "--assessor-objective ms" &&
        "$T" log log --kind head | grep -qF '"assessor_objective": "ms"' &&
        [ "$(grep -c ^KI whole)" = 4 ]
}

another_tuner() {
    session random medianstop "" 0 || return 1
    "$T" replay log --tuner gp > out || return 1
    grep -q '^told: 25 results of 26 trials' out &&
        grep -q '^best trial: T7 (0.0 by chebyshev, to minimize)' out &&
        "$T" replay log --tuner gp --json > json &&
        grep -q '"scalarized": "chebyshev"' json
}

another_assessor() {
    session random 'threshold --assessor-args {"upper":3}' "" 0 || return 1
    "$T" replay log --assessor threshold --assessor-args '{"upper": 3}' \
        --json > json || return 1
    stopped=$(sed 's/.*"stopped": \([0-9]*\).*/\1/' json)
    [ "$stopped" -gt 0 ] && grep -qF "\"stopped_recorded\": $stopped, \"stopped_same\": $stopped," json &&
        "$T" replay log --assessor medianstop > out &&
        grep -q '^best trial: T7 (0.0 by chebyshev, to minimize): ' out
}

explained() {
    session random medianstop "" 0 && "$T" explain log T24 > out &&
        grep -qF 'the latest {"acc": -289.2, "ms": 36.0} at step 2; final {"acc": -289.0, "ms": 36.0}, beyond the limits by 0.8' out
}

forked() {
    session random medianstop "" 0 &&
        "$T" fork log --at 60 other --assessor percentile > out &&
        "$T" log other --kind head | grep -qF '"resultConstraints": ["ms <= 20"]' &&
        "$T" replay --verify other > out
}

check dispatch_objectives_killed killed_with_what_is_made_of_all
check dispatch_objectives_killed_and_one_judged killed_with_one_that_is_judged
check dispatch_objectives_another_tuner another_tuner
check dispatch_objectives_another_assessor another_assessor
check dispatch_objectives_explained explained
check dispatch_objectives_forked forked
finish
