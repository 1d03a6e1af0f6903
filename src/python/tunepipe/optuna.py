# SPDX-License-Identifier: MIT
# mypy: disable-error-code="misc", no-warn-unused-ignores
"""tunepipe's tuners and assessors in Optuna's place of samplers and pruners.

    import optuna
    import tunepipe.optuna

    study = optuna.create_study(
        sampler=tunepipe.optuna.Sampler(),
        pruner=tunepipe.optuna.Pruner("medianstop"))
    study.optimize(objective, n_trials=100)

For Optuna 3 and later.  The study's storage is all that is kept: a study that
is resumed, by another process or with another sampler before, goes on from the
trials that are in it.  Processes that share a study know each other's results,
and not what the others try at the time; threads (n_jobs) know that, too.

Of a study with several directions the tuner has all values, as objectives.

The search space is read off the trials that were completed (tunepipe.
optuna_space says how); what is asked for the first time is drawn at random.
"""

import operator
import os
import random
import secrets
import warnings
from dataclasses import dataclass
from typing import (Any, ContextManager, Dict, Iterable, List, Optional,
                    Union)

from optuna.samplers import BaseSampler  # type: ignore
from optuna.study import Study, StudyDirection  # type: ignore
from optuna.trial import FrozenTrial, TrialState  # type: ignore

from .dispatcher import Dispatcher, named
from .link import StudyError
from .optuna_pruner import Pruner
from .optuna_space import Params, Range, Space, draw, nearest
from .optuna_study import Ended, PerStudy, metrics

__all__ = ["Sampler", "Pruner"]

_IMPORTED = 1000  # trials in one command
_FEW = 10  # trials, which do not say where a search begins
_GROWTH = 1.1  # of a study, until its space is read anew


class Sampler(BaseSampler):
    """A tuner as a sampler.

    tuner: the name of one that `tunepipe tuners` lists, or the path of a
    plugin; tuner_args: its arguments.  seed: None: another one each time.  A
    tuner that gives out budgets (asha, hyperband, bohb, pbt) is refused: that
    is a pruner's work.
    """

    def __init__(self, tuner: Union[str, "os.PathLike[str]"] = "auto",
                 seed: Optional[int] = None,
                 tuner_args: Optional[Dict[str, Any]] = None) -> None:
        self._plugins: Dict[str, Any] = {"tuner": os.fspath(tuner),
                                         "tuner_args": tuner_args}
        self._seed = (secrets.randbits(32) if seed is None
                      else operator.index(seed))
        self._searches = PerStudy()
        self._check()

    def _check(self) -> None:
        """ValueError: there is no such tuner, or it is none for Optuna."""
        space = {"x": {"_type": "uniform", "_value": [0, 1]}}
        try:
            Dispatcher(space, "minimize", **self._plugins).close()
        except StudyError as error:
            raise ValueError(str(error)) from None
        try:
            Dispatcher(space, "minimize", assessor="medianstop",
                       **self._plugins).close()
        except StudyError:
            raise ValueError(
                "tuner %r decides itself how long trials run, and so does "
                "Optuna's pruner: expected another one, such as 'tpe', beside "
                "tunepipe.optuna.Pruner('medianstop')" %
                self._plugins["tuner"]) from None

    def _search(self, study: Study) -> "ContextManager[_Search]":
        return self._searches.of(study, lambda: _Search(self._plugins))

    def infer_relative_search_space(
            self, study: Study, trial: FrozenTrial) -> Dict[str, Range]:
        with self._search(study) as search:
            search.look(study, trial)
            fixed = trial.system_attrs.get("fixed_params", {})
            if not all(one.name in fixed for one in search.space.parameters):
                search.ask(study, trial, self._seed)
            return dict(search.given.get(trial.number, _NOTHING).ranges)

    def sample_relative(
            self, study: Study, trial: FrozenTrial,
            search_space: Dict[str, Range]) -> Dict[str, Any]:
        if not search_space:
            return {}
        with self._search(study) as search:
            given = search.given.get(trial.number, _NOTHING)
            if not search_space.items() <= given.ranges.items():
                # Somebody else has said what the space is.
                search.look(study, trial)
                search.set(Space.of(search_space))
                given = search.ask(study, trial, self._seed)
            return {name: given.params[name] for name in search_space
                    if name in given.params}

    def sample_independent(self, study: Study, trial: FrozenTrial,
                           param_name: str,
                           param_distribution: Range) -> Any:
        with self._search(study) as search:
            given = search.given.get(trial.number, _NOTHING)
            if param_name in given.params:  # in another range
                return nearest(param_distribution, given.params[param_name])
            return draw(param_distribution, "%d %d %s" % (
                self._seed, trial.number, param_name))

    def reseed_rng(self) -> None:
        self._seed = secrets.randbits(32)


