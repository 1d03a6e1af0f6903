# SPDX-License-Identifier: MIT
"""Tuning an estimator of scikit-learn, as its own searches do.

    from scipy.stats import loguniform
    from sklearn.datasets import load_wine
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import MinMaxScaler, StandardScaler
    from sklearn.svm import SVC
    from tunepipe.sklearn import TuneSearchCV

    X, X_test, y, y_test = train_test_split(*load_wine(return_X_y=True),
                                            random_state=0)
    search = TuneSearchCV(
        Pipeline([("scale", StandardScaler()), ("clf", SVC())]),
        {"scale": [StandardScaler(), MinMaxScaler()],
         "clf__C": loguniform(1e-2, 1e3),
         "clf__gamma": loguniform(1e-4, 1)},
        n_iter=30, random_state=0)
    search.fit(X, y)
    print(search.best_score_, search.best_params_)
    print(search.score(X_test, y_test))

TuneSearchCV stands where RandomizedSearchCV does: cv_results_, best_params_,
best_estimator_ and the like, several scores with refit="NAME", a function as
refit, error_score, clone(), pickle, cross_val_score() around it.  Other than
there, what is tried next depends on what came of the settings before: on their
mean scores, of several scores on that of refit="NAME", else on the first.

The space has names of parameters as set_params() takes them, and for each

- a list, tuple or array: one of its values, whatever objects these are.
  Numbers in rising or falling order are taken for a scale, so that neighbours
  say something of each other;
- a distribution of scipy.stats (uniform, loguniform, randint, norm and lognorm
  are ours by the same names; any other one is searched by its quantiles), or
  another object that has a method ppf;
- what a function of tunepipe.space says: tunepipe.lograndint(1, 1000).

Parameters that exist beside some values only are said as a list of such
spaces, of which one is chosen first, or as a nested choice, whose name is the
value of the parameter itself:

    [{"clf": [SVC()], "clf__C": tunepipe.loguniform(1e-2, 1e3)},
     {"clf": [GaussianNB()]}]

    {"kernel": tunepipe.choice([
        {"_name": "linear"}, {"_name": "rbf", "gamma": loguniform(1e-4, 1)}])}

With assessor="wilcoxon" the folds of a setting are run one after the other,
and the rest of them is left out once it is clearly worse than the best: four
have to be run before that can be, so that it pays with cv=10 and not with cv=5.
In cv_results_ the folds left out are NaN, means are over those that were run,
n_splits_run says how many, and no such setting ranks before one that was run
on all.

It needs scikit-learn 1.1 or later.
"""

import inspect
import itertools
import json
import math
import numbers
import re
import time
from typing import (Any, Callable, Dict, Iterable, List, Mapping, NamedTuple,
                    Optional, Sequence, Set, Tuple, Union)

import sklearn  # type: ignore[import]  # first, as it is what may be absent
import joblib  # type: ignore[import]
import numpy as np
from scipy.stats import rankdata  # type: ignore[import]
from sklearn.base import clone  # type: ignore[import]
from sklearn.model_selection import _search  # type: ignore[import]
from sklearn.utils import check_random_state  # type: ignore[import]

from . import space as _space
from .link import StudyError, brief, run
from .study import Study, Trial
from .trial import _nearest

__all__ = ["TuneSearchCV"]

_PATIENCE_S = 5    # for a tuner that may wait for the results of what is run
_WELL_USED = 0.8   # of the jobs' time, where settings are evaluated together
_TAIL = 1e-3       # of a distribution without end: beyond it nothing is tried
_ERROR_MAX = 4000  # characters of a traceback that a folder keeps
Settings = Dict[str, Any]


