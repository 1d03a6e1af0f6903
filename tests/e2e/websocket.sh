#!/bin/sh
# SPDX-License-Identifier: MIT
# What the WebSocket to a manager of NNI 2.8 to 3.0 carries, whatever the
# weather.  tests/websocket/carry.js has the cases.
# takes long
. "$(dirname "$0")/lib.sh"
export NODE_PATH="${NODE_PATH:-/usr/share/nodejs}"
unset NNI_LOG_LEVEL NNI_INCLUDE_INTERMEDIATE_RESULTS NNI_CHECKPOINT_DIRECTORY

carry() { # CASE GENERATION
    command -v node > where || { echo "no node"; return 77; }
    node -e 'require("ws")' 2> err || { echo "no ws for node"; return 77; }
    [ -e "$TP_BUILD/lib/websocket.so" ] || { echo "no libwebsockets"; return 77; }
    node "$TP_SOURCE/tests/websocket/carry.js" "$1" "$2" 2> err
}

cases="handshake large fragments over strange unknown held deaf closed lost \
half asleep late"
for case in $cases; do
    eval "${case}_2() { carry $case 2.10; }"
    eval "${case}_3() { carry $case 3.0; }"
    check "WebSocket, $case, NNI 2.8 to 2.10" "${case}_2"
    check "WebSocket, $case, NNI 3.0" "${case}_3"
done
# Ten seconds of them; the generation is not known yet.
nobody() { carry nobody 3.0; }
check "WebSocket, nobody" nobody
finish
