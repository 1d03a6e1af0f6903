#!/bin/sh
# SPDX-License-Identifier: MIT
# Configurations that are wrong, and the words of `run` and `show`.
# not under tsan
. "$(dirname "$0")/lib.sh"

final='tunepipe trial report --final 1'

everything_at_once() {
    printf '%s\n' 'trialConcurrency: two' 'maxTrialNum: 0' 'tunr: {}' > e.yml
    run 3 &&
        has err "e.yml:1: trialConcurrency: " && has err "'two'" &&
        has err 'e.yml:2: maxTrialNum: read as maxTrialNumber (NNI v1)' &&
        has err "e.yml:2: maxTrialNumber: " && has err "'0'" &&
        has err "e.yml:3: tunr: unknown key" &&
        has err 'mistakes in the configuration' &&
        [ ! -e tunepipe-experiments ]
}
check "every mistake at once, and nothing started" everything_at_once

# Those within the search space, too, each with its own line.
lines_of_the_space() {
    cat > e.yml << 'E'
trialComand: x
searchSpace:
  a: {_type: float,
      _value: [0, 1]}
  b:
    _type: choice
    _value:
      - {_name: none}
      - _name: some
        c: {_type: uniform,
            _value: [2, 1]}
E
    "$T" run e.yml 2> err; [ $? = 3 ] && [ ! -e tunepipe-experiments ] &&
        has err "e.yml:1: trialComand: unknown key" &&
        has err "e.yml:3: searchSpace: a._type: 'float' is unknown (did you mean 'uniform'?)" &&
        has err 'e.yml:11: searchSpace: b[1].c._value: is from 2 to 1' || return 1
    printf '{"a":\n {"_type": "uniform",\n  "_value": [2, 1]}}\n' > space.json
    { sed '/^searchSpace/,$d; s/Comand/Command/' e.yml
      echo 'searchSpaceFile: space.json'; } > f.yml
    "$T" run f.yml 2> err; [ $? = 3 ] &&
        has err '/space.json:3: a._value: is from 2 to 1'
}
check "mistakes in the search space, with their lines" lines_of_the_space

# What would pass in silence: the text stays, and the trial succeeds.
misspelt_names() {
    cat > e.yml << 'E'
direction: maximize
searchSpace:
  units: {_type: randint, _value: [1, 9]}
  reg: {_type: choice, _value: [None, 'None', null]}
  model: {_type: choice, _value: [{_name: a, k: {_type: uniform, _value: [0, 1]}}, {_name: b}]}
trialCommand: echo {unit} {model} {units} {model/_name} --k {model/k} --n {epochs} | awk '{print}'
E
    "$T" run --dry-run e.yml > out 2> err || fail "$(cat err)" || return 1
    printf '%s\n' \
        "e.yml:4: searchSpace: 'None' is a text here: write null for Python's None, quotes around it for the text" \
        'e.yml:6: trialCommand: {unit} is no parameter of the search space (did you mean {units}?): it stays as it is' \
        'e.yml:6: trialCommand: {model} is a nested choice, whose name is {model/_name}: it stays as it is' \
        'e.yml:6: trialCommand: {model/k} is empty where model is "b"; an option that is there only with it: ${TUNEPIPE_PARAM_model_k:+--k "$TUNEPIPE_PARAM_model_k"}' \
        'e.yml:6: trialCommand: {epochs} is no parameter of the search space, which has units, reg, model/_name, model/k: it stays as it is' |
        cmp - err && has out "echo {unit} {model} " && has out '; 1 at a time; ' || return 1
    sed -i 's/{_name: a,/{name: a,/' e.yml
    "$T" run e.yml 2> err; [ $? = 3 ] && [ ! -e tunepipe-experiments ] &&
        has err "e.yml:5: searchSpace: model._value[0]: has 'name', expected '_name'"
}
check "names in commands and choices that are misspelt" misspelt_names

one_mistake() {
    echo "$final" | experiment 'maxTrialNumber: 0'
    run 3 && [ "$(wc -l < err)" = 1 ] &&
        has err 'tunepipe run: error: e.yml:6: maxTrialNumber: '
}
check "one mistake is one line" one_mistake

