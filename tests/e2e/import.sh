#!/bin/sh
# SPDX-License-Identifier: MIT
# Finished trials from elsewhere: `tunepipe import`, the key `import`.
# not under tsan
. "$(dirname "$0")/lib.sh"

space='searchSpace: {x: {_type: uniform, _value: [0, 1]}, o: {_type: choice, _value: [a, "b\"c"]}}'

# imported N [WORD...] SOURCE...: so many trials, in i.jsonl; import.out.
imported() {
    want=$1
    shift
    "$T" import --into i.jsonl "$@" > import.out 2> import.err ||
        fail "$(cat import.out import.err)" || return 1
    [ "$(wc -l < i.jsonl)" = "$want" ] || fail "$(wc -l < i.jsonl) trials"
}

# database FILE < SQL: a database of SQLite.
database() {
    python3 -c 'import sqlite3' 2>&- && [ -e "$TP_BUILD/lib/sqlite.so" ] ||
        { echo 'no sqlite3 of Python, or built without SQLite'; return 77; }
    python3 -c 'import sqlite3, sys
sqlite3.connect(sys.argv[1]).executescript(sys.stdin.read())' "$1"
}

# The tables of each, as it makes them.
cat > "$work/optuna.sql" << 'E'
CREATE TABLE studies (study_id INTEGER PRIMARY KEY, study_name VARCHAR(512));
CREATE TABLE study_directions (study_direction_id INTEGER PRIMARY KEY,
    direction VARCHAR(8), study_id INTEGER, objective INTEGER);
CREATE TABLE trials (trial_id INTEGER PRIMARY KEY, number INTEGER,
    study_id INTEGER, state VARCHAR(8));
CREATE TABLE trial_params (param_id INTEGER PRIMARY KEY, trial_id INTEGER,
    param_name VARCHAR(512), param_value FLOAT, distribution_json TEXT,
    UNIQUE (trial_id, param_name));
CREATE TABLE trial_values (trial_value_id INTEGER PRIMARY KEY,
    trial_id INTEGER, objective INTEGER, value FLOAT, value_type VARCHAR(7),
    UNIQUE (trial_id, objective));
E
cat > "$work/nni.sql" << 'E'
CREATE TABLE TrialJobEvent (timestamp integer, trialJobId text, event text,
    data text, logPath text, sequenceId integer, message text);
CREATE INDEX TrialJobEvent_trialJobId ON TrialJobEvent(trialJobId);
CREATE INDEX TrialJobEvent_event ON TrialJobEvent(event);
CREATE TABLE MetricData (timestamp integer, trialJobId text, parameterId text,
    type text, sequence integer, data text);
CREATE INDEX MetricData_trialJobId ON MetricData(trialJobId);
CREATE INDEX MetricData_type ON MetricData(type);
CREATE TABLE ExperimentProfile (params text, id text, execDuration integer,
    startTime integer, endTime integer, logDir text, nextSequenceId integer,
    revision integer);
INSERT INTO ExperimentProfile VALUES ('{"tuner": {"builtinTunerName": "TPE", "classArgs": {"optimize_mode": "minimize"}}}', 'a1b2', 1, 1, 1, '', 1, 1);
E

# told N: the dispatcher was told of imports once, of N trials.
told() {
    "$T" log "$dir" > log
    [ "$(grep -c '<  FD' log)" = 1 ] ||
        fail "$(grep -c '<  FD' log) FD" || return 1
    n=$(grep '<  FD' log | grep -o '"parameter"' | wc -l)
    [ "$n" = "$1" ] || fail "$n trials told, expected $1"
}

