# SPDX-License-Identifier: MIT
# mypy: allow-untyped-defs, allow-untyped-calls
"""What a trial in Python imports, and what a program that tunes imports.

A trial that `tunepipe run` starts: its parameters, its reports, its seed.

    import tunepipe

    rate = tunepipe.param("learning_rate", 0.01)
    for epoch in range(30):
        accuracy = train(rate, tunepipe.seed(1))
        tunepipe.report(accuracy)
    tunepipe.final(accuracy)

A function of a program of one's own (tunepipe.Study: `pydoc tunepipe.study`;
what its space is made of: `pydoc tunepipe.space`; for an estimator of
scikit-learn: `pydoc tunepipe.sklearn`; for a study of Optuna's: `pydoc
tunepipe.optuna`; Python 3.8 and later).

    import tunepipe

    def objective(trial):
        return train(**trial.params)

    study = tunepipe.Study({"rate": tunepipe.loguniform(1e-4, 1),
                            "units": tunepipe.randint(8, 129)})
    study.optimize(objective, n_trials=100)
    print(study.best.value, study.best.params)

Nothing is needed beside this folder: tunepipe puts it on the PYTHONPATH of its
trials.  Any other program finds it where pip has installed it, or `make
install` into a PREFIX where this Python looks for packages; else it is told:

    PYTHONPATH=PREFIX/share/tunepipe/python python3 trial.py

(from its source: src/python).  `python3 -m tunepipe` is the program.  Of a
trial outside tunepipe (TUNEPIPE_TRIAL_DIR is not set) parameters have the
defaults that param() is given, and reports go to stdout ("intermediate 0.93").
One trial of an experiment, exactly as it was: `tunepipe rerun TRIAL`.

The functions of a trial have no state: threads and child processes of it may
call everything at any time, and lines reported at once stay whole.  A file that
cannot be read or written raises OSError.
"""

from .trial import (Finish, Pause, Stop, budget, checkpoint, final, param,
                    params, report, restore_dir, restored_step, seed,
                    trial_dir)

__version__ = "0.1.0"  # the program's, too: the Makefile reads it here

# What `from tunepipe import *` gives a trial; studies are named.
__all__ = ["params", "param", "report", "final", "seed", "Stop", "Pause",
           "Finish", "trial_dir", "checkpoint", "restore_dir", "restored_step",
           "budget"]

TYPE_CHECKING = False
if TYPE_CHECKING:  # who else asks __getattr__()
    from . import optuna as optuna, sklearn as sklearn
    from .link import StudyError as StudyError
    from .space import choice as choice, loguniform as loguniform
    from .space import lognormal as lognormal, lograndint as lograndint
    from .space import normal as normal, qloguniform as qloguniform
    from .space import qlognormal as qlognormal, qnormal as qnormal
    from .space import qrandint as qrandint, quniform as quniform
    from .space import randint as randint, uniform as uniform
    from .study import Result as Result, Study as Study, Trial as Trial

# Where the rest is: a trial does not wait for what it does not use.
_LATER = dict.fromkeys(("uniform", "loguniform", "quniform", "qloguniform",
                        "normal", "lognormal", "qnormal", "qlognormal",
                        "randint", "lograndint", "qrandint", "choice"),
                       "space")
_LATER.update(Study="study", Trial="study", Result="study", StudyError="link")


if not TYPE_CHECKING:  # to which every name would be one that there is
    def __getattr__(name):
        from importlib import import_module
        if name in ("optuna", "sklearn"):  # which may not be there
            return import_module("tunepipe." + name)
        if name not in _LATER:
            raise AttributeError("module 'tunepipe' has no attribute %r" % name)
        value = getattr(import_module("tunepipe." + _LATER[name]), name)
        globals()[name] = value
        return value


def __dir__():
    return sorted(set(globals()) | set(_LATER))
