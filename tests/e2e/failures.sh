#!/bin/sh
# SPDX-License-Identifier: MIT
# Trials that fail: tried again, told to the tuner, three times the same.
# not under tsan
. "$(dirname "$0")/lib.sh"

# attempts ID N: the trial's folders are those of so many attempts.
attempts() {
    n=$(ls -d "$dir/trials/$1" "$dir/trials/$1".* 2>/dev/null | wc -l)
    [ "$n" -eq "$2" ] || fail "$n attempts at $1, expected $2"
}

# sent TEXT N: the dispatcher was told so, so often.
sent() {
    n=$("$T" log "$dir" | grep '<  ' | grep -cF -- "$1")
    [ "$n" -eq "$2" ] || fail "'$1' was sent $n times, expected $2"
}

# until_said TEXT SIGNAL: reads what a manager says on stdin, and sends it the
# signal when it has said so.
until_said() {
    while read -r line; do
        echo "$line"
        case $line in *"$1"*) kill "-$2" "$(cat pid)" ;; esac
    done
}

tried_again() {
    experiment 'maxTrialNumber: 3' 'onFailure: {retry: 2, backoff: 0.01s}' << 'E'
tunepipe trial report 1
case $TUNEPIPE_TRIAL_DIR in
*/00000) echo first >&2; exit 3 ;;
*/00000.1) kill -KILL $$ ;;
*/00001*) exit 4 ;;
esac
tunepipe trial report --final 5
E
    run 0 && count 2 succeeded && count 1 failed && replays &&
        attempts 00000 3 && attempts 00001 3 && attempts 00002 1 &&
        has "$dir/trials/00000/again" 'failed: exit status 3' &&
        has out 'trial 00000 failed: exit status 3' && has out '| first' &&
        has out '1 of 2 times' && lacks out '3 of 2' || return 1
    # The tuner hears one end of each, the last attempt's.
    sent 'EN{"trial_job_id": "00000"' 1 && sent 'EN{"trial_job_id": "00001"' 1 &&
        sent '"event": "FAILED"' 1 && sent '"attempt": 2, "pid"' 2
}
check "a failure is tried again, and has one end" tried_again

# Only the third value of one attempt would stop it.
history_anew() {
    experiment 'maxTrialNumber: 1' 'onFailure: {retry: 1, backoff: 0.01s}' \
        "assessor: {plugin: $PLUGINS/stops_at.so, classArgs: {step: 3}}" << 'E'
tunepipe trial report --sync 1 && tunepipe trial report --sync 2 || exit 8
case $TUNEPIPE_TRIAL_DIR in
*.1) tunepipe trial report --final 7 ;;
*) exit 9 ;;
esac
E
    run 0 && count 1 succeeded && attempts 00000 2 && replays &&
        has "$dir/trials/00000/exit" 'exited 9' &&
        "$T" log "$dir" > log &&
        [ "$(grep -c 'ME{.*"attempt": 1.*"sync"' log)" = 2 ]
}
check "the assessor forgets the attempt that failed" history_anew

lost() {
    experiment 'maxTrialNumber: 1' 'onFailure: {retry: 1, backoff: 0.01s}' << 'E'
case $TUNEPIPE_TRIAL_DIR in *.1) exec tunepipe trial report --final 1 ;; esac
read -r wrapper rest < "$TUNEPIPE_TRIAL_DIR/wrapper.pid"
kill -KILL "$wrapper"
exec sleep 1000
E
    run 0 && count 1 succeeded && attempts 00000 2 && replays &&
        has "$dir/results.jsonl" '"attempt": 1, ' && has out 'trial 00000 lost'
}
check "a lost trial is tried again" lost

# Those that hold ./held open live; timeout(1) is for a fault alone.
orphans='
sleep 1000 > "$HERE/held" 2>&- &
setsid sleep 1000 > "$HERE/held" 2>&- &
env -i sh -c "sleep 1000; :" > "$HERE/held" 2>&- &
: > "$HERE/begun"
read -r wrapper rest < "$1/wrapper.pid"
kill -KILL $killed "$wrapper"
exec sleep 1000'

all_gone() {
    [ -e begun ] && timeout 30 cat <&8 || fail 'its processes live'
}

