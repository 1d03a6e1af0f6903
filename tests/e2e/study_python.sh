#!/bin/sh
# SPDX-License-Identifier: MIT
# Study in Python: small programs that ask, tell, report and optimize against
# the real server, and what they leave in its folder.
. "$(dirname "$0")/lib.sh"
command -v python3 > /dev/null || {
    echo "skipped study_python: no python3"
    exit
}
export PYTHONDONTWRITEBYTECODE=1 TUNEPIPE_PROGRAM="$T"
export PYTHONPATH="$TP_SOURCE/src/python:$TP_SOURCE/tests/programs"

# py [STATUS] < PROGRAM: it ends so, and says nothing that it does not print.
py() {
    cat > p.py
    python3 -W error p.py > out 2> err
    got=$?
    [ "$got" = "${1:-0}" ] || fail "status $got: $(tail -n 1 err)" || return 1
    [ "$got" != 0 ] || [ ! -s err ] || fail "says: $(cat err)"
}

# What most programs begin with.
cat > "$work/common.py" << 'E'
import os
import signal
import threading
import tunepipe
from expecting import raises

SPACE = {"x": tunepipe.uniform(0, 1)}


def server(study):
    with open(os.path.join(study.folder, "manager.pid")) as file:
        return int(file.read())
E
export PYTHONPATH="$PYTHONPATH:$work"

ask_tell() {
    dir=s
    py << 'E' && "$T" show s > shown && has shown 'best 0.25' && replays
from common import *
study = tunepipe.Study({"x": tunepipe.loguniform(1e-4, 1),
                        "n": tunepipe.randint(8, 129),
                        "act": tunepipe.choice(["relu", "tanh"])},
                       seed=1, folder="s")
raises(tunepipe.StudyError, "no trial has a result", lambda: study.best)
study.optimize(lambda trial: None, n_trials=0)
raises(ValueError, "n_trials: expected 0 or more", study.optimize, len, -1)
trial = study.ask()
assert trial.number == 0 and trial.attempt == 0
assert list(trial.params) == ["x", "n", "act"]
assert trial["x"] == trial.params["x"]
raises(KeyError, "no parameter 'akt' (did you mean 'act'?)", lambda: trial["akt"])
raises(KeyError, "no parameter 'X' (did you mean 'x'?)", lambda: trial["X"])
assert type(trial["n"]) is int and 8 <= trial["n"] < 129
assert trial["act"] in ("relu", "tanh") and 1e-4 <= trial["x"] <= 1
assert trial.budget is None and trial.restore_dir is None and trial.step == 0
trial.report(3)
trial.report(2.5, step=70)
assert trial.steps == [(0, 3), (70, 2.5)] and not trial.should_prune()
study.tell(trial, 0.5)
assert trial.value == 0.5
other = study.ask()
study.tell(other.number, {"default": 0.25, "more": [1, 2]})
study.fail(study.ask(), "no\nroom")
study.tell(study.ask())
for value in float("nan"), float("inf"):
    study.tell(study.ask(), value)
    trial = study.ask()
    trial.report({"default": value, "more": "x"})
    study.tell(trial, {"default": value, "more": "x"})
best = study.best
assert best.number == 1 and best.value == 0.25 and best.params == other.params
assert type(best.params["n"]) is int
done = study.trials
assert [one.number for one in done] == list(range(8))
assert done[0].intermediates == 2 and done[0].latest == 2.5
assert [one.status for one in done[:4]] == ["succeeded"] * 2 + ["failed"] * 2
assert done[2].value is None and "no room" in done[2].why, done[2]
row = study.dataframe()
row = row[0] if isinstance(row, list) else row.iloc[0]
assert row["value"] == 0.5 and row["params_n"] == done[0].params["n"]
study.close()
study.close()
raises(tunepipe.StudyError, "was closed", study.ask)
E
}
check "ask, report and tell" ask_tell

