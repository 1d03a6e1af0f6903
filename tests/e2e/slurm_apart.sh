#!/bin/sh
# SPDX-License-Identifier: MIT
# Trials on nodes of a real Slurm that see nothing of the experiment's folder, of
# the code, or of our programs: each node has an empty one in its place.
# not under tsan
. "$(dirname "$0")/lib.sh"
. "$TP_SOURCE/scripts/slurm-cluster.sh"

if why=$(slurm_lacks); then
    echo "skipped slurm: $why"
    exit
fi
unshare -m true 2>&- ||
    { echo "skipped slurm: no mounts of a process's own here"; exit; }
cd "$work" && PATH=$PATH:/usr/sbin:/sbin || exit 1
all=$work
work=$all/hidden SIDE=$all/side HOME=$all/home
export SIDE HOME
mkdir "$work" "$SIDE" "$HOME"
trap 'work=$all; slurm_end; clean' EXIT

slurm_node() { # NAME
    mkdir -p "$cluster/spool/$1"
    unshare -m sh -c "for at in '$work' '$TP_BUILD' '$TP_SOURCE/src'; do
        mount -t tmpfs none \"\$at\" || exit; done; slurmd -N $1" \
        > "$cluster/log/said" 2>&1
}
slurm_begin 3 'SlurmdTimeout=5' || { echo "FAILED slurm comes up"; exit 1; }

# apart LINE... < TRIAL: e.yml.
apart() {
    keys=$1
    shift
    experiment "trainingService: {platform: slurm, mode: pilots, sharedFolder: false, pollInterval: 0.2s, reportInterval: 0.1s$keys}" "$@"
}
is_over() {
    for _ in $(seq 3000); do
        [ -n "$(squeue -h)" ] || break
        sleep 0.02
    done
    [ -z "$(squeue -h)" ] || fail "in the queue: $(squeue)" || return
    [ -z "$(ls "$dir/jobs" 2>&-)" ] || fail "kept: $(find "$dir/jobs")"
}
values() { sed -n 's/.*"value": \([0-9.]*\),.*/\1/p' "$dir/results.jsonl" | sort | tr '\n' ' '; }

trials() {
    apart '' 'trialConcurrency: 3' 'maxTrialNumber: 7' << 'E'
[ ! -e "$HERE/trial.sh" ] && [ ! -e "$(dirname "$0")/tunepipe-experiments" ] || exit 9
[ -e command.log ] && [ ! -e lib/old ] && [ ! -e lib/data ] && [ -e lib/kept ] || exit 7
case $PWD in "$HERE"*) exit 8 ;; esac
. lib/more.sh
mkdir "$TUNEPIPE_TRIAL_DIR/out" && cd "$TUNEPIPE_TRIAL_DIR" || exit
head -c 700000 /dev/urandom > out/model
ln -s model out/newest
cksum < out/model > out/sum
chmod +x out/sum
printf 'some\0bytes\n\n' > "out/a name"
echo "hello $TUNEPIPE_PARAM_x"
tunepipe trial report 1
tunepipe trial report --final "$(value)"
E
    mkdir -p lib/old lib/data && touch command.log lib/old/command.log lib/data/x lib/kept
    echo /lib/data/ > .nniignore
    echo 'value() { echo "1$TUNEPIPE_TRIAL_ID"; }' > lib/more.sh
    run 0 && is_over || return 1
    [ "$(values)" = "100000.0 100001.0 100002.0 100003.0 100004.0 100005.0 100006.0 " ] ||
        fail "$(cat "$dir/results.jsonl")" || return 1
    for t in "$dir"/trials/*; do
        [ "$(cksum < "$t/out/model")" = "$(cat "$t/out/sum")" ] &&
            [ "$(readlink "$t/out/newest")" = model ] && [ -x "$t/out/sum" ] &&
            printf 'some\0bytes\n\n' | cmp - "$t/out/a name" &&
            grep -q '^hello 0' "$t/stdout" && [ -e "$t/exit" ] &&
            [ ! -e "$t/wrapper.pid" ] ||
            fail "$t: $(find "$t")" || return 1
    done
    "$T" why "$dir" 00003 > why && has why ' on n' && replays
}
check "trials" trials

# The same code is copied once to each node; other code is another one.
again() {
    apart ', trialCodeDirectory: code' 'maxTrialNumber: 1' < /dev/null
    sed -i 's/^trialCommand:.*/trialCommand: sh once.sh/' e.yml
    mkdir code && echo 'tunepipe trial report --final 1' > code/once.sh
    for copies in 1 1 2; do
        [ $copies = 1 ] || echo ': other' >> code/once.sh
        run 0 && is_over || return 1
        [ "$(find "$HOME" -name once.sh | wc -l)" = $copies ] ||
            fail "$(find "$HOME" -name once.sh)" || return 1
    done
}
check "code is copied once" again

