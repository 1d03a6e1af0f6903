#!/bin/sh
# SPDX-License-Identifier: MIT
# Every state a trial can end in, by every way that leads there; and that
# nothing of it is left.
# not under tsan
. "$(dirname "$0")/lib.sh"

# ended ID STATUS EVENT BY [WHY]: the trial did, and so was it told.
ended() {
    sed 's/}, {/}\n{/g' show.json | grep "\"trial\": \"$1\".*\"status\"" > row
    has row "\"status\": \"$2\"" && has row "\"ended_by\": \"$4\"" &&
        has row "\"why\": \"$5" || return 1
    n=$("$T" log "$dir" | grep -F "EN{\"trial_job_id\": \"$1\"" | tee told |
        wc -l)
    [ "$n" = 1 ] || fail "$n ends of $1, expected 1" || return 1
    has told "\"event\": \"$3\""
}

# All that a program can do by itself, one trial each.
by_itself() {
    experiment 'maxTrialNumber: 7' 'onRepeatedFailure: ignore' << 'E'
case $TUNEPIPE_TRIAL_ID in
00000) tunepipe trial report --final 1 ;;
00001) exit 3 ;;
00002) kill -SEGV $PPID; kill -SEGV $$; exec sleep 1000 ;;
00003) exit 0 ;;
00004) tunepipe trial report --final 1; exit 1 ;;
00005) tunepipe trial report 1; exit 0 ;;
00006)
    read -r wrapper rest < "$TUNEPIPE_TRIAL_DIR/wrapper.pid"
    kill -KILL "$wrapper"
    exec sleep 1000 ;;
esac
E
    sed -i 's|sh ./trial.sh|exec sh ./trial.sh|' e.yml
    sed -i 's|kill -SEGV $PPID; ||' trial.sh
    run 0 && replays && ended 00000 succeeded SUCCEEDED itself &&
        ended 00001 failed FAILED itself 'exit status 3' &&
        ended 00002 failed FAILED signal 'signal 11' &&
        ended 00003 failed FAILED itself 'no final metric' &&
        ended 00004 failed FAILED itself 'exit status 1' &&
        ended 00005 failed FAILED itself 'no final metric' &&
        ended 00006 lost FAILED system 'its wrapper vanished'
}
check "waiting, running, and what a program does" by_itself

unstarted() {
    mkdir code
    experiment 'maxTrialNumber: 2' 'trialCodeDirectory: code' << 'E'
tunepipe trial report --final 1
rm -r "$HERE/code"
E
    cp trial.sh code
    run 0 && replays && ended 00000 succeeded SUCCEEDED itself &&
        ended 00001 failed FAILED system 'could not be started: '
}
check "one that cannot be started" unstarted

too_long() {
    experiment 'maxTrialNumber: 1' 'maxTrialDuration: 1s' 'grace: 1s' << 'E'
exec sleep 1000
E
    run 1 && replays && ended 00000 'timed out' EARLY_STOPPED clock \
        'no end within maxTrialDuration"' &&
        has "$dir/trials/00000/stop" 'timeout 0 0'
}
check "too long" too_long

# Each report begins the time anew.
idle() {
    experiment 'maxTrialNumber: 3' 'trialConcurrency: 3' \
        'trialIdleTimeout: 1h' << 'E'
trials=$TUNEPIPE_TRIAL_DIR/..
[ "$TUNEPIPE_TRIAL_ID" = 00001 ] && tunepipe trial report 5
: > "$TUNEPIPE_TRIAL_DIR/begun"
[ "$TUNEPIPE_TRIAL_ID" = 00002 ] || exec sleep 1000
until [ -e "$trials/00000/begun" ] && [ -e "$trials/00001/begun" ]; do
    sleep 0.05
done
sh "$HERE/set_ahead" 2000 # by when the manager knows that all have begun
tunepipe trial report --sync 1
sh "$HERE/set_ahead" 5000
tunepipe trial report --sync 1
sh "$HERE/set_ahead" 8000
[ -e "$trials/00000/stop" ] && [ -e "$trials/00001/stop" ] || exit 3
tunepipe trial report --final 1
E
    ahead_of_time run 0 || return
    replays && ended 00000 'timed out' EARLY_STOPPED clock \
        'no metric within trialIdleTimeout' &&
        has "$dir/trials/00000/stop" 'idle 0 0' &&
        ended 00001 'timed out' EARLY_STOPPED clock 'no metric' &&
        has row '"latest": 5.0' && has "$dir/trials/00001/stop" 'idle 1 0' &&
        ended 00002 succeeded SUCCEEDED itself
}
check "too long without a word" idle

