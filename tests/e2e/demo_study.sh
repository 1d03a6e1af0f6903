#!/bin/sh
# SPDX-License-Identifier: MIT
# What `make demo-study` shows: a program that is killed with -9 goes on, no
# trial is lost or told twice, the end is good, and the log replays.
# not under asan
# not under tsan
. "$TP_SOURCE/tests/e2e/lib.sh"
command -v python3 > /dev/null || {
    echo "skipped demo_study: no python3"
    exit
}

folder=$work/build
mkdir "$folder"
ln -s "$TP_BUILD/tunepipe" "$TP_BUILD/tunepipe-wrapper" "$TP_BUILD/plugins" \
    "$folder/"
sh "$TP_SOURCE/scripts/demo/study" "$folder" > "$folder/out" 2>&1
status=$?
dir=$folder/demo/study

demo_study_ends_well() {
    [ $status = 0 ] || fail "status $status: $(tail -n 3 "$folder/out")"
}
demo_study_is_killed_and_goes_on() {
    [ "$(grep -c '^(killed with -9' "$folder/out")" = 1 ] &&
        grep -q '^trial 30 (again): ' "$folder/out"
}
demo_study_has_each_trial_once() {
    sed -n 's/.*"trial": "\([0-9]*\)".*/\1/p' "$dir/results.jsonl" |
        sort > "$folder/trials"
    seq -f %05.0f 0 59 | cmp - "$folder/trials"
}
demo_study_finds_a_good_net() {
    best=$(sed -n 's/^best \([0-9.]*\) %.*/\1/p' "$folder/out")
    awk "BEGIN {exit !($best >= 93)}"
}
demo_study_log_replays() { grep -q '^identical: ' "$folder/out"; }

for test in demo_study_ends_well demo_study_is_killed_and_goes_on \
    demo_study_has_each_trial_once demo_study_finds_a_good_net \
    demo_study_log_replays; do
    check "$test" "$test"
done
finish
