#!/bin/sh
# SPDX-License-Identifier: MIT
# A running experiment that is asked and told.  Each trial says that it has
# begun and reported, and waits for its word: a number to be its result, or bad.
# not under tsan
. "$(dirname "$0")/lib.sh"

trial='
tunepipe trial report 0.5
tunepipe trial report 0.75
mkfifo "$HERE/go$TUNEPIPE_TRIAL_ID" 2> "$TUNEPIPE_TRIAL_DIR/there"
echo "$TUNEPIPE_TRIAL_ID" > "$HERE/begun"
read -r word < "$HERE/go$TUNEPIPE_TRIAL_ID"
[ "$word" != bad ] || exit 3
tunepipe trial report --final "$word"
'

# begin [KEY...]: runs e.yml behind us; $manager is to be waited for, ./pid its
# process.
begin() {
    mkfifo begun && exec 8<> begun || return 1
    echo "$trial" | experiment "$@"
    here=$PWD seen= life=0
    go_on run e.yml
}

# Its end is told, too, to who waits in vain for a trial to begin.
go_on() {
    life=$((life + 1))
    {
        HERE=$here sh -c 'echo $$ > "$HERE/pid"; exec "$0" "$@"' "$T" "$@" \
            > out 2> err 8>&-
        got=$?
        echo "ended$life" >&8
        exit $got
    } &
    manager=$!
}

# begun ID...: these have; $dir is the experiment's folder.
begun() {
    for id; do
        until case " $seen " in *" $id "*) ;; *) false ;; esac do
            read -r one <&8 && seen="$seen $one"
            [ "$one" != "ended$life" ] || fail "trial $id never began" ||
                return 1
        done
    done
    dir=$(ls -d "$PWD"/tunepipe-experiments/* | tail -n 1)
    echo "$here" >> "$work/began"
}

let_go() { echo "$2" > "$here/go$1"; } # ID WORD

# ended STATUS: the manager has.
ended() {
    wait "$manager"
    got=$?
    "$T" show --json "$dir" > show.json
    [ "$got" = "$1" ] || fail "status $got, expected $1"
}

# until_status PATTERN: the manager tells of each change until it has that.
until_status() {
    "$TP_BUILD/tests/tools/watch" "$dir" "$1" > watched ||
        fail "never: $1; last: $(tail -n 1 watched)"
}

# says STATUS TEXT VERB...: that verb has this status and prints that.
says() {
    want=$1 text=$2
    shift 2
    "$T" "$@" > said 2>&1
    got=$?
    [ "$got" = "$want" ] ||
        fail "$*: status $got, expected $want: $(cat said)" || return 1
    [ -z "$text" ] || has said "$text"
}

status() {
    begin 'trialConcurrency: 2' 'maxTrialNumber: 3' 'direction: maximize' &&
        begun 00000 00001 && until_status '"reports": 2, *"reports": 2' &&
        says 0 'state       running' status "$dir" &&
        says 0 '0/3 done, 2 running; 2 at a time' status "$dir" &&
        says 0 '"recent": [0.5, 0.75]' status --json "$dir" &&
        says 0 '"latest": 0.75' trial ls --json "$dir" || return 1
    let_go 00000 3 && begun 00002 && let_go 00001 7 && let_go 00002 5 &&
        ended 0 && says 0 'state       ended: finished: 3 trials' status "$dir" &&
        says 0 'best        7 (trial 00001), maximize' status "$dir" &&
        says 0 '"state": "ended"' status --json "$dir" &&
        says 0 '00001    succeeded               7' trial ls "$dir" &&
        [ ! -e "$dir/control" ] &&
        says 1 'is over (finished: 3 trials)' pause "$dir"
}
check "status and trial ls, while it runs and after" status

newest() {
    begin && begun 00000 &&
        says 0 "tunepipe status: tunepipe-experiments/${dir##*/}" status &&
        says 0 running trial ls && says 0 '' trial kill 0 && begun 00001 &&
        says 0 'none has failed' trial retry --failed &&
        says 0 'interrupted after 2 trials' stop && ended 1 &&
        count 1 cancelled && says 0 '1 cancelled; 1 interrupted' show &&
        says 0 '00000,cancelled' export --csv &&
        says 2 "'foo': expected a trial's number" why foo &&
        mkdir empty && cd empty || return 1
    for verb in status show 'show --page 1' 'export --csv' index 'rerun 3'; do
        says 3 'no experiment in ./tunepipe-experiments' $verb || return 1
    done
    says 3 "expected an experiment's folder" stop . &&
        says 2 "'b': expected one folder" show a b &&
        says 2 'expected [FOLDER] TRIAL' rerun foo
}
check "DIR is the newest where it is not given" newest

