#!/bin/sh
# SPDX-License-Identifier: MIT
# Lock step through kill -9: the same table as without.  KILL_ROUNDS=N: so many
# experiments that are killed at any moment, from seed KILL_SEED on.
# takes long
. "$(dirname "$0")/lib.sh"

# KILLS_MORE: every place instead of some.
if [ -n "${KILLS_MORE:-}" ]; then
    places='00000.1 00000.2 00000.3 00000.4 00000.5 00001.1 00001.2 00001.3
        00001.4 00001.5 00002.1 00002.3 00002.5 00003.1 00003.2 00004.1 00004.2
        00005.1 00005.2 00006.1 00006.2 00007.1 00007.2 00008.1 00008.2 00008.3
        00008.4 00008.5 00009.1 00009.2 00009.3 00009.4 00009.5'
else
    places='00000.1 00004.2 00009.5'
fi

cat > "$work/nap" << 'E'
sleep 0.0$(($(date +%N | tr -cd 1-9 | tail -c 3) % 5))
E

write_kill_them "$work/kill_them"

# It kills once, where `when` says.
set_up() {
    experiment 'maxTrialNumber: 10' 'trialConcurrency: 3' 'seed: 3' \
        'enqueue: [{x: 0.9}, {}, {x: 0.1}, {x: 0.5}]' \
        'assessor: {name: medianstop, classArgs: {optimize_mode: maximize, start_step: 2}}' << 'E'
for i in 1 2 3 4 5; do
    . "$HERE/../nap"
    [ "$TUNEPIPE_TRIAL_ID.$i" = "$(cat "$HERE/when")" ] &&
        mkdir "$HERE/killed" 2>&- && sh "$HERE/../kill_them" "$(cat "$HERE/whom")"
    v=$(awk "BEGIN { printf \"%.6f\", $TUNEPIPE_PARAM_x * $i }")
    if [ $((1$TUNEPIPE_TRIAL_ID % 2)) = 0 ]; then
        tunepipe trial report "$v"
    else
        tunepipe trial report --sync "$v" || exit 0
    fi
done
tunepipe trial report --final "$v"
E
    echo nobody > when
}

# What must be the same: all but the times.
table() {
    "$T" show --json "$dir" | sed 's/"duration_s": [^,]*, //g'
}

# killed WHOM: at each place; a manager is resumed, a dispatcher restarted.
killed() {
    set_up
    echo "$1" > whom
    run 0 --deterministic || return 1
    table > want
    for at in $places; do
        rm -rf killed
        echo "$at" > when
        sh -c 'echo $$ > pid; HERE=$PWD exec "$0" run --deterministic e.yml' \
            "$T" > out 2> err
        status=$?
        dir=$(ls -d tunepipe-experiments/* | tail -n 1)
        if [ "$1" != dispatcher ]; then
            [ $status = 137 ] || fail "$at: status $status" || return 1
            HERE=$PWD "$T" resume "$dir" > out 2> err
            status=$?
        fi
        [ $status = 0 ] || fail "$at: status $status" || return 1
        [ -d killed ] || fail "$at: nobody was killed" || return 1
        table > got
        cmp want got || { diff want got; fail "$at: another table"; return 1; }
        replays || fail "$at: replay" || return 1
    done
}

manager() { killed manager; }
check "the manager is killed" manager

dispatcher() { killed dispatcher; }
check "the dispatcher is killed" dispatcher

both() { killed both; }
check "both are killed" both

# Trials are started again, and pass over what they had reported.
all() { killed all; }
check "all are killed" all

# any: at moments drawn from the seed, six times.
any() {
    set_up
    echo 'deterministic: true' >> e.yml
    run 0 || return 1
    table > want
    for seed in $(seq "${KILL_SEED:-1}" $((${KILL_SEED:-1} + ${KILL_ROUNDS:-2} - 1))); do
        rm -rf tunepipe-experiments # it looks for the one there is
        HERE=$PWD "$TP_BUILD/tests/tools/killer" "$seed" 6 "$T" e.yml \
            > out 2> err || fail "seed $seed: status $?" || return 1
        grep '^killed: ' out >> kills
        dir=$(ls -d tunepipe-experiments/*)
        table > got
        cmp want got ||
            { diff want got; fail "seed $seed: another table"; return 1; }
        replays || fail "seed $seed: replay" || return 1
    done
    grep -q '[1-9]' kills || fail 'nobody was killed'
}
check "kill -9 at any moment" any

finish
