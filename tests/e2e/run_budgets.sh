#!/bin/sh
# SPDX-License-Identifier: MIT
# Trials that a tuner pauses and promotes, when something goes wrong or somebody
# else has a say; in C and in Python; and the manager's side of decisions.
# not under tsan
. "$(dirname "$0")/lib.sh"

# advised LINE... < TRIAL: three trials with the budget 1, one of them with 3.
advised() {
    experiment "tuner: {plugin: $PLUGINS/advisor.so, classArgs: {labels: true,
  budget: 3}}" "$@"
}

# A trial that counts its steps in its checkpoint and knows its budget; lines
# from stdin stand before each step.
steps() {
    cat << 'E'
step=0
[ -z "$TUNEPIPE_RESTORE_DIR" ] || step=$(cat "$TUNEPIPE_RESTORE_DIR/step")
echo "${TUNEPIPE_TRIAL_DIR##*/} from $step $TUNEPIPE_STEP of $TUNEPIPE_BUDGET" \
    >> "$HERE/said"
while [ "$step" -lt "$TUNEPIPE_BUDGET" ]; do
    step=$((step + 1))
E
    cat
    cat << 'E'
    tunepipe trial report "$TUNEPIPE_PARAM_x"
    echo "$step" > "$TUNEPIPE_CHECKPOINT_DIR/step"
    tunepipe trial checkpoint save || exit 1
done
E
}

said() {
    [ "$(sort said)" = "$1" ] || fail "trials said: $(sort said)"
}

# log_has N TEXT: so many commands say so.
log_has() {
    n=$("$T" log "$dir" | grep -c -- "$2")
    [ "$n" = "$1" ] || fail "$n times '$2', expected $1"
}

plain='00000 from 0 0 of 1
00001 from 0 0 of 1
00002 from 0 0 of 1
00003 from 1 1 of 3'

# The best of the first three is 0 with this seed.
crashes() {
    echo '[ "$TUNEPIPE_TRIAL_ID" != 00000 ] || exit 9' | steps | advised
    run 0 && count 1 failed && count 2 paused && count 1 succeeded &&
        said "$plain" && has "$dir/results.jsonl" '"from": "00001"' && replays
}
check "one that dies in its rung is counted out" crashes

# It had used up its budget, and saved nothing.
dies_at_its_budget() {
    echo 'if [ "$TUNEPIPE_TRIAL_ID" = 00000 ]; then
tunepipe trial report 0.9; exit 9; fi' | steps | advised
    run 0 && count 3 paused && count 1 succeeded && replays &&
        has "$dir/results.jsonl" '"from": "00000"' &&
        said "$(echo "$plain" | sed 's/3 from 1 1/3 from 0 0/')"
}
check "how one ends that has used up its budget is nothing to anybody" \
    dies_at_its_budget

retried() {
    echo 'case ${TUNEPIPE_TRIAL_DIR##*/}.$step in 00003.3) exit 9 ;; esac' |
        steps | advised 'onFailure: {retry: 1, backoff: 0.01s}'
    run 0 && count 3 paused && count 1 succeeded && replays &&
        said "$plain
00003.1 from 2 2 of 3" && log_has 1 'PERIODICAL.*"attempt": 1.*"base": 2' &&
        has "$dir/trials/00003.1/origin" '2 2 00000 promoted'
}
check "another attempt goes on from what the one before has saved" retried

# Lost with its manager when it has saved its second step.
lost() {
    echo 'if [ "${TUNEPIPE_TRIAL_DIR##*/}.$step" = 00003.3 ]; then
    kill -KILL "$(cat "$HERE/pid")"
    read -r pid rest < "$TUNEPIPE_TRIAL_DIR/wrapper.pid"
    kill -KILL "$pid"
    exec sleep 1000
fi' | steps | advised
    run 137
    resume 0 && count 3 paused && count 1 succeeded && replays &&
        said "$plain
00003.1 from 2 2 of 3"
}
check "one that is lost with its manager goes on" lost

# It reports on while nobody is there who could tell it to end.
adopted() {
    mkfifo go
    echo 'if [ "$TUNEPIPE_TRIAL_ID.$step" = 00001.1 ]; then
    kill -KILL "$(cat "$HERE/pid")"
    read -r line < "$HERE/go"
fi' | steps | advised
    run 137
    exec 3<> go
    resume 0 & # it waits for the trial
    echo >&3
    wait $! && exec 3>&- && "$T" show --json "$dir" > show.json &&
        count 3 paused && count 1 succeeded && said "$plain" && replays
}
check "a manager that goes on hears of a trial's budget" adopted