concurrency() {
    begin 'maxTrialNumber: 6' && begun 00000 &&
        says 0 '' update "$dir" --concurrency 3 && begun 00001 00002 &&
        says 0 '3 running; 3 at a time' status "$dir" &&
        says 0 '' update "$dir" --concurrency 1 &&
        says 0 '3 running; 1 at a time' status "$dir" || return 1
    let_go 00000 1 && let_go 00001 1 && until_status '"done": 2' &&
        says 0 '1 running' status "$dir" && let_go 00002 1 && begun 00003 &&
        says 0 '' update "$dir" --max-trials 4 && let_go 00003 1 &&
        ended 0 && count 4 succeeded && replays
}
check "concurrency is raised and lowered; the number of trials too" concurrency

duration() {
    begin 'maxExperimentDuration: 10h' && begun 00000 &&
        says 0 ' of 10:00:00' status "$dir" &&
        says 0 '' update "$dir" --max-duration 0.001s &&
        until_status '"state": "stopping"' && let_go 00000 1 && ended 0 &&
        has out 'maxExperimentDuration is over'
}
check "the duration is changed" duration

limits_are_kept() {
    begin 'maxTrialNumber: 1' && begun 00000 &&
        says 0 '' update "$dir" --max-trials 3 --concurrency 2 &&
        begun 00001 && kill -9 "$(cat pid)" || return 1
    wait "$manager"
    says 1 'its manager died; to go on: tunepipe resume' stop "$dir" &&
        says 0 'state       died' status "$dir" &&
        says 0 '2 unended' status "$dir" && go_on resume "$dir" || return 1
    let_go 00000 1 && let_go 00001 2 && begun 00002 &&
        until_status '"done": 2' &&
        says 0 '2/3 done, 1 running; 2 at a time' status "$dir" &&
        let_go 00002 3 && ended 0 && count 3 succeeded && replays &&
        "$T" log "$dir" > said && has said 'PL{"trials": 1}' &&
        has said 'PL{"trials": 3}'
}
check "changes hold for a manager that goes on" limits_are_kept

refused() {
    begin && begun 00000 || return 1
    says 2 'expected --concurrency, --max-trials' update "$dir" &&
        says 2 'more than 0' update "$dir" --concurrency 0 &&
        says 1 'from 1 to' update "$dir" --concurrency 99999999999 &&
        says 1 'ulimit -Hn' update "$dir" --concurrency 1000000000 &&
        says 1 'trial 00009: there is none' trial kill "$dir" 0 9 &&
        says 1 'trial 00000 has not ended' trial retry "$dir" 0 &&
        says 2 "expected a trial's number" trial kill "$dir" 0 x &&
        says 2 "'3.1': expected a trial's number" trial kill 3.1 &&
        says 2 'either --failed or TRIAL' trial retry "$dir" &&
        says 2 'expected [DIR] PARAMETERS' trial add "$dir" &&
        says 2 "'x=1': expected parameters as JSON" trial add "$dir" x=1 &&
        says 2 'byte 6: expected a value' trial add '{"x": }' &&
        says 2 '(names stand in double quotes): ' trial add '{x: 1}' &&
        says 1 'set 2: y: the search space has no such parameter' \
            trial add "$dir" '{"x": 1}' '{"y": 1}' &&
        says 0 '1 running; 1 at a time' status "$dir" &&
        says 0 '' stop "$dir" && ended 1
}
check "what cannot be is refused, and changes nothing" refused

