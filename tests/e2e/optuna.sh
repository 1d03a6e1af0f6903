#!/bin/sh
# SPDX-License-Identifier: MIT
# not under asan
# not under tsan
# takes long
# tunepipe.optuna beside the Optuna of this machine; and, where it has them (5
# and later), beside Optuna's own tests for samplers.  TUNEPIPE_TEST_OPTUNA: the
# folder of another Optuna.
. "$(dirname "$0")/lib.sh"
export PYTHONDONTWRITEBYTECODE=1 TUNEPIPE_PROGRAM="$T"
export PYTHONPATH="$TP_SOURCE/src/python:$TP_SOURCE/tests/programs"
export PYTHONPATH="$PYTHONPATH:${TUNEPIPE_TEST_OPTUNA:-}"
python=$(python_with optuna) || {
    echo "skipped optuna: no Optuna here (Debian's python3-optuna)"
    exit
}

# py < PROGRAM: it succeeds.
py() {
    cat > p.py
    "$python" -W error::ResourceWarning p.py > out 2> err ||
        fail "status $?: $(tail -n 1 err)"
}

cat > "$work/common.py" << 'E'
import optuna
import tunepipe
from expecting import raises
Pruner, Sampler = tunepipe.optuna.Pruner, tunepipe.optuna.Sampler

optuna.logging.set_verbosity(optuna.logging.ERROR)


def flat(trial):
    return ((trial.suggest_float("x", -5, 5) - 1) ** 2 +
            abs(trial.suggest_int("n", 1, 64, log=True) - 7) +
            trial.suggest_int("k", 2, 10, step=4) +
            trial.suggest_float("q", 0.1, 0.7, step=0.2) +
            (trial.suggest_categorical("act", ["relu", None, 3]) != "relu"))


def study(sampler, objective=flat, n=40, **keys):
    made = optuna.create_study(sampler=sampler, **keys)
    made.optimize(objective, n_trials=n)
    return made


def params(made):
    return [one.params for one in made.trials]


def space(made):
    (search,) = made.sampler._searches._known[made._storage].values()
    return search.space
E
export PYTHONPATH="$PYTHONPATH:$work"

# One dispatcher for a space that stays; values as Optuna has them.
searches() {
    py << 'E'
from common import *
made = study(Sampler(seed=1), n=100)
best = made.best_trial
assert made.best_value < 2.2, made.best_value
assert best.params["act"] == "relu" and best.params["n"] == 7
for one in made.trials:
    assert type(one.params["n"]) is int and one.params["k"] in (2, 6, 10)
    assert min(abs(one.params["q"] - v) for v in (.1, .3, .5, .7)) < 1e-12
assert [one.name for one in space(made).parameters] == [
    "x", "n", "k", "q", "act"]
worst = study(Sampler(seed=1), lambda t: -flat(t), 100, direction="maximize")
assert worst.best_value == -made.best_value
E
}
check "a study of Optuna's is searched by auto" searches

# The same seed is the same search, wherever it is; another one is another.
seeded() {
    py << 'E'
import pickle
from common import *
for tuner in "auto", "tpe", "cmaes", "gp", "random", "anneal":
    once = params(study(Sampler(tuner, seed=1)))
    assert once == params(study(pickle.loads(pickle.dumps(
        Sampler(tuner, seed=1)))))
    assert once != params(study(Sampler(tuner, seed=2)))
other = Sampler("random", seed=1)
other.reseed_rng()
assert params(study(other)) != params(study(Sampler("random", seed=1)))
assert params(study(Sampler())) != params(study(Sampler()))
few = study(Sampler("tpe", 1, {"tpe_args": {"n_startup_jobs": 2}}))
assert params(few) != params(study(Sampler("tpe", 1)))
E
}
check "the same seed gives the same trials" seeded