dispatcher_dies() {
    echo 'if [ "$TUNEPIPE_TRIAL_ID.$step" = 00003.2 ]; then
    kill -KILL $(cat "$TUNEPIPE_EXPERIMENT_DIR/dispatcher.pid")
fi' | steps | advised
    run 0 && count 3 paused && count 1 succeeded && said "$plain" && replays
}
check "a dispatcher that dies with half a bracket running" dispatcher_dies

prepared() {
    steps < /dev/null | advised 'prepareCommand: test -z "$TUNEPIPE_RESTORE_DIR" || cp -r "$TUNEPIPE_RESTORE_DIR" "$TUNEPIPE_TRIAL_DIR/before"'
    run 0 && count 3 paused && count 1 succeeded && said "$plain" &&
        [ "$(cat "$dir/trials/00003/before/step")" = 1 ] &&
        [ ! -e "$dir/trials/00002/before" ] && replays
}
check "what is to be prepared has its checkpoint, too" prepared

kept() {
    for keep in all none; do
        rm -rf tunepipe-experiments said
        steps < /dev/null | advised "checkpoints: {keep: $keep}"
        run 0 && said "$plain" || return 1
        (cd "$dir/checkpoints" && ls -d */[0-9]*) > "$keep"
        HERE=$PWD "$T" rerun "$dir" 00003 > again.$keep 2>&1
        echo $? >> again.$keep
    done
    [ "$(tail -n 1 again.all)" = 0 ] && has again.none 'went on from is deleted' ||
        fail "$(cat again.all again.none)" || return 1
    [ "$(tr '\n' ' ' < all)" = '00000/1 00001/1 00002/1 00003/1 00003/2 00003/3 ' ] &&
        [ ! -s none ] || fail "$(cat all none)"
}
check "what is released goes, unless all is kept" kept

told() {
    steps < /dev/null | advised 'on:' '  trial.paused: cat >> paused' \
        '  decision: cat >> decisions'
    run 0 && replays && "$T" trial ls "$dir" > ls && "$T" show --all "$dir" > all &&
        has ls 'TRIAL    FROM     STATUS' && has ls '00003    00000    succeeded' &&
        has all '  00003  00000 ' && has show.json '"from": "00000", "from_how": "promoted"' &&
        [ "$(grep -c '"status": "paused"' paused)" = 3 ] &&
        [ "$(grep -c '"decision": "pause", "by": "tuner", "reports": 1' decisions)" = 3 ] &&
        has decisions '"decision": "finish", "by": "tuner", "reports": 2'
}
check "people and hooks are told" told

# What was paused at its budget has a value to be compared by.
ends_early() {
    steps < /dev/null | advised 'maxTrialNumber: 3' 'direction: maximize'
    run 0 && count 3 paused && has out 'best 0.5067956214, trial 00000' &&
        has show.json '"best": {"trial": "00000", "value": 0.5067956'
}
check "the best of those that were paused" ends_early

# A fork behind the third pause finds what was saved by then.
forked() {
    steps < /dev/null | advised 'checkpoints: {keep: all}'
    run 0 && said "$plain" || return 1
    at=$("$T" log "$dir" | sed -n 's/^ *\([0-9]*\) .*"event": "PAUSED".*/\1/p' |
        tail -n 1)
    "$T" fork --plugin-path "$PLUGINS" "$dir" --at "$at" fork > out 2> err ||
        fail "$(cat err)" || return 1
    rm -r said "$dir"
    dir=$PWD/fork
    resume 0 && count 3 paused && count 1 succeeded && replays &&
        said '00003 from 1 1 of 3'
}
check "a fork goes on from the same checkpoints" forked

# Two megabytes are copied by another process; whoever waits for that says so.
large() {
    experiment "tuner: {plugin: $PLUGINS/advisor.so, classArgs: {labels: true,
  budget: 3, clones: true}}" << 'E'
step=0
[ -z "$TUNEPIPE_RESTORE_DIR" ] || {
    step=$(cat "$TUNEPIPE_RESTORE_DIR/step")
    cmp "$TUNEPIPE_RESTORE_DIR/model" "$HERE/model" || exit 1
}
echo "${TUNEPIPE_TRIAL_DIR##*/} from $step $TUNEPIPE_STEP of $TUNEPIPE_BUDGET" \
    >> "$HERE/said"
while [ "$step" -lt "$TUNEPIPE_BUDGET" ]; do
    step=$((step + 1))
    tunepipe trial report "$TUNEPIPE_PARAM_x"
    echo "$step" > "$TUNEPIPE_CHECKPOINT_DIR/step"
    cp "$HERE/model" "$TUNEPIPE_CHECKPOINT_DIR/model"
    tunepipe trial checkpoint save || exit 1
done
E
    head -c 2000000 /dev/urandom > model
    run 0 && count 3 paused && count 1 succeeded && said "$plain" && replays
}
check "a large checkpoint is copied for a clone" large