kill_and_retry() {
    begin 'trialConcurrency: 2' 'maxTrialNumber: 3' && begun 00000 00001 &&
        let_go 00000 bad && begun 00002 && until_status '"failed": 1' &&
        says 0 00003 trial retry "$dir" --failed &&
        says 0 waiting trial ls "$dir" &&
        says 0 '1/4 done, 2 running, 1 waiting' status "$dir" &&
        says 0 '' trial kill "$dir" 1 && begun 00003 &&
        says 0 'none has failed' trial retry "$dir" --failed &&
        lacks said 0000 || return 1
    let_go 00002 2 && let_go 00003 9 && ended 0 && count 1 failed &&
        count 1 cancelled && count 2 succeeded && replays &&
        cmp "$dir/trials/00000/parameters.json" \
            "$dir/trials/00003/parameters.json"
}
check "trials are killed and repeated" kill_and_retry

# More than fit into a request, were each named; they are only on record.
retry_many() {
    begin 'maxTrialNumber: 1' && begun 00000 || return 1
    awk 'BEGIN {
        for (i = 1; i <= 10000; i++)
            printf "{\"trial\": \"%05d\", \"parameter_id\": %d, \"seed\": 1, " \
                "\"status\": \"failed\", \"parameters\": {\"x\": 0.%d1}}\n", i, i, i
    }' >> "$dir/results.jsonl"
    says 0 10000 trial retry "$dir" --failed && [ "$(wc -l < said)" = 10000 ] &&
        says 0 '0/10001 done, 1 running, 10000 waiting' status "$dir" &&
        says 0 '' stop "$dir" && ended 1
}
check "ten thousand trials are repeated by one word" retry_many

retry_and_resume() {
    begin 'maxTrialNumber: 2' && begun 00000 && let_go 00000 bad &&
        begun 00001 && until_status '"failed": 1' &&
        says 0 00002 trial retry "$dir" 0 && let_go 00001 4 &&
        begun 00002 && kill -9 "$(cat pid)" || return 1
    wait "$manager"
    go_on resume "$dir" && let_go 00002 6 && ended 0 && count 2 succeeded &&
        count 1 failed && replays
}
check "a trial that is repeated outlives its manager" retry_and_resume

retry_waits() {
    begin 'maxTrialNumber: 2' && begun 00000 && let_go 00000 bad &&
        begun 00001 && until_status '"failed": 1' &&
        says 0 00002 trial retry "$dir" 0 && kill -9 "$(cat pid)" || return 1
    wait "$manager"
    go_on resume "$dir" && let_go 00001 4 && begun 00002 && let_go 00002 6 && ended 0 &&
        count 2 succeeded && count 1 failed && replays &&
        cmp "$dir/trials/00000/parameters.json" \
            "$dir/trials/00002/parameters.json"
}
check "so does one that has not begun" retry_waits

added() {
    begin 'maxTrialNumber: 1' && begun 00000 &&
        says 0 00002 trial add "$dir" '{"x": 0.3}' '{}' && has said 00001 &&
        says 0 'x=0.3' trial ls "$dir" &&
        says 0 '0/3 done, 1 running, 2 waiting' status "$dir" &&
        says 0 00003 trial add '{"x": 0.7}' && kill -9 "$(cat pid)" || return 1
    wait "$manager"
    go_on resume "$dir" && let_go 00000 1 && begun 00001 && let_go 00001 2 &&
        begun 00002 && let_go 00002 3 && begun 00003 && let_go 00003 4 &&
        ended 0 && count 4 succeeded && replays &&
        has "$dir/trials/00003/parameters.json" '{"x": 0.7}'
}
check "trials that the user adds, across the death of the manager" added

added_at_start() {
    cat > tuner.sh << E
cd "\$HERE" && "$T" trial add '{"x": 0.3}' > asked 2>&1
exec python3 "$TP_SOURCE/tuners/exec/tuner.py"
E
    begin 'maxTrialNumber: 1' \
        "tuner: {name: exec, classArgs: {command: [sh, $PWD/tuner.sh]}}" &&
        begun 00000 && let_go 00000 1 && ended 0 && count 1 succeeded &&
        has asked 'still starting: its tuner has not taken the search space'
}
check "none is added before the tuner has taken the search space" added_at_start

