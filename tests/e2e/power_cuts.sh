#!/bin/sh
# SPDX-License-Identifier: MIT
# The loss of power in the midst of an experiment: of its log stays what was
# synced, and any of the rest.  It goes on with every result there, once; with
# `sync: always` nothing of what was acknowledged is lost.  CUT_ROUNDS=N: so
# many experiments of each policy (make torture), from seed CUT_SEED on.
. "$(dirname "$0")/lib.sh"

case $TP_BUILD in
*/tsan) echo 'skipped power_cuts (its runtime comes first)'; exit 0 ;;
esac
ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0"
export ASAN_OPTIONS
trials=20
seeds=$(seq "${CUT_SEED:-1}" $((${CUT_SEED:-1} + ${CUT_ROUNDS:-1} - 1)))

# The value of a trial tells which it was.
set_up() {
    experiment "maxTrialNumber: $trials" 'trialConcurrency: 3' \
        "assessor: {plugin: $PLUGINS/stops_at.so, classArgs: {step: 9}}" \
        "$@" << 'E'
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

# A trial may have another number than it would have had: of one that was to
# begin just then its folder alone is left, and whose that was is lost.
results() {
    [ "$(wc -l < "$dir/results.jsonl")" = "$trials" ] ||
        fail "$(wc -l < "$dir/results.jsonl") results" || return 1
    sed -n 's/^{"trial": "\([0-9]*\)".* "status": "succeeded", "value": 1\([0-9]*\)\.0,.*/\1 \2/p' \
        "$dir/results.jsonl" | sort -u > ends
    [ "$(awk '$1 == $2' ends | wc -l)" = "$trials" ] ||
        fail "$(cat "$dir/results.jsonl")" || return 1
    "$T" log "$dir" > log && replays &&
        twice 'a final result' '"[0-9]*", "type": "FINAL".*"attempt": [0-9]*' &&
        twice 'an end' '<  EN{"trial_job_id": "[0-9]*"'
}

# No parameters are given out a second time, under whatever number.
once() {
    grep -o '"parameters": {[^}]*}' "$dir/results.jsonl" | sort | uniq -d > same
    [ ! -s same ] || fail "tried twice: $(cat same)" || return 1
    lacks "$dir/dispatcher.log" 'given out' # the tuner knew of all of them
}

# cutting SEED: the experiment of e.yml, with power that is lost six times.
cutting() {
    LD_PRELOAD=$TP_BUILD/tests/preload/synced.so \
        "$TP_BUILD/tests/tools/killer" "$1" 6 "$T" e.yml \
        "$TP_BUILD/tests/tools/powercut" > out 2> err ||
        fail "seed $1: status $?: $(tail -n 1 err)"
}

cuts() {
    for seed in $seeds; do
        rm -rf tunepipe-experiments
        cutting "$seed" || return 1
        dir=$(ls -d tunepipe-experiments/*)
        results && once || fail "seed $seed" || return 1
    done
}

export CUT_TRIALS=1
interval() { set_up 'sync: interval:5' && cuts; }
check "power is lost, sync: interval" interval

none() { set_up 'sync: none' && cuts; }
check "power is lost, sync: none" none

unset CUT_TRIALS

# What had come back to the manager is on record when the power has gone: it
# has nothing to tell the tuner that the log lacks.
always() { set_up 'sync: always' && cuts && lacks log '<  AD'; }
check "power is lost, sync: always" always

# Its file is a small one again and again, and of the rest snapshots tell.
segments() {
    CUT_TRIALS=1 && export CUT_TRIALS
    set_up 'sync: interval:5' 'segmentSize: 2k' 'oldSegments: keep' && cuts
}
check "power is lost, short segments" segments

# left FILE...: these are empty now, and the experiment was not over.
left() {
    for file; do : > "$dir/$file"; done
    rm -f "$dir/summary.json"
}

two() { trials=2 set_up 'sync: none' && run 0; }

# Whose parameters a trial has the log alone still knows.
log_knows() {
    two && left command.log && resume 0 && left results.jsonl || return 1
    for id in 00000 00001; do truncate -s 600 "$dir/trials/$id/exit"; done
    resume 0 && trials=2 results && once
}
check "a trial is known by what the log was told after a loss" log_knows

# Nobody knows: no attempt of it is left to whoever has its number next.
nobody_knows() {
    two && cp -R "$dir/trials/00001" "$dir/trials/00001.1" &&
        left command.log results.jsonl trials/00001/exit trials/00001.1/exit \
            trials/00001.1/metrics || return 1
    resume 0 && trials=2 results && once && [ ! -e "$dir/trials/00001.1" ]
}
check "nothing is left of a trial whose parameters are lost" nobody_knows

# The newest attempt may know better than the first.
attempt_knows() {
    two && cp -R "$dir/trials/00001" "$dir/trials/00001.1" &&
        left command.log results.jsonl trials/00001/exit || return 1
    resume 0 && trials=2 results && once && [ ! -s "$dir/trials/00001/exit" ]
}
check "a trial is known by its newest attempt" attempt_knows

# Else a log that is cut there again does not tell whose result it was.
start_first() {
    two && left command.log trials/00000/metrics && resume 0 && trials=2 results ||
        return 1
    awk '/"FINAL"|"started"/ && /"00000"/' log > told
    sed -n '1{/"started"/!q1}' told && has told '100000.0'
}
check "a trial is told of before the result that is on record" start_first

# In lock step even the order of all that was told.
table() {
    "$T" show --json "$1" | sed 's/"duration_s": [^,]*, //g; s/}, {/},\n{/g' |
        sed 's/"trials": \[/&\n/; s/\]}$//; s/,$//' | sort
}

lockstep() {
    experiment 'maxTrialNumber: 12' 'trialConcurrency: 3' 'sync: always' \
        'deterministic: true' \
        'assessor: {name: medianstop, classArgs: {optimize_mode: maximize}}' \
        << 'E'
m=$TUNEPIPE_TRIAL_DIR/metrics
for i in 1 2 3; do echo "intermediate 0.$i${TUNEPIPE_PARAM_x#0.}" >> "$m"; done
echo "final $TUNEPIPE_PARAM_x" >> "$m"
E
    run 0 && table "$dir" > want || return 1
    for seed in $seeds; do
        rm -rf tunepipe-experiments
        cutting "$seed" || return 1
        dir=$(ls -d tunepipe-experiments/*)
        table "$dir" > got
        diff want got > diff || fail "seed $seed: another table" ||
            { cut -c 1-200 diff; return 1; }
        replays || return 1
    done
}
check "power is lost in lock step, sync: always" lockstep

finish
