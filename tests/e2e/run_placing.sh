#!/bin/sh
# SPDX-License-Identifier: MIT
# Trials, and dispatchers, that cannot be started, for now or at all, and very
# many trials at a time.
# not under tsan
# takes long
. "$(dirname "$0")/lib.sh"

final='exec tunepipe trial report --final 1'

# A tunepipe of our own, whose wrapper can be taken away, and forks no others:
# each is a program that is started.
own() {
    mkdir bin && cp "$T" bin && cp "$TP_BUILD/tunepipe-wrapper" bin/real &&
        ln -s "$TP_BUILD/plugins" bin/plugins && T=$PWD/bin/tunepipe && {
        echo '#!/bin/sh'
        echo 'export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0" # it needs files'
        echo "case \$2 in ${1:-none)} ;; esac"
        echo "case \$1 in --serve) exit 1 ;; esac"
        echo "exec $PWD/bin/real \"\$@\""
    } > bin/tunepipe-wrapper && chmod +x bin/tunepipe-wrapper
}

# A program that somebody has open for writing is not started: ETXTBSY.
busy='cp "$HERE/bin/tunepipe-wrapper" "$HERE/bin/new"
exec 9>> "$HERE/bin/new"
mv "$HERE/bin/new" "$HERE/bin/tunepipe-wrapper"
: > "$HERE/busy"'

for_now() {
    own && experiment 'maxTrialNumber: 4' 'trialConcurrency: 2' << E || return 1
if [ "\$TUNEPIPE_TRIAL_ID" = 00000 ]; then
    until [ -e "\$HERE/one" ]; do sleep 0.05; done
    $busy
    until grep -q 'trial 00002 cannot be started now' "\$HERE/err"; do
        sleep 0.05
    done
    exec 9>&-
else
    : > "\$HERE/one"
    until [ -e "\$HERE/busy" ]; do sleep 0.05; done
fi
$final
E
    run 0 && count 4 succeeded && has err 'Text file busy' &&
        replays || return 1
    [ "$(grep -c 'cannot be started now' err)" = 1 ] || fail "$(cat err)"
    # What was begun for an offer that failed is not left.
    [ "$(ls "$dir/trials" | wc -l)" = 4 ] || fail "$(ls "$dir/trials")"
}
check "a start that fails costs the offer, not the trial" for_now

# The real wrapper has too few files, as it may have too few processes: not at
# all (once: at its first try) of a trial.
starved() { own "$1 ulimit -n 4"; } # CONDITION
minimize='tuner: {name: random, classArgs: {optimize_mode: minimize}}'

unbegun() {
    starved "*/00001*) mkdir once 2> /dev/null &&" &&
        echo "$final" | experiment 'maxTrialNumber: 3' "$minimize" "$@" &&
        run 0 && count 3 succeeded && replays &&
        has err 'trial 00001 cannot be started now: tunepipe-wrapper: ' &&
        has err 'Too many open files; tried again for ' || return 1
    [ "$(ls "$dir/trials" | wc -l)" = 3 ] || fail "$(ls "$dir/trials")"
}
check "a wrapper that cannot begin costs the offer, not the trial" unbegun

unbegun_in_lock_step() { unbegun 'deterministic: true'; }
check "the same in lock step" unbegun_in_lock_step

unprepared() { unbegun 'prepareCommand: ": > prepared"'; }
check "the same where it is to be prepared" unprepared

# The assessor's word on the attempt that was interrupted comes before the next
# one has begun.
unbegun_again() {
    running="$T status \"\${2%/trials/*}\" | grep -q running"
    starved "*/00000.1) mkdir once 2> /dev/null && {
        until $running; do sleep 0.02; done; } &&" &&
        experiment 'maxTrialNumber: 1' 'deterministic: true' "$minimize" \
            "assessor: {plugin: $PLUGINS/stops_at.so, classArgs: {step: 1}}" << 'E'
if [ -e "$HERE/second" ]; then
    tunepipe trial report 1
    exec tunepipe trial report --final 3
fi
touch "$HERE/second"
read -r dispatcher rest < "$TUNEPIPE_EXPERIMENT_DIR/dispatcher.pid"
trap 'kill -CONT "$dispatcher"; exit 0' TERM
kill -STOP "$dispatcher"
tunepipe trial report 1 &
until tunepipe trial ls --json "$TUNEPIPE_EXPERIMENT_DIR" |
    grep -q '"latest": 1'; do sleep 0.02; done
