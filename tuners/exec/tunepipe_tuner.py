# SPDX-License-Identifier: MIT
"""A tuner of one's own in Python: a class, and no frames.

    import tunepipe_tuner

    class RandomSearch(tunepipe_tuner.Tuner):
        def ask(self):
            return self.space.sample(self.random)

        def tell(self, trial, value):
            print(value, "is what came of", trial.parameters)

    tunepipe_tuner.run(RandomSearch)

In an experiment: tuner: {name: exec, classArgs: {command: [python3, mine.py]}}.

One file for Python 3.6 and later that needs nothing beside it: tunepipe puts it
on the PYTHONPATH of the programs that it starts.  By hand the import needs it,
too: PYTHONPATH=PREFIX/share/tunepipe, PREFIX being where tunepipe was installed
(in its source: tuners/exec).  What such a program is sent, and may answer, is
told by PROTOCOL.md, "Programs"; this module says it.
"""

import atexit
import collections
import difflib
import json
import math
import os
import random
import sys
import traceback

__all__ = ["Tuner", "Exhausted", "Trial", "Space", "Parameter", "run"]


class Exhausted(Exception):
    """Raised by ask(): there is nothing more to try, now or later."""


class Trial:
    """A suggestion that was given out, or a result from elsewhere.

    number       rising, in the order of ask(); None: from elsewhere (imported,
                 or told again after this program had to be started again)
    parameters   as ask() gave them
    value, result  what it told as its result: the number, and all of it where
                 that was {"default": NUMBER, ...}; None: nothing yet.  Of
                 several objectives the number is NaN, and result has each
                 by its name
    ended        None, or the word that ended() was told
    """

    def __init__(self, number, parameters):
        self.number = number
        self.parameters = parameters
        self.value = self.result = self.ended = None

    def __repr__(self):
        return "Trial(%r, %r)" % (self.number, self.parameters)


class Tuner:
    """What to derive from: only ask() is needed.

    There is already, also in an __init__ of one's own, which need not call this
    one's:

    space       a Space: what to search
    direction   "minimize", "maximize", or None where the experiment does not
                say
    objectives  where the experiment names some a dict, {"objectives": [{"name",
                "direction", ...}, ...], "resultConstraints": [...]}; else
                None.  direction is None then, unless there is one alone
    random      a random.Random, seeded anew for each ask() from the
                experiment's seed and the suggestion's number: so the same
                experiment asks for the same, and this program draws nothing
                twice when it was started again; behind an ask() that raised
                the next one draws the same as that did
    trials      number -> Trial, of those that this process gave out or found
                running; of a process before it tell() has the results alone

    An exception costs the one call that raised it: people are told, and the
    experiment goes on.  What is printed goes to the dispatcher's messages.
    """

    space = direction = objectives = random = trials = None

    def ask(self):
        """The parameters of one trial, a dict as space.sample() gives.

        A value that the search space does not allow is an exception, too, as is
        one that is missing.  What it does not have at all goes to the trial as
        it is; people are told once, unless it is in capitals (TRIAL_BUDGET).
        None: nothing can be said before more results are there; it is asked
        again behind each.  Exhausted: nothing more will come.  None while no
        trial runs is an exception, as no result would come.
        """
        raise NotImplementedError

    def tell(self, trial, value):
        """The result of a trial, a float, in the units of the experiment."""

    def ended(self, trial, how):
        """A trial is over, behind its result if it has one.

        how is "succeeded", "failed", "stopped" (early, by an assessor),
        "paused" or "cancelled".
        """

    def space_changed(self):
        """The search space is another one: self.space."""

    def close(self):
        """The session is over."""

    def is_better(self, value, other):
        """Whether a result is better than another; NaN is never."""
        return value < other if self.direction == "minimize" else value > other


# ---- the search space ----


def _nearest(name, names):
    """That which is most like it, but for capitals; None: none is."""
    folded = {other.lower(): other for other in names}
    near = difflib.get_close_matches(name.lower(), folded, 1)
    return folded[near[0]] if near else None


