#!/bin/sh
# SPDX-License-Identifier: MIT
# Commands that are run when something happens: the key `on`.
# not under tsan
. "$(dirname "$0")/lib.sh"

final='tunepipe trial report --final "$TUNEPIPE_PARAM_x"'

each_event() {
    experiment 'maxTrialNumber: 2' 'hookConcurrency: 1' 'on:' \
        '  "*": cat >> all' << 'E'
tunepipe trial report 5
tunepipe trial report --final 1
E
    run 0 || return 1
    sed -n 's/.*"event": "\([a-z.]*\)".*/\1/p' all > names
    printf '%s\n' experiment.started trial.waiting trial.started metric metric \
        best trial.ended trial.waiting trial.started metric metric \
        trial.ended experiment.ended > want
    cmp names want || fail "$(cat names)" || return 1
    has all '"trial": "00001", "attempt": 0, "type": "intermediate", "sequence": 0, "value": 5.0}' &&
        has all '"status": "succeeded", "value": 1.0, "latest": 5.0' &&
        has all '"ok": true, "why": "finished: 2 trials", "trials": 2'
}
check "each event comes to its hook, in order" each_event

# The trial goes on when all four are there, and only then do they.
at_once() {
    mkfifo here go
    hook='echo > here; read -r line < go; echo >> done'
    experiment 'maxTrialNumber: 1' 'on:' '  trial.started:' \
        "    - $hook" "    - $hook" "    - $hook" "    - $hook" << 'E'
for i in 1 2 3 4; do read -r line; done <> "$HERE/here"
exec 3<> "$HERE/go"
printf '\n\n\n\n' >&3
until [ "$(grep -c '' "$HERE/done")" = 4 ]; do sleep 0.05; done
tunepipe trial report --final 1
E
    run 0 && count 1 succeeded
}
check "a trial does not wait for hooks, and four run at once" at_once

queued() {
    mkfifo gate
    experiment 'maxTrialNumber: 5' 'hookConcurrency: 1' 'on:' \
        '  trial.ended: |' \
        '    [ "$TUNEPIPE_TRIAL_ID" != 00000 ] || read -r line < gate' \
        '    echo "$TUNEPIPE_TRIAL_ID" >> order' << 'E'
tunepipe trial report --final 1
[ "$TUNEPIPE_TRIAL_ID" = 00004 ] || exit 0
[ ! -e "$HERE/order" ] || exit 9
echo > "$HERE/gate"
E
    run 0 && count 5 succeeded || return 1
    [ "$(tr '\n' ' ' < order)" = '00000 00001 00002 00003 00004 ' ] ||
        fail "$(cat order)"
}
check "hooks that wait run in the order of their events" queued

environment() {
    cat > hook.sh << 'E'
[ "$TUNEPIPE_EVENT_JSON" = "$(cat)" ] && [ -d "$TUNEPIPE_EXPERIMENT_DIR" ] &&
    echo "$TUNEPIPE_EVENT $TUNEPIPE_TRIAL_ID $TUNEPIPE_VALUE" >> told
[ "$TUNEPIPE_EVENT" != experiment.ended ] ||
    tunepipe show --json "$TUNEPIPE_EXPERIMENT_DIR" > shown.json
echo 'words of a hook'
E
    echo 'tunepipe trial report --final 2.5' | experiment 'maxTrialNumber: 1' \
        'hookConcurrency: 1' 'on: {best: sh hook.sh, "experiment.*": sh hook.sh}'
    export TUNEPIPE_VALUE=none TUNEPIPE_TRIAL_ID=none
    run 0 || return 1
    printf '%s\n' 'experiment.started  ' 'best 00000 2.5' \
        'experiment.ended  2.5' > want
    cmp told want || fail "$(cat told)" || return 1
    has "$dir/hooks.log" 'words of a hook' &&
        has shown.json '"status": "succeeded"' &&
        lacks out 'words of a hook' && lacks err 'words of a hook'
}
check "what a hook is told" environment

quoted() {
    echo 'tunepipe trial report --final 1' | experiment 'maxTrialNumber: 1' \
        'searchSpace: {x: {_type: choice, _value: ["$(touch bad)`touch bad`;touch bad"]}}' \
        'on: {trial.ended: "echo \"$TUNEPIPE_EVENT_JSON\" > got"}'
    run 0 && has got 'touch bad' && [ ! -e bad ]
}
check "a parameter is never run by a hook's shell" quoted

failing() {
    echo "$final" | experiment 'maxTrialNumber: 3' \
        'on: {trial.ended: "echo why; exit 7", best: "kill -SEGV $$"}'
    run 0 && count 3 succeeded &&
        has err 'warning: hook trial.ended (echo why; exit 7): event trial.ended ended with exit status 7; what it said is in hooks.log' &&
        has err 'hook trial.ended (echo why; exit 7): failed 3 of 3 times' &&
        has err 'event best ended with signal 11' || return 1
    [ "$(grep -c 'hook trial.ended' err)" = 2 ] || fail 'more than two lines'
}
check "a hook that fails is named, once, and counted" failing

