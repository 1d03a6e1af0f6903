#!/bin/sh
# SPDX-License-Identifier: MIT
# What `make demo` shows: real data, a real network, early stops, a good end;
# the log replays, and the best parameters give the same result again.  And
# `make demo-asha`, which begins with the same: three times as many settings in
# no more epochs, nothing lost on the way, and the log replays.
# not under tsan
# not under asan
. "$TP_SOURCE/tests/e2e/lib.sh"

folder=$work/build
mkdir -p "$folder/demo"
ln -s "$TP_BUILD/tunepipe" "$TP_BUILD/tunepipe-wrapper" "$TP_BUILD/plugins" \
    "$folder/"
ln -s "$TP_BUILD/demo/mlp-digits" "$folder/demo/"
sh "$TP_SOURCE/scripts/demo/asha" "$folder" > "$folder/out" 2>&1
status=$?
dir=$(ls -d "$folder"/demo/experiments/digits-[!a]*/)
asha=$(ls -d "$folder"/demo/experiments/digits-asha-*/)
plain=$folder/demo/plain.out
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
        grep -q "^(tunepipe is $folder/tunepipe until" "$plain"
}
demo_runs_40_trials() { [ "$(wc -l < "$dir/results.jsonl")" = 40 ]; }
demo_log_replays() {
    "$tunepipe" replay --verify "$dir" | grep -q '^identical: '
}
demo_prints_the_best_parameters() {
    grep -q "^best $value, trial $best" "$plain" &&
        grep -q 'learning_rate' "$plain"
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

# number LINE WORD: the number before the word in what was printed.
number() {
    sed -n "s/^$1.* \([0-9.]*\) $2.*/\1/p" "$folder/out"
}
best() { sed -n "s/^$1.* best \([0-9.]*\) %/\1/p" "$folder/out"; }

demo_asha_tries_three_times_as_many() {
    [ "$(number 'as in' settings)" = 40 ] &&
        [ "$(number 'with asha' settings)" -ge 120 ]
}
demo_asha_takes_no_more_epochs() {
    [ "$(number 'with asha' epochs)" -le "$(number 'as in' epochs)" ]
}
# One of the 299 images is 0.33 %: libraries of other machines round otherwise.
demo_asha_finds_as_good_a_setting() {
    awk "BEGIN {exit !($(best 'with asha') >= $(best 'as in') - 0.34)}"
}
# Each went on where its checkpoint was saved: nobody's epochs are run twice.
demo_asha_goes_on_from_checkpoints() {
    grep '"from_how": "promoted"' "$asha/results.jsonl" > "$folder/promoted"
    sed 's/.*"intermediates": \([0-9]*\),.*BUDGET": \([0-9]*\).*/\1 of \2/' \
        "$folder/promoted" | sort | uniq > "$folder/went"
    [ "$(wc -l < "$folder/promoted")" -ge 40 ] &&
        [ "$(cat "$folder/went")" = "11 of 27
12 of 16
3 of 4" ]
}
demo_asha_log_replays() {
    "$TP_BUILD/tunepipe" replay --verify "$asha" | grep -q '^identical: '
}

for test in demo_ends_well demo_runs_40_trials demo_best_is_above_96 \
    demo_best_beats_the_median_trial demo_stops_trials_early \
    demo_prints_the_best_parameters demo_says_where_the_program_is \
    demo_log_replays demo_best_parameters_give_it_again \
    demo_asha_tries_three_times_as_many demo_asha_takes_no_more_epochs demo_asha_finds_as_good_a_setting \
    demo_asha_goes_on_from_checkpoints demo_asha_log_replays; do
    check "$test" "$test"
done
finish
