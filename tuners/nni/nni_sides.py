# SPDX-License-Identifier: MIT
"""What nni_class.py is made of: frames, JSON, and the two sides that turn
commands into calls of the user's class and what it gives into answers."""
import inspect
import itertools
import json
import os
import sys
import threading
import traceback


HERE = os.path.dirname(os.path.abspath(__file__))


class Refusal(Exception):
    """Nothing can be done: one line for people, and the end."""


# ---- frames ----


class Pipe:
    """Two letters, fourteen digits, a payload."""

    def __init__(self):
        self.lock = threading.Lock()  # the user may suggest from any thread
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
        head = self.input.read(16)
        payload = self.input.read(int(head[2:])) if len(head) == 16 else b""
        if len(head) < 16 or len(payload) < int(head[2:]):
            return "TE", ""  # whoever started us is gone
        return head[:2].decode(), payload.decode()

    def send(self, code, payload=""):
        payload = payload.encode("utf-8", "backslashreplace")
        frame = b"%s%014d%s" % (code.encode(), len(payload), payload)
        with self.lock:
            while frame:
                frame = frame[self.output.write(frame):]


# ---- JSON, as the NNI that is there writes and reads it ----


def plain(value):
    """What json cannot write: numpy's numbers and arrays."""
    for convert in ("tolist", "item"):
        if hasattr(value, convert):
            return getattr(value, convert)()
    raise TypeError("a %s is no JSON" % type(value).__name__)


def refuse_constant(name):
    raise ValueError("%s, which is no JSON" % name)


def dump(value):
    """One that any manager can read: no NaN, no infinity."""
    nni = sys.modules.get("nni")
    tricks = sys.modules.get("json_tricks")
    if hasattr(nni, "dump"):
        text = nni.dump(value)
    elif tricks is not None:
        text = tricks.dumps(value, allow_nan=True)
    else:
        text = json.dumps(value, default=plain)
    json.loads(text, parse_constant=refuse_constant)
    return text


def load(text, comments=False):
    nni = sys.modules.get("nni")
    tricks = sys.modules.get("json_tricks")
    if hasattr(nni, "load"):
        return call(nni.load, text, ignore_comments=comments)
    if tricks is not None:
        return tricks.loads(text, ignore_comments=comments)
    return json.loads(text)


def load_value(text):
    """Of a metric: as a trial wrote it, perhaps with a comment; NaN if it is
    nothing."""
    for comments in (False, True):
        try:
            return load(text, comments)
        except ValueError:
            pass
    return float("nan")


# ---- calls ----


def describe(error):
    """A line: the kind of error, its text, and where it was raised."""
    text = " ".join(str(error).split())
    line = type(error).__name__ + (": " + text if text else "")
    frames = traceback.extract_tb(error.__traceback__)
    if frames and os.path.dirname(frames[-1].filename) != HERE:
        line += " (%s, line %d)" % (os.path.basename(frames[-1].filename),
                                    frames[-1].lineno)
    return line


def has_base(kind, name):
    """By name: the module has moved between NNI's versions."""
    return any(base.__name__ == name for base in inspect.getmro(kind))


def defines(value, method):
    """Whether its class has one that is not nni.tuner.Tuner's."""
    for base in inspect.getmro(type(value)):
        if method in vars(base):
            return base.__module__ != "nni.tuner"
    return False


