#!/bin/sh
# SPDX-License-Identifier: MIT
# The corpus of each fuzz target (tests/fuzz), as plain tests.
# not under tsan
set -u
: "${TP_BUILD:?is not set: run the tests with make check}"
: "${TP_SOURCE:?is not set: run the tests with make check}"
told=$(mktemp) || exit 1
trap 'rm -f "$told"' EXIT
failed=0
for file in "$TP_SOURCE"/tests/fuzz/*.c; do
    target=$(basename "$file" .c)
    [ "$target" != driver ] || continue
    if "$TP_BUILD/fuzz/$target" "$TP_SOURCE/tests/fuzz/corpus/$target"/* \
        > "$told" 2>&1; then
        echo "ok corpus_$target ($(tail -n 1 "$told"))"
    else
        tail -n 30 "$told" | sed 's/^/# /'
        echo "FAILED corpus_$target"
        failed=1
    fi
done
exit $failed
