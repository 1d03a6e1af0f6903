#!/bin/sh
# SPDX-License-Identifier: MIT
# Trials of every kind under `tunepipe run`: how they report, how they fail.
. "$(dirname "$0")/lib.sh"

three_lines() {
    experiment 'maxTrialNumber: 4' 'trialConcurrency: 2' << 'E'
x=$(tunepipe trial param x)
tunepipe trial report 0.5
tunepipe trial report --final "$x"
E
    run 0 && count 4 succeeded && replays &&
        has out 'finished: 4 trials' && has out "again:  tunepipe show" &&
        has show.json '"intermediates": 1' &&
        has "$dir/summary.json" '"ok": true'
}
check "a shell trial of three lines" three_lines

same_seed() {
    experiment 'maxTrialNumber: 3' << 'E'
tunepipe trial report --final "$(tunepipe trial param x)"
echo "$TUNEPIPE_SEED" >> "$HERE/seeds"
E
    for i in 1 2; do
        run 0 || return 1
        # All but the times.
        sed 's/"duration_s": [^,]*, //g' show.json > "show.$i"
    done
    cmp show.1 show.2 && [ "$(sort -u seeds | wc -l)" = 3 ]
}
check "the same seed gives the same experiment" same_seed

c_trial() {
    command -v "${CC:-cc}" > cc || { echo 'no C compiler'; return 77; }
    cat > t.c << 'E'
#include <tunepipe/trial.h>
int main(void)
{
    double x = tp_param_double("x", -1);
    tp_report(x / 2);
    return tp_final(x) != 0;
}
E
    "${CC:-cc}" -I"$TP_SOURCE/src/trial/include" -o t t.c || return 1
    experiment 'maxTrialNumber: 2' < /dev/null
    sed -i 's|sh ./trial.sh|./t|' e.yml
    run 0 && count 2 succeeded && has show.json '"intermediates": 1'
}
check "a C trial through trial.h" c_trial

untouched() {
    experiment 'maxTrialNumber: 2' 'metrics: {pattern: "accuracy ([0-9.]+)%"}' \
        << 'E'
echo "epoch 1 accuracy 12.5% loss 3"
echo "accuracy none"
printf 'accuracy 25%%, and no line end'
E
    run 0 && count 2 succeeded && has show.json '"value": 25.0' &&
        has show.json '"intermediates": 2' && replays
}
check "an untouched program by its output" untouched

untouched_none() {
    experiment 'maxTrialNumber: 1' 'metrics: {pattern: "a=(.*)", final: none}' \
        << 'E'
echo a=1
E
    run 1 && count 1 failed && has show.json '"why": "no final metric"' &&
        has show.json '"latest": 1.0'
}
check "metrics.final: none wants a final result" untouched_none

last_is_final() {
    experiment 'maxTrialNumber: 1' 'metrics: {final: last}' << 'E'
tunepipe trial report 3
tunepipe trial report 2
E
    run 0 && count 1 succeeded && has show.json '"value": 2.0'
}
check "metrics.final: last without a pattern" last_is_final

crash() {
    experiment 'maxTrialNumber: 3' << 'E'
i=0
while [ $i -lt 30 ]; do i=$((i + 1)); echo "line $i of stderr" >&2; done
case $TUNEPIPE_TRIAL_ID in
00000) exit 7 ;;
00001) kill -SEGV $$ ;;
*) tunepipe trial report --final 1 ;;
esac
E
    run 0 && count 2 failed && count 1 succeeded && replays &&
        has show.json '"why": "exit status 7"' &&
        has show.json 'signal 11 (Segmentation fault)' &&
        has out '    | line 11 of stderr' && has out '    | line 30 of stderr' &&
        lacks out 'line 10 of stderr' || return 1
    # Once for each of the two kinds of crash.
    [ "$(grep -c '    | line 30' out)" = 2 ] || fail 'not shown twice'
}
check "crashes, and the first one's last words" crash

all_fail() {
    experiment 'maxTrialNumber: 2' << 'E'
exit 1
E
    run 1 && count 2 failed && has err 'no trial has a result' &&
        has show.json '{"best": null'
}
check "no trial succeeds" all_fail

no_final() {
    experiment 'maxTrialNumber: 1' << 'E'
tunepipe trial report 3
E
    run 1 && count 1 failed && has out 'no final metric' &&
        has out 'never called tunepipe trial report --final'
}
check "no final metric" no_final

no_match() {
    experiment 'maxTrialNumber: 1' 'metrics: {pattern: "loss=(.*)"}' << 'E'
echo loss=low
E
    run 1 && count 1 failed && has out 'matches metrics.pattern with a number'
}
check "a pattern that gives no number" no_match

second_final() {
    experiment 'maxTrialNumber: 1' << 'E'
tunepipe trial report --final 3
tunepipe trial report --final 4
E
    run 0 && count 1 succeeded && has show.json '"value": 3.0' &&
        has err 'a second final result' && replays
}
check "of two final results the first counts" second_final

