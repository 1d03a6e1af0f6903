#!/bin/sh
# SPDX-License-Identifier: MIT
# An experiment's results as a database, a table, and pages.
# not under tsan
. "$(dirname "$0")/lib.sh"

needs_sqlite() {
    [ -e "$TP_BUILD/lib/sqlite.so" ] || { echo "no SQLite"; return 77; }
}

# same_as_rebuilt: the page of the database that is there is that of a new one,
# and of none.
same_as_rebuilt() {
    page="show $dir --sort value --per-page 1000 --json"
    # shellcheck disable=SC2086
    "$T" $page > there && "$T" index --rebuild "$dir" > out &&
        "$T" $page > anew && rm "$dir/results.db" && "$T" $page > files ||
        return 1
    cmp there anew && cmp there files
}

nasty() {
    experiment 'maxTrialNumber: 4' 'trialConcurrency: 2' \
        'tuner: {name: gridsearch}' \
        'searchSpace: {"a,b": {_type: choice, _value: ["q\"u", "n\nl", "é,", ";"]}}' << 'E'
tunepipe trial report NaN
[ "$TUNEPIPE_TRIAL_ID" = 00001 ] && exec tunepipe trial report --final NaN
tunepipe trial report --final 1e-05
E
    run 0 && "$T" export "$dir" --csv > csv && "$T" export "$dir" --json > json &&
        "$T" export "$dir" --csv --intermediate --out more || return 1
    [ "$(head -n 1 csv)" = 'trial,status,value,latest,duration_s,attempts,intermediates,ended_by,why,from,from_how,"a,b"' ] ||
        fail "head: $(head -n 1 csv)" || return 1
    has csv '"q""u"' && has csv '"n' && has csv '"é,"' && has csv ',;' &&
        has csv ',succeeded,1e-05,,' && has more ',0,final,0,NaN,NaN,' &&
        has more ',0,intermediate,0,NaN,NaN,' &&
        has json '"a,b": "q\"u"' || return 1
    [ "$(grep -c '^{"trial": ' json)" = 4 ] || fail "$(cat json)" || return 1
    ! command -v python3 > /dev/null || python3 - << 'E'
import csv, json
rows = list(csv.DictReader(open("csv", newline="")))
objects = json.load(open("json"))
assert [r["trial"] for r in rows] == [o["trial"] for o in objects]
assert [r["a,b"] for r in rows] == [o["parameters"]["a,b"] for o in objects]
assert {r["a,b"] for r in rows} == {'q"u', "n\nl", "é,", ";"}
assert all(r["attempts"] == "1" == str(o["attempts"])
           for r, o in zip(rows, objects))
E
}
check "an export of nasty parameters" nasty

# The third trial waits for a file's line, not for a time.
while_it_runs() {
    needs_sqlite || return
    experiment 'maxTrialNumber: 4' 'trialConcurrency: 2' << 'E'
tunepipe trial report 1
if [ "$TUNEPIPE_TRIAL_ID" = 00002 ]; then
    d=$TUNEPIPE_EXPERIMENT_DIR
    until grep -q '"00000"' "$d/results.jsonl"; do sleep 0.01; done
    tunepipe index "$d" > "$HERE/index" 2>&1
    tunepipe show "$d" --sort trial > "$HERE/page" 2>&1
    tunepipe show "$d" --json > "$HERE/running"
fi
tunepipe trial report --final "1$TUNEPIPE_TRIAL_ID"
E
    run 0 && has index 'records of the log and' && has page 'by trial' &&
        lacks page warning && lacks running '"trial": "00002"' || return 1
    "$T" index "$dir" > out && has out ' added' && same_as_rebuilt
}
check "an index while the experiment runs" while_it_runs

after_a_kill() {
    needs_sqlite || return
    experiment 'maxTrialNumber: 4' << 'E'
if [ "$TUNEPIPE_TRIAL_ID" = 00002 ] && [ ! -e "$HERE/once" ]; then
    : > "$HERE/once"
    tunepipe index "$TUNEPIPE_EXPERIMENT_DIR" > "$HERE/index" 2>&1
    kill -9 "$(cat "$HERE/pid")"
fi
tunepipe trial report --final 5
E
    run 137 && "$T" index "$dir" > out 2>&1 && has out ' added' || return 1
    HERE=$PWD "$T" resume "$dir" > out 2> err || return 1
    "$T" index "$dir" > out && has out ' added' &&
        "$T" show "$dir" --status succeeded > page &&
        has page 'trials 1 to 4 of 4' && same_as_rebuilt
}
check "an index over a kill -9 and a resumption" after_a_kill