nested() {
    echo '{"x": {"_type": "uniform", "_value": [0, 1]}}' > space.json
    py << 'E'
from common import *
space = {"opt": tunepipe.choice([
    {"_name": "sgd", "rate": tunepipe.quniform(0, 10, 2),
     "mode": tunepipe.choice([{"_name": "a", "k": tunepipe.randint(0, 3)}])},
    "none"]), "any": tunepipe.choice([1, 2.5, True, None, "caf\u00e9"])}
names = set()
with tunepipe.Study(space, tuner="random", seed=3) as study:
    for trial in (study.ask() for _ in range(20)):
        opt = trial["opt"]
        names.add(opt["_name"])
        if opt["_name"] == "sgd":
            assert opt["rate"] in (0, 2, 4, 6, 8, 10)
            assert type(opt["rate"]) is int
            assert opt["mode"]["_name"] == "a" and opt["mode"]["k"] in (0, 1, 2)
        assert trial["any"] in (1, 2.5, True, None, "caf\u00e9")
    assert names == {"sgd", "none"}
    study.tell(trial, 1)
    rows = study.dataframe()
    assert "params_opt/_name" in (rows[0] if isinstance(rows, list) else rows)
with tunepipe.Study("space.json", constraints="x < 0.5",
                    filters=["dedup"], tuner_args={}) as study:
    assert study.ask()["x"] < 0.5
every = {"a": tunepipe.loguniform(1, 9), "b": tunepipe.qloguniform(1, 9, 2),
         "c": tunepipe.normal(0, 1), "d": tunepipe.lognormal(0, 1),
         "e": tunepipe.qnormal(0, 1, 0.5), "f": tunepipe.qlognormal(0, 1, 0.5),
         "g": tunepipe.lograndint(1, 9), "h": tunepipe.qrandint(0, 9, 3)}
with tunepipe.Study(every) as study:
    assert list(study.ask().params) == list(every)
E
}
check "spaces: nested, of a file, of every type" nested

bad_input() {
    py << 'E'
from common import *
with tunepipe.Study(SPACE, folder="s", seed=1) as study:
    trial = study.ask()
    for value in None, "x", "0.3", [1], {"default": "x"}, 1j:
        raises(TypeError, "value: expected a number", study.tell, trial, value)
    raises(ValueError, "default", study.tell, trial, {"loss": 1})
    raises(TypeError, "expected a number", trial.report, None)
    raises(ValueError, "more than", trial.report,
           {"default": 1, "long": "x" * 70000})
    raises(TypeError, "", study.tell, "00000", 1)
    assert study.trials == []
    study.tell(trial, 1)
    raises(tunepipe.StudyError, "trial 00000", study.tell, trial, 2)
    raises(tunepipe.StudyError, "trial 00007", study.tell, 7, 2)
    raises(tunepipe.StudyError, "y", study.enqueue, {"y": 1})
    assert len(study.trials) == 1 and study.best.value == 1
    raises(tunepipe.StudyError, "searchSpace", tunepipe.Study,
           {"y": tunepipe.uniform(0, 1)}, folder="s")
    raises(tunepipe.StudyError, "seed", tunepipe.Study, SPACE, folder="s",
           seed=2)
    with tunepipe.Study(SPACE, folder="s", seed=1) as same:
        assert same.best.value == 1
error = raises(tunepipe.StudyError, "tuner", tunepipe.Study, SPACE,
               tuner="none")
assert ".json" not in str(error), error
raises(tunepipe.StudyError, "x", tunepipe.Study, {"x": {}})
raises(tunepipe.StudyError, "absent", tunepipe.Study.connect, "absent")
raises(ValueError, "lost", tunepipe.Study, SPACE, lost="perhaps")
raises(tunepipe.StudyError, "earlyStopped", tunepipe.Study, SPACE,
       early_stopped="none")
error = raises(tunepipe.StudyError, "constraint 1, `y < 1`", tunepipe.Study,
               SPACE, constraints="y < 1")
assert str(error).startswith("filter"), error
os.environ["TUNEPIPE_PROGRAM"] = "/bin/false"
raises(tunepipe.StudyError, "status 1", tunepipe.Study, SPACE)
E
}
check "bad values, unknown trials, another space" bad_input

