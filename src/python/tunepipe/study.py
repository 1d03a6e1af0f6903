# SPDX-License-Identifier: MIT
"""Tuning a function of one's own: a study gives points and takes results.

    import tunepipe

    study = tunepipe.Study({"rate": tunepipe.loguniform(1e-4, 1),
                            "units": tunepipe.randint(8, 129)},
                           direction="maximize", folder="study1",
                           assessor="medianstop")

    def objective(trial):
        model = Model(trial["rate"], trial["units"])
        for epoch in range(30):
            trial.report(model.train())
            if trial.should_stop():
                raise tunepipe.Stop
        return model.accuracy()

    study.optimize(objective, n_trials=100, n_jobs=2)
    print(study.best.value, study.best.params)

Or in a loop of one's own:

    trial = study.ask()
    study.tell(trial, train(**trial.params))

The folder is one as `tunepipe run` makes it: show, report, explain, replay and
the rest take it; `tunepipe import --into study1 old.db` tells its tuner of
Optuna's trials, or a table's.  The same folder again goes on where it was;
several processes may use it at a time (Study.connect).  A trial belongs to the
process that asked for it: when that has died, the next who asks is given it.

Threads may share a study.  A child that was fork()ed connects anew.  What goes
wrong raises StudyError.
"""

import itertools
import json
import math
import operator
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from typing import (Any, Callable, ContextManager, Dict, Iterable, Iterator,
                    List, Mapping, NamedTuple, Optional, Sequence,
                    SupportsFloat, Tuple, Type, Union)

from . import trial as _trial
from .link import (Call, Link, StudyError, brief, plain, program, run,
                   spell)
from .trial import Stop

__all__ = ["Study", "Trial", "Result", "StudyError"]

Value = Union[SupportsFloat, Mapping[str, Any], Sequence[SupportsFloat]]
_NOTHING: Any = ...  # where None is a value that is wrong
_WHY_MAX = 150  # characters
_LOOK_S = 0.25  # for a signal that came just before a wait and does not end it


class Result(NamedTuple):
    """What became of a trial that has ended."""

    number: int
    params: Dict[str, Any]
    value: Optional[float]  #: None where there is none
    status: str  #: "succeeded", "failed", "stopped" and the like
    why: str  #: in words
    latest: Optional[float]  #: its last intermediate result
    intermediates: int  #: how many it has reported
    budget: Optional[int]  #: how many it was allowed; None: no limit
    seconds: Optional[float]
    values: Dict[str, Optional[float]] = {}  #: by name, of several

    def _repr_html_(self) -> str:
        from .notebook import table
        return table([("trial", self.number),
                      *(self.values.items() or [("value", self.value)]),
                      *_flat("", self.params).items(),
                      ("status", " ".join(filter(None, (self.status,
                                                        self.why))))])