# Trials of 6 s, in each of which a manager dies, to be resumed half a minute
# behind its end: that time is nobody's.
crashed() {
    "$TP_BUILD/tests/tools/madeup" crashed crashed 2 &&
        "$T" export crashed --csv --intermediate > metrics &&
        has metrics ',1767225606000000' && has metrics ',1767225646000000' ||
        return 1
    needs_sqlite || return
    "$T" index crashed > said || return 1
    ! command -v python3 > /dev/null || python3 - << 'E'
import sqlite3
db = sqlite3.connect("crashed/results.db")
ask = lambda text: db.execute(text).fetchall()
assert ask("SELECT exited_us - started_us FROM attempts") == [(6000000,)] * 2
assert ask("SELECT ended_us - started_us FROM trials") == [(6000000,)] * 2
assert ask("SELECT after_s FROM v_metrics") == [(6.0,)] * 2
E
}
check "nobody ran in the time between a crash and the resumption" crashed

# The log is there, and nothing was begun.
void_log_with_results() {
    "$TP_BUILD/tests/tools/madeup" void plain 20 || return 1
    for bytes in 0 4096; do
        head -c "$bytes" /dev/zero > void/command.log
        "$T" report void --json > out && has out '"attempts":[]' &&
            "$T" export void --csv > out && has out 00001,succeeded &&
            "$T" export void --csv --intermediate > out || return 1
        [ "$(cat out)" = trial,attempt,type,sequence,value,said,time_us ] ||
            fail "$(cat out)" || return 1
        [ ! -e "$TP_BUILD/lib/sqlite.so" ] ||
            "$T" index --rebuild void > out || return 1
    done
}
check "a log that is void" void_log_with_results

# Three beside each other, one of which dies at any moment.
killed_indexers() {
    needs_sqlite || return
    experiment 'maxTrialNumber: 12' 'trialConcurrency: 4' << 'E'
tunepipe trial report 1
tunepipe trial report --final "0.$TUNEPIPE_TRIAL_ID"
E
    run 0 || return 1
    for i in 1 2 3 4 5 6 7 8 9 10; do
        "$T" index --rebuild "$dir" > out.1 2>&1 &
        first=$!
        "$T" index --rebuild "$dir" > out.2 2>&1 &
        victim=$!
        "$T" index "$dir" > out.3 2>&1 &
        third=$!
        kill -9 $victim 2> /dev/null
        wait $first && wait $third ||
            fail "$i: $(cat out.1 out.3)" || return 1
        wait $victim
    done
    "$T" index "$dir" > out 2>&1 && has out ' 0 results added' &&
        same_as_rebuilt
}
check "indexers beside each other, and killed" killed_indexers

damaged() {
    needs_sqlite || return
    experiment 'maxTrialNumber: 2' << 'E'
tunepipe trial report --final 5
E
    run 0 && "$T" index "$dir" > out || return 1
    for size in 0 100 5000; do
        head -c "$size" "$dir/results.db" > cut && cp cut "$dir/results.db"
        "$T" index "$dir" > out 2>&1 && has out '2 results read' || return 1
    done
    echo junk > "$dir/results.db"
    "$T" show "$dir" --page 1 > out 2>&1 && has out 'trials 1 to 2 of 2' ||
        return 1
    # One that cannot be replaced: the files tell.
    rm "$dir/results.db" && mkdir "$dir/results.db"
    "$T" show "$dir" --page 1 > out 2>&1 && has out 'trials 1 to 2 of 2' &&
        has out 'the files are read instead' || return 1
    "$T" index "$dir" > out 2>&1
    [ $? = 1 ] || fail "an index in place of a folder"
}
check "a damaged database" damaged

# The last trial ends when the database knows the first.
kept_up_to_date() {
    needs_sqlite || return
    experiment 'index: true' 'maxTrialNumber: 3' << 'E'
if [ "$TUNEPIPE_TRIAL_ID" = 00002 ]; then
    until [ -e "$TUNEPIPE_EXPERIMENT_DIR/results.db" ]; do sleep 0.01; done
fi
tunepipe trial report --final 5
E
    run 0 || return 1
    [ -e "$dir/index.log" ] && [ ! -s "$dir/index.log" ] ||
        fail "index.log: $(cat "$dir/index.log" 2>&1)" || return 1
    "$T" index "$dir" > out && same_as_rebuilt
}
check "a database that is kept up to date" kept_up_to_date

followed() {
    needs_sqlite || return
    experiment 'maxTrialNumber: 2' << 'E'
tunepipe trial report --final 5
E
    run 0 && "$T" index --follow "$dir" > out 2>&1 || return 1
    "$T" index "$dir" > out && has out ' 0 records' && same_as_rebuilt
}
check "an experiment that is over, followed" followed