class TuneSearchCV(_search.BaseSearchCV):  # type: ignore[misc]
    """A search for the settings with the best mean score over the folds.

    estimator, scoring, cv, n_jobs, refit, error_score, verbose,
    return_train_score: as in RandomizedSearchCV, and so are the attributes
    behind fit().

    space: what param_distributions is there, and more: the module says of
    what.  n_iter: how many settings; fewer where the space has no more.
    tuner, assessor: as tunepipe.Study takes them.

    n_jobs: folds at a time.  Where a setting has too few to occupy them,
    several are evaluated together, of which none knows the others' results.
    Which are tried depends on it therefore, and on random_state, and on
    nothing else.

    folder: where the search is kept, for `tunepipe show`, report and the rest;
    None: nowhere.  A folder that has a search is gone on with: cv_results_ has
    its settings, too, which count in n_iter.  Estimator, data, folds and
    scoring have to be those of before, so that of a random cv the random_state
    is needed; a changed estimator is not noticed.
    """

    _required_parameters = ["estimator", "space"]

    def __init__(self, estimator: Any, space: Any, n_iter: int = 60,
                 tuner: Union[str, Mapping[str, Any]] = "auto",
                 scoring: Any = None, cv: Any = None,
                 n_jobs: Optional[int] = None, refit: Any = True,
                 random_state: Any = None,
                 error_score: Union[float, str] = np.nan,
                 folder: Any = None, *,
                 assessor: Union[str, Mapping[str, Any], None] = None,
                 verbose: int = 0, return_train_score: bool = False) -> None:
        self.space = space
        self.n_iter = n_iter
        self.tuner = tuner
        self.random_state = random_state
        self.folder = folder
        self.assessor = assessor
        super().__init__(estimator=estimator, scoring=scoring, n_jobs=n_jobs,
                         refit=refit, cv=cv, verbose=verbose,
                         error_score=error_score,
                         return_train_score=return_train_score)

    def _run_search(self, evaluate_candidates: Callable[..., Any]) -> None:
        if not isinstance(self.n_iter, numbers.Integral) or self.n_iter < 1:
            raise ValueError("n_iter: expected 1 or more, got %s" %
                             brief(self.n_iter))
        folds = _Folds(self, evaluate_candidates)
        space = _read_space(self.space)
        _check_names(folds.estimator, space.names)
        # Of a setting that was stopped the tuner would learn the score on the
        # last fold, which may be an easy one.
        with Study(space.json, direction="maximize", tuner=self.tuner,
                   assessor=self.assessor, early_stopped="ignore",
                   seed=self._seed(), folder=self.folder) as study:
            candidates = _earlier(study, space, folds.mark)
            if self.verbose > 0:
                n = max(self.n_iter - len(candidates), 0)
                print("Fitting %d folds for each of %d candidates, totalling "
                      "%d fits" % (folds.n, n, folds.n * n))
            self._search(study, space, folds, candidates)
        candidates.sort(key=lambda one: one.number)
        folds.conclude(candidates, self._table(candidates, folds.n))

    def _seed(self) -> Optional[int]:
        state = self.random_state
        if isinstance(state, numbers.Integral):
            return int(state)
        if state is None and self.folder is not None:
            return None  # the study's own, which stays
        return int(check_random_state(state).randint(2 ** 31))

    def _search(self, study: Study, space: "_Space", folds: "_Folds",
                candidates: "List[_Candidate]") -> None:
        """Keeps the jobs at work: at all folds of a candidate, or with an
        assessor at the next one of each."""
        n_jobs = joblib.effective_n_jobs(self.n_jobs)
        at_a_time = folds.n if self.assessor is None else 1
        width = next(n for n in itertools.count(1) if n * at_a_time >=
                     _WELL_USED * n_jobs * math.ceil(n * at_a_time / n_jobs))
        working: List[_Candidate] = []
        while True:
            while len(working) < width and len(candidates) < self.n_iter:
                trial = _ask(study, bool(working), bool(candidates))
                if trial is None:
                    break
                if trial.budget is not None:
                    raise ValueError("tuner: expected one without budgets, as "
                                     "all settings are run on all folds, got %s"
                                     % brief(self.tuner))
                one = _Candidate(trial.number, space.read(trial.params), trial)
                candidates.append(one)
                working.append(one)
            if not working:
                return
            outs = iter(folds.run(
                [(one, len(one.outs) + i) for one in working
                 for i in range(at_a_time)], self.n_iter))
            working = [one for one in working if not self._hear(
                study, one, list(itertools.islice(outs, at_a_time)), folds)]

    def _hear(self, study: Study, one: "_Candidate",
              outs: List[Dict[str, Any]], folds: "_Folds") -> bool:
        """Takes what came of the candidate's next folds; whether it has ended.

        The last fold is told with the result: nobody stops a candidate then.
        """
        said: Any = None
        for out in outs:
            one.outs.append(out)
            said = self._score(out["test_scores"])
            if folds.mark:
                error = out["fit_error"] and out["fit_error"][-_ERROR_MAX:]
                said = {"default": said, "data": folds.mark, **out,
                        "fit_error": error, "settings": _text(one.params)}
            if len(one.outs) < folds.n and (folds.mark or
                                            self.assessor is not None):
                one.trial.report(said)
        if len(one.outs) < folds.n and not one.trial.should_stop():
            return False
        try:
            self._tell(study, one, said, folds)
        except StudyError as error:
            if not error.ended:  # by `tunepipe trial kill`, meanwhile
                raise
        return True

    def _tell(self, study: Study, one: "_Candidate", said: Any,
              folds: "_Folds") -> None:
        if len(one.outs) < folds.n:
            study.tell(one.trial)
            return
        mean = float(np.mean([self._score(out["test_scores"])
                              for out in one.outs]))
        if not math.isnan(mean):
            study.tell(one.trial, {**said, "default": mean} if folds.mark
                       else mean)
            return
        if folds.mark:
            one.trial.report(said)
        study.fail(one.trial, one.why())

    def _score(self, scores: Any) -> float:
        """The one of several that is searched for."""
        if not isinstance(scores, Mapping):
            return float(scores)
        if self.refit is not False:
            self._check_refit_for_multimetric(scores)
        return float(scores[self.refit if isinstance(self.refit, str)
                            else next(iter(scores))])

    def _table(self, candidates: "List[_Candidate]",
               n_splits: int) -> Dict[str, Any]:
        """The cv_results_."""
        outs = [out for one in candidates for out in one.outs]
        _search._warn_or_raise_about_fit_failures(outs, self.error_score)
        if callable(self.scoring):
            _search._insert_error_scores(outs, self.error_score)
        ran = np.array([len(one.outs) for one in candidates])
        results: Dict[str, Any] = self._format_results(
            [one.params for one in candidates], n_splits,
            [out for one in candidates for out in one.filled(n_splits)],
            {} if self.assessor is None else {"n_splits_run": ran})
        if (ran < n_splits).any():
            _empty_stopped(results, ran, n_splits)
        return results


