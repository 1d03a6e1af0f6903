#!/bin/sh
# SPDX-License-Identifier: MIT
# TuneSearchCV of the Python package, on real data, with scikit-learn: its tests
# are functions of tests/programs/sklearn_search.py.
# not under asan
# not under tsan
. "$(dirname "$0")/lib.sh"
case $TP_BUILD in */asan)
    echo "skipped sklearn: release has it: hundreds of studies"
    exit
    ;;
esac
python=$(python_with sklearn) || {
    echo "skipped sklearn: no Python with scikit-learn (python3-sklearn)"
    exit
}
# One processor for each job, as there are other tests.
export PYTHONDONTWRITEBYTECODE=1 TUNEPIPE_PROGRAM="$T" OMP_NUM_THREADS=1 \
    OPENBLAS_NUM_THREADS=1
export PYTHONPATH="$TP_SOURCE/src/python:$TP_SOURCE/tests/programs"

search() { # FUNCTION
    "$python" "$TP_SOURCE/tests/programs/sklearn_search.py" "$1" 2> err ||
        fail "$(tail -n 1 err)"
}

docstring() { search docstring && [ ! -s err ]; }
check "the example of its manual" docstring

interface() { search interface && [ ! -s err ]; }
check "what scikit-learn's own searches have" interface

jobs() { search jobs; }
check "two jobs, nested searches, a child that was fork()ed" jobs

spaces() { search spaces && [ ! -s err ]; }
check "lists, distributions, nested spaces" spaces

errors() { search errors; }
check "errors in one line" errors

failing() { search failing; }
check "fits that fail" failing

stopped() { search stopped; }
check "settings stopped fold by fold" stopped

folder() { search folder; }
check "a folder is gone on with" folder

interrupted() {
    mkdir tmp
    TMPDIR=$PWD/tmp search interrupted || return 1
    echo "$PWD" > pattern
    { ls -d tmp/tunepipe-*; grep -lsaf pattern /proc/[0-9]*/cmdline; } \
        > left 2> /dev/null
    [ ! -s left ] || fail "left: $(cat left)"
}
check "Ctrl-C leaves nothing" interrupted

common() { search common; }
check "scikit-learn's checks of estimators" common

# But for three that name the first setting tried.
theirs() {
    tests=$("$python" -c 'import pytest, sklearn.model_selection as m
print(m.__path__[0] + "/tests/test_search.py")' 2> /dev/null) &&
        [ -f "$tests" ] || { echo "no pytest, or no tests there"; return 77; }
    "$python" -m pytest -q -p sklearn_search -p no:cacheprovider "$tests" -k \
        "not tie_breaking and not cv_timing and not default_iid" > out 2>&1 ||
        fail "$(grep FAILED out)"
}
check "scikit-learn's tests of searches" theirs

finish