# One whose dispatcher, or the power, was gone before its log was begun: an
# empty one, whatever there is of the file.
void_log() {
    needs_sqlite || return
    echo 'tunepipe trial report --final 1' | experiment 'maxTrialNumber: 1'
    run 0 && cp -r "$dir" none && rm -r none/command.* none/trials none/summary.json &&
        mkdir none/trials && : > none/results.jsonl || return 1
    whole=$(wc -c < "$dir/command.log")
    for kind in empty zeros head; do
        cp -r none $kind || return 1
        case $kind in
        empty) : > $kind/command.log ;;
        zeros) head -c 5000 /dev/zero > $kind/command.log ;;
        head) head -c 99 "$dir/command.log" > $kind/command.log ;;
        esac
        [ "$whole" -gt 99 ] || return 1
        for verb in 'show --json' 'export --json' 'export --csv' \
            'export --csv --intermediate' 'show --sort value --json'; do
            # shellcheck disable=SC2086
            "$T" $verb none > want && "$T" $verb $kind > got 2> err &&
                [ ! -s err ] || fail "$verb $kind: $(cat err)" || return 1
            sed "s|$PWD/none|$PWD/$kind|; s|\"none|\"$kind|" want | cmp - got ||
                return 1
        done
        [ "$("$T" report $kind)" = "$kind/report.html: 0 trials" ] &&
            [ "$("$T" index $kind)" = "$kind/results.db: 0 records of the log and 0 results read" ] &&
            "$T" index $kind > out && "$T" index --rebuild $kind > out || return 1
        "$T" log $kind > out 2> err && [ ! -s out ] &&
            [ "$(cat err)" = "tunepipe log: $kind/command.log: has no head: it was never begun" ] ||
            fail "log $kind: $(cat err)" || return 1
        "$T" log --json $kind/command.log > out 2> err && [ ! -s out ] || return 1
        "$T" replay --verify $kind 2> err
        [ $? = 5 ] && has err 'head record' || return 1
        "$T" explain $kind 1 2> err
        [ $? = 1 ] && has err "nothing of a trial '1'" || return 1
    done
    dir=zeros
    resume 0 && "$T" index zeros > out && has out '1 results added' &&
        "$T" log zeros | grep -q EN
}
check "a log that was never begun is an empty one" void_log

no_sqlite() {
    mkdir bare && cp "$T" bare/ && experiment 'maxTrialNumber: 2' << 'E'
tunepipe trial report --final 5
E
    run 0 || return 1
    bare/tunepipe index "$dir" > out 2>&1
    [ $? = 3 ] && [ "$(cat out)" = "tunepipe index: error: tunepipe index needs lib/sqlite.so, which this build lacks: install libsqlite3-dev and make again" ] ||
        fail "$(cat out)" || return 1
    echo 'index: true' >> e.yml
    bare/tunepipe run e.yml > out 2>&1
    [ $? = 3 ] && has out 'index: true needs lib/sqlite.so' || return 1
    bare/tunepipe show "$dir" --sort value > out 2>&1 &&
        has out 'trials 1 to 2 of 2, by value' && lacks out warning &&
        bare/tunepipe export "$dir" --csv > out && has out 00001
}
check "a build without SQLite" no_sqlite

words() {
    "$T" index . > out 2>&1
    [ $? = 3 ] || fail "index of no experiment: $(cat out)" || return 1
    "$T" export . --csv > out 2>&1
    [ $? = 3 ] || fail "export of no experiment: $(cat out)" || return 1
    "$T" export . > out 2>&1
    [ $? = 2 ] && has out 'expected one of --csv and --json' || return 1
    "$T" show . --sort valu > out 2>&1
    [ $? = 2 ] && has out "did you mean 'value'" || return 1
    "$T" show . --status succeded > out 2>&1
    [ $? = 2 ] && has out "did you mean 'succeeded'" || return 1
    "$T" show . --all --page 2 > out 2>&1
    [ $? = 2 ] && has out 'not both' || return 1
    "$T" show . --page 0 > out 2>&1
    [ $? = 2 ] || fail "page 0" || return 1
    "$T" show . --per-page 0 > out 2>&1
    [ $? = 2 ] || fail "pages of nothing"
}
check "words that are wrong" words
# What a spreadsheet would take for a formula.
formulas() {
    experiment 'maxTrialNumber: 6' \
        "searchSpace: {'=a': {_type: choice, _value: ['=1+1', '+x', '-y', '@z,\"', -3, 'b']}}" \
        'tuner: {name: grid}' << 'E'
tunepipe trial report '{"default": -1, "s": "=2"}'
tunepipe trial report --final -1
E
    run 0 && "$T" export "$dir" --csv > csv && has csv ',=1+1' &&
        has csv ',"@z,""' && "$T" export "$dir" --csv --safe > csv &&
        has csv ",'=a" && has csv ",'=1+1" && has csv ",'+x" &&
        has csv ",'-y" && has csv ",\"'@z,\"\"" && has csv ',-3' &&
        has csv ',b' && has csv ',succeeded,-1.0,' || return 1
    "$T" export "$dir" --json --safe > out 2>&1
    [ $? = 2 ] && has out '--safe goes with --csv'
}
check "cells that a spreadsheet would run" formulas

finish