c_and_python() {
    command -v "${CC:-cc}" > cc && command -v python3 > python ||
        { echo 'no C compiler or no Python'; return 77; }
    cat > t.c << 'E'
#include <tunepipe/checkpoint.h>
int main(void)
{
    unsigned long long step = tp_restored_step();
    int answer = TP_GO;
    if ((step > 0) != (tp_restore_dir() != NULL) || tp_budget() < 1)
        return 1;
    while (answer == TP_GO) {
        char folder[4096], path[8192];
        FILE *file;
        answer = tp_report_sync(tp_param_double("x", 0));
        step++;
        if (tp_checkpoint_begin(folder, sizeof folder) != 0)
            return 2;
        snprintf(path, sizeof path, "%s/step", folder);
        file = fopen(path, "w");
        if (!file || fprintf(file, "%llu", step) < 0 || fclose(file) ||
            tp_checkpoint_commit(folder) != 0)
            return 3;
        if ((answer == TP_GO) != ((double)step < tp_budget()))
            return 4;
    }
    if (answer != (tp_budget() < 3 ? TP_PAUSE : TP_FINISH))
        return 5;
    return answer == TP_FINISH && tp_final(7) != 0;
}
E
    "${CC:-cc}" -Wall -Werror -I"$TP_SOURCE/src/trial/include" -o t t.c ||
        return 1
    cat > t.py << 'E'
import os, tunepipe
step = tunepipe.restored_step()
assert (step > 0) == (tunepipe.restore_dir() is not None)
if step > 0:
    with open(os.path.join(tunepipe.restore_dir(), "step")) as file:
        assert int(file.read()) == step
stop = None
while stop is None:
    try:
        tunepipe.report(tunepipe.param("x"), sync=True)
    except tunepipe.Stop as told:
        stop = told
    step += 1
    with tunepipe.checkpoint() as folder:
        with open(os.path.join(folder, "step"), "w") as file:
            file.write(str(step))
    assert (stop is not None) == (step >= tunepipe.budget())
assert isinstance(stop, tunepipe.Pause if step < 3 else tunepipe.Finish)
raise stop
E
    advised << 'E'
case $TUNEPIPE_TRIAL_ID in *[03]) exec ./t ;; esac
exec python3 t.py
E
    run 0 && count 3 paused && count 1 succeeded && has show.json '"value": 7.0' &&
        ! grep -v '"why": ""' "$dir/results.jsonl" && replays || return 1
    sed -i 's/exec .\/t/exec python3 t.py/' trial.sh
    rm -r tunepipe-experiments
    run 0 && count 3 paused && count 1 succeeded && replays &&
        ! grep -v '"why": ""' "$dir/results.jsonl"
}
check "in C and in Python" c_and_python

# fake LINE...: a dispatcher in shell.
fake() {
    printf '%s\n' '#!/bin/sh' \
        'send() { printf "%s%014d%s" "$1" "${#2}" "$2"; }' \
        'trial() { send TR "{\"parameter_id\": $1, \"parameters\": {}$2}"; }' \
        'decide() { send DT "{\"trial_job_id\": \"$1\", \"decision\": \"$2\"}"; }' \
        "$@" > fake
    chmod +x fake
}

# What waits is paused, what is not known is told of, what has ended is let be.
decisions() {
    mkfifo go
    experiment 'maxTrialNumber: 3' << 'E'
tunepipe trial report 5
read -r line < "$HERE/go"
tunepipe trial report --final 6
E
    fake 'send ID ""' 'trial 0' 'trial 1' 'trial 2' 'decide 00001 pause' \
        'decide 00002 finish' 'decide 00001 release' 'decide 00000 sleep' \
        'decide 00009 release' 'decide 00009 pause' 'send DT "[]"' \
        'echo > "$HERE/go"' 'cat > got'
    HERE=$PWD run 0 --dispatcher ./fake && count 1 paused && count 1 failed &&
        count 1 succeeded && has err "decided 'sleep'" &&
        has got '"trial_job_id": "00001", "event": "PAUSED"' &&
        has "$dir/results.jsonl" 'told to finish before it had reported'
}
check "decisions on trials that do not run" decisions

# The trial says nothing more once it has been told to pause.
silent() {
    experiment 'maxTrialNumber: 1' 'grace: 0.2s' << 'E'
tunepipe trial report 5
exec sleep 1000
E
    fake 'send ID ""' 'trial 0' \
        'until grep -q PERIODICAL got; do dd bs=1 count=100 >> got; done' \
        'decide 00000 pause' 'cat > got'
    : > got
    run 1 --dispatcher ./fake && count 1 paused
}
check "one that does not end by itself is ended behind the grace" silent

finish
