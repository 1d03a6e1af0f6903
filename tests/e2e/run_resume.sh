#!/bin/sh
# SPDX-License-Identifier: MIT
# Experiments that go on: after the death of manager, trial, dispatcher.
. "$(dirname "$0")/lib.sh"

final='tunepipe trial report --final 1'

# once: the trials of results.jsonl are the first $1, each there once.
once() {
    grep -o '"trial": "[0-9]*"' "$dir/results.jsonl" | sort > trials
    seq -f '"trial": "%05.0f"' 0 $(($1 - 1)) | cmp -s - trials ||
        fail "not each trial once: $(tr '\n' ' ' < trials)"
}

# told N: the log has the end of N trials, of each once.
told() {
    "$T" log "$dir" > log
    grep -o '<  EN{"trial_job_id": "[0-9]*"' log | sort > ends
    [ "$(uniq ends | wc -l)" = "$1" ] && [ "$(wc -l < ends)" = "$1" ] ||
        fail "ends told: $(wc -l < ends), expected $1"
}

manager_killed() {
    experiment 'maxTrialNumber: 6' 'trialConcurrency: 2' << 'E'
tunepipe trial report 1
[ "$TUNEPIPE_TRIAL_ID" = 00003 ] && kill -KILL "$(cat "$HERE/pid")"
tunepipe trial report 2
exec tunepipe trial report --final 3
E
    run 137
    resume 0 && has out 'tunepipe: resumed: ' && once 6 && told 6 &&
        count 6 succeeded && replays && has out 'finished: 6 trials'
}
check "a manager that was killed" manager_killed

again_over() {
    echo "$final" | experiment 'maxTrialNumber: 2'
    run 0
    cp "$dir/command.log" before
    resume 0 && has out 'is over (finished: 2 trials): nothing is left to do' &&
        cmp before "$dir/command.log" && once 2
}
check "an experiment that is over" again_over

adopted() {
    experiment 'maxTrialNumber: 2' 'maxTrialDuration: 50s' << 'E'
tunepipe trial report 1
[ "$TUNEPIPE_TRIAL_ID" = 00000 ] && kill -KILL "$(cat "$HERE/pid")"
tunepipe trial report 2
[ "$TUNEPIPE_TRIAL_ID" = 00001 ] || until [ -e "$HERE/go" ]; do sleep 0.01; done
exec tunepipe trial report --final 3
E
    run 137
    cat > watch << 'E'
#!/bin/sh
exec "$T" "$@"
E
    # Its trial goes on when the new dispatcher starts: it is adopted by then.
    sed -i '2i touch go' watch && chmod +x watch && export T
    resume 0 --dispatcher ./watch && once 2 && told 2 && count 2 succeeded &&
        has out '0 trials finished, 1 adopted, 0 started again' && replays &&
        [ ! -e "$dir/trials/00000.1" ]
}
check "a trial that is adopted" adopted

lost() {
    experiment 'maxTrialNumber: 2' << 'E'
tunepipe trial report 1
if [ "$TUNEPIPE_TRIAL_ID" = 00000 ] && [ ! -e "$HERE/second" ]; then
    touch "$HERE/second"
    tunepipe trial report 2
    read -r wrapper rest < "$TUNEPIPE_TRIAL_DIR/wrapper.pid"
    kill -KILL "$(cat "$HERE/pid")" "$wrapper"
    while :; do sleep 1; done
fi
exec tunepipe trial report --final 3
E
    run 137
    resume 0 && once 2 && told 2 && count 2 succeeded && replays || return 1
    # The new attempt has a folder of its own, and its own sequence.
    has "$dir/trials/00000/metrics" 'intermediate 2' &&
        lacks "$dir/trials/00000.1/metrics" 'intermediate 2' &&
        grep -q '00000", "type": "FINAL".*"attempt": 1' log &&
        cmp "$dir/trials/00000/parameters.json" \
            "$dir/trials/00000.1/parameters.json" &&
        grep -q '"seed": 1' "$dir/experiment.json"
}
check "a trial that is lost" lost

