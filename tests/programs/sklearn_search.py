# SPDX-License-Identifier: MIT
"""Tests of TuneSearchCV: sklearn_search.py NAME runs the function NAME.

As a plugin of pytest (-p sklearn_search) it has scikit-learn's own tests of
searches run with TuneSearchCV in the place of these.
"""
import os
import pickle
import signal
import sys
import textwrap
import warnings

import numpy as np
import tunepipe
from expecting import raises
from scipy import stats
from sklearn import model_selection
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_diabetes, load_wine
from sklearn.decomposition import PCA
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.utils.estimator_checks import check_estimator
from tunepipe.sklearn import TuneSearchCV, _read_space

X, y = load_wine(return_X_y=True)
PIPE = Pipeline([("scale", StandardScaler()), ("clf", SVC())])
SPACE = {"clf__C": stats.loguniform(1e-2, 1e3),
         "clf__gamma": stats.loguniform(1e-4, 1)}


def same(one, other):
    """Whether two cv_results_ are the same but for times."""
    assert sorted(one) == sorted(other)
    for key in one:
        if not key.endswith("_time"):
            np.testing.assert_equal(one[key], other[key], key)
    return True


def docstring():
    lines = tunepipe.sklearn.__doc__.split("\n")[1:]
    end = next(i for i, line in enumerate(lines)
               if line and not line.startswith("    "))
    names = {}
    exec(textwrap.dedent("\n".join(lines[:end])), names)
    search = names["search"]
    assert search.best_score_ > 0.9 and len(search.cv_results_["params"]) == 30


def interface():
    keys = dict(n_iter=6, random_state=3, cv=3, return_train_score=True)
    search = TuneSearchCV(PIPE, SPACE, **keys)
    assert search.fit(X, y) is search
    results = search.cv_results_
    theirs = model_selection.RandomizedSearchCV(PIPE, SPACE, **keys).fit(X, y)
    assert list(results) == list(theirs.cv_results_)
    for name in vars(theirs):
        assert not name.endswith("_") or hasattr(search, name), name
    assert search.best_score_ == results["mean_test_score"].max()
    assert search.best_params_ == results["params"][search.best_index_]
    scores = model_selection.cross_val_score(
        clone(PIPE).set_params(**search.best_params_), X, y, cv=3)
    assert search.best_score_ == scores.mean()
    assert search.score(X, y) == search.best_estimator_.score(X, y)
    assert len(search.classes_) == 3 and search.n_features_in_ == X.shape[1]

    again = clone(search)
    assert not hasattr(again, "cv_results_")
    assert same(again.fit(X, y).cv_results_, results)
    copy = pickle.loads(pickle.dumps(search))
    assert same(copy.cv_results_, results)
    assert (copy.predict(X) == search.predict(X)).all()
    again.set_params(estimator__clf__kernel="linear", n_iter=2)
    assert len(again.fit(X, y).cv_results_["params"]) == 2
    assert again.best_estimator_.named_steps["clf"].kernel == "linear"
    np.random.seed(1)
    one = TuneSearchCV(PIPE, SPACE, 2).fit(X, y).cv_results_
    np.random.seed(1)
    assert same(one, TuneSearchCV(PIPE, SPACE, 2).fit(X, y).cv_results_)

    several = TuneSearchCV(PIPE, SPACE, 4, random_state=0, refit="f1_macro",
                           scoring=["accuracy", "f1_macro"]).fit(X, y)
    assert several.multimetric_ and set(several.scorer_) == {"accuracy",
                                                             "f1_macro"}
    assert several.best_score_ == several.cv_results_[
        "mean_test_f1_macro"].max()
    chosen = TuneSearchCV(PIPE, SPACE, 3, refit=lambda results: 2).fit(X, y)
    assert chosen.best_index_ == 2 and not hasattr(chosen, "best_score_")
    groups = np.arange(len(y)) % 5
    weighed = TuneSearchCV(LogisticRegression(max_iter=20), {"C": [1, 2]},
                           cv=model_selection.LeaveOneGroupOut())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its convergence
        weighed.fit(X, y, groups=groups, sample_weight=np.ones(len(y)))
    assert weighed.n_splits_ == 5
    loss = TuneSearchCV(Ridge(), {"alpha": stats.loguniform(1e-3, 1e3)}, 4,
                        scoring="neg_mean_squared_error",
                        random_state=0).fit(*load_diabetes(return_X_y=True))
    assert loss.best_score_ == loss.cv_results_["mean_test_score"].max() < 0


