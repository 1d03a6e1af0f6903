#!/bin/sh
# SPDX-License-Identifier: MIT
# tunepipe log and tunepipe replay on the recorded logs of tests/data.
# not under tsan
set -u
: "${TP_BUILD:?is not set: run the tests with make check}"
: "${TP_SOURCE:?is not set: run the tests with make check}"
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
cd "$folder" || exit 1
logs=$TP_SOURCE/tests/data/logs
failed=0

report() {
    name=log_$1
    shift
    if "$@" > "$folder/out" 2>&1; then
        echo "ok $name"
    else
        sed 's/^/# /' "$folder/out"
        echo "FAILED $name"
        failed=1
    fi
}

tunepipe() {
    "$TP_BUILD/tunepipe" "$@"
}

status() {
    wanted=$1
    shift
    "$@"
    got=$?
    [ $got = "$wanted" ] || {
        echo "status $got, expected $wanted"
        return 1
    }
}

records() { # LOG: how many
    tunepipe log "$1" --json | wc -l
}

plain() {
    tunepipe log "$logs/awkward.log" > text &&
        [ "$(wc -l < text)" = "$(records "$logs/awkward.log")" ] &&
        grep -q ' <  GE5$' text && grep -q ' >a KI"A"$' text &&
        grep -q ' S  t a request, dropped by the stop$' text &&
        grep -q ' E  terminated$' text &&
        ! LC_ALL=C grep -q '[[:cntrl:]]' text
}

# Each line is one JSON object; the program's own parser is the judge, by way
# of a note.
json() {
    for log in awkward medianstop; do
        tunepipe log "$logs/$log.log" --json > lines || return 1
        while IFS= read -r line; do
            case $line in
            '{"kind": "'*'", "number": '*', "time_us": '*', "offset": '*', "payload": "'*'"}') ;;
            *) echo "$line" && return 1 ;;
            esac
            note="{\"event\": \"line\", \"it\": $line}"
            printf 'NT%014d%s' ${#note} "$note"
        done < lines > notes
        tunepipe dispatch --grace 1h --tuner random --seed 1 --quiet < notes 2> err ||
            return 1
        [ ! -s err ] || {
            cat err
            return 1
        }
    done
}

folder_is_as_good() {
    mkdir -p exp && cp "$logs/medianstop.log" exp/command.log &&
        tunepipe log exp > a && tunepipe log exp/command.log | cmp - a
}

# Cut in the middle: what is whole is printed, the rest is reported.
torn() {
    size=$(wc -c < "$logs/awkward.log")
    head -c $((size - 60)) "$logs/awkward.log" > cut &&
        tunepipe log cut > text 2> err && cat err &&
        grep -q 'the log is cut off: [0-9]* bytes at its end' err &&
        [ "$(wc -l < err)" = 1 ]
}

damaged() {
    offset=$(tunepipe log "$logs/awkward.log" --json |
        sed -n '10s/.*"offset": \([0-9]*\),.*/\1/p')
    cp "$logs/awkward.log" bad && chmod u+w bad &&
        printf x | dd of=bad bs=1 seek=$((offset + 40)) conv=notrunc 2> dd &&
        status 5 tunepipe log bad > text 2> err && cat err &&
        grep -q "bad: offset $offset, before the last sync mark" err &&
        grep -q "; tunepipe log bad --repair FILE keeps what is whole" err &&
        [ "$(wc -l < text)" = 9 ] && [ "$(wc -l < err)" = 1 ] &&
        status 5 tunepipe replay bad --verify \
            --plugin-path "$TP_BUILD/tests/plugins" 2> err &&
        grep -q "bad: offset $offset, before the last sync mark" err
}

newer() {
    sed '1s/1$/2/' "$logs/medianstop.log" > new &&
        status 5 tunepipe log new 2> err && cat err &&
        grep -q 'new: a command log of version 2; this program reads up to' err
}

refused() {
    : > empty && status 5 tunepipe log empty 2> err &&
        grep -q 'empty: not a command log' err &&
        status 5 tunepipe log nowhere 2> err &&
        grep -q 'nowhere: cannot open' err &&
        status 5 tunepipe log / 2> err &&
        grep -q "cannot open, expected an experiment's folder, with command.log" \
            err && status 3 tunepipe log 2> err &&
        status 2 tunepipe log a b 2> err
}

replays() {
    TUNEPIPE_PLUGIN_PATH=$TP_BUILD/tests/plugins
    export TUNEPIPE_PLUGIN_PATH
    for log in awkward medianstop; do
        tunepipe replay "$logs/$log.log" --verify > text || return 1
        grep -q '^identical: ' text && [ "$(wc -l < text)" = 1 ] || return 1
        tunepipe replay "$logs/$log.log" > text || return 1
        grep -q '^[0-9]* tuner TR {"parameter_id": 0, ' text || return 1
    done
}

replays_a_part() {
    TUNEPIPE_PLUGIN_PATH=$TP_BUILD/tests/plugins
    export TUNEPIPE_PLUGIN_PATH
    log=$logs/medianstop.log
    tunepipe replay "$log" --verify --until 2 > text &&
        grep -q '^identical: 2 commands, ' text &&
        tunepipe replay "$log" --until 2 > some && tunepipe replay "$log" > all &&
        grep -q '^2 tuner TR ' some && ! grep -q '^[3-9] ' some &&
        grep '^[12] ' all > begin && grep '^[12] ' some | cmp - begin &&
        status 2 tunepipe replay "$log" --until 99999 2> err &&
        grep -q 'ends at command 371, expected 99999 or more' err
}

replay_refuses() {
    unset TUNEPIPE_PLUGIN_PATH
    status 3 tunepipe replay "$logs/awkward.log" 2> err &&
        grep -q "no tuner 'later'.*; one of yours: .* --plugin-path" err &&
        status 5 tunepipe replay nowhere 2> err &&
        status 3 tunepipe replay 2> err
}

report plain plain
report json json
report folder_is_as_good folder_is_as_good
report torn torn
report damaged damaged
report newer newer
report refused refused
report replays replays
report replays_a_part replays_a_part
report replay_refuses replay_refuses
exit $failed