# What a wrapper ends for want of a manager has not ended by itself.
abandoned() {
    experiment 'maxTrialNumber: 1' << 'E'
[ -e "$HERE/second" ] && exec tunepipe trial report --final 3
touch "$HERE/second"
read -r wrapper rest < "$TUNEPIPE_TRIAL_DIR/wrapper.pid"
printf 'signalled 15\nabandoned 1\n' > "$TUNEPIPE_TRIAL_DIR/exit"
kill -KILL "$(cat "$HERE/pid")" "$wrapper"
E
    run 137
    # Adopted first where it is found dying.
    resume 0 && once 1 && told 1 && count 1 succeeded &&
        [ -e "$dir/trials/00000.1/exit" ]
}
check "a trial that was ended for want of a manager" abandoned

# It is over, and is given to do again what failed.
retried() {
    experiment 'maxTrialNumber: 4' << 'E'
case $TUNEPIPE_TRIAL_ID in 00001 | 00003) [ -e "$HERE/mended" ] || exit 3 ;; esac
tunepipe trial report --final 1
E
    run 0 && count 2 failed && count 2 succeeded || return 1
    ! "$T" trial retry --failed "$dir" 2> why &&
        has why "to run all of its trials that failed again: tunepipe resume" &&
        : > mended && resume 0 --retry-failed && count 2 failed &&
        count 4 succeeded && told 6 && replays &&
        has out '2 trials that failed run again: "00004", "00005"' &&
        cmp "$dir/trials/00003/parameters.json" \
            "$dir/trials/00005/parameters.json" || return 1
    resume 0 --retry-failed && told 6 && has out '0 trials that failed'
}
check "trials that failed run again behind the end" retried

good_enough() {
    experiment 'maxTrialNumber: 4' 'stopValue: 1' << 'E'
[ "$TUNEPIPE_TRIAL_ID" = 00001 ] || exit 3
tunepipe trial report --final 1
E
    run 0 && count 1 failed && resume 1 --retry-failed &&
        has err 'trials: finished: trial 00001 has 1, stopValue is 1' &&
        resume 0 && count 1 failed
}
check "but not behind a goal" good_enough

# A stop is remembered, and what came behind it does not count.
stopped() {
    experiment 'maxTrialNumber: 1' \
        "assessor: {plugin: $PLUGINS/stops_at.so, classArgs: {step: 2}}" << 'E'
trap 'tunepipe trial report --final 9; kill -KILL "$(cat "$HERE/pid")"; exit' TERM
tunepipe trial report 1
tunepipe trial report 2
while :; do sleep 0.01; done
E
    run 137 && has "$dir/trials/00000/stop" 'assessor 2 0' &&
        resume 1 && count 1 stopped && has show.json '"value": null' &&
        has show.json '"latest": 2.0' && told 1 &&
        has log '"event": "EARLY_STOPPED"' && lacks log FINAL
}
check "a trial that was being stopped" stopped

living() {
    experiment 'maxTrialNumber: 1' << 'E'
tunepipe resume "$TUNEPIPE_EXPERIMENT_DIR" > "$HERE/refused" 2>&1
echo $? >> "$HERE/refused"
exec tunepipe trial report --final 3
E
    run 0 && has refused "its manager lives (process $(cat pid))" &&
        [ "$(tail -n 1 refused)" = 1 ]
}
check "an experiment whose manager lives" living