# As numpy and pandas have them, which are not needed here.
foreign_values() {
    py << 'E'
from common import *


class Array:
    def __init__(self, value):
        self.value = value

    def tolist(self):
        return self.value

    def __float__(self):
        return float(self.value)

    def __repr__(self):
        return "an\n  array"


class Row:
    def keys(self):
        return ["x", "n"]

    def __getitem__(self, name):
        return {"x": Array(0.5), "n": Array(3)}[name]


space = {"x": tunepipe.uniform(Array(0), 1), "n": tunepipe.randint(0, Array(9)),
         "flag": tunepipe.choice(map(Array, (True, False)))}
with tunepipe.Study(space, seed=1) as study:
    rows = study.dataframe()
    assert len(rows) == 0 and ("value" in rows or rows == [])
    assert study.enqueue() == [] and study.enqueue(Row()) == [0]
    trial = study.ask()
    assert trial["x"] == 0.5 and trial["n"] == 3 and trial["flag"] in (0, 1)
    assert type(trial["flag"]) is bool
    for value in Array([1]), {"default": {"default": 1}}, 10 ** 400:
        raises((TypeError, OverflowError), "value: expected a number, got ",
               study.tell, trial, value)
    error = raises(TypeError, "an array", study.tell, trial, Array([1]))
    assert "\n" not in str(error)
    raises(TypeError, "value.rest[1]: expected a value that JSON has, got {1}",
           study.tell, trial, {"default": 1, "rest": [0, {1}]})
    study.tell(trial, {"default": Array(1), "rest": Array([2, float("nan")])})
    assert study.best.value == 1
    study.fail(study.ask())
    rows = study.dataframe()
    assert rows is not None and len(rows) == 2
    raises(TypeError, "parameters.x: expected a value that JSON has, got b'1'",
           study.enqueue, {"x": b"1"})
for options in "abc", {"a", "b"}, {"a": 1}:
    raises(TypeError, "choice: expected a list", tunepipe.choice, options)
raises(ValueError, "choice", tunepipe.choice, [float("nan")])
raises(TypeError, "searchSpace.x._value[0]: expected a value that JSON has",
       tunepipe.Study, {"x": tunepipe.choice([object()])})
raises(TypeError, "space: expected a dict or a path, got 5", tunepipe.Study, 5)
raises(TypeError, "space: 'x': expected what a function of tunepipe.space "
       "returns, such as tunepipe.choice([1, 2]), got [1, 2, 3]",
       tunepipe.Study, {"x": [1, 2, 3]})
raises(TypeError, "folder: expected a path", tunepipe.Study, SPACE, folder=5)
raises(tunepipe.StudyError, "there is no study yet", tunepipe.Study.connect,
       "nowhere")
raises(TypeError, "tuner", tunepipe.Study, SPACE, tuner=5)
E
}
check "numbers, arrays and tables of other packages" foreign_values

optimize() {
    py << 'E'
from common import *
with tunepipe.Study({"x": tunepipe.uniform(-5, 5)}, seed=2, max_trials=25,
                    direction="maximize", tuner_args={}) as study:
    heard = []

    def objective(trial):
        if trial.number == 1:
            raise tunepipe.Stop
        if trial.number == 2:
            return None
        return -trial["x"] ** 2

    def hear(of, trial):
        assert of is study
        heard.append((trial.number, trial.value))

    study.optimize(objective, n_trials=5, callbacks=hear)
    assert [number for number, _ in heard] == list(range(5))
    assert [value is None for _, value in heard] == [False, True, True, False,
                                                     False]
    assert [one.status for one in study.trials] == [
        "succeeded", "failed", "failed", "succeeded", "succeeded"]
    assert "the objective returned None" in study.trials[2].why
    assert study.best.value == max(value for _, value in heard
                                   if value is not None)

    def fails(trial):
        raise KeyError("no\nsuch")

    raises(KeyError, "no", study.optimize, fails, n_trials=3)
    assert "KeyError" in study.trials[5].why and len(study.trials) == 6
    study.optimize(fails, n_trials=1, catch=LookupError)
    raises(TypeError, "expected a number", study.optimize, lambda t: "x", 1)
    assert study.trials[-1].status == "failed"

    def ends(study, trial):
        raise tunepipe.Stop

    study.optimize(objective, callbacks=[ends])
    assert len(study.trials) == 9
    study.optimize(objective, timeout=0)
    assert len(study.trials) == 9
    assert study.enqueue({"x": 4}, {"x": 3.5}) == [9, 10]
    study.optimize(objective)
    done = study.trials
    assert [one.number for one in done] == list(range(27)), len(done)
    # What was enqueued comes on top of max_trials.
    assert done[9].params == {"x": 4} and done[10].params == {"x": 3.5}
    error = raises(tunepipe.StudyError, "maxTrialNumber", study.ask)
    assert error.over
    study.optimize(objective)
    raises(ValueError, "n_jobs", study.optimize, objective, n_jobs=0)
# Nothing to try, and no result.
with tunepipe.Study(SPACE, max_trials=1) as study:
    study.fail(study.ask())
    raises(tunepipe.StudyError, "maxTrialNumber", study.optimize, objective)
with tunepipe.Study({"c": tunepipe.choice([1, 2])},
                    tuner="gridsearch") as study:
    study.optimize(lambda trial: trial["c"], n_jobs=-1)
    assert len(study.trials) == 2
E
}
check "optimize" optimize

