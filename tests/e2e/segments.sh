#!/bin/sh
# SPDX-License-Identifier: MIT
# A log of several segments is one log: for each reader, cut off, compressed,
# and with its first ones dropped.
set -u
: "${TP_BUILD:?is not set: run the tests with make check}"
: "${TP_SOURCE:?is not set: run the tests with make check}"
. "$TP_SOURCE/tests/e2e/lib.sh"
LOG=$TP_SOURCE/tests/data/logs/medianstop.log
D="$T dispatch --quiet --tuner random --assessor medianstop --early-stopped best --seed 20"

# A recorded session, and the same one cut into segments.
"$T" replay "$LOG" --pipe "$D --dir $work/0 --segment-size 0" \
    > "$work/played" 2>&1 || { cat "$work/played"; exit 1; }
"$TP_BUILD/tests/tools/segment" "$work/0/command.log" "$work/4096" 4096 || exit 1
MANY=$work/4096
ONE=$work/0
N=$(ls "$MANY"/command.*[0-9].log | wc -l) # before the last

# answers DIR: the records without times and marks, of each sender in order.
answers() {
    "$T" log "$1" > all || return 1
    for kind in H '<' '>t' '>a' E; do
        awk -v k="$kind" '$4 == k { $2 = $3 = ""; print }' all
    done
}

# frame CODE PAYLOAD
frame() {
    printf '%s%014d%s' "$1" "$(printf %s "$2" | wc -c)" "$2"
}

the_same_records() {
    [ "$N" -ge 5 ] || fail "$N old segments" || return 1
    [ ! -e "$ONE/command.1.log" ] || fail "one of several" || return 1
    answers "$MANY" > many && answers "$ONE" > one && cmp many one &&
        [ "$(wc -l < many)" -gt 440 ] && "$T" replay "$MANY" --verify > out &&
        has out 'identical: 371 commands'
}
check "the same records as in one" the_same_records

each_reader() {
    for d in "$MANY" "$ONE"; do
        name=$(basename "$d")
        {
            "$T" log "$d" --trial T7 | sed 's/^\( *[0-9]*\) [^ ]* [^ ]*/\1/' | LC_ALL=C sort &&
                "$T" explain "$d" T7 --json | sed 's/"time_us": [0-9]*//' &&
                "$T" log "$d" --at 200 --json |
                sed 's/"time_us": [0-9]*//; s/"pending".*//' &&
                "$T" replay "$d" --until 300 > /dev/null &&
                "$T" replay "$d" --assessor medianstop | sed 's/ *[0-9.]* s$//' &&
                "$T" replay "$d" --pipe "$D" | grep TR &&
                "$T" fork "$d" --at 300 "fork$name" > /dev/null &&
                "$T" replay "fork$name" --verify
        } 2> err > "$name" || return 1
    done
    [ -s 4096 ] && cmp 4096 0 && [ ! -e fork4096/command.1.log ]
}
check "each reader" each_reader

marks_of_a_segment() {
    "$T" log "$MANY" --json > json || return 1
    [ "$(grep -c '"segment": 2, ' json)" -gt 3 ] &&
        tail -n 1 json | grep -q "\"segment\": $((N + 1)), " || return 1
    line=$(grep '"segment": 3, ' json | head -n 1)
    offset=$(echo "$line" | sed 's/.*"offset": \([0-9]*\),.*/\1/')
    tail -c +$((offset + 1)) "$MANY/command.3.log" | head -c 60 | grep -q '^[0-9a-f]\{8\} [M<>]'
}
check "offsets are in a segment" marks_of_a_segment

# Whatever of the last segment is left, it goes on; never of one before it.
cut_anywhere() {
    size=$(wc -c < "$MANY/command.log")
    head=$(grep -a -b -m 1 ' G ' "$MANY/command.log" | cut -d : -f 1)
    head=$((head + $(grep -a -m 1 ' G ' "$MANY/command.log" | wc -c)))
    step=$(((size - head) / 7 + 1))
    for at in $(seq $head $step $size); do
        rm -rf cut && cp -r "$MANY" cut || return 1
        head -c "$at" "$MANY/command.log" > cut/command.log
        : | "$T" dispatch --grace 1h --resume --dir cut --segment-size 100 > answers 2> err ||
            fail "at $at: $(cat err)" || return 1
        "$T" replay cut --verify > out 2>&1 || fail "at $at: $(cat out)" || return 1
    done
    rm -rf cut && cp -r "$MANY" cut && head -c 3000 "$MANY/command.2.log" > cut/command.2.log
    : | "$T" dispatch --grace 1h --resume --dir cut 2> err
    [ $? = 5 ] && has err 'cut/command.2.log: ' && has err 'others follow' &&
        ! "$T" log cut > /dev/null 2> err && has err 'cut/command.2.log: '
}
check "cut anywhere" cut_anywhere

