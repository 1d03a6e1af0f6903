#!/bin/sh
# SPDX-License-Identifier: MIT
# `tunepipe plugin check`: nothing to say against the plugins of the tree, the
# right line for each test plugin that has a fault.
# not under tsan
# takes long
set -u
: "${TP_BUILD:?is not set: run the tests with make check}"
: "${TP_SOURCE:?is not set: run the tests with make check}"
. "$TP_SOURCE/tests/e2e/lib.sh"

# CPU time is shown and never asked for here: `latency` may be a warning, and a
# busy machine may take its time.  The filter error fails as often as its
# argument says; bohb, gp, parego and smac, whose 10,000 results are given up
# after 20 s of CPU time, are hurried.
own_plugins() { # NAMES
    case $TP_BUILD in
    */tsan | */asan) echo "the unit tests do it under a sanitizer"; return 77 ;;
    esac
    for so in "$TP_BUILD"/plugins/$1.so; do
        case $so in
        */error.so) set -- --args '{"every": 1000000000}' ;;
        *) set -- ;;
        esac
        case $so in
        */bohb.so | */gp.so | */parego.so | */smac.so)
            hurried=$TP_BUILD/tests/preload/hurried.so ;;
        *) hurried= ;;
        esac
        LD_PRELOAD=$hurried "$T" plugin check "$so" --timeout 600 "$@" \
            > out 2> err || fail "$so: $(cat out err)" || return 1
        if grep -v latency out | grep -E '^(warning|skipped)'; then
            fail "$so: $(cat out)"
            return 1
        fi
        has out ' 0 failed' || return 1
        [ "$(grep -cE '^(ok|warning) ' out)" = 9 ] || fail "$so: $(cat out)" ||
            return 1
    done
}

own_to_f() { own_plugins '[a-f]*'; }
own_from_g() { own_plugins '[g-z]*'; }

