#!/bin/sh
# SPDX-License-Identifier: MIT
# Memory reserved for trials, limited, and short.  `dd bs=N` holds N bytes.
# not under tsan
. "$(dirname "$0")/lib.sh"

final='tunepipe trial report --final 1'

# machine MIB_TOTAL MIB_AVAILABLE: what the manager takes the machine for.
machine() {
    echo "MemTotal: $(($1 * 1024)) kB
MemAvailable: $(($2 * 1024)) kB" > meminfo.new && mv meminfo.new meminfo
    export TUNEPIPE_MEMINFO="$PWD/meminfo"
}

one_by_one() {
    machine 1000 1000
    experiment 'maxTrialNumber: 4' 'trialConcurrency: 4' \
        'trialMemory: 500m' 'memoryFloor: 0' 'memoryLimit: none' << 'E'
mkdir "$HERE/lock" || exit 4
tunepipe trial report --final 1
rmdir "$HERE/lock"
E
    run 0 && count 4 succeeded &&
        has "$dir/trials/00000/resources" 'memory 524288000'
}
check "two that do not fit together come one after the other" one_by_one

together() {
    machine 1000 1000
    # Each waits until both run.
    experiment 'maxTrialNumber: 2' 'trialConcurrency: 2' 'trialMemory: 500m' \
        'memoryFloor: 0' 'memoryHeadroom: 0%' 'memoryLimit: none' \
        'maxTrialDuration: 50s' << 'E'
: > "$HERE/runs.$TUNEPIPE_TRIAL_ID"
until [ -e "$HERE/runs.00000" ] && [ -e "$HERE/runs.00001" ]; do
    sleep 0.02
done
tunepipe trial report --final 1
E
    run 0 && count 2 succeeded
}
check "two that fit come together" together

others() {
    machine 1000 300
    echo "$final" | experiment 'maxTrialNumber: 1' 'trialMemory: 500m' \
        'memoryFloor: 0' 'memoryLimit: none'
    (
        until grep -qs waits err; do sleep 0.02; done
        machine 1000 900
    ) &
    run 0 && wait && count 1 succeeded && has err \
        'memory: needs 500 MiB, 100 MiB free of 1000 MiB (700 MiB used, 200 MiB'
}
check "memory that others use is waited for" others

learned() {
    machine 1000 1000
    experiment 'maxTrialNumber: 3' 'trialConcurrency: 1' 'trialMemory: auto' \
        'memoryFloor: 0' << 'E'
dd if=/dev/zero of=/dev/null bs=60M count=1
tunepipe trial report --final 1
E
    run 0 && count 3 succeeded || return 1
    # First a quarter of what there is; then a tenth more than the peak.
    has "$dir/trials/00000/resources" 'memory 209715200' || return 1
    n=$(sed -n 's/^memory //p' "$dir/trials/00002/resources")
    [ "$n" -ge 69206016 ] && [ "$n" -lt 100000000 ] || fail "$n learned"
}
check "trialMemory auto learns from peaks" learned

# impossible TEXT LINE...: refused before anything starts.
impossible() {
    text=$1
    shift
    machine 1000 1000
    experiment "$@" < /dev/null
    run 3 && has err "$text" && [ ! -e tunepipe-experiments ] || return 1
    [ "$(wc -l < err)" = 1 ] || fail "more than a line"
}
too_much() {
    impossible 'trialMemory: 900 MiB, but the machine has 1000 MiB, of which' \
        'trialMemory: 900m'
}
check "more memory than there is" too_much

# short REASON [LINE...]: each trial ends for want of memory, the last one too.
short() {
    reason=$1
    shift
    machine 1000 1000
    experiment 'maxTrialNumber: 1' 'outOfMemoryRetry: 2' 'trialMemory: 10m' \
        'memoryLimit: none' "$@"
    run 1 && count 1 'out of memory' && has show.json "$reason" &&
        [ -d "$dir/trials/00000.2" ] && [ ! -d "$dir/trials/00000.3" ] &&
        has out "out of memory: $reason" && replays
}
says() {
    short "$1" << E
echo '$1' >&2
exit 1
E
}
python() { says 'MemoryError'; }
check "Python's words" python
cplusplus() { says "  what():  std::bad_alloc"; }
check "those of C++" cplusplus
libc() { says 'x: Cannot allocate memory'; }
check "those of the C library" libc
java() { says 'Exception: java.lang.OutOfMemoryError: heap'; }
check "those of Java" java

pattern() {
    short 'no room left, 3 MB short' 'outOfMemoryPatterns: ["room left, [0-9]"]' \
        << 'E'
echo 'no room left, 3 MB short' >&2
exit 1
E
}
check "words of the configuration" pattern

no_more() {
    experiment 'maxTrialNumber: 1' << 'E'
echo MemoryError >&2
exit 1
E
    run 1 && count 1 'out of memory' && [ ! -e "$dir/trials/00000.1" ] &&
        "$T" status --json "$dir" > status &&
        has status '"failed": 1, "stopped": 0'
}
check "nothing is tried again that is given no more" no_more