misspelt_option() {
    experiment 'maxTrialNumber: 1' << 'E'
tunepipe trial report --finl 3
E
    run 1 && has out 'unknown option --finl (did you mean --final?)'
}
check "tunepipe trial report with a misspelt option" misspelt_option

garbage() {
    experiment 'maxTrialNumber: 1' << 'E'
m=$TUNEPIPE_TRIAL_DIR/metrics
head -c 3000 /dev/urandom | tr '\n' ' ' >> "$m"
printf '\nintermediate {\nfinal "x"\nintermediate 4\n' >> "$m"
printf '\0\0\nintermediate nan\n' >> "$m"
head -c 2000000 /dev/zero | tr '\0' x >> "$m"
printf '\nintermediate 5\nfinal 6\nfinal 7 without its end' >> "$m"
E
    run 0 && count 1 succeeded && has show.json '"value": 6.0' &&
        has show.json '"latest": 5.0' && replays || return 1
    [ "$(grep -c 'warning: trial 00000: metrics: line 1' err)" = 1 ] ||
        fail 'the bad line is not reported once'
}
check "garbage among the metrics" garbage

not_a_number() {
    experiment 'maxTrialNumber: 2' << 'E'
tunepipe trial report NaN
tunepipe trial report --final NaN
E
    run 0 && count 2 succeeded && has show.json '"value": null' && replays
}
check "NaN ends a trial well, and is no result" not_a_number

hostile() {
    experiment 'maxTrialNumber: 12' \
        'filters: [{name: dedup, args: {allow: true}}]' 'searchSpace:' '  s:' '    _type: choice' \
        '    _value:' '      - "$(touch pwned)"' "      - '\`touch pwned\`'" \
        "      - \"'; touch pwned; '\"" '      - "a\nb\t\"c\" \\ é"' \
        '  "n m;touch pwned": {_type: choice, _value: [1]}' << 'E'
tunepipe trial param s > "$HERE/verb.$TUNEPIPE_TRIAL_ID"
printf '%s\n' "$TUNEPIPE_PARAM_s" > "$HERE/env.$TUNEPIPE_TRIAL_ID"
[ "$TUNEPIPE_PARAM_n_m_touch_pwned" = 1 ] || exit 1
tunepipe trial report --final 1
E
    run 0 && count 12 succeeded || return 1
    [ ! -e pwned ] || fail 'a parameter was executed' || return 1
    for file in env.*; do
        cmp "verb.${file#env.}" "$file" || return 1
    done
    cat env.* > all
    for want in '$(touch pwned)' '`touch pwned`' "'; touch pwned; '" \
        'b	"c" \ é'; do
        has all "$want" || return 1
    done
}
check "hostile parameters arrive intact and are never run" hostile

nested() {
    experiment 'maxTrialNumber: 1' 'searchSpace:' \
        '  a: {_type: choice, _value: [{_name: relu, slope: {_type: uniform, _value: [2, 3]}}]}' << 'E'
[ "$(tunepipe trial param a/_name)" = relu ] || exit 1
[ "$TUNEPIPE_PARAM_a__name" = relu ] || exit 1
tunepipe trial report --final "$TUNEPIPE_PARAM_a_slope"
E
    run 0 && count 1 succeeded && has out 'a/_name  relu'
}
check "nested choices" nested

# argparse's type=int takes 96 and not 96.0, which is what NNI's API gives.
integers() {
    command -v python3 > py || { echo 'no python3'; return 77; }
    cat > t.py << 'E'
import argparse, json, os, sys, tunepipe
parser = argparse.ArgumentParser()
for name in "batch", "units", "width", "depth":
    parser.add_argument("--" + name, type=int)
parser.add_argument("--text")
parser.add_argument("--gone")
parser.add_argument("rest", nargs="*")
args = parser.parse_args()
env = os.environ
nni = json.load(open(env["NNI_SYS_DIR"] + "/parameter.cfg"))["parameters"]
given = json.load(open(env["TUNEPIPE_TRIAL_DIR"] + "/parameters.json"))
assert type(tunepipe.param("batch", 0)) is int
assert env["TUNEPIPE_PARAM_batch"] == str(args.batch)
assert type(given["batch"]) is int and type(given["net"]["depth"]) is int
assert given == nni and type(nni["batch"]) is float
assert type(nni["units"]) is int and args.units in range(3, 40, 4)
assert type(nni["width"]) is int and args.width in range(1, 1000)
assert args.batch in range(8, 129, 8) and args.depth == given["net"]["depth"]
assert args.text == given["text"] and args.gone == "", args
assert args.rest == ["{batch}", "", "1"], args
tunepipe.final(args.batch)
E
    experiment 'maxTrialNumber: 6' 'searchSpace:' \
        '  batch: {_type: quniform, _value: [8, 128, 8]}' \
        '  units: {_type: qrandint, _value: [3, 40, 4]}' \
        '  width: {_type: lograndint, _value: [1, 1000]}' \
        '  text: {_type: choice, _value: ["; touch no", "'"'"'\"$(touch no)"]}' \
        '  net: {_type: choice, _value: [{_name: a, depth: {_type: quniform, _value: [2, 9, 1]}}, {_name: b, depth: {_type: quniform, _value: [2, 9, 1]}, gone: {_type: choice, _value: [""]}}]}' \
        'prepareCommand: echo {batch} > "$TUNEPIPE_TRIAL_DIR/prepared"' < /dev/null
    sed -i "s|sh ./trial.sh|python3 t.py --batch {batch} --units={units} \
--width '{width}' --depth {net/depth} --text {text} --gone={net/gone} {{batch}} \
\"\${batch}\" \$(({batch} / {batch}))|" e.yml
    run 0 && count 6 succeeded && [ ! -e no ] && replays || return 1
    read -r batch < "$dir/trials/00000/prepared" &&
        has "$dir/trials/00000/parameters.json" "\"batch\": $batch," || return 1
    "$T" show "$dir" > shown && grep -q '^  batch  *[0-9]*$' shown &&
        "$T" export --csv "$dir" > csv && grep -q "^00000,.*,$batch," csv ||
        fail "$(cat shown csv)" || return 1
    "$T" run --dry-run e.yml > dry && has dry "t.py --batch $batch --units=" &&
        "$T" rerun "$dir" 0 > again && has again 'the same' &&
        cmp "$dir/trials/00000/parameters.json" \
            "$dir/reruns/00000-1/parameters.json"
}
check "whole numbers reach programs as integers, and commands by name" integers

