#!/bin/sh
# SPDX-License-Identifier: MIT
# What `make demo-asha` shows: three times as many settings in no more epochs,
# nothing lost on the way, and the log replays.
# not under tsan
. "$TP_SOURCE/tests/e2e/lib.sh"

folder=$work/build
mkdir -p "$folder/demo"
ln -s "$TP_BUILD/tunepipe" "$TP_BUILD/tunepipe-wrapper" "$TP_BUILD/plugins" \
    "$folder/"
ln -s "$TP_BUILD/demo/mlp-digits" "$folder/demo/"
sh "$TP_SOURCE/scripts/demo/asha" "$folder" > "$folder/out" 2>&1
status=$?
dir=$(ls -d "$folder"/demo/experiments/digits-asha-*/)

# number LINE WORD: the number before the word in what was printed.
number() {
    sed -n "s/^$1.* \([0-9.]*\) $2.*/\1/p" "$folder/out"
}
best() { sed -n "s/^$1.* best \([0-9.]*\) %/\1/p" "$folder/out"; }

demo_asha_ends_well() { [ $status = 0 ]; }
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
    grep '"from_how": "promoted"' "$dir/results.jsonl" > "$folder/promoted"
    sed 's/.*"intermediates": \([0-9]*\),.*BUDGET": \([0-9]*\).*/\1 of \2/' \
        "$folder/promoted" | sort | uniq > "$folder/went"
    [ "$(wc -l < "$folder/promoted")" -ge 40 ] &&
        [ "$(cat "$folder/went")" = "11 of 27
12 of 16
3 of 4" ]
}
demo_asha_log_replays() {
    "$TP_BUILD/tunepipe" replay --verify "$dir" | grep -q '^identical: '
}

for test in demo_asha_ends_well demo_asha_tries_three_times_as_many \
    demo_asha_takes_no_more_epochs demo_asha_finds_as_good_a_setting \
    demo_asha_goes_on_from_checkpoints demo_asha_log_replays; do
    check "$test" "$test"
done
finish
