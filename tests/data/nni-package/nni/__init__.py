# SPDX-License-Identifier: MIT
"""Stands in for the package nni where tests run classes that were written for
it: the names of its public interface that such classes use, by our own hand."""
from . import assessor, tuner


class NoMoreTrialError(Exception):
    """Raised by a tuner that has no suggestion (yet)."""
