#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a tuner or an assessor that was written in Python for NNI as one of
tunepipe's programs (PROTOCOL.md, "Programs"; README.md beside this file).

    python3 nni_class.py tuner my_tuner.MyTuner --directory DIR --args JSON

Frames come on descriptor 0 and go to 1, which are taken away before anything
of the user's is imported: what it prints goes to stderr."""
import argparse
import importlib
import inspect
import json
import logging
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode, kept = True, sys.dont_write_bytecode
sys.path.insert(0, HERE)
from nni_sides import (AssessorSide, Pipe, Refusal, TunerSide, describe,
                       explain, has_base)
sys.path.remove(HERE)
sys.dont_write_bytecode = kept

EXIT_REFUSED = 3


# ---- the user's class ----


def import_nni():
    try:
        return importlib.import_module("nni")
    except ImportError as error:
        if getattr(error, "name", None) != "nni":
            raise Refusal("importing nni: " + describe(error))
    raise Refusal(
        "%s (Python %d.%d) has no package nni, which it needs: install it "
        "there (-m pip install nni), or name another interpreter in "
        "TUNEPIPE_PYTHON" % ((sys.executable,) + sys.version_info[:2]))


def find_class(name):
    module, _, attribute = name.rpartition(".")
    if not module:
        raise Refusal("className: expected MODULE.CLASS, got '%s'" % name)
    try:
        found = getattr(importlib.import_module(module), attribute, None)
    except (Exception, SystemExit) as error:
        if getattr(error, "name", None) == module:
            raise Refusal("className: there is no module '%s' in %s" %
                          (module, ", ".join(p or os.getcwd()
                                             for p in sys.path)))
        explain(error)
        raise Refusal("importing %s: %s" % (module, describe(error)))
    if not inspect.isclass(found):
        classes = [key for key, value in vars(sys.modules[module]).items()
                   if inspect.isclass(value) and value.__module__ == module]
        raise Refusal("className: module '%s' has no class '%s'%s" % (
            module, attribute,
            ", but " + ", ".join(classes) if classes else ""))
    return found


def check_class(kind, side, needs):
    if has_base(kind, "MsgDispatcherBase"):
        raise Refusal("is an advisor, which speaks NNI's own protocol: "
                      "expected a class derived from nni.tuner.Tuner, and "
                      "one from nni.assessor.Assessor")
    for name in needs:
        if not callable(getattr(kind, name, None)):
            raise Refusal("is no %s: it has no method %s" % (side, name))


def add_direction(kind, args):
    """The experiment's, for a class that would else take its own default; one
    that has no such argument, or means other words, is left alone."""
    direction = os.environ.get("TUNEPIPE_DIRECTION")
    try:
        taken = inspect.signature(kind).parameters.get("optimize_mode")
    except (TypeError, ValueError):
        return  # nobody knows what it takes
    if direction and taken is not None and "optimize_mode" not in args and \
            taken.default in (inspect.Parameter.empty, "minimize", "maximize"):
        args["optimize_mode"] = direction


def construct(kind, args):
    add_direction(kind, args)
    try:
        value = kind(**args)
        if os.environ.get("NNI_MODE") == "resume" and \
                hasattr(value, "load_checkpoint"):
            value.load_checkpoint()
        return value
    except (Exception, SystemExit) as error:
        explain(error)
        raise Refusal("making it failed: " + describe(error))


# ---- all of it ----


def read_words():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("side", choices=("tuner", "assessor"))
    parser.add_argument("name", metavar="MODULE.CLASS")
    parser.add_argument("--directory", help="where the module is looked for, "
                        "too")
    parser.add_argument("--args", default="{}", help="of the class, as JSON")
    parser.add_argument("--owe", action="store_true",
                        help="what is not suggested yet may still come")
    return parser.parse_args()


def set_up_logging():
    """Its own logger, where the NNI that is there has set up none."""
    if not logging.getLogger().handlers and \
            not logging.getLogger("nni").handlers:
        logging.basicConfig(stream=sys.stderr, level=logging.INFO)


def seed_random():
    """The same for each start; a class that seeds by itself comes later."""
    seed = int(os.environ.get("TUNEPIPE_SEED", "0"))
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2 ** 32)


def open_side(words, pipe):
    if sys.path[0] == HERE:
        sys.path[0] = ""  # as behind python -m nni
    import_nni()
    set_up_logging()
    if words.directory is not None:
        sys.path.append(words.directory)
    kind = find_class(words.name)
    side = TunerSide if words.side == "tuner" else AssessorSide
    check_class(kind, words.side, side.needs)
    seed_random()
    return side(pipe, construct(kind, json.loads(words.args)), words.owe)


def main():
    words = read_words()
    pipe = Pipe()
    try:
        side = open_side(words, pipe)
        if words.side == "assessor":
            pipe.send("ID")
        side.serve()
    except Refusal as refusal:
        pipe.send("ER", str(refusal))
        sys.exit(EXIT_REFUSED)
    except BrokenPipeError:
        sys.exit(1)  # whoever started us is gone


if __name__ == "__main__":
    main()
