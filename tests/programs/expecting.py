# SPDX-License-Identifier: MIT
"""What tests in Python expect."""


def raises(kind, words, call, *args, **keys):
    try:
        call(*args, **keys)
    except kind as error:
        assert words in str(error), error
        return error
    raise AssertionError("nothing raised, expected %s" % words)
