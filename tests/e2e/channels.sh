#!/bin/sh
# SPDX-License-Identifier: MIT
# The ways a trial reports: the same trial in several languages, each through
# the channels it has, gives the same experiment; what NNI's trial API may do
# to its files; the module for Python.
. "$(dirname "$0")/lib.sh"
programs=$TP_SOURCE/tests/external/nni_trial
export T programs
export PYTHONDONTWRITEBYTECODE=1

need() {
    command -v "$1" > /dev/null || { echo "no $1"; return 77; }
}

# values: of all results in the log, one line each: trial, type, number, value.
values() {
    "$T" log "$dir" | sed -n 's/.* ME{.*"trial_job_id": "\([^"]*\)", "type": "\([A-Z]*\)", "sequence": \([0-9]*\), "value": "\(.*\)", "attempt": 0\(, "elapsed": [0-9.]*\)*}$/\1 \2 \3 \4/p' |
        sed 's/{\\"default\\": //' |
        awk '{ printf "%s %s %d %.17g\n", $1, $2, $3, $4 + 0 }' | sort
}

# six COMMAND [LINE...]: an experiment of six trials, which must be the same as
# all others of this script; the first one says what they are.
six() {
    command=$1
    shift
    experiment 'maxTrialNumber: 6' 'trialConcurrency: 2' 'seed: 4' \
        'searchSpace:' '  x: {_type: uniform, _value: [-5, 5]}' \
        '  y/z: {_type: quniform, _value: [0, 3, 0.5]}' \
        'tuner: {name: random, classArgs: {optimize_mode: minimize}}' "$@" \
        < /dev/null
    sed -i "s|sh ./trial.sh|$command|" e.yml
    run 0 && count 6 succeeded && replays || return 1
    values > values
    # All but the times.
    tr '{' '\n' < show.json | sed 's/"duration_s": [^,]*, //; s/[],} ]*$//' |
        sort > results
    [ "$(wc -l < values)" = 24 ] || fail "$(wc -l < values) values" || return 1
    [ -e "$work/values" ] || cp values results "$work" || return 1
    cmp values "$work/values" && cmp results "$work/results"
}

compile() { # COMPILER OPTION... FILE
    "$@" -Wall -Wextra -pedantic -Werror -I"$TP_SOURCE/src/trial/include" -o t
}

shell_verb() { six 'sh $programs/verb_trial.sh'; }
check "shell through the verb" shell_verb

c_header() {
    need "${CC:-cc}" || return
    compile "${CC:-cc}" -std=c11 "$programs/header_trial.c" && six ./t
}
check "C through trial.h" c_header

cxx_header() {
    need "${CXX:-c++}" || return
    compile "${CXX:-c++}" -std=c++11 -x c++ "$programs/header_trial.c" &&
        six ./t
}
check "C++ through trial.h" cxx_header

python_module() {
    need python3 || return
    six 'python3 $programs/module_trial.py'
}
check "Python through the package tunepipe" python_module

awk_output() {
    six 'awk -f $programs/output_trial.awk' \
        'metrics: {pattern: "loss=([^ ]+)", final: last}'
}
check "awk through its output" awk_output

nni_python() {
    need python3 || return
    six 'python3 $programs/nni_trial.py'
}
check "Python through NNI's trial API" nni_python

nni_c() {
    need "${CC:-cc}" || return
    compile "${CC:-cc}" -std=c11 "$programs/file_trial.c" && six ./t
}
check "C through NNI's files" nni_c

nni_shell() { six 'sh $programs/file_trial.sh'; }
check "shell through NNI's files" nni_shell

nni_awk() { six 'awk -f $programs/file_trial.awk'; }
check "awk through NNI's files" nni_awk

