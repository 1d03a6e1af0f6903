# SPDX-License-Identifier: MIT
"""What a notebook shows: a study, a result, the page of an experiment."""

import html
import json
import os
import tempfile
from typing import Any, Iterable, Tuple, Union

from .link import run


class Page:
    """The page that `tunepipe report` makes of an experiment or a study.

    html: its text.  A notebook shows it in a frame of its own.
    """

    def __init__(self, folder: Union[str, "os.PathLike[str]"]) -> None:
        with tempfile.TemporaryDirectory() as place:
            path = os.path.join(place, "report.html")
            run("report", os.fspath(folder), "--out", path)
            with open(path, encoding="utf-8") as file:
                self.html = file.read()
        self._folder = os.fspath(folder)

    def __repr__(self) -> str:
        return "<report of %s: %d bytes of HTML>" % (self._folder,
                                                     len(self.html))

    def _repr_html_(self) -> str:
        return ('<iframe srcdoc="%s" style="width: 100%%; height: 720px; '
                'border: 0"></iframe>' % html.escape(self.html))


def table(rows: Iterable[Tuple[str, Any]]) -> str:
    """A small HTML table of names and values; a None is left out."""
    return "<table>%s</table>" % "".join(
        '<tr><th style="text-align: left">%s</th>'
        '<td style="text-align: left">%s</td></tr>' % (
            html.escape(name), html.escape(_text(value)))
        for name, value in rows if value is not None)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return "%.6g" % value
    return json.dumps(value, ensure_ascii=False)
