#!/bin/sh
# SPDX-License-Identifier: MIT
# Trials as jobs of a real Slurm, with four nodes on this machine: run, queued,
# stopped, cut off, adopted; what it refuses.  pilots.sh does the same with
# trials on agents.
# not under tsan
. "$(dirname "$0")/lib.sh"
. "$TP_SOURCE/scripts/slurm-cluster.sh"

if why=$(slurm_lacks); then
    echo "skipped slurm: $why"
    exit
fi
cd "$work" && PATH=$PATH:/usr/sbin:/sbin || exit 1
trap 'slurm_end; clean' EXIT
mode=${mode:-jobs}
# Where trials are these.
in_jobs() { [ $mode != jobs ] || "$@"; }
in_pilots() { [ $mode != pilots ] || "$@"; }
slurm_begin 4 'MaxArraySize=4' \
    PreemptType=preempt/partition_prio PreemptMode=CANCEL \
    'PartitionName=high Nodes=ALL PriorityTier=9 State=UP' ||
    { echo "FAILED slurm comes up"; exit 1; }

# For trials: which process is their slurmstepd, or their wrapper; other clusters
# on this machine have jobs of the same numbers.
cat > stepd << 'E'
wrapper=$(tr '\0' '\n' < "$TUNEPIPE_TRIAL_DIR/wrapper.pid" | sed 's/ .*//; q')
[ -n "$1" ] && echo "$wrapper" || cut -d ' ' -f 4 "/proc/$wrapper/stat"
E
export STEPD="$PWD/stepd"

# slurm LINE... < TRIAL: e.yml of trials as jobs, which are asked about often.
slurm() {
    keys=$1
    shift
    experiment "trainingService: {platform: slurm, pollInterval: 0.2s, reportInterval: 0.1s, mode: $mode$keys}" "$@"
}
# Nothing of this experiment is queued or runs, once Slurm has seen the ends, nor
# is anything kept of jobs.
is_over() {
    for _ in $(seq 3000); do
        left=$(in_queue)
        [ -n "$left" ] || break
        sleep 0.02
    done
    [ -z "$left" ] || fail "in the queue: $left" || return
    [ -z "$(ls "$dir/jobs")" ] || fail "kept: $(ls "$dir/jobs")"
}
# ended_by PATTERN FILE: why a job has ended its state tells, or the words that its
# node had for it, where these are known before; its agent, that it was told to.
ended_by() {
    agents=
    [ $mode = jobs ] || agents='\|its agent was told to end'
    grep -q "$1$agents" "$2" || fail "$(cat "$2")"
}
# in_queue [STATE]: this folder's jobs that are in it.
in_queue() { squeue -h -r -o '%o|%i|%T|%r' | grep "^$PWD/.*${1:-}"; }

# ---- what waits longest is first ----

# Jobs come to their time limits, which Slurm looks at every half a minute.
time_limit() {
    slurm ', extra: [--nodelist=n1]' 'maxTrialNumber: 1' << 'E'
cd "$TUNEPIPE_TRIAL_DIR" || exit
[ -z "$TUNEPIPE_RESTORE_DIR" ] ||
    exec tunepipe trial report --final "$(cat "$TUNEPIPE_RESTORE_DIR/at")"
echo 5 > at
tunepipe trial report --checkpoint at 1
until scontrol update "JobId=$SLURM_JOB_ID" EndTime=now; do sleep 0.02; done
exec sleep 1000
E
    run 0 && is_over && has out 'trial 00000 interrupted: job' &&
        has "$dir/results.jsonl" '"value": 5.0' || return 1
    [ $mode = pilots ] || grep -q ': TIMEOUT TimeLimit\|TO TIME LIMIT' out
}
beside "a time limit" time_limit
longest=$beside beside=

# No time to save, nor for the wrapper to tell.
killed() {
    slurm '' 'maxTrialNumber: 1' << 'E'
[ ! -e "$HERE/begun" ] || exec tunepipe trial report --final 1
echo > "$HERE/begun"
scancel --signal=KILL --batch "$SLURM_JOB_ID"
exec sleep 1000
E
    run 0 && is_over && has out '; started again'
}
beside "a job is killed" killed

# A whole pilot stands still, and what it had begins elsewhere once its job has
# ended: a frozen trial does nothing any more.
frozen() {
    slurm ', agentTimeout: 3s' 'maxTrialNumber: 1' << 'E'
echo x >> "$HERE/begun"
[ "$(wc -l < "$HERE/begun")" = 1 ] || exec tunepipe trial report --final 1
echo $$ > "$HERE/frozen"
kill -STOP $(pgrep -f "^[^ ]*tunepipe agent --folder=$TUNEPIPE_EXPERIMENT_DIR")
exec sleep 1000
E
    run 0 && is_over && has err 'agent 0: it does not answer' &&
        has out 'trial 00000 interrupted: ' && ! kill -0 "$(cat frozen)" 2>&-
}
in_pilots beside "an agent is frozen" frozen

