#!/bin/sh
# SPDX-License-Identifier: MIT
# Goals that end an experiment, and how exactly they are counted, also across
# the death of its manager.
# not under tsan
. "$(dirname "$0")/lib.sh"

# valued VALUE...: a trial that reports the value of its number.
valued() {
    printf '%s\n' "$@" > values
    cat << 'E'
n=$(expr "$TUNEPIPE_TRIAL_ID" + 1)
tunepipe trial report --final "$(sed -n "${n}p" "$HERE/values")"
E
}
up='direction: maximize'
down='tuner: {name: random, classArgs: {optimize_mode: minimize}}'

ended() { # N REASON
    n=$(grep -c . "$dir/results.jsonl")
    [ "$n" = "$1" ] || fail "$n trials ended, expected $1" || return 1
    has "$dir/summary.json" "$2" && has "$dir/summary.json" '"over": true'
}

good_enough() {
    valued 0.1 0.7 0.4 0.8 0.9 |
        experiment 'maxTrialNumber: 5' 'stopValue: 0.7' "$up"
    run 0 && ended 2 'trial 00001 has 0.7, stopValue is 0.7' && replays
}
check "stopValue, to maximize" good_enough

small_enough() {
    valued 0.8 -3.5 -4.5 0.1 |
        experiment 'maxTrialNumber: 4' 'stopValue: -4' "$down"
    run 0 && ended 3 'trial 00002 has -4.5, stopValue is -4'
}
check "stopValue, to minimize" small_enough

# A trial that fails, or that only reports the value, has not reached it.
not_final() {
    experiment 'maxTrialNumber: 4' 'stopValue: 5' "$up" << 'E'
case $TUNEPIPE_TRIAL_ID in
00000) tunepipe trial report 9 && exec tunepipe trial report --final 1 ;;
00001) tunepipe trial report --final 9 && exit 1 ;;
00002) exec tunepipe trial report --final 6 ;;
esac
E
    run 0 && ended 3 'trial 00002 has 6' && count 1 failed &&
        lacks out 'retry:'
}
check "stopValue is for final results of trials that did not fail" not_final

# Those that run at that time go on to their ends, and count.
others_go_on() {
    mkfifo gate
    experiment 'trialConcurrency: 3' 'stopValue: 1' "$up" << 'E'
if [ "$TUNEPIPE_TRIAL_ID" = 00001 ]; then
    tunepipe trial report --final 1
else
    read -r line < "$HERE/gate"
    tunepipe trial report --final 0.5
fi
E
    exec 8<> gate # held open: neither of the two finds it closed
    { # both are let go behind the end of 00001
        meanwhile \
            "grep -qs '\"trial\": \"00001\"' tunepipe-experiments/*/results.jsonl"
        printf '\n\n' >&8
    } &
    run 0 && wait && ended 3 'trial 00001 has 1' && count 3 succeeded
    status=$?
    exec 8>&-
    return $status
}
check "trials that run when a goal is reached" others_go_on

no_better() {
    valued 0.1 0.5 0.5 0.2 0.6 0.1 0.6 0.3 0.9 |
        experiment 'maxTrialNumber: 9' 'maxTrialsWithoutImprovement: 3' "$up"
    run 0 && ended 8 '3 trials in a row were no better' &&
        has show.json '"value": 0.6'
}
check "maxTrialsWithoutImprovement" no_better

# 0.0002 hours are 0.72 s: no more than two that last for 0.5 s are begun.
hours() {
    experiment 'maxTrialHours: 0.0002' 'maxTrialNumber: 50' << 'E'
sleep 0.5
tunepipe trial report --final 1
E
    run 0 && has "$dir/summary.json" 'trials ran for 0.0002 hours' || return 1
    n=$(grep -c . "$dir/results.jsonl")
    [ "$n" -le 2 ] || fail "$n trials were begun in 0.72 s of 0.5 s each"
}
check "maxTrialHours" hours

# Those of attempts that failed are hours, too.
hours_of_attempts() {
    experiment 'maxTrialHours: 0.0002' 'maxTrialNumber: 1' \
        'onFailure: {retry: 100, backoff: 0.01s}' << 'E'
sleep 0.5
exit 1
E
    run 1 && has "$dir/summary.json" 'trials ran for 0.0002' || return 1
    n=$(ls "$dir/trials" | wc -l)
    [ "$n" -le 3 ] || fail "$n attempts in 0.72 s of 0.5 s each"
}
check "maxTrialHours counts each attempt" hours_of_attempts

hours_before() {
    experiment 'maxTrialNumber: 1' 'onFailure: {retry: 9, backoff: 0.01s}' \
        << 'E'
case $TUNEPIPE_TRIAL_DIR in
*.1) kill -9 "$(cat "$HERE/pid")" ;;
esac
exit 1
E
    run 137 || return 1
    sed -i 's/^started_ns .*/started_ns 1/' "$dir/trials/00000/exit"
    echo 'maxTrialHours: 2' >> "$dir/config.yml"
    HERE=$PWD "$T" resume "$dir" > out 2>&1
    has "$dir/summary.json" 'trials ran for 2 hours'
}
check "maxTrialHours counts attempts of an earlier manager" hours_before