def jobs():
    keys = dict(n_iter=7, random_state=1, cv=3)
    one = TuneSearchCV(PIPE, SPACE, **keys).fit(X, y).cv_results_
    two = [TuneSearchCV(PIPE, SPACE, n_jobs=2, **keys).fit(X, y).cv_results_
           for _ in range(2)]
    assert same(*two) and len(two[0]["params"]) == len(one["params"]) == 7
    # The first is tried whatever becomes of the others.
    assert two[0]["params"][0] == one["params"][0]
    scores = model_selection.cross_val_score(
        TuneSearchCV(PIPE, SPACE, 3, random_state=0), X, y, cv=2, n_jobs=2)
    assert scores.min() > 0.5
    # A child that was fork()ed has a study of its own.
    with tunepipe.Study({"x": tunepipe.uniform(0, 1)}) as study:
        trial = study.ask()
        child = os.fork()
        if child == 0:
            assert same(TuneSearchCV(PIPE, SPACE, **keys).fit(X, y)
                        .cv_results_, one)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        study.tell(trial, 1)


def spaces():
    # Values are the user's own objects, whatever JSON has of them.
    values = {"clf": [SVC(), GaussianNB()], "scale": (None, MinMaxScaler()),
              "scale__clip": np.array([False, True])}
    search = TuneSearchCV(PIPE, [dict(values, scale=[MinMaxScaler()]),
                                 {"clf__C": range(1, 9)}, {}], random_state=0)
    params = search.fit(X, y).cv_results_["params"]
    assert len(params) == 4 + 8 + 1 and {} in params  # there are no more
    assert sorted(one["clf__C"] for one in params if "clf__C" in one) == [
        *range(1, 9)]
    assert search.cv_results_["param_clf__C"].mask.sum() == 5
    assert {type(one["clf"]) for one in params if "clf" in one} == {
        SVC, GaussianNB}
    # None of the user's objects was changed.
    assert str(values["clf"][0]) == "SVC()"
    nested = {"kernel": tunepipe.choice([
        "linear", {"_name": "rbf", "gamma": stats.loguniform(1e-3, 1)},
        {"_name": "poly", "degree": [2, 3], "gamma": tunepipe.choice([
            "scale", "auto"])}]), "C": tunepipe.qrandint(1, 9, 2)}
    params = TuneSearchCV(SVC(), nested, 12, "random", cv=2, random_state=0).fit(
        StandardScaler().fit_transform(X), y).cv_results_["params"]
    for one in params:
        assert set(one) == {"linear": {"kernel", "C"},
                            "rbf": {"kernel", "C", "gamma"}}.get(
                                one["kernel"], {*one} | {"degree", "gamma"})
        assert type(one["C"]) is int and one["C"] % 2 == 1
    assert {one["kernel"] for one in params} == {"linear", "rbf", "poly"}

    def reads(given, kind, *expected):
        space = _read_space({"x": given})
        assert space.json["x"]["_type"] == kind, space.json
        dim = space.json["x"]["_value"]
        if expected:
            np.testing.assert_allclose(dim, expected, rtol=1e-15)
        return [space.read({"x": value})["x"] for value in dim]

    one, all_ = reads(stats.uniform(0, 1), "uniform", 0, 1)
    assert type(one) is float and type(all_) is float  # of max_features
    reads(stats.uniform(loc=1, scale=2), "uniform", 1, 3)
    reads(stats.loguniform(0.1, 10), "loguniform", 0.1, 10)
    reads(stats.randint(1, 5, loc=2), "randint", 3, 7)
    reads(stats.norm(2, 3), "normal", 2, 3)
    reads(stats.lognorm(0.5, scale=np.e), "lognormal", 1, 0.5)
    assert reads(stats.beta(2, 3), "uniform", 0, 1) == [0, 1]
    low, high = reads(stats.expon(scale=2), "uniform", 0, 0.999)
    assert low == 0 and 13 < high < 14
    low, high = reads(stats.poisson(3), "uniform")
    assert (low, type(low)) == (0, int) and 8 < high < 12
    assert reads(stats.loguniform(1, 9, loc=1), "uniform", 0, 1) == [2, 10]
    # Of a scale neighbours are near.
    scale = _read_space({"x": [0.1, 1, 10]})
    assert scale.json == {"x": tunepipe.randint(0, 3)}
    assert [scale.read({"x": i})["x"] for i in range(3)] == [0.1, 1, 10]
    assert reads([3, "a", None], "choice") == [3, "a", None]
    assert reads([1, True, 1.0], "choice") == [1, True, 1.0]
    assert reads([[1], [1, 2], {"a": 1}], "choice") == [[1], [1, 2], {"a": 1}]
    assert reads([len, stats.norm], "choice") == [len, stats.norm]
    assert type(reads(tunepipe.quniform(0, 1, 0.5), "quniform")[0]) is float
    assert type(reads(tunepipe.quniform(0, 8, 2), "quniform")[0]) is int


