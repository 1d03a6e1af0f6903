# SPDX-License-Identifier: MIT
# mypy: allow-untyped-defs, allow-untyped-calls, no-warn-return-any
# mypy: allow-any-generics
"""The trial's side: its parameters, its reports, its seed (import tunepipe).

For Python 3.6 and later.  There is no state: all that the functions know is in
the environment and in the trial's folder.
"""

import contextlib
import difflib
import errno
import fcntl
import json
import math
import os
import shutil
import sys
import tempfile

__all__ = ["params", "param", "report", "final", "seed", "Stop", "Pause",
           "Finish", "trial_dir", "checkpoint", "restore_dir", "restored_step",
           "budget"]

TYPE_CHECKING = False
if TYPE_CHECKING:  # for type checkers: it takes as long as all the rest
    from typing import Any, ContextManager, Dict, Iterable, Optional

_LINE_MAX = 1024 * 1024
_OF_TUNERS = ("TRIAL_BUDGET", "load_checkpoint_dir", "save_checkpoint_dir")


def _path(name):
    """The path of a file in the trial's folder, None outside tunepipe."""
    folder = os.environ.get("TUNEPIPE_TRIAL_DIR")
    return os.path.join(folder, name) if folder else None


def params() -> "Dict[str, Any]":
    """All parameters, as a dict in the order of the search space.

    A nested choice is a dict with its name as "_name".  What some tuners add is
    left out, so that Model(**tunepipe.params()) runs with any of them:
    TRIAL_BUDGET, see budget(), load_checkpoint_dir and save_checkpoint_dir;
    param() gives these, too.  Outside tunepipe the dict is empty.  The KeyError
    of a name that it lacks names the nearest, and param() for a path.
    """
    value = _given()
    if isinstance(value, _Params):
        for name in _OF_TUNERS:
            if name in value:
                value.added[name] = value.pop(name)
    return value


def _given():
    path = _path("parameters.json")
    if path is None:
        return _Params()
    with open(path, encoding="utf-8") as file:
        return json.load(file, object_pairs_hook=_Params)


def _nearest(name: str, names: "Any") -> str:
    near = ([one for one in names if one.lower() == str(name).lower()] or
            difflib.get_close_matches(str(name), names, 1))
    return " (did you mean %r?)" % near[0] if near else ""


class _Params(dict):
    def __init__(self, *args):
        super().__init__(*args)
        self.added = {}  # by tuners: found by who asks for it by its name

    def __missing__(self, name):
        if name in self.added:
            return self.added[name]
        hint = _nearest(name, self)
        top, nested, _ = str(name).partition("/")
        if _path("") is None:
            chosen = nested and name.endswith("/_name")
            hint = (": outside tunepipe run there are none, give a default: "
                    "tunepipe.param(%r, %s)" % (
                        name, "'NAME'" if chosen else "0.1"))
            if not nested:
                hint += (", or of a nested choice tunepipe.param(%r, 'NAME')" %
                         (top + "/_name"))
        elif nested and isinstance(self.get(top), dict):
            hint = " (of a nested choice: tunepipe.param(%r))" % name
        raise KeyError("this trial has no parameter %r%s" % (name, hint))


def param(name: str, default: "Any" = None) -> "Any":
    """The value of one parameter, or the default where there is none.

    What a nested choice chose is "activation/_name", its own parameters are
    "activation/slope".  Of a name that the search space does not have, either,
    tunepipe warns once, with the nearest.
    """
    value = _given()
    if isinstance(value, dict) and name in value:
        return value[name]
    for part in name.split("/"):
        if not isinstance(value, dict) or part not in value:
            _note_absent(name)
            return default
        value = value[part]
    return value


def _note_absent(name):
    """For tunepipe, which knows whether the search space has it."""
    if name != "TRIAL_BUDGET":
        _note("absent", name.encode("utf-8", "replace"), 512)


def _note(file, text, limit):
    """Adds a line to a file in the trial's folder, once."""
    path, line = _path(file), text + b"\n"
    if path is None or text == b"" or len(line) >= limit or min(text) < 32:
        return
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
    flags |= os.O_NONBLOCK | os.O_CLOEXEC
    try:
        with open(os.open(path, flags, 0o600), "r+b", buffering=0) as file:
            noted = file.read()
            if len(noted) < 32768 and line not in noted.splitlines(True):
                file.write(line)
    except OSError:
        pass  # that costs the note