class _Folds:
    """The folds, and what fit() of scikit-learn has prepared to run them.

    Its evaluate_candidates() runs all folds of what it is given, and raises
    when all of these fail: who decides after each setting, or each fold, ends
    at the first one that cannot be fitted.  So what it would run is read from
    its closure, and what it would keep is put there.
    """

    def __init__(self, search: TuneSearchCV,
                 evaluate_candidates: Callable[..., Any]) -> None:
        names = inspect.getclosurevars(evaluate_candidates).nonlocals
        try:
            self.estimator = names["base_estimator"]
            self._data = names["X"], names["y"]
            self._parallel = names["parallel"]
            self._arguments = names["fit_and_score_kwargs"]
            self._all_out, self._results = names["all_out"], names["results"]
            cv = (names["cv_orig"] if "cv_orig" in names
                  else search._checked_cv_orig)  # since 1.9
            keys = (names["routed_params"].splitter.split
                    if "routed_params" in names  # since 1.4
                    else {"groups": names["groups"]})
        except (KeyError, AttributeError) as error:
            raise RuntimeError("tunepipe does not know scikit-learn %s: its "
                               "searches have no %s" % (
                                   sklearn.__version__, error)) from None
        self._splits = list(cv.split(*self._data, **keys))
        #: How many there are.
        self.n = len(self._splits)
        expected = cv.get_n_splits(*self._data, **keys)
        if self.n == 0:
            raise ValueError("No fits were performed. Was the CV iterator "
                             "empty? Were there no candidates?")
        if self.n != expected:
            raise ValueError("cv.split and cv.get_n_splits returned "
                             "inconsistent results. Expected %d splits, got %d"
                             % (expected, self.n))
        scoring = search.scoring
        #: What a folder's scores are of; empty: there is none.
        self.mark: str = "" if search.folder is None else joblib.hash((
            self._data, self._splits, self._arguments["fit_params"],
            search.return_train_score,
            scoring if isinstance(scoring, str) else
            None if scoring is None or callable(scoring) else sorted(scoring)))

    def run(self, tasks: "Iterable[Tuple[_Candidate, int]]",
            n_candidates: int) -> List[Dict[str, Any]]:
        """Fits and scores on these folds, as many at a time as there are
        jobs."""
        outs: List[Dict[str, Any]] = self._parallel(
            _search.delayed(_search._fit_and_score)(
                clone(self.estimator), *self._data,
                train=self._splits[i][0], test=self._splits[i][1],
                parameters=one.params, split_progress=(i, self.n),
                candidate_progress=(one.number, n_candidates),
                **self._arguments) for one, i in tasks)
        return outs

    def conclude(self, candidates: "List[_Candidate]",
                 results: Dict[str, Any]) -> None:
        self._all_out.extend(candidates[0].outs)
        self._results.update(results)