def takes(function, keyword):
    """Classes of NNI's first versions have no **kwargs."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return True
    return keyword in parameters or any(
        p.kind == p.VAR_KEYWORD for p in parameters.values())


def call(function, *args, **kwargs):
    return function(*args, **{key: value for key, value in kwargs.items()
                              if takes(function, key)})


def explain(error):
    """The whole traceback, for who asked for more."""
    if os.environ.get("NNI_LOG_LEVEL") in ("debug", "trace"):
        traceback.print_exception(type(error), error, error.__traceback__)


# ---- both sides ----


class Side:
    """What a tuner's and an assessor's side share."""

    def __init__(self, pipe, subject):
        self.pipe = pipe
        self.subject = subject

    def failed(self, method, error):
        explain(error)
        self.say(method, describe(error))

    def say(self, method, text):
        self.pipe.send("ER", "%s: %s" % (method, text))

    def attempt(self, method, *args, **kwargs):
        """An error costs this call and nothing else."""
        try:
            return True, call(getattr(self.subject, method), *args, **kwargs)
        except (Exception, SystemExit) as error:
            self.failed(method, error)
            return False, None

    def serve(self):
        while True:
            code, payload = self.pipe.receive()
            if code == "TE":
                break
            handler = getattr(self, "on_" + code, None)
            if handler is not None:
                handler(payload)
        if hasattr(self.subject, "_on_exit"):
            self.attempt("_on_exit")


# ---- a tuner ----


def in_nni_types(space):
    """The search space, in place, with NNI's types alone.  A qrandint, whose
    values are range(low, high, q), becomes a quniform where these are multiples
    of q, else a choice of them; a lograndint a qloguniform of whole numbers."""
    for entry in space.values():
        if not isinstance(entry, dict) or "_type" not in entry:
            continue
        kind, value = entry["_type"], entry["_value"]
        if kind == "qrandint":
            values = range(*map(int, value))
            if values[0] % values.step == 0:
                entry["_type"] = "quniform"
                entry["_value"] = [values[0], values[-1], values.step]
            else:
                entry["_type"], entry["_value"] = "choice", list(values)
        elif kind == "lograndint":
            entry["_type"] = "qloguniform"
            entry["_value"] = [value[0], value[1] - 1, 1]
        elif kind == "choice":
            for element in value:
                if isinstance(element, dict) and "_name" in element:
                    in_nni_types(element)
    return space


class TunerSide(Side):
    needs = ("generate_parameters", "receive_trial_result",
             "update_search_space")

    def __init__(self, pipe, subject, owes):
        super().__init__(pipe, subject)
        self.owes = owes
        self.lock = threading.RLock()  # of all below
        self.next_id = 0
        self.parameters = {}  # id -> what it gave out, or was told of by AD
        self.recovered = set()  # ids of AD: it has not given them out
        self.out = set()  # trials that have not ended
        self.owed = 0  # suggestions that somebody waits for

    def suggest(self, number, parameters):
        """Sends a TR.  False: it cannot be sent."""
        try:
            text = dump(parameters)
        except (Exception, SystemExit) as error:
            self.say("generate_parameters", "cannot be told to a trial: " +
                     describe(error))
            return False
        with self.lock:
            self.parameters[number] = parameters
            self.out.add(number)
            self.owed -= self.owed > 0
            self.pipe.send("TR", '{"parameter_id": %d, "parameters": %s}' %
                           (number, text))
        return True

    def on_IN(self, payload):
        try:
            self.subject.update_search_space(in_nni_types(load(payload)))
        except (Exception, SystemExit) as error:
            explain(error)
            raise Refusal("update_search_space: " + describe(error))
        self.pipe.send("ID")

    def on_SS(self, payload):
        self.attempt("update_search_space", in_nni_types(load(payload)))

    def generate_each(self, ids, push, found):
        """As nni.tuner.Tuner does, but what was found is not lost."""
        for number in ids:
            found.append(call(self.subject.generate_parameters, number,
                              st_callback=push))

    def generate(self, ids, push):
        """The suggestions for some of the ids, and whether it failed."""
        many = defines(self.subject, "generate_multiple_parameters")
        found = []
        try:
            if many:
                found = list(call(self.subject.generate_multiple_parameters,
                                  ids, st_callback=push))
            else:
                self.generate_each(ids, push, found)
        except (Exception, SystemExit) as error:
            if not has_base(type(error), "NoMoreTrialError"):
                self.failed("generate_multiple_parameters" if many
                            else "generate_parameters", error)
                return found, True
        return found, False

    def on_GE(self, payload):
        count = int(payload)
        with self.lock:
            first = self.next_id
            self.next_id += count
            before = self.owed
        ids, pushed = list(range(first, first + count)), []

        def push(number, parameters):
            if self.suggest(int(number), parameters):
                pushed.append(number)

        found, failed = self.generate(ids, push)
        sent = len(pushed)
        for number, parameters in zip(ids, found):
            if self.suggest(number, parameters):
                sent += 1
            else:
                failed = True
        left = count - max(0, sent - before)
        if left > 0:
            self.refuse(left, failed)

    def refuse(self, left, failed):
        """Answers the rest of a request."""
        with self.lock:
            if failed:
                reason = "failed"
            elif self.owes and self.out:
                reason = "later"
                self.owed += left
            else:
                reason = "exhausted"
            self.pipe.send("NO", json.dumps({"reason": reason}))
            self.settle()

    def settle(self):
        """What is owed with no trial out never comes."""
        if self.owed and not self.out:
            self.owed = 0
            self.pipe.send("NO", '{"reason": "exhausted"}')

    def on_ME(self, payload):
        metric = json.loads(payload)
        number, value = metric["parameter_id"], load_value(metric["value"])
        if number not in self.parameters:
            return
        parameters = self.parameters[number]
        if number in self.recovered:
            self.attempt("import_data",
                         [{"parameter": parameters, "value": value}])
        else:
            self.attempt("receive_trial_result", number, parameters, value,
                         customized=False,
                         trial_job_id=metric.get("trial_job_id"))

    def on_EN(self, payload):
        end = json.loads(payload)
        number = json.loads(end["hyper_params"])["parameter_id"]
        with self.lock:
            self.out.discard(number)
        if number in self.parameters and number not in self.recovered and \
                hasattr(self.subject, "trial_end"):
            self.attempt("trial_end", number, end["event"] == "SUCCEEDED")
        with self.lock:
            self.settle()

    def on_FD(self, payload):
        data = [entry for entry in load(payload) if isinstance(entry, dict)
                and "parameter" in entry and "value" in entry]
        for entry in data:
            if isinstance(entry["value"], str):
                entry["value"] = load_value(entry["value"])
        if data and hasattr(self.subject, "import_data"):
            self.attempt("import_data", data)

    def on_AD(self, payload):
        """Trials that an earlier process gave out."""
        for record in json.loads(payload):
            number = record["parameter_id"]
            with self.lock:
                self.parameters[number] = record["parameters"]
                self.recovered.add(number)
                self.out.add(number)
                self.next_id = max(self.next_id, number + 1)


# ---- an assessor ----


class AssessorSide(Side):
    needs = ("assess_trial",)

    def __init__(self, pipe, subject, owes):
        super().__init__(pipe, subject)
        self.histories = {}  # job -> sequence -> value

    def judge(self, job, sequence):
        """Whether the trial goes on."""
        history = self.histories[job]
        values = [history[i] for i in
                  itertools.takewhile(history.__contains__, itertools.count())]
        if len(values) <= sequence:
            return True  # there is a gap before it
        done, result = self.attempt("assess_trial", job, values)
        if not done:
            return True
        name = getattr(result, "name", None)
        if name in ("Good", "Bad"):
            return name == "Good"
        if type(result).__name__ in ("bool", "bool_"):  # numpy's, too
            return bool(result)
        self.say("assess_trial", "gave %.60r, expected AssessResult.Good or "
                 "Bad, True or False" % (result,))
        return True

    def on_ME(self, payload):
        metric = json.loads(payload)
        job, sequence = metric["trial_job_id"], metric["sequence"]
        self.histories.setdefault(job, {})[sequence] = load_value(
            metric["value"])
        good = self.judge(job, sequence)
        if metric.get("sync"):
            self.pipe.send("AK", json.dumps(
                {"trial_job_id": job, "sequence": sequence,
                 "decision": "go" if good else "stop"}))
        elif not good:
            self.pipe.send("KI", json.dumps(job))

    def on_EN(self, payload):
        end = json.loads(payload)
        job = end["trial_job_id"]
        if self.histories.pop(job, None) is not None and \
                hasattr(self.subject, "trial_end"):
            self.attempt("trial_end", job, end["event"] == "SUCCEEDED")
