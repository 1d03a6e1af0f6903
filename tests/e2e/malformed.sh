#!/bin/sh
# SPDX-License-Identifier: MIT
# What a manager gets wrong: each case of the scripts in tests/malformed (their
# language is that of tests/tools/wire.c) says what comes back, every line on
# stderr and, where the session ends, the exit status.
# with clang, too
set -u
: "${TP_BUILD:?is not set: run the tests with make check}"
: "${TP_SOURCE:?is not set: run the tests with make check}"

# One script, by xargs.
if [ $# = 1 ]; then
    folder=$(mktemp -d) || exit 1
    theme=$(basename "$(dirname "$1")")
    (cd "$folder" && "$TP_BUILD/tests/tools/wire" "$1" 2>&1) > "$folder/told"
    status=$?
    sed "s|^ok |ok malformed_$theme/|; s|^FAILED |FAILED malformed_$theme/|
        /^ok \|^FAILED /!s/^/# /" "$folder/told"
    # One that breaks off fails, too.
    [ $status = 0 ] || grep -q '^FAILED ' "$folder/told" ||
        echo "FAILED malformed_$theme: $(basename "$1") ended with status $status"
    rm -rf "$folder"
    exit 0
fi

told=$(mktemp) || exit 1
trap 'rm -f "$told"' EXIT
# -n 1: a script's lines come at once and stay together.
find "$TP_SOURCE/tests/malformed" -name '*.wire' | sort |
    xargs -P 4 -n 1 sh "$0" > "$told"
cat "$told"
# A folder that was not found would be a test that cannot fail.
[ "$(grep -c '^ok ' "$told")" -ge 650 ] && ! grep -q '^FAILED ' "$told"
