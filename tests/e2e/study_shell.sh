#!/bin/sh
# SPDX-License-Identifier: MIT
# Studies from the shell: tunepipe ask, tunepipe tell, and tunepipe study
# --stdio, from several processes, and across the deaths of servers.
#
# Needs TP_BUILD and TP_SOURCE.
set -u
: "${TP_BUILD:?is not set: run the tests with make check}"
: "${TP_SOURCE:?is not set: run the tests with make check}"
. "$TP_SOURCE/tests/e2e/lib.sh"

# study LINE...: c.yml with the lines.
study() {
    {
        echo 'searchSpace: {x: {_type: uniform, _value: [0, 1]}}'
        echo 'direction: minimize'
        echo 'seed: 1'
        case "$*" in *tuner:*) ;; *) echo 'tuner: {name: random}' ;; esac
        printf '%s\n' "$@"
    } > c.yml
}

# says STATUS TEXT WORDS...: so the verb ends, with the text on one of its
# outputs ("" : it says nothing).
says() {
    want=$1 text=$2
    shift 2
    "$T" "$@" > out 2> err < /dev/null
    got=$?
    [ "$got" = "$want" ] || fail "$*: status $got, expected $want: $(cat err)" ||
        return 1
    if [ -z "$text" ]; then
        [ ! -s out ] && [ ! -s err ] || fail "$*: $(cat out err)"
    else
        cat out err | grep -qF -- "$text" ||
            fail "$*: '$(cat out err)' lacks '$text'"
    fi
}

# end: nobody uses s any more; it is looked at as it is then.
end() {
    "$T" stop s > out 2>&1
    "$T" show --json s > show.json
}

# kill_server: and it has ended, be it that nobody takes its status.
kill_server() {
    pid=$(cat s/manager.pid)
    kill -KILL "$pid"
    while grep -qs '^State:.[^ZX]' "/proc/$pid/status"; do sleep 0.01; done
}

asks_and_tells() {
    study 'maxTrialNumber: 4'
    says 3 '' study s --serve > said # there is none yet
    says 0 '{"trial": 0, "parameters": {"x": ' ask s --config c.yml || return 1
    lacks out '"folder"' && has out '"checkpoint_dir": "/' || return 1
    says 0 '{"trial": 1, ' ask s --config c.yml || return 1
    says 0 '' tell s 0 0.25 || return 1
    says 0 '' tell s 00001 --failed 'no luck' || return 1
    says 0 '{"trial": 3, ' ask s -n 2 || return 1
    [ "$(wc -l < out)" = 2 ] || fail "$(cat out)" || return 1
    says 0 '' tell s 2 --ended &&
        says 0 '' tell s 3 --intermediate 3 &&
        says 0 '' tell s 3 '{"default": -1e3, "other": [1]}' &&
        says 9 'maxTrialNumber' ask s || return 1
    end
    count 2 succeeded && count 2 failed && has show.json '"value": -1000' &&
        has show.json 'no luck' && replays_study
}

replays_study() {
    "$T" replay --verify s > replay.out 2>&1 || fail "$(tail -n 1 replay.out)"
}

says_what_is_wrong() {
    study
    says 2 'expected one folder' ask &&
        says 2 'expected one folder' ask a b &&
        says 2 '--count: expected a number from 1 to 1000' ask s -n 0 &&
        says 2 '--count: expected a number from 1 to 1000' ask s -n 1001 &&
        says 2 '--config: needs a value' ask s --config &&
        says 3 'tunepipe ask: error: ' ask s &&
        says 3 'tunepipe tell: error: ' tell s 0 1 || return 1
    says 3 'absent.yml' ask s --config absent.yml || return 1
    # What only the dispatcher finds, and what is for tunepipe run.
    { cat c.yml && echo 'constraints: ["x < z"]'; } > wrong.yml
    { cat c.yml && echo 'trialCommand: "true"'; } > command.yml
    says 3 "no parameter 'z'" ask s --config wrong.yml &&
        says 3 'trialCommand: a study has none' ask s --config command.yml ||
        return 1
    [ ! -e s ] || fail "s was made" || return 1
    says 0 '"trial": 0' ask s --config c.yml &&
        says 1 'trial 00007' tell s 7 1 &&
        says 1 "value 'abc'" tell s 0 abc &&
        says 1 "value ''" tell s 0 '' &&
        says 1 'value: ' tell s 0 '"abc"' &&
        says 1 'value: ' tell s 0 '{"loss": 1}' &&
        says 1 "value 'abc'" tell s 0 --intermediate abc &&
        says 2 "'x': expected a trial's number" tell s x 1 &&
        says 2 "'-1': expected a trial's number" tell s -1 1 &&
        says 2 'expected DIR TRIAL VALUE' tell s 0 &&
        says 2 'expected DIR TRIAL VALUE' tell s 0 --intermediate &&
        says 2 'expected DIR TRIAL; ' tell s 0 1 --ended &&
        says 2 'expected DIR TRIAL [WHY]' tell s 0 no luck --failed &&
        says 2 'give one of' tell s 0 --failed --ended || return 1
    says 0 '' tell s 0 --intermediate -inf &&
        says 0 '' tell s 0 nan &&
        says 1 'trial 00000' tell s 0 NaN &&
        says 1 'trial 00000' tell s 0 0.5 &&
        says 1 'trial 00000' tell s 0 --intermediate 0.5 || return 1
    sed 's/\[0, 1\]/[0, 2]/' c.yml > other.yml
    says 3 'searchSpace' ask s --config other.yml &&
        says 0 '"trial": 1' ask s --config c.yml || return 1
    end
    says 0 'tunepipe ask /' show s && says 3 'is a study' resume s
}