# PLUGIN [HOW]|STATUS|LINE: a line begins so; HOW is the argument of that name.
faults() {
    cat <<'TABLE'
ask_fails|1|FAILED  conformance: ask failed: the matrix is singular
ask_silent|1|FAILED  conformance: ask failed and did not say why: call host->error()
assess_fails|1|FAILED  conformance: assess failed: value 5 is odd; order
bad_abi|1|FAILED  load: .*bad_abi.so: built for plugin ABI 2
bad_default|1|FAILED  load: .*argument 'gamma': default: is 30
bad_flags|1|FAILED  load: .*[.]flags is 0x
bad_magic|1|FAILED  load: .*not a table of a tuner
bad_name|1|FAILED  load: .*[.]name is 'Bad Name'
bad_point|1|FAILED  conformance: ask of id 0 gave a bad point: c: is NaN, .*space: mixed, order "sa" at "a"
config_fails|1|FAILED  conformance: config failed: a and b do not go together
crashes|1|FAILED  conformance: died of SIGSEGV (11) in ask of id 2; space: mixed, order "saaaa" at "aa"
create_fails|1|FAILED  conformance: create failed: no licence for 64 cores
exits|1|FAILED  conformance: the process ended with status 3 in ask of id 2; .*must not call exit()
flushes|0|warning surroundings: loading it changes the floating-point environment
flushes|0|warning surroundings: create changes the floating-point environment
later|0|ok      conformance: [1-9][0-9]* points
calls|1|FAILED  conformance: ask of id 0 gave a bad point: c: is 0.25, expected an index
misfilter|1|FAILED  conformance: ask replaced out->x: fill the array it points to; .*order "sa" at "a"
badfilter keeps space|1|FAILED  conformance: space kept the search space from the layer inside
badfilter keeps tell|1|FAILED  conformance: tell kept id 0 from the layer inside, .*order "saFe" at "Fe"
badfilter keeps ended|1|FAILED  conformance: ended kept id 0 from the layer inside
badfilter tells unknown|1|FAILED  conformance: tell called next->tell() for id 1, for which next->ask() did not say TP_OK.*the layer inside says TP_LATER
badfilter ends unknown|1|FAILED  conformance: ended called next->ended() for id 1, for which next->ask() did not say TP_OK
badfilter tells twice|1|FAILED  conformance: tell called next->tell() for id 0 twice
badfilter ends twice|1|FAILED  conformance: ended called next->ended() for id 0 twice
badfilter tells other|1|FAILED  conformance: tell called next->tell() for id 0 with another x
badfilter imports with id|1|FAILED  conformance: tell called next->tell() for an id with how 3
badfilter asks other|1|FAILED  conformance: ask called next->ask() for id 77, which the host did not ask for
badfilter asks early|1|FAILED  conformance: space called next->ask() before next->space() succeeded
badfilter early ok|1|FAILED  conformance: space returned TP_OK, though the layer inside refused
badfilter blames itself|1|FAILED  conformance: [a-z]* called host->error(), 'it failed: tuner inside: .*the layer inside fails each third call
badfilter silent|1|FAILED  conformance: ask failed and did not say why
badfilter wrong code|1|FAILED  conformance: ask of id 0 returned 99
badfilter other space|1|FAILED  conformance: space gave next->space() another search space
badfilter beyond|1|FAILED  conformance: ask of id 0 gave 'u' 2, beyond low 0 and high 1
badfilter scribbles|1|FAILED  conformance: tell changed the x it was lent: work on a copy
badfilter crashes|1|FAILED  conformance: died of SIGSEGV (11) in ask of id 2; space: mixed
badfilter leaks|1|FAILED  leaks: [0-9]* bytes are lost from each create to destroy
badfilter clock|1|FAILED  determinism: first 'ask of id 0: .*no clock, address
badfilter slow|0|warning latency: ask and tell: .* 10000 results: grows like the square
badfilter prints|0|warning output: it prints 'hello'
badfilter umask|0|warning surroundings: ask changes the umask
mistuner nan|1|FAILED  conformance: ask of id 2 gave a bad point: c: is NaN
mistuner waits|1|FAILED  extremes: ask of id [0-9]*; space: values too .* calls the host more than [0-9]* times for each parameter: bound what waits
mistuner tell x|1|FAILED  conformance: tell changed the x it was lent
mistuner ended x|1|FAILED  conformance: ended changed the x it was lent
mistuner tell 99|1|FAILED  conformance: tell returned 99, expected TP_OK
misassessor values|1|FAILED  conformance: assess changed the history it was lent
misassessor returns 99|1|FAILED  conformance: assess returned 99, expected TP_OK
misassessor decides 7|1|FAILED  conformance: assess decided 7, expected TP_GO
misassessor crashes|1|FAILED  conformance: died of SIGSEGV (11) in assess of id 1
scores well|0|ok      determinism
scores fails|1|FAILED  determinism: the second time: score failed: it does not want to
scores changes|1|FAILED  determinism: the second time: score changed a point it was lent
scores remembers|1|FAILED  determinism: first 'ask of id 1: .*who asks for reasons or scores may matter
missaver well|0|ok      saving: [0-9]* times loaded what was saved, up to 19 bytes, with the same answers; [0-9]* of [0-9]* damaged states refused
missaver save fails|1|FAILED  saving: save failed: there is no pen; space: mixed, order "saaaa" at "aa
missaver save silent|1|FAILED  saving: save failed and did not say why: call host->error()
missaver save 99|1|FAILED  saving: save returned 99, expected TP_OK
missaver changes|1|FAILED  saving: save wrote other bytes after load than load had read, from byte 0 on
missaver grows|1|FAILED  saving: save wrote other bytes after load than load had read, from byte 8 on
missaver forgets|1|FAILED  saving: it answers otherwise after save, or after load of what was saved: first 'ask of id [0-9]: 0 .*space: mixed, order "
missaver trusts|1|FAILED  saving: died of SIGSEGV (11) in load; the state of [0-9]* bytes was damaged: a byte changed at
missaver loops|1|FAILED  saving: not done within 5000 ms, it was in load; the state of [0-9]* bytes was damaged
missaver careless|1|FAILED  saving: load returned TP_OK though the end was missing: look at what the source returns; the state of 19 bytes was damaged: cut off at
missaver load fails|1|FAILED  saving: load failed: it cannot read; space: mixed
missaver load silent|1|FAILED  saving: load failed and did not say why
missaver leaves|1|FAILED  saving: load left 9 of the 17 bytes that save had written
missaver reads on|1|FAILED  saving: load read more than the 17 bytes that save had written
missaver_assessor well|0|ok      saving: [0-9]* times loaded what was saved
missaver_assessor forgets slots|1|FAILED  saving: save wrote other bytes after load than load had read, from byte 8 on
missaver_assessor values|1|FAILED  saving: save changed a history it was lent: work on a copy; order
no_load|1|FAILED  load: .*tuner needs [.]load (it has [.]save)
every_arg|0|ok      saving: it has no save and load: it is replayed from the beginning
otherbuild|1|FAILED  load: .*otherbuild.so: a filter of another build
shortfilter|1|FAILED  load: .*shortfilter.so: a filter of another build
done|0|ok      conformance: [1-9][0-9]* points
newer|0|ok      load: tuner newer, version 7, 2 arguments
every_arg|0|ok      load: tuner every_arg, version 1, 6 arguments
labels|0|warning load: .version is 0
stops_at|0|ok      conformance: [1-9][0-9]* verdicts
never|0|warning conformance: ask never gave a point
no_ask|1|FAILED  load: .*tuner needs .ask
no_assess|1|FAILED  load: .*assessor needs .assess
not_a_plugin|1|FAILED  load: .*no plugin of tunepipe
null_table|1|FAILED  load: .*its tuner table is NULL
prints|0|warning output: it prints 'TR00000000000002{}
returns_99|1|FAILED  conformance: ask of id 0 returned 99, expected TP_OK
scribbles|1|FAILED  conformance: tell changed the x it was lent: work on a copy
space_fails|0|warning conformance: space refused every space tried, .*no dimension 'good'
too_short|1|FAILED  load: .*its table has 104 bytes
undefined|1|FAILED  load: .*undefined symbol: tests_nobody_has_this
all_set|1|FAILED  conformance: ask of id [0-9]* set '[a-z/]*', which is inactive
clocks|1|FAILED  determinism: first 'ask of id 0: .*no clock, address
addresses|1|FAILED  determinism: first 'ask of id 0: .*no clock, address
leaks|1|FAILED  leaks: [4-9][0-9] bytes are lost from each create to destroy
meddles|0|warning surroundings: ask changes a signal handler
meddles|0|warning surroundings: ask changes the working folder
meddles|0|warning surroundings: ask changes the umask
meddles|0|warning surroundings: ask changes the environment
TABLE
}