# Options in place of keys are kept, and one goes on with them.
options() {
    experiment 'maxTrialNumber: 2' 'tuner: {name: tpe, classArgs: {optimize_mode: minimize}}' << 'E'
[ "$TUNEPIPE_TRIAL_ID" != 00002 ] || kill -KILL "$(cat pid)"
tunepipe trial report --final "$TUNEPIPE_PARAM_x"
E
    given="--seed 5 --max-trials 4 --name 'an option' --concurrency 1 --tuner random"
    run 0 --dry-run --seed 5 --max-trials 4 --name 'an option' --concurrency 1 --tuner random &&
        has out "in place of the configuration's: $given" && sed -n 's/^trial 00001: //p' out > second &&
        run 0 --dry-run --json --seed 5 && has out '"overrides": {"seed": "5"}' || return 1
    run 137 --seed 5 --max-trials 4 --name 'an option' --concurrency 1 --tuner random
    has err 'tuner.classArgs: left out, but for the direction' || return 1
    case $dir in */an-option-*) ;; *) fail "$dir" || return 1 ;; esac
    cmp e.yml "$dir/config.yml" && has "$dir/experiment.json" '"overrides": {"seed": "5", "max-trials": "4", "name": "an option", "concurrency": "1", "tuner": "random"}' &&
        head -n 2 "$dir/command.log" > head && has head '"tuner": {"name": "random"' && has head '"seed": 5' &&
        has head '"direction": "minimize"' && has "$dir/results.jsonl" "$(sed 's/^{//; s/}$//' second)" || return 1
    # The manager dies in the third trial, which is adopted.
    resume 0 && count 4 succeeded && "$T" show "$dir" > shown && has shown "run:    $given" &&
        "$T" replay "$dir" --verify || return 1
    "$T" fork "$dir" --at 1 new --seed 6 --tuner grid > forked &&
        has new/experiment.json '"overrides": {"max-trials": "4", "name": "an option", "concurrency": "1"}'
}
check "options in place of keys" options

wrong_options() {
    echo "$final" | experiment 'maxTrialNumber: 1'
    run 2 --seed abc && has err "run: error: --seed: expected an integer from 0 to 2^63-1, got 'abc'" &&
        run 2 --max-trials 0 && has err "--max-trials: expected an integer above 0, got '0'" &&
        run 2 --concurrency=-1 && [ ! -e tunepipe-experiments ]
}
check "numbers of options that are wrong" wrong_options

no_tuner() {
    echo 'tunepipe trial report --final "$TUNEPIPE_PARAM_x"' |
        experiment 'maxTrialNumber: 30' \
            'assessor: {name: medianstop, classArgs: {optimize_mode: minimize}}'
    sed -i -e '/^tuner:/d' -e '/^searchSpace:/s/uniform/quniform/' \
        -e '/^searchSpace:/s/1]/1, 0.001]/' e.yml
    run 0 && has out 'best 0' && has out '(minimize, as the assessor says)' &&
        "$T" explain "$dir" 2 > why && has why 'tuner auto: by cmaes' &&
        "$T" explain "$dir" 17 > why && has why 'tuner auto: by gp' &&
        "$T" replay "$dir" --verify
}
check "without a tuner it is auto, with the assessor's optimize_mode" no_tuner

# direction WORD BEST [LINE...]: with the key all are searched that way.
direction() {
    word=$1 best=$2
    shift 2
    echo 'tunepipe trial report --final "$TUNEPIPE_PARAM_x"' |
        experiment 'maxTrialNumber: 8' "direction: $word" \
            'searchSpace: {x: {_type: choice, _value: [4, 7, 2]}}' "$@"
    run 0 && has out "best $best" &&
        has out "($word, as the experiment says)" &&
        head -n 2 "$dir/command.log" > records &&
        has records "\"direction\": \"$word\"" && has records "\"optimize_mode\": \"$word\"" &&
        "$T" replay "$dir" --verify > replayed || return 1
    "$T" resume "$dir" --max-trials 9 > again 2>&1 &&
        has again "($word, as the experiment says)"
}
tpe_up() { direction maximize 7 'tuner: {name: tpe}'; }
check "direction: tpe maximizes, whose own default is to minimize" tpe_up
asha_down() { direction minimize 2 'tuner: {name: asha}'; }
check "an advisor minimizes, whose own default is to maximize" asha_down
auto_up() {
    direction maximize 7 'assessor: {name: medianstop}' 'seed: 2' &&
        lacks records minimize
}
check "without a tuner both auto and the assessor are told" auto_up

