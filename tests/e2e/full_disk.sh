#!/bin/sh
# SPDX-License-Identifier: MIT
# A disk that is full, really: a file system of 8 MiB, made larger once the
# dispatcher says that it waits; and one that stays full until SIGTERM.  An
# experiment on one that has neither room nor inodes left while its trials end
# and another is to begin: until there is room; and until SIGINT; and one of
# which nothing is left but to write its results.  A study that cannot begin.  A
# wrapper whose file for the end was taken away by its trial.
#
# Needs TP_BUILD, and a kernel that lets users mount a tmpfs of their own.
set -u
: "${TP_BUILD:?is not set: run the tests with make check}"
if [ "${1:-}" = "" ]; then
    folder=$(mktemp -d) || exit 1
    trap 'rm -rf "$folder"' EXIT
    for case in grows stays experiment interrupted results study wrapper; do
        if ! unshare -rm mount -t tmpfs none "$folder" 2> /dev/null; then
            echo "skipped full_disk_$case (no tmpfs of our own)"
            continue
        fi
        unshare -rm sh "$0" $case "$folder" > "$folder/out" 2>&1 &&
            echo "ok full_disk_$case" || {
            sed 's/^/# /' "$folder/out"
            echo "FAILED full_disk_$case"
            failed=1
        }
    done
    exit ${failed:-0}
fi

case=$1
mkdir -p "$2/disk" "$2/$case" && cd "$2/$case" || exit 1
mount -t tmpfs -o size=8m,nr_inodes=500 none ../disk || exit 1

T=$TP_BUILD/tunepipe
trials=20 # whose results are more than a page

# What has become free meanwhile, too, when it is called again.
fill() {
    head -c 9000000 /dev/zero >> ../disk/fill
    while touch "../disk/$i.fill"; do i=$((i + 1)); done
} 2> /dev/null
i=0

experiment() {
    most=$((trials + 1))
    [ $case != results ] || most=$trials
    cat > ../disk/e.yml << E
trialCommand: sh $PWD/trial.sh
searchSpace: {x: {_type: uniform, _value: [0, 1]}}
tuner: {name: random, classArgs: {optimize_mode: minimize}}
trialConcurrency: $trials
maxTrialNumber: $most
E
    cat > trial.sh << E
tunepipe trial report 2 # it has room for the last one then
: > $PWD/begun.\$TUNEPIPE_TRIAL_ID
until [ -e $PWD/full ]; do sleep 0.05; done
tunepipe trial report --final 1
E
    (cd ../disk && exec "$T" run e.yml) > out 2> err &
    pid=$!
    alive() { kill -0 $pid 2> /dev/null || { cat out err && exit 1; }; }
    until [ "$(ls begun.* 2> /dev/null | wc -l)" = $trials ]; do alive; done
    fill
    : > full
    until grep -q 'results are kept in memory until' err; do alive && fill; done
    until [ $most = $trials ] ||
        grep -q 'cannot be started now: .*No space left on device' err
    do alive && fill; done
    until [ "$(grep -c '^trial .* succeeded' out)" = $trials ]; do alive; done
    dir=$(echo ../disk/tunepipe-experiments/*)
    if [ $case = interrupted ]; then
        kill -INT $pid
        wait $pid
        "$T" show "$dir" | tee shown
        grep -q '^state:  interrupted after' shown || exit 1
        rm ../disk/*fill
        "$T" resume "$dir" > out 2> err &
        pid=$!
    else
        rm ../disk/*fill
    fi
    wait $pid
    status=$?
    cat out err
    [ $status = 0 ] && "$T" show "$dir" | tee shown
    [ "$(wc -l < "$dir/results.jsonl")" = $most ] &&
        grep -q "ended: $trials succeeded\|ended: $((trials + 1)) succ" shown
}
# ends_with STATUS DO: a trial that has ended; what is done while its wrapper
# waits.
ends_with() {
    trial=../disk/$1
    mkdir "$trial" && mkfifo "$trial/lease" && exec 9<> "$trial/lease" || exit 1
    {
        echo "rm $trial/wrapper.pid"
        echo "i=0; while touch ../disk/\$i.fill; do i=\$((i + 1)); done 2>&-"
    } > trial.sh
    "$TP_BUILD/tunepipe-wrapper" --dir "$trial" --cwd . --grace-ms 1 \
        --adopt-ms 100000 -- sh ./trial.sh &
    pid=$!
    until grep -q '^tunepipe-wrapper: waits (until SIGTERM): cannot write exit in .*: No space left' "$trial/stderr"; do
        kill -0 $pid || exit 1
    done
    $2
    wait $pid
    [ $? = "$1" ] || { cat "$trial/stderr" && exit 1; }
}
make_room() { rm ../disk/0.fill; }
stop() { kill -TERM $pid; }
wrapper() {
    ends_with 0 make_room && [ "$(head -n 1 ../disk/0/exit)" = 'exited 0' ] ||
        exit 1
    rm ../disk/*.fill
    ends_with 2 stop && [ ! -e ../disk/2/exit ]
}

# A study's folder can be made, and its log cannot be begun.
study() {
    echo '{searchSpace: {x: {_type: uniform, _value: [0, 1]}}, direction: minimize}' > s.yml
    head -c 9000000 /dev/zero > ../disk/fill
    truncate -s -100000 ../disk/fill
    "$T" study ../disk/study --serve --config s.yml 2> err
    status=$?
    cat err
    [ $status = 1 ] && grep -q 'error: .*/study: the study cannot begin: command.log: cannot reserve room: No space' err ||
        exit 1
    rm ../disk/fill
    "$T" study ../disk/study --serve && "$T" stop ../disk/study
}

case $case in
study) study 2>&1; exit ;;
experiment | interrupted | results) experiment; exit ;;
wrapper) wrapper; exit ;;
esac

mkfifo in err || exit 1

feed() { # 15 MB of pings between two requests
    space='{"x":{"_type":"uniform","_value":[0,1]}}'
    printf 'IN%014d%sGE000000000000013' ${#space} "$space"
    yes "$(printf 'PI%014d%05000d' 5000 0)" | tr -d '\n' |
        head -c $((5016 * 3000))
    printf 'GE000000000000012'
}
feed > in 2> /dev/null &
"$TP_BUILD/tunepipe" dispatch --tuner random --seed 1 --dir ../disk/log \
    < in > got 2> err &
pid=$!
exec 3< err
read -r line <&3 || exit 1
echo "$line"
case $line in
*'command.log: cannot reserve room: No space left on device; nothing is read'*) ;;
*) exit 1 ;;
esac
if [ "$case" = grows ]; then
    mount -o remount,size=64m ../disk || exit 1
    wanted=0 answers=5
else
    kill -TERM $pid
    wanted=143 answers=3
fi
cat <&3 > rest
wait $pid
status=$?
cat rest
[ $status = $wanted ] || { echo "status $status, expected $wanted" && exit 1; }
[ "$case" = stays ] || grep -q 'command.log: goes on after' rest || exit 1
[ "$(tr '}' '\n' < got | grep -c parameter_index)" = $answers ] ||
    { echo "answers:" && cat got && exit 1; }
"$TP_BUILD/tunepipe" log ../disk/log | tail -n 2 | grep -q ' E ' || exit 1
"$TP_BUILD/tunepipe" replay ../disk/log --verify | tee replayed
grep -q '^identical: ' replayed
