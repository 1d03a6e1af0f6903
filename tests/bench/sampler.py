# SPDX-License-Identifier: MIT
"""tunepipe.optuna.Sampler beside Optuna's TPE: sampler.py SEEDS TRIALS TUNER.

And beside the same tuner that knows the space beforehand and suggests the first
trial, too: what reading it off the trials costs.  Regrets, whose least is 0, as
shares of that of the best of ten trials at random.  Lines `NAME NUMBER`, and a
table on stderr.
"""
import math
import random
import sys
import warnings

import numpy as np
import optuna
from scipy.stats import t
from optuna.samplers import RandomSampler, TPESampler
from tunepipe.dispatcher import Dispatcher
from tunepipe.optuna import Sampler
from tunepipe.optuna_space import Space

LEAST = 1e-4  # of a regret's share: below it all are as good


def flat(name, terms):
    """Of five numbers from -1 to 1, each away from where it should be."""
    def objective(trial, drawn):
        x = [trial.suggest_float("x%d" % i, -1, 1) - drawn.uniform(-.8, .8)
             for i in range(5)]
        return sum(terms(i, one) for i, one in enumerate(x))
    objective.__name__ = name
    return objective


ellipsoid = flat("ellipsoid", lambda i, x: 10 ** (i / 2) * x * x)
ripples = flat("ripples", lambda i, x: x * x + .1 - .1 *
               math.cos(6 * math.pi * x))


def rates(trial, drawn):
    value = 0
    for i in range(4):
        rate = trial.suggest_float("rate%d" % i, 1e-6, 1, log=True)
        value += (math.log10(rate) + drawn.uniform(1, 5)) ** 2
    units = trial.suggest_int("units", 8, 1024, log=True)
    return value + math.log2(units / 2 ** drawn.randint(4, 9)) ** 2


def mixed(trial, drawn):
    value = 0
    for i in range(2):
        choice = trial.suggest_categorical("c%d" % i, ["a", "b", "c", "d"])
        value += abs("abcd".index(choice) - drawn.randint(0, 3)) ** .5
        value += (trial.suggest_int("n%d" % i, 0, 40, step=4) / 4 -
                  drawn.randint(0, 10)) ** 2 / 20
        value += abs(trial.suggest_float("x%d" % i, 0, 1) - drawn.random())
    return value


def branches(trial, drawn):
    """The branch that is best is not the one that is best at random."""
    kind = trial.suggest_categorical("kind", ["forest", "svc", "linear"])
    depth, c, gamma, rate = (drawn.uniform(-1, 1) for _ in range(4))
    if kind == "forest":
        return .5 + abs(trial.suggest_int("depth", 1, 20) / 10 - 1 - depth)
    if kind == "linear":
        return 1 + (math.log10(trial.suggest_float("rate", .1, 10, log=True))
                    - rate) ** 2
    value = (math.log10(trial.suggest_float("C", 1e-3, 1e3, log=True)) - c) ** 2
    if trial.suggest_categorical("kernel", ["poly", "rbf"]) == "poly":
        return value + .2 * trial.suggest_int("degree", 1, 6)
    return value + (math.log10(trial.suggest_float("gamma", 1e-3, 1e3,
                                                   log=True)) - gamma) ** 2


def layers(trial, drawn):
    n = trial.suggest_int("layers", 1, 4)
    wanted = [drawn.randint(8, 120) for _ in range(4)]
    return abs(n - 3) + sum(
        abs(trial.suggest_int("units%d" % i, 4, 128) - wanted[i]) / 60
        for i in range(n))


PROBLEMS = [ellipsoid, ripples, rates, mixed, branches, layers]


def values(problem, seed, n, sampler):
    study = optuna.create_study(sampler=sampler)
    study.optimize(lambda trial: problem(trial, random.Random(seed)), n)
    return study


def known(problem, seed, n, tuner):
    """The values, of the tuner that is told the space."""
    space = Space.of_trials(values(problem, seed, 300,
                                   RandomSampler(seed)).trials)
    dispatcher = Dispatcher(space.written(), "minimize", seed, tuner=tuner)
    found = []
    for i in range(n):
        dispatcher.send("GE", "1")
        record = dispatcher.receive()[1]
        _, params = space.read(record["parameters"])
        found.append(problem(optuna.trial.FixedTrial(params),
                             random.Random(seed)))
        ids = {"trial_job_id": str(i), "parameter_id": record["parameter_id"]}
        dispatcher.send("ME", dict(ids, type="FINAL", sequence=0,
                                   value=found[-1]),
                        "EN", dict(ids, event="SUCCEEDED"))
    return found


def regrets(problem, seed, n, tuner):
    """Logarithms: of the sampler, of who knows the space, of Optuna's TPE."""
    at_random = [one.value for one in values(
        problem, seed, 100, RandomSampler(seed + 1000)).trials]
    scale = np.median([min(at_random[i:i + 10]) for i in range(0, 100, 10)])
    for found in (
            values(problem, seed, n, Sampler(tuner, seed)).best_value,
            min(known(problem, seed, n, tuner)),
            values(problem, seed, n, TPESampler(seed=seed)).best_value):
        yield math.log(max(found / scale, LEAST))


def main():
    seeds, n, tuner = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    print("%-12s %9s %9s %9s   %s" % (
        "%d trials" % n, tuner, "beforehand", "TPE",
        "share of who knows it beforehand, of TPE; 95 % interval"),
        file=sys.stderr)
    shares = []

    def tell(name, logs):
        means = [math.exp(one) for one in logs.mean(axis=0)]
        print("%-12s %9.4f %9.4f %9.4f" % (name, *means), end="",
              file=sys.stderr)
        for other, i in ("known", 1), ("tpe", 2):
            lead = logs[:, 0] - logs[:, i]
            half = t.ppf(0.975, seeds - 1) * lead.std(ddof=1) / seeds ** .5
            ends = [math.exp(lead.mean() + one) for one in (0, -half, half)]
            print("   %.2f [%.2f, %.2f]" % tuple(ends), end="",
                  file=sys.stderr)
            for figure, value in zip(("", ".low", ".high"), ends):
                print("optuna.%s.%s%s %.5g" % (name, other, figure, value))
        print(file=sys.stderr, flush=True)

    for problem in PROBLEMS:
        shares.append([list(regrets(problem, seed, n, tuner))
                       for seed in range(seeds)])
        tell(problem.__name__, np.array(shares[-1]))
    tell("all", np.array(shares).mean(axis=0))


main()