interrupted() {
    py << 'E'
from common import *
with tunepipe.Study(SPACE, folder="s", seed=1) as study:
    def objective(trial):
        if trial.number == 1 and trial.attempt == 0:
            os.kill(os.getpid(), signal.SIGINT)
            signal.pause()
        return 1

    raises(KeyboardInterrupt, "", study.optimize, objective, n_trials=4)
    study.optimize(objective, n_trials=3)
    assert [one.number for one in study.trials] == [0, 1, 2, 3]
    # Threads end at their next report.
    both = threading.Barrier(2)

    def for_ever(trial):
        if both.wait() == 0:
            os.kill(os.getpid(), signal.SIGINT)
        while True:
            trial.report(1)

    raises(KeyboardInterrupt, "", study.optimize, for_ever, n_jobs=2)
    again = study.ask(), study.ask()
    assert [(one.number, one.attempt) for one in again] == [(4, 1), (5, 1)]
# The first two have results before there is a third one.
with tunepipe.Study(SPACE, tuner="pbt", seed=1,
                    tuner_args={"population_size": 2}) as study:
    two = study.ask(), study.ask()
    for _ in range(3):
        alarm = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
        alarm.start()
        raises(KeyboardInterrupt, "", study.ask)
        alarm.join()
    study.optimize(lambda trial: 1, timeout=0.01)
    waiting = []
    threads = [threading.Thread(target=lambda: waiting.append(study.ask()))
               for _ in two]
    for thread in threads:
        thread.start()
    for trial in two:
        trial.report(trial["x"])
        study.tell(trial, trial["x"])
    for thread in threads:
        thread.join()
    assert sorted(trial.number for trial in waiting) == [2, 3]
    closed = threading.Thread(target=lambda: raises(
        tunepipe.StudyError, "closed", study.ask))
    closed.start()
    study.close()
    closed.join()
E
}
check "interrupted asks, and asks that wait" interrupted

threads() {
    py << 'E' && dir=s && replays
from common import *
with tunepipe.Study(SPACE, folder="s", tuner="random", seed=1) as study:
    study.optimize(lambda trial: trial["x"], n_trials=60, n_jobs=4)
    numbers = []

    def work():
        for _ in range(10):
            trial = study.ask()
            trial.report(trial["x"])
            numbers.append(trial.number)
            study.tell(trial, trial["x"])

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(numbers) == list(range(60, 120))

    def objective(trial):
        if trial.number % 3 == 0:
            raise tunepipe.Stop
        if trial.number == 130:
            raise OSError("one of many")
        return trial["x"]

    raises(OSError, "one of many", study.optimize, objective, n_jobs=3)
    done = study.trials
    assert sorted(one.number for one in done) == list(range(len(done)))
    for one in done[:120]:
        assert one.value == one.params["x"]
E
}
check "threads" threads

forked() {
    py << 'E'
from common import *
import copy
import pickle
study = tunepipe.Study(SPACE)
trial = study.ask()
child = os.fork()
if child == 0:
    for copies in copy.copy, copy.deepcopy, pickle.dumps:
        raises(TypeError, "tunepipe.Study.connect('/", copies, study)
    for call in study.ask, trial.should_stop, lambda: study.tell(trial, 1):
        raises(tunepipe.StudyError, "fork()", call)
    with tunepipe.Study.connect(study.folder) as other:
        theirs = other.ask()
        assert theirs.number == 1
        other.tell(theirs, 1)
    study.close()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
study.tell(trial, 2)
assert [one.value for one in study.trials] == [1, 2]
E
}
check "a child that was fork()ed" forked

assessed() {
    py << 'E'
from common import *
with tunepipe.Study(SPACE, tuner="random", seed=1, assessor="medianstop",
                    assessor_args={"start_step": 2}, folder="s") as study:
    told = []

    def objective(trial):
        for step in range(0, 50, 10):  # which are gaps
            trial.report(trial.number, step=step)
            if trial.should_stop():
                told.append(trial.number)
                if trial.number % 2:
                    raise tunepipe.Stop
                return None
        return trial.number

    study.optimize(objective, n_trials=6)
    assert len(told) > 1, told
    assert {one.number: one.status for one in study.trials} == {
        number: "stopped" if number in told else "succeeded"
        for number in range(6)}
E
}
check "an assessor stops" assessed

