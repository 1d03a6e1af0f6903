#!/bin/sh
# SPDX-License-Identifier: MIT
# Every allocation of every case of tests/torture fails once.  AddressSanitizer
# sees all that can be seen of it.
# under asan alone
# not under tsan
set -u
: "${TP_BUILD:?is not set: run the tests with make check}"
if [ ! -x "$TP_BUILD/tests/torture/run" ]; then
    echo "skipped torture: this sanitizer has a malloc of its own"
    exit 0
fi
exec "$TP_BUILD/tests/torture/run"
