# SPDX-License-Identifier: MIT
"""What a trial in Python imports: its parameters, its reports, its seed.

    import tunepipe

    rate = tunepipe.param("learning_rate", 0.01)
    for epoch in range(30):
        accuracy = train(rate, tunepipe.seed(1))
        tunepipe.report(accuracy)
    tunepipe.final(accuracy)

One file for Python 3.6 and later that needs nothing beside it: tunepipe puts
it on the PYTHONPATH of its trials; for a run by hand copy it anywhere.

Outside tunepipe (TUNEPIPE_TRIAL_DIR is not set) parameters have their defaults
and reports go to stdout ("intermediate 0.93"), so the program also runs by
hand.

There is no state: threads and child processes of the trial may call everything
at any time, and lines reported at once stay whole.  A file that cannot be read
or written raises OSError.
"""

import contextlib
import errno
import fcntl
import json
import math
import os
import shutil
import sys
import tempfile

__all__ = ["params", "param", "report", "final", "seed", "Stop", "Pause",
           "Finish", "checkpoint", "restore_dir", "restored_step", "budget"]

_LINE_MAX = 1024 * 1024


def _path(name):
    """The path of a file in the trial's folder, None outside tunepipe."""
    folder = os.environ.get("TUNEPIPE_TRIAL_DIR")
    return os.path.join(folder, name) if folder else None


def params():
    """All parameters, as a dict in the order of the search space.

    A nested choice is a dict with its name as "_name".  Outside tunepipe the
    dict is empty.
    """
    path = _path("parameters.json")
    if path is None:
        return {}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def param(name, default=None):
    """The value of one parameter, or the default where there is none.

    What a nested choice chose is "activation/_name", its own parameters are
    "activation/slope".
    """
    value = params()
    if isinstance(value, dict) and name in value:
        return value[name]
    for part in name.split("/"):
        if not isinstance(value, dict) or part not in value:
            return default
        value = value[part]
    return value


def seed(default=0):
    """This trial's seed, 64 bits without a sign.

    It is the same whenever the experiment is repeated with its seed; the
    default outside tunepipe.
    """
    text = os.environ.get("TUNEPIPE_SEED", "")
    return int(text) if text.isdigit() else default


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


def budget(default=0):
    """How many intermediate results this trial may report.

    Those of restored_step() are included; when there are as many, a tuner
    decides what becomes of the trial, and it is ended when it goes on by
    itself.  The default where there is no such limit, and outside tunepipe.
    """
    return param("TRIAL_BUDGET", default)


def report(value, sync=False, done=False):
    """Reports an intermediate result: once per epoch or step.

    The value is a number in the units that the experiment optimises (whatever
    float() takes, NaN and infinities too), or a dict that has this number as
    "default".  Anything else raises TypeError or ValueError.

    With sync the call returns when the value has been judged, and raises Stop,
    or Pause or Finish, which are kinds of it, when the trial should end now, by
    itself (after the experiment's grace it is ended).  Where nobody answers it returns at once: outside
    tunepipe, and when the manager has died, now or meanwhile.

    With done it is the trial's result instead, and the trial has done its work:
    it has succeeded, and what runs on is ended.  No assessor judges a result:
    both together raise ValueError.
    """
    if done and sync:
        raise ValueError("sync is for intermediate results: no assessor "
                         "judges a final one")
    if done:
        _append("done " + _spell(value))
        return
    text = "intermediate " + _spell(value)
    if sync:
        ends = _ENDS.get(_wait(text + "\t\t"))
        if ends is not None:
            raise ends(0)
        return
    if os.environ.get("TUNEPIPE_LOCKSTEP") == "1":
        _wait(text + "\t")
    else:
        _append(text)


_ENDS = {b"stop": Stop, b"pause": Pause, b"finish": Finish}


def final(value):
    """Reports the trial's result, once, at its end: values as in report()."""
    _append("final " + _spell(value))


@contextlib.contextmanager
def checkpoint():
    """Saves what an attempt after this one needs to go on, all or nothing.

        with tunepipe.checkpoint() as folder:
            torch.save(model, os.path.join(folder, "model"))

    What was written into the folder is saved at the end of the block, unless
    that raises; OSError when it is empty or cannot be saved.  Outside tunepipe
    the folder is removed again.
    """
    saving = os.environ.get("TUNEPIPE_CHECKPOINT_DIR")
    folder = _make_folder(saving)
    try:
        yield folder
        if saving:
            number = _commit(folder, os.path.dirname(saving))
            _append("checkpoint %d" % number)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def restore_dir():
    """The newest checkpoint of this trial, a folder to be read only.

    An earlier attempt saved it, or the trial that this one goes on from.  None
    where there is none.
    """
    return os.environ.get("TUNEPIPE_RESTORE_DIR") or None


def restored_step():
    """How many results had been reported when that checkpoint was saved.

    Intermediate ones, of this trial and of those that it goes on from: the next
    is the result of this step, counted from 0.
    """
    text = os.environ.get("TUNEPIPE_STEP", "")
    return int(text) if text.isdigit() else 0


def _make_folder(saving):
    if not saving:
        return tempfile.mkdtemp()
    parent, name = os.path.split(saving)
    return tempfile.mkdtemp(prefix=name + ".", dir=parent)


def _sync(path):
    if os.path.islink(path):
        return
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _commit(folder, parent):
    """Gives the folder the next number: a checkpoint is never empty, and a
    folder that is not is never replaced by a rename."""
    if not os.listdir(folder):
        raise OSError(errno.EINVAL, "nothing was saved into it", folder)
    for place, _, names in os.walk(folder, topdown=False):
        for name in names:
            _sync(os.path.join(place, name))
        _sync(place)
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


def _spell(value):
    """The value as one line of JSON."""
    if not isinstance(value, dict):
        return _spell_number(value)
    if "default" not in value:
        raise ValueError('a result that is a dict needs a member "default"')
    value = dict(value, default=float(value["default"]))
    return json.dumps(value, default=float)


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


def _wait(text):
    """Appends a line and waits for its answer, a word; nobody's is b"go"."""
    path = _path("answers")
    try:
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = None if path is None else os.open(path, flags)
    except OSError:
        fd = None  # nobody answers
    if fd is None:
        _append(text.rstrip("\t"))
        return b"go"
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)  # one waits at a time
        end = b"%d" % _append(text)
        os.set_blocking(fd, True)
        with open(fd, "rb", buffering=0, closefd=False) as answers:
            for line in answers:  # what others did not wait for is skipped
                if line.endswith(b"\n") and line.split()[:1] == [end]:
                    return b" ".join(line.split()[1:])
        return b"go"
    finally:
        os.close(fd)
