#!/bin/sh
# SPDX-License-Identifier: MIT
# kill -9 of dispatcher, manager or both at many moments of an experiment with
# fast trials: every result is there, once; nobody is left.  KILL_ROUNDS=N: so
# many experiments (make torture), from seed KILL_SEED on.
. "$(dirname "$0")/lib.sh"

trials=30
rounds=${KILL_ROUNDS:-3}

# The value of a trial tells which it was.
trial() {
    cat << 'E'
m=$TUNEPIPE_TRIAL_DIR/metrics
echo "intermediate 1" >> "$m"
echo "intermediate 2" >> "$m"
echo "final 1$TUNEPIPE_TRIAL_ID" >> "$m"
E
}

# twice WHAT PATTERN: nothing in the log matches more than once.
twice() {
    grep -o "$2" log | sort | uniq -d > twice
    [ ! -s twice ] || fail "$1 told twice: $(head -n 1 twice)"
}

# A superseded attempt may have reported; the last one counts.
results() {
    [ "$(wc -l < "$dir/results.jsonl")" = "$trials" ] ||
        fail "$(wc -l < "$dir/results.jsonl") results" || return 1
    for i in $(seq -f %05.0f 0 $((trials - 1))); do
        grep -q "\"trial\": \"$i\".*\"status\": \"succeeded\".*\"value\": 1$i.0" \
            "$dir/results.jsonl" || fail "no result of trial $i" || return 1
    done
}

left() {
    for words in /proc/[0-9]*/cmdline; do
        tr '\0' ' ' < "$words" 2>&- | grep -F -- "--dir $PWD" && return 1
    done
    return 0
}

round() {
    trial | experiment "maxTrialNumber: $trials" 'trialConcurrency: 3' \
        "assessor: {plugin: $PLUGINS/stops_at.so, classArgs: {step: 9}}"
    "$TP_BUILD/tests/tools/killer" "$seed" 12 "$T" e.yml > out 2> err ||
        fail "seed $seed: status $?: $(tail -n 1 err)" || return 1
    dir=$(ls -d "$PWD"/tunepipe-experiments/*)
    "$T" log "$dir" > log &&
        results && replays &&
        twice 'an end' '<  EN{"trial_job_id": "[0-9]*"' &&
        twice 'a final result' \
            '"[0-9]*", "type": "FINAL".*"attempt": [0-9]*' &&
        left > left.out || fail "seed $seed: $(cat left.out)"
}

seed=${KILL_SEED:-1}
until [ "$rounds" -le 0 ]; do
    eval "round_$seed() { round; }"
    check "kill -9 at many moments, seed $seed" "round_$seed"
    seed=$((seed + 1))
    rounds=$((rounds - 1))
done
finish