# What is in the folder before the trial runs.
nni_folder() {
    experiment 'maxTrialNumber: 1' << 'E'
cp "$NNI_SYS_DIR/parameter.cfg" "$HERE"
[ -f "$NNI_OUTPUT_DIR/.nni/metrics" ] && [ ! -s "$NNI_OUTPUT_DIR/.nni/metrics" ] &&
    [ "$NNI_SYS_DIR" = "$TUNEPIPE_TRIAL_DIR" ] && [ "$NNI_CODE_DIR" = "$PWD" ] &&
    [ "$NNI_EXP_ID" = "$(basename "$TUNEPIPE_EXPERIMENT_DIR")" ] &&
    [ "$NNI_PLATFORM $NNI_TRIAL_JOB_ID $NNI_TRIAL_SEQ_ID" = 'local 00000 0' ] &&
    tunepipe trial report --final 1
E
    run 0 && count 1 succeeded || return 1
    "$T" log "$dir" | sed -n 's/^.* TR{/{/p' | tr -d '\n' > TR
    cmp TR parameter.cfg
}
check "what NNI's trial API finds" nni_folder

mixed() {
    experiment 'maxTrialNumber: 2' << 'E'
nni() {
    printf 'ME%06d%s' "${#1}" "$1" >> "$NNI_SYS_DIR/.nni/metrics"
}
nni '{"type": "PERIODICAL", "sequence": 0, "value": "0.5"}'
[ "$TUNEPIPE_TRIAL_ID" = 00000 ] || tunepipe trial report --final 2
nni '{"type": "FINAL", "sequence": 0, "value": "{\"default\": 3}"}'
tunepipe trial report 0.25
E
    run 0 && count 2 succeeded && has show.json '"intermediates": 2' &&
        replays || return 1
    values > values
    for want in '00000 FINAL 0 3' '00000 PERIODICAL 0 0.' \
        '00000 PERIODICAL 1 0.' '00001 FINAL 0 ' '00001 FINAL 1 '; do
        has values "$want" || return 1
    done
    [ "$(wc -l < values)" = 7 ] || fail "$(cat values)"
}
check "one trial through two channels" mixed

broken() {
    experiment 'maxTrialNumber: 2' << 'E'
m=$NNI_SYS_DIR/.nni/metrics
printf 'ME000037%s' '{"type": "PERIODICAL", "value": "1"}x' >> "$m"
printf 'ME000036%s' '{"type": "PERIODICAL", "value": "2"}' >> "$m"
printf 'final 3\nME000036%s' '{"type": "PERIODICAL", "value": "4"}' >> "$m"
head -c 3000000 /dev/urandom >> "$m"
tunepipe trial report --final 5
E
    run 0 && count 2 succeeded && replays && has show.json '"value": 5.0' &&
        has show.json '"latest": 2.0' && has show.json '"intermediates": 1' &&
        has err 'trial 00001: .nni/metrics: record at byte 0: ' &&
        has err 'trial 00001: .nni/metrics: byte 89: expected ME' || return 1
    [ "$(grep -c 'trial 00000: .nni/metrics' err)" = 2 ] || fail 'told again'
}
check "garbage in NNI's file costs that file alone" broken

broken_header() {
    experiment 'maxTrialNumber: 1' << 'E'
printf 'ME000036%sfinal 3\n' '{"type": "PERIODICAL", "value": "2"}' \
    >> "$NNI_SYS_DIR/.nni/metrics"
tunepipe trial report --final 5
E
    run 0 && has err 'trial 00000: .nni/metrics: byte 44: expected ME and 6' &&
        has show.json '"latest": 2.0'
}
check "a header that is none, with its place" broken_header

cut_short() {
    experiment 'maxTrialNumber: 1' << 'E'
tunepipe trial report --final 5
printf 'ME000036%s' '{"type": "FINAL", "val' >> "$NNI_SYS_DIR/.nni/metrics"
E
    run 0 && count 1 succeeded &&
        has err '.nni/metrics: byte 0: the last record is incomplete, 30 bytes'
}
check "a record that ends in the middle" cut_short

