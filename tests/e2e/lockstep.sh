#!/bin/sh
# SPDX-License-Identifier: MIT
# Lock step: the same seed gives the same table, whatever the timing.  Trials
# sleep as the clock says, so each run has another timing.
. "$(dirname "$0")/lib.sh"

# nap: some hundredths of a second, others each time.
cat > "$work/nap" << 'E'
sleep 0.0$(($(date +%N | tr -cd 1-9 | tail -c 3) % 5))
E

# commands: what the log says, without times, the marks that time makes, and
# what notes say of processes: their ids, and how those that were killed took it.
commands() {
    "$T" log "$dir" > log || return 1
    sed '/^ *0 .* M  [0-9]*$/d; s/^\( *[0-9]*\) [0-9-]* [0-9:.]* /\1 /
        s/\(NT.*\)"pid": [0-9]*/\1/; s/\(NT.*\)"status": "[^"]*"/\1/' log
}

# again N [OPTION...]: runs N times; all runs must look the same.
again() {
    times=$1
    shift
    for i in $(seq "$times"); do
        run 0 --deterministic "$@" && replays || return 1
        sed 's/"duration_s": [^,]*, //g' show.json > "show.$i"
        commands > "commands.$i" || return 1
        "$T" show --all "$dir" | sed 's/ [0-9.]*s / /
            /^state/d; /^folder/d; /^again/d' > "table.$i"
        for what in show commands table; do
            cmp "$what.1" "$what.$i" || {
                diff "$what.1" "$what.$i" | head -n 20
                fail "run $i differs"
                return 1
            }
        done
    done
}

three_languages() {
    command -v "${CC:-cc}" > cc && command -v python3 > python ||
        { echo 'no C compiler, or no Python'; return 77; }
    cat > t.c << 'E'
#include <tunepipe/trial.h>
int main(void)
{
    double x = tp_param_double("x", -1);
    for (int i = 1; i <= 5; i++) {
        int stop;
        if (system(". $NAP") != 0)
            return 2;
        stop = tp_report_sync(x * i);
        if (stop)
            return stop < 0;
    }
    return tp_final(x * 5) != 0;
}
E
    "${CC:-cc}" -I"$TP_SOURCE/src/trial/include" -o t t.c || return 1
    cat > t.py << 'E'
import os, tunepipe
x = tunepipe.param("x")
for i in range(1, 6):
    os.system(". $NAP")
    tunepipe.report(x * i, sync=True)
tunepipe.final(x * 5)
E
    experiment 'maxTrialNumber: 11' 'trialConcurrency: 4' 'seed: 3' \
        'assessor: {name: medianstop, classArgs: {optimize_mode: maximize, start_step: 2}}' << 'E'
export NAP="$HERE/../nap"
case $TUNEPIPE_TRIAL_ID in
*[036]) exec ./t ;;
*[147]) exec python3 t.py ;;
esac
for i in 1 2 3 4 5; do
    . "$NAP"
    v=$(awk "BEGIN { printf \"%.6f\", $TUNEPIPE_PARAM_x * $i }")
    tunepipe trial report --sync "$v" || { [ $? = 7 ]; exit; }
    # A signal in the middle.
    [ "$TUNEPIPE_TRIAL_ID $i" = '00005 2' ] && kill -KILL $$
done
tunepipe trial report --final "$v"
E
    again 3 && count 1 failed && has table.1 'ended by signal: 1' &&
        has out 'lock step: ' && has show.json '"ended_by": "signal"' &&
        has show.json '"ended_by": "assessor"' && has log '"stop"'
}
check "shell, C and Python, three times the same" three_languages

# Trials that never asked for an answer wait all the same, and are ended where
# they stand.
unasked() {
    experiment 'maxTrialNumber: 8' 'trialConcurrency: 3' \
        "assessor: {plugin: $PLUGINS/stops_at.so, classArgs: {step: 3}}" << 'E'
for i in 1 2 3 4; do
    . "$HERE/../nap"
    tunepipe trial report $i
    [ $((TUNEPIPE_TRIAL_ID % 2)) = 0 ] && [ $i = 2 ] && break
done
tunepipe trial report --final $i
echo "$TUNEPIPE_TRIAL_ID" >> beyond
E
    sed -i 's/TUNEPIPE_TRIAL_ID % 2/1$TUNEPIPE_TRIAL_ID % 2/' trial.sh
    again 2 && count 4 stopped && count 4 succeeded || return 1
    lacks log '"value": "4"'
}
check "reports that did not ask" unasked

# What cannot wait runs ahead; what comes after the stop is not used.
ahead() {
    experiment 'maxTrialNumber: 6' 'trialConcurrency: 3' \
        'metrics: {pattern: "acc=([0-9.]+)"}' \
        "assessor: {plugin: $PLUGINS/stops_at.so, classArgs: {step: 3}}" << 'E'
. "$HERE/../nap"
n=5
[ $((1$TUNEPIPE_TRIAL_ID % 2)) = 0 ] && n=2
for i in $(seq $n); do echo "acc=$i"; done
E
    again 2 && count 3 stopped && count 3 succeeded &&
        has show.json '"intermediates": 3' && has show.json '"intermediates": 2' &&
        lacks log '"value": "4.0"'
}
check "trials that run ahead" ahead

