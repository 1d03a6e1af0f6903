#!/bin/sh
# SPDX-License-Identifier: MIT
# An experiment whose results are several values: how they come in, what is made
# of them, and that a run which is killed goes on as if it had not been.
# not under tsan
. "$(dirname "$0")/lib.sh"

# Of two objectives, whose best values exclude each other, and a third value.
two() { # LINE...
    experiment 'objectives:' '- {name: f, direction: minimize, reference: 1.1}' \
        '- {name: g, direction: minimize, reference: 2}' \
        'searchSpace: {x: {_type: uniform, _value: [0, 1]}, y: {_type: uniform, _value: [0, 1]}}' \
        "$@"
}
# like FILE REGEX: a line of it matches.
like() {
    grep -q -- "$2" "$1" || fail "$1 has nothing like '$2'"
}
front() { # the trials of the front, in its order
    "$T" show --json "$dir" | sed 's/"trials": .*//' |
        grep -o '"trial": "[0-9]*"' | tr -dc '0-9\n' | tr '\n' ' '
}

TRIAL='x=$TUNEPIPE_PARAM_x
g=$(awk "BEGIN {y = 1 + $TUNEPIPE_PARAM_y; print y * (1 - sqrt($x / y))}")'

# Through each channel, intermediate and final.
channels() {
    two 'maxTrialNumber: 6' 'resultConstraints: [g <= 1.5]' << E
$TRIAL
cat > report.py << P
import tunepipe
tunepipe.report(f=\$x)
tunepipe.final({"f": \$x, "g": \$g}, extra=3)
P
export PYTHONDONTWRITEBYTECODE=1
set +e
case \$TUNEPIPE_TRIAL_ID in
00000) tunepipe trial report f=\$x
    tunepipe trial report --final f=\$x g=\$g extra=3 ;;
00001) tunepipe trial report --final "{\"f\": \$x, \"g\": \$g, \"extra\": 3}" ;;
00002) python3 report.py ;;
00003) echo "final {\"f\": \$x, \"g\": \$g, \"extra\": 3}" \
    >> "\$TUNEPIPE_TRIAL_DIR/metrics" ;;
00004) tunepipe status > said.status
    tunepipe trial report --final f=\$x; echo \$? > said.4
    tunepipe trial report --final 3
    exit 0 ;;
00005) echo "final {\"f\": \$x, \"h\": \$g}" >> "\$TUNEPIPE_TRIAL_DIR/metrics" ;;
esac
E
    run 0 || return 1
    [ "$(grep -c '"values": {"f": [0-9.]*, "g": [0-9.]*, "extra": 3.0}' \
        "$dir/results.jsonl")" = 4 ] || fail "$(cat "$dir/results.jsonl")" || return 1
    [ "$(cat said.4)" = 1 ] &&
        like said.status '^TRIAL    STATUS                f TREND ' &&
        has "$dir/results.jsonl" '"why": "no final metric: what it reported was refused"' &&
        has "$dir/results.jsonl" "the final metric has line 1: no value 'g', reported is 'f' and 'h'" ||
        fail "$(cat "$dir/results.jsonl")" || return 1
    "$T" export --csv "$dir" > out.csv &&
        has out.csv 'from_how,f,g,extra,violation,x,y' &&
        "$T" trial ls "$dir" > listed && like listed '^TRIAL .* f  *g ' &&
        "$T" why "$dir" 0 > said && like said 'with f=[-0-9.e]* g=[-0-9.e]*' &&
        "$T" show "$dir" > shown && like shown '^front of [0-9], of 4 results' &&
        has shown 'trial             f            g        extra' ||
        fail "$(cat shown)"
}
check "values come in by each channel" channels

# The arguments say of which direction the one number is; the tuner is told of
# what is made of it and the limit.
limits_alone() {
    experiment 'maxTrialNumber: 3' 'resultConstraints: [ms <= 5]' \
        'tuner: {name: tpe, classArgs: {optimize_mode: maximize}}' << 'E'
tunepipe trial report --final default=$TUNEPIPE_PARAM_x ms=3
E
    run 0 || return 1
    has "$dir/command.log" '{"name": "default", "direction": "maximize"}' &&
        has "$dir/command.log" '"arguments": {"optimize_mode": "minimize"' &&
        "$T" replay "$dir" > said && like said '^identical' ||
        fail "$(cat said)"
}
check "limits on what comes beside the one number" limits_alone

