# SPDX-License-Identifier: MIT
# mypy: disable-error-code="misc", no-warn-unused-ignores
"""The search space of an Optuna study, read off its trials.

What some of the trials lack is a nested parameter where a category decides it,
at any depth.  Else it is a parameter like all: where it is not asked for the
objective's value does not depend on it.  A range that changes is the union of
the ranges of the latest trials that have it.
"""

import math
import random
from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

from optuna.distributions import CategoricalDistribution  # type: ignore
from optuna.distributions import IntDistribution  # type: ignore
from optuna.trial import FrozenTrial  # type: ignore

Range = Any  # one of Optuna's distributions
Params = Dict[str, Any]
_Row = Dict[str, float]  # what a trial has, as Optuna stores it

_LATEST = 20  # trials that say what a parameter's range is
_DEPTH = 4  # of categories that are looked through for what decides
_GRID_MAX = 2 ** 53  # steps: more is a continuous range


@dataclass
class Space:
    """Parameters, by name, in the order of their asking."""

    parameters: "List[Parameter]" = field(default_factory=list)

    @staticmethod
    def of(ranges: Dict[str, Range]) -> "Space":
        return Space([Parameter(name, one) for name, one in ranges.items()
                      if not one.single()])

    @staticmethod
    def of_trials(trials: Sequence[FrozenTrial]) -> "Space":
        had: Dict[str, List[Range]] = {}
        for trial in reversed(trials):
            for name, one in trial.distributions.items():
                had.setdefault(name, []).append(one)
        ranges = {name: _union(had[name][:_LATEST])
                  for trial in trials for name in trial.params}
        trials = [trial for trial in trials
                  if all(_is_kin(one, ranges[name])
                         for name, one in trial.distributions.items())]
        ranges = {name: one for name, one in ranges.items()
                  if not one.single()}
        return _level([{name: trial.distributions[name].to_internal_repr(value)
                        for name, value in trial.params.items()
                        if name in ranges} for trial in trials],
                      list(ranges), ranges)

    def written(self) -> Dict[str, Any]:
        """As the protocol has it."""
        return {one.key: one.written() for one in self.parameters}

    def read(self, point: Dict[str, Any]) -> Tuple[Dict[str, Range], Params]:
        """The ranges and values of a suggestion."""
        ranges: Dict[str, Range] = {}
        params: Params = {}
        for one in self.parameters:
            one.read(point[one.key], ranges, params)
        return ranges, params

    def point(self, trial: FrozenTrial) -> Optional[Dict[str, Any]]:
        """The trial as a suggestion; None: it lies outside.  What it lacks is
        drawn at random."""
        point = {one.key: one.value(trial) for one in self.parameters}
        return None if None in point.values() else point

    def is_of(self, trial: FrozenTrial) -> bool:
        """Whether this is what the trial was asked for."""
        active = {one.name: one for one in self._active(trial)}
        return all(name in active and active[name].range == one
                   for name, one in trial.distributions.items()
                   if not one.single()) and all(
                       one.name in trial.params for one in active.values()
                       if one.always)

    def _active(self, trial: FrozenTrial) -> "Iterator[Parameter]":
        for one in self.parameters:
            yield one
            if (one.nested is not None and one.name in trial.params and
                    trial.distributions[one.name] == one.range):
                yield from one.nested[one.index(trial)]._active(trial)


@dataclass
class Parameter:
    """A parameter and, where its category decides what else there is, the
    space of each of its choices.

    A tuner has an index in the place of a choice, and of a value on a grid.
    """

    name: str
    range: Range
    nested: Optional[List[Space]] = None
    always: bool = field(default=True, compare=False)  #: where its space is

    @property
    def key(self) -> str:
        return repr(self.name)  # no word of the protocol's, and no \0

    def written(self) -> Dict[str, Any]:
        one = self.range
        if self.nested is not None:
            return {"_type": "choice", "_value": [
                dict(space.written(), _name=str(i))
                for i, space in enumerate(self.nested)]}
        if isinstance(one, CategoricalDistribution):
            return {"_type": "choice", "_value": list(range(len(one.choices)))}
        if _is_grid(one):
            return {"_type": "randint", "_value": [0, _steps(one) + 1]}
        if isinstance(one, IntDistribution) and one.log and one.high < 2 ** 40:
            return {"_type": "lograndint", "_value": [one.low, one.high + 1]}
        return {"_type": "loguniform" if one.log else "uniform",
                "_value": [float(one.low), float(one.high)]}

    def read(self, value: Any, ranges: Dict[str, Range],
             params: Params) -> None:
        one = self.range
        if self.nested is not None:
            index = int(value["_name"])
            for nested in self.nested[index].parameters:
                nested.read(value[nested.key], ranges, params)
            value = one.choices[index]
        elif isinstance(one, CategoricalDistribution):
            value = one.choices[value]
        elif _is_grid(one):
            value = one.low + value * one.step
        ranges[self.name] = one
        params[self.name] = nearest(one, value)

    def value(self, trial: FrozenTrial) -> Any:
        """What read() takes; None: the trial's lies outside."""
        one = self.range
        if self.name not in trial.params:
            value = draw(one, "%d %s" % (trial.number, self.name))
        else:
            value = trial.params[self.name]
            if not (_is_kin(trial.distributions[self.name], one) and
                    one._contains(one.to_internal_repr(value))):
                return None
        if isinstance(one, CategoricalDistribution):
            value = int(one.to_internal_repr(value))
        elif _is_grid(one):
            value = round((value - one.low) / one.step)
        if self.nested is None:
            return value
        point = self.nested[value].point(trial)
        return None if point is None else dict(point, _name=str(value))

    def index(self, trial: FrozenTrial) -> int:
        return int(self.range.to_internal_repr(trial.params[self.name]))


