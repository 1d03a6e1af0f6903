# SPDX-License-Identifier: MIT
"""TuneSearchCV beside RandomizedSearchCV: search_cv.py SEEDS N_ITER TUNER.

A seed splits the data, into what is searched on and what is held out, and is
the random_state of both searches.  Lines `NAME NUMBER`, and a table on stderr.
"""
import sys
import time
import warnings

import numpy as np
from scipy.stats import loguniform, randint, t
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import RandomizedSearchCV, train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from tunepipe.sklearn import TuneSearchCV

FOLDS = 3


def scaled(estimator):
    return Pipeline([("scale", StandardScaler()), ("clf", estimator)])


# NAME, data, how many of them are searched on, estimator, space, scoring
PROBLEMS = [
    ("svc", load_digits, 600, scaled(SVC()), {
        "clf__C": loguniform(1e-3, 1e4),
        "clf__gamma": loguniform(1e-6, 1)}, "accuracy"),
    ("boosting", load_diabetes, 300, HistGradientBoostingRegressor(
        early_stopping=False, random_state=0), {
            "learning_rate": loguniform(0.01, 1), "max_iter": randint(5, 61),
            "max_leaf_nodes": randint(2, 32),
            "min_samples_leaf": randint(1, 40),
            "l2_regularization": loguniform(1e-3, 1e3),
            "loss": ["squared_error", "absolute_error"]}, "r2"),
    ("mlp", load_breast_cancer, 400, scaled(MLPClassifier(
        max_iter=15, random_state=0)), {
            "clf__hidden_layer_sizes": [(8,), (16,), (32,), (16, 16)],
            "clf__alpha": loguniform(1e-5, 10),
            "clf__learning_rate_init": loguniform(1e-4, 1e-1),
            "clf__activation": ["relu", "tanh", "logistic"],
            "clf__batch_size": [16, 32, 64]}, "neg_log_loss"),
]


def measure(problem, seed, n_iter, tuner):
    """Cross-validated and held-out scores of both."""
    _, load, size, estimator, space, scoring = problem
    X, X_test, y, y_test = train_test_split(
        *load(return_X_y=True), train_size=size, random_state=seed)
    keys = dict(n_iter=n_iter, scoring=scoring, cv=FOLDS, random_state=seed)
    for search in (TuneSearchCV(estimator, space, tuner=tuner, **keys),
                   RandomizedSearchCV(estimator, space, **keys)):
        search.fit(X, y)
        yield search.best_score_
        yield search.score(X_test, y_test)


def interval(differences):
    """Their mean, and half of its 95 % interval."""
    n = len(differences)
    return np.mean(differences), (
        t.ppf(0.975, n - 1) * np.std(differences, ddof=1) / np.sqrt(n))


def main():
    seeds, n_iter, tuner = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    warnings.simplefilter("ignore")  # 15 epochs are not meant to converge
    print("%-9s %-29s %8s %8s   %s" % (
        "", "%d settings, %d folds" % (n_iter, FOLDS), tuner, "random",
        "difference, 95 % interval; better/level/worse"), file=sys.stderr)
    for problem in PROBLEMS:
        start = time.monotonic()
        scores = np.array([list(measure(problem, seed, n_iter, tuner))
                           for seed in range(seeds)])
        for what, i in ("cv", 0), ("test", 1):
            ours, theirs = scores[:, i], scores[:, i + 2]
            mean, half = interval(ours - theirs)
            name = "sklearn.%s.%s." % (problem[0], what)
            for figure, value in (
                    ("ours", ours.mean()), ("random", theirs.mean()),
                    ("difference", mean), ("low", mean - half),
                    ("high", mean + half), ("wins", (ours > theirs).sum()),
                    ("losses", (ours < theirs).sum())):
                print("%s%s %.5g" % (name, figure, value), flush=True)
            print("%-9s %-29s %8.4f %8.4f   %+.4f [%+.4f, %+.4f] %d/%d/%d" % (
                problem[0], problem[5] + (", held out" if i else
                                          ", cross-validated"),
                ours.mean(), theirs.mean(), mean, mean - half, mean + half,
                (ours > theirs).sum(), (ours == theirs).sum(),
                (ours < theirs).sum()), file=sys.stderr)
        print("%-9s %.0f s" % ("", time.monotonic() - start), file=sys.stderr)


main()
