#!/bin/sh
# SPDX-License-Identifier: MIT
# The clock of the day jumps while an experiment runs, is killed and goes on,
# by days and years, back and forward: nothing changes but the times shown.
# CLOCK_SEEDS=N: so many schedules (make torture), from CLOCK_SEED on.
. "$(dirname "$0")/lib.sh"

case $TP_BUILD in
*/tsan) echo 'skipped clock_jumps (its runtime comes first)'; exit 0 ;;
esac
ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0"
TZ=UTC
export ASAN_OPTIONS TZ
seeds=$(seq "${CLOCK_SEED:-1}" $((${CLOCK_SEED:-1} + ${CLOCK_SEEDS:-2} - 1)))

# jumping COMMAND...: by the schedule $seed.
jumping() {
    CLOCK_SEED=$seed LD_PRELOAD=$TP_BUILD/tests/preload/clock.so "$@"
}

table() { sed 's/"duration_s": [^,]*, //g; s/}, {/},\n{/g'; }

set_up() {
    experiment 'maxTrialNumber: 12' 'trialConcurrency: 3' \
        'deterministic: true' 'maxTrialDuration: 50s' \
        'maxExperimentDuration: 500s' 'sync: interval:5' \
        'assessor: {name: medianstop, classArgs: {optimize_mode: maximize}}' \
        << 'E'
m=$TUNEPIPE_TRIAL_DIR/metrics
for i in 1 2 3; do echo "intermediate 0.$i${TUNEPIPE_PARAM_x#0.}" >> "$m"; done
# Until the log tells of some sync: it is due every 5 ms.
until grep -aq ' M 0 [0-9]* [1-9]' "$TUNEPIPE_EXPERIMENT_DIR/command.log"; do
    :
done
echo "final $TUNEPIPE_PARAM_x" >> "$m"
E
}

# The log's times jump; every filter finds each record on one of its sides.
filters() {
    jumping "$T" log "$dir" > log && "$T" log --json "$dir" > log.json &&
        { ! sort -C -k 2,3 log || fail 'the clock did not jump' || return 1; }
    total=$(wc -l < log)
    [ "$(wc -l < log.json)" = "$total" ] || fail 'log --json' || return 1
    for line in 3 10 30 50; do
        at=$(sed -n "${line}p" log | awk '{ print $2 "T" $3 }')
        "$T" log "$dir" --since "$at" > late &&
            "$T" log "$dir" --until "$at" > early || return 1
        both=$(grep -cF "$(echo "$at" | tr T ' ')" log)
        [ $(($(wc -l < late) + $(wc -l < early))) = $((total + both)) ] ||
            fail "log --since $at" || return 1
    done
    jumping "$T" log "$dir" --at 20 > at.jumping && "$T" log "$dir" --at 20 > at &&
        cmp at at.jumping
}

# No trial has lasted a minute, whatever the clock says.
durations() {
    "$T" show --json "$dir" | grep -o '"duration_s": [^,]*' > durations
    awk '!($2 >= 0 && $2 < 60) { print "lasted " $2; bad = 1 }
        END { exit bad }' durations
}

# judge HOW
judge() {
    "$T" show --json "$dir" | table > got
    diff want got > diff || { fail "seed $seed: another table, $1"; return 1; }
    replays && jumping "$T" replay --verify "$dir" > replay.out &&
        filters && durations || fail "seed $seed: $1"
}

runs() {
    set_up
    run 0 || return 1
    table < show.json > want
    for seed in $seeds; do
        rm -rf tunepipe-experiments
        jumping "$T" run e.yml > out 2> err || fail "seed $seed: status $?" ||
            return 1
        dir=$(ls -d tunepipe-experiments/*)
        judge 'run' || return 1
        rm -rf tunepipe-experiments
        jumping "$TP_BUILD/tests/tools/killer" "$seed" 4 "$T" e.yml > out \
            2> err || fail "seed $seed: status $?" || return 1
        dir=$(ls -d tunepipe-experiments/*)
        judge 'killed' || return 1
    done
}
check "the clock jumps while an experiment runs and goes on" runs

# The wire does not know what time it is.
dispatches() {
    seed=7
    f() { printf '%s%014d%s' "$1" "${#2}" "$2"; }
    {
        f IN '{"x": {"_type": "uniform", "_value": [0, 1]}}'
        f GE 3
        for i in 0 1 2; do
            f ME "{\"parameter_id\": $i, \"trial_job_id\": \"$i\", \"type\": \"FINAL\", \"sequence\": 0, \"value\": \"$i\"}"
            f EN "{\"trial_job_id\": \"$i\", \"event\": \"SUCCEEDED\"}"
        done
        f GE 2
    } > in
    "$T" dispatch --grace 1h --tuner random --seed 1 --dir a < in > a.out 2> a.err &&
        jumping "$T" dispatch --grace 1h --tuner random --seed 1 --dir b < in > b.out &&
        cmp a.out b.out && jumping "$T" replay --verify b > /dev/null
}
check "the clock jumps while the dispatcher serves" dispatches

finish