# prepareCommand has its own count, and what it needed the run is given too.
phases() {
    machine 1000 1000
    experiment 'maxTrialNumber: 1' 'trialMemory: 100m' 'memoryLimit: none' \
        'memoryFloor: 0' 'outOfMemoryRetry: 1' \
        'prepareCommand: sh ./prepare.sh' << 'E'
case ${TUNEPIPE_TRIAL_DIR##*/} in
00000.1) echo MemoryError >&2 && exit 1 ;;
esac
tunepipe trial report --final 1
E
    echo 'case ${TUNEPIPE_TRIAL_DIR##*/} in
        00000) echo MemoryError >&2 && exit 1 ;; esac' > prepare.sh
    run 0 && count 1 succeeded &&
        has "$dir/trials/00000/out-of-memory" prepare &&
        has "$dir/trials/00000.1/out-of-memory" run &&
        has "$dir/trials/00000.2/resources" 'memory 235929600'
}
check "an end in either phase" phases

ended_well() {
    echo "echo MemoryError >&2; $final" | experiment 'maxTrialNumber: 1'
    run 0 && count 1 succeeded
}
check "words of a trial that ended well mean nothing" ended_well

killed() {
    echo 'kill -KILL $$' | experiment 'maxTrialNumber: 1' 'trialMemory: 400m' \
        'memoryLimit: none'
    run 1 && count 1 failed && has show.json 'signal 9'
}
check "a SIGKILL without evidence is a failure" killed

killed_near() {
    experiment 'maxTrialNumber: 1' 'trialMemory: 20m' 'memoryLimit: none' \
        'outOfMemoryRetry: 0' << 'E'
dd if=/dev/zero of=/dev/null bs=20M count=1
kill -KILL $$
E
    run 1 && count 1 'out of memory' && has show.json 'used of 20.0 MiB' &&
        [ ! -e "$dir/trials/00000.1" ]
}
check "a SIGKILL with the reservation used is none" killed_near

# The first attempt has too little, the second half as much again.  It reports
# by itself: no sanitizer's program runs under such a limit.
limited() {
    experiment 'maxTrialNumber: 1' 'trialMemory: 200m' "memoryLimit: $1" \
        "outOfMemoryPatterns: [memory exhausted]" << 'E'
dd if=/dev/zero of=/dev/null bs=250M count=1 || exit
echo 'final 1' >> "$TUNEPIPE_TRIAL_DIR/metrics"
E
    run 0
}
rlimit() {
    limited rlimit && count 1 succeeded && has out 'by RLIMIT_DATA' &&
        has "$dir/trials/00000/out-of-memory" memory &&
        has "$dir/trials/00000.1/resources" 'limit 314572800'
}
check "RLIMIT_DATA, and another attempt with more" rlimit

cgroup() {
    limited cgroup > why || {
        grep -q 'memoryLimit: cgroup' err && echo "none is delegated" &&
            return 77
        cat why
        return 1
    }
    count 1 succeeded && has out 'by a control group' &&
        has "$dir/trials/00000/exit" 'oom_kills ' &&
        has out 'killed at its limit of 200 MiB' &&
        has "$dir/trials/00000.1/exit" memory_peak || return 1
    group=$(sed -n 's/^cgroup //p' "$dir/trials/00000/resources")
    [ -n "$group" ] && [ ! -e "$group" ] && [ ! -e "${group%/*}" ] ||
        fail "groups are left: $group"
}
check "a control group, and another attempt with more" cgroup

# Devices: of its own after an end for want of theirs.
device() {
    printf '8000 0\n' > gpus
    export FAKE_NVML="$PWD/gpus" \
        TUNEPIPE_NVML="$TP_BUILD/tests/preload/nvml.so"
    experiment 'maxTrialNumber: 2' 'trialConcurrency: 2' 'trialGpuNumber: 1' \
        'maxTrialNumberPerGpu: 2' << 'E'
case ${TUNEPIPE_TRIAL_DIR##*/} in
00000)
    until [ -e "$HERE/second" ]; do sleep 0.02; done
    : > "$HERE/failed"
    echo 'RuntimeError: CUDA out of memory. Tried to allocate 2 GiB' >&2
    exit 1
    ;;
00001)
    mkdir "$HERE/lock"
    : > "$HERE/second"
    until [ -e "$HERE/failed" ]; do sleep 0.02; done
    rmdir "$HERE/lock"
    ;;
00000.1) mkdir "$HERE/lock" || exit 4 ;;
esac
tunepipe trial report --final 1
E
    run 0 && count 2 succeeded &&
        has "$dir/trials/00000/out-of-memory" device &&
        has "$dir/trials/00000/resources" 'alone 0' &&
        has "$dir/trials/00000.1/resources" 'alone 1'
}
check "a device of its own after CUDA's words" device

# The manager dies between the two attempts: the second has more all the same.
resumed() {
    machine 1000 1000
    experiment 'maxTrialNumber: 1' 'trialMemory: 100m' 'memoryLimit: none' \
        'memoryFloor: 0' << 'E'
[ -e "$TUNEPIPE_TRIAL_DIR/../00000.1" ] || {
    kill -KILL "$(cat "$HERE/pid")"
    echo MemoryError >&2
    exit 1
}
tunepipe trial report --final 1
E
    run 137
    "$T" resume "$dir" > again 2>&1 || return 1
    cp again out
    "$T" show --json "$dir" > show.json && count 1 succeeded &&
        has "$dir/trials/00000.1/resources" 'memory 157286400'
}
check "more after a manager's death too" resumed

finish