_OF_TUNERS = ("_name", "load_checkpoint_dir", "save_checkpoint_dir")


class Space(dict):
    """The parameters to search, by name, in the order of the search space."""

    def __init__(self, entries):
        super().__init__((name, Parameter(name, entry["_type"],
                                          entry["_value"]))
                         for name, entry in entries.items())

    def __missing__(self, name):
        near = _nearest(str(name), self)
        raise KeyError("the search space has no parameter %r%s" % (
            name, " (did you mean %r?)" % near if near else ""))

    def sample(self, rng):
        """Parameters at random: each drawn as the search space says."""
        return {name: parameter.sample(rng)
                for name, parameter in self.items()}

    def check(self, values, above=""):
        """ValueError where a value, of JSON, is missing or none of its
        parameter's."""
        others = [name for name in values if name not in self]
        for name in self:
            if name not in values:
                near = _nearest(name, others)
                raise ValueError("it lacks %r, which the search space has%s" % (
                    above + name,
                    " (it gave %r)" % (above + near) if near else ""))
            self[name].check(values[name], above + name)

    def extra(self, values, above=""):
        """Of values that check() took the paths of those that it does not have,
        each with the nearest that it has, or None."""
        for name, value in values.items():
            if name in self:
                branches = self[name].branches
                if branches is not None:
                    yield from branches[value["_name"]].extra(
                        value, above + name + "/")
            elif name not in _OF_TUNERS and not name.isupper():
                near = _nearest(name, self)
                yield above + name, above + near if near else None


class Parameter:
    """One parameter of a search space.

    type      "uniform", "choice", ...; what the others are not for is None
    value     its _value, as it stands there
    choices   the values of a choice
    branches  name -> Space, of a choice that is nested: what is drawn is
              {"_name": NAME} with the parameters of that Space
    low, high  the bounds; of randint, qrandint and lograndint high itself is
              never drawn
    mu, sigma  of a normal type: of the value, or of its logarithm
    step      what the value is a multiple of; of qrandint above low
    log       whether the scale is logarithmic
    """

    def __init__(self, name, type_, value):
        self.name, self.type, self.value = name, type_, value
        self.choices = self.branches = self.low = self.high = None
        self.mu = self.sigma = self.step = None
        self.log = "log" in type_
        if type_ == "choice":
            self.choices = value
            if value and all(isinstance(v, dict) and "_name" in v
                             for v in value):
                self.branches = collections.OrderedDict(
                    (v["_name"], Space({key: entry for key, entry in v.items()
                                        if key != "_name"})) for v in value)
        elif "normal" in type_:
            self.mu, self.sigma = value[:2]
        else:
            self.low, self.high = value[:2]
        if type_.startswith("q"):
            self.step = value[2]

    def __repr__(self):
        return "Parameter(%r, %r, %r)" % (self.name, self.type, self.value)

    def sample(self, rng):
        """A value at random, drawn as the search space says."""
        if self.branches is not None:
            name = rng.choice(list(self.branches))
            return dict({"_name": name}, **self.branches[name].sample(rng))
        if self.choices is not None:
            return rng.choice(self.choices)
        if self.type == "lograndint":
            return self._draw_integer(rng)
        if "randint" in self.type:
            return rng.randrange(self.low, self.high, self.step or 1)
        return self._draw(rng)

    def check(self, value, path):
        """ValueError, which names the path, where the value is none of its."""
        if self.branches is not None:
            name = value.get("_name") if isinstance(value, dict) else None
            if name not in self.branches:
                self._refuse(value, path, 'a dict whose "_name" is one of ' +
                             ", ".join(map(repr, self.branches)))
            self.branches[name].check(value, path + "/")
        elif self.choices is not None:
            if value not in self.choices:
                self._refuse(value, path, "one of %.200s" %
                             ", ".join(map(repr, self.choices)))
        elif not isinstance(value, (int, float)) or isinstance(value, bool):
            self._refuse(value, path, "a number")
        elif "randint" in self.type:
            step = "q" in self.type and self.step or 1
            if not self.low <= value < self.high or (value - self.low) % step:
                self._refuse(value, path, "an integer in [%s, %s)%s" % (
                    self.low, self.high,
                    " in steps of %s" % step if step != 1 else ""))
        elif self.low is not None:
            slack = 1e-12 * max(abs(self.low), abs(self.high))
            slack += (self.step or 0) / 2  # not all who round clip
            if not self.low - slack <= value <= self.high + slack:
                self._refuse(value, path, "a number in [%s, %s]" % (
                    self.low, self.high))
        elif self.log and value < 0:
            self._refuse(value, path, "a number above 0")

    def _refuse(self, value, path, expected):
        raise ValueError("it gave %.60r for %r, expected %s" % (
            value, path, expected))

    def _draw_integer(self, rng):
        """Each end has as much of the scale as rounds to it."""
        x = math.exp(rng.uniform(math.log(self.low - 0.4999),
                                 math.log(self.high - 1 + 0.4999)))
        return min(max(round(x), self.low), self.high - 1)

    def _draw(self, rng):
        if self.mu is not None:
            x = rng.gauss(self.mu, self.sigma)
        elif self.log:
            x = rng.uniform(math.log(self.low), math.log(self.high))
        else:
            x = rng.uniform(self.low, self.high)
        if self.log:
            x = math.exp(x)
        if self.step is not None:
            x = round(x / self.step) * self.step
        if self.low is not None:
            x = min(max(x, self.low), self.high)
        return float(x)