@dataclass(frozen=True)
class _Given:
    """What the tuner has suggested for a trial."""

    ranges: Dict[str, Range]
    params: Params
    id: Any = None  #: its parameter_id


_NOTHING = _Given({}, {})


class _Search:
    """What is known of a study: its space, and a tuner that knows its trials.

    The tuner has the results in the order of the trials' numbers, as far as
    they were there when it was asked.  It is begun anew, and told all, when
    the space changes.
    """

    def __init__(self, plugins: Dict[str, Any]) -> None:
        self.space = Space()
        self.given: Dict[int, _Given] = {}  # to those that run
        self._plugins = plugins
        self._ended: List[FrozenTrial] = []  # that have a value
        self._of_study = Ended()
        self._grown = 0.0  # trials, from which on the space is read anew
        self._tuner: Optional[Dispatcher] = None
        self._ready: List[Any] = []  # what the tuner has said unasked
        self._owes = False  # a suggestion
        self._over = False
        self._repeats = False  # the space is small: it may say all again
        self._ends = plugins["tuner"] == "grid"  # with its space

    def rest(self) -> None:
        """Ends its process, as there may be hundreds of studies."""
        self._tuner = None

    def look(self, study: Study, trial: FrozenTrial) -> None:
        """Learns what has ended since."""
        if trial.number in self._of_study.known:  # another with this id
            self.__dict__.update(_Search(self._plugins).__dict__)
        new = self._of_study.new(study)
        ended = [one for one in new if _value(one) is not None]
        self._ended += ended
        if not all(self.space.is_of(one) for one in ended
                   if one.state == TrialState.COMPLETE):
            self._read()
        try:
            if self._tuner is not None:
                self._tell(self._tuner, new)
        except StudyError:
            self._tuner = None  # the next is told all
        for one in new:
            self.given.pop(one.number, None)

    def _read(self) -> None:
        if len(self._ended) < self._grown:
            return
        self._grown = len(self._ended) * _GROWTH
        completed = [one for one in self._ended
                     if one.state == TrialState.COMPLETE]
        self.set(Space.of_trials(completed or self._ended))

    def set(self, space: Space) -> None:
        if space != self.space:
            self._tuner = None
            self._repeats = False
        self.space = space

    def ask(self, study: Study, trial: FrozenTrial, seed: int) -> _Given:
        """What the trial is to try."""
        try:
            record = self._record(study, trial, seed)
        except StudyError:  # it was killed, perhaps
            self._tuner = None
            record = self._record(study, trial, seed)
        if record is None:
            record = self._drawn(study, trial)
        given = self.given[trial.number] = _Given(
            *self.space.read(record["parameters"]), record["parameter_id"])
        return given

    def _record(self, study: Study, trial: FrozenTrial, seed: int) -> Any:
        """Of a suggestion; None: there is none, by now."""
        if self._tuner is None:
            self._begin(study, trial, seed)
        record = self._suggestion()
        if self._over and not self._ends and not self._repeats:
            self._repeats = True
            self._begin(study, trial, seed)
            record = self._suggestion()
        return record

    def _begin(self, study: Study, trial: FrozenTrial, seed: int) -> None:
        ways = ["maximize" if one == StudyDirection.MAXIMIZE else "minimize"
                for one in study.directions]
        # Another seed each time: it is not to say again what it has said.
        self._tuner = Dispatcher(
            self.space.written(), ways[0] if len(ways) == 1 else ways,
            random.Random("%d %d" % (seed, trial.number)).getrandbits(53),
            filter='dedup:{"allow": true}' if self._repeats else None,
            **self._plugins)
        self._ready, self._owes, self._over = [], False, False
        for number, given in self.given.items():
            self.given[number] = _Given(given.ranges, given.params)
        points = [point for point in map(self._point, self._ended)
                  if point is not None]
        if 0 < len(points) < _FEW and not self._ends:
            # It begins as it does where nothing is known.
            first = self._suggestion()
            self._ready = [first] if first is not None else []
        for i in range(0, len(points), _IMPORTED):
            self._tuner.send("FD", points[i:i + _IMPORTED])

    def _suggestion(self) -> Any:
        assert self._tuner is not None
        if self._ready:
            return self._ready.pop(0)
        if self._owes or self._over:
            return None
        self._tuner.send("GE", "1")
        code, said = self._tuner.receive()
        if code == "TR":
            return said
        if said["reason"] == "failed":
            raise self._tuner.error()
        self._owes = said["reason"] == "later"
        self._over = not self._owes
        return None

    def _drawn(self, study: Study, trial: FrozenTrial) -> Any:
        if self._over:
            warnings.warn("the tuner has nothing left to suggest: trial %d is "
                          "drawn at random, and the study stops" %
                          trial.number)
            try:
                study.stop()
            except RuntimeError:
                pass  # it is asked and told
        return {"parameter_id": None, "parameters": self.space.point(trial)}

    def _tell(self, tuner: Dispatcher, trials: Iterable[FrozenTrial]) -> None:
        frames: List[Any] = []
        ends = 0
        for one in trials:
            given = self.given.get(one.number, _NOTHING)
            as_given = given.id is not None and all(
                value == given.params[name] or value is given.params[name]
                for name, value in one.params.items() if name in given.params)
            if given.id is not None:
                ends += self._owes
                frames += _end(one, given.id, as_given, self._owes)
            point = None if as_given else self._point(one)
            if point is not None:
                frames += ["FD", [point]]
        tuner.send(*frames)
        while ends > 0:
            code, said = tuner.receive()
            if code == "TR":
                self._ready.append(said)
            ends -= code == "AK"
        self._owes = self._owes and not self._ready

    def _point(self, trial: FrozenTrial) -> Any:
        """The trial as one that was imported; None: it does not fit."""
        value, point = _value(trial), self.space.point(trial)
        if value is None or point is None:
            return None
        return {"parameter": point, "value": value}


