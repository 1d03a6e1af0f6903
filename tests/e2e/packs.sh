#!/bin/sh
# SPDX-License-Identifier: MIT
# The folders of ended trials in packs: every verb says the same of them; they
# are unpacked; what is kept, dropped, spared; the manager dies at each moment of
# it, and the power is lost then; folders that a trial has made a mess of.
# KILL_EVERY=1: at all moments (make torture).
# not under tsan
# takes long
. "$(dirname "$0")/lib.sh"

packs() { ls "$dir"/trials/*.tar.gz 2> /dev/null; }

# left N: so many names in the folder of trials.
left() {
    n=$(ls "$dir/trials" | grep -vc '\.synced$')
    [ "$n" = "$1" ] || fail "$n names in trials, expected $1: $(ls "$dir/trials" | head -n 5)"
}

# What each verb says of the experiment and its trials, into the folder $1.
say_all() {
    mkdir "$1"
    for id in 00000 00001 00002 00003 00004 00005; do
        "$T" why "$dir" $id > "$1/why.$id" 2>&1
        "$T" why --json "$dir" $id > "$1/why.json.$id" 2>&1
        "$T" trial output "$dir" $id > "$1/output.$id" 2>&1 &&
            "$T" trial output --stderr "$dir" $id > "$1/stderr.$id" 2>&1 &&
            "$T" explain "$dir" $id > "$1/explain.$id" 2>&1 ||
            fail "$(cat "$1/output.$id" "$1/stderr.$id" "$1/explain.$id")" ||
            return 1
    done
    "$T" show --json "$dir" > "$1/show" && "$T" status --json "$dir" > "$1/status" &&
        "$T" export --csv "$dir" > "$1/csv" && "$T" export --json "$dir" > "$1/export" &&
        "$T" trial ls --json "$dir" > "$1/ls" 2>&1
    "$T" report --json "$dir" | sed 's/"read_us": [0-9]*//' > "$1/report"
    "$T" rerun --in "$PWD/again" "$dir" 2 > "$1/rerun" && rm -rf again
}

# Trials with a preparation, output, holes in it, failures, attempts.
all_kinds() {
    experiment 'maxTrialNumber: 6' 'prepareCommand: echo prepares; [ $TUNEPIPE_TRIAL_ID != 00003 ]' \
        'onFailure: {retry: 1, backoff: 0.01s}' 'onRepeatedFailure: ignore' \
        'maxTrialOutput: 16k' "$@" << 'E'
echo "begins $TUNEPIPE_TRIAL_ID"
echo "an error of $TUNEPIPE_TRIAL_ID" >&2
[ "$TUNEPIPE_TRIAL_ID" != 00001 ] || exit 3
[ "$TUNEPIPE_TRIAL_ID" != 00004 ] || seq 20000
tunepipe trial report 0.5
echo model > "$TUNEPIPE_TRIAL_DIR/model"
tunepipe trial report --final "0.1${TUNEPIPE_TRIAL_ID#0000}"
E
}

every_verb_says_the_same() {
    all_kinds 'keepTrialFiles: packed' && run 0 && left 5 && say_all packed ||
        return 1
    has packed/why.00001 'once tunepipe unpack has put them there' || return 1
    has packed/output.00004 'see maxTrialOutput' &&
        has packed/rerun 'the same' || return 1
    [ -e "$dir/trials/00000/model" ] && [ ! -e "$dir/trials/00000/stdout" ] ||
        fail "$(ls "$dir/trials/00000")" || return 1
    "$T" unpack --all "$dir" > unpacked && mv "$(packs)" . &&
        say_all there || return 1
    sed -i 's/, once tunepipe unpack.*//' packed/why.*
    diff -r packed there > diff || fail "not the same: $(head -n 3 diff)"
}
check "every verb says the same of packed trials" every_verb_says_the_same

unpacked() {
    all_kinds 'keepTrialFiles: packed' 'trialOutput: pack' && run 0 && left 1 ||
        return 1
    "$T" rerun "$dir" 2 > out && has out 'the same' || return 1
    tar -tzf "$(packs)" > names && has names 00001.1/stdout && has names 00000/model &&
        tar -xzf "$(packs)" && [ "$(cat 00000/model)" = model ] || return 1
    "$T" unpack "$dir" 1 > out && [ "$(wc -l < out)" = 2 ] &&
        diff -r 00001 "$dir/trials/00001" && diff -r 00001.1 "$dir/trials/00001.1" ||
        return 1
    "$T" unpack "$dir" 1.1 2> err
    [ $? = 1 ] && has err 'is there, expected nothing that would be overwritten' ||
        return 1
    "$T" unpack "$dir" 1.1 --to here > out && diff -r 00001.1 here/00001.1 || return 1
    "$T" unpack "$dir" 77 2> err
    [ $? = 3 ] && has err "no pack in trials has trial '77'" || return 1
    "$T" resume --max-trials 7 "$dir" > out 2>&1
    left 1 || return 1
    "$T" unpack "$dir" x 2> err
    [ $? = 2 ]
}
check "a trial is unpacked, and by tar" unpacked