def nearest(one: Range, value: Any) -> Any:
    """The value of this range that is nearest."""
    if isinstance(one, CategoricalDistribution):
        return value
    if one.step is not None and not one.log:
        value = one.low + round((value - one.low) / one.step) * one.step
    elif isinstance(one, IntDistribution):
        value = round(value)
    value = min(max(value, one.low), one.high)
    return int(value) if isinstance(one, IntDistribution) else float(value)


def draw(one: Range, seed: str) -> Any:
    """A value of this range at random: the same for the same seed."""
    drawn = random.Random(seed)
    if isinstance(one, CategoricalDistribution):
        return drawn.choice(one.choices)
    if _is_grid(one):
        value = one.low + drawn.randint(0, _steps(one)) * one.step
    elif one.log:
        half = 0.5 if isinstance(one, IntDistribution) else 0.0
        value = math.exp(drawn.uniform(math.log(one.low - half),
                                       math.log(one.high + half)))
    else:
        value = drawn.uniform(one.low, one.high)
    return nearest(one, value)


def _is_grid(one: Range) -> bool:
    return one.step is not None and not one.log and _steps(one) < _GRID_MAX


def _steps(one: Range) -> int:
    return int(round((one.high - one.low) / one.step))


# ---- of trials ----

def _level(rows: Sequence[_Row], names: Sequence[str],
           ranges: Dict[str, Range]) -> Space:
    """What these trials have of these names."""
    space = Space()
    nested: Dict[str, List[str]] = {}
    for i, name in enumerate(names):
        having = sum(name in row for row in rows)
        above = (_above(name, rows, names[:i], ranges)
                 if 0 < having < len(rows) else None)
        if above is not None:
            nested.setdefault(above, []).append(name)
        elif having > 0:
            space.parameters.append(Parameter(name, ranges[name],
                                              always=having == len(rows)))
    for one in space.parameters:
        if one.name in nested:
            one.nested = [
                _level([row for row in rows if row[one.name] == choice],
                       nested[one.name], ranges)
                for choice in range(len(one.range.choices))]
    return space


def _above(name: str, rows: Sequence[_Row], before: Sequence[str],
           ranges: Dict[str, Range], depth: int = _DEPTH) -> Optional[str]:
    """The category that decides which of the trials have the parameter: of
    several the one that was asked for last."""
    for above in reversed(before) if depth > 0 else ():
        if not (isinstance(ranges[above], CategoricalDistribution) and
                all(above in row for row in rows)):
            continue
        chosen: Dict[float, List[_Row]] = {}
        for row in rows:
            chosen.setdefault(row[above], []).append(row)
        if len(chosen) > 1 and all(
                sum(name in row for row in some) in (0, len(some)) or
                _above(name, some, before, ranges, depth - 1)
                for some in chosen.values()):
            return above
    return None


def _union(ranges: Sequence[Range]) -> Range:
    """That of the ranges, the latest first; the latest where there is none."""
    latest = ranges[0]
    if isinstance(latest, CategoricalDistribution):
        return latest
    alike = [one for one in ranges if _is_alike(one, latest)]
    return type(latest)(min(one.low for one in alike),
                        max(one.high for one in alike),
                        log=latest.log, step=latest.step)


def _is_kin(one: Range, other: Range) -> bool:
    """Whether a parameter can have both: trials from elsewhere may differ."""
    return type(one) is type(other) and (
        not isinstance(one, CategoricalDistribution) or one == other)


def _is_alike(one: Range, other: Range) -> bool:
    """Whether there is a range that both lie in, with their values alone."""
    if type(one) is not type(other) or (one.log, one.step) != (other.log,
                                                               other.step):
        return False
    steps = (one.low - other.low) / (one.step or 1)
    return one.step is None or abs(steps - round(steps)) < 1e-8