def _value(trial: FrozenTrial) -> "Union[float, Dict[str, float], None]":
    """Its result; of several values a dict; None: it has none."""
    value: Union[float, Dict[str, float], None] = None
    if trial.state == TrialState.COMPLETE:
        value = (trial.values[0] if len(trial.values) == 1
                 else named(trial.values))
    elif trial.state == TrialState.PRUNED and trial.intermediate_values:
        value = trial.intermediate_values[max(trial.intermediate_values)]
    return value


def _end(trial: FrozenTrial, parameter_id: Any, as_given: bool,
         sync: bool) -> List[Any]:
    """What a dispatcher is told of a trial of its own that has ended."""
    name = str(trial.number)
    frames: List[Any] = []
    event = "USER_CANCELED"  # it has run with other parameters
    if as_given:
        event = {TrialState.COMPLETE: "SUCCEEDED",
                 TrialState.PRUNED: "EARLY_STOPPED"}.get(trial.state, "FAILED")
        if event == "SUCCEEDED":
            frames += ["ME", {"trial_job_id": name, "parameter_id":
                              parameter_id, "value": _value(trial),
                              "type": "FINAL", "sequence": 0}]
        elif event == "EARLY_STOPPED":
            frames += metrics(trial, enumerate(
                value for _, value in sorted(
                    trial.intermediate_values.items())), parameter_id)
    return frames + ["EN", {"trial_job_id": name, "event": event, "sync": sync,
                            "hyper_params":
                            '{"parameter_id": %s}' % parameter_id}]