# What has ended is tried again with the same parameters, though it has no folder.
tries_again() {
    study
    says 0 '{"trial": 0' ask s --config c.yml && cp out first || return 1
    says 1 'trial 00000 has not ended' trial retry s 0 &&
        says 1 'trial 00007: there is none' trial retry s 7 &&
        says 0 '' tell s 0 --failed || return 1
    says 0 00001 trial retry s 0 && says 0 '{"trial": 1' ask s || return 1
    parameters='"parameters": {[^}]*}'
    [ "$(grep -o "$parameters" out)" = "$(grep -o "$parameters" first)" ] ||
        fail "$(cat first out)" || return 1
    says 0 '' tell s 1 --failed && says 0 00002 trial retry s --failed || return 1
    says 3 's is a study: whoever asks' trial output s 0 &&
        says 3 's is a study: whoever asks' rerun s 0 || return 1
    end
    replays_study
}

# The assessor stops what is worse than the median of those before.
is_told_to_stop() {
    study 'assessor: {name: medianstop, classArgs: {optimize_mode: minimize, start_step: 1}}'
    "$T" ask s --config c.yml -n 3 > out || return 1
    for trial in 0 1; do
        for value in 1 1 1; do
            says 0 '' tell s $trial --intermediate $value || return 1
        done
        says 0 '' tell s $trial 3 || return 1
    done
    says 7 '' tell s 2 --intermediate 99 || return 1
    says 0 '' tell s 2 --ended || return 1
    end
    count 2 succeeded && count 1 stopped
}

# Eight processes have 80 trials, each of its own, and none is lost.
many_at_once() {
    study
    "$T" study s --serve --config c.yml || return 1
    for p in 1 2 3 4 5 6 7 8; do
        for i in 1 2 3 4 5 6 7 8 9 10; do
            line=$("$T" ask s) || exit 1
            trial=${line#*: }
            trial=${trial%%,*}
            echo "$trial" >> given
            "$T" tell s "$trial" --intermediate "$trial" &&
                "$T" tell s "$trial" "$trial" || exit 1
        done &
    done
    wait
    sort -n given > sorted
    seq 0 79 | cmp - sorted || return 1
    end
    count 80 succeeded && replays_study
}

# Nothing that was told is lost, and what was not is still open.
server_dies() {
    study
    says 0 '"trial": 0' ask s --config c.yml -n 4 || return 1
    kill_server
    says 0 '' tell s 0 0.5 || return 1
    kill_server
    says 1 'trial 00000' tell s 0 0.5 || return 1
    says 0 '' tell s 1 --intermediate 1 || return 1
    kill_server
    says 0 '' tell s 1 --intermediate 2 &&
        says 0 '' tell s 1 2 || return 1
    kill_server
    says 0 '"trial": 4' ask s --config c.yml || return 1
    says 0 '' tell s 2 --failed || return 1
    end
    count 2 succeeded && count 1 failed && replays_study
}

# say LINE: to the client at descriptor 8; hear: its next line, in $line.
say() { echo "$1" >&8; }
hear() { read -r line <&9 || fail "it has ended: $(cat err)"; }

# expect TEXT: in its next line.
expect() {
    hear || return 1
    case $line in
    *"$1"*) ;;
    *) fail "'$line' lacks '$1'" ;;
    esac
}

begin_stdio() {
    mkfifo to from
    "$T" study s --stdio --config c.yml < to > from 2> err &
    client=$!
    exec 8> to 9< from
}

end_stdio() {
    exec 8>&-
    cat <&9 > rest
    exec 9<&-
    wait $client || fail "status $?: $(cat err)"
}

a_line_at_a_time() {
    study 'maxTrialNumber: 5'
    begin_stdio
    say '{"command": "ask", "id": 7}'
    expect '{"id": 7, "answer": {"trial": 0, "parameters": {"x": ' || return 1
    say '{"command": "report", "trial": 0, "value": 2}'
    expect '{"answer": {"stop": "go"}}' || return 1
    say '{"command": "look", "trial": 0, "id": 0}'
    expect '{"id": 0, "answer": {"stop": "go"}}' || return 1
    say '{"command": "tell", "trial": 0, "value": "NaN", "id": 8}'
    expect '{"id": 8, "answer": {}}' || return 1
    say '{"command": "tell", "trial": 0, "value": 1, "id": 9}'
    expect '{"id": 9, "error": "trial 00000' || return 1
    say '{"command": "add", "parameters": [{"x": 0.125}], "id": 10}'
    expect '{"id": 10, "answer": {"trials": ["00001"]}}' || return 1
    say '{"command": "ask", "n": 2, "id": 11}'
    expect '{"id": 11, "answer": {"trial": 1, "parameters": {"x": 0.125}' &&
        expect '{"id": 11, "answer": {"trial": 2, ' || return 1
    say '{"command": "status", "id": 12}'
    expect '{"id": 12, "answer": {' || return 1
    say '{"command": "tell", "trial": 2, "failed": "why"}'
    expect '{"answer": {}}' || return 1
    say '{"command": "release", "trials": [1], "id": 13}'
    expect '{"id": 13, "answer": {}}' || return 1
    say '{"command": "ask", "id": 14}'
    expect '"trial": 1, "parameters": {"x": 0.125}' || return 1
    end_stdio && [ ! -s rest ] || fail "it said also: $(cat rest)"
}

