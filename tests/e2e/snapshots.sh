#!/bin/sh
# SPDX-License-Identifier: MIT
# Sessions in many segments that go on from snapshots, and what it costs when
# there is none.
. "$(dirname "$0")/lib.sh"

export TUNEPIPE_PLUGIN_PATH="$PLUGINS"
ROUNDS=40 # of 5 trials, and 31 commands

# rounds FIRST LAST [SHIFT]: the lines of a transcript for them; ids are SHIFT
# higher, for what was asked for between them.
rounds() {
    awk -v first="$1" -v last="$2" -v shift="${3:-0}" '
function metric(id, type, sequence, value) {
    print "> ME {\"parameter_id\": " id ", \"trial_job_id\": \"J" id \
        "\", \"type\": \"" type "\", \"sequence\": " sequence \
        ", \"value\": \"" value "\"}"
}
BEGIN {
    for (round = first; round <= last; round++) {
        print "> GE 5"
        for (id = 5 * round + shift; id < 5 * round + shift + 5; id++)
            print "< TR {\"parameter_id\": " id ", *"
        for (step = 0; step < 4; step++)
            for (id = 5 * round + shift; id < 5 * round + shift + 5; id++)
                metric(id, "PERIODICAL", step, (id * 7919 % 101) / 100 + step)
        for (id = 5 * round + shift; id < 5 * round + shift + 5; id++) {
            metric(id, "FINAL", 0, (id * 7919 % 101) / 100)
            print "> EN {\"trial_job_id\": \"J" id "\", \"event\": " \
                "\"SUCCEEDED\", \"hyper_params\": \"{\\\"parameter_id\\\": " \
                id "}\"}"
        }
    }
}'
}

play() { "$TP_BUILD/tests/tools/wire" play.wire || return 1; }

# part [OPTION...]: the rounds 0 to 25, in segments of 16 KiB, which is less
# than four rounds take; at least three snapshots are taken.  Then the dispatcher
# is killed, when it has answered another request: all is on record.
part() {
    {
        echo 'ignore KI'
        echo "run dispatch --seed 3 --dir \$DIR/log --segment-size 16384" \
            "--assessor medianstop" "$@"
        echo '> IN {"x": {"_type": "uniform", "_value": [0, 1]}, "c":' \
            '{"_type": "choice", "_value": [1, 2, 3]}}'
        echo '< ID *'
        rounds 0 3
        echo "await log/command.1.snapshot"
        rounds 4 7
        echo "await log/command.2.snapshot"
        rounds 8 11
        echo "await log/command.3.snapshot"
        rounds 12 "${last_of_part:-25}"
        printf '%s\n' '> GE 1' '< TR *'
        printf '%s\n' 'signal KILL' 'exit 137'
    } > play.wire
    play
}

# resumed FIRST LAST LINE...: the first lines of a session that goes on, its
# rounds, and an end: another kill or, behind the last round, a stop.
resumed() {
    first=$1 last=$2
    shift 2
    echo 'ignore KI'
    echo "run dispatch --resume --dir \$DIR/log --segment-size 16384"
    printf '%s\n' "$@"
    rounds "$first" "$last" 1
    if [ "$last" -lt $ROUNDS ]; then
        printf '%s\n' 'signal KILL' 'exit 137'
    else
        printf '%s\n' '> TE' 'exit 0' replay
    fi
    echo 'err resumed: *'
}

# go_on FIRST LAST LINE...: goes on so; the lines follow its end.  Its answers
# are those of a session that never ended: that is what replay compares.
go_on() {
    resumed "$1" "$2" > play.wire
    shift 2
    printf '%s\n' "$@" >> play.wire
    play
}

FROM='err *from the snapshot behind command*'
NOT='noerr *from the snapshot behind command*'

# The older ones go when a snapshot has been written.  A kill may come in
# between, and a stop before the next one is: so one more is awaited, that of the
# segment with which the killed session ended.
goes_on() {
    part "$@" || return 1
    last=$(ls -v log/command.*.log | tail -n 1 | cut -d . -f 2)
    resumed 26 $ROUNDS |
        awk -v file="log/command.$((last + 1)).snapshot" '
            /^> GE/ && ++n == 9 { print "await " file } { print }' > play.wire
    echo "$FROM" >> play.wire
    play || return 1
    ls log/command.*.snapshot > list || fail "no snapshots" || return 1
    [ "$(wc -l < list)" -eq 2 ] || fail "snapshots: $(cat list)"
}