# Who is killed sees that it is to stop, and optimize() goes on.
user_kills() {
    py << 'E'
from common import *
import subprocess


def kill(trial):
    subprocess.run([os.environ["TUNEPIPE_PROGRAM"], "trial", "kill", "s",
                    str(trial.number)], check=True, stdout=subprocess.DEVNULL)


with tunepipe.Study(SPACE, folder="s", seed=1) as study:
    def objective(trial):
        trial.report(1)
        assert not trial.should_stop()
        if trial.number in (1, 2):
            kill(trial)
            assert trial.should_stop()
            trial.report(2)
        if trial.number == 2:
            raise tunepipe.Stop
        return 1

    study.optimize(objective, n_trials=4)
    done = {one.number: one for one in study.trials}
    assert [done[number].value for number in range(4)] == [1, None, None, 1]
    assert done[1].status == done[2].status == "cancelled", done[1]
    other = study.ask()
    kill(other)
    error = raises(tunepipe.StudyError, "trial 00004", study.tell, other, 1)
    assert error.ended
E
}
check "trials that the user kills" user_kills

progress() {
    py << 'E'
from common import *
import pty
import sys
ours, theirs = pty.openpty()
with open(theirs, "w") as sys.stderr, tunepipe.Study(SPACE, seed=1) as study:
    values = [float("-inf"), {"default": 4}, 3]
    study.optimize(lambda trial: values[trial.number], n_trials=3)
    study.optimize(lambda trial: 9, n_trials=1)
    study.optimize(lambda trial: 9, n_trials=1, progress=False)
    said = ""
    while said.count("\n") < 2: # a terminal passes it on by and by
        said += os.read(ours, 65536).decode()
sys.stderr = sys.__stderr__
assert "\r0/3 trials " in said
assert "\r3/3 trials, best 3 (trial 2)" in said, said
assert "\r1/1 trials, best 3 (trial 2)" in said and said.count("\n") == 2, said
E
}
check "a line of progress on a terminal" progress

# Whoever goes on from a checkpoint finds the state behind its step, and no step
# is done twice.
promoted() {
    py << 'E'
from common import *


def objective(trial):
    step = trial.step
    if trial.restore_dir is not None:
        with open(os.path.join(trial.restore_dir, "step")) as file:
            assert int(file.read()) == step
    while True:
        step += 1
        path = "%d/step" % trial.number
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(str(step))
        if step % 2:
            trial.report(trial["x"] / step, checkpoint=path)
        else:
            trial.report(trial["x"] / step)
            with trial.checkpoint() as folder:
                os.rename(path, os.path.join(folder, "step"))
        assert step <= trial.budget
        if trial.should_stop():
            raise tunepipe.Stop


with tunepipe.Study(SPACE, tuner="asha", tuner_args={
        "max_budget": 9, "type": "promotion"}, seed=1, folder="s") as study:
    study.optimize(objective, n_trials=30)
    done = study.trials
    assert {one.status for one in done} == {"paused", "succeeded"}
    assert {one.budget for one in done} == {1, 3, 9}
    assert {one.intermediates for one in done} == {1, 2, 6}
    assert study.best.budget == 9 and list(study.best.params) == ["x"]
E
}
check "budgets and checkpoints" promoted

client_killed() {
    cat > first.py << 'E'
from common import *
study = tunepipe.Study(SPACE, folder="s", seed=1, tuner="random")
study.tell(study.ask(), 1)
two = study.ask(), study.ask()
print([trial.params for trial in two], flush=True)
os.kill(os.getpid(), signal.SIGKILL)
E
    python3 first.py > first
    py << 'E' || return 1
from common import *
with tunepipe.Study(SPACE, folder="s", seed=1, tuner="random") as study:
    assert study.best.value == 1
    two = study.ask(), study.ask()
    assert [trial.number for trial in two] == [1, 2]
    assert [trial.attempt for trial in two] == [1, 1]
    print([trial.params for trial in two])
    study.tell(study.ask(), 4)
    for trial in two:
        study.tell(trial, trial.number)
    assert [one.number for one in study.trials] == [0, 3, 1, 2]
E
    cmp first out && dir=s && replays || return 1
    python3 first.py > first # again, on top
    py << 'E'
from common import *
with tunepipe.Study.connect("s", lost="failed") as study:
    trial = study.ask()
    assert trial.number == 7 and trial.attempt == 0, trial.number
    assert [(one.number, one.status) for one in study.trials][5:] == [
        (5, "failed"), (6, "failed")]
    assert "died" in study.trials[5].why
E
}
check "kill -9 of a client" client_killed

