#!/bin/sh
# SPDX-License-Identifier: MIT
# Trials in two phases: prepareCommand, then trialCommand.
# not under tsan
. "$(dirname "$0")/lib.sh"

# prepared LINE... < PREPARE: trial.sh is there already.
prepared() {
    cat > prepare.sh
    experiment 'prepareCommand: sh ./prepare.sh' "$@" < trial.sh.in
}

two_phases() {
    cat > trial.sh.in << 'E'
[ "$(cat "$TUNEPIPE_TRIAL_DIR/data")" = "$TUNEPIPE_PARAM_x" ] || exit 1
echo "run ${CUDA_VISIBLE_DEVICES-all}" >> "$HERE/said"
tunepipe trial report --final 1
E
    prepared 'maxTrialNumber: 2' << 'E'
echo "$TUNEPIPE_PARAM_x" > "$TUNEPIPE_TRIAL_DIR/data"
echo "prepare '${CUDA_VISIBLE_DEVICES-all}'" >> "$HERE/said"
echo here
E
    export CUDA_VISIBLE_DEVICES=7
    run 0 && count 2 succeeded && replays || return 1
    unset CUDA_VISIBLE_DEVICES
    [ "$(sort said | tr '\n' ,)" = "prepare '',prepare '',run 7,run 7," ] ||
        fail "$(cat said)" || return 1
    grep -q '"prepare_s": [0-9.e-]*[1-9]' show.json &&
        grep -q '"prepare_s": [0-9.e-]*[1-9]' "$dir/results.jsonl" &&
        has "$dir/trials/00001/prepare/exit" 'exited 0' &&
        has "$dir/trials/00001/prepare/stdout" here &&
        lacks "$dir/trials/00001/stdout" here
}
check "what one phase leaves the other finds" two_phases

fails() {
    echo 'touch "$HERE/ran"' > trial.sh.in
    prepared 'maxTrialNumber: 1' << 'E'
tunepipe trial report 5
exit 3
E
    run 1 && count 1 failed && replays && [ ! -e ran ] &&
        has show.json '"why": "prepareCommand: exit status 3"' &&
        has show.json '"duration_s": 0' && has show.json '"latest": 5.0'
}
check "a preparation that fails" fails

# Its budget is used up, so that its end waits for the dispatcher, which is
# stopped; another is prepared once it has exited, and kills it.
killed_at_its_end() {
    echo 'tunepipe trial report --final 1' > trial.sh.in
    prepared 'maxTrialNumber: 2' 'prepareConcurrency: 1' \
        'searchSpace: {TRIAL_BUDGET: {_type: choice, _value: [1]},
            x: {_type: uniform, _value: [0, 1]}}' << 'E'
read -r dispatcher rest < "$TUNEPIPE_EXPERIMENT_DIR/dispatcher.pid"
if [ "$TUNEPIPE_TRIAL_ID" = 00000 ]; then
    until tunepipe status --json "$TUNEPIPE_EXPERIMENT_DIR" |
        grep -q '"waiting": 1,'; do sleep 0.02; done
    kill -STOP "$dispatcher"
    tunepipe trial report 1
    exit 3
fi
tunepipe trial ls "$TUNEPIPE_EXPERIMENT_DIR" > "$HERE/before"
tunepipe trial kill "$TUNEPIPE_EXPERIMENT_DIR" 0
# Between two answers the manager has done all that it can.
for i in 1 2; do tunepipe status "$TUNEPIPE_EXPERIMENT_DIR"; done
cp "$TUNEPIPE_EXPERIMENT_DIR/results.jsonl" "$HERE/results"
kill -CONT "$dispatcher"
E
    run 0 && grep -q '^00000 *preparing' before && has results cancelled &&
        count 1 cancelled && count 1 succeeded && replays &&
        has "$dir/trials/00000/prepare/exit" 'exited 3'
}
check "a preparation that has failed, and is killed before it is judged" \
    killed_at_its_end

# One trial runs until two more have been prepared.
meanwhile() {
    cat > trial.sh.in << 'E'
if [ "$TUNEPIPE_TRIAL_ID" = 00000 ]; then
    read -r line < "$HERE/second"
    read -r line < "$HERE/third"
fi
tunepipe trial report --final 1
E
    prepared 'maxTrialNumber: 3' 'prepareConcurrency: 2' << 'E'
case $TUNEPIPE_TRIAL_ID in
00001) echo prepared > "$HERE/second" ;;
00002) echo prepared > "$HERE/third" ;;
esac
E
    mkfifo second third
    run 0 && count 3 succeeded && replays
}
check "others are prepared while one runs" meanwhile

too_long() {
    echo 'touch "$HERE/ran"' > trial.sh.in
    prepared 'maxTrialNumber: 1' 'maxTrialDuration: 1s' 'grace: 1s' << 'E'
exec sleep 1000
E
    run 1 && count 1 'timed out' && [ ! -e ran ] &&
        terminated "$dir/trials/00000/prepare" || return 1
    rm -r tunepipe-experiments
    sed -i 's/^maxTrialDuration.*/maxPrepareDuration: 1s/' e.yml
    run 1 && count 1 'timed out' && [ ! -e ran ] &&
        has show.json 'prepareCommand: no end within maxPrepareDuration'
}
check "a preparation that takes too long" too_long

interrupted() {
    echo 'tunepipe trial report --final 1' > trial.sh.in
    prepared 'maxTrialNumber: 3' 'trialConcurrency: 2' << 'E'
[ ! -e "$HERE/second" ] || exit 0
[ "$TUNEPIPE_TRIAL_ID" != 00000 ] || kill -INT "$(cat "$HERE/pid")"
exec sleep 1000
E
    run 1 && lacks show.json '"status": "succeeded"' &&
        lacks show.json '"status": "failed"' &&
        has show.json '"status": "interrupted"' && touch second &&
        resume 0 && count 3 succeeded && replays &&
        terminated "$dir/trials/00000/prepare" &&
        has "$dir/trials/00000.1/prepare/exit" 'exited 0'
}
check "a preparation that is interrupted" interrupted