class _Candidate:
    """A trial of the study: its settings, and what came of their folds."""

    def __init__(self, number: int, params: Settings, trial: Any = None,
                 outs: Sequence[Dict[str, Any]] = ()) -> None:
        self.number, self.params = number, params
        self.trial = trial  #: None: of an earlier fit()
        self.outs = list(outs)

    def why(self) -> str:
        """What it has failed of."""
        errors = [out["fit_error"] for out in self.outs if out["fit_error"]]
        return (str(errors[0]).strip().rpartition("\n")[2] if errors
                else "its mean score is nan")

    def filled(self, n_splits: int) -> List[Dict[str, Any]]:
        """With the means in place of the folds that were not run."""
        missing = n_splits - len(self.outs)
        if not missing:
            return self.outs
        mean = {key: _mean([out[key] for out in self.outs])
                for key in self.outs[0] if key != "fit_error"}
        return self.outs + [dict(mean, fit_error=None)] * missing


def _mean(values: List[Any]) -> Any:
    if isinstance(values[0], Mapping):
        return {name: _mean([one[name] for one in values])
                for name in values[0]}
    return float(np.mean(values))


def _empty_stopped(results: Dict[str, Any], ran: Any, n_splits: int) -> None:
    """Has NaN in place of the means that stand for folds not run, and ranks
    such candidates behind."""
    for key, column in results.items():
        split = re.match(r"split(\d+)_(test|train)_", key)
        if split:
            column[int(split.group(1)) >= ran] = np.nan
        elif key.startswith("std_"):
            column *= np.sqrt(n_splits / ran)
        elif key.startswith("rank_test_"):
            means = np.where(ran < n_splits, np.nan,
                             results["mean_" + key[len("rank_"):]])
            if not np.isnan(means).all():
                means[np.isnan(means)] = np.nanmin(means) - 1
                column[:] = rankdata(-means, method="min")


def _ask(study: Study, is_working: bool, has_some: bool) -> Optional[Trial]:
    """The study's next trial; None: it has to wait, or there is no more."""
    try:
        return study._ask(time.monotonic() + _PATIENCE_S if is_working
                          else None)
    except TimeoutError:
        return None
    except StudyError as error:
        if error.over and has_some:
            return None
        raise


def _earlier(study: Study, space: "_Space", mark: str) -> List[_Candidate]:
    """What a folder has from before."""
    if not mark:
        return []
    said: Dict[int, Dict[int, List[Dict[str, Any]]]] = {}
    settings: Dict[int, Optional[str]] = {}
    for row in json.loads(run("export", "--json", "--intermediate",
                              study.folder)):
        fold = json.loads(row["said"] or "{}")
        if not isinstance(fold, dict) or fold.pop("data", None) != mark:
            raise ValueError("folder %s: its scores are of other data, folds "
                             "or scoring: expected a folder for each" %
                             study.folder)
        fold.pop("default")
        settings[int(row["trial"])] = fold.pop("settings", None)
        attempts = said.setdefault(int(row["trial"]), {})
        attempts.setdefault(row["attempt"], []).append(
            {key: _number(value) if key != "fit_error" else value
             for key, value in fold.items()})
    earlier = [_Candidate(done.number, space.read(done.params), None,
                          said[done.number][max(said[done.number])])
               for done in study.trials if done.number in said]
    for one in earlier:  # a study knows places in lists and quantiles only
        if _text(one.params) != settings[one.number]:
            raise ValueError(
                "folder %s: its trial %d was run with %s, which is %s in this "
                "space: expected a folder for each" % (
                    study.folder, one.number, settings[one.number],
                    _text(one.params)))
    return earlier


