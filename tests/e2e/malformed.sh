#!/bin/sh
# SPDX-License-Identifier: MIT
# What a manager gets wrong: each script in tests/malformed (its language is
# that of tests/tools/wire.c) says what comes back, every line on stderr and
# the exit status.
set -u
: "${TP_BUILD:?is not set: run the tests with make check}"
: "${TP_SOURCE:?is not set: run the tests with make check}"

# One of them, by xargs.
if [ $# = 1 ]; then
    folder=$(mktemp -d) || exit 1
    name=${1#"$TP_SOURCE"/tests/malformed/}
    name=malformed_${name%.wire}
    if said=$(cd "$folder" && "$TP_BUILD/tests/tools/wire" "$1" 2>&1); then
        echo "ok $name"
    else
        echo "FAILED $name
$(echo "$said" | sed 's/^/# /')"
    fi
    rm -rf "$folder"
    exit 0
fi

told=$(mktemp) || exit 1
trap 'rm -f "$told"' EXIT
find "$TP_SOURCE/tests/malformed" -name '*.wire' | sort |
    xargs -P 4 -n 1 sh "$0" > "$told"
cat "$told"
# A folder that was not found would be a test that cannot fail.
[ "$(grep -c '^ok ' "$told")" -ge 150 ] && ! grep -q '^FAILED ' "$told"