# Branches at two depths become nested parameters; what an integer decides is
# a parameter like all.
grows() {
    py << 'E'
from common import *


def branches(trial):
    kind = trial.suggest_categorical("kind", ["svc", "forest", "linear"])
    c = 0 if kind == "forest" else trial.suggest_float("C", .1, 10, log=True)
    if kind == "forest":
        return trial.suggest_int("depth", 1, 20) + 3
    if kind == "svc" and trial.suggest_categorical(
            "kernel", ["rbf", "poly"]) == "poly":
        return trial.suggest_int("degree", 1, 6) + abs(c - 1)
    return abs(c - 1) + 2


made = study(Sampler(seed=1), branches, 100)
assert made.best_value < 1.1, made.best_value
(kind,) = space(made).parameters
names = [[one.name for one in chosen.parameters] for chosen in kind.nested]
assert names == [["C", "kernel"], ["depth"], ["C"]], names
kernel = kind.nested[0].parameters[1]
assert [[one.name for one in chosen.parameters]
        for chosen in kernel.nested] == [[], ["degree"]]


def layers(trial):
    return sum(abs(trial.suggest_int("units%d" % i, 4, 128) - 30)
               for i in range(trial.suggest_int("layers", 1, 4)))


made = study(Sampler(seed=1), layers, 100)
assert made.best_value == 0
found = space(made).parameters
assert {one.name: one.always for one in found} == {
    "layers": True, "units0": True, "units1": False, "units2": False,
    "units3": False}


# A parameter that the objective gets later, and a range that changes.
def later(trial):
    x = trial.suggest_float("x", 0, 10 if trial.number < 20 else 4)
    y = trial.suggest_float("y", -1, 1) if trial.number >= 10 else 0
    return (x - 3) ** 2 + y ** 2


made = study(Sampler(seed=1), later, 80)
assert made.best_value < 0.01, made.best_value
assert space(made).parameters[0].range.high == 4
made = study(Sampler(seed=1), lambda t: t.suggest_float(
    "y", 0, t.suggest_float("x", 0.1, 1)) - t.params["x"], 60)
assert made.best_value < -0.9, made.best_value
E
}
check "the space is read off the trials as it grows" grows

# What trials were given by others, in part or whole, is what the tuner learns.
fixed() {
    py << 'E'
from common import *
made = optuna.create_study(sampler=Sampler(seed=1))
whole = {"x": 1.0, "n": 7, "k": 2, "q": 0.1, "act": "relu"}
made.enqueue_trial({"x": 4.0})
made.optimize(flat, n_trials=10)
made.enqueue_trial({"x": 4.5})
made.enqueue_trial(whole)
made.optimize(flat, n_trials=20)
assert made.trials[0].params["x"] == 4.0
assert made.trials[10].params["x"] == 4.5
assert made.trials[11].params == whole and made.best_trial.number == 11
made.sampler = optuna.samplers.PartialFixedSampler({"n": 3}, made.sampler)
made.optimize(flat, n_trials=5)
assert [one.params["n"] for one in made.trials[-5:]] == [3] * 5
E
}
check "enqueued and fixed parameters are taken" fixed

# Names and ranges that the protocol's JSON has not; categories that are not
# equal to themselves; trials from elsewhere with other ranges; many studies.
strange() {
    py << 'E'
import os
from common import *
from optuna.distributions import (CategoricalDistribution,
                                  FloatDistribution, IntDistribution)
from optuna.trial import create_trial


def objective(trial):
    kind = trial.suggest_categorical("", [float("nan"), None, True, 1])
    return (abs(trial.suggest_int("\0", -10 ** 30, 10 ** 30)) +
            trial.suggest_float("_name", 0, 1) + (kind is not None))


made = study(Sampler("tpe", 1), objective, 30)
assert [one.name for one in space(made).parameters] == ["", "\0", "_name"]

made = optuna.create_study(sampler=Sampler("tpe", 1))
letters = CategoricalDistribution(["a", "b"])
for i in range(10):
    made.add_trial(create_trial(
        params={"x": "ab"[i % 2], **({"y": .5} if i % 2 else {})}, value=1,
        distributions={"x": letters, **({"y": FloatDistribution(0, 1)}
                                        if i % 2 else {})}))
for value, other in [("c", CategoricalDistribution(["c", "d", "e"])),
                     (3, IntDistribution(1, 10)), ("b", letters)]:
    made.add_trial(create_trial(params={"x": value}, value=1,
                                distributions={"x": other}))
made.optimize(lambda trial: trial.suggest_categorical("x", ["a", "b"]) == "a",
              n_trials=10)
assert made.best_params["x"] == "b"

sampler, storage = Sampler("tpe", 1), optuna.storages.InMemoryStorage()
several = [study(sampler, n=3, storage=storage, pruner=Pruner())
           for _ in range(20)]
assert len(os.listdir("/proc/self/fd")) < 30
for made in several[:2]:
    made.optimize(flat, n_trials=5)
    assert len(made.trials) == 8
E
}
check "what is strange to the protocol" strange