csv() {
    printf '%s\r\n' 'x,o,value,"odd, name",trial' '0.25,a,1.5,,1' \
        '"0.5","b""c",-2e-1,"two lines",2' '0.75,a,,,3' '1,a,nan,,4' '1,a' \
        > t.csv
    imported 2 t.csv && cat > want << 'E'
{"parameter": {"x": 0.25, "o": "a", "trial": 1}, "value": 1.5, "from": "t.csv: line 2"}
{"parameter": {"x": "0.5", "o": "b\"c", "odd, name": "two lines", "trial": 2}, "value": -0.2, "from": "t.csv: line 3"}
E
    cmp want i.jsonl && has import.out 'i.jsonl: 2 trials' &&
        has import.out 'left out: 1 of them: no value' &&
        has import.out 'left out: 1 of them: its value is no finite number' &&
        has import.out 'left out: 1 of them: a row with another number' ||
        return 1
    imported 4 --value trial t.csv || return 1
    "$T" import --into j --value valu t.csv 2> err
    [ $? = 3 ] && has err "t.csv: no column 'valu' for the values (did you mean" &&
        [ ! -e j ] || return 1
    printf 'value,x\n1,"a\n' > open.csv
    "$T" import --into j open.csv 2> err
    [ $? = 3 ] && has err 'open.csv: line 2: a quote stays open' || return 1
    printf 'x,value,x,,\n1,2,3,,\n' > twice.csv
    "$T" import --into j twice.csv 2> err
    [ $? = 3 ] && has err "twice.csv: line 1: columns 1 and 3 are both 'x'" &&
        printf 'x,value,,\n1,2,,\n' > sheet.csv && imported 1 sheet.csv
}
check "CSV" csv