# ends_with SIGNAL: told so the experiment ends, and nothing of it is lost.
ends_with() {
    experiment 'maxTrialNumber: 5' 'checkpoints: {keep: last}' << 'E'
[ -z "$TUNEPIPE_RESTORE_DIR" ] || cp "$TUNEPIPE_RESTORE_DIR/at" "$HERE/restored"
if [ "$TUNEPIPE_TRIAL_ID" = 00002 ] && [ ! -e "$HERE/second" ]; then
    touch "$HERE/second"
    tunepipe trial report 1
    trap 'echo grace > "$TUNEPIPE_CHECKPOINT_DIR/at"
        tunepipe trial checkpoint save; exit 0' TERM
    sh -c "$(cat "$HERE/how")"
    while :; do sleep 0.01; done
fi
tunepipe trial report 2
exec tunepipe trial report --final 3
E
    echo "$1" > how
    run 1 && count 1 interrupted && count 2 succeeded &&
        has "$dir/trials/00002/stop" 'interrupt ' || return 1
    "$T" trial ls "$dir" > ls && has ls '00002    interrupted           (1)' &&
        "$T" why "$dir" 2 > why && has why 'trial 00002 is interrupted' &&
        "$T" show "$dir" > show && has show '2 ended: 2 succeeded; 1 inter' ||
        return 1
    "$T" report "$dir" > /dev/null && has "$dir/report.html" '"interrupted"' ||
        return 1
    resume 0 && once 5 && told 5 && count 5 succeeded && lacks log CANCEL &&
        has out '2 trials finished, 0 adopted, 1 started again' && replays &&
        has restored grace && [ -e "$dir/trials/00002.1" ] &&
        [ ! -e "$dir/trials/00004.1" ] && [ ! -e "$dir/interrupted.jsonl" ]
}
sigint() { ends_with 'kill -INT "$(cat "$HERE/pid")"'; }
check "an experiment that was interrupted by SIGINT" sigint
sigterm() { ends_with 'kill -TERM "$(cat "$HERE/pid")"'; }
check "by SIGTERM" sigterm
stop() { ends_with 'tunepipe stop "$TUNEPIPE_EXPERIMENT_DIR" > /dev/null &'; }
check "by tunepipe stop" stop
# As where all within a batch job's control group get it.
dispatcher() {
    ends_with 'read -r pid rest < "$TUNEPIPE_EXPERIMENT_DIR/dispatcher.pid"
        kill -TERM "$pid"' && [ "$got" = 0 ]
}
check "by SIGTERM to its dispatcher" dispatcher

# What it reports in its grace counts, also when the manager dies meanwhile.
in_grace() {
    experiment 'maxTrialNumber: 2' << 'E'
trap 'tunepipe trial report --final 7; sh -c "$(cat "$HERE/how")"; exit 1' TERM
[ "$TUNEPIPE_TRIAL_ID" = 00001 ] && exec tunepipe trial report --final 3
kill -TERM "$(cat "$HERE/pid")"
while :; do sleep 0.01; done
E
    echo : > how
    run 1 && has show.json '"value": 7.0' && count 1 succeeded &&
        lacks show.json interrupted && resume 0 && once 2 && told 2 &&
        count 2 succeeded && [ ! -e "$dir/trials/00000.1" ] && replays || return 1
    rm -r tunepipe-experiments
    echo 'kill -KILL "$(cat "$HERE/pid")"' > how
    run 137 && resume 0 && once 2 && told 2 && count 2 succeeded &&
        has show.json '"value": 7.0' && [ ! -e "$dir/trials/00000.1" ] && replays
}
check "a result that is reported in the grace" in_grace

# A manager that dies in the grace leaves a trial that is ending.
grace_outlives() {
    experiment 'maxTrialNumber: 1' 'grace: 1h' << 'E'
[ ! -e "$HERE/second" ] || exec tunepipe trial report --final 3
touch "$HERE/second"
trap 'kill -KILL "$(cat "$HERE/pid")"
    until [ -e "$HERE/go" ]; do sleep 0.01; done; exit 0' TERM
kill -TERM "$(cat "$HERE/pid")"
while :; do sleep 0.01; done
E
    run 137
    printf '%s\n' '#!/bin/sh' 'touch go' 'exec "$T" "$@"' > watch
    chmod +x watch && export T
    resume 0 --dispatcher ./watch && once 1 && told 1 && count 1 succeeded &&
        has out '1 adopted' && has "$dir/trials/00000.1/exit" 'exited 0' &&
        replays
}
check "a manager that dies in the grace" grace_outlives

# A batch system or a terminal sends the same signal to all that is within: the
# trial may have it before its manager.
same_signal() {
    experiment 'maxTrialNumber: 2' 'onFailure: {retry: 1}' << 'E'
[ ! -e "$HERE/second" ] || exec tunepipe trial report --final 3
cp "$TUNEPIPE_TRIAL_DIR/wrapper.pid" "$HERE/second"
while :; do sleep 0.01; done
E
    for signal in TERM HUP; do
        {
            meanwhile '[ -s second ]'
            read -r wrapper rest < second
            manager=$(cat pid)
            kill -STOP "$manager" # it finds both when it goes on
            kill -"$signal" "$wrapper"
            meanwhile '[ -e tunepipe-experiments/*/trials/00000/exit ]'
            kill -TERM "$manager"
            kill -CONT "$manager"
        } &
        run 1 && wait && count 1 interrupted && lacks out failed || return 1
        resume 0 && once 2 && told 2 && count 2 succeeded &&
            lacks out 'tried again' && replays || return 1
        rm -r tunepipe-experiments second pid
    done
}
check "a trial that a signal ends shortly before its manager" same_signal