direction_unsaid() {
    echo "$final" | experiment 'maxTrialNumber: 1' \
        'tuner: {name: Evolution}' 'assessor: {name: Medianstop}'
    sed -i '/^direction:/d' e.yml
    words="e.yml: direction: nothing says which results are better: expected 'direction: minimize' for the smaller ones or 'direction: maximize' for the larger ones"
    nni="; untold, NNI's Evolution would maximize and NNI's Medianstop would maximize"
    run 3 && has err "error: $words$nni" && run 3 --dry-run &&
        has err "error: $words$nni" &&
        [ ! -e tunepipe-experiments ] || return 1
    "$T" dispatch --config e.yml < /dev/null > out 2> err
    [ $? = 3 ] && has err "$words$nni" || return 1
    "$T" dispatch --config e.yml --direction minimize < /dev/null || return 1
    sed -i -e 's/Evolution/cmaes/' -e '/^assessor:/d' e.yml
    run 3 && has err "$words" && lacks err "NNI's"
}
check "an experiment that says none is refused with both words" direction_unsaid

direction_twice() {
    echo "$final" | experiment 'maxTrialNumber: 1' 'direction: minimize' \
        'tuner: {name: tpe, classArgs: {optimize_mode: maximize}}'
    run 3 && has err 'e.yml:7: tuner.classArgs.optimize_mode: is maximize, and direction in line 6 is minimize' ||
        return 1
    sed -i '/^direction:/d' e.yml
    "$T" dispatch --config e.yml --direction minimize < /dev/null 2> err
    [ $? = 3 ] && has err "tuner tpe: optimize_mode: is maximize, and the experiment's direction is minimize" ||
        return 1
    "$T" dispatch --direction up < /dev/null 2> err
    [ $? = 2 ] && has err "--direction: expected minimize or maximize, got 'up'"
}
check "two directions are an error that names both places" direction_twice

# As a tunepipe made it that had no such key, by whose log it went.
folder_from_before() {
    cat > dispatcher << 'E'
#!/bin/sh
for word; do
    shift
    case $last in --config | --direction) last= && continue ;; esac
    case $word in --config | --direction) last=$word && continue ;; esac
    set -- "$@" "$word"
done
exec "$T" "$@" --tuner anneal
E
    chmod +x dispatcher && export T || return 1
    echo 'tunepipe trial report --final "$TUNEPIPE_PARAM_x"' |
        experiment 'maxTrialNumber: 3' 'tuner: {name: anneal}' \
            'assessor: {name: medianstop}'
    run 0 --dispatcher ./dispatcher && head -n 2 "$dir/command.log" > records &&
        lacks records direction || return 1
    sed -i '/^direction:/d' "$dir/config.yml"
    sed -i "s/the experiment/the tuner's default/" "$dir/experiment.json"
    "$T" resume "$dir" --max-trials 5 > out 2>&1 && has out 'ended: 5 succeeded' &&
        has out "(minimize, as the tuner's default says)" &&
        "$T" rerun "$dir" 00001 > out 2>&1 && "$T" show "$dir" > out &&
        has out "(minimize, as the tuner's default says)" && replays
}
check "a folder from before goes on as it was" folder_from_before

idle_keys() {
    echo "$final" | experiment 'maxTrialNumber: 1' 'nniManagerIp: 10.0.0.1' \
        'trainingService: {platform: local, reuseMode: false}'
    run 0 && has err 'e.yml:7: nniManagerIp: has no effect yet' &&
        has err 'e.yml:8: trainingService.reuseMode: has no effect yet'
}
check "NNI's other keys are accepted with a line" idle_keys

nni_v1() {
    cat > e.yml << 'EOF'
authorName: someone
experimentName: old
trialConcurrency: 1
maxExecDuration: 1h
maxTrialNum: 2
trainingServicePlatform: local
searchSpacePath: s.json
useAnnotation: false
tuner:
  builtinTunerName: Random
  classArgs: {optimize_mode: maximize}
trial:
  command: sh ./trial.sh
  codeDir: .
  gpuNum: 0
EOF
    echo '{"x": {"_type": "uniform", "_value": [0, 1]}}' > s.json
    echo 'tunepipe trial report --final "$TUNEPIPE_PARAM_x"' > trial.sh
    run 0 && count 2 succeeded &&
        has err 'e.yml:5: maxTrialNum: read as maxTrialNumber (NNI v1)' &&
        has err 'e.yml:13: trial.command: read as trialCommand (NNI v1)' &&
        has err 'e.yml:1: authorName: ' &&
        "$T" resume "$dir" --max-trials 3 > again 2>&1 && has again 'best'
}
check "a configuration of NNI v1 runs as it is, and each key is told" nni_v1

