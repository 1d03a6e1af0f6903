# SPDX-License-Identifier: MIT
"""The lines to a study's server and back.

The server is `tunepipe study DIR --serve`, started where none lives; it is
asked through the socket `control` in its folder, a line of JSON each way.  Any
thread may ask; who waits for an answer reads for all that wait, so that there
is no thread of ours.  When the server has died, the one who reads starts
another and says once more what was not answered.
"""

import itertools
import json
import math
import operator
import os
import re
import secrets
import select
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import weakref
from typing import Any, Dict, List, Mapping, Optional, Sequence

_LINE_MAX = 65536  # bytes of a request
_DEATHS_MAX = 20   # of servers, one after the other, before one has answered
_PART = 65536      # bytes read at once: of much more all pages are new ones
_Request = Dict[str, Any]
_numbers = itertools.count(1)  # of this process's clients


class StudyError(Exception):
    """What was asked of a study and is not to be had, in its server's words."""

    over = False   # no trial will come any more
    ended = False  # the trial it is about has ended, or is another's by now


def program() -> str:
    """The path of the program tunepipe that belongs to this package."""
    here = os.path.dirname(os.path.abspath(__file__))
    up = os.path.join(here, *[os.pardir] * 3)
    places = (os.environ.get("TUNEPIPE_PROGRAM"),
              os.path.join(up, "build", "release", "tunepipe"),
              # Of `pip install --target`; of share/tunepipe/python and of
              # lib/pythonN/site-packages.
              os.path.join(here, os.pardir, "bin", "tunepipe"),
              os.path.join(up, os.pardir, "bin", "tunepipe"),
              shutil.which("tunepipe"))
    for path in places:
        if path and os.path.isfile(path) and os.access(path, os.X_OK):
            return os.path.normpath(path)
    raise StudyError("the program tunepipe is neither beside this package nor "
                     "in PATH: TUNEPIPE_PROGRAM may name it, and in its "
                     "source make builds it")


def run(*words: str) -> str:
    """What the program prints, called with these words."""
    with tempfile.TemporaryFile() as said:  # which a server may keep open
        done = subprocess.run([program(), *words], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=said)
        said.seek(0)
        why = complaint(said.read())
    if done.returncode != 0:
        raise StudyError(why or "tunepipe %s: status %d" % (words[0],
                                                            done.returncode))
    return done.stdout.decode("utf-8", "replace")


def complaint(said: bytes) -> str:
    """What the program has said on standard error, without who it is."""
    return re.sub(r"^tunepipe(?: \w+)?: error: (?:command \d+ \(\w+\): )?", "",
                  said.decode("utf-8", "replace").strip(), flags=re.M)


def serve(folder: str, config: Optional[_Request] = None) -> None:
    """Sees to it that the study in this folder has a server."""
    if config is None:
        run("study", folder, "--serve")
        return
    config = plain(config, "")
    with tempfile.NamedTemporaryFile("w", suffix=".json",
                                     encoding="utf-8") as file:
        json.dump(config, file, ensure_ascii=False)
        file.flush()
        try:
            run("study", folder, "--serve", "--config", file.name)
        except StudyError as error:  # of a file that nobody knows
            text = re.sub(re.escape(file.name) + r":(\d+: )?\s*", "",
                          str(error))
            raise StudyError(text) from None


def plain(value: Any, at: str) -> Any:
    """The value as json takes it: within it, too, numpy's and the like have
    become Python's.  TypeError, with the place: there is no such."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(one, "%s[%d]" % (at, i)) for i, one in enumerate(value)]
    if hasattr(value, "keys"):
        return {_text(key, at): plain(value[key], "%s.%s" % (at, key) if at
                                      else key) for key in value.keys()}
    if not isinstance(value, (int, float)) and hasattr(value, "tolist"):
        listed = value.tolist()
        if type(listed) is not type(value):
            return plain(listed, at)
    try:
        return operator.index(value)
    except TypeError:
        return _spell_number(value, at, "a value that JSON has")


def _text(key: Any, at: str) -> str:
    if isinstance(key, str):
        return key
    raise TypeError("%s: expected texts as keys, got %s" % (at, brief(key)))


def spell(value: Any, names: Sequence[str] = ("default",)) -> Any:
    """A result as requests have it; TypeError or ValueError: it is none.

    names: of the objectives, of which a sequence of numbers has one each.
    """
    if isinstance(value, (list, tuple)) and len(names) > 1:
        if len(value) != len(names):
            raise ValueError("value: expected one number for each of %s, got "
                             "%s" % (", ".join(names), brief(value)))
        value = dict(zip(names, value))
    if not isinstance(value, Mapping):
        return _spell_number(value, "value", "a number")
    if not any(name in value for name in names):
        raise ValueError('value: a dict needs a member "%s"' % names[0])
    numbers = {name: _spell_number(value[name], "value", "a number")
               for name in names if name in value}
    return dict(plain({**value, **dict.fromkeys(numbers)}, "value"), **numbers)


def _spell_number(value: Any, at: str, expected: str) -> Any:
    try:
        if isinstance(value, (str, bytes, bytearray)):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise type(error)("%s: expected %s, got %s" % (at, expected,
                                                       brief(value))) from None
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else ("Infinity" if number > 0
                                             else "-Infinity")


def brief(value: Any) -> str:
    """The value in an error's one line."""
    return " ".join(repr(value).split())[:100]