# An end on record stays, though the attempt before it was interrupted and the
# dispatcher never heard of that end.
recorded() {
    experiment 'maxTrialNumber: 1' << 'E'
touch "$HERE/began"
while :; do sleep 0.01; done
E
    {
        meanwhile '[ -e began ]'
        "$T" pause tunepipe-experiments/* > paused
        kill -INT "$(cat pid)"
    } &
    run 1 && wait && count 1 interrupted || return 1
    rm pid # of a manager that is gone
    {
        meanwhile '"$T" status --json "$dir" | grep -q "\"waiting\": 1,"'
        read -r dispatcher rest < "$dir/dispatcher.pid"
        kill -STOP "$dispatcher"
        "$T" trial kill "$dir" 0 > killed
        meanwhile 'grep -q cancelled "$dir/results.jsonl"'
        kill -KILL "$(cat pid)" "$dispatcher"
    } &
    resume 137 && wait && count 1 cancelled || return 1
    rm pid
    meanwhile '"$T" continue "$dir" > continued 2>&1' &
    resume 1 && wait && count 1 cancelled && replays || return 1
    [ "$(wc -l < "$dir/results.jsonl")" = 1 ] ||
        fail "$(cat "$dir/results.jsonl")"
}
check "an end on record, when the attempt before was interrupted" recorded

# Nobody was there to judge.
same_kill() {
    experiment 'maxTrialNumber: 2' << 'E'
[ ! -e "$HERE/second" ] || exec tunepipe trial report --final 3
touch "$HERE/second"
kill -KILL "$(cat "$HERE/pid")"
kill -TERM $$
while :; do sleep 0.01; done
E
    run 137
    until [ -e "$dir/trials/00000/exit" ]; do sleep 0.01; done
    resume 0 && once 2 && told 2 && count 2 succeeded && replays
}
check "or when it is dead" same_kill

# It reports its result in time, which nobody is there to hear.
same_kill_result() {
    experiment 'maxTrialNumber: 1' << 'E'
[ -e "$HERE/second" ] && exec tunepipe trial report --final 3
touch "$HERE/second"
trap 'tunepipe trial report --final 7; exit 0' TERM
read -r wrapper rest < "$TUNEPIPE_TRIAL_DIR/wrapper.pid"
kill -KILL "$(cat "$HERE/pid")"
kill -TERM "$wrapper"
while :; do sleep 0.01; done
E
    run 137
    until [ -e "$dir/trials/00000/exit" ]; do sleep 0.01; done
    resume 0 && once 1 && told 1 && has show.json '"value": 7.0' &&
        [ ! -e "$dir/trials/00000.1" ] && replays
}
check "with a result that nobody heard" same_kill_result

# Its wrapper still lives when the next manager comes.
same_kill_adopted() {
    experiment 'maxTrialNumber: 1' 'grace: 1h' << 'E'
[ -e "$HERE/second" ] && exec tunepipe trial report --final 3
touch "$HERE/second"
( # not the first process, which has to end at once
    trap 'until [ -e "$HERE/go" ]; do sleep 0.01; done
        tunepipe trial report --final 7; exit 0' TERM
    echo > "$HERE/ready"
    while :; do sleep 0.01; done
) &
until [ -e "$HERE/ready" ]; do sleep 0.01; done
read -r wrapper rest < "$TUNEPIPE_TRIAL_DIR/wrapper.pid"
read -r first rest < "/proc/$wrapper/task/$wrapper/children"
echo "$wrapper $first" > "$HERE/processes"
manager=$(cat "$HERE/pid")
kill -KILL "$manager"
while kill -0 "$manager" 2>&-; do sleep 0.01; done
kill -TERM "$wrapper"
while :; do sleep 0.01; done
E
    run 137
    read -r wrapper first < processes
    while kill -0 "$first" 2>&-; do sleep 0.01; done
    until grep -q ') S ' "/proc/$wrapper/stat"; do sleep 0.01; done
    printf '%s\n' '#!/bin/sh' 'touch go' 'exec "$T" "$@"' > watch
    chmod +x watch && export T
    resume 0 --dispatcher ./watch && once 1 && told 1 && replays &&
        has out '1 adopted' && has show.json '"value": 7.0' &&
        has "$dir/trials/00000/exit" 'alone 1' && [ ! -e "$dir/trials/00000.1" ]
}
check "and with one that the next manager hears" same_kill_adopted

alone() {
    experiment 'maxTrialNumber: 2' << 'E'
[ "$TUNEPIPE_TRIAL_ID" = 00001 ] && exec tunepipe trial report --final 3
kill -TERM $$
E
    run 0 && count 1 failed && count 1 succeeded &&
        has show.json Terminated && told 2 && replays
}
check "a trial that a signal ends alone" alone

# What stood in memory when the manager died is found in either place.
half_told() {
    echo "$final" | experiment 'maxTrialNumber: 3'
    run 0 || return 1
    rm "$dir/summary.json"
    # A line that was cut off, and one that was never written.
    head -n 1 "$dir/results.jsonl" > one
    { cat one; sed -n 2p "$dir/results.jsonl" | head -c 40; } > two
    cp two "$dir/results.jsonl"
    resume 0 && once 3 && told 3 && count 3 succeeded && replays
}
check "results that were cut off" half_told

no_log() {
    echo "$final" | experiment 'maxTrialNumber: 2'
    printf '%s\n' '#!/bin/sh' 'kill -KILL $PPID' > kills && chmod +x kills
    run 137 --dispatcher ./kills
    [ ! -e "$dir/command.log" ] && resume 0 && once 2 && replays
}
check "a manager that died before its dispatcher began" no_log

moved() {
    experiment 'maxTrialNumber: 3' 'searchSpaceFile: space.json' << 'E'
[ "$TUNEPIPE_TRIAL_ID" = 00001 ] && kill -KILL "$(cat "$HERE/pid")"
exec tunepipe trial report --final 3
E
    sed -i '/^searchSpace:/d' e.yml
    echo '{"x": {"_type": "uniform", "_value": [0, 1]}}' > space.json
    run 137
    rm e.yml space.json
    resume 0 && once 3 && count 3 succeeded
}
check "configuration and search space are kept" moved

# A time that no test has waited for: ten hours are gone.
spent() {
    experiment 'maxTrialNumber: 4' 'maxExperimentDuration: 5h' << 'E'
[ "$TUNEPIPE_TRIAL_ID" = 00001 ] && kill -KILL "$(cat "$HERE/pid")"
exec tunepipe trial report --final 3
E
    run 137 && has "$dir/budget.json" '"max_duration_ms": 18000000' || return 1
    sed -i 's/"used_ns": [0-9]*/"used_ns": 36000000000000/' "$dir/budget.json"
    resume 0 && once 2 && has out 'finished: maxExperimentDuration is over' &&
        grep -q '"used_ns": 3600[0-9]*' "$dir/budget.json" || return 1
    resume 0 --max-duration 9h && once 2 && has out 'is over' || return 1
    # What was asked for before is kept, and what is asked for now.
    resume 0 --max-duration=11h && once 4 && told 4 && replays &&
        has "$dir/budget.json" '"max_trials": 4, "max_duration_ms": 39600000'
}
check "what is used of maxExperimentDuration" spent

# Its limits are those of the experiment again.
damaged_budget() {
    experiment 'maxTrialNumber: 4' << 'E'
[ "$TUNEPIPE_TRIAL_ID" = 00001 ] && kill -KILL "$(cat "$HERE/pid")"
exec tunepipe trial report --final 3
E
    run 137
    sed -i "$1" "$dir/budget.json"
    resume 0 && once 4 && has "$dir/budget.json" '"max_trials": 4, '
}
misspelt_budget() { damaged_budget 's/max_trials/max_trialr/'; }
negative_budget() { damaged_budget 's/"max_trials": 4/"max_trials": -4/'; }
check "a budget that lacks its limit" misspelt_budget
check "a budget that has a wrong one" negative_budget

# The time is over, the trials that run may end, and are interrupted: they are
# not over, and no others are begun when it goes on.
overtime() {
    experiment 'maxTrialNumber: 4' 'maxExperimentDuration: 1h' \
        'checkpoints: {keep: last}' << 'E'
[ -z "$TUNEPIPE_RESTORE_DIR" ] || {
    cp "$TUNEPIPE_RESTORE_DIR/at" "$HERE/restored"
    exec tunepipe trial report --final 3
}
echo here > "$TUNEPIPE_CHECKPOINT_DIR/at"
tunepipe trial checkpoint save
sh "$HERE/set_ahead" 7200
until tunepipe status "$TUNEPIPE_EXPERIMENT_DIR" | grep -q stopping; do :; done
kill -TERM "$(cat "$HERE/pid")"
exec sleep 1000
E
    ahead_of_time run 1 || return
    count 1 interrupted && resume 0 && once 1 && count 1 succeeded &&
        has restored here && replays &&
        has out 'maxExperimentDuration'
}
check "interrupted behind maxExperimentDuration" overtime

extended() {
    echo "$final" | experiment 'maxTrialNumber: 2'
    run 0 && [ "$(sed 's/.*"used_ns": \([0-9]*\).*/\1/' "$dir/budget.json")" \
        -gt 0 ] || fail "$(cat "$dir/budget.json")" || return 1
    resume 0 --max-trials 2 && once 2 && has out 'nothing is left' || return 1
    resume 0 --max-trials 5 && once 5 && told 5 && count 5 succeeded &&
        replays && has out 'finished: 5 trials' || return 1
    resume 0 && once 5 && has out 'nothing is left' || return 1
    "$T" resume "$dir" --max-trials many 2> err
    [ $? = 2 ] && has err "--max-trials: expected an integer >= 0, got 'many'"
}
check "an experiment that is given more to do" extended

no_folder() {
    "$T" resume absent 2> err && return 1
    has err 'error: absent: No such file or directory' || return 1
    mkdir other && "$T" resume other 2> err && return 1
    has err other && has err folder && "$T" resume 2> err
    [ $? = 3 ]
}
check "no experiment's folder" no_folder

# A trial that was cut off is not started again where memory lacks for that: it
# is left to the next manager.
no_memory() {
    experiment 'maxTrialNumber: 1' << 'E'
[ ! -e "$HERE/second" ] || exec tunepipe trial report --final 3
: > "$HERE/second"
read -r wrapper rest < "$TUNEPIPE_TRIAL_DIR/wrapper.pid"
kill -KILL "$(cat "$HERE/pid")"
until grep -q resumed: "$HERE/out"; do sleep 0.02; done
: > "$HERE/full"
kill -KILL "$wrapper"
exec sleep 1000
E
    export NO_MEMORY="$PWD/full"
    run 137
    preloaded nomemory resume 1 || return
    has err 'error: out of memory' && count 1 interrupted && rm full &&
        resume 0 && once 1 && told 1 && count 1 succeeded && replays
}
check "no memory for another attempt" no_memory

# What a trial was given that was not begun is nobody's: the numbers of those
# that were not are given anew.
not_begun() {
    experiment 'maxTrialNumber: 2' 'onFailure: {retry: 1, backoff: 0.01s}' << 'E'
echo "$TUNEPIPE_TRIAL_ID from '$TUNEPIPE_RESTORE_DIR'" >> "$HERE/said"
if [ "$TUNEPIPE_TRIAL_ID" = 00000 ]; then
    [ -e "$HERE/again" ] || kill -KILL "$(cat "$HERE/pid")"
elif [ ! -e "$HERE/again" ]; then
    touch "$HERE/again"
    exit 1
fi
exec tunepipe trial report --final 3
E
    run 137
    mkdir -p "$dir/checkpoints/00001/1"
    echo '7 given' > "$dir/checkpoints/00001/steps.1"
    resume 0 && count 2 succeeded || return 1
    [ -e "$dir/trials/00001.1" ] || fail 'no second attempt' || return 1
    ! grep "from '.*/" said || fail "$(cat said)"
}
check "a checkpoint that was given to a trial that was not begun" not_begun

finish