# ---- frames ----


class _Broken(Exception):
    """What comes is no frame: nothing behind it can be read."""


class _Pipe:
    """Frames on descriptors 0 and 1, which the user's class no longer has: what
    it prints goes to stderr, and it reads nothing."""

    def __init__(self):
        self.input = os.fdopen(os.dup(0), "rb")
        self.output = os.fdopen(os.dup(1), "wb", 0)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        os.dup2(2, 1)
        # by lines: the dispatcher writes to the same stderr
        sys.stdout = os.fdopen(1, "w", 1, closefd=False, encoding="utf-8",
                               errors="backslashreplace")

    def receive(self):
        """Two letters and a payload; None at the end between two frames."""
        head = self.input.read(16)
        if not head:
            return None
        code, digits = head[:2], head[2:]
        if len(head) < 16 or not (code.isalpha() and code.isupper() and
                                  digits.isdigit()):
            raise _Broken("expected two capital letters and 14 digits, not %r" %
                          head)
        payload = self.input.read(int(digits))
        if len(payload) < int(digits):
            raise _Broken("the input ends %d bytes into %d of %s" % (
                len(payload), int(digits), code.decode()))
        return code.decode(), payload.decode("utf-8", "replace")

    def send(self, code, payload=""):
        payload = payload.encode("utf-8", "backslashreplace")
        frame = b"%s%014d%s" % (code.encode(), len(payload), payload)
        while frame:
            frame = frame[self.output.write(frame):]


def _plain(value):
    """What json cannot write: numpy's numbers and arrays."""
    for convert in ("tolist", "item"):
        if hasattr(value, convert):
            return getattr(value, convert)()
    raise TypeError("a %s is no JSON" % type(value).__name__)


def _describe(error):
    """A traceback's last line, and where of the user's it was raised."""
    text = " ".join("".join(
        traceback.format_exception_only(type(error), error)).split())
    libraries = os.path.dirname(os.__file__) + os.sep
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if frame.filename != __file__ and
              not frame.filename.startswith((libraries, "<"))]
    if frames:
        text += " (%s, line %d)" % (os.path.basename(frames[-1].filename),
                                    frames[-1].lineno)
    return text


# ---- a session ----


_ENDS = {"SUCCEEDED": "succeeded", "FAILED": "failed",
         "EARLY_STOPPED": "stopped", "PAUSED": "paused"}


