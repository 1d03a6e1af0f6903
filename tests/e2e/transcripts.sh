#!/bin/sh
# SPDX-License-Identifier: MIT
# Plays every golden transcript, as it is and once more byte by byte.
# with clang, too
failed=0
for script in "$TP_SOURCE"/tests/transcripts/*.wire; do
    for bytes in "" 1; do
        name="$(basename "$script" .wire)${bytes:+, byte by byte}"
        folder=$(mktemp -d)
        if (cd "$folder" && { [ -z "$bytes" ] || export TP_WIRE_BYTES=1; } &&
            "$TP_BUILD/tests/tools/wire" "$script"); then
            echo "ok transcript $name"
        else
            echo "FAILED transcript $name"
            failed=1
        fi
        rm -rf "$folder"
    done
done
# PROTOCOL.md names them in its tables of errors.
for name in $(sed -n 's/transcript:NAME//; /transcript:/p' \
    "$TP_SOURCE/protocol/PROTOCOL.md" | grep -o 'transcript:[a-z0-9-]*' |
    sed 's/transcript://' | sort -u); do
    [ -f "$TP_SOURCE/tests/transcripts/$name.wire" ] || {
        echo "FAILED transcript $name, named in PROTOCOL.md, is not there"
        failed=1
    }
done
exit $failed