# On resume the hours are over, by what is on record and by nothing else.
hours_on_record() {
    valued 0.5 0.6 | experiment 'maxTrialNumber: 1' && run 0 || return 1
    rm "$dir/summary.json"
    sed -i 's/"duration_s": [^,]*/"duration_s": 7200/' "$dir/results.jsonl"
    echo 'maxTrialHours: 2' >> "$dir/config.yml"
    "$T" resume --max-trials 9 "$dir" > out 2>&1 || fail "status $?" || return 1
    ended 1 'trials ran for 2 hours'
}
check "maxTrialHours of an experiment that goes on" hours_on_record

# Killed with two of three that are no better on record: what was counted
# stays, and what was not is counted once.
across_kills() {
    {
        echo '[ "$TUNEPIPE_TRIAL_ID" = 00002 ] && [ ! -e "$HERE/killed" ] &&'
        echo '    touch "$HERE/killed" && kill -9 "$(cat "$HERE/pid")"'
        valued 0.9 0.1 0.2 0.3 0.4 0.5
    } | experiment 'maxTrialNumber: 6' 'maxTrialsWithoutImprovement: 3' "$up"
    run 137
    HERE=$PWD "$T" resume "$dir" > out 2>&1 || fail "status $?" || return 1
    ended 4 '3 trials in a row were no better' || return 1
    "$T" resume "$dir" > out && has out 'nothing is left to do'
}
check "a count goes on behind a kill -9" across_kills

# The goal was on record and nobody has said so: nothing more is begun.
reached_unsaid() {
    valued 0.9 0.1 | experiment 'maxTrialNumber: 1' "$up" && run 0 || return 1
    rm "$dir/summary.json"
    echo 'stopValue: 0.5' >> "$dir/config.yml"
    "$T" resume --max-trials 9 "$dir" > out 2>&1 || fail "status $?" || return 1
    ended 1 'trial 00000 has 0.9'
}
check "a goal that was reached before the manager died" reached_unsaid

# Its budget.json says so, whoever goes on: nothing is begun until it is told
# to; here it is ended.
paused() {
    valued 0.1 0.2 | experiment 'maxTrialNumber: 1' && run 0 || return 1
    rm "$dir/summary.json"
    sed -i 's/"paused": 0/"paused": 1/' "$dir/budget.json"
    "$T" resume --max-trials 2 "$dir" > out 2> err &
    manager=$!
    # It has asked nobody for anything by the time it looks at a signal.
    (
        meanwhile '[ "$(cat "$dir/manager.pid")" = $manager ]' $manager
        meanwhile \
            '"$T" show "$dir" | grep -q "paused: no trials are begun"' $manager
    ) && kill -INT $manager || return 1
    wait $manager
    [ "$(grep -c . "$dir/results.jsonl")" = 1 ] || fail 'a trial was begun' ||
        return 1
    sed -i 's/"paused": 1/"paused": 0/' "$dir/budget.json"
    "$T" resume "$dir" > out 2>&1 && ended 2 'finished: 2 trials'
}
check "a pause is kept" paused

# Five slots are kept; a sixth trial begins when one of the five has ended.
slots() {
    mkfifo gate
    experiment 'maxTrialNumber: 1' << 'E'
[ "$TUNEPIPE_TRIAL_ID" = 00000 ] || {
    echo "$TUNEPIPE_TRIAL_ID" >> "$HERE/alive" && read -r line < "$HERE/gate"
}
tunepipe trial report --final 1
E
    run 0 || return 1
    rm "$dir/summary.json"
    sed -i 's/"concurrency": 0/"concurrency": 5/' "$dir/budget.json"
    : > alive
    exec 8<> gate # held open, whichever trial comes late to it
    rm pid
    {
        meanwhile '[ "$(wc -l < alive)" = 5 ]'
        printf '\n\n\n\n\n\n' >&8
    } &
    resume 0 --max-trials 7 && wait &&
        ended 7 'finished: 7 trials'
    status=$?
    exec 8>&-
    return $status
}
check "so many slots as there were last" slots

refused() {
    valued 1 | experiment 'stopValue: high' 'maxTrialsWithoutImprovement: 0' \
        'maxTrialHours: -1' 'placeTimeout: soon'
    run 3
    has err 'stopValue: expected a number, got' &&
        has err 'maxTrialsWithoutImprovement: expected an integer above 0' &&
        has err 'maxTrialHours: expected a number of hours above 0' &&
        has err 'placeTimeout: expected'
}
check "goals that are none" refused

finish