# By themselves from 1,000 trials on; so many are made up.
by_number() {
    experiment 'maxTrialNumber: 3' << 'E'
tunepipe trial report --final 1
E
    run 0 && left 3 && [ -z "$(packs)" ] || return 1
    for i in $(seq 3 999); do
        printf '{"trial": "%05d", "parameter_id": %d, "status": "succeeded", "value": 1, "parameters": {"x": 0.5}}\n' \
            "$i" "$i" >> "$dir/results.jsonl"
    done
    sed -i 's/maxTrialNumber: 3/maxTrialNumber: 1001/' "$dir/config.yml"
    "$T" resume --max-trials 1001 "$dir" > out 2> err || fail "$(cat err)" || return 1
    left 2
}
check "packed from 1000 trials on" by_number

# fates EXPECTED KEY...: what is left of a good trial, a better one and a bad one.
fates() {
    expected=$1
    shift
    rm -rf tunepipe-experiments
    experiment 'maxTrialNumber: 3' 'onRepeatedFailure: ignore' "$@" << 'E'
echo model > "$TUNEPIPE_TRIAL_DIR/model"
[ "$TUNEPIPE_TRIAL_ID" != 00002 ] || exit 1
tunepipe trial report --final "-${TUNEPIPE_TRIAL_ID#0000}"
E
    run 0 || return 1
    # shellcheck disable=SC2046
    was=$(cd "$dir/trials" && echo $(for i in 0000?; do
        [ ! -e $i/model ] || echo "$i:model"
        [ ! -e $i/exit ] || echo "$i:exit"
    done; for p in *.tar.gz; do [ ! -e "$p" ] || tar -tzf "$p" |
        sed -nE 's,^(0000.)/(exit|model)$,packed:\1:\2,p' | sort; done))
    [ "$was" = "$expected" ] || fail "$*: $was"
}

policies() {
    fates '00000:model 00000:exit 00001:model 00001:exit 00002:model 00002:exit' &&
        fates '00000:model 00001:model 00002:model packed:00002:exit' \
            'keepTrialFiles: failed' &&
        fates '00000:model 00001:model 00002:model' 'keepTrialFiles: none' &&
        fates '00001:model packed:00000:exit packed:00001:exit packed:00002:exit' \
            'keepTrialFiles: packed' 'trialOutput: drop' &&
        fates '00000:exit 00001:model 00001:exit 00002:exit' \
            'keepTrialFiles: all' 'trialOutput: drop' &&
        fates '00000:exit 00001:exit 00002:exit packed:00000:model packed:00001:model packed:00002:model' \
            'keepTrialFiles: all' 'trialOutput: pack' &&
        fates '00000:model 00001:model 00002:model' 'keepTrialFiles: none' \
            'trialOutput: drop after 2h' &&
        fates '00001:model' 'keepTrialFiles: none' 'trialOutput: drop'
}
check "what is kept, packed, dropped" policies