server_killed() {
    py << 'E' && dir=s && replays
from common import *
with tunepipe.Study(SPACE, folder="s", seed=1, tuner="random") as study:
    def objective(trial):
        trial.report(1)
        if trial.number % 3 == 1:
            os.kill(server(study), signal.SIGKILL)
        trial.report(2)
        if trial.number % 3 == 2:
            os.kill(server(study), signal.SIGKILL)
        return trial["x"]

    study.optimize(objective, n_trials=9)
    done = study.trials
    assert [one.number for one in done] == list(range(9))
    assert {one.intermediates for one in done} == {2}, done
    assert [one.value for one in done] == [one.params["x"] for one in done]
# With nothing to send, but asks that wait for the tuner.
with tunepipe.Study(SPACE, folder="pbt", tuner="pbt", seed=1,
                    tuner_args={"population_size": 2}) as study:
    two = study.ask(), study.ask()
    waiting = []
    threads = [threading.Thread(target=lambda: waiting.append(study.ask()))
               for _ in two]
    for thread in threads:
        thread.start()
    os.kill(server(study), signal.SIGKILL)
    for trial in two:
        trial.report(trial["x"])
        study.tell(trial, trial["x"])
    for thread in threads:
        thread.join()
    assert sorted(trial.number for trial in waiting) == [2, 3]
E
}
check "kill -9 of the server" server_killed

# Given out, and the answer did not arrive: it is given again.
answer_lost() {
    py << 'E'
from common import *
import socket
with tunepipe.Study(SPACE, folder="s", tuner="pbt", seed=1,
                    tuner_args={"population_size": 2}) as study:
    mine = study.ask()
    with socket.socket(socket.AF_UNIX) as other:
        other.connect("s/control")
        other.sendall(b'{"command": "ask", "client": %d}\n' %
                      study._link._number)
        assert b'"trial": 1' in other.recv(65536)
        os.kill(server(study), signal.SIGKILL)
        again = study.ask()
    assert (again.number, again.attempt) == (1, 1), again
    study.tell(mine, 1)
    study.tell(again, 2)
    # Of two clients of a process each has its own.
    trial = study.ask()
    with tunepipe.Study.connect("s") as two:
        two.tell(two.ask(), 4)
    study.tell(trial, 3)
    assert [one.value for one in study.trials] == [1, 2, 4, 3]
E
}
check "an answer that its server's death swallows" answer_lost

dispatcher_killed() {
    dir=s
    py << 'E' && replays && has s/server.log 'dispatcher died (signal 9)'
from common import *
with tunepipe.Study(SPACE, folder="s", seed=1) as study:
    def objective(trial):
        if trial.number == 3:
            with open("s/dispatcher.pid") as file:
                os.kill(int(file.read().split()[0]), signal.SIGKILL)
        trial.report(1)
        return trial["x"]

    study.optimize(objective, n_trials=8)
    assert [one.number for one in study.trials] == list(range(8))
E
}
check "kill -9 of the dispatcher" dispatcher_killed

# Neither files nor a process.
is_clean() {
    echo "$PWD/tmp" > pattern
    ls tmp > left
    grep -lsaf pattern /proc/[0-9]*/cmdline >> left
    [ ! -s left ] || fail "$1: $(cat left)"
}

leaves_nothing() {
    mkdir tmp
    export TMPDIR="$PWD/tmp"
    py << 'E' && is_clean "by close" || return 1
from common import *
with tunepipe.Study(SPACE) as study:
    assert os.stat(study.folder).st_mode & 0o777 == 0o700
    study.tell(study.ask(), 1)
    study.ask()
study = tunepipe.Study(SPACE)
folder = study.folder
del study
assert not os.path.exists(folder)
raises(tunepipe.StudyError, "", tunepipe.Study, {"x": {}})
E
    py << 'E' && is_clean "at exit" || return 1
from common import *
study = tunepipe.Study(SPACE)
study.ask()
E
    py 1 << 'E' && is_clean "by an error"
from common import *
tunepipe.Study(SPACE).optimize(lambda trial: 1 / 0)
E
}
check "without a folder nothing is left" leaves_nothing

