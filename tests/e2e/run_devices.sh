#!/bin/sh
# SPDX-License-Identifier: MIT
# GPUs given to trials, with a library that has those of the file `gpus`.
# not under tsan
. "$(dirname "$0")/lib.sh"

export TUNEPIPE_NVML="$TP_BUILD/tests/preload/nvml.so"
unset CUDA_VISIBLE_DEVICES

# gpus LINE...: MIB_TOTAL MIB_USED PID...
gpus() {
    printf '%s\n' "$@" > gpus.new && mv gpus.new gpus
    export FAKE_NVML="$PWD/gpus"
}

# What the trials were given, a line each.
given='echo "<$CUDA_VISIBLE_DEVICES>" >> "$HERE/given"
tunepipe trial report --final 1'

# A device that another trial has as well is a failure.
alone='case $CUDA_VISIBLE_DEVICES in 0 | 1) ;; *) exit 3 ;; esac
mkdir "$HERE/gpu$CUDA_VISIBLE_DEVICES" || exit 4
tunepipe trial report --final 1
rmdir "$HERE/gpu$CUDA_VISIBLE_DEVICES"'

hidden() {
    echo "$given" | experiment 'maxTrialNumber: 1' 'trialGpuNumber: 0'
    CUDA_VISIBLE_DEVICES=3 run 0 && has given '<>' && count 1 succeeded
}
check "trialGpuNumber 0 hides all devices, and needs no library" hidden

unmanaged() {
    echo "$given" | experiment 'maxTrialNumber: 1'
    CUDA_VISIBLE_DEVICES=3 run 0 && has given '<3>'
}
check "without trialGpuNumber nothing is changed" unmanaged

one_each() {
    gpus '8000 0' '8000 0'
    echo "$alone" | experiment 'maxTrialNumber: 8' 'trialConcurrency: 4' \
        'trialGpuNumber: 1'
    run 0 && count 8 succeeded && "$T" log "$dir" > log &&
        has log '"device": "0"' && has log '"device": "1"'
}
check "each device has one trial" one_each

all_of_them() {
    gpus '8000 0' '8000 0'
    echo "$given" | experiment 'maxTrialNumber: 3' 'trialConcurrency: 2' \
        'trainingService: {platform: local, trialGpuNumber: 2}'
    run 0 && count 3 succeeded && [ "$(grep -cx '<0,1>' given)" = 3 ]
}
check "n of n devices" all_of_them

shared() {
    gpus '8000 0' '8000 0'
    # Each waits until all four run: fewer a device would hang.
    experiment 'maxTrialNumber: 4' 'trialConcurrency: 9' 'trialGpuNumber: 1' \
        'maxTrialNumberPerGpu: 2' 'maxTrialDuration: 50s' << 'E'
echo "$CUDA_VISIBLE_DEVICES" >> "$HERE/shares"
until [ "$(wc -l < "$HERE/shares")" -ge 4 ]; do sleep 0.02; done
tunepipe trial report --final 1
E
    run 0 && count 4 succeeded && [ "$(grep -cx 0 shares)" = 2 ] &&
        [ "$(grep -cx 1 shares)" = 2 ]
}
check "two trials on each device" shared

indices() {
    gpus '8000 0' '8000 0' '8000 0'
    echo "$given" | experiment 'maxTrialNumber: 3' 'trialConcurrency: 3' \
        'trialGpuNumber: 1' 'gpuIndices: "1,2"'
    CUDA_VISIBLE_DEVICES=0,GPU-fake-2 run 0 && count 3 succeeded &&
        [ "$(grep -cx '<2>' given)" = 3 ]
}
check "gpuIndices, and the devices the manager itself was given" indices

busy() {
    sleep 1000 > /dev/null 2>&1 & # which a failure leaves
    stranger=$!
    trap 'kill "$stranger" 2>&-' EXIT
    gpus "8000 100 $stranger"
    echo "$given" | experiment 'maxTrialNumber: 1' 'trialGpuNumber: 1'
    (
        meanwhile "grep -qs 'busy with pid' err"
        gpus '8000 0'
        kill "$stranger"
    ) &
    run 0 && wait && count 1 succeeded &&
        has err "trial 00000 waits: GPU 0 busy with pid $stranger (useActiveGpu"
}
check "a device on which others compute is waited for" busy

active() {
    gpus "8000 100 $$"
    echo "$given" | experiment 'maxTrialNumber: 1' 'trialGpuNumber: 1' \
        'trainingService: {platform: local, useActiveGpu: true}'
    run 0 && count 1 succeeded && lacks err waits
}
check "or not, with useActiveGpu" active