# NNI's older versions open the file anew, so that a second program of a trial
# empties it.
emptied() {
    need python3 || return
    cat > one.py << 'E'
import sys
import nni

nni.get_next_parameter()
for value in sys.argv[1:]:
    nni.report_intermediate_result(float(value))
E
    experiment 'maxTrialNumber: 1' << 'E'
export NNI_STAND_IN_MODE=wb PYTHONPATH="$programs"
python3 one.py 1 2 3
until "$T" log "$TUNEPIPE_EXPERIMENT_DIR" | grep -q '"sequence": 2'; do :; done
python3 one.py 4
tunepipe trial report --final 5
E
    run 0 && count 1 succeeded && has show.json '"latest": 4.0' &&
        has show.json '"intermediates": 4' && lacks err .nni/metrics
}
check "a file of NNI's that is emptied" emptied

many() {
    experiment 'maxTrialNumber: 1' << 'E'
yes 'ME000036{"type": "PERIODICAL", "value": "7"}' | head -n 50000 |
    tr -d '\n' >> "$NNI_SYS_DIR/.nni/metrics"
tunepipe trial report --final 2
E
    run 0 && has show.json '"intermediates": 50000' && lacks err .nni/metrics
}
check "fifty thousand records of NNI at once" many

# The module, by hand and in a trial.
module() {
    need python3 || return
    cat > m.py << 'E'
import math
import os
import sys
import tunepipe


class Scalar:  # as numpy's are
    def __float__(self):
        return 0.1


def lacks(name, words):
    try:
        tunepipe.params()[name]
    except KeyError as error:
        assert words in str(error), error
    else:
        sys.exit("has " + name)


if sys.argv[1:]:
    assert tunepipe.params() == {}
    assert tunepipe.param("x") is None and tunepipe.param("a/b", 3) == 3
    assert tunepipe.seed(7) == 7
    assert tunepipe.trial_dir() == os.getcwd()
    lacks("x", "outside tunepipe run there are none, give a default: "
          "tunepipe.param('x', 0.1), or of a nested choice "
          "tunepipe.param('x/_name', 'NAME')\"")
    lacks("a/_name", "default: tunepipe.param('a/_name', 'NAME')\"")
    lacks("a/slope", "default: tunepipe.param('a/slope', 0.1)\"")
else:
    import other  # in the user's own PYTHONPATH
    assert list(tunepipe.params()) == ["x", "a", "s"]
    lacks("a/_name", "(of a nested choice: tunepipe.param('a/_name'))")
    lacks("s/x", "no parameter 's/x'\"")
    assert tunepipe.param("a/_name") == "relu"
    assert 2 <= tunepipe.param("a/slope") <= 3
    assert tunepipe.param("a/slope/x", 5) == 5
    assert tunepipe.param("b/c", 6) == 6
    assert tunepipe.param("s") == "tab\tcaf\u00e9"
    whole = int(os.environ["TUNEPIPE_SEED"])
    assert tunepipe.seed(bits=64) == whole
    assert tunepipe.seed(1) == whole % 2**32
    assert tunepipe.trial_dir() == os.environ["TUNEPIPE_TRIAL_DIR"]
for value in (1, 0.1, 1e-5, 1 / 3, 1e22, -0.0, True, Scalar(), math.nan,
              -math.inf, {"default": Scalar(), "more": [1, "\u00e9\n"]}):
    tunepipe.report(value)
inside = "TUNEPIPE_TRIAL_DIR" in os.environ  # where names are known
for value in (None, "x", {"loss": 1} if inside else None, {"default": None},
              {"default": "x"}, {"default": 1, "long": "x" * 1024 * 1024}):
    try:
        tunepipe.report(value)
    except (TypeError, ValueError):
        continue
    sys.exit("taken: %.50r" % value)
tunepipe.final({"default": 0.5})
E
    cat > lines << 'E'
intermediate 1
intermediate 0.1
intermediate 1e-05
intermediate 0.3333333333333333
intermediate 1e+22
intermediate -0
intermediate 1
intermediate 0.1
intermediate NaN
intermediate -Infinity
intermediate {"default": 0.1, "more": [1, "\u00e9\n"]}
final {"default": 0.5}
E
    PYTHONPATH=$TP_SOURCE/src/python python3 m.py by hand > by_hand &&
        cmp by_hand lines || return 1
    mkdir mine && echo 'x = 1' > mine/other.py
    experiment 'maxTrialNumber: 1' 'searchSpace:' \
        '  x: {_type: uniform, _value: [0, 1]}' \
        '  a: {_type: choice, _value: [{_name: relu, slope: {_type: uniform, _value: [2, 3]}}]}' \
        '  s: {_type: choice, _value: ["tab\tcafé"]}' << 'E'
exec python3 -W error m.py
E
    PYTHONPATH=mine && export PYTHONPATH
    run 0 && cmp "$dir/trials/00000/metrics" lines && has err "parameter 'b/c'" &&
        [ "$(grep -c warning err)" = 1 ]
}
check "the package tunepipe" module

