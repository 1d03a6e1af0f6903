# SPDX-License-Identifier: MIT
"""A dispatcher of one's own: commands to it, what it says to them.

It is `tunepipe dispatch`, a child that reads and writes frames on pipes and
keeps no log; what they mean is in PROTOCOL.md.  One thread at a time.
"""

import contextlib
import json
import os
import subprocess
import tempfile
import weakref
from typing import (Any, Dict, Iterator, List, Mapping, Optional, Sequence,
                    Tuple, Union)

from .link import StudyError, complaint, plain, program

_DIGITS = 14  # of a frame's length
_HEAD = 2 + _DIGITS


class Dispatcher:
    """A tuner, or an assessor, and what it has been told so far."""

    def __init__(self, space: Mapping[str, Any],
                 direction: Union[str, Sequence[str]],
                 seed: Optional[int] = None, **plugins: Any) -> None:
        """direction: or a list of several, of the values that named() makes.
        plugins: tuner, tuner_args, assessor and assessor_args; a None is left
        out.  StudyError: one of them, or the space, is wrong."""
        words = [program(), "dispatch", "--extensions", "--quiet"]
        if isinstance(direction, str):
            words += ["--direction", direction]
        else:
            words += ["--objectives", json.dumps({"objectives": [
                {"name": name, "direction": one}
                for name, one in named(direction).items()]})]
        for name, value in plugins.items():
            if value is not None:
                words += ["--" + name.replace("_", "-"),
                          value if isinstance(value, str)
                          else json.dumps(plain(value, name))]
        if seed is not None:
            words += ["--seed", str(seed)]
        self._said = tempfile.TemporaryFile()  # on standard error
        self._child = subprocess.Popen(words, stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE,
                                       stderr=self._said)
        #: Ends it at once, as its last reference does.
        self.close = weakref.finalize(self, _end, self._child, self._said,
                                      os.getpid())
        self.send("IN", space)
        if self.receive()[0] != "ID":
            raise self.error()

    def send(self, *commands: Any) -> None:
        """Commands, each of a code and its payload, a text or what json
        spells, one behind the other."""
        assert self._child.stdin is not None
        frames: List[bytes] = []
        for code, payload in zip(commands[::2], commands[1::2]):
            if not isinstance(payload, str):
                payload = json.dumps(payload)
            data = payload.encode("utf-8")
            frames.append(b"%b%0*d%b" % (code.encode("ascii"), _DIGITS,
                                         len(data), data))
        with self._whole():
            self._child.stdin.write(b"".join(frames))
            self._child.stdin.flush()

    def receive(self) -> Tuple[str, Any]:
        """The next that it says: a code and its payload, an object, if any."""
        assert self._child.stdout is not None
        with self._whole():
            head = self._child.stdout.read(_HEAD)
            if len(head) < _HEAD:
                raise self.error()
            data = self._child.stdout.read(int(head[2:]))
        return head[:2].decode("ascii"), json.loads(data) if data else None

    @contextlib.contextmanager
    def _whole(self) -> Iterator[None]:
        """Where Ctrl-C comes in the middle of a frame it is the last."""
        try:
            if not self.close.alive:
                raise StudyError("the dispatcher was interrupted")
            yield
        except BrokenPipeError:
            raise self.error() from None
        except StudyError:
            raise
        except BaseException:
            self.close()
            raise

    def error(self) -> StudyError:
        """What it has said, by a line or by its end; it ends."""
        assert self._child.stdin is not None
        try:
            self._child.stdin.close()
        except BrokenPipeError:
            pass
        status = self._child.wait()
        self._said.seek(0)
        return StudyError(complaint(self._said.read()) or
                          "tunepipe dispatch: status %d" % status)


def named(values: Sequence[Any]) -> Dict[str, Any]:
    """The values of several objectives by the names that they have here."""
    return {"value%d" % i: value for i, value in enumerate(values)}


def _end(child: "subprocess.Popen[bytes]", said: Any, parent: int) -> None:
    if os.getpid() != parent:
        return  # it is of who has fork()ed
    child.kill()
    child.wait()
    for file in (child.stdin, child.stdout, said):
        try:
            file.close()
        except OSError:
            pass  # what it did not read
