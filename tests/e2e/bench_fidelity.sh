#!/bin/sh
# SPDX-License-Identifier: MIT
# Short runs of what make bench-fidelity does.
# not under asan
# not under tsan
. "$(dirname "$0")/lib.sh"
bench() { # STATUS; settings are in the environment
    INTO=$PWD/results "$TP_SOURCE/scripts/bench-fidelity" "$TP_BUILD" \
        > out 2> err
    got=$?
    [ "$got" = "$1" ] || fail "exit status $got, expected $1"
}

has() { # FILE PATTERN...
    file=$1
    shift
    for pattern in "$@"; do
        grep -q -- "$pattern" "$file" || {
            fail "$file: no $pattern"
            return 1
        }
    done
}

advisors_are_compared() {
    export SEEDS=4 PROBLEMS='aligned noisy' BUDGETS='5 10'
    bench 0 || return 1
    has out "^aligned, epochs:4, after 5 whole trials' worth" \
        '^  *1 random  *8 ' '^  *3 tpe+medianstop  *8 ' '^  *5 bohb  *8 ' \
        '^  *6 asha  *8 ' '^  *9 async  *8 ' || return 1
    # What is ahead early is ahead late: it has to show.
    awk '$1 == "epochs:4.aligned.10.asha.regret" {exit !($2 < 0.8)}' \
        results/figures-fidelity.txt || return 1
    # Nothing in it depends on the clock.
    mv out first && mv results first-results
    bench 0 || return 1
    cmp first out && diff -r first-results results
}

# A curve of two values, of one parameter.
curves_of_a_command() {
    cat > curves << 'E'
[ "$1" = bowl ] || exit 1
echo '{"space": {"x": {"_type": "uniform", "_value": [0, 1]}}, "longest": 2}'
while read -r line; do
    x=$(echo "$line" | sed 's/[^0-9.e-]//g')
    awk "BEGIN {y = ($x - 0.5) ^ 2; print \"[\" y + 1 \", \" y \"]\"}"
done
E
    export SEEDS=2 PROBLEMS=bowl BUDGETS=5 CURVES="sh $PWD/curves" \
        TUNERS='random all=asha:{"max_budget":2}@nni'
    bench 0 || return 1
    has out '^  *2 all  *2 ' &&
        has results/runs-fidelity.jsonl '"problem": "bowl".*"seed": 1'
}

mistakes_are_named() {
    export SEEDS=1 BUDGETS=5 PROBLEMS=nosuch TUNERS=random
    bench 1
    has err "no problem 'nosuch'" || return 1
    export PROBLEMS=aligned TUNERS=nosuch
    bench 1
    has err "no tuner 'nosuch'"
}

for test in advisors_are_compared curves_of_a_command mistakes_are_named; do
    check "$test" "$test"
done
finish