# Its dispatcher reads nothing of it any more, then both die.
added_unread() {
    begin 'maxTrialNumber: 2' && begun 00000 && let_go 00000 bad &&
        begun 00001 && until_status '"failed": 1' || return 1
    read -r dispatcher rest < "$dir/dispatcher.pid"
    kill -STOP "$dispatcher" && says 0 00002 trial add "$dir" '{"x": 0.7}' &&
        says 0 00003 trial retry "$dir" 0 || return 1
    printf '\n{"parameter_id": 9000, "par' >> "$dir/added.jsonl"
    kill -9 "$(cat pid)" "$dispatcher"
    wait "$manager"
    go_on resume "$dir" && let_go 00001 1 && begun 00002 && let_go 00002 2 &&
        begun 00003 && says 0 00004 trial add '{}' && let_go 00003 3 &&
        begun 00004 && let_go 00004 4 && ended 0 &&
        count 4 succeeded && replays &&
        has "$dir/trials/00002/parameters.json" '{"x": 0.7}' &&
        cmp "$dir/trials/00000/parameters.json" \
            "$dir/trials/00003/parameters.json" &&
        says 0 'nothing is left' resume "$dir"
}
check "what was added and is on no record is begun by who goes on" added_unread

added_in_step() {
    begin 'deterministic: true' 'maxTrialNumber: 1' && begun 00000 &&
        says 1 'a deterministic experiment takes no more trials' \
            trial add "$dir" '{"x": 0.3}' && says 0 '' stop "$dir" && ended 1
}
check "none is added where no clock may decide" added_in_step

pauses() {
    begin 'maxTrialNumber: 3' && begun 00000 && says 0 '' pause "$dir" &&
        says 0 '' pause "$dir" && let_go 00000 1 &&
        until_status '"state": "paused", *"done": 1, "running": 0' &&
        says 0 '' continue "$dir" && begun 00001 && let_go 00001 1 &&
        begun 00002 && let_go 00002 1 && ended 0 && count 3 succeeded
}
check "pause and continue" pauses

# Everything of it is gone when the verb returns: trial, wrapper, dispatcher.
nothing_left() {
    ps -eo pid,args | grep -F "$dir" | grep -v grep > left
    [ ! -s left ] || fail "left: $(cat left)"
}

stops() {
    begin 'trialConcurrency: 3' && begun 00000 00001 00002 &&
        says 0 'interrupted after 3 trials; to go on: tunepipe resume' \
            stop "$dir" && nothing_left && ended 1 && count 3 interrupted
}
check "stop ends everything" stops

stubborn() {
    trial="trap '' TERM$trial"
    begin 'grace: 1h' && begun 00000 || return 1
    "$T" stop "$dir" > first 2>&1 &
    first=$!
    until_status '"state": "stopping"' && says 0 interrupted stop --now "$dir" &&
        wait "$first" && has first interrupted && nothing_left && ended 1 &&
        count 1 interrupted
}
check "stop --now does not wait for anybody" stubborn

two() {
    mkdir a b && cd a && begin 'maxTrialNumber: 1' && begun 00000 || return 1
    a_dir=$dir a_manager=$manager
    cd ../b && begin 'maxTrialNumber: 1' && begun 00000 &&
        says 0 '' stop "$dir" && ended 1 || return 1
    cd ../a && dir=$a_dir manager=$a_manager here=$PWD
    says 0 '1 running' status "$dir" && let_go 00000 1 && ended 0
}
check "two experiments at once" two

no_socket() {
    begin 'maxTrialNumber: 1' && begun 00000 && rm "$dir/control" &&
        says 1 'its manager lives and does not listen' stop "$dir" &&
        says 0 'state       running' status "$dir" && let_go 00000 1 && ended 0
}
check "a socket that somebody removed" no_socket

long_path() {
    long=$(printf '%0120d' 0)
    mkdir -p "$long/$long" && cd "$long/$long" && begin && begun 00000 &&
        says 0 '1 running' status "$dir" && says 0 interrupted stop "$dir" &&
        ended 1
}
check "a path of more than 108 bytes" long_path

