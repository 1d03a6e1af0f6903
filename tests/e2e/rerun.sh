#!/bin/sh
# SPDX-License-Identifier: MIT
# One trial once more, exactly as it was.
# not under tsan
. "$(dirname "$0")/lib.sh"

# again STATUS WORD...: `tunepipe rerun` with these words.
again() {
    want=$1
    shift
    "$T" rerun "$dir" "$@" > again.out 2> again.err
    got=$?
    [ "$got" = "$want" ] ||
        fail "status $got, expected $want: $(cat again.out again.err)"
}

the_same() {
    ONCE="two  words" && export ONCE
    experiment 'maxTrialNumber: 2' << 'E'
echo "$ONCE, $TUNEPIPE_SEED, $*, $PWD" > "$TUNEPIPE_TRIAL_DIR/seen"
cat "$TUNEPIPE_TRIAL_DIR/parameters.tsv" >> "$TUNEPIPE_TRIAL_DIR/seen"
echo out; echo err >&2
tunepipe trial report 1
tunepipe trial report --final "$TUNEPIPE_PARAM_x"
E
    run 0 && count 2 succeeded || return 1
    before=$(ls -lR "$dir/trials/00001" | cksum) && cp "$dir/results.jsonl" .
    ONCE=other HOME=/nowhere again 0 1 && has again.out 'the same' &&
        lacks again.out 'not the same' && has again.out '(succeeded)' &&
        has again.out '(exit status 0)' || return 1
    new=$dir/reruns/00001-1
    cmp "$dir/trials/00001/seen" "$new/seen" &&
        cmp "$dir/trials/00001/metrics" "$new/metrics" &&
        has "$new/stdout" out && has "$new/stderr" err &&
        has "$new/seen" 'two  words' && cmp results.jsonl "$dir/results.jsonl" &&
        [ "$before" = "$(ls -lR "$dir/trials/00001" | cksum)" ] ||
        fail 'it is not the same' || return 1
    [ "$(stat -c %a "$new/exit" "$new")" = "600
700" ] || fail 'others may read it' || return 1
    again 0 00001 && has again.out 00001-2 || return 1
    again 0 1 --in here --json && [ -s here/metrics ] &&
        has again.out '"same": true' && has again.out "\"folder\": \"$PWD/here\""
}
check "command, environment, seed and parameters are kept" the_same

status() {
    experiment 'maxTrialNumber: 3' << 'E'
case $TUNEPIPE_TRIAL_ID in
00000) echo last words >&2; exit 42 ;;
00001) kill -SEGV $$ ;;
esac
cat file
tunepipe trial report --final "$(cat file)"
E
    echo 1 > file
    run 0 && count 2 failed || return 1
    again 42 0 && has again.out '| last words' && has again.out 'the same' &&
        has again.out 'no final result  (exit status 42)' && again 139 1 ||
        return 1
    echo 2 > file
    again 0 2 && has again.out 'not the same' && has again.out 'again:    2'
}
check "its status is the trial's, and another value is told" status

by_pattern() {
    experiment 'maxTrialNumber: 1' "metrics: {pattern: 'v=([0-9]+)'}" << 'E'
echo v=1; echo v=4
E
    run 0 && again 0 0 && has again.out 'recorded: 4' &&
        has again.out 'again:    4'
}
check "a value from its output" by_pattern

attempts() {
    experiment 'maxTrialNumber: 1' 'onFailure: {retry: 1, backoff: 0.01s}' << 'E'
case $TUNEPIPE_TRIAL_DIR in *.1 | *.1-?) ;; *) exit 7 ;; esac
tunepipe trial report --final 5
E
    run 0 && again 0 0 && has again.out 'trial 00000.1 again' &&
        has again.out 'recorded: 5' || return 1
    again 0 0.1 && has again.out 'the same' && again 7 00000.0 &&
        has again.out 'recorded: nothing' && again 3 0.2
}
check "the last attempt, or the one that is named" attempts

# It is ended then and now; what comes behind that word is not its result.
done_ends_it() {
    experiment 'maxTrialNumber: 1' 'grace: 1s' << 'E'
tunepipe trial report 1
printf 'done 5\nfinal 8\n' >> "$TUNEPIPE_TRIAL_DIR/metrics"
exec sleep 1000
E
    run 0 && again 0 0 && has again.out 'again:    5' &&
        has again.out 'the same' && lacks again.out 'not the same' &&
        terminated "$dir/reruns/00000-1"
}
check "a trial that is done and runs on" done_ends_it

# Both phases, each as it was; its checkpoints lie apart.
prepared() {
    mkdir scratch
    experiment 'maxTrialNumber: 1' \
        'prepareCommand: sh ./prepare.sh "a  b"' << 'E'
cat "$TUNEPIPE_TRIAL_DIR/made" > "$TUNEPIPE_CHECKPOINT_DIR/state"
tunepipe trial report --final "$(wc -c < "$TUNEPIPE_TRIAL_DIR/made")"
E
    printf '%s\n' 'echo "$1 $TUNEPIPE_PARAM_x" > "$TUNEPIPE_TRIAL_DIR/made"' \
        'echo ready' > prepare.sh
    run 0 && again 0 0 && has again.out 'the same' &&
        lacks again.out 'not the same' || return 1
    new=$dir/reruns/00000-1
    cmp "$new/made" "$dir/trials/00000/made" && has "$new/made" 'a  b' &&
        has "$new/prepare/stdout" ready && cmp "$new/made" "$new"/*/state ||
        return 1
    echo 'exit 12' >> prepare.sh
    again 12 0 && [ ! -e "$dir/reruns/00000-2/exit" ]
}
check "a trial that is prepared first" prepared

# Ctrl-C reaches the trial, whatever it has started; nothing is left.
interrupted() {
    experiment 'maxTrialNumber: 1' << 'E'
case $TUNEPIPE_TRIAL_DIR in */00000) exec tunepipe trial report --final 1 ;; esac
sleep 1000 &
echo $! > "$TUNEPIPE_TRIAL_DIR/child"
echo > "$HERE/ready"
wait
E
    mkfifo ready
    run 0 || return 1
    sh -c 'echo $$ > pid; exec "$0" rerun "$1" 0 --in new' "$T" "$dir" \
        > out 2> err &
    read -r _ < ready
    kill -INT "$(cat pid)"
    wait $!
    got=$?
    [ "$got" = 143 ] || fail "status $got, expected 143" || return 1
    ! kill -0 "$(cat new/child)" 2>&- || fail 'its child is left'
}
check "Ctrl-C ends all of it" interrupted

refused() {
    experiment 'maxTrialNumber: 1' << 'E'
tunepipe trial report --final 1
E
    run 0 && mkdir there || return 1
    again 3 7 && has again.err "has no trial '7'" && again 3 ../trials/00000 &&
        again 1 0 --in there && has again.err 'File exists' && again 2 &&
        again 2 0 --inn x && has again.err -- '--in' || return 1
    "$T" rerun 0 --in newest > again.out 2> again.err &&
        has again.err 'tunepipe rerun: tunepipe-experiments/' &&
        has again.out 'the same' || return 1
    printf 'exited 0\n\0cut off' > "$dir/trials/00000/exit"
    again 1 0 && has again.err '00000/exit: is cut off' || return 1
    printf 'cut off' > "$dir/trials/00000/command" # of an earlier version
    again 1 0 && has again.err '00000/command: is cut off'
}
check "what cannot be run again" refused

finish
