#!/bin/sh
# SPDX-License-Identifier: MIT
# Plays sessions that were recorded with NNI's manager through `tunepipe -m nni`;
# what came of them is replayed from the log, and played to another dispatcher
# from there.
# with clang, too
failed=0
for file in "$TP_SOURCE"/tests/data/recordings/*.jsonl; do
    name=$(basename "$file" .jsonl)
    folder=$(mktemp -d)
    (
        cd "$folder" || exit 1
        "$TP_BUILD/tests/tools/play" "${file%.jsonl}" 2> err || {
            sed 's/^/# /' err
            exit 1
        }
        "$TP_BUILD/tunepipe" replay checkpoint --verify > replay 2>&1 || {
            echo "FAILED recording $name: $(head -n 1 replay)"
            exit 1
        }
        "$TP_BUILD/tunepipe" replay checkpoint --pipe 'sh ./command' > played 2> err || {
            sed 's/^/# /' played err
            echo "FAILED recording $name: --pipe finds differences"
            exit 1
        }
    ) || failed=1
    rm -rf "$folder"
done
# In the frames of NNI 1.0 to 1.5.
for name in smoke random_medianstop_kills resume_b_resumed; do
    folder=$(mktemp -d)
    (cd "$folder" && "$TP_BUILD/tests/tools/play" --six \
        "$TP_SOURCE/tests/data/recordings/$name" 2> err ||
        { sed 's/^/# /' err; exit 1; }) || failed=1
    rm -rf "$folder"
done
exit $failed