# In lock step one waits for the other, longer than an idle one may.
waits() {
    experiment 'maxTrialNumber: 2' 'trialConcurrency: 2' 'grace: 1s' \
        'trialIdleTimeout: 1h' 'deterministic: true' << 'E'
if [ "$TUNEPIPE_TRIAL_ID" = 00000 ]; then
    tunepipe trial report 1
    exec tunepipe trial report --final 1
fi
trap '' TERM
until grep -qs 1 "$TUNEPIPE_TRIAL_DIR/../00000/metrics"; do sleep 0.05; done
sh "$HERE/set_ahead" 2000 # by when the manager knows that both have begun
sh "$HERE/set_ahead" 6000
while :; do sleep 1000; done
E
    ahead_of_time run 0 || return
    ended 00001 'timed out' EARLY_STOPPED clock 'no metric' &&
        ended 00000 succeeded SUCCEEDED itself && replays
}
check "one that waits for an answer is not idle" waits

by_others() {
    experiment 'maxTrialNumber: 4' 'trialConcurrency: 2' \
        "assessor: {plugin: $PLUGINS/stops_at.so, classArgs: {step: 2}}" << 'E'
case $TUNEPIPE_TRIAL_ID in
00000) tunepipe trial report 1; tunepipe trial report 2 ;;
00001) tunepipe trial report --final 1; exit ;;
00003) kill -INT "$(cat "$HERE/pid")" ;;
esac
exec sleep 1000
E
    run 1 && replays && ended 00000 stopped EARLY_STOPPED assessor &&
        ended 00001 succeeded SUCCEEDED itself &&
        "$T" log "$dir" > log && lacks log '<  EN{"trial_job_id": "00002"' &&
        lacks log '<  EN{"trial_job_id": "00003"' && count 2 interrupted &&
        has show.json '"ended_by": "manager"'
}
check "by the assessor and by the user" by_others

# A trial that waits for its next attempt hears the stop of the one before.
stopped_waiting() {
    experiment 'maxTrialNumber: 1' 'onFailure: {retry: 3, backoff: 1h}' \
        "assessor: {plugin: $PLUGINS/stops_at.so, classArgs: {step: 1}}" << 'E'
read -r pid rest < "$TUNEPIPE_EXPERIMENT_DIR/dispatcher.pid"
echo "$pid" > "$HERE/dispatcher"
kill -STOP "$pid"
tunepipe trial report 1
exit 3
E
    mkfifo said
    HERE=$PWD sh -c 'echo $$ > pid; exec "$0" run e.yml' "$T" > said 2> err &
    while read -r line; do
        case $line in
        *'tried again in'*) kill -CONT "$(cat dispatcher)" ;;
        esac
    done < said
    wait
    dir=$(ls -d tunepipe-experiments/*)
    "$T" show --json "$dir" > show.json && replays &&
        ended 00000 stopped EARLY_STOPPED assessor
}
check "stopped while it waits to be tried again" stopped_waiting

# A daemon in a session of its own that ignores SIGTERM, its parent gone.
daemons() {
    cat > daemons.sh << 'E'
setsid sh -c 'trap "" TERM
    sh -c "trap \"\" TERM; echo \$\$ > \"$HERE/$TUNEPIPE_TRIAL_ID.inner\"
        while :; do sleep 1000; done" &
    echo $$ > "$HERE/$TUNEPIPE_TRIAL_ID.outer"
    while :; do sleep 1000; done' < /dev/null > /dev/null 2>&1 &
until [ -s "$HERE/$TUNEPIPE_TRIAL_ID.outer" ] &&
    [ -s "$HERE/$TUNEPIPE_TRIAL_ID.inner" ]; do sleep 0.01; done
E
}

left() {
    for f in 0000?.outer 0000?.inner; do
        ! kill -0 "$(cat "$f")" 2>&- || fail "$f is left" || return 1
    done
    [ "$(cat 0000?.outer 0000?.inner | wc -l)" = 4 ] || fail 'too few'
}

daemon() {
    daemons
    experiment 'maxTrialNumber: 2' 'grace: 1s' 'trialConcurrency: 2' << 'E'
. "$HERE/daemons.sh"
[ "$TUNEPIPE_TRIAL_ID" = 00000 ] && exec tunepipe trial report --final 1
exit 3
E
    run 0 && ended 00000 succeeded SUCCEEDED itself &&
        ended 00001 failed FAILED itself 'exit status 3' && left
}
check "daemons end with their trial" daemon

daemon_stopped() {
    daemons
    experiment 'maxTrialNumber: 2' 'grace: 1s' 'trialConcurrency: 2' \
        'trialIdleTimeout: 1h' << 'E'
. "$HERE/daemons.sh"
trap '' TERM
until [ -s "$HERE/00000.inner" ] && [ -s "$HERE/00001.inner" ]; do
    sleep 0.01
done
[ "$TUNEPIPE_TRIAL_ID" != 00000 ] || {
    sh "$HERE/set_ahead" 2000 # by when the manager knows that both have begun
    sh "$HERE/set_ahead" 6000
}
while :; do sleep 1000; done
E
    ahead_of_time run 1 || return
    ended 00001 'timed out' EARLY_STOPPED clock 'no metric' && left
}
check "daemons end when their trial is stopped" daemon_stopped

finish
