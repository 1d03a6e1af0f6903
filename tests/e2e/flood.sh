#!/bin/sh
# SPDX-License-Identifier: MIT
# Peers that do not behave: see tests/tools/flood.c and slow.c.  Afterwards the log of
# each session replays: whatever was answered stands in it.
set -u
: "${TP_BUILD:?is not set: run the tests with make check}"
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
failed=0

one() { # PROGRAM MODE
    rm -rf "$folder/log"
    (cd "$folder" && "$TP_BUILD/tests/tools/$1" "$2") || return 1
    case $2 in
    million | term_start) ;; # keep no log
    *) "$TP_BUILD/tunepipe" replay "$folder/log" --verify ;;
    esac
}

for mode in answers sigterm deaf unread socket shell bytes million term_start \
    term_ready term_half term_busy term_closing; do
    case $mode in
    bytes | million | term_*) program=slow ;;
    *) program=flood ;;
    esac
    if one $program "$mode" > "$folder/out" 2>&1; then
        echo "ok flood_$mode"
    else
        sed 's/^/# /' "$folder/out"
        echo "FAILED flood_$mode"
        failed=1
    fi
done
exit $failed