class Trial:
    """A point to try, as Study.ask() gives it.

    number: from 0, in the order of asking.  params: the parameters, of which
    trial["rate"] is one; a nested choice is a dict with its name as "_name".
    attempt: above 0 where whoever had it before has died, or gave it back.
    steps: what it has reported, pairs of a step and a value.  value: the result
    that the study was told; None: none.

    budget: how many results it may report, those of `step` included; then the
    tuner decides what becomes of it (asha, hyperband, bohb, and pbt with
    max_budget); None: there is no such limit.  restore_dir: the newest
    checkpoint, of an earlier attempt or of the trial that it goes on from, a
    folder to be read only; None: there is none.  step: how many results had
    been reported when that was saved.  checkpoint_dir: where checkpoint() and
    report(checkpoint=...) save, which it is to be left to.
    """

    def __init__(self, study: "Study", given: Dict[str, Any]) -> None:
        self._study = study
        self._reported = 0
        self._word = "go"
        self._interrupted = False  # by Ctrl-C, which only one thread hears
        self.number: int = given["trial"]
        self.params: Dict[str, Any] = _without_added(given["parameters"])
        self.attempt: int = given["attempt"]
        self.budget: Optional[int] = _whole(given.get("budget"))
        self.restore_dir: Optional[str] = given.get("restore_dir")
        self.step: int = given.get("step", 0)
        self.checkpoint_dir: Optional[str] = given.get("checkpoint_dir")
        self.steps: List[Tuple[Any, Value]] = []
        self.value: Optional[Value] = None

    def __getitem__(self, name: str) -> Any:
        try:
            return self.params[name]
        except KeyError:
            raise KeyError("this trial has no parameter %r%s" % (
                name, _trial._nearest(name, self.params))) from None

    def __repr__(self) -> str:
        return "<trial %d: %r>" % (self.number, self.params)

    def report(self, value: Value, step: Any = None,
               checkpoint: Any = None) -> None:
        """Reports an intermediate result, and returns when it is judged.

        It is the next one, whatever `step` says, which is only a label.  With
        checkpoint, the path of a file or folder or a list of such, copies of
        these are saved as the state behind it.
        """
        said = spell(value, self._study._names)
        with _trial._drafted(checkpoint, self.checkpoint_dir, self._tell_saved,
                             lambda path: None) as publish:
            self._hear(command="report", value=said, sequence=self._reported)
            publish()
        if step is None:
            step = self.step + self._reported
        self._reported += 1
        self.steps.append((step, value))

    def should_stop(self) -> bool:
        """Whether it is to end now: it is not worth its time, its budget is
        used up, or somebody has ended it.  The first is the assessor's to
        say: of a study without one, as it is by default, never.

        Who ends it then, by tunepipe.Stop or Study.tell(trial), says that it
        was stopped, and not that it failed.
        """
        if self._word == "go":
            self._hear(command="look")
        return self._word != "go"

    should_prune = should_stop

    def checkpoint(self) -> ContextManager[str]:
        """Saves what another attempt, or a trial that goes on from this one,
        needs: `with trial.checkpoint() as folder:`, all or nothing.

        Behind the report of the step whose state it is, not before.
        """
        return _trial._saved(self.checkpoint_dir, self._tell_saved)

    def _tell_saved(self, number: int) -> None:
        self._hear(command="saved", number=number)

    def _hear(self, **request: Any) -> None:
        """What is to become of it, by the answer to the request."""
        if self._interrupted:
            raise KeyboardInterrupt
        try:
            answer = self._study._link.ask(trial=self.number,
                                           attempt=self.attempt, **request)
            self._word = answer.get("stop", self._word)
        except StudyError as error:
            if not error.ended:
                raise
            self._word = "stop"