others() {
    as_other="setpriv --reuid 65534 --clear-groups"
    # One who can be somebody else, and reaches this folder then.
    cp "$TP_BUILD/tests/tools/watch" . && chmod 755 watch . "$work" &&
        [ "$(id -u)" = 0 ] && $as_other test -x "$PWD/watch" 2> /dev/null ||
        { echo "needs root, setpriv and a folder open to all"; return 77; }
    begin 'maxTrialNumber: 1' && begun 00000 || return 1
    as_other="$as_other ./watch"
    $as_other "$dir" none > said 2>&1
    has said 'Permission denied' || return 1
    # Nor when the modes would let it.
    chmod 755 . tunepipe-experiments "$dir" && chmod 666 "$dir/control" &&
        ! $as_other "$dir" none > said 2>&1 &&
        has said 'no other user may control it' && let_go 00000 1 && ended 0
}
check "no other user" others

top_plain() {
    begin 'maxTrialNumber: 2' && begun 00000 || return 1
    mkfifo lines || return 1
    "$T" top "$dir" > lines 2> top.err &
    top=$!
    exec 7< lines
    read -r line <&7 && [ "$line" = \
        'running | 0/2 done, 1 running | best none yet' ] ||
        fail "first: $line" || return 1
    let_go 00000 3 && begun 00001 || return 1
    until [ "$line" = \
        'running | 1/2 done, 1 running | best 3 (trial 00000)' ]; do
        read -r line <&7 || return 1
    done
    let_go 00001 4 && cat <&7 > rest && wait "$top" &&
        has rest 'finished: 2 trials' && ended 0
}
check "top as plain lines" top_plain

top_screen() {
    command -v script > /dev/null || { echo "needs script"; return 77; }
    begin 'maxTrialNumber: 1' && begun 00000 && mkfifo keys lines || return 1
    exec 7<> keys
    TERM=xterm LC_ALL=C.UTF-8 script -qefc \
        "stty rows 14 cols 60; exec $T top $dir" /dev/null \
        < keys > lines 2> top.err &
    top=$!
    exec 6< lines
    while read -r line <&6; do
        echo "$line" >> screen
        case $line in *'q: leave'*) break ;; esac
    done
    printf q >&7 && cat <&6 >> screen && wait "$top" || return 1
    # The other screen, what stands there, all as it was.
    for part in '[?1049h' 'state       running' '00000    running' \
        '[?1049l'; do
        has screen "$part" || return 1
    done
    let_go 00000 1 && ended 0
}
check "top as a screen" top_screen

# not_answered VERB...: fails, and says what stops the manager and what to do.
not_answered() {
    timeout 60 "$T" "$@" > said 2>&1
    got=$?
    [ $got = 1 ] && has said "process $pid, is stopped" &&
        has said "kill -CONT $pid" || fail "$*: status $got: $(cat said)"
}

# Who only waits says so, too, and waits.
stopped_manager() {
    begin 'maxTrialNumber: 2' && begun 00000 || return 1
    pid=$(cat "$dir/manager.pid") && kill -STOP "$pid" || return 1
    meanwhile 'grep -q "^State:.T" /proc/$pid/status' "$pid"
    "$T" wait "$dir" trial.ended > happened 2> wait.err &
    waiter=$!
    "$T" top "$dir" > lines 2> top.err &
    top=$!
    for one in wait top; do
        meanwhile "grep -q 'kill -CONT $pid' $one.err" $$
    done
    not_answered status "$dir" && not_answered trial ls "$dir" &&
        not_answered why "$dir" 0 && not_answered pause "$dir" &&
        not_answered continue "$dir" && not_answered stop "$dir" &&
        not_answered update "$dir" --max-trials 1 &&
        not_answered trial kill "$dir" 0 &&
        not_answered trial retry "$dir" 0 || return 1
    # Answered twice, the manager has heard who asked before.
    kill -CONT "$pid" && "$T" status "$dir" > said &&
        "$T" status "$dir" > said && let_go 00000 1 && begun 00001 &&
        wait "$waiter" && has happened '"trial.ended"' && let_go 00001 2 &&
        ended 0 && wait "$top" && count 2 succeeded
}
check "a manager that is stopped" stopped_manager

# After a failure managers may be left.
sort -u "$work/began" | while read -r folder; do
    pid=$(cat "$folder/pid")
    case $(readlink "/proc/$pid/cwd") in
    "$folder") kill -9 "$pid" ;;
    esac
done
finish
