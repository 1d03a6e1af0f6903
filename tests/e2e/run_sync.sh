#!/bin/sh
# SPDX-License-Identifier: MIT
# Reports that wait for the assessor's word.
. "$(dirname "$0")/lib.sh"

# A trial in shell that reports 1, 2, 3, ... in step and ends on "stop".
in_step() {
    cat << 'E'
for i in 1 2 3 4; do
    tunepipe trial report --sync $i
    status=$?
    echo "$i $status" >> said
    case $status in
    0) ;;
    7) exit 0 ;;
    *) exit 1 ;;
    esac
done
tunepipe trial report --final 9
E
}

STOPS="assessor: {plugin: $PLUGINS/stops_at.so, classArgs: {step: 3}}"

shell_trial() {
    in_step | experiment 'maxTrialNumber: 2' "$STOPS"
    run 1 && count 2 stopped && replays && has show.json '"latest": 3.0' &&
        has "$dir/trials/00001/exit" 'exited 0' || return 1
    [ "$(tr '\n' , < said)" = '1 0,2 0,3 7,1 0,2 0,3 7,' ] ||
        fail "$(cat said)" || return 1
    "$T" log "$dir" > log && has log '"sync": true' &&
        has log '"decision": "stop"' && lacks log '"sequence": 3'
}
check "a shell trial that is told to stop" shell_trial

nobody_judges() {
    in_step | experiment 'maxTrialNumber: 1'
    run 0 && count 1 succeeded && replays || return 1
    [ "$(tr '\n' , < said)" = '1 0,2 0,3 0,4 0,' ] || fail "$(cat said)"
}
check "without an assessor it goes on" nobody_judges

c_trial() {
    command -v "${CC:-cc}" > cc || { echo 'no C compiler'; return 77; }
    cat > t.c << 'E'
#include <tunepipe/trial.h>
int main(void)
{
    int i = 1, stop;
    while ((stop = i < 3 ? tp_report_sync(i)
                         : tp_report_sync_json("{\"default\": 3}")) == 0)
        i++;
    printf("%d %d\n", i, stop);
    return 0;
}
E
    "${CC:-cc}" -I"$TP_SOURCE/src/trial/include" -o t t.c || return 1
    experiment 'maxTrialNumber: 1' "$STOPS" < /dev/null
    sed -i 's|sh ./trial.sh|./t|' e.yml
    run 1 && count 1 stopped && has "$dir/trials/00000/stdout" '3 1' &&
        has show.json '"latest": 3.0' || return 1
    # By hand nobody answers.
    sed 's/== 0/== 0 \&\& i < 5/' t.c > u.c &&
        "${CC:-cc}" -I"$TP_SOURCE/src/trial/include" -o u u.c &&
        ./u > by_hand && has by_hand '5 0' && has by_hand 'intermediate 1' &&
        ! grep -q '	' by_hand
}
check "a C trial that is told to stop" c_trial

python_trial() {
    command -v python3 > python || { echo 'no Python'; return 77; }
    cat > t.py << 'E'
import tunepipe
for i in range(1, 6):
    try:
        tunepipe.report({"default": i, "more": "x"}, sync=True)
    except tunepipe.Stop:
        print("stopped at", i)
        raise
E
    experiment 'maxTrialNumber: 1' "$STOPS" < /dev/null
    sed -i 's|sh ./trial.sh|python3 t.py|' e.yml
    run 1 && count 1 stopped &&
        has "$dir/trials/00000/stdout" 'stopped at 3' &&
        has "$dir/trials/00000/exit" 'exited 0' || return 1
    PYTHONPATH=$TP_SOURCE/src/python python3 t.py > by_hand &&
        has by_hand 'intermediate {"default": 5.0' && ! grep -q '	' by_hand ||
        return 1
    ! PYTHONPATH=$TP_SOURCE/src/python python3 -c \
        'import tunepipe; tunepipe.report(1, sync=True, done=True)' \
        > by_hand 2> why && has why 'ValueError: sync is for' && [ ! -s by_hand ]
}
check "a Python trial that is told to stop" python_trial

# Each waits for its own answer, whoever comes first.
many() {
    experiment 'maxTrialNumber: 2' 'trialConcurrency: 2' << 'E'
for i in 1 2 3 4 5 6 7 8; do tunepipe trial report --sync $i & done
wait
tunepipe trial report --final 1
E
    run 0 && count 2 succeeded && replays && has show.json '"intermediates": 8'
}
check "several processes of a trial wait" many

unused() {
    experiment 'maxTrialNumber: 1' 'metrics: {pattern: "x=([0-9]+)"}' << 'E'
tunepipe trial report --sync 1 && echo x=5
printf 'intermediate what\t\t\n' >> "$TUNEPIPE_TRIAL_DIR/metrics"
E
    run 0 && count 1 succeeded && has err 'metrics.pattern is set' &&
        has show.json '"value": 5.0'
}
check "a report that is not used is answered" unused

# It hears the word and goes on: it is ended when the grace is over, and what
# it reports meanwhile is told to go away.
deaf() {
    experiment 'maxTrialNumber: 1' "$STOPS" 'grace: 1h' << 'E'
for i in 1 2 3 4 5; do
    tunepipe trial report --sync $i
    echo "$i $?" >> said
done
sh "$HERE/set_ahead" 4000
exec sleep 1000
E
    ahead_of_time run 1 || return
    count 1 stopped && replays || return 1
    terminated "$dir/trials/00000" || return 1
    [ "$(tr '\n' , < said)" = '1 0,2 0,3 7,4 7,5 7,' ] || fail "$(cat said)"
}
check "a trial that does not listen" deaf

# Nobody but trial 1 could end the wait of trial 0; its manager dies.
manager_dies() {
    mkfifo woke
    experiment 'trialConcurrency: 2' 'deterministic: true' << 'E'
if [ "$TUNEPIPE_TRIAL_ID" = 00000 ]; then
    tunepipe trial report --sync 1
    echo "$?" > "$HERE/woke.1"
    tunepipe trial report --sync 2 # nobody is there: at once
    cat "$HERE/woke.1" - > "$HERE/woke" << END
$?
END
    exit
fi
until grep -q intermediate "$TUNEPIPE_EXPERIMENT_DIR/trials/00000/metrics"; do
    :
done
kill -KILL "$(cat "$HERE/pid")"
E
    run 137
    [ "$(cat woke | tr '\n' ,)" = '0,0,' ] || fail "$(cat woke.1)"
}
check "the manager dies while a trial waits" manager_dies

refused() {
    TUNEPIPE_TRIAL_DIR=. "$T" trial report --final --sync 1 2> err
    [ $? = 2 ] && has err 'sync is for intermediate results' || return 1
    "$T" trial report --sync 1 2> err
    [ $? = 2 ] && has err 'TUNEPIPE_TRIAL_DIR is not set'
}
check "what --sync refuses" refused

finish
