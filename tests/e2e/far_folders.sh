#!/bin/sh
# SPDX-License-Identifier: MIT
# Experiments in folders on a file system as those of a network are
# (tests/tools/farfs.c): without locks, shared mappings and more; of which two
# clients see each other's changes late; with the log on a disk of the machine.
# not under tsan
# takes long
if [ -z "${FAR_FOLDERS:-}" ]; then
    : "${TP_BUILD:?is not set: run the tests with make check}"
    FAR_FOLDERS=$TP_BUILD/tests/tools/farfs
    export FAR_FOLDERS
    if [ ! -x "$FAR_FOLDERS" ]; then
        why="libfuse is not installed: scripts/setup ci"
    elif [ ! -c /dev/fuse ]; then
        why="there is no /dev/fuse"
    elif ! unshare -rm sh -c '
        cd "$(mktemp -d)" && mkdir back far || exit
        trap "kill \$! 2>&-; wait; rm -rf \"$PWD\"" EXIT
        "$0" back far > said 2>&1 &
        until grep -q " $PWD/far fuse.farfs " /proc/self/mounts; do
            kill -0 $! || exit 1
        done' "$FAR_FOLDERS" 2> /dev/null; then
        why="nobody may mount one here"
    else
        exec unshare -rm sh "$0"
    fi
    echo "skipped far_folders: $why"
    exit
fi
. "$(dirname "$0")/lib.sh"

# far MOUNT WORD...: shows ./back at MOUNT; its process is $farfs.  The names
# that the kernel has not forgotten at its end are libfuse's, not freed.
far() {
    mount=$1
    shift
    mkdir -p back "$mount"
    ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 \
        "$FAR_FOLDERS" back "$mount" "$@" > "$mount.said" 2>&1 &
    farfs=$!
    (meanwhile 'grep -q "$PWD/$mount fuse.farfs " /proc/self/mounts' $farfs)
}

# on_far NAME FUNCTION [WORD...]: in a folder that is far as the words say;
# beside it the function may have another client, ../there.
on_far() {
    far_test=$2
    name=$1
    shift 2
    words=$*
    mkdir "$work/$far_test$words" && cd "$work/$far_test$words" || exit 1
    # A process that a test before left may still be at its experiment's path.
    eval "on_far_$far_test() { on_far_test; }"
    check "$name" "on_far_$far_test"
    rm -rf "$work/on_far_$far_test"
}
on_far_test() {
    far far $(echo "$words" | sed "s:=:=$PWD/:") || { cat far.said; return 1; }
    first=$farfs
    (cd far && "$far_test")
    is=$?
    kill "$first" $(cat beside 2>&-)
    wait
    cp back/out back/err . 2>&-
    return $is
}
there() {
    (cd .. && far there $words && echo "$farfs" > beside)
}

four() { # LINE...: an experiment of four trials
    experiment 'maxTrialNumber: 4' "$@" << 'E'
tunepipe trial report --final "$TUNEPIPE_PARAM_x"
E
}

# looked_at N: it has so many results, and every verb says so.
looked_at() {
    "$T" show --json "$dir" > show.json && count "$1" succeeded &&
        "$T" export --csv "$dir" > csv && [ "$(grep -c succeeded csv)" = "$1" ] &&
        "$T" report "$dir" > out && has out ": $1 trials" &&
        "$T" index "$dir" > out && [ -s "$dir/results.db" ] &&
        "$T" log "$dir" > log && "$T" explain "$dir" 0 > out &&
        "$T" replay --verify "$dir" > out && has out 'identical: '
}

# unheld: nothing that stands for a lock is left.
unheld() {
    left=$(find tunepipe-experiments -name '*.held')
    [ -z "$left" ] || fail "left: $left"
}

near_locks() {
    four && run 0 && unheld &&
        has err '(fuse.farfs) has no locks that are known to reach other machines: experiment.json.held,' &&
        has err 'command.lock.held stands for one; commandLogDirectory puts' &&
        lacks err mappings && looked_at 4 && unheld
}
on_far "locks of each client alone" near_locks