# No agent comes up: it is said, and with what Slurm says.
no_agent() {
    printf '%s\n' '#!/bin/sh' 'echo "no licence here" >&2; exit 3' '{command}' > job.sh
    slurm ', script: job.sh' 'maxTrialNumber: 1' 'placeTimeout: 2s' << 'E'
E
    run 1 && has err 'no licence here' &&
        has "$dir/jobs/pilots/0/stderr" 'no licence here' &&
        has "$dir/results.jsonl" 'no licence here'
}
in_pilots beside "an agent does not come up" no_agent

# Nobody comes: trials end, and the job with them.
abandoned() {
    slurm ', agentTimeout: 3s' 'maxTrialNumber: 1' << 'E'
echo x >> "$HERE/begun"
[ "$(wc -l < "$HERE/begun")" = 1 ] || exec tunepipe trial report --final 1
kill -KILL "$(cat "$HERE/pid")"
exec sleep 1000
E
    run 137
    until [ -e "$dir/trials/00000/exit" ] && [ -z "$(in_queue RUNNING)" ]; do
        sleep 0.05
    done
    resume 0 && is_over && [ "$(wc -l < begun)" = 2 ]
}
in_pilots beside "no manager comes" abandoned

# ---- trials as jobs, or on agents ----

jobs() {
    slurm ', partition: main, cpusPerTask: 1' 'trialConcurrency: 3' \
        'maxTrialNumber: 7' << 'E'
echo "$SLURM_JOB_ID $SLURM_JOB_PARTITION $SLURM_CPUS_PER_TASK" > \
    "$TUNEPIPE_TRIAL_DIR/where"
tunepipe trial report 1
tunepipe trial report --final "1$TUNEPIPE_TRIAL_ID"
E
    run 0 && is_over || return 1
    [ "$(jq_values)" = "100000 100001 100002 100003 100004 100005 100006 " ] ||
        fail "$(cat "$dir/results.jsonl")" || return 1
    grep -q '^[0-9]* main 1$' "$dir/trials/00003/where" && replays || return 1
    "$T" trial ls "$dir" > ls && "$T" why "$dir" 00003 > why &&
        grep -q '^00003 .* job [0-9_]* on n[1-4] (queued [0-9.]* s)' ls &&
        grep -q 'succeeded after .* as job [0-9_]*.*, queued [0-9.]* s' why ||
        fail "$(cat ls why)" || return
    "$T" report --json "$dir" > report && grep -q '"places":\["job [0-9_]* on n' report &&
        grep -q '"queued":\[[0-9.]*,' report || fail "$(grep -o '"place.*' report)"
}
jq_values() {
    sed -n 's/.*"value": \([0-9]*\)\.0,.*/\1/p' "$dir/results.jsonl" |
        sort | tr '\n' ' '
}
beside "jobs" jobs

# What stands in shells between quotes reaches the trial as it is.
quotes() {
    slurm '' 'maxTrialNumber: 1' \
        "searchSpace: {t: {_type: choice, _value: [\"it's \$(x) \\\\ \\\"\\\\n\\\"\\r\\n\"]}}" << 'E'
printf '%s' "$TUNEPIPE_PARAM_t" > "$TUNEPIPE_TRIAL_DIR/text"
tunepipe trial report --final 1
E
    A="it's \$HOME \\ " run 0 || return 1
    printf 'it'\''s $(x) \\ "\\n"\r\n' | cmp - "$dir/trials/00000/text" ||
        fail "$(cat "$dir/trials/00000/text")"
}
beside "parameters in quotes" quotes

# Slurm here takes no arrays of more than four: fewer are submitted together.
# One of those that are alone might have all trials before the others come up.
arrays() {
    slurm '' 'trialConcurrency: 9' 'maxTrialNumber: 9' << 'E'
echo "$SLURM_ARRAY_JOB_ID" >> "$HERE/arrays"
until grep -q . "$HERE/arrays" || [ "$(wc -l < "$HERE/arrays")" = 9 ]; do
    sleep 0.02
done
tunepipe trial report --final 1
E
    run 0 && is_over && has err 'Invalid job array specification' || return 1
    grep -q . arrays || fail "no arrays at all"
}
beside "arrays" arrays