# Tuners that NNI has under other names, or with other arguments.
nni_tuners() {
    while read -r name args plugin has; do
        echo "$final" | experiment 'maxTrialNumber: 1' \
            "tuner: {name: $name, classArgs: $args}"
        run 0 && head -n 2 "$dir/command.log" > records &&
            has records "\"tuner\": {\"name\": \"$plugin\"" &&
            has records "$has" || return
    done << 'E'
SMAC {"config_dedup":true} smac "config_dedup": true
TPE {"parallel_optimize":true} tpe "constant_liar_type": "best"
GP {"cold_start_num":7} gp "n_startup_jobs": 7
Metis {"no_resampling":true,"cold_start_num":8} gp "n_startup_jobs": 8
DNGOTuner {"sample_size":100,"trials_per_update":9} gp "n_startup_jobs": 9
E
}
check "NNI's names of tuners, and their arguments" nni_tuners

space_file() {
    echo 'tunepipe trial report --final "$TUNEPIPE_PARAM_y"' |
        experiment 'maxTrialNumber: 1' 'searchSpaceFile: s/space.json'
    mkdir s
    sed -i '/^searchSpace:/d' e.yml
    echo '{"y": {"_type": "choice", "_value": [1e-3]}}' > s/space.json
    run 0 && has show.json '"value": 0.001' &&
        has "$dir/search_space.json" '"_value": [0.001]' &&
        cmp e.yml "$dir/config.yml"
}
check "searchSpaceFile" space_file

from_elsewhere() {
    echo "$final" | experiment 'maxTrialNumber: 1'
    mkdir there && (cd there && "$T" run ../e.yml > ../out 2> ../err) &&
        ls -d tunepipe-experiments/e-* > found
}
check "paths begin at the configuration's folder" from_elsewhere

usage() {
    for words in "run" "run a b" "run --dispatchr x e.yml" "show a b" \
        "show --al x"; do
        "$T" $words > out 2> err
        [ $? = 2 ] || fail "$words: not 2" || return 1
        [ "$(wc -l < err)" = 1 ] || fail "$words: not one line" || return 1
    done
    has err 'did you mean --all?' || return 1
    "$T" run absent.yml 2> err
    [ $? = 3 ] && has err 'absent.yml: cannot open' || return 1
    "$T" show . 2> err
    [ $? = 3 ] && has err "folder" || return 1
    "$T" run --help > out && has out 'Example:' &&
        "$T" show --help > out && has out 'Example:' &&
        "$T" help show | cmp - out || return 1
    "$T" help shwo 2> err
    [ $? = 2 ] && has err "did you mean 'show'"
}
check "usage" usage

full_disk() {
    [ -c /dev/full ] || { echo 'no /dev/full'; return 77; }
    echo "$final" | experiment 'maxTrialNumber: 1'
    run 0 || return 1
    for verb in show 'show --json' log 'log --json'; do
        "$T" $verb "$dir" > /dev/full 2> err
        [ $? = 1 ] && has err 'cannot write' || fail "$verb is content" ||
            return 1
    done
}
check "what cannot be printed is told" full_disk

descriptors() {
    echo "$final" | experiment 'trialConcurrency: 1000'
    (ulimit -n 100 && run 3) && has err \
        'trialConcurrency: 1000 trials at a time need 5 open files each' &&
        [ ! -e tunepipe-experiments ] || return 1
    echo 'maxTrialNumber: 10' >> e.yml # no more than these run at a time
    (ulimit -n 200 && run 0)
}
check "more trials at a time than there are descriptors for" descriptors

private() {
    umask 000
    echo "$final" | experiment 'maxTrialNumber: 1'
    run 0 || return 1
    find "$dir" ! -type d ! -perm 600 > open_files
    find "$dir" -type d ! -perm 700 >> open_files
    [ ! -s open_files ] || fail "readable by others: $(head -n 1 open_files)"
}
check "nobody else reads an experiment" private

finish
