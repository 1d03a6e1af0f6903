#!/bin/sh
# SPDX-License-Identifier: MIT
# NNI's naive_test, from end to end: the tuner gives x = 1, 2, 3, ...; a trial
# reports x^1 to x^9 and ends with x^10; the assessor stops it where the sum of
# what it reported is 1 modulo 11.  What is stopped where, and what the others
# end with, are NNI's expected_assessor_result.txt and
# expected_tuner_result.txt.
. "$(dirname "$0")/lib.sh"

naive_test() {
    experiment 'maxTrialNumber: 10' \
        'searchSpace: {x: {_type: choice, _value: [1,2,3,4,5,6,7,8,9,10]}}' \
        'tuner: {name: GridSearch}' \
        "assessor: {plugin: $PLUGINS/odd_sum.so, classArgs: {by: 11}}" << 'S'
x=$(tunepipe trial param x)
value=1
for step in 1 2 3 4 5 6 7 8 9; do
    value=$((value * x))
    tunepipe trial report --sync $value
    case $? in
    0) ;;
    7) echo "$x $step" >> killed; exit 0 ;;
    *) exit 1 ;;
    esac
done
echo "$x $((value * x))" >> ended
tunepipe trial report --final $((value * x))
S
    run 0 && replays || return 1
    [ "$(tr '\n' , < killed)" = '1 1,2 7,3 2,5 3,7 2,8 3,' ] ||
        fail "stopped: $(cat killed)" || return 1
    count 6 stopped && count 4 succeeded || return 1
    for value in 1048576 60466176 3486784401 10000000000; do
        has show.json "$value" || return 1
    done
    [ "$(tr '\n' , < ended)" = \
        '4 1048576,6 60466176,9 3486784401,10 10000000000,' ] ||
        fail "ended: $(cat ended)"
}
check "NNI's naive test" naive_test

finish
