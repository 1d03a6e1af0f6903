#!/bin/sh
# SPDX-License-Identifier: MIT
# Peers that do not behave: see tests/tools/flood.c.  Afterwards the log of
# each session replays: whatever was answered stands in it.
set -u
: "${TP_BUILD:?is not set: run the tests with make check}"
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
failed=0

one() {
    rm -rf "$folder/log"
    (cd "$folder" && "$TP_BUILD/tests/tools/flood" "$1") &&
        "$TP_BUILD/tunepipe" replay "$folder/log" --verify
}

for mode in answers sigterm deaf unread socket shell; do
    if one "$mode" > "$folder/out" 2>&1; then
        echo "ok flood_$mode"
    else
        sed 's/^/# /' "$folder/out"
        echo "FAILED flood_$mode"
        failed=1
    fi
done
exit $failed
