# SPDX-License-Identifier: MIT
# mypy: disable-error-code="misc", no-warn-unused-ignores
"""tunepipe's assessors as Optuna's pruners."""

import math
import os
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Union

from optuna.pruners import BasePruner  # type: ignore
from optuna.study import Study, StudyDirection  # type: ignore
from optuna.trial import FrozenTrial, TrialState  # type: ignore

from .dispatcher import Dispatcher
from .link import StudyError
from .optuna_study import Ended, PerStudy, metrics

_BEGUN_MAX = 50  # times, for a step between others; then it counts as the next


class Pruner(BasePruner):
    """An assessor as a pruner.

    assessor: the name of one that `tunepipe tuners` lists, or the path of a
    plugin; assessor_args: its arguments.  Those that count values count the
    steps that there are in the study: where all trials report at 10, 20 and so
    on, a start_step of 3 is step 30.  A trial that reports less often than
    others has, in between, what it had before; wilcoxon compares the steps
    that the trial has reported, in any order.
    """

    def __init__(self, assessor: Union[str, "os.PathLike[str]"] = "medianstop",
                 assessor_args: Optional[Dict[str, Any]] = None) -> None:
        self._plugins: Dict[str, Any] = {"assessor": os.fspath(assessor),
                                         "assessor_args": assessor_args}
        self._juries = PerStudy()
        try:
            _judge("minimize", self._plugins).close()
        except StudyError as error:
            raise ValueError(str(error)) from None

    def prune(self, study: Study, trial: FrozenTrial) -> bool:
        if not trial.intermediate_values:
            return False

        def judge() -> Dispatcher:
            return _judge(study.direction.name.lower(), self._plugins)

        with self._juries.of(study, _Jury) as jury:
            if self._plugins["assessor"] == "wilcoxon":
                return _fold_by_fold(study, trial, judge())
            try:
                if jury.knows(study, trial):
                    return bool(jury.stops(trial))
            except StudyError:
                pass  # it was killed, perhaps
            jury.begin(judge())
            return bool(jury.stops(trial))


def _judge(direction: str, plugins: Dict[str, Any]) -> Dispatcher:
    return Dispatcher({}, direction, 0, tuner="random", **plugins)


class _Jury:
    """An assessor, and what it has heard of a study's trials.

    To it the n-th value of a trial is that at the n-th step of all that there
    are in the study.
    """

    def __init__(self) -> None:
        self._steps: List[int] = []
        self._heard: Dict[int, _Heard] = {}
        self._ended = Ended()
        self._told: List[FrozenTrial] = []  # how they have ended
        self._untold: List[FrozenTrial] = []
        self._assessor: Optional[Dispatcher] = None
        self._begun = 0

    def rest(self) -> None:
        """Ends its process, as there may be hundreds of studies."""
        self._assessor = None

    def begin(self, assessor: Dispatcher) -> None:
        self._assessor = assessor
        self._heard = {}
        self._untold = self._told + self._untold
        self._told = []
        self._begun += 1

    def knows(self, study: Study, trial: FrozenTrial) -> bool:
        """Whether what there is of steps follows what it has heard of."""
        if trial.number in self._ended.known and not trial.state.is_finished():
            self.__dict__.update(_Jury().__dict__)  # another study's
        self._untold += [one for one in self._ended.new(study)
                         if one.intermediate_values]
        steps = {step for one in self._untold + [trial]
                 for step in one.intermediate_values}
        known = self._steps
        if not steps.issubset(known):
            self._steps = sorted(steps.union(known))
            if self._begun > _BEGUN_MAX:
                self._steps = known + [step for step in self._steps
                                       if step > known[-1]]
        return (self._assessor is not None and
                self._steps[:len(known)] == known)

    def stops(self, trial: FrozenTrial) -> bool:
        assert self._assessor is not None
        frames: List[Any] = []
        for one in self._untold:
            heard = self._heard.pop(one.number, None) or _Heard()
            frames += heard.hear(one, self._values(one))
            frames += ["EN", {"trial_job_id": str(one.number),
                              "event": _EVENTS[one.state],
                              "attempt": heard.attempt}]
        heard = self._heard.setdefault(trial.number, _Heard())
        frames += heard.hear(trial, self._values(trial))
        self._assessor.send(*frames)
        self._told += self._untold
        self._untold = []
        return _is_stop(self._assessor)

    def _values(self, trial: FrozenTrial) -> List[float]:
        """At the steps that it has come to: the latest value by then."""
        reported = sorted(trial.intermediate_values.items())
        come_to = bisect_left(self._steps, reported[-1][0]) + 1
        value = reported[0][1]  # before it, too
        values, i = [], 0
        for step in self._steps[:come_to]:
            while i < len(reported) and reported[i][0] <= step:
                value, i = reported[i][1], i + 1
            values.append(value)
        return values


@dataclass
class _Heard:
    """Of a trial, by its assessor."""

    values: List[float] = field(default_factory=list)
    attempt: int = 0

    def hear(self, trial: FrozenTrial, values: List[float]) -> List[Any]:
        """The values that are new, the first of them last: until then there is
        a gap, so that they are judged together.  The last frame asks how."""
        if values[:len(self.values)] != self.values:
            self.attempt += 1  # a step was reported behind a later one
            self.values = []
        new = range(len(self.values), len(values)) or [len(values) - 1]
        self.values = values
        frames = metrics(trial, [(i, values[i]) for i in reversed(new)],
                         attempt=self.attempt)
        frames[-1]["sync"] = not trial.state.is_finished()
        return frames


_EVENTS = {TrialState.COMPLETE: "SUCCEEDED", TrialState.FAIL: "FAILED",
           TrialState.PRUNED: "EARLY_STOPPED"}


def _is_stop(assessor: Dispatcher) -> bool:
    while True:
        code, said = assessor.receive()
        if code == "AK":
            return bool(said["decision"] == "stop")


def _fold_by_fold(study: Study, trial: FrozenTrial,
                  assessor: Dispatcher) -> bool:
    """Its steps beside the same of the best, which alone counts."""
    steps = sorted(trial.intermediate_values)
    means = {}
    for one in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
        values = list(one.intermediate_values.values())
        if (one.intermediate_values.keys() >= set(steps) and
                all(map(math.isfinite, values))):
            means[one.number] = math.fsum(values) / len(values), one
    if not means:
        return False
    choose = (max if study.direction == StudyDirection.MAXIMIZE else min)
    best = choose(means.values(), key=lambda pair: pair[0])[1]
    first = steps + sorted(best.intermediate_values.keys() - set(steps))
    assessor.send(
        *metrics(best, enumerate(best.intermediate_values[step]
                                 for step in first)),
        "EN", {"trial_job_id": str(best.number), "event": "SUCCEEDED"},
        *_Heard().hear(trial, [trial.intermediate_values[step]
                               for step in steps]))
    return _is_stop(assessor)