not_quotable() {
    experiment 'searchSpace: {a: {_type: choice, _value: [x, "$(touch no)"]}}' \
        < /dev/null
    sed -i "s|sh ./trial.sh|sh -c 'echo {a}'|" e.yml
    run 3 && [ "$dir" = ./no-experiment ] && has err \
        "e.yml:$(grep -n ^trialCommand: e.yml | cut -d : -f 1): trialCommand: {a} stands within single quotes, where a shell could read its value \"\$(touch no)\" as code"
}
check "a value that cannot be quoted where it stands" not_quotable

labels() {
    experiment 'maxTrialNumber: 2' "tuner: {plugin: $PLUGINS/labels.so}" << 'E'
echo "$TUNEPIPE_PARAMETER_ID" >> "$HERE/ids"
tunepipe trial report --final 1
E
    run 0 && count 2 succeeded && has show.json '"parameter_id": "0-0"' &&
        [ "$(cat ids)" = "0-0
0-1" ]
}
check "parameter ids that are labels" labels

code_directory() {
    mkdir code
    experiment 'maxTrialNumber: 1' 'trialCodeDirectory: code' \
        'experimentWorkingDirectory: ./elsewhere' 'experimentName: "my exp"' \
        < /dev/null
    echo 'cd "$TUNEPIPE_EXPERIMENT_DIR" && tunepipe trial report --final 1' \
        > code/trial.sh
    run 0 || return 1
    ls -d elsewhere/my-exp-*/trials/00000 > found &&
        has out "/elsewhere/my-exp-"
}
check "the folders of the configuration" code_directory

leftovers() {
    experiment 'maxTrialNumber: 1' << 'E'
sleep 1000 &
echo $! > "$HERE/left"
tunepipe trial report --final 1
E
    run 0 && count 1 succeeded || return 1
    ! kill -0 "$(cat left)" 2>&- || fail 'a child of the trial is left'
}
check "what a trial leaves running is ended" leftovers

many() {
    experiment 'maxTrialNumber: 60' 'trialConcurrency: 8' << 'E'
tunepipe trial report --final "$TUNEPIPE_PARAM_x"
E
    run 0 && count 60 succeeded && replays || return 1
    [ "$(ls "$dir/trials" | wc -l)" = 60 ] || fail 'not 60 folders'
}
check "sixty trials, eight at a time" many

flood() {
    experiment 'maxTrialNumber: 1' << 'E'
yes 'intermediate 1' | head -n 100000 >> "$TUNEPIPE_TRIAL_DIR/metrics"
echo 'final 2' >> "$TUNEPIPE_TRIAL_DIR/metrics"
E
    run 0 && count 1 succeeded && has show.json '"intermediates": 100000'
}
check "a hundred thousand metrics at once" flood

# The manager alone has little memory (a sanitizer needs much more).
left_behind() {
    lines=1500000 limit=100000
    case $TP_BUILD in *asan* | *tsan*) lines=30000 limit=unlimited ;; esac
    experiment 'maxTrialNumber: 2' << E
[ "\$TUNEPIPE_TRIAL_ID" = 00001 ] && exec tunepipe trial report --final 1
yes 'intermediate 1' | head -n $lines >> "\$TUNEPIPE_TRIAL_DIR/metrics"
echo 'final 2' >> "\$TUNEPIPE_TRIAL_DIR/metrics"
E
    printf '%s\n' '#!/bin/sh' 'ulimit -S -v unlimited' 'exec "$T" "$@"' > large
    chmod +x large
    (ulimit -S -v "$limit" && T=$T && export T && run 0 --dispatcher ./large) ||
        return 1
    count 2 succeeded && has show.json "\"intermediates\": $lines" &&
        lacks err 'tunepipe: error'
}
check "metrics that the dispatcher cannot take at once" left_behind

finish