patterns() {
    two 'maxTrialNumber: 4' \
        "metrics: {pattern: {f: 'f=([0-9.]+)', g: 'g=([0-9.]+)', loss: 'loss=([0-9.]+)'}}" << E
$TRIAL
echo "loss=7 f=0.5"
echo "g=9"
echo "f=\$x"
echo "g=\$g"
E
    run 0 && [ "$(grep -c '"intermediates": 2' "$dir/results.jsonl")" = 4 ] &&
        [ "$(grep -c '"g": 9' "$dir/results.jsonl")" = 0 ] &&
        "$T" log "$dir" > log &&
        like log 'f.*: 0.5, .*g.*: 9.0, .*loss.*: 7.0'
}
check "values by patterns" patterns

# Values beside the one result are kept, shown and exported.
beside_one() {
    experiment 'maxTrialNumber: 2' << 'E'
tunepipe trial report --final 1 loss=2 "time=3"
E
    run 0 && has "$dir/results.jsonl" '"value": 1.0, "values": {"loss": 2.0, "time": 3.0}' &&
        "$T" show "$dir" > shown && has shown 'value         loss         time' &&
        "$T" export --csv "$dir" > out.csv && like out.csv ',loss,time,x$' &&
        has out.csv ',2.0,3.0,'
}
check "values beside the one result" beside_one

ends() {
    two 'maxTrialNumber: 300' 'maxTrialsWithoutImprovement: 5' << E
$TRIAL
tunepipe trial report --final f=\$x g=\$g
E
    run 0 && has "$dir/summary.json" '5 trials in a row were no better' || return 1
    rm -rf tunepipe-experiments
    sed -i 's/maxTrialsWithoutImprovement: 5/stopValue: 1.5/' e.yml
    run 0 && like "$dir/summary.json" 'made the hypervolume 1.[5-9].*stopValue is 1.5' ||
        fail "$(cat "$dir/summary.json")" || return 1
    "$T" status "$dir" > said && like said 'front of [0-9]*.*hypervolume 1[.][5-9]' ||
        fail "$(cat said)" || return 1
    rm -rf tunepipe-experiments
    sed -i '/stopValue/d
        s/reference: 1.1/goal: 0.9/; s/reference: 2}/goal: 0.8}/' e.yml
    run 0 && has "$dir/summary.json" 'reached each goal (objectives.goal)'
}
check "goals" ends