# Its time goes on while no manager lives.
dropped_later() {
    fates '00000:model 00001:model 00002:model' 'keepTrialFiles: none' \
        'trialOutput: drop after 2h' || return 1
    touch -d '3 hours ago' "$dir"/trials/*
    "$T" resume --max-trials 4 "$dir" > out 2> err || return 1
    [ ! -e "$dir/trials/00000" ] && [ ! -e "$dir/trials/00002" ] &&
        [ -e "$dir/trials/00003/model" ]
}
check "what is dropped by the manager behind" dropped_later

mistaken() {
    experiment 'maxTrialNumber: 1' 'trialOutput: drop after tomorrow' < /dev/null
    "$T" run e.yml > out 2> err
    [ $? = 3 ] &&
        has err 'expected keep, pack, drop, or drop after a time such as 2h' ||
        return 1
    experiment 'maxTrialNumber: 1' 'keepTrialFiles: failed' \
        'trialOutput: drop after 2h' < /dev/null
    "$T" run --dry-run e.yml > out && has out 'removed when it has ended well' &&
        has out 'removed a time after its end, but that of the best one'
}
check "trialOutput that is none, and what --dry-run says" mistaken

# What was lost with the power is found in the packs.
witnesses() {
    all_kinds 'keepTrialFiles: packed' && run 0 || return 1
    "$T" show --json "$dir" | sed 's/"duration_s": [^,]*, //g' > before
    : > "$dir/results.jsonl"
    rm "$dir/summary.json"
    resume 0 && sed 's/"duration_s": [^,]*, //g' show.json > after && replays ||
        return 1
    for id in 00000 00001 00002 00004 00005; do
        grep -o "\"trial\": \"$id\"[^}]*\"value\": [^,]*" after > one &&
            grep -qF "$(cat one)" before || fail "$(cat one)" || return 1
    done
    left 5 && "$T" why "$dir" 1 > why && has why 'an error of 00001'
}
check "packs are witnesses of trials" witnesses

# Where a pack cannot be written folders stay, which is said once, and the next
# manager packs them.
unwritable() {
    experiment 'maxTrialNumber: 70' 'keepTrialFiles: packed' \
        'trialConcurrency: 4' << 'E'
[ "$TUNEPIPE_TRIAL_ID" != 00000 ] ||
    mkdir "$TUNEPIPE_EXPERIMENT_DIR/trials/00000-00999.tar.gz"
tunepipe trial report --final 1
E
    run 0 && left 71 && [ "$(grep -c 'stay until it goes on' err)" = 1 ] ||
        fail "$(cat err)" || return 1
    rmdir "$dir/trials/00000-00999.tar.gz"
    "$T" resume --max-trials 71 "$dir" > out 2> err || fail "$(cat err)" ||
        return 1
    left 1
}
check "a pack that cannot be written" unwritable

# What is in a pack's place and is none stays under another name, which is said.
aside() {
    experiment 'maxTrialNumber: 2' 'keepTrialFiles: packed' << 'E'
[ "$TUNEPIPE_TRIAL_ID" != 00000 ] ||
    echo mine > "$TUNEPIPE_EXPERIMENT_DIR/trials/00000-00999.tar.gz"
echo "says $TUNEPIPE_TRIAL_ID"
tunepipe trial report --final 1
E
    name=00000-00999.tar.gz
    run 0 && left 2 && [ "$(cat "$dir/trials/$name.aside-1")" = mine ] &&
        [ "$(grep -c "$name is no pack.* it is $name.aside-1 " err)" = 1 ] ||
        fail "$(cat err)" || return 1
    "$T" trial output "$dir" 1 > out && has out 'says 00001' || return 1
    printf xxxx | dd of="$(packs)" bs=1 conv=notrunc status=none && cp "$(packs)" damaged &&
        "$T" resume --max-trials 3 "$dir" > out 2> err && left 3 &&
        cmp damaged "$dir/trials/$name.aside-2" && has err "$name.aside-2" ||
        fail "$(cat err)" || return 1
    "$T" trial output "$dir" 2 > out && has out 'says 00002'
}
check "what is no pack is set aside" aside

# How the folder looks is not what we make of it.
hostile() {
    experiment 'maxTrialNumber: 1' 'keepTrialFiles: packed' 'trialOutput: pack' \
        "maxTrialDuration: 60s" << 'E'
cd "$TUNEPIPE_TRIAL_DIR" || exit 1
tunepipe trial report --final 1
ln -s "$HERE/precious" link
ln -s "$HERE" folder
ln -s link/../loop loop
ln -s "$HERE/precious/file" absent
mkfifo fifo
mkdir metrics.tmp stop.tmp again
ln -s "$HERE/precious" again/parameters.json
echo x > unreadable; chmod 0 unreadable
mkdir closed && echo x > closed/x && chmod 0 closed
mkdir many && (cd many && seq 10000 | xargs touch)
rm -f stderr; mkdir stderr; echo inside > stderr/stdout
name=$(printf '%0200d' 0); echo x > "$name"
E
    mkdir precious && echo precious > precious/file
    run 0
    ran=$?
    [ ! -d "$dir/trials/00000/closed" ] || chmod 700 "$dir/trials/00000/closed"
    [ $ran = 0 ] && [ "$(cat precious/file)" = precious ] &&
        has err 'warning: not packed' || return 1
    [ -p "$dir/trials/00000/fifo" ] || fail "the FIFO is gone" || return 1
    [ ! -e "$dir/trials/00000/many" ] && [ ! -e "$dir/trials/00000/exit" ] ||
        fail "$(ls "$dir/trials/00000")" || return 1
    "$T" unpack "$dir" 0 --to there > out && [ -h there/00000/folder ] &&
        [ "$(ls there/00000/many | wc -l)" = 10000 ] &&
        [ "$(cat there/00000/stderr/stdout)" = inside ] || return 1
    "$T" why "$dir" 0 > why && has why succeeded
}
check "a folder that a trial has made a mess of" hostile

# A pack that is damaged costs what is in that member.
damaged() {
    all_kinds 'keepTrialFiles: packed' && run 0 || return 1
    size=$(stat -c %s "$(packs)")
    printf xxxxxxxx | dd of="$(packs)" bs=1 seek=$((size / 2)) conv=notrunc 2>&-
    "$T" trial output "$dir" 0 > out 2> err
    [ $? = 1 ] || return 1
    "$T" unpack "$dir" 0 --to x 2> err
    [ $? = 1 ] && has err 'the member at byte 0 is damaged' || return 1
    "$T" show "$dir" > out && "$T" why "$dir" 0 > out && has out 'trial 00000' ||
        return 1
    rm "$(packs)" && mkfifo "$dir/trials/00000-00999.tar.gz" || return 1
    "$T" trial output "$dir" 0 > out 2> err
    [ $? = 1 ] && has err '00000-00999.tar.gz: is no file, expected a pack'
}
check "a pack that is damaged" damaged

# ---- it dies ----

ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0"
export ASAN_OPTIONS
every=${KILL_EVERY:-7}
trials=5

small() {
    experiment "maxTrialNumber: $trials" 'trialConcurrency: 2' "$@" << 'E'
echo "says $TUNEPIPE_TRIAL_ID"
tunepipe trial report --final "1$TUNEPIPE_TRIAL_ID"
E
}

# dying AT COMMAND...: tunepipe, whose manager dies at that moment.
dying() {
    at=$1
    shift
    KILL_AT=$at KILL_COUNT=$PWD/count \
        LD_PRELOAD="$TP_BUILD/tests/preload/killat.so $TP_BUILD/tests/preload/synced.so" \
        "$T" "$@" > out 2> err
}

# whole: nothing of any trial is lost, wherever it is.
whole() {
    for i in $(seq -f %05.0f 0 $((trials - 1))); do
        "$T" trial output "$dir" $i > said 2>&1 && has said "says $i" ||
            return 1
    done
}

# dies CUT MOMENTS...: at each of these moments, then the power is lost with CUT.
dies() {
    cut=$1
    shift
    for at in "$@"; do
        rm -rf tunepipe-experiments
        dying "$at" run e.yml
        dir=$(ls -d tunepipe-experiments/*)
        [ "$cut" = 0 ] || "$TP_BUILD/tests/tools/powercut" "$at" \
            "$dir/command.log" "$dir/results.jsonl" > cut.out ||
            fail "$(cat cut.out)" || return 1
        whole || fail "moment $at" || return 1
        [ -e "$dir/summary.json" ] && "$T" show "$dir" > shown && continue
        "$T" resume "$dir" > out 2> err && whole ||
            fail "moment $at: $(cat err said)" || return 1
        # a pack that begins with what the disk had there before
        [ "$cut" = 0 ] || rm -f "$dir/trials/"*.tar.gz.aside-1
        left 1 || fail "moment $at: $(cat err)" || return 1
        [ "$(sort -u "$dir/results.jsonl" | wc -l)" = $trials ] && replays ||
            fail "moment $at: results" || return 1
    done
}

kills() {
    small 'keepTrialFiles: all' && dying 0 run e.yml && read -r before < count &&
        rm -rf tunepipe-experiments || return 1
    small 'keepTrialFiles: packed' && dying 0 run e.yml && read -r after < count ||
        return 1
    [ "$after" -gt "$((before + 10))" ] || fail "$before, $after moments" || return 1
    # shellcheck disable=SC2046
    dies 0 $(seq $((before - 4)) "$every" "$after") &&
        dies 1 $(seq $((before - 2)) "$every" "$after")
}
check "the manager dies while it packs, and the power is lost" kills

# As above, but that the files are removed: what is on record stays.
removals() {
    small 'keepTrialFiles: none' && dying 0 run e.yml && read -r after < count ||
        return 1
    for at in $(seq $((after - 60)) "$((2 * every))" "$after"); do
        rm -rf tunepipe-experiments
        dying "$at" run e.yml
        dir=$(ls -d tunepipe-experiments/*)
        "$TP_BUILD/tests/tools/powercut" "$at" "$dir/command.log" \
            "$dir/results.jsonl" > cut.out || return 1
        [ -e "$dir/summary.json" ] ||
            "$T" resume "$dir" > out 2> err || fail "moment $at: $(cat err)" ||
            return 1
        [ "$(grep -c '"succeeded"' "$dir/results.jsonl")" = $trials ] ||
            fail "moment $at: $(cat "$dir/results.jsonl")" || return 1
        replays || return 1
    done
}
check "it dies while it removes what is on record" removals

finish