orphaned() {
    mkfifo held && exec 7<> held 8< held
    { echo 'set -- "$TUNEPIPE_TRIAL_DIR"; killed='; echo "$orphans"; } |
        experiment 'maxTrialNumber: 1'
    run 1 && count 1 lost && exec 7>&- && all_gone
}
check "nothing is left of a trial whose wrapper was killed" orphaned

orphaned_prepared() {
    mkfifo held && exec 7<> held 8< held
    echo 'set -- "$TUNEPIPE_TRIAL_DIR/prepare"; killed=' > prepare.sh
    echo "$orphans" >> prepare.sh
    experiment 'maxTrialNumber: 1' 'prepareCommand: sh prepare.sh' < /dev/null
    run 1 && count 1 lost && exec 7>&- && all_gone
}
check "nor of one that was prepared" orphaned_prepared

orphaned_twice() {
    mkfifo held && exec 7<> held 8< held
    {
        echo '[ ! -e "$HERE/begun" ] || exec tunepipe trial report --final 1'
        echo 'set -- "$TUNEPIPE_TRIAL_DIR"; killed=$(cat "$HERE/pid")'
        echo "$orphans"
    } | experiment 'maxTrialNumber: 1'
    run 137
    resume 0 && count 1 succeeded && exec 7>&- && all_gone
}
check "nor where the manager was killed with it" orphaned_twice

not_again() {
    experiment 'maxTrialNumber: 2' 'onFailure: {retry: 3, backoff: 0.01s}' \
        'maxTrialDuration: 5s' 'grace: 1s' << 'E'
[ "$TUNEPIPE_TRIAL_ID" = 00001 ] && exec sleep 1000
tunepipe trial report --final 1
exit 5
E
    run 1 && count 1 failed && count 1 'timed out' && attempts 00000 1 &&
        attempts 00001 1 && replays
}
check "neither what timed out nor what has a result is" not_again

reported() {
    experiment 'maxTrialNumber: 5' \
        'onFailure: {then: report, value: -100}' << 'E'
[ "$TUNEPIPE_TRIAL_ID" = 00004 ] && exec tunepipe trial report --final 5
exit 3
E
    run 0 && count 4 failed && count 1 succeeded && replays &&
        sent '"value": "-100' 4 && sent '"type": "FINAL"' 5 &&
        sent '"event": "FAILED"' 4 && has show.json '(reported as -100)' &&
        has show.json '"best": {"trial": "00004"'
}
check "the tuner is told a value, and nothing pauses" reported

in_lock_step() {
    experiment 'maxTrialNumber: 4' 'trialConcurrency: 2' \
        'onFailure: {retry: 1, backoff: 0.01s}' 'deterministic: true' << 'E'
tunepipe trial report 1
tunepipe trial report 2
case $TUNEPIPE_TRIAL_DIR in */00000 | */00003 | */00002*) exit 3 ;; esac
tunepipe trial report 3
tunepipe trial report --final "$TUNEPIPE_PARAM_x"
E
    run 0 && count 3 succeeded && count 1 failed && replays || return 1
    attempts 00000 2 && attempts 00003 2 && attempts 00002 2 &&
        sent '"event": "FAILED"' 1 && sent '"type": "PERIODICAL"' 11
}
check "in lock step it goes on where it was" in_lock_step

# The manager is killed while a trial waits to be tried again: another one
# counts on, and waits for what is left of the pause.
killed_meanwhile() {
    mkfifo said
    experiment 'maxTrialNumber: 1' 'onFailure: {retry: 2, backoff: 1h}' << 'E'
case $TUNEPIPE_TRIAL_DIR in *.2) exec tunepipe trial report --final 1 ;; esac
exit 3
E
    sh -c 'echo $$ > pid; exec "$0" run e.yml' "$T" > said 2> err &
    until_said 'tried again in' KILL < said > out
    wait
    dir=$(ls -d tunepipe-experiments/*)
    has "$dir/trials/00000/again" 'failed: exit status 3' || return 1
    # By the wrapper's clock that was long ago.
    sed -i 's/^ended_ns .*/ended_ns 1/' "$dir/trials/00000/exit"
    sh -c 'echo $$ > pid; exec "$0" resume "$1"' "$T" "$dir" > said 2> err &
    until_said '2 of 2 times' KILL < said > out
    wait
    sed -i 's/^ended_ns .*/ended_ns 1/' "$dir/trials/00000.1/exit"
    "$T" resume "$dir" > out 2> err || return 1
    "$T" show --json "$dir" > show.json
    count 1 succeeded && attempts 00000 3 && replays &&
        sent 'EN{"trial_job_id": "00000"' 1
}
check "kill -9 while it waits to be tried again" killed_meanwhile

