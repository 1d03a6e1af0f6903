#!/bin/sh
# SPDX-License-Identifier: MIT
# The manager dies beside any call that changes a file while trials are paused
# and promoted: who goes on from another's checkpoint has all of it or makes it
# anew, and the results are those of an undisturbed run.  KILL_EVERY=1: at every
# moment (make torture), KILL_ROUNDS=N: so many experiments that are killed at any
# moment, KILL_SEED=N: at which ones.
# not under tsan
. "$(dirname "$0")/lib.sh"

every=${KILL_EVERY:-80}
seed=${KILL_SEED:-1}

export LD_PRELOAD ASAN_OPTIONS
ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0"
case $TP_BUILD in
*/tsan) echo 'skipped promotion_kills (its runtime comes first)'; exit 0 ;;
esac

# dying AT VERB WORD: `tunepipe VERB WORD`, whose manager dies at that moment.
dying() {
    at=$1
    shift
    KILL_AT=$at KILL_COUNT=$PWD/count HERE=$PWD \
        LD_PRELOAD=$TP_BUILD/tests/preload/killat.so "$T" "$@" > out 2> err
}

# Three trials of one step, and one of two more that goes on from the best.  A
# trial that is told to end by nobody goes on and on.
set_up() {
    experiment "tuner: {plugin: $PLUGINS/advisor.so,
  classArgs: {labels: true, budget: 3}}" "$@" << 'E'
step=0
if [ -n "$TUNEPIPE_RESTORE_DIR" ]; then
    step=$(cat "$TUNEPIPE_RESTORE_DIR/step")
    [ "$(cat "$TUNEPIPE_RESTORE_DIR/folder/step")" = "$step" ] || exit 1
    [ "$step" = "$TUNEPIPE_STEP" ] || echo "$step, $TUNEPIPE_STEP" >> "$HERE/odd"
fi
while [ "$step" -lt 6 ]; do
    step=$((step + 1))
    tunepipe trial report --sync "${TUNEPIPE_PARAM_x%"${TUNEPIPE_PARAM_x#????}"}$step"
    status=$?
    mkdir -p "$TUNEPIPE_TRIAL_DIR/folder"
    echo "$step" | tee "$TUNEPIPE_TRIAL_DIR/step" > "$TUNEPIPE_TRIAL_DIR/folder/step"
    tunepipe trial checkpoint save "$TUNEPIPE_TRIAL_DIR/step" \
        "$TUNEPIPE_TRIAL_DIR/folder" || exit 1
    [ $status = 0 ] || exit 0
done
E
}

# table: what must be the same.
table() {
    sed 's/"duration_s": [^,]*, //; s/"seed": [^,]*, //; s/"attempt": [^,]*, //' "$dir/results.jsonl"
}

as_undisturbed() {
    table > got
    cmp want got || { diff want got; return 1; }
    [ ! -e odd ] || fail "steps: $(cat odd)" || return 1
    left=$(find "$dir/checkpoints" -mindepth 1 -name ".gone.*" -prune -o -print)
    [ -z "$left" ] || fail "left: $left" || return 1
    replays
}

undisturbed() {
    set_up "$@"
    dying 0 run e.yml || fail "undisturbed: status $?" || return 1
    dir=$(ls -d tunepipe-experiments/*)
    table > want
    [ "$(grep -c '"status": "paused"' want)" = 3 ] &&
        [ "$(grep -c '"status": "succeeded"' want)" = 1 ] || fail "$(cat want)"
}

# What there is before the experiment's own file is none yet.
goes_on() {
    dir=$(ls -d tunepipe-experiments/* 2>&-)
    [ -n "$dir" ] && [ -e "$dir/experiment.json" ] || return 0
    HERE=$PWD "$T" resume "$dir" > out 2> err ||
        fail "resume: $(tail -n 1 err)" || return 1
    as_undisturbed
}

# moments TOTAL: those to be tried, one a line.
moments() { seq $((1 + seed % every)) "$every" "$1"; }

run_dies() {
    undisturbed || return 1
    for at in $(moments "$(cat count)"); do
        rm -rf tunepipe-experiments
        dying "$at" run e.yml
        status=$?
        [ $status = 137 ] || [ $status = 0 ] ||
            fail "moment $at: status $status" || return 1
        goes_on || fail "moment $at of run" || return 1
    done
}
check "the manager dies beside a write" run_dies

# It had died before, with the first three set aside.
resume_dies() {
    undisturbed || return 1
    before=$(($(cat count) * 2 / 3))
    rm -rf tunepipe-experiments
    dying "$before" run e.yml
    dir=$(ls -d tunepipe-experiments/*)
    cp -a tunepipe-experiments before
    dying 0 resume "$dir" && as_undisturbed ||
        fail "undisturbed: $(tail -n 1 err)" || return 1
    for at in $(moments "$(cat count)"); do
        rm -rf tunepipe-experiments
        cp -a before tunepipe-experiments
        dying "$at" resume "$dir"
        status=$?
        [ $status = 137 ] || [ $status = 0 ] ||
            fail "moment $at: status $status" || return 1
        [ -e "$dir/summary.json" ] || goes_on ||
            fail "moment $at of resume" || return 1
        as_undisturbed || fail "moment $at of resume" || return 1
    done
}
check "the manager that goes on dies beside a write" resume_dies

# At moments drawn from the seed, dispatcher, manager or both.
any() {
    undisturbed "$@" || return 1
    for seed in $(seq "$seed" $((seed + ${KILL_ROUNDS:-1} - 1))); do
        rm -rf tunepipe-experiments odd
        HERE=$PWD "$TP_BUILD/tests/tools/killer" "$seed" 6 "$T" e.yml \
            > out 2> err || fail "seed $seed: status $?" || return 1
        grep '^killed: ' out >> kills
        dir=$(ls -d tunepipe-experiments/*)
        as_undisturbed || fail "seed $seed" || return 1
    done
    grep -q '[1-9]' kills || fail 'nobody was killed'
}
check "kill -9 at any moment" any

in_lock_step() { any 'deterministic: true' 'trialConcurrency: 2'; }
check "kill -9 at any moment of lock step" in_lock_step

finish