journal() {
    cat > j.log << 'E'
{"op_code": 0, "worker_id": "w", "study_name": "s", "directions": [1]}
{"op_code": 2, "worker_id": "w", "study_id": 0, "user_attr": {"k": 1}}
{"op_code": 4, "worker_id": "w", "study_id": 0, "datetime_start": "2024-01-01T00:00:00.000000"}
{"op_code": 5, "worker_id": "w", "trial_id": 0, "param_name": "x", "param_value_internal": 0.5, "distribution": "{\"name\": \"FloatDistribution\", \"attributes\": {\"step\": null, \"low\": 0.0, \"high\": 1.0, \"log\": false}}"}
{"op_code": 5, "worker_id": "w", "trial_id": 0, "param_name": "o", "param_value_internal": 1, "distribution": "{\"name\": \"CategoricalDistribution\", \"attributes\": {\"choices\": [\"a\", \"b\\\"c\"]}}"}
{"op_code": 4, "worker_id": "v", "study_id": 0, "datetime_start": "2024-01-01T00:00:00.000000"}
{"op_code": 6, "worker_id": "w", "trial_id": 0, "state": 1, "values": [2.5], "datetime_complete": "2024-01-01T00:00:01.000000"}
{"op_code": 6, "worker_id": "w", "trial_id": 0, "state": 3, "values": [9], "datetime_complete": "2024-01-01T00:00:01.000000"}
{"op_code": 5, "worker_id": "v", "trial_id": 1, "param_name": "x", "param_value_internal": 0.5, "distribution": "{\"name\": \"StrangeDistribution\", \"attributes\": {}}"}
{"op_code": 6, "worker_id": "v", "trial_id": 1, "state": 1, "values": [1], "datetime_complete": "2024-01-01T00:00:01.000000"}
{"op_code": 4, "worker_id": "w", "study_id": 0, "datetime_start": null, "state": 1, "value": 4, "datetime_complete": "2024-01-01T00:00:01.000000", "distributions": {"n": "{\"name\": \"IntDistribution\", \"attributes\": {\"log\": false, \"step\": 1, \"low\": 1, \"high\": 9}}"}, "params": {"n": 3.0}, "user_attrs": {}, "system_attrs": {}, "intermediate_values": {}}
{"op_code": 4, "worker_id": "w", "study_id": 0, "datetime_start": null, "state": 2, "value": 4}
{"op_code": 4, "worker_id": "w", "study_id": 0, "datetime_start": "2024-01-01T00:00:00.000000"}
{"op_code": 77, "worker_id": "w"}
{"op_code": 4, "worker_id": "w", "stu
E
    imported 2 j.log && cat > want << 'E'
{"parameter": {"x": 0.5, "o": "b\"c"}, "value": 2.5, "minimize": true, "from": "j.log: s, trial 0"}
{"parameter": {"n": 3}, "value": 4.0, "minimize": true, "from": "j.log: s, trial 2"}
E
    cmp want i.jsonl &&
        has import.out "1 of them: parameter 'x' is of an unknown kind, 'StrangeDistribution'" &&
        has import.out 'left out: 1 of them: PRUNED' &&
        has import.out 'left out: 1 of them: RUNNING' &&
        has import.out 'operations 77, which are not known' &&
        has import.out 'line 15 of the journal, which is no JSON' || return 1
    {
        cat j.log
        echo
        echo '{"op_code": 0, "study_name": "t", "directions": [1, 2]}'
        echo '{"op_code": 4, "study_id": 1, "state": 1, "values": [1, 2]}'
    } > k.log
    "$T" import --into i.jsonl k.log 2> err
    [ $? = 3 ] && has err 'k.log: has 2 studies: --study names one' || return 1
    "$T" import --into i.jsonl --study none k.log 2> err
    [ $? = 3 ] && has err "k.log: has no study 'none'" || return 1
    imported 1 --study t --value 1 k.log &&
        has i.jsonl '"value": 2.0, "minimize": false' || return 1
    imported 1 --study t k.log && has i.jsonl \
        '"values": [1.0, 2.0], "directions": ["minimize", "maximize"]'
}
check "Optuna's journal" journal

# Several values go to an experiment whose objectives have these directions.
several_values() {
    experiment 'maxTrialNumber: 2' 'tuner: {name: random}' 'import: i.jsonl' \
        'objectives: [{name: a, direction: minimize}, {name: b, direction: maximize}]' \
        'searchSpace: {x: {_type: uniform, _value: [0, 1]}}' << 'E'
tunepipe trial report --final a=1 b=2
E
    point='{"parameter": {"x": 0.5},'
    echo "$point"' "values": [1, 2], "directions": ["minimize", null]}' > i.jsonl
    run 0 && "$T" log "$dir" > out &&
        has out "$point"' "value": {"a": 1, "b": 2}}' || return 1
    echo "$point"' "values": [1, 2], "directions": ["maximize", null]}' > i.jsonl
    "$T" run --dry-run e.yml > out 2> err
    [ $? = 3 ] && has err "i.jsonl:1: is from a search with other 'directions'" ||
        fail "$(cat err)" || return 1
    echo "$point"' "value": {"a": 1}}' > i.jsonl
    "$T" run --dry-run e.yml > out 2> err
    [ $? = 3 ] && has err "i.jsonl:1: no value 'b', reported is 'a'" ||
        fail "$(cat err)"
}
check "several values" several_values

# Some that do not say their directions, and one with more than we know of.
strange_studies() {
    cat > s.log << 'E'
{"op_code": 0, "study_name": "none"}
{"op_code": 0, "study_name": "word", "directions": 3}
{"op_code": 0, "study_name": "ten", "directions": [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]}
{"op_code": 4, "study_id": 0, "state": 1, "values": [1]}
{"op_code": 4, "study_id": 2, "state": 1, "values": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]}
E
    imported 1 --study ten --value 9 s.log &&
        has import.out '2 of them: operations 0 without what they need' &&
        [ "$(cat i.jsonl)" = '{"parameter": {}, "value": 9.0, "from": "s.log: ten, trial 0"}' ] ||
        fail "$(cat i.jsonl)" || return 1
    for study in none word; do
        "$T" import --into j --study $study s.log > out 2> err
        [ $? = 1 ] && has err 'no finished trial' || return 1
    done
}
check "studies of a journal without their directions" strange_studies

