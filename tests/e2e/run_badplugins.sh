#!/bin/sh
# SPDX-License-Identifier: MIT
# Plugins that crash, never return, harm what they are lent or print, under
# `tunepipe run`: the experiment goes on or ends, nothing is left running, and a
# sentence names the plugin.
. "$(dirname "$0")/lib.sh"

# bad PLUGIN HOW LINE...: three trials that report twice, with it as tuner or
# assessor.
bad() {
    plugin="{plugin: $PLUGINS/$1.so, classArgs: {how: $2}}"
    case $1 in
    mistuner) plugin="tuner: $plugin" ;;
    misassessor) plugin="assessor: $plugin" ;;
    esac
    shift 2
    experiment 'maxTrialNumber: 3' "$plugin" "$@" << 'E'
tunepipe trial report 10
tunepipe trial report 20
tunepipe trial report --final "$TUNEPIPE_PARAM_x"
E
}

# none_left: whatever ran for this experiment is gone.  A process that ends
# while it is looked at is gone, too.
none_left() {
    for p in /proc/[0-9]*; do
        tr '\0' ' ' < "$p/cmdline" > cmdline 2>&- || continue
        ! grep -qF -- "$PWD/tunepipe-experiments" cmdline ||
            fail "left: $(cat cmdline)" || return 1
    done
}

# went_on TEXT...: all trials had their results; the dispatcher said TEXT.
went_on() {
    run 0 && count 3 succeeded && replays && none_left || return 1
    for text in "$@"; do
        has "$dir/dispatcher.log" "$text" || return 1
    done
}

# refused TEXT: from the third trial on there were no parameters, because.
refused() {
    run 1 && count 2 succeeded && replays && none_left &&
        has err "tuner mistuner: ask: $1" &&
        has err 'no parameters' &&
        has "$dir/summary.json" '"ok": false'
}

# died WHO: it took the dispatcher along twice, at a command that is named; the
# experiment went on without that command.
died() {
    run 0 && none_left && replays && count 3 succeeded &&
        grep -qE "the dispatcher died .signal 11. while (.* and )?$1 " err ||
        return
    n=$(sed -n "s/.*: $1 .*mis$1[.]so kills .* at command \([0-9]*\),.*/\1/p" \
        err | head -n 1)
    "$T" log "$dir" > log
    grep -qE "^ *$n .*<" log || fail "it names command '$n'"
}

ask_nan() { bad mistuner nan; refused 'x: is NaN, expected a number within'; }
ask_unwritten() { bad mistuner unwritten; refused 'x: is NaN, expected'; }
ask_lost() { bad mistuner lost; refused 'the point is lost'; }
check "a tuner that gives NaN" ask_nan
check "a tuner that writes nothing" ask_unwritten
check "a tuner that moves its array and fails" ask_lost

ask_beyond() {
    bad mistuner beyond
    went_on && [ ! -s err ] && has "$dir/trials/00002/parameters.json" '1.0' &&
        has show.json '"value": 1.0'
}
check "a tuner that gives what lies beyond the range: it is clipped" ask_beyond

ask_lost_fallback() {
    bad mistuner lost 'filters: [fallback]'
    went_on 'is a sample of the prior: tuner mistuner: ask: the point is lost'
}
check "the same under fallback" ask_lost_fallback

sizes() { bad mistuner sizes; went_on && [ ! -s err ]; }
check "a tuner that overwrites sizes" sizes

# What it wrote, 0.125, is seen nowhere: not at the end, not in the results.
tell_x() {
    bad mistuner "tell x"
    went_on 'tuner mistuner: tell: it changed the x it was lent' &&
        grep -qE 'command [0-9]+ [(]ME[)]: tuner mistuner: tell: it' err &&
        lacks "$dir/dispatcher.log" 'ended at 0.125' &&
        ! grep -E ': 0\.125[],}]' show.json || return 1
    x=$(awk -F '\t' '$1 == "x" { print $2 }' "$dir/trials/00002/parameters.tsv")
    at=$(sed -n 's/.*: 2 ended at //p' "$dir/dispatcher.log")
    [ "$(printf %.4f "$x")" = "$(printf %.4f "$at")" ] || fail "$x, not $at"
}
check "a tuner that writes into x when told" tell_x

