#!/bin/sh
# SPDX-License-Identifier: MIT
# What can be asked of a log: tunepipe log with filters, --follow,
# --repair, --at;
# tunepipe explain.
#
# Needs TP_BUILD and TP_SOURCE.
# not under tsan
set -u
: "${TP_BUILD:?is not set: run the tests with make check}"
: "${TP_SOURCE:?is not set: run the tests with make check}"
. "$TP_SOURCE/tests/e2e/lib.sh"
LOG=$TP_SOURCE/tests/data/logs/medianstop.log

# log STATUS WORDS...: into out and err.
log() {
    want=$1
    shift
    "$T" log "$@" > out 2> err
    got=$?
    [ $got = "$want" ] || fail "log $*: status $got, expected $want: $(cat err)"
}

lines() { # N
    n=$(wc -l < out)
    [ "$n" -eq "$1" ] || fail "$n lines, expected $1: $(head -n 3 out)"
}

# In that log the ends of T3 and T4 name each other's parameters, as NNI's
# manager does it: what a trial's own metrics say counts.
a_trial_by_both_names() {
    log 0 "$LOG" --trial T3 && cp out job && log 0 "$LOG" --trial 3 &&
        cmp out job || return 1
    has out '>t TR{"parameter_id": 3,' && has out '>a KI"T3"' &&
        has out 'EN{"trial_job_id": "T3"' &&
        has out '"trial_job_id": "T3", "type": "PERIODICAL", "sequence": 3,' &&
        lines 7 && lacks out T4 && lacks out '"parameter_id": 4, "param' &&
        log 0 "$LOG" --trial 4 && lacks out T3 && lines 11 &&
        has out 'EN{"trial_job_id": "T4"' &&
        log 1 "$LOG" --trial T99 &&
        has err "nothing of a trial 'T99'"
}

commands() {
    log 0 "$LOG" --command KI,TE && cp out all && has all 'KI"T3"' &&
        ! grep -vE ' (>a KI|<  TE)' all && log 2 "$LOG" --command me &&
        has err "two capital letters" && log 2 "$LOG" --command ME, &&
        log 2 "$LOG" --command '' && log 0 "$LOG" --command QQ && lines 0
}

kinds() {
    log 0 "$LOG" --kind assessor && cp out words &&
        log 0 "$LOG" --kind '>a' && cmp out words && has out 'KI"T3"' &&
        log 0 "$LOG" --kind head,end && lines 2 && has out ' H  {' &&
        has out ' E  end of file' &&
        log 0 "$LOG" --kind program && lines 0 &&
        log 2 "$LOG" --kind asessor && has err "did you mean 'assessor'?" &&
        log 2 "$LOG" --kind 'tuner,' && log 2 "$LOG" --kind ''
}

numbers() {
    log 0 "$LOG" --from 29 --to 30 && lines 3 &&
        log 0 "$LOG" --to 0 && lines 5 &&
        log 0 "$LOG" --from 371 && lines 2 && has out ' E  ' &&
        log 2 "$LOG" --from -1
}

# The times that it prints are times that it takes.
time_ranges() {
    log 0 "$LOG" && cp out all && when=$(awk '$1 == 30 { print $2 "T" $3 }' all)
    log 0 "$LOG" --since "$when" && head -n 1 out | grep -q '^ *30 ' &&
        cp out after && log 0 "$LOG" --until "$when" &&
        tail -n 1 out | grep -q '^ *30 ' && sed '$d' out > before &&
        cat before after | cmp - all || return 1
    log 0 "$LOG" --since "$(echo "$when" | tr T ' ')" && cmp out after &&
        (export TZ=UTC-2 && log 0 "$LOG" --since 2023-01-01T00:00Z) &&
        cp out z &&
        (export TZ=UTC-2 && log 0 "$LOG" --since 2023-01-01T02:00+02:00) &&
        cmp out z && log 0 "$LOG" --until 9000d && lines 0 &&
        log 0 "$LOG" --since 9000d && cmp out all || return 1
    for bad in yesterday 2026-02-31 2026-01-01T 2026-01-01x 2026-01-01T10:00+2 \
        2026-01-01T25:00 ''; do
        log 2 "$LOG" --since "$bad" && has err -- '--since: expected a time' ||
            return 1
    done
}