optuna() {
    cat "$work/optuna.sql" - << 'E' | database o.db || return
INSERT INTO studies VALUES (1, 'one'), (2, 'two');
INSERT INTO study_directions VALUES (1, 'MAXIMIZE', 1, 0),
    (2, 'MINIMIZE', 2, 0), (3, 'MAXIMIZE', 2, 1);
INSERT INTO trials VALUES (1, 0, 1, 'COMPLETE'), (2, 0, 2, 'COMPLETE'),
    (3, 1, 1, 'FAIL'), (4, 2, 1, 'COMPLETE');
INSERT INTO trial_params VALUES
    (1, 1, 'x', 0.125, '{"name": "FloatDistribution", "attributes": {"low": 0, "high": 1}}'),
    (2, 1, 'o', 0, '{"name": "CategoricalDistribution", "attributes": {"choices": ["a", null]}}'),
    (3, 2, 'x', 0.5, '{"name": "UniformDistribution", "attributes": {"low": 0, "high": 1}}'),
    (4, 4, 'x', 0.5, '{"name": "UniformDistribution", "attributes": {"low": 0, "high": 1}}');
INSERT INTO trial_values VALUES (1, 1, 0, 7, 'FINITE'), (2, 2, 0, 1, 'FINITE'),
    (3, 2, 1, 2, 'FINITE'), (4, 4, 0, NULL, 'INF_POS');
E
    imported 1 --study one o.db && has i.jsonl \
        '{"parameter": {"x": 0.125, "o": "a"}, "value": 7.0, "minimize": false, "from": "o.db: one, trial 0"}' &&
        has import.out 'left out: 1 of them: FAIL' &&
        has import.out '1 of them: its value' || return 1
    imported 1 --study two --value 1 o.db &&
        has i.jsonl '"value": 2.0, "minimize": false' || return 1
    imported 1 --study two o.db &&
        has i.jsonl '"values": [1.0, 2.0], "directions": ["minimize", "maximize"]' ||
        return 1
    "$T" import --into i.jsonl o.db 2> err
    [ $? = 3 ] && has err 'o.db: has 2 studies'
}
check "Optuna's database" optuna

nni() {
    mkdir -p a1b2/db
    cat "$work/nni.sql" - << 'E' | database a1b2/db/nni.sqlite || return
INSERT INTO TrialJobEvent VALUES
    (1, 'aaa', 'WAITING', '{"parameter_id":0,"parameter_source":"algorithm","parameters":{"x":0.25,"o":"b\"c"},"parameter_index":0}', '', 0, ''),
    (2, 'bbb', 'WAITING', '{"parameter_id":1,"parameters":{"x":0.5,"o":"a"}}', '', 1, ''),
    (3, '', 'IMPORT_DATA', '[]', '', NULL, ''),
    (3, 'aaa', 'RUNNING', NULL, '', 0, ''), (4, 'aaa', 'SUCCEEDED', NULL, '', 0, ''),
    (5, 'bbb', 'FAILED', NULL, '', 1, ''),
    (6, 'ccc', 'WAITING', '{"parameter_id":2,"parameters":{"x":0.75,"o":"a"}}', '', 2, ''),
    (7, 'ccc', 'SUCCEEDED', NULL, '', 2, ''),
    (8, 'ddd', 'WAITING', '{"parameter_id":3,"parameters":{"x":0.75,"o":"a"}}', '', 3, ''),
    (9, 'ddd', 'SUCCEEDED', NULL, '', 3, '');
INSERT INTO MetricData VALUES (3, 'aaa', '0', 'PERIODICAL', 0, '"9"'),
    (3, 'aaa', '0', 'FINAL', 0, '"0.125"'),
    (3, 'ccc', '2', 'FINAL', 0, '"{\"default\": 0.5, \"other\": 1}"');
E
    imported 2 a1b2 && cat > want << 'E'
{"parameter": {"x": 0.25, "o": "b\"c"}, "value": 0.125, "minimize": true, "from": "a1b2: trial aaa"}
{"parameter": {"x": 0.75, "o": "a"}, "value": 0.5, "minimize": true, "from": "a1b2: trial ccc"}
E
    cmp want i.jsonl && has import.out 'left out: 1 of them: FAILED' &&
        has import.out 'left out: 1 of them: no final result' || return 1
    imported 2 a1b2/db/nni.sqlite || return 1
    # More than is ever read of a text.
    truncate -s 600M a1b2/db/nni.sqlite && imported 2 a1b2/db/nni.sqlite ||
        return 1
    echo 'CREATE TABLE a (b);' | database other.db
    "$T" import --into j other.db 2> err
    [ $? = 3 ] && has err 'other.db: has neither the tables of NNI'
}
check "NNI's database" nni