random_goes_on() { goes_on --tuner random; }
grid_goes_on() { goes_on --tuner grid; }
filters_go_on() { goes_on --tuner random --filter dedup --filter timing; }
extensions_go_on() {
    part --tuner random --extensions || return 1
    resumed 26 $ROUNDS '< ID {"last": *, "owed": 0, "resent": 1, *' \
        '< TR {"parameter_id": 130, *' > play.wire
    echo "$FROM" >> play.wire
    play
}

# A kill that comes while a side is saved costs the snapshots of the session
# behind it that side, see save_dies; here there may be no others then.
many_times() {
    part --tuner random && go_on 26 27 "$FROM" && go_on 28 28 "$FROM" &&
        go_on 29 36 "$FROM" || return 1
    if "$T" log log | grep -q ' R .* was being saved'; then
        go_on 37 $ROUNDS
    else
        go_on 37 $ROUNDS "$FROM"
    fi
}

# One that lacks a side does not stand before an older one that has all.
whole_first() {
    part --tuner random && mkdir whole && cp log/*.snapshot whole || return 1
    last=$(ls -v log/command.*.log | tail -n 1 | cut -d . -f 2)
    # as a kill leaves it that comes while the tuner is saved
    printf '\377%.0s' 1 2 3 4 5 6 7 8 |
        dd of=log/command.lock bs=1 seek=32 conv=notrunc 2> dd.err
    resumed 26 33 |
        awk -v file="log/command.$((last + 1)).snapshot" '
            /^> GE/ && ++n == 8 { print "await " file } { print }' > play.wire
    printf '%s\n' "$FROM" 'err *, the tuner was being saved' >> play.wire
    play && rm -f "log/command.$((last + 2)).snapshot" && cp whole/* log &&
        go_on 34 $ROUNDS "$FROM"
}

# spoil FILE...: changes a byte of each.
spoil() {
    for file in "$@"; do
        printf 'x' | dd of="$file" bs=1 seek=100 conv=notrunc 2> dd.err
    done
}

damaged() {
    part --tuner random || return 1
    spoil log/command.*.snapshot
    go_on 26 $ROUNDS "$NOT" 'err *is not used: *the checksum is wrong'
}

# The older one is used when the newer one cannot be.
one_damaged() {
    part --tuner random || return 1
    spoil "$(ls -v log/command.*.snapshot | tail -n 1)"
    go_on 26 $ROUNDS "$FROM" 'err *is not used: *the checksum is wrong'
}

another_log() {
    last_of_part=11 # it has fewer segments
    part --tuner random --seed 4 && mv log other || return 1
    last_of_part=25
    part --tuner random && rm log/*.snapshot && cp other/*.snapshot log ||
        return 1
    go_on 26 $ROUNDS 'err *is of another log'
}

# A tuner that is older than saving: it is replayed, the assessor is not.
unsavable() {
    part --tuner every_arg &&
        go_on 26 $ROUNDS
}

dropped() {
    part --tuner random --old-segments drop || return 1
    [ ! -e log/command.1.log ] || fail "segment 1 is there" || return 1
    go_on 26 $ROUNDS "$FROM"
}

# A crash while a tuner is saved costs the snapshots of a session, no more.
save_dies() {
    cat > play.wire <<'END'
ignore KI
run dispatch --seed 3 --dir $DIR/log --segment-size 16384 --tuner save_dies
> IN {"x": {"_type": "uniform", "_value": [0, 1]}}
< ID
END
    rounds 0 3 >> play.wire
    echo 'exit 134' >> play.wire
    play || return 1
    have=$("$T" log --json log | grep -c '"kind": "<"')
    [ "$have" -gt 60 ] || fail "$have commands on record" || return 1
    {
        echo 'ignore TR'
        echo 'run dispatch --resume --dir $DIR/log --segment-size 16384'
        rounds 4 10 | grep -v '^<'
        printf '%s
' '> TE' 'exit 0' replay
        echo 'err *the tuner was being saved*'
    } > play.wire
    play
}

not_dropped_without_a_snapshot() {
    part --tuner every_arg --old-segments drop || return 1
    [ -e log/command.1.log ] || fail "segment 1 was dropped"
}

compressed() {
    part --tuner random --old-segments compress || return 1
    [ -e log/command.1.log.gz ] || fail "segment 1 is not compressed" ||
        return 1
    go_on 26 $ROUNDS "$FROM"
}

# dropping [LINE...]: an experiment that drops its segments is killed at trial
# 30 and resumed: no trial is missing, and none is counted twice.
dropping() {
    experiment 'maxTrialNumber: 60' 'segmentSize: 2k' 'oldSegments: drop' \
        "$@" << 'E'
tunepipe trial report 1
[ "$TUNEPIPE_TRIAL_ID" = 00030 ] && kill -KILL "$(cat "$HERE/pid")"
exec tunepipe trial report --final 2
E
    run 137
    [ ! -e "$dir/command.1.log" ] || fail "segment 1 is there" || return 1
    "$T" show "$dir" > out && has out "go on:  tunepipe resume /" || return 1
    "$T" resume "$dir" > out 2> err || fail "$(cat err)" || return 1
    "$T" show --json "$dir" > show.json && count 60 succeeded || return 1
    "$T" replay "$dir" > replay.out 2>&1 || fail "$(cat replay.out)"
}

# Nor is one that is known to have been told told again.
dropped_and_resumed() { dropping && lacks err "recorded, not applied"; }

not_in_lock_step() {
    experiment 'maxTrialNumber: 1' 'oldSegments: drop' < /dev/null
    "$T" run e.yml --deterministic 2> err
    [ $? = 3 ] && has err 'e.yml: oldSegments: drop: not with deterministic'
}

compressed_in_lock_step() {
    experiment 'maxTrialNumber: 60' 'segmentSize: 2k' 'deterministic: true' \
        'oldSegments: compress' << 'E'
tunepipe trial report 1
[ "$TUNEPIPE_TRIAL_ID" = 00030 ] && kill -KILL "$(cat "$HERE/pid")"
exec tunepipe trial report --final 2
E
    run 137
    [ -e "$dir/command.1.log.gz" ] || fail "nothing is compressed" || return 1
    "$T" resume "$dir" > out 2> err || fail "$(cat err)" || return 1
    "$T" show --json "$dir" > show.json && count 60 succeeded || return 1
    "$T" replay "$dir" > replay.out 2>&1 || fail "$(cat replay.out)"
}

# no STATUS TEXT WORD...: tunepipe WORD... ends so, with one line that says so.
no() {
    status=$1 text=$2
    shift 2
    "$T" "$@" > out 2> err
    [ $? = "$status" ] && [ "$(wc -l < err)" = 1 ] && has err "$text"
}

# What was dropped is not told as if it had never been.
dropped_is_told() {
    dropping || return 1
    gone='are not on record any more'
    has replay.out 'begun with the snapshot behind command ' &&
        no 2 "$gone" log "$dir" --at 1 &&
        no 2 "$gone" replay --verify "$dir" --until 1 &&
        no 5 "nothing of a trial '00001': " explain "$dir" 00001 &&
        has err "$gone" &&
        no 5 "; expected a log that has them all" \
            replay "$dir" --assessor medianstop &&
        no 5 "; expected a log that has them all" \
            replay "$dir" --pipe true &&
        no 5 "; expected a log that has them all" \
            fork "$dir" --at 70 forked && "$T" explain --json "$dir" 00059 > out &&
        grep -q '"dropped": [1-9]' out || return 1
    first=$("$T" log "$dir" --kind segment 2> err | head -n 1)
    at=$(echo "$first" | awk '{ print $1 }')
    "$T" log "$dir" --at "$at" > out && has out "at          command $at"
}

check "random goes on from a snapshot as if nothing had been" random_goes_on
check "grid goes on from a snapshot as if nothing had been" grid_goes_on
check "filters go on from a snapshot as if nothing had been" filters_go_on
check "a manager with extensions hears what it needs behind a snapshot" \
    extensions_go_on
check "a session that is cut again and again goes on each time" many_times
check "a snapshot that has all sides comes first" whole_first
check "damaged snapshots are said and not used" damaged
check "an older snapshot stands in for a damaged one" one_damaged
check "a snapshot of another log is not used" another_log
check "a tuner that cannot be saved is replayed" unsavable
check "dropped segments are not needed to go on, nor to replay" dropped
check "a tuner that dies when it is saved costs the snapshots" save_dies
check "no segment is dropped while no snapshot stands for it" \
    not_dropped_without_a_snapshot
check "an experiment that drops its segments is resumed" dropped_and_resumed
check "one in lock step needs them all" not_in_lock_step
check "compressed ones will do" compressed_in_lock_step
check "what was dropped is said to be gone" dropped_is_told
check "compressed segments are read as any other" compressed
finish