def seed(default: int = 0, bits: int = 32) -> int:
    """This trial's seed, from 0 to what numpy and scikit-learn take, 2**32 - 1.

        SGDClassifier(random_state=tunepipe.seed(1))

    It is the last 32 bits of TUNEPIPE_SEED, which has 64: all of these are
    seed(bits=64), for what takes as many, such as random.seed() and
    torch.manual_seed(); 31 are for what wants a C int.  It is the same whenever
    the experiment is repeated with its seed; the default outside tunepipe.
    """
    text = os.environ.get("TUNEPIPE_SEED", "")
    return int(text) % (1 << bits) if text.isdigit() else default


def trial_dir() -> str:
    """The trial's own folder, an absolute path: the place for its files.

    All trials of an experiment have the same working directory, several at a
    time: what one writes there under a name of no trial, another writes, too.
    Outside tunepipe the working directory.
    """
    return os.environ.get("TUNEPIPE_TRIAL_DIR") or os.getcwd()


class Stop(SystemExit):
    """The trial was judged to be not worth its time and should end now.

    Raised by report() with sync.  Who does not catch it ends with status 0.
    """


class Pause(Stop):
    """Enough for now: another trial may go on from the newest checkpoint.

    Raised by report() with sync.  Who catches it may save one, and should end
    without a final result.
    """


class Finish(Stop):
    """Enough: the result just reported is the final one.

    Raised by report() with sync.  Who catches it may report another with
    final(), and should end.
    """


def budget(default: "Any" = 0) -> "Any":
    """How many intermediate results this trial may report.

    Those of restored_step() are included; when there are as many, a tuner
    decides what becomes of the trial, and it is ended when it goes on by
    itself.  The default where there is no such limit, and outside tunepipe.
    """
    return param("TRIAL_BUDGET", default)


def report(value: "Any" = None, sync: bool = False, done: bool = False,
           checkpoint: "Any" = None, **values: "Any") -> "Any":
    """Reports an intermediate result: once per epoch or step.

    The value is a number in the units that the experiment optimises (whatever
    float() takes, NaN and infinities too), or a dict that has this number as
    "default".  Anything else raises TypeError or ValueError.

    Where the experiment has objectives it is a dict of them, or they are named:

        tunepipe.report(accuracy=0.93, latency_ms=12)

    An intermediate result may lack some, a final one has all.  What is named
    beside a number, or is no objective, is kept with it.

    With sync the call returns when the value has been judged, and raises Stop,
    or Pause or Finish, which are kinds of it, when the trial should end now, by
    itself (after the experiment's grace it is ended).  Where nobody answers it
    returns at once: outside tunepipe, and when the manager has died, now or
    meanwhile.

    With checkpoint, the path of a file or folder, or a list of such, copies of
    these are saved as the checkpoint behind this result:

        path = os.path.join(tunepipe.trial_dir(), "model.pt")
        torch.save(model, path)
        tunepipe.report(accuracy, checkpoint=path)

    All trials have the same working directory: the path is one that no other
    writes to.  The copies are the trial's state behind the step whose result
    this is.  The order is the right one: they are on stable storage before the
    result is reported, and a checkpoint before it is judged, so that whoever
    goes on from it (restore_dir() then holds "model.pt") does no step twice.
    OSError where they cannot be copied: nothing is reported then.

    With done it is the trial's result instead, and the trial has done its work:
    it has succeeded, and what runs on is ended.  No assessor judges a result,
    and nobody goes on behind it: with sync or checkpoint it raises ValueError.

    Of the folder of an experiment or a study it returns the page that `tunepipe
    report` makes (tunepipe.notebook.Page), which a notebook shows.
    """
    if not values and _is_folder(value):
        from .notebook import Page
        return Page(value)
    if done and sync:
        raise ValueError("sync is for intermediate results: no assessor "
                         "judges a final one")
    if done and checkpoint is not None:
        raise ValueError("checkpoint is for intermediate results, a step's "
                         "state with its value: nobody goes on behind a final "
                         "one")
    text = _spell(value, values, done)
    if done:
        _append("done " + text)
        return
    with _drafted(checkpoint, _saving(), _tell_saved, _note_saved) as publish:
        word = _intermediate(text, sync, publish)
    ends = _ENDS.get(word) if sync else None
    if ends is not None:
        raise ends(0)


