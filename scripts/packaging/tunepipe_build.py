# SPDX-License-Identifier: MIT
"""The archives that Python's installers take: a wheel, and an sdist.

    tunepipe_build.py sdist VERSION FOLDER          the tree, as git has it
    tunepipe_build.py wheel VERSION FOLDER STAGE    what was staged, see wheel

write them into the folder (make sdist, make wheel).  The same files give the
same bytes: their time is SOURCE_DATE_EPOCH, else the last commit's.  An sdist
names this module as what builds a wheel of it (PEP 517): by make, from the
libraries of the machine.
"""

import base64
import gzip
import hashlib
import io
import os
import re
import subprocess
import sys
import tarfile
import time
import zipfile
from typing import Any, Dict, List, Optional, Tuple

_NAME = "tunepipe"
# What a C library of Linux has, by itself.
_LIBC = re.compile(r"ld-linux.*|lib(c|m|pthread|dl|rt)\.so\.\d")
_PYPROJECT = b"""\
[build-system]
requires = []
build-backend = "tunepipe_build"
backend-path = ["scripts/packaging"]
"""


def _output(*words: str) -> str:
    return subprocess.run(words, check=True, stdout=subprocess.PIPE,
                          universal_newlines=True).stdout


def _epoch() -> int:
    told = os.environ.get("SOURCE_DATE_EPOCH")
    if told is None and os.path.exists(".git"):
        told = _output("git", "log", "-1", "--format=%ct")
    return int(told or os.stat("Makefile").st_mtime)


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _files(top: str) -> List[str]:
    """The paths below it, from there."""
    return sorted(os.path.relpath(os.path.join(folder, name), top)
                  for folder, _, names in os.walk(top) for name in names)


def _metadata(version: str, terms: str, licenses: List[str]) -> bytes:
    """The README, and what stands before it."""
    readme = _read("README.md").decode("utf-8")
    summary = readme.split("\n\n")[1].replace("\n", " ")
    head = ["Metadata-Version: 2.4", "Name: " + _NAME, "Version: " + version,
            "Summary: " + summary, "License-Expression: " + terms]
    head += ["License-File: " + name for name in licenses]
    head += ["Requires-Python: >=3.8",
             "Classifier: Operating System :: POSIX :: Linux",
             "Description-Content-Type: text/markdown"]
    return ("\n".join(head) + "\n\n" + readme).encode("utf-8")


def sdist(version: str, folder: str) -> str:
    """Writes it and returns its name."""
    if os.path.exists(".git"):
        names = [name for name in _output("git", "ls-files", "-z").split("\0")
                 if os.path.lexists(name) and name]
    else:
        names = [name for name in _files(".") if not re.match(
            r"(build|debian|tunepipe-experiments)/|.*\.pyc$", name)
            and name not in ("PKG-INFO", "pyproject.toml")]
    own = {"PKG-INFO": _metadata(version, "MIT", ["COPYING"]),
           "pyproject.toml": _PYPROJECT}
    base = "%s-%s" % (_NAME, version)
    path = os.path.join(folder, base + ".tar.gz")
    epoch = _epoch()
    all_of_it = io.BytesIO()
    with tarfile.open(fileobj=all_of_it, mode="w",
                      format=tarfile.PAX_FORMAT) as tar:
        for name in sorted(names + list(own)):
            info = tarfile.TarInfo("%s/%s" % (base, name))
            info.mtime, info.mode = epoch, 0o644
            data = own.get(name, b"")
            if name not in own and os.path.islink(name):
                info.type, info.linkname = tarfile.SYMTYPE, os.readlink(name)
            elif name not in own:
                data = _read(name)
                if os.stat(name).st_mode & 0o100:
                    info.mode = 0o755
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    with open(path, "wb") as file, \
            gzip.GzipFile("", "wb", 9, file, epoch) as packed:
        packed.write(all_of_it.getvalue())
    return path