interrupted_meanwhile() {
    mkfifo said
    experiment 'maxTrialNumber: 1' 'onFailure: {retry: 2, backoff: 1h}' << 'E'
exit 3
E
    sh -c 'echo $$ > pid; exec "$0" run e.yml' "$T" > said 2> err &
    until_said 'tried again in' INT < said > out
    wait
    dir=$(ls -d tunepipe-experiments/*)
    "$T" show --json "$dir" > show.json && count 1 interrupted && replays &&
        has show.json 'exit status 3' && ls "$dir/trials" > trials &&
        [ "$(cat trials)" = 00000 ] || return 1
    # It is tried again, as often as it may.
    sed -i 's/backoff: 1h/backoff: 0.01s/' "$dir/config.yml"
    resume 1 && count 1 failed && has out '2 of 2 times' && replays
}
check "Ctrl-C while it waits to be tried again" interrupted_meanwhile

pauses() {
    mkfifo said
    experiment 'maxTrialNumber: 9' 'onRepeatedFailure: pause' << 'E'
echo "$TUNEPIPE_TRIAL_ID" > "$HERE/last"
echo "line one of $TUNEPIPE_TRIAL_ID" >&2
echo 'no module named x' >&2
exit 3
E
    HERE=$PWD sh -c 'echo $$ > pid; exec "$0" run e.yml' "$T" > out 2> said &
    until_said 'tunepipe continue' INT < said > err
    wait
    dir=$(ls -d tunepipe-experiments/*)
    has last 00002 && has out '| no module named x' &&
        has out '| line one of 00002' &&
        has err '3 trials in a row failed the same way: exit status 3' &&
        has err "tunepipe resume $PWD/$dir" || return 1
    # And so it goes on.
    echo 'tunepipe trial report --final 1' > trial.sh
    "$T" resume "$dir" > out 2> err || return 1
    "$T" show --json "$dir" > show.json
    count 3 failed && count 6 succeeded && replays
}
check "three failures alike pause the experiment" pauses

# Mended while it waits.
continues() {
    mkfifo said
    experiment 'maxTrialNumber: 6' 'onRepeatedFailure: pause' \
        'on: {experiment.paused: ": > $HERE/paused",' \
        '     experiment.continued: ": > $HERE/goes-on"}' << 'E'
[ -e "$HERE/mended" ] || exit 3
tunepipe trial report --final 1
E
    HERE=$PWD sh -c 'exec "$0" run e.yml' "$T" > out 2> said &
    while read -r line; do
        echo "$line"
        case $line in *'tunepipe continue'*)
            : > mended
            "$T" continue tunepipe-experiments/* > continued 2>&1 ||
                cat continued ;;
        esac
    done < said > err
    wait $! || fail "status $?: $(cat err)" || return 1
    [ -e paused ] && [ -e goes-on ] || fail 'no hook was told' || return 1
    dir=$(ls -d tunepipe-experiments/*)
    "$T" show --json "$dir" > show.json
    count 3 failed && count 3 succeeded && replays
}
check "tunepipe continue goes on" continues

ends() {
    experiment 'maxTrialNumber: 9' 'onRepeatedFailure: end' << 'E'
case $TUNEPIPE_TRIAL_ID in
00000 | 00001 | 00003 | 00004) echo a >&2; exit 3 ;;
00002) exec tunepipe trial report --final 1 ;;
*) echo b >&2; exit 3 ;;
esac
E
    run 1 && count 7 failed && count 1 succeeded && replays &&
        has err 'error: 3 trials in a row failed the same way' &&
        has "$dir/summary.json" '"over": false'
}
check "they end it where that is wanted" ends

# Nobody is there who could mend it.
ends_without_terminal() {
    experiment 'maxTrialNumber: 9' \
        'tuner: {name: random, classArgs: {optimize_mode: minimize}}' << 'E'
exit 3
E
    run 1 && count 3 failed && replays &&
        has err 'error: 3 trials in a row' &&
        has err 'without a terminal it does not wait to be mended' &&
        has "$dir/summary.json" '"over": false' && has out 'tunepipe resume'
}
check "without a terminal they end it" ends_without_terminal

# So that one of the two runs on when three have failed.
pauses_on_a_terminal() {
    command -v script > /dev/null || { echo "needs script"; return 77; }
    mkfifo said go
    experiment 'maxTrialNumber: 6' 'trialConcurrency: 2' \
        'tuner: {name: random, classArgs: {optimize_mode: minimize}}' << 'E'
[ "$TUNEPIPE_TRIAL_ID" != 00000 ] || read -r word < "$HERE/go"
[ -e "$HERE/mended" ] || exit 3
tunepipe trial report --final 1
E
    HERE=$PWD TERM=dumb script -qefc "$T run e.yml" /dev/null < /dev/null \
        > said 2> script.err &
    manager=$!
    n=0
    while read -r line; do
        echo "$line"
        case $line in *'tunepipe continue'*) ;; *) continue ;; esac
        n=$((n + 1))
        [ $n = 1 ] || : > mended
        "$T" status tunepipe-experiments/* > status$n 2>&1
        "$T" show tunepipe-experiments/* > show$n 2>&1
        case $n in
        1) echo > go ;;
        2) "$T" continue tunepipe-experiments/* > continued 2>&1 ;;
        esac
    done < said > out
    wait $manager || fail "status $?: $(cat out)" || return 1
    dir=$(ls -d "$PWD"/tunepipe-experiments/*)
    for one in status1 status2; do
        has $one 'state       paused: 3 trials in a row failed the same way: exit status 3' &&
            has $one "go on       tunepipe continue $dir" || return 1
    done
    has show1 'state:  paused' && has show2 'state:  paused' || return 1
    has status1 '1 running' && has status2 '0 running' &&
        "$T" show --json "$dir" > show.json && count 2 succeeded && replays
}
check "on a terminal they pause it, and it says so" pauses_on_a_terminal

ignores() {
    experiment 'maxTrialNumber: 5' 'onRepeatedFailure: ignore' << 'E'
exit 3
E
    run 1 && count 5 failed && lacks err 'in a row'
}
check "they are ignored where that is wanted" ignores

# At the end of all trials there is nothing to be paused.
at_the_end() {
    experiment 'maxTrialNumber: 3' << 'E'
exit 3
E
    run 1 && count 3 failed && lacks err 'in a row'
}
check "the last three pause nothing" at_the_end

# A trial may make links of whatever is written or read in its folder: nothing
# is written elsewhere, and nothing from elsewhere is shown.
links() {
    echo mine > victim && echo secret > secret && experiment \
        'maxTrialNumber: 2' 'onFailure: {retry: 1}' \
        'prepareCommand: ". ./links.sh"' \
        'tuner: {name: random, classArgs: {optimize_mode: minimize}}' \
        "assessor: {plugin: $PLUGINS/stops_at.so, classArgs: {step: 1}}" << 'E'
. ./links.sh
[ "$TUNEPIPE_TRIAL_ID" = 00000 ] || tunepipe trial report --sync 1
rm "$TUNEPIPE_TRIAL_DIR/stderr"
ln -s "$HERE/secret" "$TUNEPIPE_TRIAL_DIR/stderr"
exit 1
E
    cat > links.sh << 'E'
for name in exit stop again out-of-memory origin resources wrapper.pid; do
    ln -sf "$HERE/victim" "$TUNEPIPE_TRIAL_DIR/$name.tmp"
    ln -sf "$HERE/victim" "$TUNEPIPE_TRIAL_DIR/prepare/$name.tmp"
done
E
    run 1 && count 1 failed && count 1 stopped && replays &&
        has out '00000 failed' && lacks out secret && lacks err secret &&
        has show.json 'exit status 1' && [ "$(cat victim)" = mine ] ||
        fail "victim: $(cat victim)" || return 1
    [ -f "$dir/trials/00000/again" ] && [ ! -L "$dir/trials/00000/again" ]
}
check "links in a trial's folder lead nowhere" links

finish
