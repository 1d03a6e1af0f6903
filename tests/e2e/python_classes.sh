#!/bin/sh
# SPDX-License-Identifier: MIT
# Tuners and assessors that are Python classes written for NNI, behind the real
# binary and an interpreter, whose package nni is tests/data/nni-package.
. "$TP_SOURCE/tests/e2e/lib.sh"
CLASSES=$TP_SOURCE/tests/data/nni-classes
PYTHONPATH=$TP_SOURCE/tests/data/nni-package
PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE
unset TUNEPIPE_PYTHON

# needs_python: to be called first.
needs_python() {
    command -v python3 > /dev/null || {
        echo "no python3"
        exit 77
    }
}

# class SIDE NAME [ARGS]: a line of an experiment.
class() {
    echo "$1: {className: $2, codeDirectory: $CLASSES, classArgs: {$3}}"
}

# frame CODE PAYLOAD
frame() { printf '%s%014d%s' "$1" ${#2} "$2"; }

# wire < LINES: plays them.
wire() { cat > script.wire && "$TP_BUILD/tests/tools/wire" script.wire; }

# same FILE TEXT
same() { [ "$(cat "$1")" = "$2" ] || fail "$1: $(cat "$1")"; }

# NNI's end-to-end naive test; trials ask whether they are to stop.
naive() {
    needs_python
    experiment 'maxTrialNumber: 10' "$(class tuner naive.NaiveTuner)" \
        "$(class assessor naive.NaiveAssessor)" <<'T'
x=$(tunepipe trial param x)
power=1
for i in 1 2 3 4 5 6 7 8 9; do
    power=$((power * x))
    tunepipe trial report --sync $power || exit 0
done
tunepipe trial report --final $((power * x))
T
    run 0 && count 6 stopped && count 4 succeeded && replays || return 1
    same kills '1 1
2 7
3 2
5 3
7 2
8 3' || return 1
    grep '^4 \|^6 \|^9 \|^10 ' finals > whole
    same whole '4 1048576
6 60466176
9 3486784401
10 10000000000' || return 1
    has "$dir/dispatcher.log" 'the search space is'
}

# The same frames that NNI's manager sends, and no extensions.
naive_over_the_wire() {
    needs_python
    experiment "$(class tuner naive.NaiveTuner)" \
        "$(class assessor naive.NaiveAssessor)" < /dev/null
    wire <<'E' || return 1
run dispatch --config e.yml --dir log
> IN {}
< ID
> GE 2
< TR {"parameter_id": 0, "parameter_source": "algorithm", "parameters": {"x": 1}, "parameter_index": 0}
< TR {"parameter_id": 1, "parameter_source": "algorithm", "parameters": {"x": 2}, "parameter_index": 0}
> ME {"parameter_id": 0, "trial_job_id": "A", "type": "PERIODICAL", "sequence": 0, "value": "1"}
< KI "A"
> ME {"parameter_id": 0, "trial_job_id": "A", "type": "PERIODICAL", "sequence": 1, "value": "1"}
> EN {"trial_job_id":"A","event":"EARLY_STOPPED","hyper_params":"{\"parameter_id\": 0}"}
> ME {"parameter_id": 1, "trial_job_id": "B", "type": "FINAL", "sequence": 0, "value": "1024"}
> EN {"trial_job_id":"B","event":"SUCCEEDED","hyper_params":"{\"parameter_id\": 1}"}
> GE 1
< TR {"parameter_id": 2, "parameter_source": "algorithm", "parameters": {"x": 3}, "parameter_index": 0}
> TE
exit 0
E
    same finals '1 1.0
2 1024'
}

# NNI's test_msg_dispatcher, with the IN that it leaves out.
# A class made for NNI is told of types that it knows.
types_beyond_nni() {
    needs_python
    experiment "$(class tuner naive.NaiveTuner)" < /dev/null
    wire <<'E' || return 1
run dispatch --config e.yml --dir log
> IN {"a": {"_type": "qrandint", "_value": [8, 128, 8]}, "b": {"_type": "qrandint", "_value": [1, 6, 2]}, "n": {"_type": "choice", "_value": [{"_name": "x", "c": {"_type": "lograndint", "_value": [2, 9]}}]}, "r": {"_type": "randint", "_value": [0, 9]}}
< ID
says the search space is {'a': {'_type': 'quniform', '_value': [8, 120, 8]}, 'b': {'_type': 'choice', '_value': [1, 3, 5]}, 'n': {'_type': 'choice', '_value': [{'_name': 'x', 'c': {'_type': 'qloguniform', '_value': [2, 8, 1]}}]}, 'r': {'_type': 'randint', '_value': [0, 9]}}
> TE
exit 0
E
}

msg_dispatcher() {
    needs_python
    experiment "$(class tuner cases.Recorder)" < /dev/null
    wire <<'E'
run dispatch --config e.yml
> IN {"name":"IN0"}
< ID
> GE 2
< TR {"parameter_id": 0, "parameter_source": "algorithm", "parameters": {"param": 2, "trial_results": [], "search_space": {"name": "IN0"}}, "parameter_index": 0}
< TR {"parameter_id": 1, "parameter_source": "algorithm", "parameters": {"param": 4, *
> ME {"parameter_id":0,"trial_job_id":"A","type":"PERIODICAL","sequence":0,"value":"10"}
> ME {"parameter_id":1,"trial_job_id":"B","type":"FINAL","sequence":0,"value":"11"}
> SS {"name":"SS0"}
> GE 1
< TR {"parameter_id": 2, "parameter_source": "algorithm", "parameters": {"param": 6, "trial_results": [[1, 4, 11, false]], "search_space": {"name": "SS0"}}, "parameter_index": 0}
> TE
exit 0
E
}

# NNI's test_assessor; behind it reports that overtake each other.
assessor() {
    needs_python
    experiment "$(class assessor cases.Odd)" < /dev/null
    wire <<'E' || return 1
run dispatch --config e.yml --seed 1
> IN {"x":{"_type":"uniform","_value":[0,1]}}
< ID
> GE 3
< TR {"parameter_id": 0, *
< TR {"parameter_id": 1, *
< TR {"parameter_id": 2, *
> ME {"parameter_id":0,"trial_job_id":"A","type":"PERIODICAL","sequence":0,"value":"2"}
> ME {"parameter_id":1,"trial_job_id":"B","type":"PERIODICAL","sequence":0,"value":"2"}
> ME {"parameter_id":0,"trial_job_id":"A","type":"PERIODICAL","sequence":1,"value":"3"}
< KI "A"
> EN {"trial_job_id":"A","event":"SYS_CANCELED","hyper_params":"{\"parameter_id\": 0}"}
> EN {"trial_job_id":"B","event":"SUCCEEDED","hyper_params":"{\"parameter_id\": 1}"}
> ME {"parameter_id":2,"trial_job_id":"C","type":"PERIODICAL","sequence":0,"value":"2"}
> ME {"parameter_id":2,"trial_job_id":"C","type":"PERIODICAL","sequence":2,"value":"1"}
> ME {"parameter_id":2,"trial_job_id":"C","type":"PERIODICAL","sequence":1,"value":"4"}
< KI "C"
> EN {"trial_job_id":"C","event":"SUCCEEDED","hyper_params":"{\"parameter_id\": 2}"}
eof
exit 0
E
    same notes "assess A [2]
assess B [2]
assess A [2, 3]
end A False
end B True
assess C [2]
assess C [2, 4, 1]
end C False
exit"
}

# mistakes MOOD REASON UNITS LINE: what a class does wrong costs the command,
# and has its line.
mistakes() {
    needs_python
    experiment "$(class tuner cases.Moody "mood: $1")" < /dev/null
    wire <<E || return 1
run dispatch --config e.yml --extensions --dir \$DIR/log
> IN {"x":{"_type":"uniform","_value":[0,1]}}
< ID *
> GE 2
< TR {"parameter_id": 0, *
< TR {"parameter_id": 1, *
> GE 2
$5
< NO {"parameter_id": 2, *"reason": "$2", "units": $3}
> ME {"parameter_id": 0, "trial_job_id": "A", "type": "FINAL", "sequence": 0, "value": "13"}
> EN {"trial_job_id":"A","event":"SUCCEEDED","hyper_params":"{\"parameter_id\": 0}"}
> GE 1
< TR {"parameter_id": 4, *
> TE
exit 0
err $4
err (its ER): tuner cases.Moody: it says: receive_trial_result: RuntimeError: thirteen (cases.py, line
replay
E
    has notes 'end 0 True'
}

suggestion_that_fails() {
    mistakes raise failed 2 \
        '(its ER): tuner cases.Moody: it says: generate_parameters: ValueError: not three (cases.py, line' '#'
}

suggestion_without_a_number() {
    mistakes nan failed 1 \
        '(its ER): tuner cases.Moody: it says: generate_parameters: cannot be told to a trial: ValueError: NaN, which is no JSON' \
        '< TR {"parameter_id": 2, *{"x": 4}*'
}

suggestion_that_is_no_json() {
    mistakes set failed 1 \
        '(its ER): tuner cases.Moody: it says: generate_parameters: cannot be told to a trial: TypeError: a set is no JSON' \
        '< TR {"parameter_id": 2, *{"x": 4}*'
}

# What is owed is served first, and the request behind it waits on.
nothing_for_now() {
    needs_python
    experiment "$(class tuner cases.Moody 'mood: none')" < /dev/null
    wire <<'E'
run dispatch --config e.yml --extensions --dir $DIR/log
> IN {"x":{"_type":"uniform","_value":[0,1]}}
< ID *
> GE 2
< TR {"parameter_id": 0, *
< TR {"parameter_id": 1, *
> GE 2
< NO {"parameter_id": 2, *"reason": "later", "units": 2}
> ME {"parameter_id": 0, "trial_job_id": "A", "type": "FINAL", "sequence": 0, "value": "1"}
> EN {"trial_job_id":"A","event":"SUCCEEDED","hyper_params":"{\"parameter_id\": 0}"}
> GE 1
< TR {"parameter_id": 2, *
< NO {"parameter_id": 4, *"reason": "later", "units": 1}
> EN {"trial_job_id":"B","event":"FAILED","hyper_params":"{\"parameter_id\": 1}"}
> EN {"trial_job_id":"C","event":"FAILED","hyper_params":"{\"parameter_id\": 2}"}
< NO {"parameter_id": 2, *"reason": "exhausted", "units": 1}
< NO {"parameter_id": 4, *"reason": "exhausted", "units": 1}
> TE
exit 0
replay
E
}

# It dies at its third suggestion: the next one is told what it has missed.
class_that_dies() {
    needs_python
    experiment "$(class tuner cases.Moody 'mood: die')" < /dev/null
    wire <<'E' || return 1
run dispatch --config e.yml --extensions --dir $DIR/log
> IN {"x":{"_type":"uniform","_value":[0,1]}}
< ID *
> GE 2
< TR {"parameter_id": 0, *
< TR {"parameter_id": 1, *
> ME {"parameter_id": 0, "trial_job_id": "A", "type": "FINAL", "sequence": 0, "value": "{\"default\": 5}"}
> EN {"trial_job_id":"A","event":"SUCCEEDED","hyper_params":"{\"parameter_id\": 0}"}
> GE 1
< NO {"parameter_id": 2, *"reason": "failed", "units": 1}
> GE 1
< TR {"parameter_id": 3, *
> ME {"parameter_id": 1, "trial_job_id": "B", "type": "FINAL", "sequence": 0, "value": "NaN"}
> EN {"trial_job_id":"B","event":"SUCCEEDED","hyper_params":"{\"parameter_id\": 1}"}
> TE
exit 0
err (its end): tuner cases.Moody: exit status 7
replay
E
    same notes "space ['x']
ask 0
ask 1
result 0 {'x': 1} {'default': 5} A
end 0 True
ask 2
space ['x']
import [{'parameter': {'x': 1}, 'value': {'default': 5}}]
ask 2
import [{'parameter': {'x': 2}, 'value': nan}]"
}

# refused LINE KEY...: an experiment with these keys ends so, before any
# command, or at $in.
refused() {
    line=$1
    shift
    experiment "$@" < /dev/null
    wire <<E
run dispatch --config e.yml --seed 1
${in:-#}
exit 3
err tunepipe dispatch: error: $line
E
}

what_is_no_class() {
    needs_python
    refused "tuner cases.Nobody: className: module 'cases' has no class 'Nobody', but Recorder, " \
        "$(class tuner cases.Nobody)" &&
        refused "tuner nobody.Nobody: className: there is no module 'nobody' in $PWD, " \
            "$(class tuner nobody.Nobody)" &&
        refused 'tuner cases.NoTuner: is no tuner: it has no method generate_parameters' \
            "$(class tuner cases.NoTuner)" &&
        refused 'tuner cases.Odd: is no tuner: ' "$(class tuner cases.Odd)" &&
        refused 'tuner cases.Advisor: is an advisor' \
            "$(class tuner cases.Advisor)" &&
        [ ! -e notes ]
}

what_cannot_be_made() {
    needs_python
    refused 'tuner cases.Moody: making it failed: ValueError: no such mood (cases.py, line' \
        "$(class tuner cases.Moody 'mood: constructor')" &&
        refused 'tuner cases.Moody: making it failed: SystemExit: enough (' \
            "$(class tuner cases.Moody 'mood: exit')" &&
        refused "tuner cases.Moody: making it failed: TypeError: " \
            "$(class tuner cases.Moody 'modd: exit')" &&
        refused 'assessor cases.Odd: making it failed: TypeError: ' \
            "$(class assessor cases.Odd 'x: 1')" || return 1
    printf 'import nowhere\n' > broken.py
    refused 'tuner broken.X: importing broken: ModuleNotFoundError: ' \
        'tuner: {className: broken.X}' || return 1
    in='> IN {"bad":1}'
    refused "tuner cases.Moody: update_search_space: KeyError: 'bad' (" \
        "$(class tuner cases.Moody)"
}

what_is_not_installed() {
    needs_python
    (PYTHONPATH='' && python3 -c 'import nni' 2> /dev/null) ||
        (PYTHONPATH='' && refused \
            'tuner cases.Moody: /*python3* has no package nni, which it needs: install it' \
            "$(class tuner cases.Moody)") || return 1
    refused_by_start PATH=/nowhere \
        'it is a Python class, and there is no python3 in PATH: install' &&
        refused_by_start TUNEPIPE_PYTHON=./python \
            "TUNEPIPE_PYTHON: './python' is no program" &&
        refused_by_start TUNEPIPE_PYTHON=pithon \
            "TUNEPIPE_PYTHON: 'pithon' is no program"
}

# refused_by_start NAME=VALUE LINE: e.yml, before any program is started.
refused_by_start() {
    env "$1" "$T" dispatch --config e.yml < /dev/null > out 2> err
    status=$?
    [ $status = 3 ] || fail "exit status $status" || return 1
    case $(cat err) in
    *"error: tuner cases.Moody: $2"*) ;;
    *) fail "$(cat err)" ;;
    esac
}

# Under `run`, what is wrong is told, too.
experiment_with_a_wrong_class() {
    needs_python
    experiment "$(class tuner cases.Moody 'mood: constructor')" < /dev/null
    run 1
    has err 'making it failed: ValueError: no such mood' || return 1
    experiment 'tuner: {className: cases.Moody, codeDirectory: nowhere}' \
        < /dev/null
    "$T" run e.yml > out 2> err
    has err "codeDirectory: '$PWD/nowhere' is not a folder"
}

# Two suggestions, and two more when the first was heard of; then it is over.
experiment_with_a_population() {
    needs_python
    experiment 'trialConcurrency: 3' "$(class tuner cases.Pair)" <<'T'
tunepipe trial report --final "$(tunepipe trial param x)"
T
    run 0 && count 4 succeeded && replays
}

experiment_with_a_class_of_the_first_versions() {
    needs_python
    experiment 'maxTrialNumber: 3' "$(class tuner cases.First)" <<'T'
tunepipe trial report --final "$(tunepipe trial param x)"
T
    run 0 && count 3 succeeded && replays && has notes "result 1 {'x': 1} 1"
}

assessor_without_an_answer() {
    needs_python
    experiment 'maxTrialNumber: 1' "$(class assessor cases.Silent)" <<'T'
tunepipe trial report --sync 1 && tunepipe trial report --sync 13 &&
    tunepipe trial report --final 2
T
    run 0 && count 1 succeeded || return 1
    has "$dir/dispatcher.log" 'assessor cases.Silent: it says: assess_trial: gave None, expected AssessResult.Good or Bad' &&
        has "$dir/dispatcher.log" 'it says: assess_trial: RuntimeError: thirteen'
}

# The folder of the experiment's file is where classes lie, unless it is told;
# a session goes on with them.
class_beside_the_experiment() {
    needs_python
    mkdir there && cp "$CLASSES"/*.py there && cd there || return 1
    experiment 'maxTrialNumber: 2' 'tuner: {className: naive.NaiveTuner}' <<'T'
tunepipe trial report --final "$(tunepipe trial param x)"
T
    cd .. || return 1
    "$T" run there/e.yml > out 2> err || fail "exit status $?" || return 1
    frame GE 1 |
        "$T" dispatch --grace 1h --resume --dir there/tunepipe-experiments/* > out 2> err
    has out '"parameters": {"x": ' && lacks out '"x": 2}'
}

# As NNI's managers from 2.2 on name them.  What is not suggested at once is
# never owed: those managers ask again.
nni_of_version_2() {
    needs_python
    wire <<'E' || return 1
nni {"tuner":{"className":"cases.Moody","codeDirectory":"$SOURCE/tests/data/nni-classes","classArgs":{"mood":"none"}},"assessor":{"className":"cases.Odd","codeDirectory":"$SOURCE/tests/data/nni-classes","classArgs":null}}
> IN {"x":{"_type":"uniform","_value":[0,1]}}
< ID
> GE 2
< TR {"parameter_id": 0, "parameter_source": "algorithm", "parameters": {"x": 1}, "parameter_index": 0}
< TR {"parameter_id": 1, *
> GE 2
< NO {"parameter_id": 2, "parameter_source": "algorithm", "parameters": "", "parameter_index": 0}
> ME {"parameter_id": 0, "trial_job_id": "A", "type": "PERIODICAL", "sequence": 0, "value": "3"}
< KI "A"
> EN {"trial_job_id":"A","event":"EARLY_STOPPED","hyper_params":"{\"parameter_id\": 0}"}
> GE 1
< TR {"parameter_id": 4, *{"x": 4}*
> TE
exit 0
replay
E
    has notes "assess A [3]" && has notes "end A False" &&
        has notes "end 0 False" && lacks notes result
}

# NNI's managers never ask again for what failed: the class is, behind the next
# end, and at once where no trial is out; the lines of a trial name it.
nni_suggestion_that_fails() {
    needs_python
    wire <<'E' || return 1
nni {"tuner":{"className":"cases.Moody","codeDirectory":"$SOURCE/tests/data/nni-classes","classArgs":{"mood":"raise"}}}
> IN {"x":{"_type":"uniform","_value":[0,1]}}
< ID
> GE 3
< TR {"parameter_id": 0, *
< TR {"parameter_id": 1, *
< NO {"parameter_id": 0, *
err (its ER): tuner cases.Moody: it says: generate_parameters: ValueError: not three
> EN {"trial_job_id":"A","event":"SUCCEEDED","hyper_params":"{\"parameter_id\": 0}"}
< TR {"parameter_id": 3, *{"x": 4}*
> EN {"trial_job_id":"B","event":"SUCCEEDED","hyper_params":"{\"parameter_id\": 9}"}
err trial 'B' (parameter_id 9): the end of a trial that was never given out
> TE
exit 0
replay
E
}

# Of four suggestions the third fails: the first two count, their results come
# with what was suggested, and the others are asked for again.
nni_batch_that_fails() {
    needs_python
    wire <<'E' || return 1
nni {"tuner":{"className":"cases.Moody","codeDirectory":"$SOURCE/tests/data/nni-classes"}}
> IN {"x":{"_type":"uniform","_value":[0,1]}}
< ID
> GE 4
< TR {"parameter_id": 0, *
< TR {"parameter_id": 1, *
< NO {"parameter_id": 0, "parameter_source": "algorithm", "parameters": "", "parameter_index": 0}
> ME {"parameter_id": 0, "trial_job_id": "A", "type": "FINAL", "sequence": 0, "value": "5"}
< TR {"parameter_id": 4, *{"x": 4}*
< TR {"parameter_id": 5, *{"x": 5}*
> GE 1
< TR {"parameter_id": 6, *{"x": 6}*
> TE
exit 0
E
    has notes "result 0 {'x': 1} 5 A"
}

# As those before name them, and some behind them.
nni_of_version_1() {
    needs_python
    wire <<'E'
nni {"trainingServicePlatform":"local","tuner":{"codeDir":"$SOURCE/tests/data/nni-classes","classFileName":"cases.py","className":"Recorder","classArgs":{}}}
> IN {"name":"IN0"}
< ID
> GE 1
< TR {"parameter_id": 0, *"search_space": {"name": "IN0"}}*
> TE
exit 0
E
}

# The words of NNI's first managers, for classes and for built-in names.
nni_of_the_first_versions() {
    needs_python
    wire <<'E' && wire <<'F'
fds 3 4
run -m nni --multi_phase --tuner_class_name Recorder --tuner_args {} --tuner_directory $SOURCE/tests/data/nni-classes --tuner_class_filename cases.py --assessor_class_name Odd --assessor_directory $SOURCE/tests/data/nni-classes --assessor_class_filename=cases.py
> IN {"name":"IN0"}
< ID
> GE 1
< TR {"parameter_id": 0, *"search_space": {"name": "IN0"}}*
> ME {"parameter_id":0,"trial_job_id":"A","type":"PERIODICAL","sequence":0,"value":"3"}
< KI "A"
> TE
exit 0
E
fds 3 4
run -m nni --tuner_class_name Random --tuner_args {"seed":1} --assessor_class_name Medianstop
> IN {"x":{"_type":"uniform","_value":[0,1]}}
< ID
> GE 1
< TR {"parameter_id": 0, *
> TE
exit 0
F
}

# Where the manager started the shim, the class runs behind the interpreter that
# the shim stands for, whatever PATH has.
nni_through_the_shim() {
    needs_python
    mkdir -p env/bin other && cp "$TP_SOURCE/scripts/nni-shim/python3" env/bin ||
        return 1
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$(command -v python3)" \
        > env/bin/python3.real
    printf '#!/bin/sh\nexit 9\n' > other/python3
    chmod +x env/bin/* other/python3
    params=$(printf '{"tuner":{"className":"cases.Recorder","codeDirectory":"%s"}}' \
        "$CLASSES" | base64 -w 0)
    { frame IN '{"name":"IN0"}' && frame GE 1; } > in
    for words in "--exp_params $params" "--exp_params=$params" \
        "--tuner_class_name Recorder --tuner_directory $CLASSES --tuner_class_filename cases.py" \
        "--multi_thread --tuner_class_name Recorder --tuner_directory $CLASSES --tuner_class_filename cases.py"; do
        PATH=$PWD/other:$PATH TUNEPIPE=$T env/bin/python3 -m nni $words \
            3< in 4> said 2> err || fail "exit status $? of $words" || return 1
        has said 'TR00000000' && has said '{"name": "IN0"}' || return 1
    done
}

# An experiment that goes on, with what the manager knows of it.
nni_resumed() {
    needs_python
    wire <<'E' || return 1
env NNI_MODE=resume
nni {"tuner":{"className":"cases.Moody","codeDirectory":"$SOURCE/tests/data/nni-classes"}}
> IN {"x":{"_type":"uniform","_value":[0,1]}}
< ID
> FD [{"parameter":{"x":7},"value":"0.5","trialJobId":"A"},{"parameter":{"x":8},"value":{"default":1}},{"parameter":{"x":9}},{"parameter":{"x":9},"value":"bad"}]
> AD [{"parameter_id":5,"parameter_source":"resumed","parameters":{"x":9},"parameter_index":0}]
> GE 1
< TR {"parameter_id": 6, *
> ME {"parameter_id": 5, "trial_job_id": "B", "type": "FINAL", "sequence": 0, "value": "0.25"}
> EN {"trial_job_id":"B","event":"SUCCEEDED","hyper_params":"{\"parameter_id\": 5}"}
> ME {"parameter_id": 6, "trial_job_id": "C", "type": "FINAL", "sequence": 0, "value": "0.75"}
> TE
exit 0
E
    same notes "checkpoint $PWD/log
space ['x']
import [{'parameter': {'x': 7}, 'value': 0.5, 'trialJobId': 'A'}, {'parameter': {'x': 8}, 'value': {'default': 1}}, {'parameter': {'x': 9}, 'value': nan}]
ask 6
import [{'parameter': {'x': 9}, 'value': 0.25}]
result 6 {'x': 1} 0.75 C"
}

# A name that `nnictl algo register` gave to a class.
nni_registered() {
    needs_python
    mkdir names && cp "$CLASSES/cases.py" . || return 1
    cat > names/registered_algorithms.yml <<'Y'
advisors: []
assessors:
- {builtinName: mine, className: cases.Odd}
tuners:
- builtinName: mine
  className: cases.Recorder
  classArgsValidator: null
Y
    wire <<'E' || return 1
env NNI_CONFIG_DIR=$DIR/names
nni {"tuner":{"name":"Mine"},"assessor":{"name":"mine"}}
> IN {"name":"IN0"}
< ID
> GE 1
< TR {"parameter_id": 0, *"search_space": {"name": "IN0"}}*
> ME {"parameter_id": 0, "trial_job_id": "A", "type": "PERIODICAL", "sequence": 0, "value": "3"}
< KI "A"
> TE
exit 0
E
    printf 'tuners: [\n' > names/registered_algorithms.yml
    wire <<'E'
env NNI_CONFIG_DIR=$DIR/names
env NNI_CHECKPOINT_DIRECTORY=$DIR/second
nni {"tuner":{"name":"mine"}}
> IN {"name":"IN0"}
exit 3
err warning: names given by nnictl are not known: *registered_algorithms.yml:2: not valid YAML
err no tuner 'mine'
E
}

# The same with the log of the first half: nothing is told twice.
nni_resumed_with_the_log() {
    needs_python
    wire <<'E' && wire <<'F' || return 1
nni {"tuner":{"className":"cases.Moody","codeDirectory":"$SOURCE/tests/data/nni-classes"}}
> IN {"x":{"_type":"uniform","_value":[0,1]}}
< ID
> GE 2
< TR {"parameter_id": 0, *
< TR {"parameter_id": 1, *
> ME {"parameter_id": 0, "trial_job_id": "A", "type": "FINAL", "sequence": 0, "value": "0.25"}
> EN {"trial_job_id":"A","event":"SUCCEEDED","hyper_params":"{\"parameter_id\": 0}"}
> TE
exit 0
E
env NNI_MODE=resume
nni {"tuner":{"className":"cases.Moody","codeDirectory":"$SOURCE/tests/data/nni-classes"}}
> IN {"x":{"_type":"uniform","_value":[0,1]}}
< ID
> FD [{"parameter":{"x":1},"value":"0.25","trialJobId":"A"}]
> AD [{"parameter_id":1,"parameter_source":"resumed","parameters":{"x":2},"parameter_index":0}]
> GE 1
< TR {"parameter_id": 2, *
> ME {"parameter_id": 1, "trial_job_id": "B", "type": "FINAL", "sequence": 0, "value": "0.5"}
> EN {"trial_job_id":"B","event":"SUCCEEDED","hyper_params":"{\"parameter_id\": 1}"}
> TE
exit 0
replay
F
    sed -n '/^checkpoint/,$p' notes > second
    same second "checkpoint $PWD/log
space ['x']
import [{'parameter': {'x': 1}, 'value': 0.25}]
ask 2
import [{'parameter': {'x': 2}, 'value': 0.5}]"
}

# Over a WebSocket: a manager of the tests, with the package ws of node.
nni_websocket() { # CASE GENERATION
    needs_python
    NODE_PATH=${NODE_PATH:-/usr/share/nodejs}
    export NODE_PATH
    command -v node > where || { echo "no node"; return 77; }
    node -e 'require("ws")' 2> err || { echo "no ws for node"; return 77; }
    [ -e "$TP_BUILD/lib/websocket.so" ] || { echo "no libwebsockets"; return 77; }
    node "$TP_SOURCE/tests/websocket/partings.js" "$1" "$2"
}
nni_2_10() { nni_websocket class_good 2.10; }
nni_2_10_wrong() { nni_websocket class_wrong 2.10; }
nni_3_0() { nni_websocket class_good 3.0; }
nni_3_0_wrong() { nni_websocket class_wrong 3.0; }

# What NNI's manager shows is the line, and the status is not 0.
nni_refused() {
    needs_python
    wire <<'E'
nni {"tuner":{"className":"cases.Moody","codeDirectory":"$SOURCE/tests/data/nni-classes","classArgs":{"mood":"constructor"}}}
> IN {"x":{"_type":"uniform","_value":[0,1]}}
exit 3
err tunepipe nni: error: tuner cases.Moody: making it failed: ValueError: no such mood
E
    has logs/dispatcher.log 'ERROR (nni.runtime.msg_dispatcher_base/MainThread) tuner cases.Moody: making it failed'
}

# suggests CLASS MODE [ARGS]: told so in an experiment that minimizes.
suggests() {
    experiment "$(class tuner "cases.$1" "${3:-}")" 'direction: minimize' \
        < /dev/null
    wire <<E
run dispatch --config e.yml
> IN {}
< ID
> GE 1
< TR {"parameter_id": 0, "parameter_source": "algorithm", "parameters": {"mode": "$2"}, "parameter_index": 0}
> TE
exit 0
E
}

direction() {
    needs_python
    suggests Told minimize && suggests OtherWords max &&
        suggests OtherWords up 'optimize_mode: up'
}

# Under NNI's managers a class takes its own default.
direction_under_nni() {
    needs_python
    TUNEPIPE_DIRECTION=minimize # of a run around this one
    export TUNEPIPE_DIRECTION
    wire <<'E'
nni {"tuner":{"className":"cases.Told","codeDirectory":"$SOURCE/tests/data/nni-classes"}}
> IN {}
< ID
> GE 1
< TR {"parameter_id": 0, "parameter_source": "algorithm", "parameters": {"mode": "maximize"}, "parameter_index": 0}
> TE
exit 0
E
}

check python_classes_naive naive
check python_classes_direction direction
check python_classes_direction_under_nni direction_under_nni
check python_classes_naive_over_the_wire naive_over_the_wire
check python_classes_types_beyond_nni types_beyond_nni
check python_classes_msg_dispatcher msg_dispatcher
check python_classes_assessor assessor
check python_classes_whose_suggestion_fails suggestion_that_fails
check python_classes_that_suggest_nan suggestion_without_a_number
check python_classes_that_suggest_no_json suggestion_that_is_no_json
check python_classes_with_nothing_for_now nothing_for_now
check python_classes_that_die class_that_dies
check python_classes_that_are_none what_is_no_class
check python_classes_that_cannot_be_made what_cannot_be_made
check python_classes_without_python_or_nni what_is_not_installed
check python_classes_wrong_under_run experiment_with_a_wrong_class
check python_classes_with_a_population experiment_with_a_population
check python_classes_of_the_first_versions experiment_with_a_class_of_the_first_versions
check python_classes_that_assess_nothing assessor_without_an_answer
check python_classes_beside_the_experiment class_beside_the_experiment
check python_classes_under_nni_2 nni_of_version_2
check python_classes_that_fail_under_nni nni_suggestion_that_fails
check python_classes_whose_batch_fails nni_batch_that_fails
check python_classes_under_the_first_nni nni_of_the_first_versions
check python_classes_through_the_shim nni_through_the_shim
check python_classes_under_nni_1 nni_of_version_1
check python_classes_under_nni_resumed nni_resumed
check python_classes_under_nni_resumed_with_the_log nni_resumed_with_the_log
check python_classes_under_nni_2_10 nni_2_10
check python_classes_wrong_under_nni_2_10 nni_2_10_wrong
check python_classes_under_nni_3_0 nni_3_0
check python_classes_wrong_under_nni_3_0 nni_3_0_wrong
check python_classes_registered_with_nni nni_registered
check python_classes_refused_under_nni nni_refused
finish