def _is_folder(value):
    """Whether this is a path: a text that is no number, for one."""
    if not isinstance(value, str):
        return hasattr(value, "__fspath__")
    try:
        float(value)
        return False
    except ValueError:
        if os.path.isdir(value):
            return True
        raise ValueError("report: expected a number, or the folder of an "
                         "experiment or a study, got %.100r" % value) from None


def _intermediate(text, hears, then):
    """Reports, does `then`, and where it has to, waits for the answer."""
    text = "intermediate " + text
    if hears:
        return _wait(text, "\t\t", then)
    if os.environ.get("TUNEPIPE_LOCKSTEP") == "1":
        return _wait(text, "\t", then)
    _append(text)
    then()
    return None


_ENDS = {b"stop": Stop, b"pause": Pause, b"finish": Finish}


def final(value: "Any" = None, **values: "Any") -> None:
    """Reports the trial's result, once, at its end: values as in report()."""
    _append("final " + _spell(value, values, True))


def checkpoint() -> "ContextManager[str]":
    """Saves what an attempt after this one needs to go on, all or nothing.

        with tunepipe.checkpoint() as folder:
            torch.save(model, os.path.join(folder, "model"))

    What was written into the folder is saved at the end of the block, unless
    that raises; OSError when it is empty or cannot be saved.  Outside tunepipe
    the folder is removed again.

    The state behind a step is saved behind the report of that step, not before:
    a checkpoint counts the results that were reported by then, so that whoever
    goes on from one that was saved before does that step twice.
    report(value, checkpoint=PATH) does both in the right order.
    """
    return _saved(_saving(), _tell_saved)


def restore_dir() -> "Optional[str]":
    """The newest checkpoint of this trial, a folder to be read only.

    An earlier attempt saved it, or the trial that this one goes on from.  None
    where there is none.
    """
    return os.environ.get("TUNEPIPE_RESTORE_DIR") or None


def restored_step() -> int:
    """How many results had been reported when that checkpoint was saved.

    Intermediate ones, of this trial and of those that it goes on from: the next
    is the result of this step, counted from 0.
    """
    text = os.environ.get("TUNEPIPE_STEP", "")
    return int(text) if text.isdigit() else 0


def _saving():
    return os.environ.get("TUNEPIPE_CHECKPOINT_DIR")


def _tell_saved(number):
    _append("checkpoint %d" % number)


# What is saved where, and how tunepipe is told the number of a checkpoint and
# which files are copied: not the same in a trial and in a study.


@contextlib.contextmanager
def _saved(saving, tell):
    with _draft(saving, tell) as (folder, publish):
        yield folder
        _sync_all(folder)
        publish()


@contextlib.contextmanager
def _draft(saving, tell):
    """A folder to save into, and what makes it a checkpoint once it is synced;
    without that it is removed."""
    folder = _make_folder(saving)

    def publish():
        if saving:
            tell(_give_number(folder, os.path.dirname(saving)))

    try:
        yield folder, publish
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _drafted(paths, saving, tell, note):
    """What publishes copies of these files and folders; of None, nothing."""
    if paths is None:
        yield lambda: None
        return
    if isinstance(paths, (str, bytes)) or hasattr(paths, "__fspath__"):
        paths = [paths]
    with _draft(saving, tell) as (folder, publish):
        for path in map(os.fsdecode, paths):
            _copy(path, os.path.join(folder, _name(path)))
            note(path)
        _sync_all(folder)
        yield publish


def _note_saved(path):
    """For tunepipe, which knows whether another trial saves the same file."""
    home = os.path.realpath(_path("") or os.curdir)
    path = os.path.realpath(path)
    if not path.startswith(home + os.sep):
        _note("saved-from", os.fsencode(path), 4096)