owed() {
    experiment 'maxTrialNumber: 9' 'trialConcurrency: 4' \
        "tuner: {plugin: $PLUGINS/later.so, classArgs: {at_once: 2}}" << 'E'
. "$HERE/../nap"
tunepipe trial report 1
. "$HERE/../nap"
tunepipe trial report --final "$TUNEPIPE_PARAM_x"
E
    again 2 && count 9 succeeded
}
check "a tuner that owes" owed

exhausted() {
    experiment 'trialConcurrency: 4' 'tuner: {name: gridsearch}' \
        'searchSpace: {x: {_type: choice, _value: [1, 2, 3, 4, 5, 6]}}' << 'E'
. "$HERE/../nap"
tunepipe trial report --final "$TUNEPIPE_PARAM_x"
E
    again 2 && count 6 succeeded && has out 'nothing more to try after 6 trials'
}
check "a space that is exhausted" exhausted

clock() {
    experiment 'maxTrialNumber: 4' 'trialConcurrency: 2' 'maxTrialDuration: 2s' \
        'deterministic: true' << 'E'
tunepipe trial report 1
[ "$TUNEPIPE_TRIAL_ID" = 00001 ] && exec sleep 1000
tunepipe trial report --final 2
E
    run 0 && count 1 'timed out' && count 3 succeeded && replays &&
        has out 'trials ended by clock: 1' &&
        has show.json '"ended_by": "clock"' && lacks show.json '"ended_by": ""'
}
check "an end by the clock" clock

# Trial 0 waits for trial 1, which interrupts instead of reporting.
interrupt() {
    experiment 'trialConcurrency: 2' 'deterministic: true' << 'E'
echo $$ >> "$HERE/pids"
[ "$TUNEPIPE_TRIAL_ID" = 00000 ] && exec tunepipe trial report --sync 1
# Its line stands once it waits, or is about to.
until grep -q intermediate "$TUNEPIPE_EXPERIMENT_DIR/trials/00000/metrics"; do
    :
done
kill -INT "$(cat "$HERE/pid")"
exec sleep 1000
E
    sed -i 's|sh ./trial.sh|exec sh ./trial.sh|' e.yml
    run 1 && has err interrupted && lacks show.json '"latest": 1.0' &&
        count 2 interrupted && replays || return 1
    for pid in $(cat pids); do
        ! kill -0 "$pid" 2>&- || fail "process $pid is left" || return 1
    done
}
check "Ctrl-C while trials wait" interrupt

# Of two trials one has to be started again when the experiment is resumed, but
# it is paused, and then over: the other one's end does not wait for that.
left() {
    experiment 'maxTrialNumber: 2' 'trialConcurrency: 2' \
        'deterministic: true' << 'E'
if [ "$TUNEPIPE_TRIAL_ID" = 00001 ]; then
    : > "$HERE/both"
    read -r line < "$HERE/go"
elif [ ! -e "$HERE/second" ]; then
    until [ -e "$HERE/both" ]; do sleep 0.02; done
    tunepipe pause "$TUNEPIPE_EXPERIMENT_DIR"
    : > "$HERE/second"
    read -r wrapper rest < "$TUNEPIPE_TRIAL_DIR/wrapper.pid"
    kill -KILL "$(cat "$HERE/pid")" "$wrapper"
    exec sleep 1000
fi
tunepipe trial report --final 1
E
    mkfifo go
    run 137
    rm pid # of a manager that is gone
    {
        meanwhile 'grep -q resumed: out'
        "$T" wait "$dir" experiment.ended --timeout 5m > waited &
        "$T" update "$dir" --max-duration 1s > updated
        echo go > go
        wait $! || kill -KILL "$(cat pid)"
    } &
    resume 1 && wait && count 1 interrupted && count 1 succeeded || return 1
    rm pid
    meanwhile '"$T" continue "$dir" > continued 2>&1' &
    resume 0 --max-duration 1h && wait && count 2 succeeded && replays
}
check "an attempt that is left before it has begun" left

# The stop voids what the tuner owes; the trials that it would have been get the
# same ids, and so parameters and seeds, behind it.
left_owing() {
    experiment 'maxTrialNumber: 9' 'trialConcurrency: 4' 'deterministic: true' \
        "tuner: {plugin: $PLUGINS/later.so, classArgs: {at_once: 2}}" << 'E'
if [ "$TUNEPIPE_TRIAL_ID" = 00004 ] && [ -e "$HERE/stop" ]; then
    rm "$HERE/stop"
    kill -TERM "$(cat "$HERE/pid")"
    exec sleep 1000
fi
tunepipe trial report --final "$TUNEPIPE_PARAM_x"
E
    table='s/"duration_s": [^,]*, //; s/"attempt": [^,]*, //'
    run 0 && sed "$table" "$dir/results.jsonl" > want && : > stop && run 1 &&
        has err interrupted && resume 0 && replays || return 1
    sed "$table" "$dir/results.jsonl" | diff want - > diff ||
        { fail "another table"; cat diff; false; }
}
check "what a stop left owed has the ids that it would have had" left_owing

finish