in_step() {
    cat > trial.sh.in << 'E'
tunepipe trial report 1
tunepipe trial report 2
tunepipe trial report --final "$(cat "$TUNEPIPE_TRIAL_DIR/data")"
E
    prepared 'maxTrialNumber: 5' 'trialConcurrency: 2' \
        'deterministic: true' << 'E'
echo 4 > "$TUNEPIPE_TRIAL_DIR/data"
[ "$TUNEPIPE_TRIAL_ID" != 00002 ] || exit 1
E
    run 0 && count 4 succeeded && count 1 failed && replays
}
check "in lock step" in_step

# The manager dies in each phase, and in between; the preparation goes on, or
# not, meanwhile.
final() { echo 'tunepipe trial report --final "$TUNEPIPE_PARAM_x"'; }

# A trial that ended before anybody looked is not adopted.
go_when_resumed() {
    until grep -q 'resumed:' out; do sleep 0.05; done
    echo go > go
} > /dev/null 2>&1

dies_preparing() {
    { echo 'echo run >> "$HERE/said"'; final; } > trial.sh.in
    prepared 'maxTrialNumber: 1' << 'E'
echo prepare >> "$HERE/said"
kill -KILL "$(cat "$HERE/pid")"
read -r line < "$HERE/go"
E
    mkfifo go
    run 137
    go_when_resumed &
    resume 0 && count 1 succeeded && replays &&
        has out '1 adopted, 0 started again' || return 1
    [ "$(tr '\n' , < said)" = prepare,run, ] || fail "$(cat said)"
}
check "a manager that dies while one prepares" dies_preparing

dies_and_it_ends() {
    { echo 'echo run >> "$HERE/said"'; final; } > trial.sh.in
    prepared 'maxTrialNumber: 1' << 'E'
echo prepare >> "$HERE/said"
kill -KILL "$(cat "$HERE/pid")"
E
    run 137
    until [ -e "$dir/trials/00000/prepare/exit" ]; do :; done
    resume 0 && count 1 succeeded && replays || return 1
    [ "$(tr '\n' , < said)" = prepare,run, ] || fail "$(cat said)"
}
check "a manager that dies before it knows" dies_and_it_ends

both_die() {
    { echo 'echo run >> "$HERE/said"'; final; } > trial.sh.in
    prepared 'maxTrialNumber: 1' << 'E'
echo prepare >> "$HERE/said"
[ -e "$HERE/second" ] && exit
touch "$HERE/second"
read -r pid rest < "$TUNEPIPE_TRIAL_DIR/prepare/wrapper.pid"
kill -KILL "$(cat "$HERE/pid")"
kill -KILL "$pid"
exec sleep 1000
E
    run 137
    resume 0 && count 1 succeeded && replays &&
        [ -d "$dir/trials/00000.1/prepare" ] || return 1
    [ "$(tr '\n' , < said)" = prepare,prepare,run, ] || fail "$(cat said)"
}
check "a preparation that dies with its manager" both_die

dies_running() {
    { cat << 'E'; final; } > trial.sh.in
echo run >> "$HERE/said"
kill -KILL "$(cat "$HERE/pid")"
read -r line < "$HERE/go"
E
    echo 'echo prepare >> "$HERE/said"' | prepared 'maxTrialNumber: 1'
    mkfifo go
    run 137
    go_when_resumed &
    resume 0 && count 1 succeeded && replays &&
        has out '1 adopted, 0 started again' &&
        grep -q '"prepare_s": [0-9]' show.json || return 1
    [ "$(tr '\n' , < said)" = prepare,run, ] || fail "$(cat said)"
}
check "a manager that dies while one runs" dies_running

# The run is this manager's own, whose ever the preparation was.
lost_later() {
    cat > trial.sh.in << 'E'
read -r pid rest < "$TUNEPIPE_TRIAL_DIR/wrapper.pid"
kill -KILL "$pid"
exec sleep 1000
E
    prepared 'maxTrialNumber: 1' << 'E'
kill -KILL "$(cat "$HERE/pid")"
E
    run 137
    until [ -e "$dir/trials/00000/prepare/exit" ]; do :; done
    resume 1 && count 1 lost && [ ! -e "$dir/trials/00000.1" ]
}
check "a run that is lost behind a manager that died before it" lost_later

# It is counted from its beginning, whoever waits for its end.
too_long_in_all() {
    final > trial.sh.in
    prepared 'maxTrialNumber: 1' 'maxPrepareDuration: 1h' << 'E'
export -p > "$HERE/environment"
kill -KILL "$(cat "$HERE/pid")"
read -r line < "$HERE/go"
E
    mkfifo go
    ahead_of_time run 137 || return
    {
        until grep -qs 'resumed:' out; do sleep 0.05; done
        . ./environment
        sh ./set_ahead 4000
        echo go 1<> go
    } &
    echo 2000 > clock
    ahead_of_time resume 1 && count 1 'timed out'
}
check "a preparation that takes too long for two managers" too_long_in_all

# Its run has not begun: no time of it has passed.
not_begun() {
    final > trial.sh.in
    prepared 'maxTrialNumber: 1' << 'E'
exec tunepipe status --json "$TUNEPIPE_EXPERIMENT_DIR" > "$HERE/status"
E
    run 0 && has status '"status": "preparing"' &&
        has status '"reports": 0, "elapsed_s": 0.0,'
}
check "no time passes for one that is prepared" not_begun

finish