kill -TERM "$(cat "$HERE/pid")"
while :; do sleep 0.02; done
E
    run 1 && count 1 interrupted &&
        { HERE=$PWD "$T" resume "$dir" > out 2> err || [ $? = 1 ]; } &&
        has err 'trial 00000 cannot be started now' &&
        "$T" show --json "$dir" > show.json && count 1 stopped && replays
}
check "it hears what was decided on the attempt before" unbegun_again

never_begun() {
    starved '*/00001*)' &&
        echo "$final" | experiment 'maxTrialNumber: 2' "$minimize" \
            'placeTimeout: 1s' &&
        run 0 && count 1 succeeded && count 1 failed && has show.json \
        'could not be started within 1 s (placeTimeout): tunepipe-wrapper: ' &&
        replays || return 1
    [ "$(grep -c 'cannot be started now' err)" = 1 ] || fail "$(cat err)"
}
check "placeTimeout of wrappers that cannot begin" never_begun

too_long() {
    own && experiment 'maxTrialNumber: 3' 'trialConcurrency: 2' \
        'placeTimeout: 1s' << E || return 1
if [ "\$TUNEPIPE_TRIAL_ID" = 00000 ]; then
    until [ -e "\$HERE/one" ]; do sleep 0.05; done
    $busy
    until grep -q '"trial": "00002"' "\$TUNEPIPE_TRIAL_DIR/../../results.jsonl"
    do sleep 0.05; done
else
    : > "\$HERE/one"
    until [ -e "\$HERE/busy" ]; do sleep 0.05; done
fi
$final
E
    run 0 && count 2 succeeded && count 1 failed && replays && has show.json \
        'could not be started within 1 s (placeTimeout): '
}
check "placeTimeout" too_long

# What is paused while starts fail is not given up meanwhile.
paused() {
    own && experiment 'maxTrialNumber: 3' 'trialConcurrency: 2' \
        'placeTimeout: 1h' << E || return 1
if [ "\$TUNEPIPE_TRIAL_ID" = 00000 ]; then
    $busy
    until grep -q 'cannot be started now' "\$HERE/err"; do sleep 0.05; done
    tunepipe pause "\$TUNEPIPE_EXPERIMENT_DIR" > /dev/null
    sh "\$HERE/set_ahead" 7200
    exec 9>&-
    tunepipe continue "\$TUNEPIPE_EXPERIMENT_DIR" > /dev/null
else
    until [ -e "\$HERE/busy" ]; do sleep 0.05; done
fi
$final
E
    ahead_of_time run 0 || return
    count 3 succeeded
}
check "placeTimeout does not run out while paused" paused

# Nothing runs whose end would begin the next round.
in_lock_step() {
    own && experiment 'maxTrialNumber: 2' 'placeTimeout: 20s' \
        'deterministic: true' << E || return 1
$final
E
    : > err
    (
        cp bin/tunepipe-wrapper bin/new && exec 9>> bin/new &&
            mv bin/new bin/tunepipe-wrapper && : > ready
        until grep -q 'cannot be started now' err; do sleep 0.05; done
    ) &
    until [ -e ready ]; do sleep 0.05; done
    run 0 && count 2 succeeded
}
check "a start that fails in lock step" in_lock_step