class _Session:
    def __init__(self, pipe, make):
        self.pipe = pipe
        self.make = make
        self.tuner = None  # before there is a search space
        self.trials = {}
        self.out = set()  # numbers of trials that have not ended
        self.owed = 0  # suggestions that were asked for and are to come
        self.next = 0
        self.told = set()  # paths that the search space does not have

    def serve(self):
        """Until TE, or whoever started us is gone."""
        for code, payload in iter(self.pipe.receive, None):
            if code == "TE":
                break
            handle = getattr(self, "on_" + code, None)
            if handle is None:
                print("tunepipe_tuner: %s: is no command for a tuner: ignored" %
                      code)
            else:
                self.handle(code, handle, payload)
        self.call("close")

    def handle(self, code, handle, payload):
        """What makes no sense costs itself, and is answered."""
        try:
            handle(payload)
        except BrokenPipeError:
            raise
        except Exception as error:
            self.failed(code, error)
            if code in ("IN", "GE"):
                self.pipe.send("NO", '{"reason": "failed"}')

    def failed(self, what, error):
        """Who reads the messages sees all of it, the experiment's user a
        line."""
        traceback.print_exception(type(error), error, error.__traceback__)
        self.pipe.send("ER", "%s: %s" % (what, _describe(error)))

    def call(self, method, *args):
        """An exception costs this call and nothing else."""
        try:
            if self.tuner is not None:
                getattr(self.tuner, method)(*args)
        except Exception as error:  # whatever the user's class raises
            self.failed(method, error)

    def on_IN(self, payload):
        space = Space(json.loads(payload))
        try:
            self.tuner = self.make(space, self.trials)
        except Exception as error:
            self.failed("__init__", error)
            self.pipe.send("NO", '{"reason": "failed"}')
        else:
            self.pipe.send("ID")

    def on_SS(self, payload):
        space = Space(json.loads(payload))
        if self.tuner is not None:
            self.tuner.space = space
        self.call("space_changed")
        self.answer(0)

    def on_PI(self, payload):
        pass

    on_NT = on_PI

    # -- suggestions --

    def on_GE(self, payload):
        self.answer(int(payload))

    def answer(self, asked):
        """Serves what is owed, and so many more, as far as ask() goes."""
        wanted, reason = self.owed + asked, None
        while wanted > 0 and reason is None:
            reason = self.suggest()
            wanted -= reason is None
        if min(asked, wanted) > 0:
            self.pipe.send("NO", json.dumps({"reason": reason}))
        if reason == "later":
            self.owed = wanted
            return
        if wanted > asked:
            self.pipe.send("NO", json.dumps({"reason": reason}))
        self.owed = 0

    def suggest(self):
        """Sends a suggestion.  Why there is none, or None."""
        if self.tuner is None:
            raise ValueError("there is no search space yet")
        self.tuner.random.seed("%s %d" % (_seed(), self.next))
        try:
            parameters = self.tuner.ask()
            if parameters is None:
                if self.out:
                    return "later"
                raise ValueError(
                    "ask() gave None while no trial runs: nothing would come "
                    "(does it return?); where there is nothing more to try: "
                    "raise tunepipe_tuner.Exhausted")
            if not isinstance(parameters, dict):
                raise TypeError("ask() gave %.60r, expected a dict of "
                                "parameters, or None" % (parameters,))
            text = json.dumps(parameters, default=_plain, allow_nan=False)
            self.check(json.loads(text))
        except Exhausted:
            return "exhausted"
        except Exception as error:
            self.failed("ask", error)
            return "failed"
        self.give(Trial(self.next, parameters))
        self.pipe.send("TR", '{"parameter_id": %d, "parameters": %s}' % (
            self.next - 1, text))
        return None

    def check(self, parameters):
        self.tuner.space.check(parameters)
        for path, near in self.tuner.space.extra(parameters):
            if path not in self.told:
                self.told.add(path)
                print("tunepipe_tuner: warning: ask() gave %r, which the search "
                      "space does not have%s: it goes to the trial as it is" % (
                          path, " (did you mean %r?)" % near if near else ""))

    def give(self, trial):
        self.trials[trial.number] = trial
        self.out.add(trial.number)
        self.next = max(self.next, trial.number + 1)

    def on_AD(self, payload):
        """Trials that run and were not asked of this process."""
        records = json.loads(payload)
        for record in records if isinstance(records, list) else [records]:
            if isinstance(record, str):
                record = json.loads(record)
            if isinstance(record["parameter_id"], int):
                self.give(Trial(record["parameter_id"],
                                record.get("parameters")))

    # -- results --

    def tell(self, trial, value):
        """A number, or an object with one, perhaps as the text of a trial."""
        try:
            trial.result = json.loads(value) if isinstance(value, str) else value
            default = trial.result
            if isinstance(default, dict):
                default = default[_only_name()]
            trial.value = float(default)
        except (ValueError, TypeError, KeyError):
            trial.value = math.nan
        self.call("tell", trial, trial.value)

    def on_ME(self, payload):
        metric = json.loads(payload)
        trial = self.trials.get(metric["parameter_id"])
        if trial is not None:
            self.tell(trial, metric["value"])
            self.answer(0)

    def on_EN(self, payload):
        end = json.loads(payload)
        number = json.loads(end["hyper_params"])["parameter_id"]
        trial = self.trials.get(number)
        self.out.discard(number)
        if trial is not None:
            trial.ended = _ENDS.get(end["event"], "cancelled")
            self.call("ended", trial, trial.ended)
            self.answer(0)

    def on_FD(self, payload):
        """Results from elsewhere, and of a process before this one."""
        for entry in json.loads(payload):
            if "parameter" in entry and "value" in entry:
                self.tell(Trial(None, entry["parameter"]), entry["value"])
                self.next += 1
        self.answer(0)