# What scancel cannot do for want of a controller it does later.
cancelled_late() {
    mkdir path && cat > path/scancel << 'E'
#!/bin/sh
[ ! -e failed ] || PATH=${PATH#*:} exec scancel "$@"
echo "scancel: error: Unable to contact slurm controller" | tee failed >&2
exit 1
E
    chmod +x path/scancel
    slurm '' 'maxTrialNumber: 1' 'maxTrialDuration: 0.1s' << 'E'
exec sleep 1000
E
    PATH=$PWD/path:$PATH run 1 && is_over && [ -e failed ] &&
        terminated "$dir/trials/00000"
}
in_jobs beside "a trial is stopped late" cancelled_late

# The assessor's word, and the user's, reach a node by Slurm.
stopped() {
    slurm '' 'trialConcurrency: 2' 'maxTrialNumber: 4' \
        "assessor: {plugin: $PLUGINS/stops_at.so, classArgs: {step: 1}}" << 'E'
tunepipe trial report 1
tunepipe trial report 2
tunepipe trial report 3
exec sleep 1000
E
    run 1 && is_over || return 1
    [ "$(grep -c '"status": "stopped"' "$dir/results.jsonl")" = 4 ] ||
        fail "$(cat "$dir/results.jsonl")"
}
beside "a trial is stopped" stopped

# An answer reaches the trial that waits for it, through its wrapper.
answered() {
    slurm '' 'maxTrialNumber: 2' \
        "assessor: {plugin: $PLUGINS/stops_at.so, classArgs: {step: 2}}" << 'E'
for i in 1 2 3 4; do
    tunepipe trial report --sync $i || { echo "$? at $i"; break; }
done > "$TUNEPIPE_TRIAL_DIR/how"
E
    run 1 && is_over || return 1
    [ "$(cat "$dir"/trials/*/how | uniq)" = "7 at 2" ] ||
        fail "$(cat "$dir"/trials/*/how)"
}
beside "an answer" answered

# In lock step the table is the one that this machine alone has.
lockstep() {
    assessor='assessor: {name: medianstop, classArgs: {optimize_mode: minimize}}'
    slurm '' 'maxTrialNumber: 9' 'trialConcurrency: 3' 'deterministic: true' \
        "$assessor" << 'E'
for i in 1 2 3; do tunepipe trial report "$i${TUNEPIPE_PARAM_x#0}"; done
tunepipe trial report --final "$TUNEPIPE_PARAM_x"
E
    run 0 && is_over && table > there || return 1
    rm -r tunepipe-experiments
    sed -i /trainingService/d e.yml
    run 0 && table > here && diff here there
}
table() {
    "$T" show --json "$dir" | sed 's/"\(duration_s\|place\|queued_s\)": [^,]*, //g; s/}, {/},\n{/g' |
        sed 's/^.*"trials": \[//; s/\].*//'
}
beside "lock step" lockstep

# Whoever cancels a job interrupts its trial, which goes on from its checkpoint.
cancelled() {
    slurm '' 'maxTrialNumber: 1' << 'E'
cd "$TUNEPIPE_TRIAL_DIR" || exit
if [ -n "$TUNEPIPE_RESTORE_DIR" ]; then
    tunepipe trial report --final "$(cat "$TUNEPIPE_RESTORE_DIR/at")"
    exit
fi
echo 42 > at
tunepipe trial report --checkpoint at 1
scancel "$SLURM_JOB_ID"
exec sleep 1000
E
    run 0 && is_over || return 1
    ended_by ' CANCELLED' out && has out '; started again' &&
        has "$dir/results.jsonl" '"status": "succeeded", "value": 42.0' &&
        has "$dir/results.jsonl" '"attempt": 1'
}
beside "a job is cancelled" cancelled

# Word of a time limit that is near: the trial has the time to save.
soon() {
    slurm '' 'maxTrialNumber: 1' << 'E'
cd "$TUNEPIPE_TRIAL_DIR" || exit
if [ -n "$TUNEPIPE_RESTORE_DIR" ]; then
    tunepipe trial report --final "$(cat "$TUNEPIPE_RESTORE_DIR/at")"
    exit
fi
trap 'echo 43 > at; tunepipe trial report --checkpoint at 1; exit' TERM
scancel --signal=USR1 --batch "$SLURM_JOB_ID"
while :; do sleep 0.1; done
E
    run 0 && is_over &&
        has "$dir/results.jsonl" '"status": "succeeded", "value": 43.0'
}
beside "word of a time limit" soon

# So is one whose preparation was.
prepared() {
    slurm '' 'maxTrialNumber: 1' 'prepareCommand: sh ./prepare.sh' << 'E'
tunepipe trial report --final 5
E
    cat > prepare.sh << 'E'
echo x >> "$HERE/begun"
[ "$(wc -l < "$HERE/begun")" = 1 ] || exit 0
scancel "$SLURM_JOB_ID"
exec sleep 1000
E
    run 0 && is_over && ended_by ' CANCELLED' out && has out '; started again' &&
        has "$dir/results.jsonl" '"value": 5.0'
}
beside "a preparation is cancelled" prepared

often() {
    slurm ', interruptionRetry: 2' 'maxTrialNumber: 1' << 'E'
scancel "$SLURM_JOB_ID"
exec sleep 1000
E
    run 1 && is_over || return 1
    [ "$(grep -c 'interrupted: .*again' out)" = 2 ] || fail "$(cat out)" ||
        return 1
    has "$dir/results.jsonl" '"status": "lost"' &&
        ended_by 'CANCELLED' "$dir/results.jsonl"
}
beside "interrupted too often" often

# An administrator has it begin again; only another attempt does.
requeued() {
    slurm ', extra: [--requeue]' 'maxTrialNumber: 1' << 'E'
echo x >> "$HERE/begun"
[ "$(wc -l < "$HERE/begun")" = 1 ] || exec tunepipe trial report --final 7
scontrol requeue "$SLURM_JOB_ID"
exec sleep 1000
E
    run 0 && is_over && has out 'trial 00000 interrupted: job' &&
        has "$dir/results.jsonl" '"value": 7.0'
}
beside "a job is put back into the queue" requeued

# The same, and begun again, between two looks, of one that could not tell.
unseen_requeue() {
    slurm ', extra: [--requeue]' 'maxTrialNumber: 1' << 'E'
[ ! -e "$HERE/id" ] || exec tunepipe trial report --final 7
# The trial ends with its wrapper.
setsid sh -c 'kill -KILL "$1" "$2"; echo "$SLURM_JOB_ID" > "$HERE/id"' - \
    "$(sh "$STEPD")" "$(sh "$STEPD" wrapper)" &
exec sleep 1000
E
    # No look sees its end, nor the requeue.
    mkdir path && cat > path/squeue << E
#!/bin/sh
$(command -v squeue) "\$@" | sed 's/|\(PENDING\|FAILED\)|/|RUNNING|/'
E
    chmod +x path/squeue
    # Begun again soon, not in two minutes, which the requeue's end may undo; nor
    # at once, as its node would take it for one that it has been told to end.
    (meanwhile '[ -s id ] && scontrol requeue "$(cat id)"' &&
        soon=$(date -d '3 seconds' +%FT%T) &&
        meanwhile 'scontrol update "JobId=$(cat id)" "StartTime=$soon"
            grep -q "started again" out') > said 2>&1 &
    PATH=$PWD/path:$PATH run 0 && is_over &&
        has out ': COMPLETED: put back into the queue; started again' &&
        has "$dir/results.jsonl" '"value": 7.0'
}
in_jobs beside "a job that was put back unseen" unseen_requeue

# The manager is killed while one trial runs and others are queued, all of them:
# its jobs go on, and the next manager takes them up.
adopted() {
    slurm ', extra: [--exclusive]' 'trialConcurrency: 6' 'maxTrialNumber: 6' << 'E'
echo x >> "$HERE/begun.$TUNEPIPE_TRIAL_ID"
if mkdir "$HERE/killed" 2>&-; then
    until [ "$(squeue -h -r -o %o | grep -c "^$HERE/")" = 6 ]; do sleep 0.02; done
    kill -KILL "$(cat "$HERE/pid")"
fi
until [ -e "$HERE/go" ]; do sleep 0.05; done
tunepipe trial report --final 1
E
    run 137
    in_queue PENDING > /dev/null || fail "nothing is queued: $(squeue)" || return 1
    echo > go
    resume 0 && is_over || return 1
    has out ' adopted, 0 started again' || return 1
    [ "$(cat begun.* | wc -l)" = 6 ] || fail "$(wc -l begun.*)"
}
beside "a manager is killed" adopted

# Between sbatch and the note of what it said: the job is found, and not another
# one of its name.
unnoted() {
    slurm '' 'maxTrialNumber: 1' << 'E'
echo x >> "$HERE/begun"
rm -f "$TUNEPIPE_EXPERIMENT_DIR"/jobs/*.id
sbatch -J "$(squeue -h -j "$SLURM_JOB_ID" -o %j)" -o /dev/null --wrap=true
kill -KILL "$(cat "$HERE/pid")"
until grep -q resumed "$HERE/out"; do sleep 0.05; done
tunepipe trial report --final 1
E
    run 137
    resume 0 && is_over && has out '1 adopted, 0 started again' &&
        [ "$(wc -l < begun)" = 1 ]
}
beside "a job nobody noted" unnoted

# Its sbatch lives on, and submits when the next manager has come: such a job
# begins nothing, and leaves nothing.
submitted_late() {
    slurm '' 'maxTrialNumber: 2' 'trialConcurrency: 2' << 'E'
echo x >> "$HERE/begun"
until [ -e "$HERE/submitted" ]; do sleep 0.02; done
tunepipe trial report --final 1
E
    mkdir bin && cat > bin/sbatch << E
#!/bin/sh
case \$* in *--test-only*) false ;; *) mkdir once 2>&- ;; esac ||
    exec $(command -v sbatch) "\$@"
kill -KILL "\$(cat pid)"
until grep -q resumed out; do sleep 0.02; done
$(command -v sbatch) "\$@"
echo > submitted
E
    chmod +x bin/sbatch
    PATH=$PWD/bin:$PATH run 137
    resume 0 && is_over && [ "$(wc -l < begun)" = 2 ]
}
beside "a job that is submitted late" submitted_late

# Ctrl-C, a log-out, a reboot of the login node: the jobs go on.
left() {
    slurm '' 'maxTrialNumber: 2' 'trialConcurrency: 2' << 'E'
echo x >> "$HERE/begun"
until [ -e "$HERE/go" ]; do sleep 0.05; done
tunepipe trial report --final 1
E
    (meanwhile '[ "$(cat begun 2>&- | wc -l)" = 2 ]' && kill -TERM "$(cat pid)") &
    run 143
    [ "$(in_queue RUNNING | wc -l)" = 2 ] || fail "$(squeue)" || return 1
    echo > go
    resume 0 && is_over && [ "$(wc -l < begun)" = 2 ]
}
beside "a manager is told to stop" left

# Who tells an experiment to stop means its jobs, too.
told_to_stop() {
    slurm '' 'maxTrialNumber: 2' 'trialConcurrency: 2' << 'E'
echo x >> "$HERE/begun"
exec sleep 1000
E
    (meanwhile '[ "$(cat begun 2>&- | wc -l)" = 2 ]' &&
        "$T" stop tunepipe-experiments/*) > said 2>&1 &
    run 1 && is_over
}
beside "an experiment is told to stop" told_to_stop

# fails NAME WHEN: a program NAME that does what the one of this name does, and
# then says that it did not, when the shell's WHEN says so.
fails() {
    mkdir -p bin
    cat > "bin/$1" << E
#!/bin/sh
$(command -v "$1") "\$@" || exit
$2 || exit 0
echo "$1: error: Socket timed out on send/recv operation" >&2
exit 1
E
    chmod +x "bin/$1"
}

# The answer to sbatch comes too late: its job is in the queue.
late() {
    slurm '' 'maxTrialNumber: 4' 'trialConcurrency: 2' << 'E'
echo x >> "$HERE/begun"
tunepipe trial report --final 1
E
    fails sbatch 'case $* in *--test-only*) false ;; esac'
    PATH=$PWD/bin:$PATH run 0 && is_over || return 1
    [ "$(wc -l < begun)" = 4 ] || fail "$(cat begun)"
}
beside "an answer that comes too late" late

# scancel does not reach the controller at first.
unreached() {
    slurm '' 'maxTrialNumber: 1' \
        "assessor: {plugin: $PLUGINS/stops_at.so, classArgs: {step: 1}}" << 'E'
tunepipe trial report 1
exec sleep 1000
E
    fails scancel 'mkdir once 2>&-'
    sed -i "s:^[^#].*scancel \"\$@\".*:[ -d once ] || set -- --state=SUSPENDED;&:" bin/scancel
    PATH=$PWD/bin:$PATH run 1 && is_over && [ -d once ]
}
in_jobs beside "Slurm does not answer to a stop" unreached

# The whole experiment is a batch job: submitted, told to stop in time, submitted
# again.
batched() {
    experiment 'trainingService: {platform: local}' 'maxTrialNumber: 1' << 'E'
cd "$TUNEPIPE_TRIAL_DIR" || exit
if [ -n "$TUNEPIPE_RESTORE_DIR" ]; then
    tunepipe trial report --final "$(cat "$TUNEPIPE_RESTORE_DIR/at")"
    exit
fi
trap 'echo 44 > at; tunepipe trial report --checkpoint at 1; exit' TERM
echo > "$HERE/begun"
while :; do sleep 0.1; done
E
    export HERE="$PWD"
    "$T" run e.yml --batch --batch-option=--partition=nosuch > out 2> err
    [ $? = 3 ] && has err 'run: error: sbatch: error: invalid partition' &&
        [ -z "$(ls tunepipe-experiments)" ] || return 1
    "$T" run e.yml --batch --batch-option=--time=5 --dry-run > out 2> err &&
        has out '#SBATCH --cpus-per-task=1' && has out '#SBATCH --time=5' &&
        [ -z "$(ls tunepipe-experiments)" ] || return 1
    "$T" run e.yml --batch --batch-option=--hold > out 2> err || return
    dir=$(echo tunepipe-experiments/*)
    job=$(cat "$dir/batch.id")
    has out "tunepipe resume --batch $PWD/$dir" &&
        "$T" status "$dir" > said && has said "queued: batch job $job has not begun" &&
        scontrol release "$job" || return
    until [ -e begun ]; do sleep 0.02; done
    scancel --batch --signal=TERM "$job"
    in_batch && has "$dir/batch.out" 'interrupted' || return
    sed -i /--hold/d "$dir/batch.sh"
    "$T" resume "$dir" --batch --batch-option=--comment=again > out 2> err &&
        job=$(cat "$dir/batch.id") && in_batch || return
    has "$dir/batch.sh" '#SBATCH --comment=again' &&
        has "$dir/results.jsonl" '"status": "succeeded", "value": 44.0' &&
        "$T" resume "$dir" --batch > out 2> err && has out 'nothing is left to do'
}
# Waits until $job is over.
in_batch() {
    while squeue -h -j "$job" -t PENDING,RUNNING,COMPLETING -o %i | grep -q .; do
        sleep 0.02
    done
}
in_jobs beside "a batch job of the whole experiment" batched

script() {
    printf '%s\n' '#!/bin/bash' '#SBATCH --comment=ours' 'export MODULE=loaded' \
        "PATH=\"$PWD/more:\$PATH\"" '{command}' > job.sh
    slurm ', script: job.sh' 'maxTrialNumber: 1' << 'E'
squeue -h -j "$SLURM_JOB_ID" -o %k > "$TUNEPIPE_TRIAL_DIR/comment"
case $MODULE:$PATH in
loaded:*/more:*) tunepipe trial report --final 1 ;;
esac
E
    run 0 && is_over && has "$dir/trials/00000/comment" ours || return 1
    echo '#!/bin/sh' > job.sh
    run 3 && has err 'job.sh: expected a line that is {command}'
}
beside "the user's script" script

# says TEXT: an sbatch that refuses everything so.
says() {
    mkdir -p bin && printf '#!/bin/sh\necho "%s" >&2\nexit 1\n' "$1" > bin/sbatch &&
        chmod +x bin/sbatch
}

# One sentence, before the first trial.
refused() {
    slurm ', partition: nosuch' 'maxTrialNumber: 1' << 'E'
E
    run 3 && has err 'trainingService: Slurm would not take its jobs: sbatch: error: invalid partition specified: nosuch' ||
        return 1
    slurm ', constraint: fast' 'maxTrialNumber: 1' << 'E'
E
    run 3 && has err 'would not take its jobs: allocation failure: Invalid feature' &&
        has err "(constraint: expected features that sinfo -o '%n %f' lists)" || return 1
    slurm '' 'maxTrialNumber: 1' 'trialLabels: fast' << 'E'
E
    run 3 && has err "trialLabels: is not supported by trainingService.platform 'slurm'" ||
        return 1
    # Recorded, as these take a database: slurm_accounts.sh.
    slurm ', account: nosuch' 'maxTrialNumber: 1' << 'E'
E
    says 'allocation failure: Invalid account or account/partition combination specified'
    PATH=$PWD/bin:$PATH run 3 &&
        has err 'combination specified (account: expected one that sacctmgr show' || return 1
    says 'allocation failure: Invalid qos specification'
    PATH=$PWD/bin:$PATH run 3 &&
        has err 'Invalid qos specification (qos: expected one that sacctmgr show' &&
        [ -z "$(ls tunepipe-experiments)" ] || return 1
    mkdir path && ln -s /usr/bin/* path && rm path/sbatch
    slurm '' 'maxTrialNumber: 1' << 'E'
E
    PATH=$PWD/path run 3 && has err 'sbatch is not found along PATH' &&
        [ -z "$(ls tunepipe-experiments)" ]
}
beside "what Slurm refuses" refused

# ---- trials on agents ----

# Three at a time on each of two agents, which have one after the other.
together() {
    slurm ', pilots: 2, trialsPerPilot: 3' 'trialConcurrency: 6' \
        'maxTrialNumber: 12' << 'E'
echo "$SLURM_JOB_ID $SLURM_CPUS_PER_TASK" >> "$HERE/where"
until [ "$(wc -l < "$HERE/where")" -ge 6 ]; do sleep 0.02; done
tunepipe trial report --final 1
E
    run 0 && is_over || return 1
    [ "$(sort -u where | wc -l)" = 2 ] && [ "$(cut -d' ' -f2 where | uniq)" = 3 ] ||
        fail "$(cat where)"
}
in_pilots beside "some trials on each agent" together

# An agent goes before the end, once the others have room for all that may come;
# for what is added another one does.
released() {
    slurm '' 'trialConcurrency: 2' 'maxTrialNumber: 3' << 'E'
echo > "$HERE/begun.$TUNEPIPE_TRIAL_ID"
until [ -e "$HERE/begun.00000" ] && [ -e "$HERE/begun.00001" ]; do sleep 0.02; done
if [ "$TUNEPIPE_TRIAL_ID" = 00002 ]; then
    until [ "$(squeue -h -o %o | grep -c "^$HERE/")" = 1 ]; do sleep 0.02; done
    tunepipe trial add "$TUNEPIPE_EXPERIMENT_DIR" '{"x": 0.5}'
    until [ -e "$HERE/begun.00003" ]; do sleep 0.02; done
fi
tunepipe trial report --final 1
E
    run 0 && is_over && [ ! -s err ] &&
        [ "$(grep -c succeeded "$dir/results.jsonl")" = 4 ]
}
in_pilots beside "an agent that is not wanted any more" released

# What an agent has, one that comes again learns: ends that nobody took, trials
# that go on.
ended_alone() {
    slurm ', pilots: 1, trialsPerPilot: 2' 'trialConcurrency: 2' 'maxTrialNumber: 3' << 'E'
echo x >> "$HERE/begun.$TUNEPIPE_TRIAL_ID"
[ "$TUNEPIPE_TRIAL_ID" != 00000 ] || { kill -KILL "$(cat "$HERE/pid")"; exec tunepipe trial report --final 1; }
until grep -q resumed "$HERE/out"; do sleep 0.05; done
tunepipe trial report --final 1
E
    run 137
    until [ -e "$dir/trials/00000/exit" ]; do sleep 0.05; done
    resume 0 && is_over && has out '1 adopted' || return 1
    [ "$(cat begun.* | wc -l)" = 3 ] || fail "$(wc -l begun.*)"
}
in_pilots beside "a trial ends without a manager" ended_alone

# The agent is gone, the job goes with it, and with both the trial.
agent_dies() {
    slurm '' 'maxTrialNumber: 1' << 'E'
echo x >> "$HERE/begun"
[ "$(wc -l < "$HERE/begun")" = 1 ] || exec tunepipe trial report --final 1
pkill -KILL -f "^[^ ]*tunepipe agent --folder=$TUNEPIPE_EXPERIMENT_DIR"
exec sleep 1000
E
    run 0 && is_over && has out 'trial 00000 interrupted: ' &&
        terminated "$dir/trials/00000"
}
in_pilots beside "an agent is killed" agent_dies

# What leads to an agent is lost, and comes again: nothing is heard twice.
reconnected() {
    slurm '' 'maxTrialNumber: 1' 'direction: minimize' << 'E'
for i in 1 2 3 4; do
    tunepipe trial report "$i"
    [ "$i" != 2 ] || pkill -KILL -x -P "$(cat "$HERE/pid")" srun
done
until grep -q '"PERIODICAL".*"sequence": 3' "$TUNEPIPE_EXPERIMENT_DIR"/command.log; do sleep 0.05; done
tunepipe trial report --final 1
E
    run 0 && is_over && replays &&
        has "$dir/results.jsonl" '"attempt": 0, "intermediates": 4'
}
in_pilots beside "a channel is lost" reconnected

# What is there speaks another version of the channel: another agent comes.
other_version() {
    slurm '' 'maxTrialNumber: 1' << 'E'
tunepipe trial report --final 1
E
    mkdir bin && cat > bin/srun << E
#!/bin/sh
mkdir once 2>&- || exec $(command -v srun) "\$@"
printf 'Welcome\ntunepipe-agent 2\n'
exec sleep 1000
E
    chmod +x bin/srun
    PATH=$PWD/bin:$PATH run 0 && is_over &&
        has err 'agent 0: it speaks version 2, this tunepipe version 1: its job is ended'
}
in_pilots beside "an agent of another version" other_version

# In an allocation: agents on all its nodes, no job of their own.
allocation() {
    slurm '' 'trialConcurrency: 8' 'maxTrialNumber: 8' << 'E'
echo "$SLURM_JOB_ID $SLURMD_NODENAME" >> "$HERE/where"
until [ "$(wc -l < "$HERE/where")" -ge 8 ]; do sleep 0.02; done
tunepipe trial report --final 1
E
    export HERE="$PWD"
    salloc -Q -N 2 --exclusive "$T" run e.yml > out 2> err ||
        fail "$(cat out err)" || return 1
    dir=$(echo tunepipe-experiments/*)
    is_over && [ "$(cut -d' ' -f1 where | sort -u | wc -l)" = 1 ] &&
        [ "$(sort -u where | wc -l)" = 2 ] || fail "$(cat where)"
}
in_pilots beside "an allocation" allocation

# The whole experiment is one job of as many nodes as its trials take, which are
# more where others have some of their processors.
batch_of_nodes() {
    slurm '' 'trialConcurrency: 6' 'maxTrialNumber: 6' << 'E'
echo "$SLURM_JOB_ID $SLURMD_NODENAME" >> "$HERE/where"
until [ "$(wc -l < "$HERE/where")" -ge 6 ]; do sleep 0.02; done
tunepipe trial report --final 1
E
    export HERE="$PWD"
    "$T" run e.yml --batch > out 2> err || fail "$(cat out err)" || return 1
    dir=$(echo tunepipe-experiments/*)
    job=$(cat "$dir/batch.id") && in_batch && is_over || return 1
    [ "$(sort -u where | wc -l)" -gt 1 ] &&
        [ "$(cut -d' ' -f1 where | sort -u)" = "$job" ] &&
        has "$dir/batch.out" '6 ended: 6 succeeded' || fail "$(cat where)"
}
in_pilots beside "a batch job of some nodes" batch_of_nodes

# ---- what takes all nodes, or does something to some ----

await_all

# No node takes jobs for now.  They are drained, as one that is down comes back
# when it says something the next time.
down() {
    slurm '' 'maxTrialNumber: 1' << 'E'
tunepipe trial report --final 1
E
    scontrol update NodeName=ALL State=DRAIN Reason=test || return
    (meanwhile 'in_queue PENDING'; scontrol update NodeName=ALL State=RESUME) > said 2>&1 &
    run 0 && is_over && has err 'no node takes such jobs now'
}
check "no node takes jobs now" down

# A job of a partition that comes first takes its node.
preempted() {
    slurm ', partition: main, cpusPerTask: 4' 'maxTrialNumber: 1' << 'E'
cd "$TUNEPIPE_TRIAL_DIR" || exit
[ -z "$TUNEPIPE_RESTORE_DIR" ] ||
    exec tunepipe trial report --final "$(cat "$TUNEPIPE_RESTORE_DIR/at")"
echo 6 > at
tunepipe trial report --checkpoint at 1
sbatch -p high -c 4 -w "$SLURMD_NODENAME" -o /dev/null --wrap=true
exec sleep 1000
E
    run 0 && is_over && ended_by ': PREEMPTED\|TO PREEMPTION' out &&
        has "$dir/results.jsonl" '"status": "succeeded", "value": 6.0'
}
check "a job is preempted" preempted

# slurmd and slurmstepd of one trial die, which Slurm is told.  What was saved and
# told counts, and what such a copy saves later does not.
node_dies() {
    slurm ', extra: [--exclusive], cpusPerTask: 4' 'maxTrialNumber: 1' << 'E'
cd "$TUNEPIPE_TRIAL_DIR" || exit
[ -z "$TUNEPIPE_RESTORE_DIR" ] ||
    exec tunepipe trial report --final "$(cat "$TUNEPIPE_RESTORE_DIR/at")"
echo 8 > at
tunepipe trial report --checkpoint at 1
until [ -e "$TUNEPIPE_CHECKPOINT_DIR/../steps.1" ]; do sleep 0.02; done
mkdir "$TUNEPIPE_CHECKPOINT_DIR/../2" && echo 9 > "$TUNEPIPE_CHECKPOINT_DIR/../2/at"
echo "$SLURMD_NODENAME" > "$HERE/node"
kill -KILL "$(cat "$CLUSTER/run/$SLURMD_NODENAME.pid")" "$(sh "$STEPD")"
scontrol update "NodeName=$SLURMD_NODENAME" State=DOWN Reason=test
exec sleep 1000
E
    CLUSTER=$cluster run 0 || return 1
    slurm_node "$(cat node)"
    is_over && has out 'trial 00000 interrupted: job' &&
        has "$dir/results.jsonl" '"value": 8.0'
}
check "a node dies" node_dies

# Trials fail on one node, and nowhere else: it is left out, jobs that are queued
# included, until it is taken back.
left_out() {
    slurm ', extra: [--exclusive]' 'trialConcurrency: 4' 'maxTrialNumber: 8' << 'E'
if [ "$SLURMD_NODENAME" = n3 ]; then
    until grep -q succeeded "$TUNEPIPE_EXPERIMENT_DIR/results.jsonl"; do sleep 0.02; done
    [ -e "$HERE/mended" ] || exit 1
    echo > "$HERE/on_n3"
elif ! mkdir "$HERE/first" 2>&-; then
    until [ -e "$HERE/on_n3" ]; do sleep 0.02; done
fi
tunepipe trial report --final 1
E
    (meanwhile 'grep -q "left out: n3" err' &&
        meanwhile 'squeue -h -t PENDING -o %i | grep -q .' &&
        "$T" status tunepipe-experiments/* && echo > mended &&
        cat tunepipe-experiments/*/machines.json &&
        ! "$T" machine retry n33 tunepipe-experiments/* &&
        "$T" machine retry n3 tunepipe-experiments/*) > said 2>&1 &
    run 0 && is_over || return 1
    [ "$(grep -c '"status": "failed"' "$dir/results.jsonl")" = 3 ] ||
        fail "$(cat "$dir/results.jsonl")" || return 1
    has err 'left out: n3 (3 failures in a row); tunepipe machine retry n3' &&
        has out 'taken back: n3' &&
        has said 'left out    n3 (3 failures in a row); tunepipe machine retry' &&
        has said '{"machine": "n3", "why": "3 failures in a row"}' &&
        has said "machine 'n33' is not left out (did you mean 'n3'?)"
}
in_jobs check "a node on which trials fail" left_out

# A node where the experiment's folder is not mounted.
blind() {
    kill "$(cat "$cluster/run/n2.pid")"
    unshare -m sh -c "mount -t tmpfs none '$PWD' && slurmd -N n2" ||
        { slurm_node n2; echo "no mounts of a process's own here"; return 77; }
    slurm ', extra: [--exclusive], cpusPerTask: 4' 'trialConcurrency: 4' 'maxTrialNumber: 4' << 'E'
until grep -q 'left out' "$HERE/err"; do sleep 0.02; done
tunepipe trial report --final 1
E
    run 0
    status=$?
    kill "$(cat "$cluster/run/n2.pid")"
    slurm_node n2
    [ $status = 0 ] && is_over || return 1
    has err "node n2 does not see $PWD/$dir, or cannot write there: expected a file system" &&
        has err "left out: n2 (does not see $PWD/$dir); tunepipe machine retry n2" &&
        [ "$(grep -c succeeded "$dir/results.jsonl")" = 4 ] &&
        [ -z "$(find "$dir/trials" -maxdepth 1 -name '*.*')" ]
}
check "a node that does not see the folder" blind

# Trials fail on one agent's node, and nowhere else: it has no more of them, and
# its job ends.
bad_agent() {
    slurm ', extra: [--exclusive], cpusPerTask: 4' 'trialConcurrency: 4' 'maxTrialNumber: 30' << 'E'
if [ "$SLURMD_NODENAME" = n3 ]; then
    until grep -q succeeded "$TUNEPIPE_EXPERIMENT_DIR/results.jsonl"; do sleep 0.02; done
    exit 1
elif [ "$TUNEPIPE_TRIAL_ID" -gt 25 ]; then
    until [ -z "$(squeue -h -t RUNNING -w n3)" ]; do sleep 0.02; done
fi
tunepipe trial report --final 1
E
    run 0 && is_over && has err 'left out: n3 (3 failures in a row)' || return 1
    [ "$(grep -c succeeded "$dir/results.jsonl")" -ge 26 ] ||
        fail "$(cat "$dir/results.jsonl")"
}
in_pilots check "an agent on which trials fail" bad_agent

beside="$beside $longest"
await_all

# Its controller is down for a while: nothing is lost, and it is said once.
controller() {
    slurm '' 'maxTrialNumber: 3' << 'E'
echo > "$HERE/began.$TUNEPIPE_TRIAL_ID"
until [ "$TUNEPIPE_TRIAL_ID" != 00001 ] || [ -e "$HERE/down" ]; do sleep 0.02; done
tunepipe trial report --final 1
E
    (meanwhile '[ -e began.00001 ]' && slurm_controller_ends && echo > down &&
        meanwhile 'grep -q Unable err' && slurm_controller) > said 2>&1 &
    # So long its commands wait for it.
    (cat "$SLURM_CONF" && echo MessageTimeout=1) > slurm.conf
    SLURM_CONF=$PWD/slurm.conf run 0 && is_over || return 1
    has err 'Unable to contact slurm controller' &&
        [ "$(wc -l < "$dir/results.jsonl")" = 3 ]
}
in_jobs check "its controller restarts" controller
finish