# A model made of all parameters is made of the same ones under any tuner.
of_tuners() {
    need python3 || return
    echo '{"TRIAL_BUDGET": 3, "x": {"load_checkpoint_dir": 1},
        "load_checkpoint_dir": "l", "save_checkpoint_dir": "s"}' \
        > parameters.json
    TUNEPIPE_SEED=18446744073709551615 TUNEPIPE_TRIAL_DIR=$PWD \
        PYTHONPATH=$TP_SOURCE/src/python python3 -c '
import tunepipe
given = tunepipe.params()
assert given == {"x": {"load_checkpoint_dir": 1}}, given
assert given["save_checkpoint_dir"] == "s"
assert tunepipe.param("load_checkpoint_dir") == "l"
assert tunepipe.budget() == tunepipe.param("TRIAL_BUDGET") == 3
assert tunepipe.seed() == 2**32 - 1 and tunepipe.seed(bits=31) == 2**31 - 1'
}
check "parameters that tuners add, in Python" of_tuners

# What the search space lacks is said once, as soon as the trial has reported;
# what this trial was not given, or a tuner would have given, is no mistake.
asked_in_vain() {
    cat > t.c << 'E'
#include <tunepipe/trial.h>
int main(void)
{
    tp_param_double("learnig_rate", 0.5);
    return !(tp_param_double("net/layers", 3) > 0);
}
E
    cat > t.py << 'E'
import tunepipe
for name in "learnig_rate", "net/leyers", "net/_name", "load_checkpoint_dir":
    tunepipe.param(name, 1)
tunepipe.budget()
try:
    tunepipe.params()["learnig_rate"]
except KeyError as error:
    print(error)
E
    experiment 'maxTrialNumber: 3' \
        "searchSpace: {learning_rate: {_type: uniform, _value: [0, 1]}, net: {_type: choice, _value: [{_name: a}, {_name: b, layers: {_type: randint, _value: [1, 9]}}]}}" << 'E'
tunepipe trial param dropout --default 0.5
tunepipe trial param net/layers --default 2
tunepipe trial param net
tunepipe trial report --sync 1
grep -q "trial 00000 asked for the parameter 'dropout'" "$HERE/err" || exit 1
[ ! -x ./t ] || ./t || exit 1
[ "$NO_PYTHON" ] || python3 t.py || exit 1
tunepipe trial report --final 1
E
    "${CC:-cc}" -I"$TP_SOURCE/src/trial/include" -o t t.c
    command -v python3 > python || export NO_PYTHON=1
    run 0 && count 3 succeeded && replays || return 1
    [ "$(grep -c "asked for the parameter 'dropout', which the search space \
does not have: nothing tunes it" err)" = 1 ] || fail "$(cat err)" || return 1
    [ ! -x ./t ] || [ "$(grep -c "does not have (did you mean 'learning_rate'?)" \
        err)" = 1 ] || fail "$(cat err)" || return 1
    [ "$NO_PYTHON" ] || {
        [ "$(grep -c "'net/leyers'.*did you mean 'net/layers'" err)" = 1 ] &&
            [ "$(grep -c 'asked for' err)" = 3 ] &&
            has "$dir/trials/00000/stdout" "did you mean 'learning_rate'"
    } || fail "$(cat err)"
}
check "parameters that the search space lacks" asked_in_vain

finish
