#!/bin/sh
# SPDX-License-Identifier: MIT
# What `make demo-objectives` shows: a front of accuracy and size, and its page.
# not under asan
# not under tsan
. "$TP_SOURCE/tests/e2e/lib.sh"

folder=$work/build
mkdir -p "$folder/demo"
ln -s "$TP_BUILD/tunepipe" "$TP_BUILD/tunepipe-wrapper" "$TP_BUILD/plugins" \
    "$folder/"
ln -s "$TP_BUILD/demo/mlp-digits" "$folder/demo/"
sh "$TP_SOURCE/scripts/demo/objectives" "$folder" > "$folder/out" 2>&1
status=$?
dir=$(ls -d "$folder"/demo/experiments/digits-objectives-*/)
tunepipe=$TP_BUILD/tunepipe
"$tunepipe" show --json "$dir" > "$folder/show.json"

demo_objectives_end_well() { [ $status = 0 ] || fail "$(tail -n 3 "$folder/out")"; }
demo_objectives_have_a_front_of_six() {
    front=$(sed 's/"trials": .*//' "$folder/show.json" | grep -o '"knee"' | wc -l)
    [ "$front" -ge 6 ] || fail "a front of $front"
}
demo_objectives_show_it() {
    grep -q '^front of [0-9]*, of 100 results' "$folder/out" &&
        grep -q '^hypervolume ' "$folder/out" &&
        grep -q '^  [0-9]* \*' "$folder/out"
}
demo_objectives_have_a_page() {
    grep -q '"objectives":' "$dir/report.html"
}
demo_objectives_replay() {
    "$tunepipe" replay --verify "$dir" | grep -q '^identical: '
}

for test in demo_objectives_end_well demo_objectives_have_a_front_of_six \
    demo_objectives_show_it demo_objectives_have_a_page \
    demo_objectives_replay; do
    check "$test" "$test"
done
finish