# o.db and a1b2 have the same ten thousand trials; under a sanitizer it is not
# how long they take.
many=10000
case $TP_BUILD in */asan | */tsan) many=1000 ;; esac
write_databases() {
    mkdir -p a1b2/db && database o.db < "$work/optuna.sql" &&
        database a1b2/db/nni.sqlite < "$work/nni.sql" || return
    python3 - $many << 'E'
import json, random, sqlite3, sys
draw = random.Random(1)
optuna, nni = sqlite3.connect("o.db"), sqlite3.connect("a1b2/db/nni.sqlite")
optuna.execute("INSERT INTO studies VALUES (1, 's')")
optuna.execute("INSERT INTO study_directions VALUES (1, 'MINIMIZE', 1, 0)")
kinds = {
    "x": '{"name": "FloatDistribution", "attributes": {"low": 0, "high": 1}}',
    "n": '{"name": "IntDistribution", "attributes": {"low": 1, "high": 9}}',
    "o": '{"name": "CategoricalDistribution", "attributes": {"choices": ["a", "b"]}}',
}
for k in range(int(sys.argv[1])):
    p = {"x": draw.random(), "n": draw.randint(1, 9), "o": draw.choice("ab")}
    value = (p["x"] - 0.5) ** 2 + p["n"] / 100 + (p["o"] == "b")
    optuna.execute("INSERT INTO trials VALUES (?, ?, 1, 'COMPLETE')", (k, k))
    optuna.executemany("INSERT INTO trial_params VALUES (NULL, ?, ?, ?, ?)",
        [(k, name, "ab".find(v) if name == "o" else v, kinds[name])
         for name, v in p.items()])
    optuna.execute("INSERT INTO trial_values VALUES (?, ?, 0, ?, 'FINITE')",
        (k, k, value))
    event = json.dumps({"parameter_id": k, "parameters": p})
    nni.executemany("INSERT INTO TrialJobEvent VALUES (1, ?, ?, ?, '', ?, '')",
        [(f"t{k}", "WAITING", event, k), (f"t{k}", "SUCCEEDED", None, k)])
    nni.execute("INSERT INTO MetricData VALUES (1, ?, ?, 'FINAL', 0, ?)",
        (f"t{k}", str(k), json.dumps(str(value))))
optuna.commit()
nni.commit()
E
}

# goes_on TUNER: it is told of them all, suggests, and again the same.
goes_on() {
    mkdir "$1" && cd "$1" || return 1
    echo 'tunepipe trial report --final 1' | experiment "tuner: {name: $1}" \
        'searchSpace: {x: {_type: uniform, _value: [0, 1]}, n: {_type: randint, _value: [1, 10]}, o: {_type: choice, _value: [a, b]}}' \
        'trialConcurrency: 2' 'maxTrialNumber: 3'
    run 0 --import ../i.jsonl && count 3 succeeded && replays &&
        awk -v many=$many '/results imported/ {n += $5} END {exit n != many}' \
            "$dir/dispatcher.log" || fail "$1: $(cat "$dir/dispatcher.log")" ||
        return 1
    cd ..
}

ten_thousand() {
    write_databases || return
    imported $many a1b2 && sed 's/, "from".*//' i.jsonl > nni &&
        imported $many o.db && sed 's/, "from".*//' i.jsonl | cmp - nni ||
        return 1
    # Three suggest only what they are given.
    for one in $("$T" tuners | sed -n 's/^tuner \([^:]*\):.*/\1/p' |
        grep -vxE 'batch|exec|pbt_replay'); do
        goes_on "$one" || return 1
    done
    [ -d tpe ] && [ -d auto ] && [ -d asha ]
}
check "10,000 trials of Optuna's and of NNI's, gone on with by each tuner" ten_thousand

