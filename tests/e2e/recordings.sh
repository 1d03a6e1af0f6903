#!/bin/sh
# SPDX-License-Identifier: MIT
# Plays sessions that were recorded with NNI's manager; what came of them is
# replayed from the log, and played to another dispatcher from there.
failed=0
for file in "$TP_SOURCE"/tests/data/recordings/*.jsonl; do
    name=$(basename "$file" .jsonl)
    folder=$(mktemp -d)
    (
        cd "$folder" || exit 1
        "$TP_BUILD/tests/tools/play" "${file%.jsonl}" --dir log 2> err || {
            sed 's/^/# /' err
            exit 1
        }
        "$TP_BUILD/tunepipe" replay log --verify > replay 2>&1 || {
            echo "FAILED recording $name: $(head -n 1 replay)"
            exit 1
        }
        "$TP_BUILD/tunepipe" replay log --pipe 'sh ./command' > played 2> err || {
            sed 's/^/# /' played err
            echo "FAILED recording $name: --pipe finds differences"
            exit 1
        }
    ) || failed=1
    rm -rf "$folder"
done
exit $failed