repaired() {
    cp -r "$MANY" bad && offset=$(($(wc -c < bad/command.3.log) / 2)) &&
        byte=$(tail -c +$((offset + 1)) bad/command.3.log | head -c 1 | od -An -tu1) &&
        { head -c $offset "$MANY/command.3.log" &&
            printf "\\$(printf %o $((byte ^ 4)))" &&
            tail -c +$((offset + 2)) "$MANY/command.3.log"; } > bad/command.3.log &&
        ! "$T" replay bad > out 2>&1 && has out bad/command.3.log &&
        "$T" log bad --repair new > out && has out 'whole      bad/command.2.log: ' &&
        has out 'damaged    bad/command.3.log: offset ' && has out 'nothing is lost' &&
        has out 'it stands for bad/command.3.log' && cmp new "$MANY/command.3.log"
}
check "one is repaired" repaired

# What is said to be done is done.
lost() {
    cp -r "$MANY" bad && head -c 2500 "$MANY/command.3.log" > bad/command.3.log &&
        "$T" log bad --repair new > out && has out 'it stands for bad/command.3.log, and ' &&
        has out 'without that and all segments behind it' || return 1
    for i in $(seq 3 "$N"); do rm "bad/command.$i.log"; done
    mv new bad/command.log &&
        : | "$T" dispatch --grace 1h --resume --dir bad > answers 2> err &&
        "$T" replay bad --verify > out && has out identical || return 1
    cp -r "$MANY" head && sed -i '2s/ H / X /' head/command.log &&
        ! "$T" log head > out 2> err &&
        has err "goes on from that one, renamed to command.log" || return 1
    mv "head/command.$N.log" head/command.log &&
        : | "$T" dispatch --grace 1h --resume --dir head > answers 2> err &&
        "$T" replay head --verify > out && has out identical
}
check "some of it is lost" lost

compressed() {
    cp -r "$MANY" packed && gzip packed/command.[1-3].log &&
        answers packed > a && answers "$ONE" > b && cmp a b &&
        "$T" replay packed --verify > out && ls packed/command.1.log.gz > ls &&
        : | "$T" dispatch --grace 1h --resume --dir packed 2> err
}
check "some are compressed" compressed

dropped() {
    cp -r "$MANY" rest && rm rest/command.[12].log
    "$T" log rest > out 2> err && return 1
    has err 'rest/command.2.log: missing: no snapshot stands for it' || return 1
    : > rest/command.2.snapshot
    last=$("$T" log rest --kind segment | awk '{ print $1 }')
    "$T" log rest > out 2> err || return 1
    has err "commands 1 to $last are not on record any more (segments 1 to 2 were dropped)" &&
        [ "$(grep -c ' <  ' out)" = $((371 - last)) ] || return 1
    for words in "fork rest --at 300 new" "replay rest --pipe true"; do
        "$T" $words > out 2> err
        [ $? = 5 ] && [ "$(wc -l < err)" = 1 ] && has err "commands 1 to $last are not" || return 1
    done
    "$T" log "$MANY/command.2.log" > out 2> err && has err 'segment 2 of a log: commands 1 to '
}
check "the first were dropped" dropped

# The follower prints what is in every segment, once.
followed() {
    mkfifo in
    "$T" dispatch --grace 1h --tuner random --seed 1 --dir d --quiet --segment-size 2000 < in > answers &
    dispatcher=$!
    exec 3> in
    frame IN '{"x": {"_type": "uniform", "_value": [0, 1]}}' >&3
    until [ -s answers ]; do :; done # ID: there is a log
    "$T" log d --follow > seen 2> err 3>&- &
    follower=$!
    for i in $(seq 60); do frame GE 2 >&3; done
    exec 3>&-
    wait $dispatcher && wait $follower || fail "$(cat err)" || return 1
    [ -e d/command.2.log ] && "$T" log d | cmp - seen && [ ! -s err ]
}
check "followed" followed

# What the manager of an experiment is told is passed on, also behind a crash.
an_experiment() {
    experiment 'maxTrialNumber: 30' 'segmentSize: 3k' 'oldSegments: keep' << 'E'
tunepipe trial report 1
[ "$TUNEPIPE_TRIAL_ID" = 00015 ] && kill -KILL "$(cat "$HERE/pid")"
exec tunepipe trial report --final 2
E
    run 137
    before=$(ls "$dir"/command.*.log | wc -l)
    [ "$before" -ge 2 ] || fail "$before segments" || return 1
    "$T" resume "$dir" > out 2> err || fail "$(cat err)" || return 1
    after=$(ls "$dir"/command.*.log | wc -l)
    [ "$after" -gt "$before" ] || fail "$after segments, $before before" || return 1
    "$T" show --json "$dir" > show.json && count 30 succeeded && replays
}
check "an experiment that goes on" an_experiment

refused() {
    "$T" dispatch --grace 1h --tuner random --segment-size 8x 2> err
    [ $? = 2 ] && has err '--segment-size: expected a number of bytes' || return 1
    "$T" dispatch --grace 1h --tuner random --old-segments droop 2> err
    [ $? = 2 ] && has err "--old-segments: expected keep, compress or drop, got 'droop' (did you mean 'drop'?)"
}
check "what is refused" refused
finish
