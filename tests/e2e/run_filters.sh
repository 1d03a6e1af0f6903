#!/bin/sh
# SPDX-License-Identifier: MIT
# Filters named in a configuration.
. "$(dirname "$0")/lib.sh"

final='tunepipe trial report --final "$TUNEPIPE_PARAM_x"'
space='searchSpace: {x: {_type: choice, _value: [1, 2, 3]}}'

each_once() {
    echo "$final" | experiment 'maxTrialNumber: 9' "$space"
    run 0 && count 3 succeeded && replays &&
        has "$dir/command.log" '"filters": [{"name": "dedup", ' &&
        for v in 1 2 3; do
            has show.json "\"value\": $v" || return 1
        done
}
check "random tries each combination once and ends" each_once

allowed() {
    echo "$final" | experiment 'maxTrialNumber: 9' "$space" \
        'filters: [{name: dedup, args: {allow: true}}]'
    run 0 && count 9 succeeded && replays
}
check "dedup with allow gives as many as are wanted" allowed

# 1 + 2, 1 + 3 and 2 + 3, whatever the tuner suggests.
held() {
    echo 'tunepipe trial report --final 1' | experiment 'maxTrialNumber: 20' \
        'constraints: [x < y]' 'searchSpace:' \
        '  x: {_type: choice, _value: [1, 2, 3]}' \
        '  y: {_type: choice, _value: [1, 2, 3]}'
    run 0 && count 3 succeeded && replays &&
        has "$dir/command.log" '"filters": [{"name": "dedup", ' &&
        has "$dir/command.log" '{"name": "constraints", '
}
check "with constraints each combination that holds is tried once" held

stacked() {
    echo "$final" | experiment 'maxTrialNumber: 4' \
        'filters:' '  - {name: log, args: {title: outer}}' '  - fallback' \
        '  - {name: error, args: {every: 2}}'
    run 0 && count 4 succeeded && replays &&
        has "$dir/dispatcher.log" 'filter log: outer: ask 1: ok' &&
        has "$dir/dispatcher.log" 'filter error: ask: call 2 fails' &&
        has "$dir/dispatcher.log" 'filter log: outer: destroy'
}
check "filters of a configuration stack in order" stacked

# What fails becomes a sample of the prior: each trial has its parameters.
replaced() {
    echo "$final" | experiment 'maxTrialNumber: 4' "$space" \
        'filters: [fallback, {name: error, args: {every: 1}}]'
    run 0 && count 4 succeeded && replays || return 1
    echo "$final" | experiment 'maxTrialNumber: 4' "$space" \
        'filters: [{name: error, args: {every: 1}}]'
    "$T" run e.yml > out 2> err && fail 'without it there is no failure'
    [ "$(grep -c 'succeeded:' out)" = 0 ]
}
check "fallback stands in for a tuner that always fails" replaced

timed() {
    echo "$final" | experiment 'maxTrialNumber: 3' \
        'filters: [{name: timing}, {name: delay, args: {ms: 1}}]'
    run 0 && count 3 succeeded && replays &&
        grep -q 'filter timing: .*ask' "$dir/dispatcher.log" ||
        fail "$(cat "$dir/dispatcher.log")"
}
check "timing tells how long the calls took" timed

wrong() {
    echo "$final" | experiment 'maxTrialNumber: 1' 'filters: [logg]'
    run 3 && has err "no filter 'logg'"
}
check "an unknown filter is named" wrong

listed() {
    "$T" tuners > out && has out 'filter dedup: gives out no parameters twice' &&
        "$T" tuners --json > out && has out '"kind": "filter", "name": "timing"'
}
check "tunepipe tuners lists filters" listed

finish