def _text(settings: Settings) -> str:
    text = re.sub(r" at 0x[0-9a-fA-F]+", "", repr(settings))
    return " ".join(text.split())[:_ERROR_MAX]


def _number(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _number(one) for name, one in value.items()}
    return float(value)


# ---- the space ----

class _Space(NamedTuple):
    json: Dict[str, Any]  #: as a study takes it
    read: Callable[[Mapping[str, Any]], Settings]  #: from a trial's parameters
    names: Set[str]  #: which the settings may have


class _Dimension(NamedTuple):
    json: Mapping[str, Any]
    read: Callable[[Any], Any]  #: the value; of a nested choice the settings
    names: Optional[Set[str]] = None  #: of a nested choice


def _read_space(given: Any) -> _Space:
    if isinstance(given, Mapping):
        if not given:
            raise ValueError("space: expected a parameter at least, got {}")
        return _read_dict(given)
    if not isinstance(given, (list, tuple)) or not given:
        raise TypeError("space: expected a dict, or a list of dicts, got %s" %
                        brief(given))
    spaces = [_read_dict(one) for one in given]
    options = [{"_name": str(i), **one.json} for i, one in enumerate(spaces)]
    return _Space({"space": _space.choice(options)},
                  lambda params: spaces[int(params["space"]["_name"])].read(
                      params["space"]),
                  set().union(*[one.names for one in spaces]))


def _read_dict(given: Any) -> _Space:
    if not isinstance(given, Mapping):
        raise TypeError("space: expected a dict, got %s" % brief(given))
    dims: Dict[str, _Dimension] = {}
    for name, one in given.items():
        if not isinstance(name, str):
            raise TypeError("space: expected texts as keys, got %s" %
                            brief(name))
        if name != "_name":
            dims[name] = _read_dimension(name, one)

    def read(params: Mapping[str, Any]) -> Settings:
        settings: Settings = {}
        for name, value in params.items():
            if name == "_name":
                continue
            if dims[name].names is None:
                settings[name] = dims[name].read(value)
            else:
                settings.update(dims[name].read(value))
        return settings

    return _Space({name: dim.json for name, dim in dims.items()}, read,
                  set(dims).union(*[dim.names or () for dim in dims.values()]))


def _read_dimension(name: str, given: Any) -> _Dimension:
    if isinstance(given, Mapping) and "_type" in given:
        return _read_ours(name, given)
    if callable(getattr(given, "ppf", None)) and not hasattr(given, "freeze"):
        return _read_distribution(given)
    if (hasattr(given, "__len__") and hasattr(given, "__getitem__") and
            not isinstance(given, (str, bytes, Mapping))):
        return _read_values(name, given, is_scale=True)
    raise TypeError(
        "space: %r: expected a list of values, a distribution of scipy.stats "
        "or what a function of tunepipe.space says, got %s%s" % (
            name, brief(given), ", which lacks its arguments: %s(...)" %
            getattr(given, "name", "") if hasattr(given, "freeze") else
            ", which can be drawn from (rvs): a search needs its quantiles, a "
            "method ppf" if hasattr(given, "rvs") else
            ": [%s] is a list of one value" % brief(given)))


def _read_ours(name: str, given: Mapping[str, Any]) -> _Dimension:
    kind, values = given["_type"], given.get("_value", ())
    if kind == "choice":
        if any(isinstance(one, Mapping) and "_name" in one for one in values):
            return _read_nested(name, _space.choice(values)["_value"])
        return _read_values(name, values, is_scale=False)
    # A study's whole numbers have become integers, which mean something else
    # to estimators: of max_features 1 is one and 1.0 are all.
    whole = kind.endswith("randint") or kind[0] == "q" and all(
        isinstance(one, numbers.Integral) for one in values)
    return _Dimension(given, int if whole else float)