together() {
    log 0 "$LOG" --trial T3 --command ME --from 21 --json && lines 2 &&
        ! grep -v '"kind": "<".*T3' out
}

frame() { # CODE PAYLOAD
    printf '%s%014d%s' "$1" "$(printf %s "$2" | wc -c)" "$2"
}

start() { # a dispatcher that reads ./in and writes the log in d
    mkfifo in seen answers
    "$T" dispatch --grace 1h --tuner random --seed 1 --dir d --quiet < in > answers &
    dispatcher=$!
    exec 3> in 5< answers
    frame IN '{"x": {"_type": "uniform", "_value": [0, 1]}}' >&3
    dd bs=16 count=1 <&5 > id 2> dd # ID: there is a log
    "$T" log d --follow "$@" > seen 2> follow.err 3>&- 5<&- &
    follower=$!
    exec 4< seen
}

until_line() { # PATTERN: reads what the follower prints, up to that
    while IFS= read -r line <&4; do
        printf '%s\n' "$line" >> followed
        case $line in *$1*) return 0 ;; esac
    done
    fail "it ended without '$1': $(cat follow.err)"
}

rest() {
    cat <&4 >> followed
    wait $follower
    got=$?
    [ $got = 0 ] || fail "the follower: status $got, $(cat follow.err)"
}

follow_goes_on_until_the_end() {
    start
    until_line ' >t ID' || return 1
    frame GE 2 >&3
    until_line '"parameter_id": 1' || return 1
    frame ME '{"parameter_id": 0, "trial_job_id": "A", "type": "FINAL", "sequence": 0, "value": "1"}' >&3
    until_line ' <  ME' || return 1
    exec 3>&-
    rest && wait $dispatcher && "$T" log d | cmp - followed &&
        [ ! -s follow.err ] || fail "$(cat follow.err)"
}

# The TR comes before anything says which job runs it.
follow_of_one_trial() {
    start --trial 1
    frame GE 2 >&3
    until_line '>t TR{"parameter_id": 1,' || return 1
    frame NT '{"event": "started", "trial_job_id": "B", "parameter_id": 1}' >&3
    until_line '"started"' || return 1
    frame NT '{"event": "looked at", "trial_job_id": "B"}' >&3
    frame NT '{"event": "looked at", "trial_job_id": "C"}' >&3
    until_line '"looked at", "trial_job_id": "B"' || return 1
    exec 3>&-
    rest && wait $dispatcher && [ "$(wc -l < followed)" = 3 ] ||
        fail "$(cat followed)"
}

follow_notices_a_killed_writer() {
    start
    until_line ' >t ID' || return 1
    kill -9 $dispatcher
    rest && wait $dispatcher
    has follow.err 'nobody writes this log, and it has no end' &&
        exec 3>&-
}

# Of a finished log, and of a copy without a lock file, it is the whole.
follow_of_what_is_over() {
    log 0 "$LOG" && cp out all && log 0 "$LOG" --follow && cmp out all &&
        head -c 3000 "$LOG" > cut && log 0 cut --follow &&
        has err 'it has no end' && has err 'is cut off' &&
        log 5 nowhere --follow && has err 'nowhere: cannot open'
}

# A whole log stays as it is, a bit is turned back, more is cut away: what is
# left replays.  The log itself is never written.
repair() {
    log 0 "$LOG" --repair same && has out 'nothing is lost' &&
        cmp "$LOG" same || return 1
    cp "$LOG" bad && chmod u+w bad && printf xyz |
        dd of=bad bs=1 seek=5000 conv=notrunc 2> dd && cp bad kept || return 1
    log 0 bad --repair new && cmp bad kept &&
        has out 'kept       bytes 0 to ' && has out ': 31 whole records' &&
        has out 'lost       bytes ' && has out 'not kept   bytes ' &&
        has out 'commands 26 to 371, behind what is lost' &&
        "$T" replay new --verify > replayed && [ ! -e command.lock ] &&
        log 1 bad --repair new && has err 'new: exists' || return 1
    log 0 bad --repair json --json && lines 3 && cmp new json &&
        head -n 1 out | grep -q '^{"what": "kept", "offset": 0, "bytes": ' &&
        log 5 /dev/null --repair none && log 5 nowhere --repair none &&
        [ ! -e none ]
}