# Each costs itself; the last one needs no line's end.
bad_lines() {
    study
    long=$(head -c 70000 /dev/zero | tr '\0' ' ')
    printf '%s\n' '' '{"command": "ask"' '[1]' 'x' '{"command": "asks"}' \
        '{"id": -1, "command": "ask"}' '{"id": 3}' "$long" \
        '{"id": 4, "command": "ask", "n": 0}' \
        '{"id": 5, "command": "ask", "m": 0}' '{"command": "watch"}' > lines
    printf '{"id": 6, "command": "ask"}' >> lines
    "$T" study s --stdio --config c.yml < lines > out 2> err ||
        fail "status $?: $(cat err)" || return 1
    [ "$(grep -c '"error": ' out)" = 11 ] || fail "$(cat out)" || return 1
    has out "(did you mean 'ask'?)" && has out '{"id": 3, "error": ' &&
        has out 'a line of more than 65536 bytes' &&
        has out '{"id": 4, "error": "n: expected an integer from 1 to 1000"}' &&
        has out '{"id": 5, "error": "ask: ' &&
        has out '{"id": 6, "answer": {"trial": 0, '
}

# What was not answered is said to the next server; the trial stays the
# client's.
stdio_server_dies() {
    study
    begin_stdio
    say '{"command": "ask", "id": 1}'
    expect '{"id": 1, "answer": {"trial": 0, ' || return 1
    kill -STOP "$(cat s/manager.pid)"
    say '{"command": "report", "trial": 0, "value": 2, "sequence": 0, "id": 2}'
    say '{"command": "tell", "trial": 0, "value": 0.5, "id": 3}'
    kill -KILL "$(cat s/manager.pid)"
    expect '{"id": 2, "answer": {"stop": "go"}}' &&
        expect '{"id": 3, "answer": {}}' || return 1
    say '{"command": "ask", "id": 4}'
    expect '{"id": 4, "answer": {"trial": 1, ' || return 1
    end_stdio || return 1
    end
    count 1 succeeded && replays_study
}

# Once it was stopped a client may tell what it has, and is given nothing more;
# who comes then goes on.
stopped() {
    study
    begin_stdio
    say '{"command": "ask", "id": 1}'
    expect '{"id": 1, "answer": {"trial": 0, ' || return 1
    "$T" stop s > out 2>&1 || fail "$(cat out)" || return 1
    say '{"command": "tell", "trial": 0, "value": 0.5, "id": 2}'
    expect '{"id": 2, "answer": {}}' || return 1
    say '{"command": "ask", "id": 3}'
    expect '{"id": 3, "error": "the study was stopped by `tunepipe stop`"}' ||
        return 1
    says 0 '{"trial": 1, ' ask s && end_stdio || return 1
    end
    count 1 succeeded && replays_study
}

# A client that is killed leaves its trials to others.
client_dies() {
    study
    begin_stdio
    say '{"command": "ask", "id": 1}'
    expect '"trial": 0' || return 1
    kill -KILL $client
    exec 8>&- 9<&-
    wait $client
    says 0 '{"trial": 0, ' ask s
}

stdio_says_what_is_wrong() {
    study
    says 3 'tunepipe study: error: ' study s --stdio &&
        says 2 'expected one of --serve, --stdio' study s --serve --stdio &&
        says 2 'expected one folder' study --stdio
}

check "asks and tells" asks_and_tells
check "says what is wrong" says_what_is_wrong
check "tries again" tries_again
check "is told to stop" is_told_to_stop
check "many at once" many_at_once
check "the server dies" server_dies
check "a line at a time" a_line_at_a_time
check "bad lines" bad_lines
check "the server of --stdio dies" stdio_server_dies
check "a study that is stopped gives --stdio nothing more" stopped
check "a client dies" client_dies
check "stdio says what is wrong" stdio_says_what_is_wrong
stdio_closed() {
    study
    "$T" study s --stdio --config c.yml <&- > out || return
    echo '{"command": "ask"}' > lines
    "$T" study s --stdio < lines >&- 2> err
    [ $? = 1 ] && has err 'cannot write the answers: Bad file descriptor' ||
        fail "$(cat err)"
}
check "--stdio does not take what it opens for a closed stream" stdio_closed

finish