class Study:
    """A search for the parameters with the best result.

    space: a dict of the functions of tunepipe.space (or NNI's JSON), or the
    path of a file that has it.  direction: "minimize" or "maximize".  seed:
    None: another one each time.  tuner, assessor: the name of one that
    `tunepipe tuners` lists, the path of a plugin, or a dict of the keys of an
    experiment's `tuner`; their arguments apart.  directions: of several values,
    in the place of `direction`: a dict {"accuracy": "maximize", "ms":
    "minimize"}, or a list, whose values are called value0, value1 and so on; a
    result is then a dict of them, or a sequence in their order, and what there
    is to find is Study.front.  objectives: the same as an experiment's key, with
    references and goals; result_constraints: limits such as "ms <= 20", on
    these and on other values by name; scalarize: how one value is made of them
    for a tuner that takes no more.  early_stopped: what the tuner
    learns of a trial that the assessor has stopped, "ignore": nothing, "best"
    or "latest", which is the default, of its results.  filters: names, or
    dicts of "name" and "args".  constraints: texts such as "x < y".

    folder: what is kept; None: a temporary one that goes with the study.  A
    folder that has a study is gone on with, and what is said here has to be
    what was said there.  max_trials: of the study, whoever asks.  lost: what
    becomes of trials whose process has died, or gave them back: they are given
    "again", or are "failed".
    """

    def __init__(self, space: Union[Mapping[str, Any], str, "os.PathLike[str]"],
                 *, direction: Optional[str] = None,
                 directions: Union[Mapping[str, str], Sequence[str],
                                   None] = None,
                 objectives: Optional[Sequence[Mapping[str, Any]]] = None,
                 result_constraints: Optional[Sequence[str]] = None,
                 scalarize: Union[str, Mapping[str, Any], None] = None,
                 tuner: Union[str, Mapping[str, Any]] = "auto",
                 tuner_args: Optional[Mapping[str, Any]] = None,
                 assessor: Union[str, Mapping[str, Any], None] = None,
                 assessor_args: Optional[Mapping[str, Any]] = None,
                 early_stopped: Optional[str] = None,
                 filters: Optional[Sequence[Any]] = None,
                 constraints: Union[str, Sequence[str], None] = None,
                 seed: Optional[int] = None,
                 folder: Union[str, "os.PathLike[str]", None] = None,
                 max_trials: Optional[int] = None,
                 lost: str = "again") -> None:
        if isinstance(constraints, str):
            constraints = [constraints]
        objectives = _objectives(direction, directions, objectives)
        if objectives is None and direction is None:
            direction = "minimize"
        keys = {"direction": direction, "seed": seed,
                "objectives": objectives,
                "resultConstraints": result_constraints,
                "scalarize": scalarize,
                "tuner": _algorithm(tuner, tuner_args),
                "assessor": _algorithm(assessor, assessor_args),
                "earlyStopped": early_stopped,
                "filters": filters, "constraints": constraints,
                "maxTrialNumber": max_trials}
        if isinstance(space, Mapping):
            for name, one in space.items():
                if not hasattr(one, "keys"):
                    raise TypeError(
                        "space: %r: expected what a function of tunepipe.space "
                        "returns, such as tunepipe.choice([1, 2]), got %s" % (
                            name, brief(one)))
            keys["searchSpace"] = space
        else:
            keys["searchSpaceFile"] = _path(
                "space: expected a dict or a path", space)
        self._open(folder, {key: value for key, value in keys.items()
                            if value is not None}, lost)

    @classmethod
    def connect(cls, folder: Union[str, "os.PathLike[str]"],
                lost: str = "again") -> "Study":
        """The study in a folder, which others may use at the same time."""
        study = cls.__new__(cls)
        study._open(folder, None, lost)
        return study

    def _open(self, folder: Any, config: Any, lost: str) -> None:
        if lost not in ("again", "failed"):
            raise ValueError("lost: expected 'again' or 'failed', got %s" %
                             brief(lost))
        self._fails_lost = lost == "failed"
        self._asked: List[Call] = []  # of who was interrupted, for who is next
        temporary = folder is None
        #: Where the study is kept, an absolute path.
        self.folder: str = (tempfile.mkdtemp(prefix="tunepipe-") if temporary
                            else _path("folder: expected a path", folder))
        try:
            self._link = Link(self.folder, config)
        except BaseException:
            if temporary:
                shutil.rmtree(self.folder, ignore_errors=True)
            raise
        self._end = weakref.finalize(self, _end, self._link, temporary,
                                     os.getpid())
        self._names = _names(self.folder)

    def __enter__(self) -> "Study":
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return "<study %s>" % self.folder

    def __fspath__(self) -> str:  # so that tunepipe.report() takes a study
        return self.folder

    def _repr_html_(self) -> str:
        from .notebook import table
        status = self._status()
        several = isinstance(status["best"], list)
        best = {} if several else status["best"] or {}
        counts = ["%d %s" % (status[one], one.replace("_", " ")) for one in (
            "done", "running", "stopped", "failed") if status[one]]
        return table([("study", self.folder),
                      *([("objectives", ", ".join(self._names)),
                         ("front", status["front"]),
                         ("hypervolume", status.get("hypervolume"))]
                        if several else
                        [("direction", status["optimize_mode"])]),
                      ("trials", ", ".join(counts) or "none yet"),
                      ("best", best.get("value")),
                      ("of trial", best and int(best["trial"]) or None),
                      *_flat("", self.best.params if best else {}).items()])

    def __reduce__(self) -> Any:  # of copies, too
        raise TypeError("a Study is one process's, and not copied: tunepipe."
                        "Study.connect(%r) is another" % self.folder)

    def close(self) -> None:
        """Gives back the trials that it was told nothing of, and leaves.

        Of a study without a folder nothing is left.  Also done at exit.
        """
        self._end()

    # ---- ask and tell ----

    def ask(self) -> Trial:
        """A trial, as soon as there is one: a tuner may wait for results.

        StudyError where there is none; its member `over` tells that there will
        be none any more.
        """
        return self._ask(None)

    def _ask(self, deadline: Optional[float]) -> Trial:
        while True:
            trial = Trial(self, self._ask_once(deadline))
            if trial.attempt == 0 or not self._fails_lost:
                return trial
            self.fail(trial, "who had it has died, or gave it back")

    def _ask_once(self, deadline: Optional[float]) -> Dict[str, Any]:
        try:
            call = self._asked.pop()
        except IndexError:
            call = Call(command="ask")
            self._link.send(call)
        try:
            return self._link.wait(call, deadline)
        except StudyError:
            raise
        except BaseException:
            self._asked.append(call)
            raise

    def tell(self, trial: Union[Trial, int], value: Value = _NOTHING) -> None:
        """The trial's result: a number, or a dict that has it as "default"; of
        several values a dict of all, or a sequence in their order.

        It is kept when this returns.  NaN is a result, and never the best one.
        Without a value the trial ends without a result: stopped where it was
        to stop, else failed.
        """
        if value is _NOTHING:
            self._tell(trial)
        else:
            self._tell(trial, value=spell(value, self._names))
        if isinstance(trial, Trial) and value is not _NOTHING:
            trial.value = value

    def fail(self, trial: Union[Trial, int], why: str = "") -> None:
        """The trial has failed, and perhaps why."""
        self._tell(trial, failed=" ".join(str(why).split())[:_WHY_MAX])

    def _tell(self, trial: Union[Trial, int], **result: Any) -> None:
        number = (trial.number if isinstance(trial, Trial)
                  else operator.index(trial))
        if isinstance(trial, Trial):
            result["attempt"] = trial.attempt
        try:
            self._link.ask(command="tell", trial=number, **result)
        except StudyError as error:
            if not error.ended:
                raise
            self._link.held.pop(number, None)
            # Who was told to stop may be ended before he says so himself.
            if not isinstance(trial, Trial) or trial._word == "go":
                raise
        self._link.held.pop(number, None)

    def enqueue(self, *params: Mapping[str, Any]) -> List[int]:
        """Sets of parameters to try next, the numbers of their trials.

        What a set lacks is drawn; they come on top of max_trials.
        """
        if not params:
            return []
        reply = self._link.ask(command="add", parameters=[
            plain(one, "parameters") for one in params])
        return [int(number) for number in reply["trials"]]

    # ---- a function ----

    def optimize(self, objective: Callable[[Trial], Optional[Value]],
                 n_trials: Optional[int] = None, n_jobs: int = 1,
                 timeout: Optional[float] = None,
                 callbacks: Iterable[Callable[["Study", Trial], Any]] = (),
                 catch: Union[Type[Exception],
                              Tuple[Type[Exception], ...]] = (),
                 progress: bool = True) -> None:
        """Tries the objective: it is given a trial and returns its result.

        It raises tunepipe.Stop to end without one, or returns None when it was
        told to stop; None has failed else.  Of any other exception the trial
        has failed, too, and it is raised again, unless it is one of `catch`.

        n_trials: of this call, in n_jobs threads (-1: one per core).  It ends,
        too, when there is nothing more to try, and no trial is begun after
        `timeout` seconds.  callbacks: called behind each trial, one at a time,
        with the study and the trial, whose value is then known; Stop ends the
        call.  progress: a line on standard error where that is a terminal or a
        notebook's.

        Ctrl-C gives back what is tried: at once, in threads at the next report;
        a second one does not wait for that.
        """
        if n_jobs == -1:
            n_jobs = os.cpu_count() or 1
        if n_jobs < 1:
            raise ValueError("n_jobs: expected 1 or more, or -1, got %r" %
                             (n_jobs,))
        if n_trials is not None and n_trials < 0:
            raise ValueError("n_trials: expected 0 or more, got %r" %
                             (n_trials,))
        if callable(callbacks):
            callbacks = [callbacks]
        deadline = None if timeout is None else time.monotonic() + timeout
        line = (_Progress(self._status(), n_trials)
                if progress and _is_watched() else None)
        todo = _Work(self, objective, [*callbacks], catch, line)
        trials = self._to_try(n_trials, deadline, todo)
        try:
            if n_jobs == 1:
                for trial in trials:
                    todo.do(trial)
            else:
                _share(todo.do, trials, n_jobs)
        except Stop:
            pass
        finally:
            if line is not None:
                line.end()

    def _to_try(self, n_trials: Optional[int], deadline: Optional[float],
                todo: "_Work") -> Iterator[Trial]:
        for _ in itertools.count() if n_trials is None else range(n_trials):
            if deadline is not None and time.monotonic() >= deadline:
                return
            try:
                trial = self._ask(deadline)
            except TimeoutError:
                return
            except StudyError as error:
                if not error.over or not (todo.told or self._status()["best"]):
                    raise
                return
            yield trial

    def _release(self, trial: Trial) -> None:
        self._link.held.pop(trial.number, None)
        self._link.ask(command="release", trials=[trial.number])

    # ---- what there is ----

    def _show(self) -> Any:
        return json.loads(run("show", "--json", self.folder))

    def _status(self) -> Any:
        return json.loads(run("status", "--json", self.folder))

    @property
    def best(self) -> Result:
        """The trial with the best result, which is the latest of one that was
        paused at its budget; StudyError: none has one yet, or there are
        several objectives, of which none is the best: see front and knee."""
        shown = self._show()
        trials = shown["trials"]
        if len(self._names) > 1:
            raise StudyError("study %s: of several objectives no one result is "
                             "the best: expected study.front, which has all, "
                             "or study.knee" % self.folder)
        if isinstance(shown["best"], list):
            shown["best"] = (shown["best"] or [None])[0]
        if shown["best"] is None:
            last = (", %d have ended: the last one: %s" % (
                len(trials), trials[-1]["why"]) if trials else "")
            raise StudyError("study %s: no trial has a result yet%s" %
                             (self.folder, last))
        best = _result(next(one for one in trials
                            if one["trial"] == shown["best"]["trial"]))
        return (best._replace(value=best.latest) if best.value is None
                else best)

    @property
    def front(self) -> List[Result]:
        """The trials that no other one dominates, by the first objective: none
        is better in one value and worse in no other.  Of a study with one value
        the best, if there is one."""
        shown = self._show()
        by_number = {one["trial"]: one for one in shown["trials"]}
        best = shown["best"]
        if not isinstance(best, list):
            best = [] if best is None else [best]
        return [_result(by_number[one["trial"]]) for one in best]

    @property
    def knee(self) -> Optional[Result]:
        """The trial of the front that is farthest from the line, or plane,
        between the extremes, where what is left of one value costs much of
        another.  None: the front has none."""
        shown = self._show()
        best = shown["best"]
        for one in best if isinstance(best, list) else []:
            if one["knee"]:
                return _result(next(trial for trial in shown["trials"]
                                    if trial["trial"] == one["trial"]))
        return None

    @property
    def hypervolume(self) -> Optional[float]:
        """What the front dominates, up to the references; None without them,
        and of a front of too many trials (tunepipe-experiment(5))."""
        volume = self._status().get("hypervolume")
        return None if volume is None else float(volume)

    @property
    def trials(self) -> List[Result]:
        """All trials that have ended, in the order of their ends."""
        return [_result(one) for one in self._show()["trials"]]

    def dataframe(self) -> Any:
        """The trials as a pandas.DataFrame; without pandas a list of dicts.

        Parameters are columns "params_NAME", of a nested choice
        "params_NAME/_name" and so on; values by name "values_NAME".
        """
        names = [name for name in Result._fields
                 if name not in ("params", "values")]
        rows = []
        for one in self.trials:
            row = one._asdict()
            row.update(("values_" + name, value)
                       for name, value in row.pop("values").items())
            row.update(_flat("params_", row.pop("params")))
            rows.append(row)
        try:
            import pandas  # type: ignore[import]
        except ImportError:
            return rows
        # Of no trials, too, and with a nan for each None where numbers are.
        names += dict.fromkeys(name for row in rows for name in row
                               if name not in names)
        kinds = dict.fromkeys(("value", "latest", "seconds"), float)
        return pandas.DataFrame(rows, columns=names).astype(kinds)


