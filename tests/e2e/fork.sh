#!/bin/sh
# SPDX-License-Identifier: MIT
# tunepipe fork: a new log from the beginning of another, and what goes on.
set -u
: "${TP_BUILD:?is not set: run the tests with make check}"
: "${TP_SOURCE:?is not set: run the tests with make check}"
. "$TP_SOURCE/tests/e2e/lib.sh"
LOGS=$TP_SOURCE/tests/data/logs
TUNEPIPE_PLUGIN_PATH=$PLUGINS
export TUNEPIPE_PLUGIN_PATH

fork_it() { # STATUS ARGUMENT...
    want=$1
    shift
    "$T" fork "$@" > out 2> err
    got=$?
    [ "$got" = "$want" ] || fail "fork $*: status $got, expected $want: $(cat err)"
}

wire() { "$TP_BUILD/tests/tools/wire" "$1"; }

inputs() { "$T" log "$1" --json | grep -E '"kind": "[<!][ta]?"' | tail -n 1 | sed 's/.*"number": \([0-9]*\),.*/\1/'; }

# each_moment LOG: at each input of it, in steps.
each_moment() {
    last=$(inputs "$1")
    n=1
    while [ "$n" -le "$last" ]; do
        fork_it 0 "$1" --at "$n" "f$n" || return 1
        "$T" replay "f$n" --verify > text || { cat text; return 1; }
        [ "$(inputs "f$n")" = "$n" ] || fail "f$n has another last input" || return 1
        "$T" dispatch --grace 1h --resume --dir "f$n" --quiet < /dev/null > frames 2>> err || return 1
        "$T" replay "f$n" --verify > text || { cat text; return 1; }
        grep -q '^identical: ' text || return 1
        rm -r "f$n"
        n=$((n + $2))
    done
}

golden_logs() {
    each_moment "$LOGS/awkward.log" 7 && each_moment "$LOGS/medianstop.log" 74
}

# Across ends and going on; a program is the tuner.
resumed_logs() {
    sed 's/\$DIR/./g; s|\$PLUGINS|'"$PLUGINS"'|g' \
        "$TP_SOURCE/tests/transcripts/resume-stopped.wire" > s.wire && wire s.wire > said || { cat said; return 1; }
    each_moment log 1 && mv log old || return 1
    fork_it 0 old --at 8 all && "$T" log old > a && "$T" log all > b &&
        grep -c ' <  ' a > n && grep -c ' <  ' b | cmp n - && grep -q ' R ' b
}