# Of a storage that is shared: gone on with, by one process and by three.
resumed() {
    py << 'E'
import multiprocessing
from common import *
URL = "sqlite:///s.db"
study(Sampler(seed=1), n=20, storage=URL, study_name="s")


def go_on(n=20):
    made = optuna.load_study(study_name="s", storage=URL,
                             sampler=Sampler(seed=1))
    made.optimize(flat, n_trials=n)
    return made


if __name__ == "__main__":
    made = go_on()
    assert len(made.trials) == 40
    assert len({str(one) for one in params(made)}) == 40  # nothing again
    several = [multiprocessing.Process(target=go_on) for _ in range(3)]
    for one in several:
        one.start()
    for one in several:
        one.join()
        assert one.exitcode == 0
    made = go_on(0)
    assert len(made.trials) == 100
    assert len({str(one) for one in params(made)}) > 95
    assert made.best_value < 2.5, made.best_value
E
}
check "a study is resumed, and shared by processes" resumed

# Its number may be another's, later.
deleted() {
    py << 'E'
from common import *


def objective(trial):
    x = trial.suggest_float("x", 0, 1)
    trial.report(x, 0)
    trial.should_prune()
    return x


keys = dict(sampler=Sampler(seed=1), pruner=Pruner())
made = optuna.create_study(study_name="a", storage="sqlite:///s.db", **keys)
made.optimize(objective, n_trials=10)
number, storage = made._study_id, made._storage
optuna.delete_study(study_name="a", storage=storage)
made = optuna.create_study(study_name="b", storage=storage, **keys)
assert made._study_id == number and made._storage is storage
made.optimize(lambda trial: objective(trial) + trial.suggest_int("n", 1, 9),
              n_trials=10)
assert [one.name for one in space(made).parameters] == ["x", "n"]
E
}
check "a study that was deleted is forgotten" deleted

threads() {
    py << 'E'
import os
import threading
from common import *
made = optuna.create_study(sampler=Sampler(seed=1))
together = threading.Barrier(4)


def objective(trial):
    value = flat(trial)
    together.wait()
    return value


made.optimize(objective, n_trials=40, n_jobs=4)
assert len(made.trials) == 40
# gp, which has most of the later ones, may try a point again.
assert len({str(one) for one in params(made)[:16]}) == 16
# A child that was fork()ed has a dispatcher of its own.
child = os.fork()
if child == 0:
    made.optimize(flat, n_trials=20)
    os._exit(made.best_value > 3)
made.optimize(flat, n_trials=20)
assert os.waitpid(child, 0)[1] == 0
# So has one that was fork()ed while another thread was asking.
asking, end = threading.Event(), threading.Event()


def ask():
    with made.sampler._searches._turn, made.pruner._juries._turn:
        asking.set()
        end.wait()


made.pruner = Pruner()
thread = threading.Thread(target=ask)
thread.start()
asking.wait()
child = os.fork()
if child == 0:
    trial = made.ask()
    trial.report(1, 0)
    trial.should_prune()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
end.set()
thread.join()
E
}
check "threads and forked children" threads

# A tuner that is killed is begun again, one that waits is waited for.
killed() {
    py << 'E'
from common import *


def objective(trial):
    if trial.number in (5, 12):
        (search,) = made.sampler._searches._known[made._storage].values()
        search._tuner._child.kill()
        search._tuner._child.wait()
    return flat(trial)


made = optuna.create_study(sampler=Sampler(seed=1))
made.optimize(objective, n_trials=30)
assert len(made.trials) == 30
# Ctrl-C in the middle of an answer.
(search,) = made.sampler._searches._known[made._storage].values()
answers = search._tuner._child.stdout


class Interrupted:
    def read(self, n):
        answers.read(1)
        raise KeyboardInterrupt

    def close(self):
        answers.close()


search._tuner._child.stdout = Interrupted()
raises(KeyboardInterrupt, "", made.optimize, flat, n_trials=1)
made.optimize(flat, n_trials=5)
assert len(made.trials) == 36
made = optuna.create_study(sampler=Sampler("evolution", 1,
                                           {"population_size": 2}))
held = [made.ask() for _ in range(5)]
for trial in held:
    made.tell(trial, flat(trial))
made.optimize(flat, n_trials=20)
assert len(made.trials) == 25
# All points of a small space: again, unless it is a grid.
few = lambda trial: trial.suggest_int("n", 0, 2)
assert len(study(Sampler(), few, 10).trials) == 10
for seed in range(5):
    made = study(Sampler("grid", seed), few, 10)
    assert {one.params["n"] for one in made.trials} == {0, 1, 2}
    assert len(made.trials) == 4
# Trials without a value are none of the results.
def fails(trial):
    value = flat(trial)
    if trial.number % 4 == 1:
        raise RuntimeError
    if trial.number % 4 == 2:
        raise optuna.TrialPruned
    return value if trial.number % 4 else float("nan")
made = optuna.create_study(sampler=Sampler(seed=1))
made.optimize(fails, n_trials=40, catch=(RuntimeError,))
assert len(made.trials) == 40
E
}
check "tuners that are killed, wait, or have all tried" killed

