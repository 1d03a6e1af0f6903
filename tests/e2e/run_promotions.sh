#!/bin/sh
# SPDX-License-Identifier: MIT
# Trials that a tuner pauses, promotes and clones: whose checkpoint who is
# given, how they end, what stays of what they saved.
# not under tsan
. "$(dirname "$0")/lib.sh"

# advised ARGUMENTS LINE... < TRIAL: as `experiment`, with the test plugin, which
# tries nine with the budget 1, three of them with 3 and one with 9.
advised() {
    arguments=$1
    shift
    experiment "tuner: {plugin: $PLUGINS/advisor.so, classArgs: {$arguments}}" \
        "$@"
}

# A trial that counts its steps in its checkpoint, a report each.
steps() {
    cat << 'E'
step=0
[ -z "$TUNEPIPE_RESTORE_DIR" ] || step=$(cat "$TUNEPIPE_RESTORE_DIR/step")
echo "$TUNEPIPE_PARAMETER_ID from $step $TUNEPIPE_STEP of $TUNEPIPE_BUDGET" \
    >> "$HERE/said"
score() { awk "BEGIN {print $TUNEPIPE_PARAM_x + $step / 1000}"; }
save() {
    echo "$step" > "$TUNEPIPE_CHECKPOINT_DIR/step"
    tunepipe trial checkpoint save || exit 1
}
E
    cat
}

# It ends by itself when it is told to.
hearing() {
    steps << 'E'
while [ "$step" -lt 99 ]; do
    step=$((step + 1))
    tunepipe trial report --sync "$(score)"
    status=$?
    save
    case $status in
    0) ;;
    8 | 9) echo "told $status" >> "$HERE/said" && exit 0 ;;
    *) exit 1 ;;
    esac
done
E
}

# What they say: with this seed the best are 3, 0 and 5, and 3.
promoted='0_0 from 0 0 of 1
0_1 from 0 0 of 1
0_2 from 0 0 of 1
0_3 from 0 0 of 1
0_4 from 0 0 of 1
0_5 from 0 0 of 1
0_6 from 0 0 of 1
0_7 from 0 0 of 1
0_8 from 0 0 of 1
1_0 from 1 1 of 3
1_3 from 1 1 of 3
1_5 from 1 1 of 3
2_3 from 3 3 of 9'

# said TEXT: what the trials said of their beginnings, in any order.
said() {
    got=$(grep from said | sort)
    [ "$got" = "$1" ] || fail "trials said: $got"
}

# nothing_left: what was saved is gone, but for what is being deleted.
nothing_left() {
    left=$(find "$dir/checkpoints" -mindepth 1 -name ".gone.*" -prune -o -print)
    [ -z "$left" ] || fail "left: $left"
}

# The best has its x and nine steps.
halved() {
    count 12 paused && count 1 succeeded && has show.json '"value": 0.826974'
}

in_step() {
    hearing | advised 'labels: true' 'trialConcurrency: 3'
    run 0 && halved && said "$promoted" && nothing_left && replays || return 1
    [ "$(grep -c 'told 8' said)" = 12 ] && [ "$(grep -c 'told 9' said)" = 1 ] ||
        fail "$(cat said)"
}
check "in step with its reports a trial is paused, promoted, finished" in_step

# It reports and saves as fast as it can, for ever, and ends when it is ended.
heedless() {
    steps << 'E'
while :; do
    step=$((step + 1))
    tunepipe trial report "$(score)"
    save
done
E
}

# A value behind the last that counts is never used, nor what was saved then.
on_the_dot() {
    heedless | advised 'labels: true' 'trialConcurrency: 3'
    run 0 && halved && said "$promoted" && nothing_left && replays || return 1
    n=$(grep -c '"intermediates": [126],' "$dir/results.jsonl")
    [ "$n" = 13 ] || fail "$(cat "$dir/results.jsonl")" || return 1
    lacks err 'the tuner goes by report'
}
check "one that knows of no budget is stopped on the dot" on_the_dot

# What it reports in its grace, once it was told, does not cut that short: it
# answers a late report when it has drawn the consequences of the one before.
reports_on() {
    steps << 'E' | advised 'labels: true' 'trialConcurrency: 3' 'grace: 600s'
trap 'ended=1' TERM
while [ -z "$ended" ]; do
    step=$((step + 1))
    tunepipe trial report "$(score)"
    (save) # SIGTERM may have ended it
done
for late in 1 2 3; do tunepipe trial report --sync 9; done
touch "$HERE/graced.$NNI_TRIAL_JOB_ID"
E
    run 0 && count 12 paused && count 1 succeeded && nothing_left &&
        lacks err 'the tuner goes by report' || return 1
    [ "$(ls graced.* | wc -l)" = 13 ] || fail "$(ls)"
}
check "one that reports on has its grace all the same" reports_on

# Its result is of more than the tuner has looked at.  What looks for leaks stops
# its process first, which the SIGCONT behind a SIGTERM undoes: it would hang.
ends_late() {
    advised 'labels: true' 'maxTrialNumber: 1' 'grace: 600s' << 'E'
trap '' TERM
export ASAN_OPTIONS=detect_leaks=0
for i in 1 2 3; do tunepipe trial report --sync "$i"; done
tunepipe trial report --final 3
E
    sed -i 's|sh ./trial.sh|exec sh ./trial.sh|' e.yml
    run 0 && count 1 succeeded &&
        has err 'trial 00000 came to report 3 with TRIAL_BUDGET 1: the tuner goes by report 1, tables'
}
check "one with a result of more than its budget is told of" ends_late