def _objectives(direction: Optional[str], directions: Any,
                objectives: Any) -> Any:
    """The value of an experiment's key `objectives`; None: there are none."""
    given = [name for name, one in (("direction", direction),
                                    ("directions", directions),
                                    ("objectives", objectives))
             if one is not None]
    if len(given) > 1:
        raise TypeError("%s and %s: expected one of them" % (given[0],
                                                             given[1]))
    if directions is None:
        return objectives
    if isinstance(directions, str):
        raise TypeError("directions: expected a dict or a list, got %s" %
                        brief(directions))
    if not isinstance(directions, Mapping):
        directions = {"value%d" % i: one for i, one in enumerate(directions)}
    return [{"name": name, "direction": one}
            for name, one in directions.items()]


def _names(folder: str) -> List[str]:
    """The names of the objectives, in their order."""
    try:
        with open(os.path.join(folder, "experiment.json"),
                  encoding="utf-8") as file:
            of = json.load(file).get("objectives")
    except OSError:
        of = None  # it was not begun yet: one that has said none
    return [one["name"] for one in of["objectives"]] if of else ["default"]


def _algorithm(name: Any, args: Optional[Mapping[str, Any]]) -> Any:
    """The value of an experiment's key `tuner` or `assessor`."""
    if name is None:
        return None
    if isinstance(name, Mapping):
        keys = dict(name)
    elif not isinstance(name, str) or os.sep in name:
        keys = {"plugin": _path("tuner or assessor: expected a name, a "
                                 "path or a dict", name)}
    else:
        keys = {"name": name}
    if args is not None:
        keys["classArgs"] = args
    return keys