# Each assessor, at steps of any spacing; wilcoxon at folds in any order.
prunes() {
    py << 'E'
import random
from common import *


def curve(steps):
    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        for step in steps(trial):
            trial.report(x + 1 / (1 + step), step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return x
    return objective


def pruned(assessor, steps, **keys):
    made = study(optuna.samplers.RandomSampler(seed=1), curve(steps), 40,
                 pruner=Pruner(assessor, keys))
    return [one for one in made.trials if one.state.name == "PRUNED"]


every = lambda trial: range(0, 100, 10)
odd = lambda trial: range(0, 100, (7, 10, 13)[trial.number % 3])
for assessor in "medianstop", "percentile":
    some = pruned(assessor, every)
    assert 10 < len(some) < 40 and len(pruned(assessor, odd)) > 10
    assert min(one.params["x"] for one in some) > 0.05
chance = random.Random(1)
steps = lambda trial: sorted(chance.sample(range(10 ** 6), 10))
assert 10 < len(pruned("medianstop", steps)) < 40
late = pruned("medianstop", every, start_step=4)
assert late and min(len(one.intermediate_values) for one in late) == 4
assert len(pruned("threshold", every, upper=1.5)) > 10
assert not pruned("patience", every)


def folds(trial):
    x, order = trial.suggest_float("x", 0, 1), list(range(12))
    random.Random(trial.number).shuffle(order)
    values = []
    for fold in order:
        values.append(x + fold * 7 % 12)
        trial.report(values[-1], fold)
        if trial.should_prune():
            raise optuna.TrialPruned
    return sum(values) / 12


made = study(optuna.samplers.RandomSampler(seed=1), folds, 30,
             pruner=Pruner("wilcoxon"))
best = None
for one in made.trials:  # it is exact: each is worse in all folds, or in none
    worse = best is not None and one.params["x"] > best
    assert (one.state.name == "PRUNED") == worse, one
    assert not worse or len(one.intermediate_values) == 4
    best = one.params["x"] if not worse else best
E
}
check "assessors as pruners" prunes

# Studies with several directions, by a tuner that knows all values.
several() {
    py << 'E'
from common import *


def two(trial):
    x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
    return x, (1 + y) * (1 - (x / (1 + y)) ** 0.5)


for tuner in "auto", "random":
    made = optuna.create_study(directions=["minimize", "minimize"],
                               sampler=Sampler(tuner, seed=1))
    made.optimize(two, n_trials=30)
    assert len(made.best_trials) > 3
again = study(Sampler("auto", seed=1), two, 30,
              directions=["minimize", "minimize"])
made = study(Sampler("auto", seed=1), two, 30,
             directions=["minimize", "minimize"])
assert params(again) == params(made)
E
}
check "several directions" several

refused() {
    py << 'E'
import pickle
from common import *
raises(ValueError, "did you mean 'tpe'?", Sampler, "tpee")
raises(ValueError, "decides itself how long trials run", Sampler, "asha")
raises(ValueError, "expected choice, whose values are complete", Sampler,
       "batch")
raises(ValueError, "tpe_args.gamma", Sampler, "tpe", 1, {"gama": 1})
raises(TypeError, "integer", Sampler, "tpe", "x")
raises(ValueError, "did you mean 'medianstop'?", Pruner, "mediastop")
raises(ValueError, "start_step", Pruner, "medianstop", {"start": 1})
pickle.loads(pickle.dumps(Pruner()))
E
}
check "what is wrong is said at once" refused

its_own() {
    "$python" -c 'import pytest, optuna.testing.pytest_samplers' 2> /dev/null || {
        echo "this Optuna has none: TUNEPIPE_TEST_OPTUNA may name its sources"
        return 77
    }
    "$python" -m pytest -q -p no:cacheprovider \
        "$TP_SOURCE/tests/programs/optuna_samplers.py" > out 2> err ||
        fail "$(tail -n 5 out)"
}
check "Optuna's own tests for samplers" its_own

finish
