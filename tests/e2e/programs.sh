#!/bin/sh
# SPDX-License-Identifier: MIT
# Tuners and assessors that are programs, behind the real binary: what they are
# told, what becomes of them, the examples in Python.
. "$TP_SOURCE/tests/e2e/lib.sh"
EXAMPLES=$TP_SOURCE/tuners/exec
STEPS=$TP_SOURCE/tests/programs/steps.sh
export STEPS

# frame CODE PAYLOAD
frame() { printf '%s%014d%s' "$1" ${#2} "$2"; }

session() {
    frame IN '{"x": {"_type": "choice", "_value": [1, 2, 3]}}'
    frame GE 2
    frame GE 2
}

# A session with a plugin, and with the same plugin behind a program.
grid_through_a_program() {
    session | "$T" dispatch --grace 1h --tuner grid --extensions > plain 2> err
    session | "$T" dispatch --grace 1h --tuner exec --extensions --tuner-args \
        "{\"command\": [\"$T\", \"dispatch\", \"--tuner\", \"grid\", \"--extensions\"]}" \
        > proxied 2> err || return 1
    [ -s plain ] && cmp plain proxied
}

# The n-th thing it was told is this.
told() {
    [ "$(sed -n "$1p" told)" = "$2" ] ||
        fail "told, line $1: $(sed -n "$1p" told), expected: $2"
}

# wire < LINES: plays them.
wire() { cat > script.wire && "$TP_BUILD/tests/tools/wire" script.wire; }

program_is_told_in_its_own_ids() {
    wire <<'E' || return 1
run dispatch --tuner exec --seed 1 --tuner-args {"command":["sh","$SOURCE/tests/programs/steps.sh","IN","+ID","GE","+TR:{\"parameter_id\":70,\"parameters\":{\"y\":\"\u00e9\"}}","+TR:{\"parameter_id\":\"a\",\"parameters\":2}"]}
> IN {"x":{"_type":"uniform","_value":[0,1e0]}}
< ID
> GE 2
< TR {"parameter_id": 0, *
< TR {"parameter_id": "a", *
> SS {"x":{"_type":"uniform","_value":[0,2]}}
> FD [{"parameter":{"x":1},"value":"0.5"}]
> AD [{"parameter_id":5,"parameters":{"x":2}},{"parameter_id":"b"}]
> ME {"parameter_id": 0, "trial_job_id": "A", "type": "FINAL", "sequence": 0, "value": "{\"default\": 1, \"loss\": 2}"}
> EN {"trial_job_id":"A","event":"SUCCEEDED","hyper_params":"{\"parameter_id\": 0}"}
> ME {"parameter_id": "a", "trial_job_id": "B", "type": "PERIODICAL", "sequence": 0, "value": "0.25"}
> EN {"trial_job_id":"B","event":"EARLY_STOPPED","hyper_params":"{\"parameter_id\": \"a\"}"}
> PI
> TE
exit 0
E
    told 1 'IN {"x": {"_type": "uniform", "_value": [0, 1.0]}}' &&
        told 2 'GE 2' &&
        told 3 'SS {"x": {"_type": "uniform", "_value": [0, 2]}}' &&
        told 4 'FD [{"parameter": {"x": 1}, "value": "0.5"}]' &&
        told 5 'AD [{"parameter_id": 5, "parameter_source": "algorithm", "parameters": {"x": 2}, "parameter_index": 0}]' &&
        told 6 'ME {"parameter_id": 70, "trial_job_id": "A", "type": "FINAL", "sequence": 0, "value": "{\"default\": 1, \"loss\": 2}"}' &&
        told 7 'EN {"trial_job_id": "A", "event": "SUCCEEDED", "hyper_params": "{\"parameter_id\": 70, \"parameter_source\": \"algorithm\", \"parameters\": {\"y\": \"\\u00e9\"}, \"parameter_index\": 0}"}' &&
        told 8 'ME {"parameter_id": "a", "trial_job_id": "B", "type": "FINAL", "sequence": 0, "value": "0.25"}' &&
        told 9 'EN {"trial_job_id": "B", "event": "EARLY_STOPPED", "hyper_params": "{\"parameter_id\": \"a\", \"parameter_source\": \"algorithm\", \"parameters\": 2, \"parameter_index\": 0}"}' &&
        told 10 'TE ' && told 11 ''
}

program_that_died_is_told_again() {
    wire <<'E' || return 1
run dispatch --tuner exec --seed 1 --tuner-args {"command":["sh","$SOURCE/tests/programs/steps.sh","IN","+ID","GE","+TR:{\"parameter_id\":0,\"parameters\":1}","+TR:{\"parameter_id\":1,\"parameters\":2}","GE","once:died"]}
> IN {"x":{"_type":"uniform","_value":[0,1]}}
< ID
> GE 2
< TR {"parameter_id": 0, *
< TR {"parameter_id": 1, *
> ME {"parameter_id": 0, "trial_job_id": "A", "type": "FINAL", "sequence": 0, "value": "0.5"}
> GE 2
< NO {"parameter_id": 2, *
> EN {"trial_job_id":"A","event":"SUCCEEDED","hyper_params":"{\"parameter_id\": 0}"}
> GE 2
< TR {"parameter_id": 4, *
< TR {"parameter_id": 5, *
> ME {"parameter_id": 4, "trial_job_id": "D", "type": "FINAL", "sequence": 0, "value": "0.75"}
> ME {"parameter_id": 1, "trial_job_id": "B", "type": "FINAL", "sequence": 0, "value": "0.25"}
> TE
exit 0
E
    told 5 'IN {"x": {"_type": "uniform", "_value": [0, 1]}}' &&
        told 6 'FD [{"parameter": 1, "value": "0.5"}]' &&
        told 7 'AD [{"parameter_id": 1, "parameter_source": "algorithm", "parameters": 2, "parameter_index": 0}]' &&
        told 8 'GE 2' &&
        told 9 'ME {"parameter_id": 0, "trial_job_id": "D", "type": "FINAL", "sequence": 0, "value": "0.75"}' &&
        told 10 'ME {"parameter_id": 1, "trial_job_id": "B", "type": "FINAL", "sequence": 0, "value": "0.25"}'
}

# A burst of requests for one that cannot be started again: that it did not
# start is an input behind them, for replay, too.
burst_for_one_that_is_gone() {
    cat > once.sh <<'E'
#!/bin/sh
rm once.sh
exec sh "$STEPS" IN +ID GE exit:1
E
    chmod +x once.sh
    wire <<'E'
run dispatch --tuner exec --seed 1 --extensions --dir $DIR/log --tuner-args {"command":"./once.sh"}
> IN {"x":{"_type":"uniform","_value":[0,1]}}
< ID {"last": 1}
> GE 1
< NO {"parameter_id": 0, *
raw GE000000000000012GE000000000000013
< NO {"parameter_id": 1, *"units": 2}
< NO {"parameter_id": 3, *"units": 3}
eof
exit 0
err ./once.sh: cannot start: No such file or directory
replay
E
}

# One that ended, but whose child writes on: so much that lines may be lost, but
# its end is on record.
child_that_writes_on() {
    cat > tuner.sh <<'E'
sh "$STEPS" IN +ID GE exit:0
yes ER00000000000001x | tr -d '\n' &
exit 3
E
    wire <<'E' || return 1
run dispatch --tuner exec --seed 1 --extensions --dir $DIR/log --tuner-args {"command":["sh","tuner.sh"]}
> IN {"x":{"_type":"uniform","_value":[0,1]}}
< ID {"last": 1}
> GE 1
< NO {"parameter_id": 0, *"reason": "failed", "units": 1}
> TE
exit 0
replay
E
    "$T" log log > records && grep -q " !t gone .*exit status 3$" records
}

# A result of a trial that had ended before the program was started again.
result_that_comes_late() {
    wire <<'E' || return 1
run dispatch --tuner exec --seed 1 --tuner-args {"command":["sh","$SOURCE/tests/programs/steps.sh","IN","+ID","GE","+TR:{\"parameter_id\":7,\"parameters\":1}","GE","once:died"]}
> IN {"x":{"_type":"uniform","_value":[0,1]}}
< ID
> GE 1
< TR {"parameter_id": 0, *
> EN {"trial_job_id":"A","event":"FAILED","hyper_params":"{\"parameter_id\": 0}"}
> GE 1
< NO {"parameter_id": 1, *
> GE 1
< TR {"parameter_id": 2, *
> ME {"parameter_id": 0, "trial_job_id": "B", "type": "FINAL", "sequence": 0, "value": {"default": 1, "loss": Infinity}}
> ME {"parameter_id": 2, "trial_job_id": "C", "type": "FINAL", "sequence": 0, "value": 2}
> TE
exit 0
E
    told 5 'IN {"x": {"_type": "uniform", "_value": [0, 1]}}' &&
        told 6 'GE 1' &&
        told 7 'FD [{"parameter": 1, "value": "{\"default\": 1, \"loss\": Infinity}"}]' &&
        told 8 'ME {"parameter_id": 7, "trial_job_id": "C", "type": "FINAL", "sequence": 0, "value": "2"}'
}

# One that reads nothing holds the manager, and so the tuner, for a time only.
assessor_that_reads_nothing() {
    {
        cat <<'E'
run dispatch --tuner random --assessor exec --seed 1 --extensions --dir $DIR/log --max-queued 200k --assessor-args {"command":["sleep","1000"],"deadline":0.3}
> IN {"x":{"_type":"uniform","_value":[0,1]}}
< ID {"last": 1}
> GE 1
< TR {"parameter_id": 0, *
E
        awk 'BEGIN {
            for (i = 0; i < 8000; i++)
                print "> ME {\"parameter_id\": 0, \"trial_job_id\": \"A\", " \
                    "\"type\": \"PERIODICAL\", \"sequence\": " i \
                    ", \"value\": \"1\"}"
        }'
        cat <<'E'
> GE 1
< TR {"parameter_id": 1, *
> TE
exit 0
err (its end): assessor exec (sleep 1000): has read nothing for 300 ms; killed
replay
E
    } | wire
}

# Who kills the dispatcher ends the program, which waits for nothing.
program_ends_with_the_dispatcher() {
    cat > tuner.sh <<'E'
echo $$ > program.pid
exec sleep 1000
E
    mkfifo in
    "$T" dispatch --grace 1h --tuner exec --tuner-args '{"command": "sh tuner.sh"}' \
        < in > out 2> err &
    dispatcher=$!
    exec 9> in
    until [ -s program.pid ]; do sleep 0.01; done
    kill -9 $dispatcher
    wait $dispatcher 2> /dev/null
    tries=0
    while kill -0 "$(cat program.pid)" 2> /dev/null; do
        tries=$((tries + 1))
        [ $tries -lt 1000 ] || fail "the program lives" || return 1
        sleep 0.01
    done
    exec 9>&-
}

experiment_with_the_examples() {
    command -v python3 > /dev/null || {
        echo "no python3"
        return 77
    }
    experiment 'maxTrialNumber: 3' 'direction: maximize' \
        "tuner: {name: exec, classArgs: {command: [python3, $EXAMPLES/tuner.py]}}" \
        "assessor: {name: exec, classArgs: {command: python3 $EXAMPLES/assessor.py}}" \
        'searchSpace: {x: {_type: uniform, _value: [0, 1]}, c: {_type: choice, _value: [a, b]}, n: {_type: quniform, _value: [1, 9, 2]}, l: {_type: qlognormal, _value: [0, 1, 0.5]}}' <<'E'
value=1
[ "$TUNEPIPE_TRIAL_ID" != 00002 ] || value=-1
for i in 0 1 2 3 4 5; do
    tunepipe trial report "$value"
done
[ "$TUNEPIPE_TRIAL_ID" != 00002 ] || exec sleep 1000 # the worst: stopped
tunepipe trial report --final "$(tunepipe trial param x)"
E
    run 0 || return 1
    has "$dir/dispatcher.log" 'best so far:' && replays || return 1
    count 1 stopped && count 2 succeeded
}

need_python() {
    command -v python3 > /dev/null || { echo "no python3"; return 77; }
}

# mine < CLASS: mine.py, a tuner by tunepipe_tuner.py, says what it is told.
mine() {
    {
        echo 'import sys'
        echo 'from tunepipe_tuner import Exhausted, Tuner, run'
        echo 'def say(*words): print(*words, file=open("said", "a"))'
        cat
        echo 'run(Mine)'
    } > mine.py
}

# said TEXT
said() {
    [ "$(cat said)" = "$1" ] || fail "said: $(cat said)"
}

a_class_is_told() {
    need_python || return
    mine << 'E'
class Mine(Tuner):
    def __init__(self):
        say(self.direction, len(self.space), self.is_better(1, 2))
        for name, p in self.space.items():
            say(name, p.type, p.low, p.high, p.step, p.mu, p.sigma, p.log,
                p.choices and len(p.choices))
        deep = self.space["net"].branches["deep"]
        say(list(self.space["net"].branches), deep["layers"].high, list(deep))
    def ask(self):
        if len(self.trials) == 3:
            raise Exhausted
        return None if len(self.trials) == 2 and self.trials[0].value is None \
            else self.space.sample(self.random)
    def tell(self, trial, value):
        say("tell", trial.number, value, trial.result, sorted(trial.parameters))
    def ended(self, trial, how):
        say("ended", trial.number, how)
    def space_changed(self):
        say("space", list(self.space))
    def close(self):
        say("close")
E
    wire << 'E' || return 1
run dispatch --tuner exec --seed 1 --extensions --direction minimize --dir $DIR/log --tuner-args {"command":["python3","mine.py"]}
> IN {"u":{"_type":"qloguniform","_value":[2,9,0.5]},"n":{"_type":"lognormal","_value":[0,2]},"net":{"_type":"choice","_value":[{"_name":"linear"},{"_name":"deep","layers":{"_type":"randint","_value":[2,8]}}]}}
< ID {"last": 1}
> GE 3
< TR {"parameter_id": 0, *
< TR {"parameter_id": 1, *
< NO {"parameter_id": 0, *"reason": "later", "units": 1}
> ME {"parameter_id": 1, "trial_job_id": "B", "type": "FINAL", "sequence": 0, "value": "{\"default\": 2, \"loss\": 1}"}
> EN {"trial_job_id":"B","event":"EARLY_STOPPED","hyper_params":"{\"parameter_id\": 1}"}
> ME {"parameter_id": 0, "trial_job_id": "A", "type": "FINAL", "sequence": 0, "value": "NaN"}
< TR {"parameter_id": 2, *
> GE 2
< NO {"parameter_id": 3, *"reason": "exhausted", "units": 2}
> EN {"trial_job_id":"A","event":"SUCCEEDED","hyper_params":"{\"parameter_id\": 0}"}
> FD [{"parameter":{"u":4},"value":"0.5"}]
> SS {"x":{"_type":"uniform","_value":[0,1]}}
> TE
exit 0
replay
E
    keys="['n', 'net', 'u']"
    said "minimize 3 True
u qloguniform 2 9 0.5 None None True None
n lognormal None None None 0 2 True None
net choice None None None None None False 2
['linear', 'deep'] 8 ['layers']
tell 1 2.0 {'default': 2, 'loss': 1} $keys
ended 1 stopped
tell 0 nan nan $keys
ended 0 succeeded
tell None 0.5 0.5 ['u']
space ['x']
close"
}

# It costs the call, and says where.
a_class_that_raises() {
    need_python || return
    mine << 'E'
class Mine(Tuner):
    bad = [("x", 1), {"x": float("nan")}, {"x": {1}}]
    def ask(self):
        if not self.trials:
            return {"x": 1}
        if self.bad:
            return self.bad.pop(0)
        raise RuntimeError("two\nlines")
    def tell(self, trial, value):
        trial.no_such_thing
    def ended(self, trial, how):
        print("printed,", sys.stdin.read(), "and read nothing")
E
    wire << 'E'
run dispatch --tuner exec --seed 1 --extensions --dir $DIR/log --tuner-args {"command":["python3","mine.py"]}
> IN {"x":{"_type":"uniform"}}
< NO *
> IN {"x":{"_type":"uniform","_value":[0,1]}}
< ID {"last": 2}
> GE 1
< TR {"parameter_id": 0, *
> GE 2
< NO {"parameter_id": 1, *"reason": "failed", "units": 2}
> GE 1
< NO {"parameter_id": 3, *"reason": "failed", "units": 1}
> GE 1
< NO {"parameter_id": 4, *"reason": "failed", "units": 1}
> GE 1
< NO {"parameter_id": 5, *"reason": "failed", "units": 1}
> ME {"parameter_id": 0, "trial_job_id": "A", "type": "FINAL", "sequence": 0, "value": "1"}
> EN {"trial_job_id":"A","event":"FAILED","hyper_params":"{\"parameter_id\": 0}"}
eof
exit 0
err (its ER): tuner exec (python3 mine.py): it says: IN: KeyError: '_value'
err (its ER): tuner exec (python3 mine.py): it says: ask: TypeError: ask() gave ('x', 1), expected a dict of parameters, or None
err (its ER): tuner exec (python3 mine.py): it says: ask: ValueError: Out of range float values are not JSON compliant*
err (its ER): tuner exec (python3 mine.py): it says: ask: TypeError: a set is no JSON
err (its ER): tuner exec (python3 mine.py): it says: ask: RuntimeError: two lines (mine.py, line 11)
err (its ER): tuner exec (python3 mine.py): it says: tell: AttributeError: 'Trial' object has no attribute 'no_such_thing' (mine.py, line 13)
err printed,  and read nothing
err   File "*mine.py", line 11, in ask
replay
E
}

# None is "later", which is a mistake where no result is to come: at once, and
# behind the last trial's end.
a_class_that_forgets_to_return() {
    need_python || return
    mine << 'E'
class Mine(Tuner):
    def ask(self):
        if not self.trials:
            return {"x": 1}
        self.space.sample(self.random)
E
    wire << 'E' || return 1
run dispatch --tuner exec --seed 1 --extensions --dir $DIR/log --tuner-args {"command":["python3","mine.py"]}
> IN {"x":{"_type":"uniform","_value":[0,1]}}
< ID {"last": 1}
> GE 2
< TR {"parameter_id": 0, *
< NO {"parameter_id": 0, *"reason": "later", "units": 1}
> ME {"parameter_id": 0, "trial_job_id": "A", "type": "FINAL", "sequence": 0, "value": "1"}
> SS {"x":{"_type":"uniform","_value":[0,2]}}
> FD [{"parameter":{"x":1},"value":"0.5"}]
> GE 1
< NO {"parameter_id": 2, *"reason": "later", "units": 1}
> EN {"trial_job_id":"A","event":"SUCCEEDED","hyper_params":"{\"parameter_id\": 0}"}
< NO {"parameter_id": 0, *"reason": "failed", "units": 1}
< NO {"parameter_id": 2, *"reason": "failed", "units": 1}
> GE 1
< NO {"parameter_id": 3, *"reason": "failed", "units": 1}
> TE
exit 0
err *it says: ask: ValueError: ask() gave None while no trial runs: nothing would come (does it return?); where there is nothing more to try: raise tunepipe_tuner.Exhausted*
replay
E
    printf '%s\n' 'class Mine(Tuner):' '    def ask(self): pass' | mine
    experiment 'tuner: {name: exec, classArgs: {command: [python3, mine.py]}}' \
        < /dev/null
    run 1 && has err 'ask() gave None while no trial runs'
}

# What the search space does not allow, or where it misses something, goes to no
# trial; what it does not have does.
a_class_out_of_bounds() {
    need_python || return
    mine << 'E'
class Mine(Tuner):
    whole = {"pca": 8, "lr": 0, "q": 0, "step": 1, "net": {"_name": "a"},
             "bit": 0, "mu": 0, "log": 1}
    good = [{"pca": 63, "more": 1}, {"lr": 1.0000000000000002}, {"q": 9.2},
            {"step": 5.0}, {"net": {"_name": "b", "units": 1, "unit": 1}},
            {"bit": True, "nett": 1, "TRIAL_BUDGET": 3}, {"mu": -7, "more": 1}]
    bad = [{"pca": 64}, {"pca": 8.5}, {"pca": "9"}, {"pca": True}, {"lr": -0.1},
           {"q": 9.3}, {"step": 4}, {"net": "a"}, {"net": {"_name": "c"}},
           {"net": {"_name": "b", "units": 9}}, {"bit": 2}, {"log": 0},
           {"net": {"_name": "b", "UNITS": 1}}]
    def ask(self):
        if self.good or self.bad:
            return dict(self.whole, **(self.good or self.bad).pop(0))
        return {"pca": 8}
E
    wire << 'E' || return 1
run dispatch --tuner exec --seed 1 --extensions --dir $DIR/log --tuner-args {"command":["python3","mine.py"]}
> IN {"pca":{"_type":"randint","_value":[8,64]},"lr":{"_type":"uniform","_value":[0,1]},"q":{"_type":"quniform","_value":[0,9,0.5]},"step":{"_type":"qrandint","_value":[1,9,2]},"net":{"_type":"choice","_value":[{"_name":"a"},{"_name":"b","units":{"_type":"randint","_value":[1,9]}}]},"bit":{"_type":"choice","_value":[0,1]},"mu":{"_type":"normal","_value":[0,1]},"log":{"_type":"lograndint","_value":[1,9]}}
< ID {"last": 1}
> GE 7
< TR *{"pca": 63, *"more": 1}*
< TR *
< TR *
< TR *
< TR *
< TR *
< TR *
> GE 1
< NO {"parameter_id": 7, *"reason": "failed", "units": 1}
> GE 1
< NO *"reason": "failed", "units": 1}
> GE 1
< NO *"reason": "failed", "units": 1}
> GE 1
< NO *"reason": "failed", "units": 1}
> GE 1
< NO *"reason": "failed", "units": 1}
> GE 1
< NO *"reason": "failed", "units": 1}
> GE 1
< NO *"reason": "failed", "units": 1}
> GE 1
< NO *"reason": "failed", "units": 1}
> GE 1
< NO *"reason": "failed", "units": 1}
> GE 1
< NO *"reason": "failed", "units": 1}
> GE 1
< NO *"reason": "failed", "units": 1}
> GE 1
< NO *"reason": "failed", "units": 1}
> GE 1
< NO *"reason": "failed", "units": 1}
> GE 1
< NO *"reason": "failed", "units": 1}
> TE
exit 0
err tunepipe_tuner: warning: ask() gave 'more', which the search space does not have: it goes to the trial as it is
err tunepipe_tuner: warning: ask() gave 'net/unit', which the search space does not have (did you mean 'net/units'?): it goes to the trial as it is
err tunepipe_tuner: warning: ask() gave 'nett', which the search space does not have (did you mean 'net'?): it goes to the trial as it is
err *it says: ask: ValueError: it gave 64 for 'pca', expected an integer in *8, 64)
err *it says: ask: ValueError: it gave '9' for 'pca', expected a number
err *it says: ask: ValueError: it gave -0.1 for 'lr', expected a number in *0, 1*
err *for 'step', expected an integer in *1, 9) in steps of 2
err *it gave 'a' for 'net', expected a dict whose "_name" is one of 'a', 'b'
err *it gave 9 for 'net/units', expected an integer in *
err *it gave 2 for 'bit', expected one of 0, 1
err *it says: ask: ValueError: it lacks 'net/units', which the search space has (it gave 'net/UNITS')
err *it says: ask: ValueError: it lacks 'lr', which the search space has
noerr *ask() gave 'TRIAL_BUDGET'*
replay
E
    mine << 'E'
class Mine(Tuner):
    def ask(self):
        return dict(self.space.sample(self.random), more=1)
E
    experiment 'maxTrialNumber: 2' \
        'tuner: {name: exec, classArgs: {command: [python3, mine.py]}}' << 'E'
tunepipe trial report --final "$(tunepipe trial param more)"
E
    run 0 && count 2 succeeded &&
        [ "$(grep -c "warning: ask() gave 'more'" err)" = 1 ]
}

# refused_class TEXT < CLASS: it cannot be made, which costs the search space.
refused_class() {
    mine
    wire << E
run dispatch --tuner exec --seed 1 --extensions --dir \$DIR/log --tuner-args {"command":["python3","mine.py"]}
> IN {"learning_rate":{"_type":"uniform","_value":[0,1]}}
< NO *
> GE 1
< NO *"reason": "failed"*
> TE
exit 0
err (its ER): tuner exec (python3 mine.py): it says: __init__: $1
E
}

a_class_that_cannot_be_made() {
    need_python || return
    echo 'class Mine(Tuner): pass' |
        refused_class 'TypeError: Mine has no method ask' && rm -r log || return 1
    refused_class 'KeyError: "the search space has no parameter *(did you mean *learning_rate*?)" (mine.py, line 6)' << 'E'
class Mine(Tuner):
    def __init__(self):
        self.space["learnig_rate"]
    def ask(self): pass
E
}

# ends_silently: mine.py, by hand or as a trial, or as a test imports it.
ends_silently() {
    PYTHONPATH=$EXAMPLES "$@" < /dev/null > words 2>&1 && [ ! -s words ] ||
        fail "$*: $(cat words)"
}

a_class_that_nobody_runs() {
    need_python || return
    cat > mine.py << 'E'
import tunepipe_tuner
class Base(tunepipe_tuner.Tuner):
    def ask(self):
        return self.space.sample(self.random)
class Mine(Base):
    pass
E
    experiment 'tuner: {name: exec, classArgs: {command: [python3, mine.py]}}' \
        < /dev/null
    run 3 && has err 'error: tunepipe_tuner.run(Mine) was never called' &&
        has err '(its end): tuner exec (python3 mine.py): exit status 0' &&
        ends_silently python3 mine.py &&
        ends_silently env TUNEPIPE_SEED=1 TUNEPIPE_TRIAL_DIR=. python3 mine.py &&
        ends_silently env TUNEPIPE_SEED=1 python3 -c 'import mine' || return 1
    echo no_such_thing >> mine.py
    run 3 && lacks err 'was never called' || return 1
    sed -i 's/^no_such_thing/tunepipe_tuner.run(Mine())/' mine.py
    run 3 && has err 'run() is given an object, expected its class: tunepipe_tuner.run(Mine)' &&
        lacks err 'was never called'
}

# Started again it draws what it has not drawn, and is told of what there was.
a_class_that_is_started_again() {
    need_python || return
    mine << 'E'
class Mine(Tuner):
    def ask(self):
        if len(self.trials) == 2:
            sys.exit(3)
        return {"x": self.random.random()}
    def tell(self, trial, value):
        say("tell", trial.number, value)
E
    wire << 'E' || return 1
run dispatch --tuner exec --seed 1 --extensions --dir $DIR/log --tuner-args {"command":["python3","mine.py"]}
> IN {"x":{"_type":"uniform","_value":[0,1]}}
< ID {"last": 1}
> GE 2
< TR {"parameter_id": 0, *
< TR {"parameter_id": 1, *
> ME {"parameter_id": 0, "trial_job_id": "A", "type": "FINAL", "sequence": 0, "value": "1"}
> EN {"trial_job_id":"A","event":"SUCCEEDED","hyper_params":"{\"parameter_id\": 0}"}
> GE 1
< NO {"parameter_id": 2, *
> GE 1
< TR {"parameter_id": 3, *
> ME {"parameter_id": 1, "trial_job_id": "B", "type": "FINAL", "sequence": 0, "value": "2"}
> TE
exit 0
replay
E
    said 'tell 0 1.0
tell None 1.0
tell 1 2.0' || return 1
    drawn=$("$T" log log | grep -o '"x": 0[.0-9]*' | sort -u | wc -l)
    [ "$drawn" = 3 ] || fail "drawn: $("$T" log log)"
}

# frames FRAMES: what it writes to people when it is fed these bytes.
frames() {
    printf "$1" | PYTHONPATH=$EXAMPLES python3 mine.py 2> words
    status=$?
}

frames_that_are_none() {
    need_python || return
    echo 'class Mine(Tuner): pass' | mine
    frames 'ID00000000000000PI00000000000000TE00000000000000ge' > out
    [ $status = 0 ] && [ ! -s out ] &&
        has words 'ID: is no command for a tuner: ignored' &&
        lacks words PI || return 1
    frames 'GE 000000000001' > out
    [ $status = 1 ] && has words "tunepipe_tuner: expected two capital" ||
        return 1
    frames 'GE000000000000091' > out
    [ $status = 1 ] && has words 'the input ends 1 bytes into 9 of GE' ||
        return 1
    frames 'GE000000000000011' > out
    [ $status = 0 ] && has out 'there is no search space yet' &&
        has out 'NO00000000000020{"reason": "failed"}'
}

# Relative paths begin at the configuration's folder, wherever `run` is.
experiment_from_another_folder() {
    mkdir there && cd there || return 1
    cat > tuner.sh <<'E'
#!/bin/sh
pwd > seen
exec sh "$STEPS" IN +ID GE '+TR:{"parameter_id":0,"parameters":{"x":0.5}}'
E
    chmod +x tuner.sh
    experiment 'maxTrialNumber: 1' \
        'tuner: {name: exec, classArgs: {command: ./tuner.sh}}' <<'E'
tunepipe trial report --final "$(tunepipe trial param x)"
E
    STEPS=$TP_SOURCE/tests/programs/steps.sh
    export STEPS
    cd .. || return 1
    "$T" run there/e.yml > out 2> err || fail "exit status $?" || return 1
    [ "$(cat there/seen)" = "$(cd there && pwd)" ] || return 1
    rm there/seen
    frame GE 1 |
        "$T" dispatch --grace 1h --resume --dir there/tunepipe-experiments/* > out 2> err
    [ "$(cat there/seen)" = "$(cd there && pwd)" ] ||
        fail 'gone on with, it runs elsewhere'
}

# What cannot start says what would.
starts_not() {
    "$T" dispatch --grace 1h --tuner exec --tuner-args "{\"command\": $1}" \
        < /dev/null > out 2> err
    status=$?
    [ $status = 3 ] || fail "exit status $status" || return 1
    has err "$2"
}

program_that_does_not_start() {
    printf '#!/no/such/interpreter\n' > mine
    starts_not '["mine"]' 'expected a program along PATH' &&
        starts_not '["./mine"]' 'expected an executable file' &&
        chmod +x mine &&
        starts_not '["./mine"]' 'an interpreter that is there'
}

command_that_is_none() {
    starts_not '[]' 'command: is empty' &&
        starts_not '""' 'command: is empty' &&
        starts_not '[""]' 'command: is empty' &&
        starts_not '["sh", 3]' 'command[1]: is an integer, expected a text' &&
        starts_not '{"sh": 3}' 'expected a list of texts or a text' &&
        starts_not '"[sh"' 'command: byte 1: ' &&
        starts_not '"sh -c \"exit 3\""' 'expected a list'
}

# The experiment goes on behind a program that dies twice; the third one lives.
experiment_with_a_program_that_dies() {
    cat > tuner.sh <<'E'
echo start >> starts
[ "$(wc -l < starts)" -lt 3 ] ||
    exec "$T" dispatch --grace 1h --tuner random --extensions
exec sh "$STEPS" IN +ID GE '+TR:{"parameter_id":0,"parameters":{"x":0.5}}' \
    GE '+TR:{"parameter_id":1,"parameters":{"x":0.25}}' GE segv
E
    export T
    experiment 'maxTrialNumber: 7' 'trialConcurrency: 2' \
        'tuner: {name: exec, classArgs: {command: sh tuner.sh}}' <<'E'
tunepipe trial report --final "$(tunepipe trial param x)"
E
    run 0 && count 7 succeeded && has err 'killed by signal 11' && replays &&
        [ "$(wc -l < starts)" = 3 ]
}

direction() {
    TUNEPIPE_DIRECTION=stale # of a run around this one
    export TUNEPIPE_DIRECTION
    echo 'echo "${TUNEPIPE_DIRECTION-none}" >> told; exec cat > /dev/null' > p.sh
    args='{"command": ["sh", "p.sh"]}'
    "$T" dispatch --tuner exec --tuner-args "$args" < /dev/null 2> err &&
        "$T" dispatch --tuner exec --tuner-args "$args" --assessor exec \
            --assessor-args "$args" --direction minimize --dir log < /dev/null ||
        return 1
    printf '%s\n' none minimize minimize | cmp - told
}

# A program is told objectives in the place of a direction where there are
# several.
several_values() {
    TUNEPIPE_OBJECTIVES_JSON=stale TUNEPIPE_ASSESSOR_OBJECTIVE=stale
    export TUNEPIPE_OBJECTIVES_JSON TUNEPIPE_ASSESSOR_OBJECTIVE
    cat > p.sh <<'E'
echo "${TUNEPIPE_DIRECTION-none} ${TUNEPIPE_OBJECTIVES_JSON-none}" \
    "${TUNEPIPE_ASSESSOR_OBJECTIVE-none}" >> told
exec cat > heard
E
    args='{"command": ["sh", "p.sh"]}'
    of='{"objectives": [{"name": "a", "direction": "maximize"}%s]}'
    one=$(printf "$of" '')
    two=$(printf "$of" ', {"name": "b", "direction": "minimize"}')
    "$T" dispatch --tuner exec --tuner-args "$args" < /dev/null 2> err &&
        "$T" dispatch --tuner exec --tuner-args "$args" --objectives "$one" \
            --dir one < /dev/null &&
        "$T" dispatch --tuner exec --tuner-args "$args" --objectives "$two" \
            --dir two < /dev/null &&
        "$T" dispatch --tuner random --assessor exec --assessor-args "$args" \
            --assessor-objective b --objectives "$two" --dir three < /dev/null ||
        return 1
    printf '%s\n' 'none none none' "maximize $one none" "none $two none" \
        "none $two b" | cmp - told
}

# assessor.objective says which of several values a program judges; a report
# may lack it.
an_assessor_of_one_of_several() {
    me='"sequence": 3, "type": "PERIODICAL", "value"'
    cat > wire <<E
run dispatch --tuner random --assessor exec --assessor-args {"command":["python3","$EXAMPLES/assessor.py"]} --objectives {"objectives":[{"name":"a","direction":"maximize"},{"name":"b","direction":"minimize"}]} --assessor-objective b
> IN {"x": {"_type": "uniform", "_value": [0, 1]}}
< ID
> GE 3
< TR *
< TR *
< TR *
> ME {"parameter_id": 0, "trial_job_id": "A", $me: {"a": 1, "b": 5}}
> ME {"parameter_id": 1, "trial_job_id": "B", $me: {"a": 0}}
> ME {"parameter_id": 2, "trial_job_id": "C", $me: {"a": 9, "b": 6}}
< KI "C"
end 0
E
    "$TP_BUILD/tests/tools/wire" wire
}

# It is told all values, of a trial that was stopped, too.
a_class_of_several_values() {
    cat > t.py <<'E'
import tunepipe_tuner
class Told(tunepipe_tuner.Tuner):
    def ask(self):
        return {"x": 0.5}
    def tell(self, trial, value):
        names = [o["name"] for o in self.objectives["objectives"]]
        print("told", value, [trial.result[n] for n in names], self.direction)
tunepipe_tuner.run(Told)
E
    me='"parameter_id": 0, "trial_job_id": "A", "sequence": 0, "type": "PERIODICAL"'
    told_of '' '0.5 [0.5] maximize' &&
        told_of ',{"name":"b","direction":"minimize"}' 'nan [0.5, 4.0] None'
}
told_of() { # MORE_OBJECTIVES WHAT
    cat > wire <<E
run dispatch --tuner exec --tuner-args {"command":["python3","t.py"]} --objectives {"objectives":[{"name":"a","direction":"maximize"}$1]}
> IN {"x": {"_type": "uniform", "_value": [0, 1]}}
< ID
> GE 1
< TR *
> ME {$me, "value": {"a": 0.5, "b": 4, "c": 1}}
> EN {"trial_job_id": "A", "event": "EARLY_STOPPED"}
> GE 1
< TR *
err told $2
end 0
E
    "$TP_BUILD/tests/tools/wire" wire
}

check programs_direction direction
check programs_of_several_values several_values
check programs_of_an_assessor_of_one_of_several an_assessor_of_one_of_several
check programs_of_a_class_of_several_values a_class_of_several_values
check programs_grid_through_a_program grid_through_a_program
check programs_are_told_in_their_own_ids program_is_told_in_its_own_ids
check programs_that_died_are_told_again program_that_died_is_told_again
check programs_that_are_gone_and_a_burst burst_for_one_that_is_gone
check programs_whose_child_writes_on child_that_writes_on
check programs_and_a_late_result result_that_comes_late
check programs_that_read_nothing assessor_that_reads_nothing
check programs_end_with_the_dispatcher program_ends_with_the_dispatcher
check programs_examples experiment_with_the_examples
check programs_of_the_configurations_folder experiment_from_another_folder
check programs_that_do_not_start program_that_does_not_start
check programs_of_commands_that_are_none command_that_is_none
check programs_of_a_class a_class_is_told
check programs_of_a_class_that_raises a_class_that_raises
check programs_of_a_class_that_forgets_to_return a_class_that_forgets_to_return
check programs_of_a_class_out_of_bounds a_class_out_of_bounds
check programs_of_a_class_that_cannot_be_made a_class_that_cannot_be_made
check programs_of_a_class_that_nobody_runs a_class_that_nobody_runs
check programs_of_a_class_that_are_started_again a_class_that_is_started_again
check programs_and_frames_that_are_none frames_that_are_none
check programs_that_die_under_run experiment_with_a_program_that_dies
finish