# Three that can never be started end the experiment at once.
never() {
    own && experiment << E || return 1
[ "\$TUNEPIPE_TRIAL_ID" = 00000 ] && rm "\$HERE"/bin/*wrapper
$final
E
    run 1 && count 1 succeeded && count 3 failed &&
        has err 'trials cannot be started: ' && has err 'No such file'
}
check "a start that can never work is not tried again" never

# hold_dispatcher LINE...: the manager's own file is another one than that of
# the dispatcher, which cannot be started before `exec 9>&-`.
hold_dispatcher() {
    own && mv bin/tunepipe bin/manager && cp bin/manager bin/tunepipe &&
        T=$PWD/bin/manager && echo "$final" | experiment "$@" &&
        exec 9>> bin/tunepipe
}
cannot_now='the dispatcher cannot be started now: .*: Text file busy; tried again'

until_told() { # PROCESS
    until grep -qs "$cannot_now" err; do
        kill -0 "$1" 2>&- || return 1
        sleep 0.05
    done
}

dispatcher_later() {
    hold_dispatcher 'maxTrialNumber: 2' || return 1
    (exec 9>&- && run 0) &
    until_told $!
    exec 9>&-
    wait $! || fail "$(cat out err)" || return 1
    dir=$(ls -d tunepipe-experiments/*)
    count 2 succeeded && replays || return 1
    [ "$(grep -c 'cannot be started now' err)" = 1 ] || fail "$(cat err)"
}
check "a dispatcher that cannot be started now" dispatcher_later

dispatcher_never() {
    hold_dispatcher 'placeTimeout: 0.3s' || return 1
    run 1 9>&- && grep -q "$cannot_now" err &&
        has err 'error: the dispatcher cannot be started: '
    status=$?
    exec 9>&-
    return $status
}
check "a dispatcher that cannot be started in time" dispatcher_never

dispatcher_unwanted() {
    hold_dispatcher 'maxTrialNumber: 2' || return 1
    (exec 9>&- && run 1) &
    until_told $! && kill -INT "$(cat pid)" && wait $! &&
        has err 'interrupted after 0 trials'
    status=$?
    exec 9>&-
    [ "$status" = 0 ] || fail "$(cat out err)" || return 1
    dir=$(ls -d tunepipe-experiments/*)
    resume 0 && count 2 succeeded && replays
}
check "an interruption before the dispatcher could be started" \
    dispatcher_unwanted

dispatcher_again() {
    own && experiment 'maxTrialNumber: 3' << E || return 1
if [ "\$TUNEPIPE_TRIAL_ID" = 00001 ]; then
    manager=\$(cat "\$HERE/pid")
    read -r dispatcher rest < "/proc/\$manager/task/\$manager/children"
    cp "\$HERE/bin/tunepipe" "\$HERE/bin/new"
    exec 9>> "\$HERE/bin/new"
    mv "\$HERE/bin/new" "\$HERE/bin/tunepipe"
    kill -KILL "\$dispatcher"
    until grep -q '$cannot_now' "\$HERE/err"; do sleep 0.05; done
    exec 9>&-
fi
$final
E
    run 0 && count 3 succeeded && replays &&
        has err 'the dispatcher died (signal 9)' &&
        has out 'the dispatcher goes on'
}
check "a dispatcher that died and cannot be started again now" dispatcher_again

# unwatched STATUS LINE...: while ./unwatched is there the manager cannot watch
# another dispatcher in the place of the one that died.
unwatched() {
    want=$1
    shift
    experiment "$@" << 'E'
if [ "$TUNEPIPE_TRIAL_ID" = 00000 ]; then
    # Its own end is watched by then.
    until "$T" log "$TUNEPIPE_EXPERIMENT_DIR" 2>&- | grep -q '"started"'; do
        sleep 0.05
    done
    : > "$HERE/unwatched"
    read -r dispatcher rest < "$TUNEPIPE_EXPERIMENT_DIR/dispatcher.pid"
    kill -KILL "$dispatcher"
    until grep -q 'cannot watch the dispatcher' "$HERE/err"; do
        sleep 0.05
    done
    [ ! -e "$HERE/never" ] || exec sleep 1000
    rm "$HERE/unwatched"
fi
exec tunepipe trial report --final 1
E
    UNWATCHED=$PWD/unwatched
    export UNWATCHED T
    preloaded unwatched run "$want"
}

dispatcher_unwatched() {
    unwatched 0 'maxTrialNumber: 2' || return
    count 2 succeeded && replays &&
        has err 'cannot watch the dispatcher: Cannot allocate memory; tried again' &&
        has out 'the dispatcher goes on' &&
        : > never && unwatched 1 'maxTrialNumber: 2' 'placeTimeout: 0.3s' &&
        has err 'error: the dispatcher cannot be started: cannot watch'
}
check "a dispatcher that cannot be watched" dispatcher_unwatched

# It has begun the log when it is killed.
first_unwatched() {
    echo "$final" | experiment 'maxTrialNumber: 1' || return
    UNWATCHED=$PWD/unwatched
    UNWATCHED_BEHIND="$PWD/tunepipe-experiments/*/command.log"
    export UNWATCHED UNWATCHED_BEHIND
    : > unwatched
    (
        until grep -qs 'cannot watch the dispatcher' err; do sleep 0.05; done
        rm unwatched
    ) &
    preloaded unwatched run 0 || { kill $!; return 1; }
    count 1 succeeded && replays
}
check "a first dispatcher that cannot be watched" first_unwatched