usage() {
    "$T" import a.csv 2> err
    [ $? = 2 ] && has err 'expected --into FILE or DIR' || return 1
    "$T" import --into i 2> err
    [ $? = 2 ] && has err 'expected a source' || return 1
    "$T" import --into i absent 2> err
    [ $? = 3 ] && has err 'absent: ' || return 1
    echo 1 | experiment "$space" 'maxTrialNumber: 1'
    "$T" run e.yml --import nope 2> err
    [ $? = 3 ] && has err '--import: cannot open nope: No such file' || return 1
    mkdir folder && "$T" import --into i folder 2> err
    [ $? = 3 ] && has err 'folder: expected a file, or a folder of NNI'
}
check "usage" usage

tuner_is_told() {
    echo 'tunepipe trial report --final 1' | experiment 'maxTrialNumber: 2' \
        "$space" 'import: i.jsonl' 'direction: maximize'
    cat > i.jsonl << 'E'
{"parameter": {"x": 0.25, "o": "a"}, "value": 0.5, "minimize": false}
{"parameter": {"x": 2, "o": "a"}, "value": 0.5}

{"parameter": {"x": 0.75, "o": "b\"c", "y": 1}, "value": "0.25", "from": "me"}
E
    run 0 && told 2 && has err '/i.jsonl: 2 of 3 trials are imported' &&
        has err '1 do not fit the search space; the first: line 2: x: is 2' &&
        has err 'not in the search space, and left out: y' &&
        has "$dir/dispatcher.log" '2 of 2 results imported' &&
        count 2 succeeded && replays || return 1
    grep '<  ' log | sed -n 2p > second && has second '<  FD'
}
check "the tuner is told first, of what fits" tuner_is_told

it_matters() {
    echo 'tunepipe trial report --final 1' | experiment 'maxTrialNumber: 1' \
        'searchSpace: {o: {_type: choice, _value: [1, 2, 3, 4]}}' \
        'tuner: {name: tpe}' 'filters: [dedup]'
    for o in 1 2 4; do
        echo "{\"parameter\": {\"o\": $o}, \"value\": 1}"
    done > i.jsonl
    "$T" run --dry-run --import i.jsonl e.yml > dry 2> err &&
        sed -n 's/^trial [0-9]*: //p' dry > foreseen || return 1
    run 0 --import i.jsonl && cmp foreseen "$dir"/trials/00000/parameters.json &&
        echo '{"o": 3}' | cmp - foreseen
}
check "what is imported is not tried again, and a dry run knows" it_matters

refused() {
    echo true | experiment 'maxTrialNumber: 2' "$space" 'import: i.jsonl' \
        'direction: maximize'
    printf '%s\n' \
        '{"parameter": {"x": 1, "o": "a"}, "value": 1, "minimize": true}' \
        '{"value": 1}' '{"parameter": {}}' '3' \
        '{"parameter": {"x": 1, "o": "a"}, "value": "x"}' > i.jsonl
    run 3 && has err 'i.jsonl:1: is from a search that minimizes, and this' &&
        has err "i.jsonl:2: expected an object as its 'parameter'" &&
        has err "i.jsonl:3: no 'value'" && has err 'i.jsonl:4: expected an' &&
        has err 'i.jsonl:5: ' && [ ! -e tunepipe-experiments ] || return 1
    rm i.jsonl
    run 3 && has err 'import: ' && has err 'i.jsonl' || return 1
    run 3 --import none.jsonl && has err '--import: cannot open none.jsonl: No such file'
}
check "a file that is wrong" refused

once() {
    experiment 'maxTrialNumber: 4' "$space" << 'E'
[ "$TUNEPIPE_TRIAL_ID" = 00001 ] && [ ! -e killed ] && {
    touch killed
    kill -KILL "$(cat "$HERE/pid")"
}
exec tunepipe trial report --final 3
E
    for i in 1 2 3 4 5; do
        echo "{\"parameter\": {\"x\": 0.$i, \"o\": \"a\"}, \"value\": $i}"
    done > i.jsonl
    run 137 --import i.jsonl
    rm i.jsonl
    HERE=$PWD "$T" resume "$dir" > out 2> err || fail "$(cat out err)" ||
        return 1
    told 5 && "$T" show --json "$dir" > show.json && count 4 succeeded &&
        replays
}
check "once, though the manager was killed and resumed" once