def errors():
    def refused(kind, words, estimator=PIPE, space=SPACE, **keys):
        error = raises(kind, words,
                       TuneSearchCV(estimator, space, **keys).fit, X, y)
        assert "\n" not in str(error)

    refused(ValueError, "no parameter 'clf__CC' (did you mean 'clf__C'?)",
            space={"clf__CC": [1, 2]})
    refused(ValueError, "no parameter 'clg__C' (did you mean 'clf__C'?)",
            space=[{"clf": [SVC()], "clf__any": [1]}, {"clg__C": [1, 2]}])
    refused(ValueError, "n_iter: expected 1 or more, got 0", n_iter=0)
    refused(ValueError, "expected a parameter at least, got {}", space={})
    refused(TypeError, "expected a dict, or a list of dicts, got []", space=[])
    refused(TypeError, "expected a dict, got 5", space=[5])
    refused(TypeError, "expected texts as keys, got 5", space={5: [1]})
    refused(ValueError, "'clf__C': expected a value at least, got []",
            space={"clf__C": []})
    refused(TypeError, "'clf__C': expected a list of values, a distribution of "
            "scipy.stats", space={"clf__C": 1.0})
    refused(TypeError, "got 'rbf': ['rbf'] is a list of one value",
            space={"clf__kernel": "rbf"})
    only_drawn = type("Drawn", (), {"rvs": lambda self: 1})()
    refused(TypeError, "a method ppf", space={"clf__C": only_drawn})
    refused(TypeError, "lacks its arguments: beta(...)",
            space={"clf__C": stats.beta})
    refused(tunepipe.StudyError, "no tuner 'tpee' (did you mean 'tpe'?)",
            tuner="tpee")
    refused(ValueError, "expected one without budgets", tuner="hyperband")
    no_score = type("NoScore", (BaseEstimator,), {"fit": lambda self: self})()
    refused(TypeError, "should have a 'score' method", no_score)


