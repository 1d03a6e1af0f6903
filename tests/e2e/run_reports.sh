#!/bin/sh
# SPDX-License-Identifier: MIT
# What a trial reports is used before its end is told; its last value may be
# its result; `done` ends it.
# not under tsan
. "$(dirname "$0")/lib.sh"

all_before_the_error() {
    experiment 'maxTrialNumber: 1' << 'E'
i=0
while [ $i -lt 1000 ]; do
    echo "intermediate $i"
    i=$((i + 1))
done > lines
cat lines >> "$TUNEPIPE_TRIAL_DIR/metrics"
exit 1
E
    run 1 && count 1 failed && has show.json '"intermediates": 1000' &&
        replays || return 1
    "$T" log "$dir" > log
    grep -o '<  ME\|<  EN' log | uniq -c | tr -s ' \n' ' ' > order
    has order ' 1000 < ME 1 < EN' || fail "$(cat order)"
}
check "a thousand results of a trial that fails" all_before_the_error

last_is_final() {
    experiment 'maxTrialNumber: 2' 'metrics: {final: last}' << 'E'
tunepipe trial report 1
tunepipe trial report 2
[ "$TUNEPIPE_TRIAL_ID" = 00000 ] || tunepipe trial report --final 7
E
    run 0 && count 2 succeeded && replays &&
        has show.json '"value": 2.0' && has show.json '"value": 7.0' ||
        return 1
    "$T" log "$dir" > log
    [ "$(grep -c '"type": "FINAL"' log)" = 2 ] || fail "$(grep FINAL log)"
}
check "the last value is the final one, once" last_is_final

# Without the key, and where it failed, the last value is only that.
last_is_not_final() {
    experiment 'maxTrialNumber: 1' << 'E'
tunepipe trial report 1
E
    run 1 && count 1 failed && has show.json '"why": "no final metric"' &&
        lacks show.json '"value": 1.0' || return 1
    rm -r tunepipe-experiments
    experiment 'maxTrialNumber: 1' 'metrics: {final: last}' << 'E'
tunepipe trial report 1
exit 3
E
    run 1 && count 1 failed && has show.json '"why": "exit status 3"' &&
        lacks show.json '"value": 1.0'
}
check "a trial without a final result, or with a failure" last_is_not_final

# They run on, one of them deaf.
done_ends_it() {
    experiment 'maxTrialNumber: 2' 'grace: 1s' << 'E'
[ "$TUNEPIPE_TRIAL_ID" = 00000 ] || trap '' TERM
tunepipe trial report 1
printf 'done 5\nfinal 8\nintermediate 9\n' >> "$TUNEPIPE_TRIAL_DIR/metrics"
sleep 1000
E
    sed -i 's|sh ..trial|exec &|' e.yml
    run 0 && count 2 succeeded && replays && has show.json '"value": 5.0' &&
        has show.json '"intermediates": 1,' &&
        terminated "$dir/trials/00000" &&
        has "$dir/trials/00001/exit" 'signalled 9' &&
        lacks show.json '"value": 8.0' && lacks show.json '"latest": 9.0'
}
check "a trial that is done and runs on" done_ends_it

done_in_step() {
    experiment 'maxTrialNumber: 2' 'trialConcurrency: 2' \
        'deterministic: true' << 'E'
tunepipe trial report 1
tunepipe trial report --done 5
exec sleep 1000
E
    run 0 && count 2 succeeded && replays && has show.json '"value": 5.0'
}
check "the same in lock step" done_in_step

# Its manager dies when it has read nothing of the end.
done_and_resumed() {
    experiment 'maxTrialNumber: 1' << 'E'
tunepipe trial report 1
kill -KILL "$(cat "$HERE/pid")"
tunepipe trial report --done 5
exec sleep 1000
E
    run 137
    "$T" resume "$dir" > out 2> err || fail "$(tail -n 1 err)" || return 1
    "$T" show --json "$dir" > show.json && count 1 succeeded && replays &&
        has show.json '"value": 5.0'
}
check "a trial that is done when its manager is dead" done_and_resumed