# It is over before anybody can tell it to end.
hasty() {
    steps << 'E'
while [ "$step" -lt 12 ]; do
    step=$((step + 1))
    tunepipe trial report "$(score)"
    save
done
E
}

over_before() {
    hasty | advised 'labels: true' 'trialConcurrency: 3'
    run 0 && halved && said "$promoted" && nothing_left && replays
}
check "one that ends before it is told is paused all the same" over_before

# It ends by itself when its budget is used up; with its result in $1.
knowing() {
    echo "final=$1" | steps
    cat << 'E'
while [ "$step" -lt "$TUNEPIPE_BUDGET" ]; do
    step=$((step + 1))
    tunepipe trial report "$(score)"
    save
done
[ -z "$final" ] || tunepipe trial report --final "$(score)"
E
}

by_itself() {
    knowing | advised 'labels: true' 'trialConcurrency: 3'
    run 0 && halved && said "$promoted" && nothing_left && replays
}
check "one that ends at its budget without a result is paused" by_itself

with_a_result() {
    for keep in last none; do
        rm -rf tunepipe-experiments said
        knowing yes | advised 'labels: true' 'trialConcurrency: 3' \
            "checkpoints: {keep: $keep}"
        run 0 && count 13 succeeded && \
            has out 'best 0.826974, trial 00012 of those with budget 9 (' &&
            said "$promoted" && replays || return 1
    done
    nothing_left
}
check "one that ends at its budget with a result has succeeded" with_a_result

# In lock step nothing is left to chance.
in_lock_step() {
    for trial in hearing heedless knowing; do
        rm -rf tunepipe-experiments said
        $trial | advised 'labels: true' 'trialConcurrency: 3' \
            'deterministic: true'
        run 0 && halved && said "$promoted" && nothing_left && replays || {
            fail "$trial: $(tail -n 3 err)"
            return 1
        }
        sed 's/"duration_s": [^,]*, //' "$dir/results.jsonl" > plain.$trial
    done
    cmp plain.hearing plain.heedless && cmp plain.hearing plain.knowing
}
check "in lock step all three are one" in_lock_step

# It saves before it reports, so that who is promoted does a step twice; with
# $1 the report saves.
early() {
    echo "with=$1" | steps
    cat << 'E'
while :; do
    step=$((step + 1))
    if [ "$with" ]; then
        echo "$step" > "$TUNEPIPE_CHECKPOINT_DIR/step"
        tunepipe trial report --sync "$(score)" \
            --checkpoint "$TUNEPIPE_CHECKPOINT_DIR" || exit 0
        [ -d "$TUNEPIPE_CHECKPOINT_DIR" ] || exit 1
    else
        save
        tunepipe trial report --sync "$(score)" || exit 0
    fi
done
E
}

saved_before_the_report() {
    early '' | advised 'labels: true' 'trialConcurrency: 3'
    run 0 && replays || return 1
    [ "$(grep -c 'one report before its last, so that a step is done twice' \
        err)" = 1 ] || fail "$(cat err)" || return 1
    rm -rf tunepipe-experiments said
    early yes | advised 'labels: true' 'trialConcurrency: 3'
    run 0 && halved && said "$promoted" && replays && lacks err 'done twice'
}
check "a step that is saved before its report, and with it" \
    saved_before_the_report

# Who was cloned may be once more, until the experiment is over.
clones() {
    hearing | advised 'labels: true, clones: true' 'trialConcurrency: 3'
    run 0 && count 12 paused && count 1 succeeded &&
        said "$(echo "$promoted" | sed s/^2_3/2_0/)" && replays &&
        has "$dir/results.jsonl" '"from_how": "cloned"' || return 1
    for trial in 00000/1 00003/1 00005/1 00010/3; do
        [ -e "$dir/checkpoints/$trial/step" ] || fail "$trial is gone" ||
            return 1
    done
}
check "what is cloned goes on at the same step" clones

# copying: the process that copies for the manager, which are one program.
copying() {
    [ -e tunepipe-experiments/*/checkpoints/00003/given.1/more ] || return
    manager=$(cat pid)
    for copier in $(cat "/proc/$manager/task/$manager/children"); do
        cmp -s "/proc/$copier/cmdline" "/proc/$manager/cmdline" && return
    done
    false
}

# Both the interrupt and the end of the copying are there in one turn.
while_copying() {
    [ -e "/proc/$$/task/$$/children" ] || fail 'no lists of children here' ||
        return 77
    experiment "tuner: {plugin: $PLUGINS/advisor.so,
  classArgs: {labels: true, budget: 3, clones: true}}" << 'E'
cd "$TUNEPIPE_CHECKPOINT_DIR" || exit 1
tunepipe trial report --sync "$TUNEPIPE_PARAM_x" || told=yes
head -c 2000000 /dev/zero > much
truncate -s 20G more
tunepipe trial checkpoint save
[ "$told" ] || tunepipe trial report --final "$TUNEPIPE_PARAM_x"
E
    {
        meanwhile copying
        kill -STOP "$manager" "$copier"
        meanwhile 'grep -q ") T " "/proc/$manager/stat"'
        kill -INT "$manager"
        kill -KILL "$copier"
        meanwhile 'grep -q ") Z " "/proc/$copier/stat"'
        kill -CONT "$manager"
        echo "$copier" > seen
    } &
    export MALLOC_PERTURB_=90 # nothing is used that was freed
    run 1 && wait && [ -s seen ] && count 3 paused && count 0 cancelled
}
check "an interrupt while a checkpoint is copied" while_copying

finish
