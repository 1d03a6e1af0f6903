#!/bin/sh
# SPDX-License-Identifier: MIT
# Managers that go away, and signals that come, at many points of a session:
# see tests/tools/peer.c.  (flood.sh has those that never read, that send a
# million commands, or one byte at a time.)
# takes long
set -u
: "${TP_BUILD:?is not set: run the tests with make check}"
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
failed=0
for mode in cut gone TERM INT HUP PIPE STOP NOHUP; do
    mkdir "$folder/$mode"
    if (cd "$folder/$mode" && "$TP_BUILD/tests/tools/peer" $mode 7) \
        > "$folder/out" 2>&1; then
        echo "ok nni_peer_$mode"
    else
        tail -n 20 "$folder/out" | sed 's/^/# /'
        echo "FAILED nni_peer_$mode"
        failed=1
    fi
done
exit $failed