# killed DIR...: the same run, killed and gone on with, has the same results in
# lock step, and its log gives the same answers.
killed() {
    two 'maxTrialNumber: 40' 'trialConcurrency: 3' 'deterministic: true' \
        'resultConstraints: [g <= 1.5]' \
        "$1" << E
$TRIAL
tunepipe trial report f=\$x
tunepipe trial report f=\$x g=\$g
tunepipe trial report --final f=\$x g=\$g
E
    run 0 || return 1
    results() {
        sed 's/"duration_s": [^,]*, "prepare_s": [^,]*,//; s/"attempt": [0-9]*,//' \
            "$1/results.jsonl"
    }
    results "$dir" > whole
    front > front.whole
    rm -rf tunepipe-experiments
    "$T" run e.yml > out 2> err &
    manager=$!
    for kill in 1 2 3 4; do
        dir='' n=0
        while [ "$(cat "$dir/results.jsonl" 2>/dev/null | wc -l)" -lt $((8 * kill)) ] &&
            kill -0 $manager 2>/dev/null && [ $n -lt 600 ]; do
            dir=$(ls -d tunepipe-experiments/* 2>/dev/null | tail -n 1)
            n=$((n + 1))
            sleep 0.05
        done
        kill -KILL $manager 2>/dev/null
        wait $manager 2>/dev/null
        "$T" resume "$dir" > out 2> err &
        manager=$!
    done
    wait $manager || fail "$(tail -n 3 err)" || return 1
    results "$dir" > again
    diff whole again > diff.out || fail "$(head -n 4 diff.out)" || return 1
    front > front.again
    cmp front.whole front.again || return 1
    "$T" replay --verify "$dir" > said && like said '^identical: '
}
random_killed() { killed 'tuner: {name: random}'; }
tpe_killed() { killed 'tuner: {name: tpe}'; }
check "killed and gone on with: random" random_killed
check "killed and gone on with: tpe" tpe_killed

# What is asked of it when it is over.
asked() {
    two 'maxTrialNumber: 20' << E
$TRIAL
tunepipe trial report --final f=\$x g=\$g
E
    run 0 || return 1
    first=$(front | cut -d' ' -f1)
    "$T" explain "$dir" "$first" > said && like said '^front       on it' || return 1
    for one in $(seq 0 19); do
        "$T" explain "$dir" "$one" > said || return 1
        ! grep -q '^dominated   by [0-9]' said || break
    done
    like said '^dominated   by [0-9]' || return 1
    "$T" rerun "$dir" 3 > said && like said '^the same' || return 1
    "$T" why "$dir" 3 > said && like said ', with f=[0-9.]* g=' || return 1
    "$T" fork "$dir" --at-trial 8 forked > said 2>&1 &&
        "$T" resume forked > said 2>&1 &&
        [ "$(wc -l < forked/results.jsonl)" -ge 20 ] || fail "$(cat said)" || return 1
    "$T" ls > said && has said 'front of ' || return 1
    "$T" report "$dir" > said && has "$dir/report.html" '"growth":' || return 1
    [ ! -e "$TP_BUILD/lib/sqlite.so" ] || "$T" index "$dir" > said
}
check "explain, rerun, fork, ls, report, index" asked

# The second value of a trial counts as well when it is run again.
differs() {
    two 'maxTrialNumber: 1' << E
$TRIAL
tunepipe trial report --final f=\$x g=\$(cat "$PWD/g")
E
    echo 1 > g
    run 0 || return 1
    echo 2 > g
    "$T" rerun "$dir" 0 > said
    like said '^again: .*"g": 2' && like said '^not the same' || return 1
    "$T" rerun "$dir" 0 --json > said
    has said '"g": 1.0' && has said '"g": 2.0' && has said '"same": false'
}
check "rerun of a trial whose second value is another" differs

# Trials would report by other objectives than the results so far have.
changed() {
    two 'maxTrialNumber: 2' << E
$TRIAL
tunepipe trial report --final f=\$x g=\$g
E
    run 0 || return 1
    sed 's/name: g, direction: minimize/name: g, direction: maximize/' \
        "$dir/config.yml" > other && cat other > "$dir/config.yml"
    ! "$T" resume "$dir" --max-trials 4 > said 2>&1 || fail "$(cat said)" || return 1
    like said 'config.yml: objectives, resultConstraints, scalarize: .*"maximize".*, expected what the experiment began with, .*"minimize"'
}
check "resume refuses other objectives" changed

# A front keeps its checkpoints, and nobody else.
keeps() {
    two 'maxTrialNumber: 12' 'checkpoints: {keep: best}' << E
$TRIAL
echo state > "\$TUNEPIPE_TRIAL_DIR/state"
tunepipe trial report f=\$x g=\$g --checkpoint "\$TUNEPIPE_TRIAL_DIR/state"
tunepipe trial report --final f=\$x g=\$g
E
    run 0 || return 1
    front | tr ' ' '\n' | sed '/^$/d' | sort > want
    find "$dir/checkpoints" -name state | sed 's,.*checkpoints/\([0-9]*\)/.*,\1,' |
        sort > kept
    diff want kept
}
check "the checkpoints of the front" keeps

study() {
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' || return 77
    cat > s.py << 'E'
import tunepipe

study = tunepipe.Study({"x": tunepipe.uniform(0, 1)}, seed=1,
                       directions={"a": "minimize", "b": "minimize"},
                       tuner="random", folder="s")
study.optimize(lambda trial: (trial["x"], 1 - trial["x"]), n_trials=8,
               progress=False)
assert len(study.front) == 8, study.front
assert study.front[0].values["a"] == min(one.value for one in study.trials)
try:
    study.best
except tunepipe.StudyError as error:
    assert "study.front" in str(error), error
else:
    raise AssertionError
assert study.knee is None or study.knee in study.front
trial = study.ask()
for wrong in ({"a": 1}, 3, (1, 2, 3)):
    try:
        study.tell(trial, wrong)
    except (tunepipe.StudyError, ValueError):
        continue
    raise AssertionError(wrong)
study.tell(trial, {"a": 0, "b": 0, "c": 1})
assert [one.number for one in study.front] == [8]
study.close()
again = tunepipe.Study.connect("s")
assert again.front[0].values == {"a": 0, "b": 0, "c": 1}
again.close()
E
    TUNEPIPE_PROGRAM=$T PYTHONPATH=$TP_SOURCE/src/python \
        PYTHONDONTWRITEBYTECODE=1 python3 s.py > out 2> err || fail "$(tail -n 1 err)" ||
        return 1
    number=$("$T" ask s | grep -o '"trial": [0-9]*' | tr -dc 0-9)
    "$T" tell s "$number" a=1 2> err
    [ $? = 1 ] && has err "no value 'b', reported is 'a'" &&
        "$T" tell s "$number" a=-1 b=3 && has s/results.jsonl '"a": -1.0, "b": 3.0'
}
check "a study" study

finish