def _objectives():
    return json.loads(os.environ.get("TUNEPIPE_OBJECTIVES_JSON", "null"))


def _only_name():
    """Of the one value that results have, else of none."""
    of = _objectives()
    if of is None:
        return "default"
    return of["objectives"][0]["name"] if len(of["objectives"]) == 1 else None


def _seed():
    return os.environ.get("TUNEPIPE_SEED", "0")


def run(kind, *args, **kwargs):
    """Serves tunepipe with a tuner of this class until the session is over.

    The object is made, with these arguments, when the search space is known.
    """
    atexit.unregister(_miss_run)
    if not isinstance(kind, type):
        sys.exit("tunepipe_tuner: error: run() is given an object, expected its "
                 "class: tunepipe_tuner.run(%s)" % type(kind).__name__)
    if os.isatty(0):
        sys.exit("this is a tuner, which tunepipe starts: tuner: {name: exec, "
                 "classArgs: {command: [python3, %s]}}" %
                 os.path.basename(sys.argv[0]))

    def make(space, trials):
        if kind.ask is Tuner.ask:
            raise TypeError("%s has no method ask" % kind.__name__)
        tuner = kind.__new__(kind, *args, **kwargs)
        tuner.space, tuner.trials = space, trials
        tuner.direction = os.environ.get("TUNEPIPE_DIRECTION")
        tuner.objectives = _objectives()
        tuner.random = random.Random(_seed())
        tuner.__init__(*args, **kwargs)
        return tuner

    try:
        _Session(_Pipe(), make).serve()
    except _Broken as broken:
        sys.exit("tunepipe_tuner: %s" % broken)
    except BrokenPipeError:
        sys.exit(1)  # whoever started us is gone


@atexit.register
def _miss_run():
    """A program that tunepipe started, and that ends without a run() of the
    class it defines, says so; not one that an exception ends, nor a trial in
    the same file."""
    kinds, last = Tuner.__subclasses__(), None
    while kinds:
        last = kinds[-1]
        kinds = last.__subclasses__()
    if (last is not None and last.__module__ == "__main__" and
            "TUNEPIPE_SEED" in os.environ and not os.isatty(0) and
            "TUNEPIPE_TRIAL_DIR" not in os.environ and
            not hasattr(sys, "last_type")):
        print("tunepipe_tuner: error: tunepipe_tuner.run(%s) was never called" %
              last.__name__, file=sys.stderr)
