#!/bin/sh
# SPDX-License-Identifier: MIT
# What `make demo` shows: real data, a real network, early stops, a good end;
# the log replays, and the best parameters give the same result again.
# with clang, too
. "$TP_SOURCE/tests/e2e/lib.sh"

folder=$work/build
mkdir -p "$folder/demo"
ln -s "$TP_BUILD/tunepipe" "$TP_BUILD/tunepipe-wrapper" "$TP_BUILD/plugins" \
    "$folder/"
ln -s "$TP_BUILD/demo/mlp-digits" "$folder/demo/"
sh "$TP_SOURCE/scripts/demo/run" "$folder" > "$folder/out" 2>&1
status=$?
dir=$(ls -d "$folder"/demo/experiments/*/)
tunepipe=$TP_BUILD/tunepipe

# Fields of the best trial, out of show --json (a trial has no nested braces
# before its parameters).
"$tunepipe" show --json "$dir" > "$folder/show.json"
best=$(sed -n 's/^{"best": {"trial": "\([0-9]*\)".*/\1/p' "$folder/show.json")
value=$(sed -n 's/^{"best": {"trial": "[0-9]*", "value": \([0-9.]*\).*/\1/p' \
    "$folder/show.json")

demo_ends_well() { [ $status = 0 ]; }
demo_best_is_above_96() { awk "BEGIN {exit !($value >= 96)}"; }
demo_best_beats_the_median_trial() {
    median=$(sed -n 's/.*"value": \([0-9.]*\),.*/\1/p' "$dir/results.jsonl" |
        sort -n | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}')
    awk "BEGIN {exit !($value > $median + 1)}"
}
demo_stops_trials_early() {
    [ "$(grep -c '"status": "stopped' "$dir/results.jsonl")" -ge 5 ]
}
demo_says_where_the_program_is() {
    command -v tunepipe ||
        grep -q "^(tunepipe is $folder/tunepipe until" "$folder/out"
}
demo_runs_40_trials() { [ "$(wc -l < "$dir/results.jsonl")" = 40 ]; }
demo_log_replays() {
    "$tunepipe" replay --verify "$dir" | grep -q '^identical: '
}
demo_prints_the_best_parameters() {
    grep -q "^best $value, trial $best" "$folder/out" &&
        grep -q 'learning_rate' "$folder/out"
}
demo_best_parameters_give_it_again() {
    seed=$(sed -n "s/.*\"trial\": \"$best\".*\"seed\": \([0-9]*\).*/\1/p" \
        "$dir/results.jsonl")
    mkdir "$folder/again"
    cp "$dir/trials/$best/parameters.tsv" "$folder/again/"
    (cd "$folder/demo" && TUNEPIPE_TRIAL_DIR=$folder/again \
        TUNEPIPE_SEED=$seed ./mlp-digits digits.csv) > /dev/null &&
        cmp "$folder/again/metrics" "$dir/trials/$best/metrics" &&
        [ "$(sed -n 's/^final //p' "$folder/again/metrics")" = "$value" ]
}

for test in demo_ends_well demo_runs_40_trials demo_best_is_above_96 \
    demo_best_beats_the_median_trial demo_stops_trials_early \
    demo_prints_the_best_parameters demo_says_where_the_program_is \
    demo_log_replays \
    demo_best_parameters_give_it_again; do
    check "$test" "$test"
done
finish