# The third is to start while the second computes on the one device.
ours() {
    gpus '8000 0'
    experiment 'maxTrialNumber: 3' 'trialConcurrency: 3' 'trialGpuNumber: 1' \
        'maxTrialNumberPerGpu: 2' 'maxTrialDuration: 50s' << 'E'
case $TUNEPIPE_TRIAL_ID in
00000) until [ -e "$HERE/gpus.mine" ]; do sleep 0.02; done ;;
00001)
    echo "8000 100 $$" > "$HERE/gpus" && : > "$HERE/gpus.mine"
    until [ -e "$HERE/third" ]; do sleep 0.02; done
    ;;
00002) : > "$HERE/third" ;;
esac
tunepipe trial report --final 1
E
    run 0 && count 3 succeeded && lacks err waits
}
check "processes of our trials do not make a device busy" ours

labelled() {
    gpus '8000 0 # NVIDIA T4' '8000 0 # NVIDIA A100-SXM4' '8000 0 # NVIDIA T4'
    echo "$given" | experiment 'maxTrialNumber: 4' 'trialConcurrency: 4' \
        'trialGpuNumber: 1' 'trialLabels: ["*A100*", rack-?]' \
        'trainingService: {platform: local, machineLabels: rack-7}'
    run 0 && count 4 succeeded && [ "$(grep -cx '<1>' given)" = 4 ]
}
check "trialLabels: the model of a device, and the machine's labels" labelled

own_labels() {
    gpus '8000 0' '8000 0' '8000 0'
    echo "$given" | experiment 'maxTrialNumber: 4' 'trialConcurrency: 4' \
        'trialGpuNumber: 2' 'trialLabels: [fast, "v[12]"]' \
        'deviceLabels: {"0": [fast, v1], "1": fast, "2": [v2, fast]}'
    run 0 && count 4 succeeded && [ "$(grep -cx '<0,2>' given)" = 4 ]
}
check "deviceLabels: each glob has to match one" own_labels

without_devices() {
    echo "$given" | experiment 'maxTrialNumber: 1' 'machineLabels: [big, quiet]' \
        "trialLabels: ['b*', '$(uname -n)']"
    run 0 && count 1 succeeded || return 1
    echo 'trialLabels: [loud]' | cat - e.yml | sed '2,$s/^trialLabels.*//' > f.yml
    mv f.yml e.yml
    run 3 && has err "trialLabels: 'loud' matches no label of this machine" &&
        has err "this machine: 'big', 'quiet', '"
}
check "without devices the machine's labels and its name count" without_devices