def _name(path):
    name = os.path.basename(path.rstrip("/"))
    if name in ("", ".", ".."):
        raise OSError(errno.EINVAL, "expected a file or folder with a name",
                      path)
    return name


def _copy(path, to):
    if os.path.lexists(to):
        raise OSError(errno.EEXIST, "two of this name to save", path)
    if os.path.isdir(path):
        shutil.copytree(path, to, symlinks=True)
    else:
        shutil.copy2(path, to)


def _make_folder(saving):
    if not saving:
        return tempfile.mkdtemp()
    parent, name = os.path.split(saving)
    os.makedirs(parent, 0o700, exist_ok=True)
    return tempfile.mkdtemp(prefix=name + ".", dir=parent)


def _sync(path):
    if os.path.islink(path):
        return
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _sync_all(folder):
    if not os.listdir(folder):
        raise OSError(errno.EINVAL, "nothing was saved into it", folder)
    for place, _, names in os.walk(folder, topdown=False):
        for name in names:
            _sync(os.path.join(place, name))
        _sync(place)


def _give_number(folder, parent):
    """Gives the folder the next number: a checkpoint is never empty, and a
    folder that is not is never replaced by a rename."""
    numbers = [int(name) for name in os.listdir(parent) if name.isdigit()]
    number = max(numbers, default=0) + 1
    while True:
        try:
            os.rename(folder, os.path.join(parent, str(number)))
            break
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                raise
            number += 1
    _sync(parent)
    return number


def _spell(value, values, final):
    """The value, and those that are named beside it, as one line of JSON."""
    if not isinstance(value, dict):
        if not values:
            return _spell_number(value)
        value = {} if value is None else {"default": value}
    value = dict(value, **values)
    names = _objectives()
    missing = [name for name in names if name not in value]
    if missing and (final or len(missing) == len(names)):
        if names == ["default"]:
            raise ValueError('a result that is a dict needs a member "default"')
        raise ValueError("a result needs a value for %r, an objective of the "
                         "experiment%s" % (missing[0],
                                           _nearest(missing[0], value)))
    for name in {"default", *names}:
        if name in value:
            value[name] = float(value[name])
    return json.dumps(value, default=float)


def _objectives():
    """The names of the values that a result has to have; outside tunepipe, where
    nobody knows them, none."""
    names = os.environ.get("TUNEPIPE_OBJECTIVES")
    if names:
        return names.split(",")
    return ["default"] if _path("") is not None else []


def _spell_number(value):
    """The shortest of 15 to 17 digits that reads back as the same number."""
    value = float(value)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    for digits in (15, 16, 17):
        text = "{:.{}g}".format(value, digits)
        if float(text) == value:
            break
    return text


def _append(text):
    """Appends a line to the trial's metrics, or to stdout.

    Where it ends in that file; None for stdout.
    """
    line = (text + "\n").encode("ascii")
    if len(line) > _LINE_MAX:
        raise ValueError("a result of more than %d bytes" % _LINE_MAX)
    path = _path("metrics")
    if path is None:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
        return None
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
    flags |= os.O_NONBLOCK | os.O_CLOEXEC
    fd = os.open(path, flags, 0o600)
    try:
        while line:
            line = line[os.write(fd, line):]
        return os.lseek(fd, 0, os.SEEK_CUR)
    finally:
        os.close(fd)


def _wait(text, mark, then):
    """Appends a line, does `then`, and waits for the answer, a word; nobody's is
    b"go"."""
    path = _path("answers")
    try:
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = None if path is None else os.open(path, flags)
    except OSError:
        fd = None  # nobody answers
    if fd is None:
        _append(text if path is None else text + mark)
        then()
        return b"go"
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)  # one waits at a time
        end = b"%d" % _append(text + mark)
        then()
        os.set_blocking(fd, True)
        with open(fd, "rb", buffering=0, closefd=False) as answers:
            for line in answers:  # what others did not wait for is skipped
                if line.endswith(b"\n") and line.split()[:1] == [end]:
                    return b" ".join(line.split()[1:])
        return b"go"
    finally:
        os.close(fd)