class Fails(ClassifierMixin, BaseEstimator):
    """Where told to: with an error, or with Ctrl-C for a process."""

    def __init__(self, level=0, pid=None):
        self.level, self.pid = level, pid

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        if self.pid is not None and self.level == 3:
            os.kill(self.pid, signal.SIGINT)
            signal.pause()
        if self.level > 1:
            raise ValueError("level %d\nis too high" % self.level)
        return self

    def predict(self, X):
        return np.full(len(X), self.level)


def failing():
    space = {"level": [0, 1, 2, 3]}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search = TuneSearchCV(Fails(), space, folder="s").fit(X, y)
    kinds = [one.category for one in caught]
    assert kinds.count(FitFailedWarning) == 1, kinds
    levels = search.cv_results_["param_level"]
    means = search.cv_results_["mean_test_score"]
    assert (np.isnan(means) == (levels > 1)).all()
    assert search.best_params_["level"] < 2
    with tunepipe.Study.connect("s") as study:
        done = {one.params["level"]: one for one in study.trials}
    assert [done[i].status for i in range(4)] == ["succeeded"] * 2 + [
        "failed"] * 2
    assert "is too high" in done[3].why, done[3]
    search = TuneSearchCV(Fails(), space, error_score=-1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(X, y)
    assert (search.cv_results_["mean_test_score"] == -1).sum() == 2
    raises(ValueError, "is too high",
           TuneSearchCV(Fails(), space, error_score="raise").fit, X, y)
    raises(ValueError, "All the 10 fits failed",
           TuneSearchCV(Fails(), {"level": [2, 3]}).fit, X, y)


def stopped():
    X, y = load_diabetes(return_X_y=True)
    space = {"C": stats.loguniform(1e-3, 1e3),
             "epsilon": stats.loguniform(1e-3, 1e3)}
    keys = dict(cv=8, assessor="wilcoxon", random_state=1)
    search = TuneSearchCV(SVR(), space, 20, **keys).fit(X, y)
    results = search.cv_results_
    ran = results["n_splits_run"]
    assert 0 < (ran < 8).sum() < 20 and ran.min() >= 4, ran
    scores = np.array([results["split%d_test_score" % i] for i in range(8)])
    assert (np.isfinite(scores).sum(axis=0) == ran).all()
    np.testing.assert_allclose(np.nanmean(scores, axis=0),
                               results["mean_test_score"])
    np.testing.assert_allclose(np.nanstd(scores, axis=0),
                               results["std_test_score"])
    rank = results["rank_test_score"]
    assert rank[ran == 8].max() < rank[ran < 8].min()
    assert ran[search.best_index_] == 8
    # In two steps, kept; of n folds at a time, each of another setting.
    TuneSearchCV(SVR(), space, 9, folder="s", **keys).fit(X, y)
    parts = TuneSearchCV(SVR(), space, 20, folder="s", **keys).fit(X, y)
    assert same(parts.cv_results_, results)
    two = [TuneSearchCV(SVR(), space, 12, n_jobs=2, **keys).fit(X, y)
           .cv_results_ for _ in range(2)]
    assert same(*two)


def folder():
    def search(n_iter, **keys):
        return TuneSearchCV(PIPE, SPACE, n_iter, **dict(
            dict(random_state=1, folder="s", cv=3, refit="accuracy",
                 scoring=["accuracy", "f1_macro"]), **keys))

    whole = search(8, folder=None).fit(X, y).cv_results_
    search(3).fit(X, y)
    part = search(8).fit(X, y).cv_results_
    assert same(part, whole)
    again = search(8).fit(X, y)
    for key in part:  # times, too, and nothing was run
        np.testing.assert_equal(again.cv_results_[key], part[key], key)
    assert again.predict(X).shape == y.shape
    other = "its scores are of other data, folds or scoring"
    raises(ValueError, other, search(9).fit, X[1:], y[1:])
    raises(ValueError, other, search(9, cv=4).fit, X, y)
    raises(ValueError, other, search(9, scoring=None, refit=True).fit, X, y)
    raises(tunepipe.StudyError, "seed", search(9, random_state=2).fit, X, y)
    with tunepipe.Study.connect("s") as study:
        assert len(study.trials) == 8
    # Of values that have the places of others none is taken for these.
    for values in [0.1, 1, 10], [0.2, 2, 20]:
        scale = TuneSearchCV(SVC(), {"C": values}, 1, cv=2, folder="u",
                             random_state=0)
        if values[0] == 0.1:
            scale.fit(X, y)
    raises(ValueError, " in this space: expected a folder for each", scale.fit,
           X, y)
    # Without a seed the study's own one stays.
    search(1, random_state=None, folder="t").fit(X, y)
    assert len(search(2, random_state=None, folder="t").fit(X, y)
               .cv_results_["params"]) == 2


def interrupted():
    """By Ctrl-C, from the middle of a fit; the rest is done by the next one."""
    for n_jobs in None, 2:
        for where in None, "s%s" % n_jobs:
            search = TuneSearchCV(Fails(pid=os.getpid()), {"level": [0, 3]},
                                  folder=where, n_jobs=n_jobs, random_state=1)
            raises(KeyboardInterrupt, "", search.fit, X, y)
        search.set_params(estimator=Fails(), error_score=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert len(search.fit(X, y).cv_results_["params"]) == 2


def common():
    """As scikit-learn checks its own searches."""
    warnings.simplefilter("ignore")
    for estimator, space in [
            (Ridge(), {"alpha": [0.1, 1.0]}),
            (LogisticRegression(), {"C": [0.1, 1.0]}),
            (make_pipeline(PCA(), Ridge()), {"ridge__alpha": [0.1, 1.0]}),
            (make_pipeline(PCA(), LogisticRegression()),
             {"logisticregression__C": [0.1, 1.0]})]:
        check_estimator(TuneSearchCV(estimator, space, cv=2, random_state=0,
                                     error_score="raise"))


# ---- scikit-learn's tests, with ours in their place ----

class GridSearchCV(TuneSearchCV):
    _required_parameters = ["estimator", "param_grid"]

    def __init__(self, estimator, param_grid, *, scoring=None, n_jobs=None,
                 refit=True, cv=None, verbose=0, pre_dispatch="2*n_jobs",
                 error_score=np.nan, return_train_score=False):
        super().__init__(estimator, param_grid, 10 ** 6, "gridsearch",
                         scoring=scoring, n_jobs=n_jobs, refit=refit, cv=cv,
                         verbose=verbose, error_score=error_score,
                         return_train_score=return_train_score)
        self.param_grid, self.pre_dispatch = param_grid, pre_dispatch

    def _run_search(self, evaluate_candidates):
        self.space = self.param_grid or [{}]
        self.n_iter = len(model_selection.ParameterGrid(self.param_grid))
        super()._run_search(evaluate_candidates)


class RandomizedSearchCV(TuneSearchCV):
    _required_parameters = ["estimator", "param_distributions"]

    def __init__(self, estimator, param_distributions, *, n_iter=10,
                 scoring=None, n_jobs=None, refit=True, cv=None, verbose=0,
                 pre_dispatch="2*n_jobs", random_state=None,
                 error_score=np.nan, return_train_score=False):
        super().__init__(estimator, param_distributions, n_iter,
                         scoring=scoring, n_jobs=n_jobs, refit=refit, cv=cv,
                         verbose=verbose, random_state=random_state,
                         error_score=error_score,
                         return_train_score=return_train_score)
        self.param_distributions = param_distributions
        self.pre_dispatch = pre_dispatch

    def _run_search(self, evaluate_candidates):
        self.space = self.param_distributions
        super()._run_search(evaluate_candidates)


def pytest_configure(config):
    model_selection.GridSearchCV = GridSearchCV
    model_selection.RandomizedSearchCV = RandomizedSearchCV


if __name__ == "__main__":
    globals()[sys.argv[1]]()
