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
[ "$TUNEPIPE_TRIAL_ID" = 00003 ] && exit 0
exit 3
E
    run 0 && count 4 failed && count 1 succeeded && replays &&
        has out 'but never called tunepipe trial report --final' &&
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
    run 0 && count 3 succeeded && count 1 failed && replays &&
        lacks out 'retry:' || return 1
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
        has err "tunepipe trial retry $PWD/$dir --failed, " &&
        has err "tunepipe resume $PWD/$dir" &&
        has out "retry:  tunepipe resume $PWD/$dir --retry-failed" || return 1
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
        has "$dir/summary.json" '"over": false' || return 1
    sed -i 's/^onRepeatedFailure: end/onRepeatedFailure: ignore/' "$dir/config.yml"
    resume 0 && count 8 failed && lacks err 'in a row'
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

# A message quotes the value, an address, the trial's folder.
ends_though_numbers_differ() {
    experiment 'maxTrialNumber: 9' << 'E'
echo "line one of $TUNEPIPE_TRIAL_ID" >&2
case $TUNEPIPE_TRIAL_ID in
00000) value='5499914085947825617 at 0x7f3a9c0' ;;
00001) value='-0.25 at 0x55d1' ;;
*) value='1.5e-05 at 0xfe' ;;
esac
echo "InvalidError: max_depth in $TUNEPIPE_TRIAL_DIR: got $value." >&2
exit 1
E
    run 1 && count 3 failed && replays && has err 'error: 3 trials in a row' &&
        [ "$(grep -c 'InvalidError' out)" = 2 ]
}
check "failures are alike that differ in a number" ends_though_numbers_differ

# The digits of a name are no number, and a status is none.
names_differ() {
    experiment 'maxTrialNumber: 9' << 'E'
case $TUNEPIPE_TRIAL_ID in
*[036]) echo "KeyError: 'x1'" >&2; exit 1 ;;
*[147]) echo "KeyError: 'x2'" >&2; exit 1 ;;
*) echo "KeyError: 'x2'" >&2; exit 2 ;;
esac
E
    run 1 && count 9 failed && lacks err 'in a row' &&
        [ "$(grep -c '| KeyError' out)" = 3 ]
}
check "those are not that differ in a name" names_differ

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
    told=0
    HERE=$PWD TERM=dumb script -qefc "$T run e.yml" /dev/null < /dev/null \
        > said 2> script.err &
    manager=$!
    while read -r line; do
        echo "$line"
        case $line in
        *'tunepipe continue'*) n=1 && told=$((told + 1)) ;;
        *'trial 00000 failed'*) n=2 && : > mended ;;
        *) continue ;;
        esac
        "$T" status tunepipe-experiments/* > status$n 2>&1
        "$T" show tunepipe-experiments/* > show$n 2>&1
        case $n in
        1) echo > go ;;
        2) "$T" continue tunepipe-experiments/* > continued 2>&1 ;;
        esac
    done < said > out
    [ "$told" = 1 ] || fail "told $told times" || return 1
    wait $manager || fail "status $?: $(cat out)" || return 1
    dir=$(ls -d "$PWD"/tunepipe-experiments/*)
    for one in status1 status2; do
        has $one 'state       paused: 3 trials in a row failed the same way: exit status 3' &&
            has $one "go on       tunepipe continue $dir" || return 1
    done
    has show1 "retry:  tunepipe trial retry $dir --failed" || return 1
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

# Alike are those whose status and last line are: each other kind is shown, once.
kinds() {
    experiment 'maxTrialNumber: 6' 'onRepeatedFailure: ignore' << 'E'
case $TUNEPIPE_TRIAL_ID in
*0 | *3) tunepipe trial report 1; echo "KeyError: lr" >&2; exit 3 ;;
*1 | *4) echo first; echo "ValueError: lr" >&2; exit 3 ;;
*2) tunepipe trial report --final nan 2> "$HERE/refused"; exit 0 ;;
*5) rm -r "$TUNEPIPE_TRIAL_DIR"
    read -r wrapper rest < "$HERE/wrapper" && kill -KILL "$wrapper" ;;
esac
E
    sed -i '1i cp "$TUNEPIPE_TRIAL_DIR/wrapper.pid" "$HERE/wrapper"' trial.sh
    run 1 && count 5 failed && count 1 lost &&
        has out 'trial 00000 failed: exit status 3 (last value 1) (' &&
        has out 'trial 00001 failed: exit status 3 (' &&
        has out 'trial 00002 failed: no final metric: what it reported was refused (' &&
        lacks out 'never called' && has refused "metric 'nan'" &&
        has out 'trial 00005 lost: its folder is gone, and with it how it ended' &&
        [ "$(grep -c '| KeyError' out)" = 1 ] &&
        [ "$(grep -c '| ValueError' out)" = 1 ] || return 1
    # And when all is over.
    ask why 0 > why && has why 'trial 00000 failed after ' &&
        has why ': exit status 3 (last value 1)' && has why '| KeyError: lr' &&
        has why "$dir/trials/00000" &&
        ask why --json 4 > why && has why '"status": "failed", "why": "exit status 3", "ended_by": "itself", "value": null' &&
        has why '"stderr": ["ValueError: lr"]' &&
        ask why 5 > why && has why 'trial 00005 lost' && lacks why output &&
        [ "$(ask trial output 1)" = first ] &&
        [ "$(ask trial output 00001.0 --stderr --follow)" = 'ValueError: lr' ]
}
ask() { "$T" "$@" 2> err; }
check "each kind of failure is shown, and can be asked for later" kinds

# What was looked for is said again when all is over.
no_final() {
    experiment 'maxTrialNumber: 2' 'onRepeatedFailure: ignore' \
        ${1:+"metrics: {pattern: $1}"} << 'E'
echo "loss $TUNEPIPE_TRIAL_ID"
E
    run 1 && count 2 failed && ask why 1 > why && has out "  $2" &&
        has why "trial 00001 failed after" && has why ': no final metric' &&
        has why "  $2"
}
never_called() {
    no_final '' 'it exited with 0, but never called tunepipe trial report' &&
        ! "$T" why "$dir" 9 2> err && has err "$dir has no trial '9'"
}
no_match() {
    no_final "'^accuracy ([0-9.]+)'" "no line of $PWD/" && has why \
        '/trials/00001/stdout matches metrics.pattern with a number'
}
check "why a trial has no result is told later, too" never_called
check "and where its output did not match" no_match

not_finite() {
    experiment 'maxTrialNumber: 3' 'onFailure: {retry: 1, backoff: 0.01s}' \
        "metrics: {pattern: '^loss (.*)'}" << 'E'
case $TUNEPIPE_TRIAL_DIR in
*/00000) exit 3 ;;
*/00000.1) echo loss nan ;;
*/00001) echo loss -inf ;;
*/00002) [ -e "$HERE/finite" ] && echo loss 2 || echo loss inf ;;
esac
E
    run 0 && count 3 succeeded && replays &&
        has out '00000 succeeded: nan, which counts as no result (' &&
        has out '00001 succeeded: -inf, which counts as no result (' &&
        has out '00002 succeeded: inf, which counts as no result (' &&
        has out 'no trial has a final result' &&
        ask export "$dir" --csv > csv && has csv '00000,succeeded,NaN,' &&
        has csv '00001,succeeded,-Infinity,' &&
        ask trial ls > ls && has ls '00001    succeeded            -inf ' &&
        ask show --all "$dir" > all && has all '  00000           nan ' &&
        ask report "$dir" --json > data &&
        has data '"value":["NaN","-Infinity","Infinity"]' &&
        has data '"counts":[0,0,0]' &&
        ask why 0 > why && has why ' s: nan, which counts as no result' &&
        lacks why 'exit status' || return 1
    rm -r tunepipe-experiments && : > finite
    run 0 && count 3 succeeded && has out 'best 2, trial 00002' &&
        has show.json '"why": "", "ended_by": "itself"'
}
check "a result that is no finite number counts as none" not_finite

