#!/bin/sh
# SPDX-License-Identifier: MIT
# tunepipe -m nni before a manager of NNI 2.8 to 3.0: a process that keeps the
# connection and one that dispatches, and how either ends.
# takes long
set -u
: "${TP_BUILD:?is not set: run the tests with make check}"
: "${TP_SOURCE:?is not set: run the tests with make check}"
. "$TP_SOURCE/tests/e2e/lib.sh"
export NODE_PATH="${NODE_PATH:-/usr/share/nodejs}"
unset NNI_LOG_LEVEL NNI_INCLUDE_INTERMEDIATE_RESULTS

part() { # CASE GENERATION [SCRIPT]
    command -v node > where || { echo "no node"; return 77; }
    node -e 'require("ws")' 2> err || { echo "no ws for node"; return 77; }
    [ -e "$TP_BUILD/lib/websocket.so" ] || { echo "no libwebsockets"; return 77; }
    node "$TP_SOURCE/tests/websocket/${3:-partings}.js" "$1" "$2"
}

for case in stop unknown nearest space space_of_tuner space_again crash resumed killed terminated orphan computing \
    forked undestroyed; do
    eval "${case}_2() { part $case 2.10; }"
    eval "${case}_3() { part $case 3.0; }"
    check "$case, as NNI 2.8 to 2.10" "${case}_2"
    check "$case, as NNI 3.0" "${case}_3"
done

# A manager that is killed, and one that goes on with its log at once.
for case in killed asked lives port computing; do
    eval "next_${case}_2() { part $case 2.10 takeover; }"
    eval "next_${case}_3() { part $case 3.0 takeover; }"
    check "taken over: $case, as NNI 2.8 to 2.10" "next_${case}_2"
    check "taken over: $case, as NNI 3.0" "next_${case}_3"
done
finish