done_in_c_and_python() {
    command -v "${CC:-cc}" > cc && command -v python3 > python ||
        { echo 'no C compiler or no Python'; return 77; }
    cat > t.c << 'E'
#include <tunepipe/trial.h>
int main(void)
{
    tp_report(1);
    if (tp_done_json("{\"default\": 4, \"loss\": 1}") != 0)
        return 1;
    for (;;)
        pause();
}
E
    "${CC:-cc}" -I"$TP_SOURCE/src/trial/include" -o t t.c || return 1
    cat > t.py << 'E'
import signal, tunepipe
tunepipe.report(1)
tunepipe.report(6, done=True)
while True:
    signal.pause()
E
    experiment 'maxTrialNumber: 2' << 'E'
[ "$TUNEPIPE_TRIAL_ID" = 00000 ] && exec ./t
exec python3 t.py
E
    run 0 && count 2 succeeded && replays && has show.json '"value": 4.0' &&
        has show.json '"value": 6.0'
}
check "done, in C and in Python" done_in_c_and_python

# Each report tells how long after the one before it came.
elapsed() {
    experiment 'maxTrialNumber: 1' << 'E'
tunepipe trial report 1
tunepipe trial report --final 2
E
    run 0 && replays && "$T" log "$dir" > log || return 1
    [ "$(grep -c '"elapsed": [0-9]*\.[0-9]*' log)" = 2 ] ||
        fail "$(grep ' ME' log)"
}
check "the time between two reports" elapsed

# A line with a NUL is told of, the others count.
nul() {
    experiment 'maxTrialNumber: 1' \
        'tuner: {name: random, classArgs: {optimize_mode: minimize}}' << 'E'
printf 'intermediate 1\nintermediate 2\0\nintermediate 3\n\0final 8\nfinal 4\n' \
    >> "$TUNEPIPE_TRIAL_DIR/metrics"
E
    run 0 && has err 'metrics: line 2: byte 14 is a NUL' &&
        has show.json '"intermediates": 2' && has show.json '"value": 4.0' &&
        replays && rm -r tunepipe-experiments || return 1
    experiment 'maxTrialNumber: 1' "metrics: {pattern: 'v=([0-9]+)'}" \
        'tuner: {name: random, classArgs: {optimize_mode: minimize}}' << 'E'
printf 'v=1\na\0b\nv=5\0v=6\n\0v=7\nv=2\n'
E
    run 0 && has err 'stdout: line 3: byte 3 is a NUL' &&
        has show.json '"intermediates": 2' && has show.json '"value": 2.0' &&
        replays && "$T" rerun "$dir" 0 > out && has out 'the same' &&
        lacks out 'not the same'
}
check "a line with a NUL" nul

# The manager does not read a FIFO there, so nobody may wait for a reader.
fifo() {
    experiment 'maxTrialNumber: 1' \
        'tuner: {name: random, classArgs: {optimize_mode: minimize}}' << 'E'
rm -f "$TUNEPIPE_TRIAL_DIR/metrics"
mkfifo "$TUNEPIPE_TRIAL_DIR/metrics"
tunepipe trial report 1 2> "$HERE/said" && exit 7
if command -v python3 > "$HERE/python"; then
    PYTHONPATH=$TP_SOURCE/src/python python3 -c '
import tunepipe
try:
    tunepipe.report(1)
except OSError:
    raise SystemExit(3)'
    [ $? = 3 ] || exit 8
fi
exit 5
E
    run 1 && has said 'metrics: cannot open' && has show.json 'exit status 5'
}
check "a FIFO in place of the metrics" fifo

refused() {
    TUNEPIPE_TRIAL_DIR=. "$T" trial report --final --done 1 2> err
    [ $? = 2 ] && has err 'give one of' || return 1
    TUNEPIPE_TRIAL_DIR=. "$T" trial report --done --sync 1 2> err
    [ $? = 2 ] && has err 'sync is for'
}
check "what --done refuses" refused

finish
