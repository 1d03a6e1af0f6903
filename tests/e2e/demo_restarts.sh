#!/bin/sh
# SPDX-License-Identifier: MIT
# The demo in two phases with checkpoints and synchronous reports, killed with
# -9 with all its trials, again and again, and resumed: each trial that ends
# well has the result that it has undisturbed.
# not under tsan
. "$(dirname "$0")/lib.sh"

put() {
    cp "$TP_SOURCE/scripts/demo/restartable.yml" e.yml &&
        cp "$TP_SOURCE/scripts/demo/digits.csv.gz" . &&
        ln -s "$TP_BUILD/demo/mlp-digits" . &&
        sed -i "s/^maxTrialNumber.*/maxTrialNumber: 4/; s/^experimentWork.*//" \
            e.yml
}

# values DIR: what each trial that ended well has come to.
values() {
    sed -n 's/.*"trial": "\([0-9]*\)".*"status": "succeeded", "value": \([0-9.]*\).*/\1 \2/p' \
        "$1/results.jsonl" | sort
}

# What lies in the folder goes with its wrapper, which is ended as well.
kill_all() {
    kill -KILL "$1"
    for file in "$dir"/trials/*/wrapper.pid "$dir"/trials/*/prepare/wrapper.pid; do
        read -r pid start 2> /dev/null < "$file" || continue
        [ "$(cut -d ' ' -f 22 "/proc/$pid/stat" 2> /dev/null)" = "$start" ] &&
            kill -KILL "$pid"
    done
}

# gone PID: it has ended, and was perhaps not waited for.
gone() {
    ! grep -q '^[0-9]* (.*) [^Z]' "/proc/$1/stat" 2> /dev/null
}

# saved N: so many checkpoints were saved, by all trials and attempts.
saved() {
    [ "$(cat "$dir"/trials/*/metrics 2> /dev/null | grep -c '^checkpoint')" \
        -ge "$1" ]
}

killed_and_resumed() {
    put
    # Without the assessor, whose stops depend on who is first.
    sed -i '/^assessor:/,/start_step/d' e.yml
    mkdir whole && (cd whole && put && cp ../e.yml . && "$T" run e.yml) \
        > whole.out 2>&1 || fail "undisturbed: $(tail -n 1 whole.out)" ||
        return 1
    values whole/tunepipe-experiments/* > want
    [ "$(wc -l < want)" = 4 ] || fail "undisturbed: $(cat want)" || return 1
    "$T" run e.yml > out 2> err &
    pid=$!
    for n in 1 3 6 9; do
        until dir=$(ls -d "$PWD"/tunepipe-experiments/* 2> /dev/null || gone $pid) &&
            { saved $n || gone $pid; }; do
            sleep 0.01
        done
        kill_all $pid
        wait $pid
        "$T" resume "$dir" > out 2> err &
        pid=$!
    done
    wait $pid || fail "status $?: $(tail -n 1 err)" || return 1
    values "$dir" > got
    diff want got && replays || return 1
    # The later attempts went on from what was saved.
    for trial in "$dir"/trials/*; do
        [ "$(grep -c '^intermediate' "$trial/metrics")" -le 30 ] ||
            fail "$trial has more than 30 reports" || return 1
    done
}
check "kill -9 of the whole demo, and resumed" killed_and_resumed

# The same of a small trial that knows when it is killed, in each phase.
small_trial() {
    cat > prepare.sh << 'E'
echo "prepare $TUNEPIPE_TRIAL_ID" >> "$HERE/said"
echo 3 > "$TUNEPIPE_TRIAL_DIR/epochs"
# One that was just started may be started again by who goes on.
until [ "$TUNEPIPE_TRIAL_ID" != 00001 ] || grep -q 'run 00000' "$HERE/said"; do
    sleep 0.01
done
die 00001 prepare/wrapper.pid
E
    cat > die.sh << 'E'
# die TRIAL FILE: once, in this trial, the manager dies, and all of this.
die() {
    [ "$TUNEPIPE_TRIAL_ID" = "$1" ] && [ ! -e "$HERE/died.$1" ] || return 0
    touch "$HERE/died.$1"
    kill -KILL "$(cat "$HERE/pid")"
    read -r pid rest < "$TUNEPIPE_TRIAL_DIR/$2"
    kill -KILL "$pid"
    exec sleep 1000
}
E
    cat die.sh prepare.sh > p && mv p prepare.sh
    { cat die.sh; cat << 'E'; } | experiment 'maxTrialNumber: 3' \
        'prepareCommand: sh ./prepare.sh' \
        "assessor: {plugin: $PLUGINS/stops_at.so, classArgs: {step: 9}}"
read -r epochs < "$TUNEPIPE_TRIAL_DIR/epochs"
epoch=0
[ -z "$TUNEPIPE_RESTORE_DIR" ] || read -r epoch < "$TUNEPIPE_RESTORE_DIR/epoch"
echo "run $TUNEPIPE_TRIAL_ID from $epoch" >> "$HERE/said"
while [ "$epoch" -lt "$epochs" ]; do
    epoch=$((epoch + 1))
    tunepipe trial report --sync $epoch || exit
    echo $epoch > "$TUNEPIPE_CHECKPOINT_DIR/epoch"
    tunepipe trial checkpoint save || exit
    [ $epoch = 2 ] && die 00002 wrapper.pid
done
tunepipe trial report --final "$epoch$TUNEPIPE_TRIAL_ID"
E
    run 137
    for again in 137 0; do
        HERE=$PWD sh -c 'echo $$ > pid; exec "$0" resume "$@"' "$T" "$dir" \
            > out 2> err
        got=$?
        [ $got = $again ] || fail "status $got, expected $again" || return 1
    done
    "$T" show --json "$dir" > show.json && count 3 succeeded && replays &&
        has show.json '"value": 300002.0' || return 1
    sort said > sorted
    cat > want << 'E'
prepare 00000
prepare 00001
prepare 00001
prepare 00002
prepare 00002
run 00000 from 0
run 00001 from 0
run 00002 from 0
run 00002 from 2
E
    diff want sorted || return 1
    [ -z "$(ls "$dir"/checkpoints/*/saving.* 2> /dev/null)" ]
}
check "a small trial that is killed in each phase" small_trial

finish