lost() {
    echo 'tunepipe trial report --final 1' | experiment 'maxTrialNumber: 2' \
        "$space"
    echo '{"parameter": {"x": 0.5, "o": "a"}, "value": 5}' > i.jsonl
    run 0 --import i.jsonl && told 1 || return 1
    rm "$dir/command.log" "$dir/summary.json"
    : > "$dir/results.jsonl"
    rm -r "$dir"/trials/*
    "$T" resume "$dir" > out 2> err || fail "$(cat out err)" || return 1
    told 1
}
check "again, when nothing of it came to the log" lost

# frames N: so many FD, and behind which command the last of them came.
frames() {
    "$T" log "$dir" > log
    grep '<  ' log | grep -o '<  ..' > codes
    [ "$(grep -c FD codes)" = "$1" ] || fail "$(grep -c FD codes) FD"
}

into_running() {
    mkfifo gate
    experiment 'maxTrialNumber: 1' "$space" << 'E'
tunepipe trial report 1
read -r word < "$HERE/gate"
tunepipe trial report --final 2
E
    printf '%s\n' x,o,value 0.25,a,1 0.5,a,2 7,a,3 0.5,a,nan > more.csv
    printf '%s\n' x,o,value 0.75,a,4 > last.csv
    exec 8<> gate
    (
        meanwhile 'grep -qs intermediate tunepipe-experiments/*/trials/*/metrics'
        dir=$(ls -d tunepipe-experiments/*)
        "$T" import --into "$dir" more.csv > first 2> first.err
        "$T" import --json --into "$dir" last.csv > second 2> second.err
        echo go >&8
    ) &
    run 0 && wait && exec 8>&- && frames 2 && replays &&
        has first "$dir: 3 trials, 2 fit; its tuner is told" &&
        has first 'left out: 1 of them' &&
        has first.err '1 do not fit the search space; the first: line 3' &&
        has second '"trials": 1, "fit": 1, "told": true, "left_out": []}' &&
        grep -q '<  FD.*"x": 0.75' log && lacks log '"x": 7' || return 1
    # All that came is told to whoever has to begin again.
    rm "$dir/command.log" "$dir/summary.json"
    : > "$dir/results.jsonl"
    rm -r "$dir"/trials/*
    exec 8<> gate && echo go >&8
    resume 0 && frames 2 && exec 8>&- && replays
}
check "into an experiment that runs" into_running

into_ended() {
    echo 'tunepipe trial report --final 1' | experiment 'maxTrialNumber: 2' \
        "$space" && run 0 && frames 0 || return 1
    printf '%s\n' x,o,value 0.25,a,1 > more.csv
    "$T" import --into "$dir" more.csv > told && frames 0 &&
        has told '1 fit; its tuner is told when it goes on' &&
        "$T" import --into "$dir" more.csv > told &&
        resume 0 --max-trials 3 && frames 1 && count 3 succeeded && replays &&
        has out '2 trials are imported' && resume 0 --max-trials 4 &&
        frames 1 && replays || return 1
    printf '%s\n' x,o,value 25,a,1 > bad.csv
    "$T" import --into "$dir" bad.csv 2> err
    [ $? = 1 ] && has err 'no trial fits the search space' &&
        [ ! -e "$dir/import.new" ]
}
check "into one that goes on later" into_ended

into_deterministic() {
    echo 'tunepipe trial report --final 1' | experiment 'maxTrialNumber: 2' \
        "$space" 'deterministic: true' && run 0 || return 1
    printf '%s\n' x,o,value 0.25,a,1 > more.csv
    "$T" import --into "$dir" more.csv 2> err
    [ $? = 1 ] && has err 'is deterministic'
}
check "not into one that is deterministic" into_deterministic

as_json() {
    printf '%s\n' x,value 0.25,1 0.5, > t.csv
    "$T" import --json --into i.jsonl t.csv > said &&
        [ "$(cat said)" = '{"into": "i.jsonl", "trials": 1, "fit": null, "told": null, "left_out": [{"trials": 1, "reason": "no value"}]}' ]
}
check "what was done as JSON" as_json

finish
