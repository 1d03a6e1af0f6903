# SPDX-License-Identifier: MIT
"""What a study's search space is made of: functions for NNI's types.

    space = {"rate": tunepipe.loguniform(1e-4, 1),
             "units": tunepipe.randint(8, 129),
             "act": tunepipe.choice(["relu", "tanh"])}

A choice is nested where its options are dicts with a name and a space each:

    tunepipe.choice([{"_name": "sgd", "momentum": tunepipe.uniform(0, 1)},
                     {"_name": "adam"}])

The trial's parameter is then a dict, {"_name": "sgd", "momentum": 0.9}.
"""

import math
from typing import Any, Dict, Iterable, Mapping

Dimension = Dict[str, Any]


def _of(kind: str, *values: Any) -> Dimension:
    return {"_type": kind, "_value": list(values)}


def uniform(low: float, high: float) -> Dimension:
    """A number from low to high."""
    return _of("uniform", low, high)


def loguniform(low: float, high: float) -> Dimension:
    """A number from low to high, on a logarithmic scale."""
    return _of("loguniform", low, high)


def quniform(low: float, high: float, step: float) -> Dimension:
    """A multiple of step, from low to high."""
    return _of("quniform", low, high, step)


def qloguniform(low: float, high: float, step: float) -> Dimension:
    """A multiple of step, from low to high, on a logarithmic scale."""
    return _of("qloguniform", low, high, step)


def normal(mu: float, sigma: float) -> Dimension:
    """A number that is normally distributed."""
    return _of("normal", mu, sigma)


def lognormal(mu: float, sigma: float) -> Dimension:
    """exp() of a number that is normally distributed."""
    return _of("lognormal", mu, sigma)


def qnormal(mu: float, sigma: float, step: float) -> Dimension:
    """A multiple of step near a number that is normally distributed."""
    return _of("qnormal", mu, sigma, step)


def qlognormal(mu: float, sigma: float, step: float) -> Dimension:
    """A multiple of step near exp() of what is normally distributed."""
    return _of("qlognormal", mu, sigma, step)


def randint(low: int, high: int) -> Dimension:
    """An integer from low to high - 1."""
    return _of("randint", low, high)


def lograndint(low: int, high: int) -> Dimension:
    """An integer from low to high - 1, on a logarithmic scale."""
    return _of("lograndint", low, high)


def qrandint(low: int, high: int, step: int) -> Dimension:
    """Of low, low + step and so on one that is below high."""
    return _of("qrandint", low, high, step)


def choice(options: Iterable[Any]) -> Dimension:
    """One of the options: values that JSON has, or dicts with a "_name".

    Beside such dicts a text stands for one without parameters.
    """
    if isinstance(options, (str, bytes, set, frozenset, Mapping)):
        raise TypeError("choice: expected a list of options, got %.100r" %
                        (options,))
    values = list(options)
    if any(isinstance(one, float) and not math.isfinite(one)
           for one in values):
        raise ValueError("choice: expected values that JSON has, got %r" %
                         (values,))
    if any(isinstance(one, dict) and "_name" in one for one in values):
        values = [{"_name": one} if isinstance(one, str) else one
                  for one in values]
    return _of("choice", *values)