# Once it was stopped a Study may tell what it has, and is given nothing more;
# another one goes on.
stopped() {
    dir=s
    py << 'E' && "$T" show s > shown && has shown '1 succeeded' && replays
from common import *
import subprocess
study = tunepipe.Study(SPACE, folder="s", seed=1)
stop = [os.environ["TUNEPIPE_PROGRAM"], "stop", "s"]
trial = study.ask()
subprocess.run(stop, check=True, stdout=subprocess.DEVNULL)
study.tell(trial, 1)
error = raises(tunepipe.StudyError, "stopped by `tunepipe stop`", study.ask)
assert not error.over
raises(tunepipe.StudyError, "stopped by `tunepipe stop`", study.optimize,
       lambda trial: 1)
with tunepipe.Study.connect("s") as other:
    assert other.ask().number == 1
    subprocess.run(stop, check=True, stdout=subprocess.DEVNULL)
    raises(tunepipe.StudyError, "stopped by `tunepipe stop`", other.ask)
E
}
check "a study that was stopped gives nothing more" stopped

# Four processes, one study: every number once.
shared() {
    long=$(printf '%0100d' 0)
    mkdir "$long"
    cat > one.py << 'E'
from common import *
import sys
with tunepipe.Study(SPACE, folder=sys.argv[1], tuner="random", seed=1,
                    max_trials=100) as study:
    while True:
        try:
            trial = study.ask()
        except tunepipe.StudyError as error:
            assert error.over, error
            break
        trial.report(trial["x"])
        study.tell(trial, trial["x"])
        print(trial.number)
E
    for i in 1 2 3 4; do
        python3 -W error one.py "$long/s" > "numbers.$i" 2> "err.$i" &
    done
    wait
    [ -z "$(cat err.*)" ] || fail "$(cat err.*)" || return 1
    cat numbers.* | sort -n > numbers
    seq 0 99 | cmp - numbers && dir=$long/s && replays
}
check "four processes" shared

# What a notebook shows, which asks for _repr_html_.
notebook() {
    cat > p.py << 'E'
import pathlib
import sys
from common import *
sys.modules["ipykernel"] = sys
study = tunepipe.Study({"x": tunepipe.uniform(0, 1), "<net>": tunepipe.choice(
    [{"_name": "deep & wide", "n": tunepipe.randint(1, 9)}])}, folder="s",
    seed=1)
assert "<td" in study._repr_html_() and "none yet" in study._repr_html_()
study.optimize(lambda trial: trial["x"], n_trials=3)
for shown in study, study.best:
    page = shown._repr_html_()
    assert "%.6g" % study.best.value in page and "&lt;net&gt;/n" in page, page
    assert "deep &amp; wide" in page and "<net>" not in page
assert "3 done" in study._repr_html_()
for folder in "s", pathlib.Path("s"), study:
    page = tunepipe.report(folder)
    assert page.html.startswith("<!") and len(repr(page)) < 100
    assert page._repr_html_().startswith("<iframe srcdoc=\"&lt;!")
raises(ValueError, "a study, got 'nowhere'", tunepipe.report, "nowhere")
raises(tunepipe.StudyError, "nowhere", tunepipe.report, pathlib.Path("nowhere"))
tunepipe.report("0.5")
E
    python3 -W error p.py > out 2> err || fail "$(tail -n 1 err)" || return 1
    [ "$(cat out)" = "intermediate 0.5" ] || fail "prints $(cat out)" ||
        return 1
    tr '\r' '\n' < err | grep -q '^3/3 trials, best ' || fail "$(cat err)"
}
check "a notebook shows a study, its best and its page" notebook

# Types that are said where a checker looks for them; nothing that a trial does
# not use is imported.
lazily() {
    py << 'E'
import sys
import tunepipe
assert "tunepipe.study" not in sys.modules
assert "Study" in dir(tunepipe) and not hasattr(tunepipe, "study_")
assert tunepipe.Stop is tunepipe.trial.Stop
tunepipe.Study
assert "tunepipe.study" in sys.modules
E
    [ -f "$TP_SOURCE/src/python/tunepipe/py.typed" ]
}
check "a trial imports no more than it uses" lazily

finish
