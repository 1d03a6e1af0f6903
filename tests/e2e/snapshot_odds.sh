#!/bin/sh
# SPDX-License-Identifier: MIT
# What is odd behind a snapshot: an end right behind it, a command before it
# that is skipped later, a tuner that can be saved sometimes, and what a killed
# writer left.
. "$(dirname "$0")/lib.sh"

export TUNEPIPE_PLUGIN_PATH="$PLUGINS"
long=$(awk 'BEGIN { for (i = 0; i < 9000; i++) printf "x" }')

# begun TUNER ARGS [OPTION...]: the first lines of a transcript.
begun() {
    tuner=$1 args=$2
    shift 2
    echo 'run dispatch --seed 3 --dir $DIR/log --segment-size 8192' \
        "--tuner $tuner --tuner-args $args" "$@"
}

space='> IN {"x": {"_type": "uniform", "_value": [0, 1]}}'

# sealed N: fills segment N, and waits until it is sealed; snapped N: and until
# its snapshot is there.  Each ends with the last command of that segment.
sealed() { printf '%s\n' "> PI $long" "await log/command.$1.log"; }
snapped() { printf '%s\n' "> PI $long" "await log/command.$1.snapshot"; }

ends() {
    printf '> EN {"trial_job_id": "J%d", "event": "SUCCEEDED", ' "$1"
    printf '"hyper_params": "{\\"parameter_id\\": %d}"}\n' "$1"
}

killed() { printf '%s\n' 'signal KILL' 'exit 137'; }
resumed() { echo 'run dispatch --resume --dir $DIR/log --segment-size 8192' "$@"; }
play() { "$TP_BUILD/tests/tools/wire" play.wire || return 1; }

FROM='err *from the snapshot behind command*'
NOT='noerr *from the snapshot behind command*'

# What was owed is void, although no command lies between snapshot and end.
signalled_behind_it() {
    {
        begun later '{"at_once":1}'
        printf '%s\n' "$space" '< ID' '> GE 3' '< TR {"parameter_id": 0, *' \
            '< NO *'
        snapped 1
        printf '%s\n' 'signal TERM' 'exit 143'
        resumed
        ends 0
        printf '%s\n' '> GE 1' '< TR {"parameter_id": 3, *' '> TE' 'exit 0'
        printf '%s\n' "$FROM" replay
    } > play.wire
    play
}

skipped_before_it() {
    {
        begun later '{"at_once":1}'
        printf '%s\n' "$space" '< ID' '> GE 1' '< TR {"parameter_id": 0, *'
        snapped 1
        killed
        resumed --skip t:2
        printf '%s\n' '< NO {"parameter_id": 0, *' '> GE 1' '< TR {"parameter_id": 1, *'
        killed
        echo "$NOT"
        echo 'err *is not used: command 2, which lies before it, is skipped*'
        resumed
        ends 1
        printf '%s\n' '> GE 1' '< TR {"parameter_id": 2, *' '> TE' 'exit 0'
        printf '%s\n' "$NOT" replay
    } > play.wire
    play
}

dropping() {
    begun "$@" --old-segments drop
    printf '%s\n' "$space" '< ID' '> GE 1' '< TR {"parameter_id": 0, *'
    for n in 1 2 3; do snapped $n; done
}

# When it cannot be saved any more, what stands for dropped segments stays.
unsavable_later() {
    {
        dropping missaver '{"how":"save_fails"}' | sed 's/save_fails/save\\u0020fails/'
        printf '%s\n' '> GE 2' '< TR {"parameter_id": 1, *' \
            '< TR {"parameter_id": 2, *'
        for n in 4 5 6 7 8 9; do sealed $n; done
        killed
        echo 'err *snapshot: *'
        resumed
        printf '%s\n' '> GE 1' '< TR {"parameter_id": 3, *' '> TE' 'exit 0'
        printf '%s\n' "$FROM" replay
    } > play.wire
    play || return 1
    [ ! -e log/command.1.log ] || fail "segment 1 is there"
}

saved_later() {
    {
        begun random '{}' --extensions
        printf '%s\n' '> GE 1' '< NO *' # the folder is there
        sealed 1
        printf '%s\n' "$space" '< ID *' '> GE 1' '< TR {"parameter_id": *'
        sealed 2
        snapped 3
        killed
        resumed
        printf '%s\n' '< ID *' '< TR *' '> GE 1' '< TR *' '> TE' 'exit 0'
        printf '%s\n' "$FROM" replay
    } > play.wire
    play
}

until_before_it() {
    {
        dropping random '{}'
        printf '%s\n' '> TE' 'exit 0'
    } > play.wire
    play || return 1
    [ ! -e log/command.1.log ] || fail "segment 1 is there" || return 1
    ! "$T" log --at 1 log > out 2> err || fail "--at 1: $(cat out)" || return 1
    has err 'not on record any more' || return 1
    ! "$T" replay --until 1 log > out 2> err || fail "--until 1: $(cat out)"
}

# A crash while a tuner is loaded costs the snapshot, not the session.
load_dies() {
    {
        begun load_dies '{}'
        printf '%s\n' "$space" '< ID' '> GE 1' '< TR {"parameter_id": 0, *'
        snapped 1
        killed
        resumed
        echo 'exit 134'
        echo "$NOT"
        resumed
        printf '%s\n' '> GE 1' '< TR {"parameter_id": 1, *' '> TE' 'exit 0'
        printf '%s\n' 'err *the tuner was being loaded*' replay
    } > play.wire
    play
}

# One side is a program: it is replayed, the other is not.
beside_a_program() {
    steps='["sh","$SOURCE/tests/programs/steps.sh","IN","+ID","GE",'
    steps=$steps'"+TR:{\"parameter_id\":0,\"parameters\":1}"]'
    report() {
        printf '> ME {"parameter_id": 0, "trial_job_id": "J0", "type": '
        printf '"PERIODICAL", "sequence": %d, "value": "0.5"}\n' "$1"
    }
    {
        begun exec "{\"command\":$steps}" --assessor missaver_assessor \
            --assessor-args '{"how":"well"}'
        printf '%s\n' "$space" '< ID' '> GE 1' '< TR {"parameter_id": 0, *'
        for step in 0 1 2; do report $step; done
        snapped 1
        for step in 3 4; do report $step; done
        snapped 2
        killed
        resumed
        for step in 5 6 7; do report $step; done
        printf '%s\n' '< KI "J0"' '> TE' 'exit 0' replay
    } > play.wire
    play
}

left_by_a_kill() {
    {
        begun random '{}'
        printf '%s\n' "$space" '< ID'
        snapped 1
        killed
    } > play.wire
    play || return 1
    touch log/command.7.snapshot.new log/command.7.log.gz.new
    { resumed; printf '%s\n' '> TE' 'exit 0' replay; } > play.wire
    play || return 1
    ! ls log/*.new > list 2> ls.err || fail "left: $(cat list)"
}

check "what an end right behind a snapshot made void stays void" \
    signalled_behind_it
check "a command that lies before a snapshot can still be skipped" \
    skipped_before_it
check "snapshots that stand for dropped segments outlive worse ones" \
    unsavable_later
check "a tuner without a search space at one seal is saved at the next" \
    saved_later
check "how it stood before the first snapshot is not answered" until_before_it
check "a tuner that dies when it is loaded costs the snapshot" load_dies
check "an assessor goes on beside a tuner that is a program" beside_a_program
check "half a snapshot that a killed writer left is removed" left_by_a_kill
finish
