#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""study.py FOLDER DIGITS.CSV [TRIAL]: tunes a function of one's own.

The function trains a neural network with one hidden layer to read handwritten
digits, in plain Python, and returns how many percent of the validation set it
reads right.  Killed at any moment, the same command goes on; as it does where
it kills itself with -9, in the middle of TRIAL."""
import math
import operator
import os
import random
import signal
import sys

import tunepipe

EPOCHS = 3
TRIALS = 60
SPACE = {
    "learning_rate": tunepipe.loguniform(0.001, 1),
    "hidden_units": tunepipe.randint(4, 13),
    "contrast": tunepipe.uniform(0.3, 3),
    "decay": tunepipe.uniform(0.3, 1),  # of the rate, from epoch to epoch
    "weights": tunepipe.loguniform(0.01, 1),  # to begin with
}


def read(path):
    """A half to train with, and a sixth to validate."""
    with open(path) as file:
        rows = [[int(x) for x in line.split(",")] for line in file]
    rows = [([x / 16 for x in row[:-1]], row[-1]) for row in rows]
    return ([row for i, row in enumerate(rows) if i % 6 < 3], rows[4::6])


def dot(a, b):
    return sum(map(operator.mul, a, b))


class Net:
    """64 pixels, hidden units (tanh), 10 digits (softmax)."""

    def __init__(self, units, spread, seed):
        self.random = random.Random(seed)
        self.hidden = [[self.random.gauss(0, spread) for _ in range(65)]
                       for _ in range(units)]
        self.out = [[self.random.gauss(0, spread) for _ in range(units + 1)]
                    for _ in range(10)]

    def read(self, pixels):
        """Values of the hidden units, and a score for each digit."""
        hidden = [math.tanh(dot(w, pixels)) for w in self.hidden] + [1.0]
        return hidden, [dot(w, hidden) for w in self.out]

    def train(self, rows, rate):
        for pixels, digit in self.random.sample(rows, len(rows)):
            hidden, scores = self.read(pixels)
            top = max(scores)
            odds = [math.exp(score - top) for score in scores]
            total = sum(odds)
            if odds[digit] > 0.95 * total:
                continue  # it knows this one
            steps = [rate * ((i == digit) - odd / total)
                     for i, odd in enumerate(odds)]
            for u, w in enumerate(self.hidden):
                step = sum(s * self.out[i][u] for i, s in enumerate(steps))
                step *= 1 - hidden[u] ** 2
                self.hidden[u] = [a + step * x for a, x in zip(w, pixels)]
            for i, step in enumerate(steps):
                self.out[i] = [a + step * x
                               for a, x in zip(self.out[i], hidden)]

    def percent_right(self, rows):
        right = 0
        for pixels, digit in rows:
            scores = self.read(pixels)[1]
            right += scores.index(max(scores)) == digit
        return round(100 * right / len(rows), 2)


def main(folder, digits, killed_in=None):
    training, validation = read(digits)

    def objective(trial):
        def contrast(rows):
            return [([x ** trial["contrast"] for x in pixels] + [1.0], digit)
                    for pixels, digit in rows]

        train, valid = contrast(training), contrast(validation)
        net = Net(trial["hidden_units"], trial["weights"], trial.number)
        rate = trial["learning_rate"]
        for epoch in range(EPOCHS):
            net.train(train, rate)
            rate *= trial["decay"]
            right = net.percent_right(valid)
            trial.report(right, step=epoch)
            if killed_in == str(trial.number):
                os.kill(os.getpid(), signal.SIGKILL)
            if trial.should_stop():
                raise tunepipe.Stop
        return right

    def say(study, trial):
        again = " (again)" if trial.attempt else ""
        value = "stopped" if trial.value is None else "%.2f %%" % trial.value
        print("trial %d%s: %s" % (trial.number, again, value), flush=True)

    study = tunepipe.Study(SPACE, direction="maximize", tuner="tpe",
                           assessor="medianstop",
                           assessor_args={"start_step": 2}, seed=2026,
                           folder=folder, max_trials=TRIALS)
    with study:
        study.optimize(objective, callbacks=[say], progress=False)
        best = study.best
    print("best %.2f %%, trial %d" % (best.value, best.number))
    for name, value in best.params.items():
        print("  %s %.6g" % (name, value))


main(*sys.argv[1:])