ended_x() {
    bad mistuner "ended x"
    went_on 'tuner mistuner: ended: it changed the x it was lent'
}
check "a tuner that writes into x at the end" ended_x

tell_99() {
    bad mistuner "tell 99"
    went_on 'tuner mistuner: tell: returned 99, expected TP_OK (0) or TP_ERR'
}
check "a tuner that returns an unknown code" tell_99

tell_crashes() { bad mistuner "tell crashes"; died tuner; }
check "a tuner that crashes when told" tell_crashes

filter_crashes() {
    echo 'tunepipe trial report --final 1' | experiment 'maxTrialNumber: 5' \
        "filters: [{name: $PLUGINS/badfilter.so, args: {how: crashes}}]"
    run 1 && count 2 succeeded && none_left && replays &&
        has err 'no parameters' && grep -qE \
        'while tuner random [(]or a filter around it[)] was at command [0-9]+:' \
        err
}
check "a filter that crashes" filter_crashes

config_crashes() {
    bad mistuner 'config crashes' 'assessor: {name: medianstop}'
    run 1 && none_left &&
        has err 'the dispatcher ended by itself (signal 11) while tuner ' &&
        has err '/mistuner.so and assessor medianstop were being set up;'
}
check "a tuner that crashes at the start" config_crashes

# These trials are all there are: the experiment is complete.
tell_hangs() {
    bad mistuner "tell hangs"
    run 0 && count 3 succeeded && none_left && replays &&
        has err 'the dispatcher ended with exit status 6 while tuner' &&
        has err 'mistuner.so was at command'
}
check "a tuner that never returns at the last result" tell_hangs

# Said while it hangs; then the user has enough.
ask_hangs() {
    echo 'tunepipe trial report --final 1' |
        experiment "tuner: {plugin: $PLUGINS/hangs.so}"
    run 1 &
    until grep -qs 'no trial has run' err; do
        kill -0 $! 2>&- || break
        sleep 0.1
    done
    kill -INT "$(cat pid)"
    wait $! || fail "$(cat out)" || return 1
    dir=$(ls -d tunepipe-experiments/*)
    count 2 succeeded && none_left && replays &&
        has err '; Ctrl-C ends the experiment' &&
        grep -qE 'no trial .* while tuner .*hangs[.]so was at command [0-9]+;' \
            err && has err 'exit status 6 while tuner' &&
        has out 'interrupted after 2 trials'
}
check "a tuner that never returns" ask_hangs

tuner_prints() {
    bad mistuner 'ended prints'
    went_on 'KI00000000000002""' && lacks out KI && lacks err KI
}
check "a tuner that prints a frame" tuner_prints

# What it wrote it sees again itself, in that trial alone.
values() {
    bad misassessor values
    went_on 'assessor misassessor: 0: 2 from 10 to 20' \
        'assessor misassessor: 1: 2 from -1 to 20' \
        'assessor misassessor: 2: 2 from 10 to 20' &&
        has show.json '"latest": 20.0' && lacks show.json -1.0 && [ ! -s err ]
}
check "an assessor that writes into a history" values

members() {
    bad misassessor members
    went_on 'assessor misassessor: 1: 2 from 10 to 20' && [ ! -s err ]
}
check "an assessor that overwrites what holds the history" members

assess_99() {
    bad misassessor 'returns 99'
    went_on 'assessor misassessor: assess: returned 99, expected TP_OK (0)'
}
check "an assessor that returns an unknown code" assess_99

decides() {
    bad misassessor 'decides 7'
    went_on 'assessor misassessor: assess: decision is 7, expected TP_GO'
}
check "an assessor that decides what there is not" decides

assess_crashes() { bad misassessor crashes; died assessor; }
check "an assessor that crashes" assess_crashes

assess_ended_crashes() { bad misassessor 'ended crashes'; died assessor; }
check "an assessor that crashes at an end" assess_ended_crashes

# A slow assessor delays nobody: the tuner hears of all trials.
assess_hangs() {
    bad misassessor hangs
    run 0 && count 3 succeeded && none_left && replays &&
        has err 'the dispatcher ended with exit status 6 while assessor' &&
        has err 'misassessor.so was at command'
}
check "an assessor that never returns" assess_hangs

assess_prints() {
    bad misassessor prints
    went_on 'KI00000000000007"00000"' && lacks out KI && lacks err KI
}
check "an assessor that prints a frame" assess_prints

finish
