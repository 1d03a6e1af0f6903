#!/bin/sh
# SPDX-License-Identifier: MIT
# How trials and experiments are ended: time, assessor, user.
. "$(dirname "$0")/lib.sh"

hang() {
    experiment 'maxTrialNumber: 2' 'maxTrialDuration: 5s' 'grace: 1s' << 'E'
[ "$TUNEPIPE_TRIAL_ID" = 00001 ] && exec tunepipe trial report --final 1
tunepipe trial report 5
trap '' TERM
echo $$ > "$HERE/left"
while :; do sleep 1000; done
E
    sed -i 's|sh ./trial.sh|exec sh ./trial.sh|' e.yml
    run 0 && has show.json '"status": "timed out"' && count 1 succeeded &&
        has show.json '"latest": 5.0' && replays &&
        has "$dir/trials/00000/exit" 'signalled 9' || return 1
    ! kill -0 "$(cat left)" 2>&- || fail 'the trial is left'
    "$T" log "$dir" > log && has log '"event": "EARLY_STOPPED"'
}
check "a hanging trial that ignores SIGTERM" hang

assessor() {
    experiment 'maxTrialNumber: 3' \
        "assessor: {plugin: $PLUGINS/stops_at.so, classArgs: {step: 2}}" << 'E'
trap 'tunepipe trial report --final 9; exit 0' TERM
tunepipe trial report 1
tunepipe trial report 2
while :; do sleep 0.01; done # a shell looks at its traps between commands
E
    run 1 && count 3 stopped && replays && has show.json '"latest": 2.0' &&
        has show.json '"value": null' || return 1
    # What came after the stop stands in the folder, was counted and not sent.
    has out 'came too late and are not used: 3 reports of' || return 1
    has "$dir/trials/00002/metrics" 'final 9' && "$T" log "$dir" > log &&
        lacks log FINAL && has log '"event": "EARLY_STOPPED"'
}
check "the assessor's word, and reports after it" assessor

late_kill() {
    experiment 'maxTrialNumber: 20' 'trialConcurrency: 4' \
        "assessor: {plugin: $PLUGINS/stops_at.so, classArgs: {step: 1}}" << 'E'
tunepipe trial report 1
tunepipe trial report --final 1
E
    # Whichever comes first, KI or the end: each trial ends once, one way.
    run 0 > why || [ "$got" = 1 ] || return 1
    n=$(grep -o '"status": "[a-z]*"' show.json | grep -c 'succeeded\|stopped')
    [ "$n" = 20 ] && replays && "$T" log "$dir" > log &&
        [ "$(grep -c '<  EN{' log)" = 20 ]
}
check "stops that race with ends" late_kill

interrupt() {
    experiment 'trialConcurrency: 2' << 'E'
case $TUNEPIPE_TRIAL_ID in
00000) exec tunepipe trial report --final 3 ;;
00002) kill -INT "$(cat "$HERE/pid")" ;;
esac
exec sleep 1000
E
    run 1 && has err 'interrupted after' &&
        count 2 interrupted && count 1 succeeded && replays &&
        has "$dir/summary.json" '"ok": false' && "$T" log "$dir" > log &&
        lacks log USER_CANCELED && has log '"status": "interrupted"' &&
        has log '<  TE'
}
check "Ctrl-C ends cleanly" interrupt

interrupt_twice() {
    experiment 'grace: 1h' << 'E'
trap 'kill -INT "$(cat "$HERE/pid")"' TERM
kill -INT "$(cat "$HERE/pid")"
while :; do sleep 0.01; done
E
    run 1 && count 1 interrupted && has err interrupted
}
check "a second Ctrl-C kills" interrupt_twice

# kill(2) returns before the signal is seen: the trial stays until none is
# pending.
hangup() {
    experiment 'maxTrialNumber: 2' << 'E'
manager=$(cat "$HERE/pid")
kill -HUP "$manager"
until grep -q '^ShdPnd:[^1-9a-f]*$' "/proc/$manager/status"; do sleep 0.01; done
tunepipe trial report --final 1
E
    (
        trap '' HUP
        run 0 && count 2 succeeded
    )
}
check "a hang-up is nothing under nohup" hangup

hangup_stops() {
    experiment << 'E'
kill -HUP "$(cat "$HERE/pid")"
exec sleep 1000
E
    printf '#!/bin/sh\nexec env --default-signal=HUP "%s" "$@"\n' "$T" > default
    chmod +x default
    HERE=$PWD sh -c 'echo $$ > pid; exec ./default run e.yml' > out 2> err
    [ $? = 1 ] && has err 'interrupted after 1 trials'
}
check "a hang-up ends like Ctrl-C" hangup_stops

terminate_before_id() {
    printf '%s\n' '#!/bin/sh' 'kill -TERM "$PPID"' 'exec cat > /dev/null' > slow
    chmod +x slow
    experiment < /dev/null
    run 1 --dispatcher ./slow && has err 'interrupted after 0 trials'
}
check "SIGTERM before the dispatcher has answered" terminate_before_id

experiment_duration() {
    experiment 'maxExperimentDuration: 1s' << 'E'
tunepipe trial report --final 1
E
    run 0 && has out 'maxExperimentDuration is over' &&
        lacks show.json cancelled
}
check "maxExperimentDuration starts no more trials" experiment_duration

# The disk is not full, and time does not help: the experiment ends.
unwritable() {
    prlimit --version > version 2>&1 || { echo "no prlimit" && return 77; }
    experiment 'maxTrialNumber: 1' << 'E'
prlimit --pid "$(cat "$HERE/pid")" --fsize=200 || exit 1
tunepipe trial report --final 1
E
    (trap "" XFSZ && run 1) &&
        has err 'results.jsonl: cannot write: File too large' &&
        dir=$(echo tunepipe-experiments/*) && resume 0 && count 1 succeeded
}
check "results that cannot be written end the experiment" unwritable

wrapper_killed() {
    experiment 'maxTrialNumber: 2' << 'E'
[ "$TUNEPIPE_TRIAL_ID" = 00001 ] && exec tunepipe trial report --final 1
read -r wrapper rest < "$TUNEPIPE_TRIAL_DIR/wrapper.pid"
kill -KILL "$wrapper"
exec sleep 1000
E
    run 0 && count 1 lost && count 1 succeeded && replays
}
check "a wrapper that is killed" wrapper_killed

finish