each_fault() {
    faults > table
    while IFS='|' read -r plugin status line; do
        if [ ! -f "$plugin.out" ]; then
            case $plugin in
            *loops) set -- --args '{"how": "loops"}' --timeout 5s ;;
            *' '*) set -- --args "{\"how\": \"${plugin#* }\"}" ;;
            *) set -- ;;
            esac
            "$T" plugin check "$PLUGINS/${plugin%% *}.so" "$@" \
                > "$plugin.out" 2> err
            echo $? > "$plugin.status"
        fi
        grep -q "^$line" "$plugin.out" ||
            fail "$plugin: no line '$line' in: $(cat "$plugin.out" err)" ||
            return 1
        [ "$(cat "$plugin.status")" = "$status" ] ||
            fail "$plugin: status $(cat "$plugin.status"), expected $status" ||
            return 1
        tail -n 1 "$plugin.out" | grep -qE \
            ': [0-9]+ ok, [0-9]+ warnings, [0-9]+ failed$' ||
            fail "$plugin: last line: $(tail -n 1 "$plugin.out")" || return 1
    done < table
}

a_hang_is_found() {
    "$T" plugin check "$PLUGINS/hangs.so" --timeout 3s > out 2> err
    [ $? = 1 ] || fail "$(cat out)" || return 1
    has out 'FAILED  conformance: not done within 3000 ms, it was in ask of id 2; space: mixed' &&
        has out 'skipped leaks: needs conformance' &&
        has out 'hangs: 2 ok, 0 warnings, 1 failed' || return 1
    "$T" plugin check "$PLUGINS/badfilter.so" --args '{"how": "hangs"}' \
        --timeout 3s > out 2> err
    [ $? = 1 ] && has out 'not done within 3000 ms, it was in ask of id 2'
}

arguments_can_be_given() {
    "$T" plugin check "$PLUGINS/crashes.so" --args '{"id": 1000000000}' > out 2>&1 ||
        fail "$(cat out)" || return 1
    "$T" plugin check "$PLUGINS/crashes.so" --args '{"ID": 1}' > out 2>&1
    [ $? = 1 ] || fail "unknown argument accepted" || return 1
    has out "did you mean 'id'"
}

json_says_the_same() {
    "$T" plugin check --json "$PLUGINS/bad_point.so" > out 2> err
    [ $? = 1 ] || fail "status" || return 1
    has out '"kind": "tuner", "name": "bad_point"' &&
        has out '{"check": "conformance", "verdict": "FAILED", "text": "ask of' &&
        has out '"ok": 2, "warnings": 0, "failed": 1}'
}

usage_errors() {
    "$T" plugin > out 2>&1
    [ $? = 2 ] || fail "no word: $(cat out)" || return 1
    has out 'expected: check FILE.so' || return 1
    "$T" plugin czech x.so > out 2>&1
    [ $? = 2 ] || fail "wrong word: $(cat out)" || return 1
    "$T" plugin check > out 2>&1
    [ $? = 2 ] || fail "no file: $(cat out)" || return 1
    "$T" plugin check ./none.so > out 2>&1
    [ $? = 3 ] && has out './none.so: No such file'
}

beside plugin_check_own_plugins_to_f own_to_f
beside plugin_check_own_plugins_from_g own_from_g
beside plugin_check_each_fault each_fault
check plugin_check_a_hang_is_found a_hang_is_found
check plugin_check_arguments_can_be_given arguments_can_be_given
check plugin_check_json_says_the_same json_says_the_same
check plugin_check_usage_errors usage_errors
finish