def _read_nested(name: str, options: Sequence[Any]) -> _Dimension:
    spaces = {one["_name"]: _read_dict(one) for one in options}

    def read(value: Mapping[str, Any]) -> Settings:
        return {name: value["_name"], **spaces[value["_name"]].read(value)}

    return _Dimension(
        _space.choice([{"_name": one, **sub.json}
                       for one, sub in spaces.items()]), read,
        set().union(*[sub.names for sub in spaces.values()]))


def _read_values(name: str, given: Any, is_scale: bool) -> _Dimension:
    """Objects, of which JSON has places or names."""
    values = list(given)
    if not values:
        raise ValueError("space: %r: expected a value at least, got %s" %
                         (name, brief(given)))
    if is_scale and len(values) > 2 and _is_ordered(values):
        return _Dimension(_space.randint(0, len(values)), values.__getitem__)
    labels = [one if isinstance(one, str)
              else re.sub(r" at 0x[0-9a-fA-F]+", "", brief(one))
              for one in values]
    if len(set(labels)) < len(labels):
        labels = ["%d: %s" % (i, label) for i, label in enumerate(labels)]
    objects = dict(zip(labels, values))
    return _Dimension(_space.choice(labels),
                      lambda label: _unspoilt(objects[label]))


def _unspoilt(value: Any) -> Any:
    """A copy of an estimator: scikit-learn before 1.3 sets parameters of it."""
    return (clone(value) if hasattr(value, "get_params") and
            not isinstance(value, type) else value)


def _is_ordered(values: List[Any]) -> bool:
    if not all(isinstance(one, numbers.Real) and not isinstance(one, bool) and
               math.isfinite(one) for one in values):
        return False
    pairs = list(zip(values, values[1:]))
    return all(a < b for a, b in pairs) or all(a > b for a, b in pairs)


def _read_distribution(given: Any) -> _Dimension:
    kind = getattr(given, "dist", None)
    named = ([*(kind.shapes or "").replace(",", " ").split(), "loc", "scale"]
             if kind is not None else [])
    args = {"loc": 0, "scale": 1, **dict(zip(named, given.args)), **given.kwds
            } if kind is not None else {}
    name = getattr(kind, "name", "")
    if name == "uniform":
        return _Dimension(_space.uniform(
            args["loc"], args["loc"] + args["scale"]), float)
    if name in ("loguniform", "reciprocal") and args["loc"] == 0:
        return _Dimension(_space.loguniform(
            args["a"] * args["scale"], args["b"] * args["scale"]), float)
    if name == "randint":
        return _Dimension(_space.randint(
            args["low"] + args["loc"], args["high"] + args["loc"]), int)
    if name == "norm":
        return _Dimension(_space.normal(args["loc"], args["scale"]), float)
    if name == "lognorm" and args["loc"] == 0:
        return _Dimension(_space.lognormal(
            math.log(args["scale"]), args["s"]), float)
    return _by_quantiles(given, hasattr(kind or given, "pmf"))


def _by_quantiles(given: Any, is_discrete: bool) -> _Dimension:
    # A discrete one's quantile of 0 is below all of its values.
    first = 1e-12 if is_discrete else 0.0
    low = first if math.isfinite(given.ppf(0.0)) else _TAIL
    high = 1.0 if math.isfinite(given.ppf(1.0)) else 1 - _TAIL
    number = int if is_discrete else float
    return _Dimension(_space.uniform(low, high),
                      lambda share: number(given.ppf(share)))


def _check_names(estimator: Any, names: Set[str]) -> None:
    """Of components that are searched for themselves nobody knows."""
    known = estimator.get_params()
    for name in sorted(names):
        parts = name.split("__")
        if name in known or any("__".join(parts[:n]) in names
                                for n in range(1, len(parts))):
            continue
        try:  # some take what they do not list
            clone(estimator).set_params(**{name: None})
        except ValueError:
            raise ValueError("space: %s has no parameter %r%s" % (
                type(estimator).__name__, name, _nearest(name, known)
                )) from None