def _connect(folder: str) -> socket.socket:
    link = socket.socket(socket.AF_UNIX)
    path, fd = os.path.join(folder, "control"), -1
    try:
        if len(os.fsencode(path)) >= 108:  # more than an address holds
            fd = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
            path = "/proc/self/fd/%d/control" % fd
        link.connect(path)
    except BaseException:
        link.close()
        raise
    finally:
        if fd >= 0:
            os.close(fd)
    return link


class Call:
    """A request, and its answer once that has come."""

    def __init__(self, **request: Any) -> None:
        self.request = request
        self.reply: Optional[_Request] = None


class Link:
    """A client of a study's server: one of this process, by its number."""

    def __init__(self, folder: str, config: Optional[_Request] = None) -> None:
        self.folder = folder
        self._pid = os.getpid()
        self._turn = threading.Condition()
        self._number = next(_numbers)
        #: The trials that were given to it and not told yet: their attempts.
        self.held: Dict[int, int] = {}
        #: In whose words the study was stopped: nothing more is asked for.
        self.stopped: Optional[str] = None
        # Guarded by _turn:
        self._ids = itertools.count()
        self._calls: Dict[int, Call] = {}  # sent, and not answered
        self._reader: Optional[Call] = None  # whose thread reads, or connects
        self._closed = False
        # The reader's:
        self._rest = b""
        self._deaths = 0  # of servers, since one has answered
        serve(folder, config)
        self._socket = self._connect()  # under _turn
        _links.add(self)

    def ask(self, **request: Any) -> _Request:
        """The answer to a request."""
        call = Call(**request)
        self.send(call)
        return self.wait(call)

    def send(self, call: Call) -> None:
        self._check()
        with self._turn:
            number = next(self._ids)
            line = self._line(number, call.request)
            if self.stopped and call.request["command"] == "ask":
                raise StudyError(self.stopped)
            self._calls[number] = call
            self._write(line)

    def wait(self, call: Call, deadline: Optional[float] = None) -> _Request:
        """The answer; StudyError or, at that time.monotonic(), TimeoutError."""
        self._check()
        try:
            while call.reply is None:
                self._wait_or_read(call, deadline)
        except StudyError:
            self._forget(call)
            raise
        if "error" in call.reply:
            error = StudyError(call.reply["error"])
            error.over = bool(call.reply.get("over"))
            error.ended = bool(call.reply.get("gone"))
            raise error
        answer: _Request = call.reply["answer"]
        return answer

    def close(self) -> None:
        """Ends the connection; those who wait get a StudyError."""
        if os.getpid() != self._pid:
            return
        with self._turn:
            self._closed = True
            self._hang_up()
            if self._reader is None:
                self._socket.close()
            self._turn.notify_all()

    def _check(self) -> None:
        if os.getpid() != self._pid:
            raise StudyError("study %s: process %d opened it, and this is a "
                             "child that was fork()ed: tunepipe.Study.connect("
                             "%r) opens it here, too" % (
                                 self.folder, self._pid, self.folder))
        if self._closed:
            raise StudyError("study %s: it was closed" % self.folder)

    def _line(self, number: int, request: _Request) -> bytes:
        request["id"] = number
        command = request["command"]
        if command in ("ask", "release", "leave"):
            request["client"] = self._number
        elif command == "add":
            request.setdefault("tag", secrets.token_hex(8))
        else:
            attempt = self.held.get(request.get("trial", -1))
            if attempt is not None:
                request.setdefault("attempt", attempt)
        line = json.dumps(request).encode("ascii") + b"\n"
        if len(line) > _LINE_MAX:
            raise ValueError("a request of more than %d bytes" % _LINE_MAX)
        return line

    def _write(self, line: bytes) -> None:
        """Turn held.  What cannot be sent now is sent by who reads next."""
        try:
            self._socket.sendall(line, socket.MSG_NOSIGNAL)
        except OSError:
            self._hang_up()
        except BaseException:  # perhaps in the middle of a line
            self._hang_up()
            raise

    def _hang_up(self) -> None:
        """Turn held: the reader, who may be in it, finds its end."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # it has ended already

    def _wait_or_read(self, call: Call, deadline: Optional[float]) -> None:
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            raise TimeoutError
        with self._turn:
            self._check()
            if call.reply is not None:
                return
            if self._reader is not None:
                self._turn.wait(left)
                return
            self._reader = call
        try:
            if self._is_readable(left):
                self._read()
        finally:
            with self._turn:
                if self._closed:
                    self._socket.close()
                self._reader = None
                self._turn.notify_all()

    def _is_readable(self, left: Optional[float]) -> bool:
        ready = select.poll()
        ready.register(self._socket, select.POLLIN)
        return bool(ready.poll(None if left is None
                               else math.ceil(left * 1000)))

    def _read(self) -> None:
        """Takes what has come; at the connection's end makes another."""
        try:
            data = self._receive()
            *lines, self._rest = (self._rest + data).split(b"\n")
            self._take(lines)
            if not data and not self._closed:
                self._reconnect()
        except BaseException:  # a part of what has come may be lost
            with self._turn:
                self._hang_up()
            raise

    def _receive(self) -> bytes:
        try:
            return self._socket.recv(_PART)
        except OSError:
            return b""

    def _take(self, lines: List[bytes]) -> None:
        for line in lines:
            reply = json.loads(line.decode("utf-8"))
            if reply.get("stopped"):
                self._stop(reply)
                continue
            if "id" not in reply:  # of the connection, which is refused
                raise StudyError(reply.get("error", line))
            call = self._calls.get(reply["id"])
            if call is None:
                continue
            if call.request["command"] == "ask" and "answer" in reply:
                given = reply["answer"]
                self.held[given["trial"]] = given["attempt"]
            call.reply = reply  # and then it is sent to no other server
            with self._turn:
                self._calls.pop(reply["id"], None)
            self._deaths = 0

    def _stop(self, reply: _Request) -> None:
        with self._turn:
            self.stopped = reply["error"]
            for number, call in list(self._calls.items()):
                if call.request["command"] == "ask":
                    del self._calls[number]
                    call.reply = reply

    def _connect(self) -> socket.socket:
        """What was begun may have been killed since."""
        while True:
            try:
                return _connect(self.folder)
            except OSError as error:
                self._count_death(error)
            serve(self.folder)

    def _count_death(self, why: object) -> None:
        self._deaths += 1
        if self._deaths > _DEATHS_MAX:
            self._deaths = 0
            raise StudyError("study %s: its server has ended %d times without "
                             "an answer, see server.log there: %s" %
                             (self.folder, _DEATHS_MAX + 1, why))

    def _reconnect(self) -> None:
        """Says once more what was not answered."""
        self._count_death("the connection was lost")
        serve(self.folder)  # it waits for one that only begins
        link = self._connect()
        with self._turn:
            self._socket.close()
            self._socket, self._rest = link, b""
            self._give_back()
            for number, call in sorted(self._calls.items()):
                if call.reply is not None:
                    continue  # Ctrl-C came as it was taken
                if call.request["command"] in ("tell", "add"):
                    call.request["again"] = True
                self._write(self._line(number, call.request))

    def _give_back(self) -> None:
        """Turn held: what was given to it unheard."""
        try:
            self._write(self._line(next(self._ids), {
                "command": "release", "but": list(self.held)}))
        except ValueError:
            pass  # too long: of thousands that it has

    def _forget(self, call: Call) -> None:
        with self._turn:
            for number, one in list(self._calls.items()):
                if one is call:
                    del self._calls[number]


_links: "weakref.WeakSet[Link]" = weakref.WeakSet()


def _leave_to_parent() -> None:
    """In a child: the connection is to end when the parent's end does."""
    for link in list(_links):
        link._socket.close()


os.register_at_fork(after_in_child=_leave_to_parent)