locks_to_write() {
    four && run 0 && looked_at 4 && "$T" resume "$dir" --max-trials 6 > out 2> err &&
        looked_at 6 && unheld
}
on_far "locks of what is open for writing, as on NFS" locks_to_write nfslock

no_locks() {
    four 'index: true' && run 0 && has err 'has no locks' && looked_at 4 &&
        "$T" resume "$dir" --max-trials 6 > out 2> err && looked_at 6 &&
        (meanwhile unheld $$)
}
on_far "locks refused" no_locks nolock

nothing() {
    four 'segmentSize: 1000' && run 0 && unheld &&
        has err 'cannot begin segment 2' && has err '; it stays one file' &&
        has err ', nor shared mappings: command.lock.held stands for a lock' &&
        looked_at 4 && unheld || return 1
    mkdir refused && cd refused && experiment 'maxTrialOutput: 1M' < /dev/null
    run 3 && has err 'maxTrialOutput: ' && [ ! -d tunepipe-experiments ]
}
on_far "neither locks nor mappings, links, reserved room" \
    nothing nolock nomap nolink nofallocate norename2

stopped() {
    experiment 'maxTrialNumber: 3' << 'E'
[ -e "$HERE/go" ] || tunepipe stop "$TUNEPIPE_EXPERIMENT_DIR" > "$HERE/stop" 2>&1
tunepipe trial report --final 1
E
    HERE=$PWD "$T" run e.yml > out 2> err
    dir=$(ls -d tunepipe-experiments/*) && unheld && : > go && resume 0 &&
        looked_at 3 && unheld
}
on_far "a stop, and gone on from" stopped nolock nomap

# What a manager and a dispatcher that were killed leave is taken over.
killed() {
    write_kill_them kill.sh
    experiment 'maxTrialNumber: 3' << 'E'
[ -e "$HERE/go" ] || { : > "$HERE/go"; sh "$HERE/kill.sh" both; }
tunepipe trial report --final 1
E
    run 137
    [ -e "$dir/experiment.json.held" ] && [ -e "$dir/command.lock.held" ] &&
        resume 0 && looked_at 3 && unheld
}
on_far "kill -9 of both, and gone on from" killed nolock nomap

# waiting: in the background an experiment in $dir, until ./go is there.
waiting() {
    experiment 'maxTrialNumber: 2' "$@" << 'E'
: > "$HERE/begun"
until [ -e "$HERE/go" ]; do sleep 0.02; done
tunepipe trial report --final 1
E
    HERE=$PWD "$T" run e.yml > run.out 2> run.err &
    manager=$!
    (meanwhile '[ -e begun ]' $manager) && dir=$(ls -d tunepipe-experiments/*)
}
ends() {
    : > go
    wait "$manager" || fail "$(cat run.err)"
}

second_here() {
    waiting || return
    "$T" resume "$dir" > out 2> err
    [ $? = 1 ] && has err "its manager lives (process $manager)" &&
        "$T" show "$dir" > shown && has shown 'state:  running'
    is=$?
    ends && unheld && return $is
}
on_far "a second manager on the same machine" second_here nolock

# Processes that cannot be seen here, by another client: another machine.
second_there() {
    waiting && there || return
    (
        cd ../there && unshare -pf "$T" resume "$dir" > ../out 2> ../err
        [ $? = 1 ] && unshare -pf "$T" show "$dir" > ../shown
    ) && has ../err "experiment.json.held: process $manager of the machine" &&
        has ../err "rm '" && has ../shown 'state:  running'
    is=$?
    ends && unheld && return $is
}
on_far "a second manager on another machine" second_there nolock
on_far "a second one, where each machine has locks of its own" second_there

# What the other client sees it takes to be so from then on.
late() {
    write_kill_them kill.sh
    experiment 'maxTrialNumber: 3' << 'E'
tunepipe trial report 1
: > "$HERE/begun"
until [ -e "$HERE/looked" ]; do sleep 0.02; done
[ -e "$HERE/go" ] || { : > "$HERE/go"; sh "$HERE/kill.sh" all; }
tunepipe trial report --final 1
E
    there || return
    HERE=$PWD sh -c 'echo $$ > pid; exec "$0" run e.yml' "$T" > out 2> err &
    manager=$!
    (meanwhile '[ -e begun ] && grep -aq " < .* ME" tunepipe-experiments/*/command.log' $manager) || return
    dir=$(ls -d tunepipe-experiments/*)
    (
        cd ../there && "$T" show "$dir" > ../shown &&
            "$T" log "$dir" > ../log && "$T" report "$dir" > ../out &&
            "$T" export --csv "$dir" > ../csv && ls -lR "$dir" > ../ls
    ) && has ../shown 'state:  running' && has ../log ' ME'
    is=$?
    : > looked
    wait "$manager"
    (
        cd ../there && HERE=$PWD && export HERE &&
            "$T" resume "$dir" > ../out 2> ../err && looked_at 3
    ) && [ $is = 0 ] && looked_at 3 && unheld
}
on_far "changes that another client sees late" late late

# What another machine writes is followed, and its end is seen.
followed() {
    waiting && there || return
    (
        cd ../there && unshare -pf "$T" log --follow "$dir" > ../log 2> ../err &
        follower=$!
        (meanwhile 'grep -q " GE" ../log' $follower) || exit
        : > ../far/go
        wait $follower
    ) && wait "$manager" && "$T" log "$dir" | cmp - ../log
}
on_far "a log that another machine writes" followed nolock

# Trials wait for answers, which is one FIFO, and lock that.
in_step() {
    experiment 'maxTrialNumber: 3' 'assessor: {name: medianstop, classArgs: {start_step: 1}}' << 'E'
for value in 1 2 3; do
    tunepipe trial report --sync $((value * (TUNEPIPE_PARAMETER_ID + 1)))
    status=$?
    [ $status = 0 ] || break
done
tunepipe trial report --final "$value"
echo $status >> "$HERE/statuses"
E
    run 0 && has statuses 7 && replays
}
on_far "reports that wait for an answer" in_step nolock nomap

asked() {
    experiment 'trainingService: {platform: client}' 'maxTrialNumber: 3' < /dev/null
    sed -i '/^trialCommand/d' e.yml
    dir=study
    for n in 0 1 2; do
        "$T" ask study --config e.yml > one && "$T" tell study $n $n > out || return
    done
    "$T" stop study > out 2>&1
    looked_at 3 && [ -z "$(ls -d study*held study/*held 2>&-)" ]
}
on_far "a study" asked nolock nomap

# fails ERRNO: what concerns the log does so, from a trial's end on.
fails() {
    experiment 'maxTrialNumber: 2' << 'E'
[ -e "$HERE/over" ] || cat "$HERE/errno" > "$HERE/../fault"
tunepipe trial report --final 1
E
    echo "$1 command.log" > errno
    HERE=$PWD "$T" run e.yml > out 2> err &
    manager=$!
}
passes() {
    fails 5 # EIO
    (meanwhile "grep -q 'command.log: cannot .*: Input/output error; nothing is read' err" $manager)
    : > over && rm ../fault && wait $manager &&
        dir=$(ls -d tunepipe-experiments/*) && looked_at 2 && unheld
}
on_far "an error that passes" passes fault=fault
stays() {
    fails 116 # ESTALE
    wait $manager
    [ $? = 1 ] && : > over && rm ../fault &&
        dir=$(ls -d tunepipe-experiments/*) && unheld &&
        has err 'command.log: cannot ' && has err 'Stale file handle' &&
        resume 0 && looked_at 2
}
on_far "an error that does not" stays fault=fault

log_near() {
    four "commandLogDirectory: $PWD/../logs" && run 0 && has err experiment.json.held &&
        lacks err mappings && lacks err command.lock &&
        [ ! -e "$dir/command.log" ] && [ -s ../logs/*/command.log ] &&
        looked_at 4 && "$T" resume "$dir" --max-trials 6 > out 2> err &&
        looked_at 6
}
on_far "the log on a disk of the machine" log_near nolock nomap

finish
