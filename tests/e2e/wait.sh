#!/bin/sh
# SPDX-License-Identifier: MIT
# tunepipe wait: what happens in an experiment that runs without end.
# not under tsan
. "$(dirname "$0")/lib.sh"

# endless LINE...: its trials end one after the other, until it is stopped.
endless() {
    experiment "$@" << 'E'
tunepipe trial report 1
tunepipe trial report --final 2
E
    "$T" run e.yml > out 2> err &
    manager=$!
    (meanwhile 'ls tunepipe-experiments/*/control > control 2>&-' "$manager") ||
        return 1
    dir=$(dirname "$(cat control)")
}

# stopped: it is, and no process of it is left.
stopped() {
    "$T" stop "$dir" > stop.out 2>&1
    wait "$manager"
}

# waits STATUS WORD...: tunepipe wait with these words, into got and why.
waits() {
    want=$1
    shift
    "$T" wait "$@" > got 2> why
    is=$?
    [ "$is" = "$want" ] || fail "wait $*: status $is, expected $want: $(cat why)"
}

one() {
    endless && waits 0 "$dir" trial.ended && has got '"status": "succeeded"' &&
        has got '{"event": "trial.ended", "time": ' &&
        waits 0 "$dir" metric --timeout 1h && has got '{"event": "metric", ' &&
        waits 0 trial.started && has why "$(basename "$dir")" &&
        has got '"parameters": {"x": ' && [ "$(grep -c . got)" = 1 ]
    bad=$?
    stopped
    return $bad
}
check "an event is waited for and printed" one

several() {
    endless && waits 0 "$dir" 'trial.*' --count 7 --timeout 1h &&
        [ "$(grep -c '^{"event": "trial\..*}$' got)" = 7 ] ||
        fail "$(cat got)"
    bad=$?
    stopped
    return $bad
}
check "so many events, by a pattern" several

late() {
    endless && waits 1 "$dir" dispatcher.restarted --timeout 0.2s &&
        has why 'did not happen before the time was over' && [ ! -s got ]
    bad=$?
    # In which time some come depends on the machine.
    for time in 0.2 1 5 25; do
        [ "$bad" = 0 ] && [ ! -s got ] || break
        waits 1 "$dir" metric --count 1000000 --timeout ${time}s
        bad=$?
    done
    [ -s got ] || bad=1
    stopped
    return $bad
}
check "a time that is over" late

ends() {
    endless || return 1
    "$T" wait "$dir" plugin.error > no 2> no.err &
    never=$!
    "$T" wait "$dir" experiment.ended > yes 2> yes.err &
    ever=$!
    # Both have asked when they are among those who are answered.
    waits 0 "$dir" trial.ended --count 3
    stopped
    wait "$never" && fail 'it did not happen' && return 1
    wait "$ever" || fail "$(cat yes.err)" || return 1
    [ ! -s no ] && has yes '"event": "experiment.ended"' &&
        has yes '"why": "interrupted' &&
        waits 0 "$dir" experiment.ended && has got '"event": "experiment.ended"' &&
        has got '"why": "interrupted' && waits 1 "$dir" trial.ended &&
        has why 'tunepipe resume'
}
check "the end of the experiment" ends

died() {
    endless || return 1
    "$T" wait "$dir" dispatcher.restarted > no 2> no.err &
    never=$!
    waits 0 "$dir" metric
    kill -KILL "$manager"
    wait "$manager"
    wait "$never" && fail 'it did not happen' && return 1
    waits 1 "$dir" experiment.ended && has why 'tunepipe resume' && [ ! -s got ]
}
check "a manager that dies" died

paused() {
    endless || return 1
    "$T" wait "$dir" 'experiment.[pc]*' --count 2 > both 2> both.err &
    both=$!
    # Whenever it begins to wait, a pause and a continuation come behind that.
    while kill -0 "$both" 2>&-; do
        "$T" pause "$dir" > told 2>&1 && "$T" continue "$dir" >> told 2>&1 ||
            break
    done
    wait "$both"
    bad=$?
    stopped
    [ "$bad" = 0 ] && has both '"event": "experiment.paused"' &&
        has both '"event": "experiment.continued"'
}
check "a pause and its end" paused

# Who goes away without an answer costs nothing, nor who never reads.
gone() {
    endless || return 1
    for i in 1 2 3 4 5; do
        "$T" wait "$dir" metric --count 1000000 > gone.$i 2>&1 &
        (meanwhile "[ -s gone.$i ]" "$!") || return 1
        kill -KILL $!
    done
    waits 0 "$dir" trial.ended --count 3
    bad=$?
    stopped
    lacks err 'warning' && return $bad
}
check "who waits may go away" gone

# Without an event it is the end; a folder alone is no event.
the_end() {
    endless && waits 1 "$dir" --timeout 0.2s &&
        has why 'experiment.ended: it did not happen before the time was over'
    bad=$?
    stopped
    [ "$bad" = 0 ] && waits 0 "$dir" && has got '{"event": "experiment.ended", ' &&
        waits 0 && has got '{"event": "experiment.ended", '
}
check "the end, where nothing else is said" the_end

wrong() {
    mkdir none
    waits 2 none trial.endet && has why "'trial.endet'" &&
        waits 3 && waits 3 none && waits 2 none best --count 0 && waits 2 a b c &&
        waits 2 none best --timeout soon && waits 3 none best &&
        waits 3 best
}
check "what is refused" wrong

finish