# One device that matches is taken, one matches not.
asked_label() {
    gpus '8000 0' '8000 0'
    experiment 'maxTrialNumber: 2' 'trialConcurrency: 2' 'trialGpuNumber: 1' \
        'trialLabels: fast' 'deviceLabels: {"1": fast}' << 'E'
: > "$HERE/runs"
until [ -e "$HERE/asked" ]; do sleep 0.02; done
tunepipe trial report --final 1
E
    (
        meanwhile '[ -e runs ]'
        d=$(ls -d tunepipe-experiments/*)
        meanwhile '"$T" why "$d" 1 > why 2> no'
        : > asked
    ) &
    run 0 && wait && count 2 succeeded &&
        has why "GPU 0 has no label that matches 'fast'; GPU 1 has 1 trial"
}
check "tunepipe why tells which label a device lacks" asked_label

# What one waits for is told while it waits.
asked() {
    gpus "8000 0" "8000 100 $$"
    experiment 'maxTrialNumber: 3' 'trialConcurrency: 2' \
        'trialIdleTimeout: 7d' 'maxTrialDuration: 9d' \
        'trialGpuNumber: 1' << 'E'
: > "$HERE/runs"
until [ -e "$HERE/asked" ]; do sleep 0.02; done
tunepipe trial report --final 1
E
    (
        meanwhile '[ -e runs ]'
        d=$(ls -d tunepipe-experiments/*)
        meanwhile '"$T" why "$d" 1 > why 2> no'
        "$T" why --json "$d" 00000 > why.json 2>&1
        "$T" why "$d" 7 > why.none 2>&1
        echo $? >> why.none
        : > asked
    ) &
    run 0 && wait && count 3 succeeded && has why 'trial 00001 is waiting: GPU 0 has 1 trial' &&
        has why 'GPU 0 has 1 trial (maxTrialNumberPerGpu); GPU 1 busy with pid' &&
        has why.json '"status": "running", "waits": "it waits for nothing; trialIdleTimeout ends it in 604' &&
        has why.json '; maxTrialDuration ends it in 777' &&
        has why.none 'trial 00007: there is none' && [ "$(tail -n 1 why.none)" = 1 ]
}
check "tunepipe why tells what a trial waits for" asked

device_memory() {
    gpus '8000 0'
    experiment 'maxTrialNumber: 4' 'trialConcurrency: 4' 'trialGpuNumber: 1' \
        'maxTrialNumberPerGpu: 4' 'trialGpuMemory: 4000m' \
        'memoryHeadroom: 10%' << 'E'
mkdir "$HERE/lock" || exit 4
tunepipe trial report --final 1
rmdir "$HERE/lock"
E
    run 0 && count 4 succeeded
}
check "two that do not fit on a device together come one after the other" \
    device_memory

# impossible TEXT LINE...: refused before anything starts.
impossible() {
    text=$1
    shift
    experiment "$@" < /dev/null
    run 3 && has err "$text" && [ ! -e tunepipe-experiments ] || return 1
    [ "$(wc -l < err)" = 1 ] || fail "more than a line"
}
too_many() {
    gpus '8000 0' '8000 0'
    impossible 'trialGpuNumber: 3, but there are 2 GPUs' 'trialGpuNumber: 3'
}
check "more devices than there are" too_many
no_index() {
    gpus '8000 0' '8000 0'
    impossible 'gpuIndices: 1,5, but there are 2 GPUs' 'trialGpuNumber: 1' \
        'gpuIndices: [1, 5]'
}
check "a device that there is not" no_index
too_large() {
    gpus '8000 0' '4000 0'
    impossible 'trialGpuMemory: 6.8 GiB on 1 GPU, but 0 have so much' \
        'trialGpuNumber: 1' 'trialGpuMemory: 7000m'
}
check "more device memory than there is" too_large
none_visible() {
    gpus '8000 0' '8000 0'
    export CUDA_VISIBLE_DEVICES=1
    impossible 'trialGpuNumber: 2, but of 2 GPUs 1 may be used' \
        'trialGpuNumber: 2'
}
check "more devices than the manager may use" none_visible
no_library() {
    export TUNEPIPE_NVML="$PWD/none.so"
    impossible 'trialGpuNumber: 1, but GPUs cannot be looked at' \
        'trialGpuNumber: 1'
}
check "no library to look at devices with" no_library
open_library() {
    mkdir open && cp "$TP_BUILD/tests/preload/nvml.so" open/ &&
        chmod 777 open && export TUNEPIPE_NVML="$PWD/open/nvml.so"
    gpus '8000 0'
    impossible 'anyone may write to it' 'trialGpuNumber: 1'
}
check "a library that anyone may replace" open_library

no_label() {
    gpus '8000 0 # Old' '8000 0 # Old'
    impossible "trialLabels: 'h100*' matches no label of a GPU" \
        'trialGpuNumber: 1' "trialLabels: ['h100*']" \
        'machineLabels: here' 'deviceLabels: {"1": fast}' 'maxTrialNumber: 1' &&
        has err "GPU 0: 'Old'; GPU 1: 'fast', 'Old'; this machine: 'here', '" &&
        run 0 --dry-run && has err "it would not start: trialLabels: 'h100*'"
}
check "a label that nothing has" no_label
too_few() {
    gpus '8000 0' '8000 0'
    impossible "match too few GPUs for trialGpuNumber" 'trialGpuNumber: 2' \
        'trialLabels: fast' 'deviceLabels: {"1": fast}'
}
check "a label that too few devices have" too_few
no_such_device() {
    gpus '8000 0' '8000 0'
    impossible 'deviceLabels: 2, but there are 2 GPUs' 'trialGpuNumber: 1' \
        'deviceLabels: {"2": fast}'
}
check "labels of a device that there is not" no_such_device

# The manager dies while a trial has the one device; the next one counts it.
resumed() {
    gpus '8000 0'
    experiment 'maxTrialNumber: 3' 'trialConcurrency: 2' \
        'trialGpuNumber: 1' << 'E'
mkdir "$HERE/lock" || exit 4
if [ "$TUNEPIPE_TRIAL_ID" = 00000 ]; then
    : > "$HERE/holds"
    until [ -e "$HERE/resumed" ]; do sleep 0.02; done
fi
tunepipe trial report --final 1
rmdir "$HERE/lock"
E
    (
        meanwhile '[ -e holds ]'
        manager=$(cat pid)
        rm pid
        kill -KILL "$manager"
        meanwhile 'grep -qs adopted out err'
        : > resumed
    ) &
    run 137
    resume 0 || return 1
    wait
    count 3 succeeded && has out '1 adopted' && has "$dir/trials/00000/resources" 'devices 0'
}
check "devices of adopted trials stay taken" resumed

finish