def _platform(paths: List[str]) -> str:
    """The tag of where programs and shared objects of these run: a C library
    that has all the versions of symbols which they need."""
    needed, version = set(), 0
    for path in paths:
        told = _output("readelf", "-dVW", path)
        needed.update(re.findall(r"\(NEEDED\).*\[(.*)\]", told))
        version = max([version] + [int(one) for one in re.findall(
            r"Name: GLIBC_2\.(\d+)", told)])
    others = sorted(name for name in needed if not _LIBC.fullmatch(name))
    machine = os.uname().machine
    if others:
        print("needs %s: the wheel is for this machine" % ", ".join(others))
        return "linux_" + machine
    print("needs nothing but the C library: glibc 2.%d or later" % version)
    return "manylinux_2_%d_%s" % (version, machine)


def wheel(version: str, folder: str, stage: str) -> str:
    """Writes it and returns its name."""
    base = "%s-%s" % (_NAME, version)
    info = base + ".dist-info/"
    package = "share/tunepipe/python/"
    staged = _files(stage)
    files: Dict[str, Tuple[bytes, int]] = {}
    for name in staged:
        path = os.path.join(stage, name)
        one = _read(path), 0o755 if os.stat(path).st_mode & 0o111 else 0o644
        if name.startswith("licenses/"):
            files[info + name] = one
        elif name.startswith("bin/"):
            files["%s.data/scripts/%s" % (base, name[4:])] = one
        else:
            files["%s.data/data/%s" % (base, name)] = one
        if name.startswith(package):  # for trials of any other Python, too
            files[name[len(package):]] = one
    tag = "py3-none-" + _platform([
        os.path.join(stage, name) for name in staged
        if _read(os.path.join(stage, name)).startswith(b"\x7fELF")])
    files[info + "licenses/COPYING"] = _read("COPYING"), 0o644
    licenses = sorted(name[len(info + "licenses/"):] for name in files
                      if name.startswith(info + "licenses/"))
    files[info + "METADATA"] = _metadata(
        version, "MIT AND Zlib AND blessing", licenses), 0o644
    files[info + "WHEEL"] = (
        "Wheel-Version: 1.0\nGenerator: %s %s\nRoot-Is-Purelib: false\n"
        "Tag: %s\n" % (_NAME, version, tag)).encode("ascii"), 0o644
    record = "".join("%s,sha256=%s,%d\n" % (
        name, base64.urlsafe_b64encode(
            hashlib.sha256(data).digest()).rstrip(b"=").decode("ascii"),
        len(data)) for name, (data, _) in sorted(files.items()))
    files[info + "RECORD"] = ("%s%sRECORD,,\n" % (record, info)).encode(
        "ascii"), 0o644
    path = os.path.join(folder, "%s-%s.whl" % (base, tag))
    with zipfile.ZipFile(path, "w") as archive:
        for name, (data, mode) in sorted(files.items()):
            entry = zipfile.ZipInfo(name, time.gmtime(_epoch())[:6])
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return path


# What PEP 517 calls, in the unpacked sdist.

def _make(what: str, folder: str) -> str:
    missing = subprocess.run(["scripts/setup", "names"],
                             env=dict(os.environ, WEBSOCKET="0"))
    if missing.returncode != 0:
        sys.exit(1)
    told = _output("make", "--no-print-directory", what, "ROOT=/",
                   "PYTHON=" + sys.executable, "DIST=" + folder)
    print(told)
    return os.path.basename(told.splitlines()[-1])


def build_wheel(wheel_directory: str,
                config_settings: Optional[Dict[str, Any]] = None,
                metadata_directory: Optional[str] = None) -> str:
    """A wheel of this machine's libraries."""
    return _make("wheel", wheel_directory)


def build_sdist(sdist_directory: str,
                config_settings: Optional[Dict[str, Any]] = None) -> str:
    """The tree again."""
    return _make("sdist", sdist_directory)


if __name__ == "__main__":
    print(sdist(*sys.argv[2:]) if sys.argv[1] == "sdist"
          else wheel(*sys.argv[2:]))
