#!/bin/sh
# SPDX-License-Identifier: MIT
# tunepipe -m nni, started as NNI's managers start their dispatcher: argument,
# environment, descriptors 3 and 4, files.
set -u
: "${TP_BUILD:?is not set: run the tests with make check}"
: "${TP_SOURCE:?is not set: run the tests with make check}"
. "$TP_SOURCE/tests/e2e/lib.sh"
unset NNI_TUNER_COMMAND_CHANNEL NNI_CHECKPOINT_DIRECTORY NNI_LOG_DIRECTORY \
    NNI_LOG_LEVEL NNI_MODE NNI_INCLUDE_INTERMEDIATE_RESULTS \
    TUNEPIPE_PLUGIN_PATH
space='{"x":{"_type":"choice","_value":["only"]}}'

b64() { printf %s "$1" | base64 | tr -d '\n'; }
frame() { printf '%s%014d%s' "$1" ${#2} "$2"; }
frame6() { printf '%s%06d%s' "$1" ${#2} "$2"; }
trial() { printf '{"parameter_id": %d, "parameter_source": "algorithm", "parameters": {"x": "only"}, "parameter_index": 0}' "$1"; }

# nni STATUS CONFIGURATION [WORD...]: `in` is descriptor 3, `answers` 4.
nni() {
    want=$1 params=$(b64 "$2")
    shift 2
    [ -e in ] || { frame IN "$space"; frame GE 1; } > in
    "$T" -m nni --exp_params "$params" "$@" 3< in 4> answers > out 2> err
    got=$?
    [ $got = "$want" ] || fail "status $got, expected $want: $(cat err)"
}

# answered: with one trial, as the frames of `in` ask for.
answered() {
    { frame ID ''; frame TR "$(trial 0)"; } | cmp - answers
}

# A manager of NNI 2.7: node has a socket for each descriptor and reads both.
# What makes it say ERROR is that one is reset, which it is where something was
# not read; at a quiet end of file it waits for ever.
cat > "$work/reset.py" <<'EOF'
import os, socket, subprocess, sys, time
# early: IN is there before the dispatcher; late: it comes when that has failed;
# ping: so do PIs, behind what is given.
when, params = sys.argv[1:3]
frames = b''.join(('%s%014d%s' % (a[:2], len(a) - 2, a[2:])).encode()
                  for a in sys.argv[3:])
to, to_child = socket.socketpair()
answers, answers_child = socket.socketpair()
def descriptors():
    high = [os.dup2(s.fileno(), 20 + i)
            for i, s in enumerate((to_child, answers_child))]
    for i, fd in enumerate(high):
        os.dup2(fd, 3 + i)
        os.close(fd)
if when != 'late':
    to.sendall(frames)
p = subprocess.Popen(
    ['sh', '-c', '"$0" -m nni --exp_params "$1"; exit $?', os.environ['T'],
     params],
    preexec_fn=descriptors, close_fds=False, stderr=open('err', 'w'),
    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
to_child.close()
answers_child.close()
def failed():
    return ': error: ' in open('err').read()
while when != 'early' and not failed():
    if p.poll() is not None and not failed():
        sys.exit('it ended without a word')
    time.sleep(0.01)
def ping(): # as that manager does, again and again; what fails recv() tells
    try:
        to.sendall(b'PI' + b'0' * 14)
    except BrokenPipeError:
        pass
def heard():
    while True:
        try:
            return to.recv(1)
        except socket.timeout:
            ping()
try:
    if when == 'late':
        to.sendall(frames)
    if when == 'ping':
        ping()
        to.settimeout(0.1)
    got = 'an end of file' if heard() == b'' else 'an answer'
except BrokenPipeError:
    got = 'an end of file before IN was sent'
except ConnectionResetError:
    got = 'a reset'
status = p.wait()
if got != 'a reset' or status == 0:
    sys.exit('%s: %s, status %d: %s' % (when, got, status, open('err').read()))
EOF
told() { # WHEN CONFIGURATION FRAME...
    command -v python3 > /dev/null || { echo "no python3"; return 77; }
    when=$1 params=$(b64 "$2")
    shift 2
    T="$T" python3 "$work/reset.py" "$when" "$params" "$@"
}

both_spellings() {
    random='{"tuner":{"name":"Random"}}'
    nni 0 "$random" --other words -x && answered || return
    "$T" -m nni "--exp_params=$(b64 "$random")" 3< in 4> answers || return
    answered || return
    "$T" nni "--exp_params=$(b64 "$random")" 3< in 4> answers || return
    answered
}

# Both schemas, and what stands in them beside tuner and assessor.
v2='{"experimentType":"hpo","searchSpaceFile":"/x/s.json","trialCommand":
"python model.py","trialCodeDirectory":"/x","trialConcurrency":2,
"maxTrialNumber":50,"maxExperimentDuration":"1h","useAnnotation":false,
"debug":false,"logLevel":"info","experimentWorkingDirectory":"/x","nniManagerIp":
"127.0.0.1","tunerGpuIndices":[0],"tuner":{"name":"TPE","classArgs":
{"optimize_mode":"maximize","seed":7,"tpe_args":{"gamma":0.25}}},"assessor":
{"name":"Medianstop","classArgs":{"optimize_mode":"maximize","start_step":5}},
"trainingService":{"platform":"local"},"deprecated":{"multiThread":false}}'
v1='{"authorName":"x","experimentName":"y","trialConcurrency":1,
"maxExecDuration":3600,"maxTrialNum":10,"trainingServicePlatform":"local",
"multiPhase":false,"multiThread":true,"tuner":{"builtinTunerName":"TPE",
"classArgs":{"optimize_mode":"maximize","seed":7,"tpe_args":{"gamma":0.25}},
"includeIntermediateResults":false,"gpuIndices":"0","checkpointDir":""},
"assessor":{"builtinAssessorName":"Medianstop","classArgs":
{"optimize_mode":"maximize","start_step":5}}}'

# plugins: tuner and assessor with their arguments, of the log's head.
plugins() {
    sed -n 2p "$1" | grep -o '"tuner": {.*' | sed 's/, "filters".*//'
}

schemas() {
    export NNI_CHECKPOINT_DIRECTORY
    NNI_CHECKPOINT_DIRECTORY=$PWD/v2
    nni 0 "$v2" && answered || return
    NNI_CHECKPOINT_DIRECTORY=$PWD/v1
    nni 0 "$v1" && answered || return
    has err "multiThread is ignored" || return
    plugins v1/command.log > a
    plugins v2/command.log | cmp - a || return
    has a '"name": "tpe"' && has a '"gamma": 0.25' && has a '"start_step": 5'
    unset NNI_CHECKPOINT_DIRECTORY
}

# Each of NNI's names, in whatever case: its plugin, or what is nearest.
names() {
    while read -r name plugin; do
        for word in "$name" "$(echo "$name" | tr a-z A-Z)"; do
            rm -rf ck
            NNI_CHECKPOINT_DIRECTORY=ck nni 0 \
                "{\"tuner\":{\"name\":\"$word\",\"classArgs\":null}}" || return
            has ck/command.log "\"tuner\": {\"name\": \"$plugin\"" || return
        done
    done <<EOF
TPE tpe
TPE_legacy tpe
Random random
Anneal anneal
Evolution evolution
Batch batch
BatchTuner batch
GridSearch grid
RegularizedEvolutionTuner regularized_evolution
Hyperband hyperband
BOHB bohb
PBT pbt
PBTTuner pbt
SMAC smac
GP gp
GPTuner gp
Metis gp
MetisTuner gp
DNGO gp
DNGOTuner gp
EOF
    for word in medianstop CURVEFITTING; do
        rm -rf ck
        NNI_CHECKPOINT_DIRECTORY=ck nni 0 '{"tuner":{"name":"Random"},
            "assessor":{"name":"'$word'","classArgs":{"epoch_num":20}}}' ||
            [ $word = medianstop ] || return
    done
    # Before 1.9 a built-in name stood under className, too.
    nni 0 '{"tuner":{"className":"Random"}}' && answered
}

# What NNI documents for tuners that model results: PLUGIN KEY NAME ARGUMENTS.
documented() {
    while read -r plugin key name args; do
        rm -rf ck
        NNI_CHECKPOINT_DIRECTORY=ck nni 0 \
            '{"tuner":{"'"$key"'":"'"$name"'","classArgs":'"$args"'}}' &&
            answered && has ck/command.log \
            "\"tuner\": {\"name\": \"$plugin\"" || return
        [ $plugin = smac ] || has err "NNI's $(echo "${name%Tuner}") is done by gp" ||
            return
    done << 'EOF'
smac builtinTunerName SMAC {"optimize_mode":"maximize"}
smac name SMAC {"optimize_mode":"minimize","config_dedup":true}
gp builtinTunerName GP {"optimize_mode":"maximize"}
gp name GP {"optimize_mode":"maximize","utility":"ei","kappa":5.0,"xi":0.0,"nu":2.5,"alpha":1e-6,"cold_start_num":10,"selection_num_warm_up":100000,"selection_num_starting_points":250}
gp builtinTunerName MetisTuner {"optimize_mode":"maximize"}
gp name Metis {"optimize_mode":"maximize","no_resampling":true,"no_candidates":false,"selection_num_starting_points":600,"cold_start_num":10}
gp builtinTunerName DNGOTuner {"optimize_mode":"maximize"}
gp name DNGO {"sample_size":1000,"trials_per_update":20,"num_epochs_per_training":500}
EOF
}

# line STATUS TEXT: what nni() wrote to stderr is this one line.
line() {
    grep -v 'no command log is kept' err > errors
    [ "$(wc -l < errors)" -eq 1 ] || fail "more than one line: $(cat errors)" ||
        return
    has errors "$1" && [ ! -s answers ]
}

names_that_are_not_there() {
    for word in NetworkMorphism PPO PPOTuner; do
        [ ! -e "$TP_BUILD/plugins/$(echo "${word%Tuner}" | tr A-Z a-z).so" ] ||
            continue
        nni 3 '{"tuner":{"name":"'$word'"}}' &&
            line "tuner '$word' of NNI is not among tunepipe's; the nearest:" ||
            return
    done
    nni 3 '{"tuner":{"name":"TEP"}}' && line "no tuner 'TEP' (did you mean" &&
        nni 3 '{"tuner":{"name":"TPE"},"assessor":{"name":"Medianstopp"}}' &&
        line "no assessor 'Medianstopp' (did you mean 'medianstop'?)" &&
        nni 3 '{"tuner":{"name":"TPE","classArgs":{"optimise_mode":"x"}}}' &&
        line "classArgs.optimise_mode: unknown argument (did you mean"
}

# What a later plugin of that name is called is no business of this one's.
a_plugin_of_that_name_is_used() {
    mkdir mine
    cp "$TP_BUILD/plugins/random.so" mine/metis.so
    export TUNEPIPE_PLUGIN_PATH=$PWD/mine
    for word in Metis MetisTuner METIS; do
        nni 0 '{"tuner":{"name":"'$word'"}}' && answered || return
    done
    unset TUNEPIPE_PLUGIN_PATH
}

# The hyperopt TPE's arguments, in the words of ours.
old_tpe() {
    while read -r given lie; do
        rm -rf ck
        NNI_CHECKPOINT_DIRECTORY=ck nni 0 \
            "{\"tuner\":{\"name\":\"TPE\",\"classArgs\":$given}}" || return
        has ck/command.log "\"constant_liar_type\": $lie" || return
    done <<'EOF'
{"parallel_optimize":true} "best"
{"parallel_optimize":true,"constant_liar_type":"max"} "worst"
{"parallel_optimize":true,"constant_liar_type":"mean","seed":1} "mean"
{"parallel_optimize":false,"constant_liar_type":"max"} null
EOF
    nni 3 '{"tuner":{"name":"TPE","classArgs":{"parallel_optimize":1}}}' &&
        line "classArgs.parallel_optimize: unknown argument"
}

wrong_arguments() {
    nni 3 '{"tuner":' && line "--exp_params: byte 9: expected a value" &&
        nni 3 '[]' && line "--exp_params: expected an experiment's" &&
        nni 3 '{"tuner":null}' && line "--exp_params: tuner: missing" &&
        nni 3 '{"tuner":"TPE"}' && line "tuner: expected an object such as" &&
        nni 3 '{"tuner":{"name":3}}' && line "tuner.name: expected a text" &&
        nni 3 '{"tuner":{}}' && line "tuner: expected a name, as in" &&
        nni 3 '{"tuner":{"name":"TPE","classArgs":[]}}' &&
        line "tuner.classArgs: expected an object, got '[" || return
    for word in abc 'ab*=' =AAA; do
        "$T" -m nni --exp_params "$word" 3< in 4> answers > out 2> err
        [ $? = 3 ] || fail "'$word' passed" || return
        has err "--exp_params: base64" || return
    done
    "$T" -m nni --exp_params 3< in 4> answers > out 2> err
    [ $? = 2 ] || fail "no argument passed" || return
    has err "--exp_params: missing" || return
    "$T" -m nnni > out 2> err
    [ $? = 2 ] && has err "-m: expected nni, got 'nnni'"
}

closed_descriptors() {
    p=$(b64 '{"tuner":{"name":"TPE"}}')
    "$T" -m nni --exp_params "$p" 3<&- 4<&- > out 2> err
    status=$?
    [ $status = 2 ] || fail "status $status" || return
    has err "descriptor 3 is not open: NNI's manager opens 3 and 4" || return
    "$T" -m nni --exp_params "$p" 3< /dev/null 4<&- > out 2> err
    status=$?
    [ $status = 2 ] || fail "status $status" || return
    has err "descriptor 4 is not open" || return
    has dispatcher.log "ERROR (nni.runtime.msg_dispatcher_base/MainThread)"
}

six_digits() {
    { frame6 IN "$space"; frame6 GE 1; } > in
    nni 0 '{"tuner":{"name":"Random"}}' || return
    { frame6 ID ''; frame6 TR "$(trial 0)"; } | cmp - answers
}

# NNI's manager starts a shell, which stays and keeps 3 and 4 open: the end is
# Terminate, and nothing is ever at its end of file.
shell_parent() {
    mkfifo to from
    exec 8<> to 9<> from
    p=$(b64 '{"tuner":{"name":"Random"}}')
    (sh -c '"$0" -m nni --exp_params "$1"; echo $? > status; read -r x <&5' \
        "$T" "$p" 3<&8 4>&9 5<&9 > out 2> err) &
    { frame IN "$space"; frame GE 1; } >&8
    { frame ID ''; frame TR "$(trial 0)"; } > expected
    head -c "$(wc -c < expected)" <&9 | cmp - expected || return
    frame TE '' >&8
    while [ ! -s status ]; do kill -0 $! || fail "the shell ended" || return
    done
    echo >&9
    wait
    exec 8>&- 9>&-
    [ "$(cat status)" = 0 ] || fail "status $(cat status)"
}

# dispatcher.log: NNI's form, appended to, only ours to read.
journal() {
    umask 022
    export NNI_LOG_DIRECTORY=$PWD/deep/log
    nni 0 '{"tuner":{"name":"TPE","classArgs":{"seed":1020725736}}}' || return
    log=deep/log/dispatcher.log
    [ "$(stat -c %a $log)" = 600 ] || fail "mode" || return
    grep -qE '^\[[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\] INFO \(nni\.tuner\.tpe/MainThread\) Using random seed 1020725736$' \
        $log || fail "no seed: $(cat $log)" || return
    base='INFO (nni.runtime.msg_dispatcher_base/MainThread)'
    has $log "$base Dispatcher started" && has $log "$base Dispatcher exiting" &&
        has $log "$base Dispatcher terminiated" || return
    nni 3 '{"tuner":{"name":"TEP"}}' && has $log "] ERROR (" &&
        has $log "no tuner 'TEP'" || return
    [ "$(grep -c 'Dispatcher started' $log)" = 1 ] || fail "$(cat $log)" ||
        return
    # A level leaves out what is below it; one that is unknown is info.
    for level in fatal critical error warning; do
        rm $log
        NNI_LOG_LEVEL=$level nni 3 '{"tuner":{"name":"TEP"}}' || return
        grep -v '] ERROR ' $log && fail "$level" && return
        has $log "no tuner 'TEP'" || return
    done
    NNI_LOG_LEVEL=loud nni 0 '{"tuner":{"name":"TPE"}}' &&
        has $log "Dispatcher started" || return
    # A folder that cannot be made costs the file alone.
    : > file
    NNI_LOG_DIRECTORY=file/log nni 0 '{"tuner":{"name":"TPE"}}' &&
        has err "no dispatcher.log is written: file/log" && answered || return
    unset NNI_LOG_DIRECTORY
    nni 0 '{"tuner":{"name":"Random"}}' && has dispatcher.log 'nni.tuner.random'
}

# reports VALUE...: one trial that reports these, and is then stopped early.
stopped_trial() {
    frame IN "$space"
    frame GE 1
    i=0
    for value; do
        frame ME "{\"parameter_id\":0,\"trial_job_id\":\"T\",\"type\":\"PERIODICAL\",\"sequence\":$i,\"value\":\"$value\"}"
        i=$((i + 1))
    done
    frame EN '{"trial_job_id":"T","event":"EARLY_STOPPED","hyper_params":"{\"parameter_id\":0,\"parameters\":{\"x\":\"only\"}}"}'
}

intermediate_results() {
    stopped_trial 1 3 2 > in
    while read -r word policy; do
        rm -rf ck
        NNI_CHECKPOINT_DIRECTORY=ck NNI_INCLUDE_INTERMEDIATE_RESULTS=$word \
            nni 0 '{"tuner":{"name":"Random"}}' || return
        has ck/command.log "\"early_stopped\": \"$policy\"" || return
    done <<EOF
true latest
false ignore
undefined ignore
True ignore
EOF
}

# The command log: kept in the checkpoint folder, an earlier one set aside,
# gone on from when the manager says so.
checkpoint() {
    export NNI_CHECKPOINT_DIRECTORY=$PWD/ck NNI_MODE=start
    random='{"tuner":{"name":"Random"}}'
    nni 0 "$random" && cp ck/command.log first || return
    nni 0 "$random" || return
    has err "the log of an earlier experiment is now in earlier-1" || return
    cmp first ck/earlier-1/command.log || return
    nni 0 "$random" && [ -f ck/earlier-2/command.log ] || return
    # GE goes on behind the ids that the log has given out.
    NNI_MODE=resume nni 0 "$random" || return
    has err "resumed: 2 commands on record" || return
    [ ! -e ck/earlier-3 ] || fail "it was set aside" || return
    lacks err "and not" || return
    has answers ID00000000000000 && has answers '"parameter_id": 1,' || return
    "$T" replay --verify ck > replay.out 2>&1 || fail "$(cat replay.out)" ||
        return
    NNI_MODE=resume nni 0 '{"tuner":{"name":"Anneal"}}' &&
        has err "the log's tuner random goes on, and not Anneal" || return
    # One that was killed before anything was on record: a new session.
    truncate -s 40 ck/command.log && rm -f ck/command.[0-9]* &&
        NNI_MODE=resume nni 0 '{"tuner":{"name":"Anneal"}}' && answered ||
        return
    has err 'anything: a new session begins' && [ ! -e ck/earlier-3 ] || return
    rm -r ck
    NNI_MODE=resume nni 0 "$random" && answered || return
    has ck/command.log tunepipe-log || return
    : > bad
    NNI_CHECKPOINT_DIRECTORY=bad nni 5 "$random" || return
    unset NNI_CHECKPOINT_DIRECTORY NNI_MODE
    nni 0 "$random" && has err "no command log is kept" && [ ! -e command.log ]
}

# A broken frame: a line, and no status 0.
broken_frame() {
    printf 'IN0000000000000x' > in
    nni 4 '{"tuner":{"name":"Random"}}' && has err "byte 15 of the stream" &&
        has dispatcher.log "byte 15 of the stream"
}

# A plugin that crashes: named, and its command is passed over when it goes on.
crash() {
    export NNI_CHECKPOINT_DIRECTORY=ck TUNEPIPE_PLUGIN_PATH="$PLUGINS"
    words='{"tuner":{"name":"crashes","classArgs":{"id":1}}}'
    { frame IN "$space"; frame GE 1; frame GE 1; } > in
    nni 139 "$words" || return
    line='the dispatcher was ended by SIGSEGV; the tuner crashes was at command 3'
    has err "tunepipe nni: error: $line" && has dispatcher.log "$line" &&
        has ck/command.crash 't:3' || return
    { frame IN "$space"; frame FD '[]'; frame GE 1; } > in
    NNI_MODE=resume nni 0 "$words" && [ ! -e ck/command.crash ] &&
        [ "$(tr -cd TR < answers | wc -c)" -ge 2 ]
}

gone() { # or nobody has asked for its status yet
    ! state=$(cut -d ' ' -f 3 "/proc/$1/stat" 2> /dev/null) || [ "$state" = Z ]
}

# Whoever ends the process that the manager started ends the dispatcher.
parent_killed() {
    mkfifo hold
    "$T" -m nni --exp_params "$(b64 '{"tuner":{"name":"Random"}}')" 3<> hold \
        4> answers 2> err &
    parent=$!
    frame IN "$space" > hold
    until [ -s answers ]; do kill -0 $parent || return 1; done
    child=$(cat /proc/$parent/task/$parent/children)
    [ -n "$child" ] && kill -9 $parent
    until gone $child; do :; done
}

# Each signal that stops it is told by its own name, also where nohup runs the
# tests.
signals() {
    mkfifo open
    exec 7<> open
    for signal in HUP INT TERM; do
        rm -f dispatcher.log answers
        env --default-signal=HUP "$T" -m nni \
            --exp_params "$(b64 '{"tuner":{"name":"Random"}}')" \
            3<&7 4> answers > out 2> err &
        frame IN "$space" >&7
        until [ -s answers ]; do kill -0 $! || fail "ended" || return; done
        kill -$signal $!
        wait $!
        has dispatcher.log "stopped by SIG$signal" || return
    done
    exec 7>&-
}

# What the configuration alone tells is refused before IN has come; a plugin is
# made behind its header; what a program says of itself comes later still, and
# then there are pings, one every five seconds.
told_of_wrong_configurations() {
    export TUNEPIPE_PLUGIN_PATH="$PLUGINS"
    while read -r when words; do
        told "$when" "$words" "IN$space" || return
    done <<'EOF'
early {"tuner":{"name":"TPE","classArgs":{"optimise_mode":"maximize"}}}
early {"tuner":{"name":"TPE","classArgs":{"optimize_mode":"maximise"}}}
early {"tuner":{"name":"create_fails"}}
early {"tuner":{"className":"nowhere.Missing","codeDirectory":"/nowhere"}}
early {"tuner":{"name":"TEP"}}
ping {"advisor":{"className":"my.Advisor","codeDirectory":"."}}
late {"tuner":{"className":"nowhere.Missing","codeDirectory":"/nowhere"}}
late {"tuner":"TPE"}
late {"tuner":
EOF
    unset TUNEPIPE_PLUGIN_PATH
}

told_of_a_refused_space() {
    told ping '{"tuner":{"name":"TPE"}}' 'IN{"x":{"_type":"uniform","_value":[1,0]}}' GE1
}

told_of_a_crash() {
    TUNEPIPE_PLUGIN_PATH="$PLUGINS" told ping \
        '{"tuner":{"name":"crashes","classArgs":{"id":0}}}' "IN$space" GE1
}

check "both spellings of the argument, and other words" both_spellings
check "both schemas of the configuration" schemas
check "NNI's names, in whatever case" names
check "documented configurations of tuners that model results" documented
check "names that tunepipe has not: the nearest" names_that_are_not_there
check "a plugin of such a name is used" a_plugin_of_that_name_is_used
check "the arguments of NNI's older TPE" old_tpe
check "arguments that are wrong cost one line" wrong_arguments
check "descriptors 3 and 4 that are not open" closed_descriptors
check "frames of six digits" six_digits
check "a shell that keeps the descriptors" shell_parent
check "dispatcher.log" journal
check "includeIntermediateResults" intermediate_results
check "the checkpoint folder" checkpoint
check "a broken frame is no status 0" broken_frame
check "a plugin that crashes" crash
check "killing the first of the two processes ends both" parent_killed
check "a stop is told by its signal" signals
check "NNI 2.7 is told of a wrong configuration" told_of_wrong_configurations
check "NNI 2.7 is told of a search space that is refused" told_of_a_refused_space
check "NNI 2.7 is told of a crash" told_of_a_crash
finish
