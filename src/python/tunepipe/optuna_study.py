# SPDX-License-Identifier: MIT
# mypy: disable-error-code="misc", no-warn-unused-ignores
"""What samplers and pruners share: Optuna's studies and trials, as we see them.
"""

import contextlib
import os
import threading
import weakref
from typing import (Any, Callable, Dict, Iterable, Iterator, List,
                    MutableMapping, Set, Tuple)

from optuna.study import Study  # type: ignore
from optuna.trial import FrozenTrial  # type: ignore


class PerStudy:
    """What this process knows of each study; one thread at a time has it.

    Of the studies in a storage only that which was new last has a process.  A
    child that was fork()ed knows nothing, nor who of the parent's threads had
    the turn.
    """

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._turn = threading.RLock()
        self._known: MutableMapping[Any, Dict[int, Any]] = (
            weakref.WeakKeyDictionary())

    def __reduce__(self) -> Any:  # of copies, too
        return PerStudy, ()

    @contextlib.contextmanager
    def of(self, study: Study, new: Callable[[], Any]) -> Iterator[Any]:
        if self._pid != os.getpid():
            self.__dict__.update(PerStudy().__dict__)
        with self._turn:
            known = self._known.setdefault(study._storage, {})
            if study._study_id not in known:
                for one in known.values():
                    one.rest()
                known[study._study_id] = new()
            yield known[study._study_id]


class Ended:
    """The trials of a study that have ended."""

    def __init__(self) -> None:
        #: Their numbers, as far as they were asked for.
        self.known: Set[int] = set()
        self._first = 0  # trials, of which all are known

    def new(self, study: Study) -> List[FrozenTrial]:
        """Those that it has not told of yet, in the order of their numbers."""
        trials = study.get_trials(deepcopy=False)
        first = self._first
        # Of some studies pruners show a part.
        if first > len(trials) or (first > 0 and
                                   trials[first - 1].number != first - 1):
            first = 0
        new = [one for one in trials[first:]
               if one.number not in self.known and one.state.is_finished()]
        self.known.update(one.number for one in new)
        while self._first in self.known:
            self._first += 1
        return new


def metrics(trial: FrozenTrial, values: Iterable[Tuple[int, float]],
            parameter_id: Any = None, attempt: int = 0) -> List[Any]:
    frames: List[Any] = []
    for i, value in values:
        frames += ["ME", {"trial_job_id": str(trial.number), "value": value,
                          "parameter_id": parameter_id, "type": "PERIODICAL",
                          "sequence": i, "attempt": attempt}]
    return frames
