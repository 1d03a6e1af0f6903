#!/bin/sh
# SPDX-License-Identifier: MIT
# tunepipe replay LOG --pipe: the manager's side of a log, played to others.
set -u
: "${TP_BUILD:?is not set: run the tests with make check}"
: "${TP_SOURCE:?is not set: run the tests with make check}"
. "$TP_SOURCE/tests/e2e/lib.sh"
LOGS=$TP_SOURCE/tests/data/logs
D="$T dispatch --grace 1h --quiet --plugin-path $PLUGINS"
MEDIANSTOP="--tuner random --assessor medianstop --early-stopped best"

# play STATUS LOG COMMAND [OPTION...]
play() {
    want=$1
    log=$2
    command=$3
    shift 3
    "$T" replay "$log" --pipe "$command" "$@" > out 2> err
    got=$?
    [ "$got" = "$want" ] || fail "status $got, expected $want"
}

the_dispatcher_itself() {
    play 0 "$LOGS/medianstop.log" "$D $MEDIANSTOP --seed 20" || return 1
    has out "371 of 371 frames sent to" && has out ", started without a shell: exit status 0" &&
        has out "TR          48        48" && has out "KI          24        24" &&
        has out "48 TR are the same to the byte" && has out "0 differences" || return 1
    play 0 "$LOGS/awkward.log" "$D --tuner later --tuner-args '{\"at_once\": 2}' \
        --seed 9 --assessor assess_fails --assessor-args '{\"dies\": 0}' \
        --ask-error prior --extensions" || return 1
    has out "6 TR are the same to the byte" && has out "0 differences" &&
        has out "81 requests that the stop had dropped were not sent"
}

# Other parameters are no difference.
another_seed() {
    play 0 "$LOGS/medianstop.log" "$D $MEDIANSTOP --seed 21" --json || return 1
    has out '"TR": {"recorded": 48, "came": 48}' &&
        has out '"same_bytes": 0, "differences": 0, "lines": []}' &&
        [ "$(wc -l < out)" = 1 ]
}

a_program_of_the_users() {
    command -v python3 > /dev/null || { echo "needs python3"; return 77; }
    args="{\"command\": [\"python3\", \"$TP_SOURCE/tuners/exec/tuner.py\"]}"
    {
        printf 'IN%014d%s' 44 '{"x":{"_type":"quniform","_value":[0,10,5]}}'
        printf 'GE%014d%s' 1 3
    } | "$T" dispatch --grace 1h --quiet --tuner exec --tuner-args "$args" --seed 3 \
        --dir log > frames || return 1
    "$T" log log | grep -q ' <t TR' || fail "no program in the log" || return 1
    play 0 log "$D --tuner exec --seed 3 --tuner-args '$args'" || return 1
    has out "3 TR are the same to the byte" && has out "2 of 2 frames sent"
}

# Its ids are others: the session goes on with them, to its end.
other_ids() {
    play 1 "$LOGS/medianstop.log" "$D --tuner labels --assessor medianstop" || return 1
    has out "371 of 371 frames sent" && has out "TR          48        48" &&
        has out "difference: TR 1: parameter_id 0 recorded, \"" &&
        has out "KI          24        24" && has out "48 differences" &&
        has out "and 28 more"
}

one_kill_less() {
    play 1 "$LOGS/medianstop.log" "$D --tuner random" --deadline 0.3s || return 1
    has out "difference: silent for 300 ms, with" &&
        has out "waiting for the KI of its trial T" &&
        has out "difference: KI: 24 recorded, 0 came"
}

one_that_ends() {
    play 1 "$LOGS/medianstop.log" "true" || return 1
    has out "started without a shell: exit status 0" &&
        has out "difference: ended with 2 of 371 frames sent: exit status 0" || return 1
    play 1 "$LOGS/medianstop.log" "head -c 10 > frames; exit 3" || return 1
    has out "started by a shell: exit status 3" || return 1
    play 1 "$LOGS/medianstop.log" "echo hello" || return 1
    has out "difference: byte 0 of the stream: expected a command code"
}

one_that_says_what_no_dispatcher_says() {
    play 1 "$LOGS/medianstop.log" cat --deadline 0.2s || return 1
    has out "difference: IN came, which no dispatcher sends"
}

one_that_does_not_start() {
    play 1 "$LOGS/medianstop.log" ./nothing || return 1
    has err "./nothing: cannot start: No such file or directory" &&
        [ "$(wc -l < err)" = 1 ] && [ ! -s out ] || return 1
    play 2 "$LOGS/medianstop.log" "" || return 1
    play 5 nowhere true && play 2 "$LOGS/medianstop.log" true --verify &&
        play 2 "$LOGS/medianstop.log" true --until 3
}

# Without its end: what was derived and not sent is no difference.
a_session_that_was_cut_off() {
    "$T" log "$LOGS/medianstop.log" --json | sed -n 's/.*"number": 200, .*"offset": \([0-9]*\),.*/\1/p' |
        head -n 1 > at
    head -c "$(cat at)" "$LOGS/medianstop.log" > cut || return 1
    play 0 cut "$D $MEDIANSTOP --seed 20" || return 1
    has out "199 of 199 frames sent" && has out "ended with TE"
}

# A dispatcher that was killed and went on.
resumed() {
    sed 's/\$DIR/./g; s|\$PLUGINS|'"$PLUGINS"'|g' \
        "$TP_SOURCE/tests/transcripts/resume-killed.wire" > s.wire
    TUNEPIPE_PLUGIN_PATH=$PLUGINS "$TP_BUILD/tests/tools/wire" s.wire > said 2>&1 || { cat said; return 1; }
    play 0 log "$D --tuner random --seed 1 --extensions --assessor stops_at --assessor-args '{\"step\": 1}'" || return 1
    has out "11 of 11 frames sent" && has out "6 TR are the same to the byte" && has out "0 differences"
}

paced() {
    "$T" replay "$LOGS/medianstop.log" --speed 1000000 > fast || return 1
    "$T" replay "$LOGS/medianstop.log" --speed max | cmp - fast || return 1
    [ "$(grep -c ' <  ' fast)" = 371 ] && [ "$(grep -c ' >[ta] ' fast)" = 73 ] &&
        has fast "identical: 371 commands" || return 1
    "$T" replay "$LOGS/medianstop.log" --speed 0 2> err
    [ $? = 2 ] && has err "--speed: expected real, max or a number above 0, got '0'" || return 1
    "$T" replay "$LOGS/medianstop.log" --speed max --verify 2> err
    [ $? = 2 ]
}

check "pipe: the dispatcher itself" the_dispatcher_itself
check "pipe: another seed" another_seed
check "pipe: a program of the user's" a_program_of_the_users
check "pipe: other ids" other_ids
check "pipe: one kill less" one_kill_less
check "pipe: one that ends" one_that_ends
check "pipe: one that says what no dispatcher says" one_that_says_what_no_dispatcher_says
check "pipe: one that does not start" one_that_does_not_start
check "pipe: a session that was cut off" a_session_that_was_cut_off
check "pipe: a resumed session" resumed
check "speed" paced
finish