a_program() {
    command -v python3 > /dev/null || { echo "needs python3"; return 77; }
    cat > s.wire << END
run dispatch --tuner exec --seed 3 --tuner-args {"command":["python3","$TP_SOURCE/tuners/exec/tuner.py"]} --dir log
> IN {"x": {"_type": "uniform", "_value": [0, 8]}}
< ID
> GE 2
< TR {"parameter_id": 0, *
< TR {"parameter_id": 1, *
> GE 1
< TR {"parameter_id": 2, *
eof
exit 0
END
    wire s.wire > said || { cat said; return 1; }
    "$T" log log | grep -q ' <t ' || fail "no program in the log" || return 1
    each_moment log 1
}

# What comes behind a fork is what came behind it in the old log.
it_goes_on_as_it_did() {
    cat > s.wire << END
run dispatch --tuner random --seed 5 --assessor stops_at --assessor-args {"step":2} --dir log
> IN {"x": {"_type": "uniform", "_value": [0, 8]}}
< ID
> GE 2
< TR {"parameter_id": 0, *
< TR {"parameter_id": 1, *
> ME {"parameter_id": 0, "trial_job_id": "A", "type": "PERIODICAL", "sequence": 0, "value": "1"}
> GE 1
< TR {"parameter_id": 2, *
> ME {"parameter_id": 0, "trial_job_id": "A", "type": "PERIODICAL", "sequence": 1, "value": "1"}
< KI "A"
> TE
exit 0
END
    wire s.wire > said || { cat said; return 1; }
    fork_it 0 log --at 3 new && has out "new: 3 inputs and 3 answers" &&
        has out "to go on: tunepipe dispatch --resume --dir new" || return 1
    sed -e '1s/.*/run dispatch --resume --dir new/' -e '2,7d' s.wire > rest.wire
    wire rest.wire > said || { cat rest.wire said; return 1; }
    for d in log new; do
        "$T" log $d --json | grep -E '"kind": "(<|>t|>a)"' |
            sed 's/.*"number": \([0-9]*\),.*"payload"/\1/' | sort > $d.frames
    done
    cmp log.frames new.frames && "$T" replay new --verify > text
}

# A KI that had not been written yet, a stop that has not happened.
what_was_on_its_way() {
    "$T" log "$LOGS/awkward.log" --json | grep -c '"kind": "S"' > skipped
    [ "$(cat skipped)" -gt 80 ] || return 1
    fork_it 0 "$LOGS/awkward.log" --at 40 new && has out " more follow when it goes on" &&
        ! "$T" log new | grep -qE ' (S|E) ' || return 1
    "$T" log new | tail -n 1 | grep -q ' M  $'
}

another_assessor() {
    fork_it 0 "$LOGS/medianstop.log" --at 100 new --assessor stops_at --assessor-args '{"step": 1}' || return 1
    "$T" log new | head -n 1 | grep -q '"assessor": {"name": "stops_at", .*"arguments": {"step": 1}}' || return 1
    "$T" replay new --verify > text || { cat text; return 1; }
    # It says of each trial that reported what it would have; living ones hear.
    told=$("$T" log new | grep -c ' >a KI')
    ended=$("$T" log new | grep -c ' <  EN')
    [ "$told" = "$ended" ] || fail "$told KI on record, $ended trials ended" || return 1
    has out " more follow" || return 1
    "$T" dispatch --grace 1h --resume --dir new --quiet < /dev/null > frames && grep -q 'KI000000000000' frames &&
        "$T" replay new --verify > text || return 1
    fork_it 0 "$LOGS/medianstop.log" --at 100 none --no-assessor || return 1
    "$T" log none | head -n 1 | grep -q '"assessor": null' && ! "$T" log none | grep -q ' >a ' || return 1
    fork_it 0 "$LOGS/medianstop.log" --at 100 args --assessor-args '{"start_step": 2}' || return 1
    "$T" log args | head -n 1 | grep -q '"name": "medianstop", .*"start_step": 2' || return 1
    # Reports in step of trials that had ended had their answer.
    fork_it 0 "$LOGS/awkward.log" --at 40 steps --assessor stops_at --assessor-args '{"step": 1}' || return 1
    "$T" log steps | grep -q ' >a AK' && "$T" replay steps --verify > text
}

changes_that_matter_later() {
    fork_it 0 "$LOGS/medianstop.log" --at 1 seed --seed 7 || return 1
    "$T" log seed | head -n 1 | grep -q '"seed": 7, ' || return 1
    fork_it 0 "$LOGS/medianstop.log" --at 1 tuner --tuner grid || return 1
    "$T" log tuner | head -n 1 | grep -q '"tuner": {"name": "grid"' || return 1
    fork_it 0 "$LOGS/medianstop.log" --at 100 policy --on-error fail --ask-error prior --early-stopped ignore || return 1
    "$T" log policy | head -n 1 |
        grep -q '"early_stopped": "ignore", "on_error": "fail", "ask_error": "prior"'
}

# A log from before there was one says it by `maximize`.
the_direction() {
    fork_it 0 "$LOGS/medianstop.log" --at 1 new --tuner tpe --assessor medianstop &&
        head -n 2 new/command.log > head && lacks head '"direction"' &&
        lacks head minimize || return 1
    [ "$(grep -o '"optimize_mode": "maximize"' head | wc -l)" = 2 ] || fail "$(cat head)" || return 1
    fork_it 3 "$LOGS/medianstop.log" --at 1 other --tuner tpe --tuner-args '{"optimize_mode": "minimize"}' &&
        has err "tuner tpe: optimize_mode: is minimize, and the experiment's direction is maximize" && [ ! -e other ]
}

changes_that_would_change_the_past() {
    fork_it 2 "$LOGS/medianstop.log" --at 100 new --seed 7 || return 1
    has err "with these changes the answers up to there would have been others" &&
        has err "command 2, tuner: recorded TR" && [ "$(wc -l < err)" = 1 ] &&
        [ ! -e new ] || fail "new was left behind" || return 1
    fork_it 2 "$LOGS/medianstop.log" --at 100 new --tuner grid && [ ! -e new ] &&
        fork_it 2 "$LOGS/medianstop.log" --at 9 new --assessor exec --assessor-args '{"command": "x"}' &&
        has err "--assessor exec: expected a plugin" && [ ! -e new ]
}

refused() {
    fork_it 2 "$LOGS/medianstop.log" --at 372 new &&
        has err "ends at command 371, expected at most that, not 372" && [ ! -e new ] &&
        fork_it 2 "$LOGS/medianstop.log" new && has err "expected --at-trial TRIAL, or --at N" &&
        fork_it 2 "$LOGS/medianstop.log" --at 1 --at-trial 1 new && has err "expected --at or --at-trial" &&
        fork_it 1 "$LOGS/medianstop.log" --at-trial nobody new && has err "nothing of a trial 'nobody'" && [ ! -e new ] &&
        fork_it 2 "$LOGS/medianstop.log" --at 1 && fork_it 5 nowhere --at 1 new && [ ! -e new ] &&
        fork_it 2 "$LOGS/medianstop.log" --at 1 new --no-assessor --assessor medianstop &&
        fork_it 2 "$LOGS/medianstop.log" --at 1 new --seed x &&
        fork_it 2 "$LOGS/medianstop.log" --at 1 new --tuner-args '[' &&
        fork_it 3 "$LOGS/medianstop.log" --at 1 new --assessor nobody && [ ! -e new ] || return 1
    fork_it 0 "$LOGS/medianstop.log" --at 3 early && fork_it 2 early --at-trial 0 new &&
        has err "trial '0' has not ended in this log, expected one that has, or --at N" && [ ! -e new ] || return 1
    fork_it 0 "$LOGS/medianstop.log" --at 1 new && cp new/command.log kept &&
        fork_it 5 "$LOGS/medianstop.log" --at 2 new && cmp kept new/command.log &&
        has err "an experiment is recorded there already"
}

a_folder_of_run() {
    experiment 'maxTrialNumber: 4' << 'E'
"$TP_BUILD/tunepipe" trial report --final 1
E
    run 0 || return 1
    # Up to the end of the second trial.
    at=$("$T" log "$dir" --json | grep '"payload": "EN' | sed -n '2s/.*"number": \([0-9]*\),.*/\1/p')
    second=$(sed -n '2s/.*"trial": "\([0-9]*\)".*/\1/p' "$dir/results.jsonl")
    fork_it 0 "$dir" --at-trial "$second" there && fork_it 0 "$dir" --at "$at" again &&
        cmp there/command.log again/command.log && has there/experiment.json '"forked_at": '"$at" && has out "to go on: tunepipe resume again" || return 1
    cmp "$dir/config.yml" again/config.yml && cmp "$dir/search_space.json" again/search_space.json &&
        head -n 2 "$dir/results.jsonl" | cmp - again/results.jsonl && [ -d again/trials ] || return 1
    has again/experiment.json '{"id": "again", ' && has again/experiment.json '"forked_at": '"$at" &&
        has again/experiment.json '"seed": 1,' && lacks again/experiment.json '"pid"' || return 1
    "$T" show again > shown || return 1
    has shown again && has shown "state:  forked, not started" && has shown "go on:  tunepipe resume $PWD/again" || return 1
    "$T" status again > status && has status "state       forked: not started" &&
        has status "go on       tunepipe resume $PWD/again" || return 1
    ! "$T" stop again 2> err && has err "again is a fork that was not started; to start it: tunepipe resume $PWD/again" || return 1
    [ "$(stat -c %a again)" = 700 ] && [ "$(stat -c %a again/config.yml)" = 600 ] || return 1
    echo 1 > again/manager.pid # somebody went on with it, and is gone
    "$T" show again > shown && has shown "its manager died"
}

# With other trials running at that moment, which are started again.
a_fork_is_resumed() {
    "$T" --verbs | grep -q '^resume' || { echo "needs tunepipe resume"; return 77; }
    experiment 'maxTrialNumber: 6' 'trialConcurrency: 2' << 'E'
"$TP_BUILD/tunepipe" trial report --final "$("$TP_BUILD/tunepipe" trial param x)"
E
    run 0 || return 1
    table() {
        "$T" show "$1" --json | sed 's/.*"trials": //' |
            grep -oE '"parameter_id": [0-9]+|"value": [^,]*|"parameters": [{][^}]*[}]' |
            paste - - - | sort
    }
    table "$dir" > want
    [ "$(wc -l < want)" = 6 ] || fail "$(cat want)" || return 1
    for n in 2 5 14 20; do
        fork_it 0 "$dir" --at $n f$n || return 1
        "$T" resume f$n > resumed 2>&1 || { cat resumed; return 1; }
        table f$n | cmp - want && "$T" replay f$n --verify > text || { cat text; return 1; }
    done
}

check "fork: golden logs" golden_logs
check "fork: resumed logs" resumed_logs
check "fork: a program" a_program
check "fork: it goes on as it did" it_goes_on_as_it_did
check "fork: what was on its way" what_was_on_its_way
check "fork: another assessor" another_assessor
check "fork: changes that matter later" changes_that_matter_later
check "fork: the direction" the_direction
check "fork: changes that would change the past" changes_that_would_change_the_past
check "fork: refused" refused
check "fork: a folder of run" a_folder_of_run
check "fork: one is resumed" a_fork_is_resumed
finish
