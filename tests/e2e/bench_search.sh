#!/bin/sh
# SPDX-License-Identifier: MIT
# Short runs of what make bench-quality and make bench-ask do.
# not under tsan
# not under asan
. "$(dirname "$0")/lib.sh"
bench() { # STATUS quality|ask; settings are in the environment
    want=$1
    INTO=$PWD/results "$TP_SOURCE/scripts/bench-search" "$TP_BUILD" "$2" \
        > out 2> err
    got=$?
    [ "$got" = "$want" ] || fail "exit status $got, expected $want"
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

quality_compares_tuners() {
    export TUNERS='random grid twin=random:{"seed":5}' SEEDS=2 \
        BUDGETS='10 20' OURS=random \
        FAMILIES='bbob_d2 kernels kernels_edge bbob_f1_d5_gauss_severe'
    bench 0 quality || return 1
    has out '^bbob_d2, seq, after 10 trials' '^conditional, seq, after 20' \
        '^all, par:10, after 20 trials' '^  *3 twin  *30 ' \
        '^  random  *p  *ratio ' '^behind: bbob_d2, seq, 10, grid (' &&
        has results/figures-quality.txt '^seq.all.20.twin.ratio [0-9.]' \
            '^seq.bbob_d2.20.twin.vs.grid.low [0-9.]*$' \
            '^par:10.bbob_d2.10.grid.rank [0-9.]*$' || return 1
    # Nothing in it depends on the clock.
    mv out first && mv results first-results
    bench 0 quality || return 1
    cmp first out && diff -r first-results results
}

quality_takes_others() {
    export TUNERS=random SEEDS=2 BUDGETS=20 FAMILIES=kernels MODES=seq
    bench 0 quality && mkdir peers || return 1
    sed 's/"random"/"theirs"/' results/runs-seq.jsonl > peers/theirs.jsonl
    sed 's/"random"/"older"/' results/runs-seq.jsonl > ours.jsonl
    sed 's/"kernels"/"further"/' results/runs-seq.jsonl > further.jsonl
    # shellcheck disable=SC2016 # the variables are those of the command
    export PEERS="$PWD/peers" RESULTS="$PWD/ours.jsonl" FURTHER='
        cat further.jsonl >> "$OUT"
        echo "$LABEL $SEEDS $BUDGET $MODE $DISPATCH" >> told'
    bench 0 quality || return 1
    has out '^  *3 peer/theirs  *2 ' '^  *2 older  *2 ' '^  *1 random  *4 ' &&
        has told "^random 2 20 seq .*/tunepipe dispatch .*--seed {seed}"
}

objectives_lose_volume() {
    export TUNERS='random nsga2' SEEDS=2 BUDGETS='10 20' OURS=nsga2 \
        FAMILIES='mo_nested mo_limited'
    cat > theirs.jsonl << 'E'
{"problem": "mo_branches", "family": "mo_nested", "solver": "theirs", "seed": 0, "mode": "seq", "after": [10, 20], "best": [1, 0]}
{"problem": "mo_branches", "family": "mo_nested", "solver": "theirs", "seed": 1, "mode": "seq", "after": [10, 20], "best": [1, 0]}
E
    PEERS=$PWD/theirs.jsonl bench 0 objectives || return 1
    has out '^mo_nested, seq, after 10 trials' '^mo_limited, seq, after 20' \
        '^  *3 peer/theirs  *2 ' '^  *2 nsga2  *2 '
}

a_missing_tuner_costs_itself() {
    export TUNERS='random nosuch' SEEDS=1 BUDGETS=10 FAMILIES=kernels \
        MODES=seq TRIALS='10 20' COUNT=no
    bench 1 quality || return 1
    has out "nosuch: 1 runs failed, .*no tuner 'nosuch'" '^  *1 random  *1 ' ||
        return 1
    bench 0 ask || return 1
    has out '^  nosuch  *-  *-$' &&
        has err "ask: nosuch, 10 trials: .*no tuner 'nosuch'"
}

ask_measures_every_tuner() {
    export TRIALS='10 1100' COUNT=no
    bench 0 ask || return 1
    for tuner in random grid; do
        has results/figures-ask.txt "^ask.$tuner.1100.cycle-us [0-9.]*$" \
            "^ask.$tuner.10.cpu-us [0-9.]*$" \
            "^ask.$tuner.1100.trial-bytes " || return 1
    done
    has out '^tell and ask, ms  *10  *1100$' '^  Optuna'
}

check "bench-quality compares tuners, the same each time" \
    quality_compares_tuners
check "bench-quality takes results of others" quality_takes_others
check "several costs are measured by their hypervolume" objectives_lose_volume
check "a tuner that is missing costs itself" a_missing_tuner_costs_itself
check "bench-ask measures every tuner" ask_measures_every_tuner
finish