slow() {
    echo "$final" | experiment 'maxTrialNumber: 1' 'hookTimeout: 0.5s' \
        'on: {trial.ended: "sleep 1000 & echo $! > left; wait"}'
    run 0 && count 1 succeeded && has err \
        'event trial.ended took longer than hookTimeout (0.5 s) and was killed' ||
        return 1
    gone "$(cat left)" || fail 'its child is left'
}
# A killed process may be a zombie of whoever adopted it.
gone() { ! kill -0 "$1" 2>&- || grep -q '^State:.*Z' "/proc/$1/status"; }
check "a hook that takes too long is killed, and its children" slow

interrupted() {
    mkfifo gate
    echo "$final" | experiment 'maxTrialNumber: 1' \
        'on: {experiment.ended: "kill -INT \"$(cat pid)\"; echo > gate"}'
    run 0 && count 1 succeeded # nobody ever reads from the gate
}
check "Ctrl-C ends the waiting for hooks" interrupted

flooded() {
    mkfifo gate
    experiment 'maxTrialNumber: 1' 'hookConcurrency: 1' \
        'metrics: {pattern: "value=([0-9]+)", final: none}' \
        'on: {trial.started: read -r line < gate, metric: ":"}' << 'E'
i=0
while [ $i -lt 1100 ]; do
    echo "value=$i"
    i=$((i + 1))
done
tunepipe trial report --final 1
until grep -q 'are dropped' "$HERE/err"; do sleep 0.05; done
echo > "$HERE/gate"
E
    run 0 && count 1 succeeded &&
        has err 'warning: hook metric: 1000 of its calls wait: those that come now are dropped' &&
        has err 'hook metric (:): 10'
}
check "a flood of events is dropped and counted" flooded

wrong() {
    echo "$final" | experiment 'maxTrialNumber: 1' 'hookConcurrency: 65' 'on:' \
        '  trial.endet: a' '  "job.*": b' '  best: {}' '  metric: ""' \
        '  "trial.*": [[]]'
    run 3 &&
        has err "on.trial.endet: 'trial.endet' is no event (did you mean 'trial.ended'?)" &&
        has err "on.job.*: 'job.*' is no event" &&
        has err 'on.best: expected a command, got a map' &&
        has err 'on.metric: expected a command, got nothing' &&
        has err 'on.trial.*: expected a command, got a list' &&
        has err 'hookConcurrency: expected an integer from 1 to 64' &&
        has err '6 mistakes'
}
check "what is no event and no command" wrong

decision() {
    experiment 'maxTrialNumber: 1' \
        "assessor: {plugin: $PLUGINS/stops_at.so, classArgs: {step: 2}}" \
        'on: {decision: "cat >> decisions", trial.ended: "cat >> ends"}' << 'E'
tunepipe trial report --sync 1
tunepipe trial report --sync 2 || exit 0
exit 1
E
    run 1 && count 1 stopped &&
        has decisions '"decision": "stop", "by": "assessor", "reports": 2, "value": 2.0' &&
        has ends '"status": "stopped", "value": null, "latest": 2.0' || return 1
    [ "$(grep -c . decisions)" = 1 ] || fail 'more than one decision'
}
check "the assessor's decision" decision

dispatcher() {
    experiment 'maxTrialNumber: 2' \
        'on: {dispatcher.restarted: "cat > restarted"}' << 'E'
if [ "$TUNEPIPE_TRIAL_ID" = 00000 ]; then
    read -r pid rest < "$TUNEPIPE_EXPERIMENT_DIR/dispatcher.pid"
    kill -KILL "$pid"
fi
tunepipe trial report --final 1
E
    run 0 && count 2 succeeded && has restarted '"text": "signal 9"'
}
check "a dispatcher that died" dispatcher

# What the manager was about to tell when it was killed may be lost.
resumed() {
    experiment 'maxTrialNumber: 3' 'hookConcurrency: 1' 'on:' \
        '  "trial.*": cat >> all' '  "experiment.*": cat >> all' \
        '  best: cat >> all' << 'E'
tunepipe trial report --final 1
if [ "$TUNEPIPE_TRIAL_ID" = 00001 ] && [ ! -e "$HERE/killed" ]; then
    touch "$HERE/killed"
    kill -KILL "$(cat "$HERE/pid")"
fi
E
    HERE=$PWD sh -c 'echo $$ > pid; exec "$0" run e.yml' "$T" > out 2> err
    dir=$(ls -d tunepipe-experiments/*)
    HERE=$PWD "$T" resume "$dir" > out 2> err || return 1
    "$T" show --json "$dir" > show.json && count 3 succeeded &&
        has all '"resumed": true' || return 1
    sed -n 's/.*"event": "\([a-z.]*\)".*"trial": "\([0-9]*\)".*/\1 \2/p' all |
        sort > told
    [ -z "$(uniq -d told)" ] || fail "told twice: $(uniq -d told)" || return 1
    has told 'trial.ended 00001' && has told 'trial.ended 00002'
}
check "nothing is told again after a resume" resumed

finish
