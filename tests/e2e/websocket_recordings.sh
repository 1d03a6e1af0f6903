#!/bin/sh
# SPDX-License-Identifier: MIT
# Plays every session that was recorded with the managers of NNI 2.10 and 3.0,
# through tunepipe -m nni and a server made with another library.
: "${TP_BUILD:?is not set: run the tests with make check}"
: "${TP_SOURCE:?is not set: run the tests with make check}"
export NODE_PATH="${NODE_PATH:-/usr/share/nodejs}"
skip() { echo "skipped recordings of ws/: $*"; exit 0; }

command -v node > /dev/null || skip no node
node -e 'require("ws")' 2> /dev/null || skip no ws for node
[ -e "$TP_BUILD/lib/websocket.so" ] || skip no libwebsockets
# Most of them wait most of the time.
set --
for file in "$TP_SOURCE"/tests/data/recordings/ws/*.meta.json; do
    set -- "$@" "${file%.meta.json}"
done
exec node "$TP_SOURCE/tests/websocket/play.js" -j 4 "$@"