# The kernel has no memory to watch the second trial: its end is seen all the
# same.
trial_unwatched() {
    experiment 'maxTrialNumber: 2' << 'E' || return 1
if [ "$TUNEPIPE_TRIAL_ID" = 00000 ]; then
    until "$T" log "$TUNEPIPE_EXPERIMENT_DIR" 2>&- | grep -q '"started"'; do
        sleep 0.05
    done
    : > "$HERE/unwatched"
else
    until grep -q 'trial 00001: its end cannot be watched for: Cannot allocate memory; tried again' "$HERE/err"; do
        sleep 0.05
    done
    rm "$HERE/unwatched"
fi
exec tunepipe trial report --final 1
E
    UNWATCHED=$PWD/unwatched
    export UNWATCHED T
    preloaded unwatched run 0 && count 2 succeeded && replays
}
check "a trial that cannot be watched" trial_unwatched

# apart: the dispatcher's file is another one than the manager's; hold: it
# cannot be started before `exec 9>&-`.
apart() {
    own && mv bin/tunepipe bin/manager && cp bin/manager bin/tunepipe &&
        T=$PWD/bin/manager
}
hold() {
    cp bin/tunepipe bin/new && exec 9>> bin/new && mv bin/new bin/tunepipe
}

# told_late: the only trial has ended, and then a dispatcher can be started.
told_late() { # PROCESS
    until grep -q 'trial 00000 succeeded' out; do
        kill -0 "$1" 2>&- || break
        sleep 0.05
    done
    exec 9>&-
    wait "$1" || fail "$(cat out err)" || return 1
    dir=$(ls -d tunepipe-experiments/*)
    "$T" log "$dir" > log && has log 'EN{"trial_job_id": "00000"' && replays
}

dispatcher_last() {
    apart && experiment 'maxTrialNumber: 1' << 'E' || return 1
: > "$HERE/begun"
until [ -e "$HERE/held" ]; do sleep 0.05; done
read -r dispatcher rest < "$TUNEPIPE_EXPERIMENT_DIR/dispatcher.pid"
kill -KILL "$dispatcher"
until grep -q 'cannot be started now' "$HERE/err"; do sleep 0.05; done
echo 'final 1' >> "$TUNEPIPE_TRIAL_DIR/metrics"
E
    run 0 &
    until [ -e begun ]; do sleep 0.05; done
    hold && : > held && told_late $!
}
check "the last end waits for a dispatcher that can be started" dispatcher_last

dispatcher_last_resumed() {
    apart && experiment 'maxTrialNumber: 1' << 'E' || return 1
[ -e "$HERE/again" ] || { kill -INT "$(cat "$HERE/pid")"; exec sleep 1000; }
until grep -q 'cannot be started now' "$HERE/err"; do sleep 0.05; done
echo 'final 1' >> "$TUNEPIPE_TRIAL_DIR/metrics"
E
    run 1 && : > again && hold || return 1
    (exec 9>&- && resume 0) &
    told_late $!
}
check "the last end of one that is resumed does, too" dispatcher_last_resumed

# All of them live at one time: each says so, and waits for a line.
many() {
    n=2000
    case $TP_BUILD in *asan* | *tsan*) n=100 ;; esac
    [ "$(ulimit -Hn)" = unlimited ] ||
        [ "$(ulimit -Hn)" -ge $((6 * n + 32)) ] ||
        { echo "ulimit -Hn is $(ulimit -Hn)"; return 77; }
    processes=$(sed -n 's/^Max processes *\([^ ]*\).*/\1/p' /proc/self/limits)
    [ "$processes" = unlimited ] || [ "$processes" -ge $((3 * n + 200)) ] ||
        { echo "ulimit -u is $processes"; return 77; }
    mkfifo gate
    experiment "maxTrialNumber: $n" "trialConcurrency: $n" << 'E'
echo "$$" >> "$HERE/alive"
read -r line < "$HERE/gate"
echo 'final 1' >> "$TUNEPIPE_TRIAL_DIR/metrics"
E
    sed -i 's|sh ./trial.sh|. ./trial.sh|' e.yml
    : > alive
    exec 8<> gate # held open, whichever trial comes late to it
    {
        meanwhile '[ "$(wc -l < alive)" = $n ]'
        yes '' | head -n $n >&8
    } &
    run 0 && wait && count $n succeeded
    status=$?
    exec 8>&-
    return $status
}
check "two thousand trials at a time" many

finish