# An interrupted trial goes on from what it saved, elsewhere.
checkpoints() {
    apart '' 'maxTrialNumber: 1' << 'E'
cd "$TUNEPIPE_TRIAL_DIR" || exit
at=0
[ -z "$TUNEPIPE_RESTORE_DIR" ] || at=$(cat "$TUNEPIPE_RESTORE_DIR/at")
case $at in 4) exec tunepipe trial report --final "$(cat "$TUNEPIPE_RESTORE_DIR/at")$TUNEPIPE_STEP" ;; esac
for _ in 1 2; do
    at=$((at + 1))
    echo $at > at
    tunepipe trial report --checkpoint at $at
done
echo $at >> "$SIDE/saved"
until [ -e "$SIDE/go$at" ]; do sleep 0.05; done
kill "$(cut -d ' ' -f 4 "/proc/$PPID/stat")"
exec sleep 1000
E
    (meanwhile 'ls tunepipe-experiments/*/checkpoints/00000/2' && echo > "$SIDE/go2" &&
        meanwhile 'ls tunepipe-experiments/*/checkpoints/00000/4' && echo > "$SIDE/go4") > said 2>&1 &
    run 0 && is_over && has "$dir/results.jsonl" '"value": 44' &&
        [ "$(cat "$SIDE/saved" | tr '\n' ' ')" = "2 4 " ]
}
check "checkpoints" checkpoints

# What a trial reports and prints is seen while it runs, and answered.
live() {
    apart '' 'maxTrialNumber: 1' 'assessor: {name: threshold, classArgs: {upper: 5}}' << 'E'
echo printed
for i in 1 2 3 9; do tunepipe trial report --sync $i || exit 0; done
touch "$SIDE/not-stopped"
E
    run 1 && is_over && [ ! -e "$SIDE/not-stopped" ] &&
        has "$dir/trials/00000/stdout" printed && has out 'stopped at 9'
}
check "reports that wait" live

# A manager that is killed finds the trials again, and what they reported.
killed() {
    apart ', agentTimeout: 60s' 'maxTrialNumber: 4' 'trialConcurrency: 2' << 'E'
tunepipe trial report 1
echo x >> "$SIDE/begun"
until [ -e "$SIDE/resumed" ]; do sleep 0.05; done
tunepipe trial report 2
tunepipe trial report --final 3
E
    (meanwhile '[ "$(grep -c "^intermediate" tunepipe-experiments/*/trials/*/metrics | wc -l)" = 2 ] &&
        [ "$(cat "$SIDE/begun" | wc -l)" = 2 ]' && kill -KILL "$(cat pid)") > said 2>&1 &
    run 137
    (meanwhile 'grep -q resumed out' && echo > "$SIDE/resumed") > said 2>&1 &
    resume 0 && is_over && [ "$(values)" = "3.0 3.0 3.0 3.0 " ] &&
        [ "$(wc -l < "$SIDE/begun")" = 4 ] &&
        [ "$(cat "$dir"/trials/*/metrics | grep -c intermediate)" = 8 ]
}
check "a manager is killed" killed

# Two phases, wherever they are: what the first writes the second finds.
prepare() {
    apart '' 'maxTrialNumber: 3' 'trialConcurrency: 3' \
        'prepareCommand: echo $TUNEPIPE_TRIAL_ID > $TUNEPIPE_TRIAL_DIR/prepared; echo made' << 'E'
tunepipe trial report --final "1$(cat "$TUNEPIPE_TRIAL_DIR/prepared")"
E
    run 0 && is_over && [ "$(values)" = "100000.0 100001.0 100002.0 " ] &&
        has "$dir/trials/00001/prepare/stdout" made
}
check "a preparation" prepare

# In lock step the table is that of trials here.
lockstep() {
    apart '' 'maxTrialNumber: 6' 'trialConcurrency: 3' << 'E'
for i in 1 2 3; do tunepipe trial report $i; done
tunepipe trial report --final "$TUNEPIPE_PARAM_x"
E
    run 0 --deterministic && is_over && cp "$dir/results.jsonl" there &&
        sed -i 's/^trainingService.*/trainingService: {platform: local}/' e.yml &&
        run 0 --deterministic &&
        cut -d, -f 1-4 there > a && cut -d, -f 1-4 "$dir/results.jsonl" | cmp - a
}
check "lock step" lockstep

# An agent's node dies: its trials begin again elsewhere.
node_dies() {
    apart ', agentTimeout: 3s' 'maxTrialNumber: 3' 'trialConcurrency: 3' << 'E'
tunepipe trial report 1
mkdir "$SIDE/first" 2>&- || exec tunepipe trial report --final 2
agent=$(cut -d ' ' -f 4 "/proc/$PPID/stat")
kill -KILL "$agent"
exec sleep 1000
E
    run 0 && is_over && [ "$(values)" = "2.0 2.0 2.0 " ]
}
check "an agent is killed" node_dies

# Bad input.
refused() {
    apart '' 'maxTrialNumber: 1' << 'E'
tunepipe trial report --final 1
E
    sed -i 's/mode: pilots, //' e.yml && run 3 &&
        has err 'sharedFolder: false needs mode: pilots' || return 1
    apart ', partition: nowhere' 'maxTrialNumber: 1' << 'E'
tunepipe trial report --final 1
E
    run 3 && has err 'invalid partition'
}
check "what is refused" refused
finish