def _path(expected: str, path: Any) -> str:
    """The absolute path."""
    try:
        return os.path.abspath(os.fsdecode(path))
    except TypeError:
        raise TypeError("%s, got %s" % (expected, brief(path))) from None


def _end(link: Link, temporary: bool, pid: int) -> None:
    """Of a study that is closed, or that nobody has any more."""
    if os.getpid() != pid:
        return  # it is the parent's
    try:
        if link.stopped and not link.held:
            pass  # a server would be begun to be left
        elif not temporary:
            link.ask(command="leave")
    except StudyError:
        pass  # it has ended: whoever resumes it finds that they are nobody's
    finally:
        link.close()
        if temporary:
            subprocess.run([program(), "stop", "--now", link.folder],
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
            shutil.rmtree(link.folder, ignore_errors=True)


def _result(shown: Dict[str, Any]) -> Result:
    params = shown["parameters"]
    return Result(int(shown["trial"]), _without_added(params), shown["value"],
                  shown["status"], shown["why"], shown["latest"],
                  shown["intermediates"], _whole(params.get("TRIAL_BUDGET")),
                  shown["duration_s"], dict(shown.get("values", {})))


def _without_added(params: Mapping[str, Any]) -> Dict[str, Any]:
    return {name: value for name, value in params.items()
            if name not in _trial._OF_TUNERS}


def _whole(number: Optional[float]) -> Optional[int]:
    return None if number is None else int(number)


def _flat(prefix: str, params: Mapping[str, Any]) -> Dict[str, Any]:
    flat: Dict[str, Any] = {}
    for name, value in params.items():
        if isinstance(value, dict) and "_name" in value:
            flat.update(_flat(prefix + name + "/", value))
        else:
            flat[prefix + name] = value
    return flat


# ---- optimize() ----

class _Work:
    """What is done with each trial, by any thread."""

    def __init__(self, study: Study, objective: Callable[[Trial], Any],
                 callbacks: List[Callable[[Study, Trial], Any]],
                 catch: Union[Type[Exception], Tuple[Type[Exception], ...]],
                 line: "Optional[_Progress]") -> None:
        self.study, self.objective, self.line = study, objective, line
        self.callbacks, self.catch = callbacks, catch
        self.one_calls = threading.Lock()
        self.told = False  # that there is a result

    def do(self, trial: Trial) -> None:
        try:
            self._try(trial)
        finally:
            if self.line is not None:
                self.line.count(trial)
        with self.one_calls:
            for callback in self.callbacks:
                callback(self.study, trial)

    def _try(self, trial: Trial) -> None:
        study = self.study
        value: Any = None
        stopped = False
        try:
            value = self.objective(trial)
            if value is not None:
                spell(value, study._names)
        except Stop:
            stopped = True
        except Exception as error:
            self._tell(study.fail, trial, "%s: %s" % (type(error).__name__,
                                                      error))
            if not isinstance(error, self.catch):
                raise
            return
        except BaseException:
            study._release(trial)
            raise
        if value is None and (stopped or trial._word != "go"):
            self._tell(study.tell, trial)
        elif value is None:
            self._tell(study.fail, trial, "the objective returned None")
        else:
            self._tell(study.tell, trial, value)
            self.told = True

    @staticmethod
    def _tell(tell: Callable[..., None], trial: Trial, *result: Any) -> None:
        try:
            tell(trial, *result)
        except StudyError as error:
            if not error.ended:  # by somebody else, meanwhile
                raise


def _share(do: Callable[[Trial], None], trials: Iterator[Trial],
           n_jobs: int) -> None:
    """Does it with the trials, in so many threads; this one asks for them."""
    threads: List[threading.Thread] = []
    running: "set[Trial]" = set()
    begun: "queue.SimpleQueue[Optional[Trial]]" = queue.SimpleQueue()
    ended: "queue.SimpleQueue[Tuple[Trial, Any]]" = queue.SimpleQueue()

    def work() -> None:
        for trial in iter(begun.get, None):
            error = None
            try:
                do(trial)
            except BaseException as raised:
                error = raised
            ended.put((trial, error))

    def settle(most: int) -> None:
        while len(running) > most:
            try:
                trial, error = ended.get(timeout=_LOOK_S)
            except queue.Empty:
                continue
            running.remove(trial)
            if error is not None:
                raise error

    try:
        for trial in trials:
            running.add(trial)
            begun.put(trial)
            if len(threads) < n_jobs:
                threads.append(threading.Thread(target=work, daemon=True))
                threads[-1].start()
            settle(n_jobs - 1)
        settle(0)
    except BaseException as error:
        for trial in running:
            trial._interrupted = not isinstance(error, (Exception, Stop))
        raise
    finally:
        for _ in threads:
            begun.put(None)
        for thread in threads:
            if thread.is_alive():  # else it was interrupted as it started
                thread.join()


def _is_watched() -> bool:
    """Whether a line that is written anew is seen so: terminals, notebooks."""
    return (sys.stderr is not None and sys.stderr.isatty() or
            "ipykernel" in sys.modules)


class _Progress:
    """A line that is written anew."""

    def __init__(self, status: Dict[str, Any], n_trials: Optional[int]) -> None:
        several = isinstance(status["best"], list)
        best = {} if several else status["best"] or {}
        self.several = several
        self.best, self.of_best = best.get("value"), best.get("trial")
        self.better = (operator.gt if status["optimize_mode"] == "maximize"
                       else operator.lt)
        self.of = "" if n_trials is None else "/%d" % n_trials
        self.n = 0
        self.lock = threading.Lock()
        self.show()

    def count(self, trial: Trial) -> None:
        value: Any = None if self.several else trial.value
        if isinstance(value, Mapping):
            value = value["default"]
        number = math.nan if value is None else float(value)
        with self.lock:
            self.n += 1
            if math.isfinite(number) and (self.best is None or
                                          self.better(number, self.best)):
                self.best, self.of_best = number, trial.number
            self.show()

    def show(self) -> None:
        text = "%d%s trials" % (self.n, self.of)
        if self.best is not None:
            text += ", best %.6g (trial %d)" % (self.best,
                                                int(self.of_best or 0))
        sys.stderr.write("\r%-60s" % text)
        sys.stderr.flush()

    def end(self) -> None:
        sys.stderr.write("\n")