# They are cut off where there are too many, as where each names its parameters.
many_kinds() {
    experiment 'maxTrialNumber: 12' 'onRepeatedFailure: ignore' << 'E'
letter=$(echo "$TUNEPIPE_TRIAL_ID" | tr 0-9 a-j)
echo "no room for $letter" >&2
exit 1
E
    run 1 && count 12 failed && [ "$(grep -c '| no room' out)" = 8 ] &&
        [ "$(grep -c 'they fail in many ways' out)" = 1 ]
}
check "not every failure of many kinds is shown" many_kinds

prepared() {
    experiment 'maxTrialNumber: 1' 'prepareCommand: "echo no data >&2; exit 4"' << 'E'
exit 0
E
    run 1 && has out 'failed: prepareCommand: exit status 4' &&
        has out '/trials/00000/prepare/stderr:' && has out '| no data' &&
        [ "$(ask trial output 0 --stderr)" = 'no data' ]
}
check "of a failed prepareCommand its own last lines are shown" prepared

# What comes while it runs is printed as it comes, and what came at its end.
followed() {
    experiment 'maxTrialNumber: 1' << 'E'
echo begun
read -r go < "$HERE/go"
echo ended
tunepipe trial report --final 1
E
    mkfifo go seen
    HERE=$PWD "$T" run e.yml > out 2> err &
    manager=$!
    until ls tunepipe-experiments/*/trials/00000/stdout > /dev/null 2>&1; do
        kill -0 $manager || return 1
    done
    "$T" trial output 0 --follow 2> err2 > seen &
    { read -r line; [ "$line" = begun ] || exit 1; echo > go; cat; } < seen > rest ||
        return 1
    wait $manager && [ "$(cat rest)" = ended ]
}
check "a trial's output is followed to its end" followed

says_what_is_wrong() {
    "$T" trial output x 2> err; [ $? = 2 ] &&
        has err "output: expected [DIR] TRIAL, a trial's number" || return 1
    experiment 'maxTrialNumber: 1' << 'E'
tunepipe trial report --final 1
E
    run 0 || return 1
    "$T" trial output "$dir" 7 2> err; [ $? = 3 ] && has err "has no trial '7'"
}
check "output of no trial" says_what_is_wrong

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
