#!/bin/sh
# SPDX-License-Identifier: MIT
# A disk that is full, really: a file system of 8 MiB, made larger once the
# dispatcher says that it waits; and one that stays full until SIGTERM.
#
# Needs TP_BUILD, and a kernel that lets users mount a tmpfs of their own.
set -u
: "${TP_BUILD:?is not set: run the tests with make check}"
if [ "${1:-}" = "" ]; then
    folder=$(mktemp -d) || exit 1
    trap 'rm -rf "$folder"' EXIT
    for case in grows stays; do
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
mount -t tmpfs -o size=8m none ../disk || exit 1
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