explain() { # STATUS WORDS...
    want=$1
    shift
    "$T" explain "$@" > out 2> err
    got=$?
    [ $got = "$want" ] || fail "explain $*: status $got: $(cat err)"
}

why_it_was_stopped() {
    explain 0 "$LOG" T3 &&
        has out 'trial       T3, parameter_id 3' &&
        has out 'by command 2 (GE)' &&
        has out 'tuner random: draw 3 of the prior' &&
        has out 'judged      4 times by assessor medianstop, at last at step 3 (command 29)' &&
        has out 'stopped     best value below the median of averages: 0.1007, limit 0.164625' &&
        has out 'over 1 completed trials: 0.164625' &&
        has out 'end         EARLY_STOPPED (command 30)' || return 1
    cp out plain
    explain 0 "$LOG" 3 && cmp out plain && explain 0 "$LOG" T3 --json &&
        lines 1 && has out '"verdict": {"command": 29, "step": 3, "stop": true, "decision": "stop", "rule": "best value below the median of averages", "value": 0.1007, "threshold": 0.164625, "why": [{"who": "assessor medianstop", "text": ' &&
        has out '"killed": 29, "decided": null, "final": null, "end": {"command": 30, "event": "EARLY_STOPPED"}}' &&
        explain 0 "$LOG" T2 && has out 'not stopped at that step' &&
        has out '; final 0.3961 (command 24)' || return 1
    explain 1 "$LOG" T99 && has err "nothing of a trial 'T99'" &&
        explain 2 "$LOG" && explain 2 && explain 5 nowhere 1 &&
        explain 3 "$TP_SOURCE/tests/data/logs/awkward.log" 0 &&
        has err "no tuner 'later'" &&
        explain 0 "$TP_SOURCE/tests/data/logs/awkward.log" 0 \
            --plugin-path "$PLUGINS" && has out 'tuner later did not say why'
}

# A log whose answers are not those of the replay explains nothing.
why_must_be_the_truth() {
    sed 's/"seed": 20/"seed": 21/g' "$LOG" > other
    explain 5 other T3 && has err 'checksum' || return 1
    head -c 200 "$LOG" > cut && explain 1 cut T3 && has err "nothing of"
}

# Of that log's 371 commands the 40th is the end of T0.
how_things_stood() {
    log 0 "$LOG" --at 40 && has out 'command 40, ' && has out 'space       set' &&
        has out '3 out, 4 finished, 0 ended without a result; 3 stopped' &&
        has out '  4            T4           0.313 at step 3' &&
        has out '  6            -            not heard of' && lines 11 || return 1
    log 0 "$LOG" --at 40 --json && lines 1 &&
        has out '{"parameter_id": "4", "trial_job_id": "T4", "attempt": 0, "out": true, "told": false, "stopped": false, "latest": {"step": 3, "value": 0.313}}' &&
        log 0 "$LOG" --at 371 && has out 'trials      0 out, 48 finished' ||
        return 1
    awkward=$TP_SOURCE/tests/data/logs/awkward.log
    log 3 "$awkward" --at 9 && log 0 "$awkward" --at 9 \
        --plugin-path "$PLUGINS" && has out 'owed        2 to 4' || return 1
    log 2 "$LOG" --at 372 && has err 'ends at command 371' &&
        log 2 "$LOG" --at 0 && log 2 "$LOG" --at 1 --follow &&
        has err 'only one of'
}

check "a trial by both names" a_trial_by_both_names
check "commands" commands
check "kinds" kinds
check "numbers" numbers
check "times" time_ranges
check "filters together" together
check "follow goes on until the end" follow_goes_on_until_the_end
check "follow of one trial" follow_of_one_trial
check "follow notices a killed writer" follow_notices_a_killed_writer
check "follow of what is over" follow_of_what_is_over
check "repair" repair
check "how things stood" how_things_stood
check "why it was stopped" why_it_was_stopped
check "why must be the truth" why_must_be_the_truth
finish
