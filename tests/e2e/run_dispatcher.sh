#!/bin/sh
# SPDX-License-Identifier: MIT
# What the dispatcher may answer or suffer, seen from the manager.
. "$(dirname "$0")/lib.sh"

final='tunepipe trial report --final 1'

# simple LINE...: an experiment whose trials do nothing but end well.
simple() { echo "$final" | experiment "$@"; }

# fake LINE...: a dispatcher in shell.
fake() {
    printf '%s\n' '#!/bin/sh' \
        'send() { printf "%s%014d%s" "$1" "${#2}" "$2"; }' "$@" > fake
    chmod +x fake
}

exhausted() {
    simple 'trialConcurrency: 2' \
        "tuner: {plugin: $PLUGINS/done.so, classArgs: {count: 3}}"
    run 0 && count 3 succeeded && replays &&
        has out 'nothing more to try after 3 trials'
}
check "an exhausted tuner" exhausted

later() {
    simple 'trialConcurrency: 4' 'maxTrialNumber: 6' \
        "tuner: {plugin: $PLUGINS/later.so, classArgs: {at_once: 1}}"
    run 0 && count 6 succeeded && replays && has out 'finished: 6 trials'
}
check "a tuner that has nothing now" later

refuses() {
    simple 'maxTrialNumber: 6' \
        "tuner: {plugin: $PLUGINS/ask_fails.so, classArgs: {id: 2}}"
    run 1 && count 2 succeeded && replays &&
        has err 'the matrix is singular at 2' &&
        has err 'the tuner gives no parameters any more'
}
check "a tuner that fails" refuses

bad_arguments() {
    simple 'tuner: {name: random, classArgs: {sed: 1}}'
    run 3 && has err "$PWD/e.yml:$(grep -n '^tuner:' e.yml | cut -d : -f 1): tuner random: classArgs.sed: unknown argument" && lacks err 'the dispatcher ended by itself' &&
        has err 'tunepipe: nothing was started, ' && [ ! -e "$dir" ] &&
        [ ! -e tunepipe-experiments ] && mkdir tunepipe-experiments &&
        run 3 && [ -d tunepipe-experiments ]
}
check "wrong arguments of the tuner" bad_arguments

no_tuner() {
    simple 'tuner: {name: rnadom}'
    run 3 && has err "random"
}
check "a misspelt tuner" no_tuner

bad_space() {
    simple 'searchSpace: {x: {_type: unifrom, _value: [0, 1]}}'
    run 3 && has err "e.yml:5: searchSpace: x._type" && has err uniform &&
        [ ! -e tunepipe-experiments ]
}
check "a misspelt type in the search space" bad_space

# Its stop may take as long as that of a trial.
parting() {
    command -v python3 > python || { echo 'no Python'; return 77; }
    cp "$TP_SOURCE/tuners/exec/tuner.py" . &&
        printf '%s\n' 'python3 tuner.py' 'sleep 3' ': > over' > tuner.sh
    simple 'maxTrialNumber: 2' 'grace: 30s' \
        'tuner: {name: exec, classArgs: {command: [sh, tuner.sh]}}'
    run 0 && count 2 succeeded && lacks err 'did not end within the grace' &&
        { [ -e over ] || fail "$(cat err)"; }
}
check "a tuner's program that ends within the experiment's grace" parting

refused_space() {
    simple "tuner: {plugin: $PLUGINS/space_fails.so}"
    run 3 && has err 'tunepipe: nothing was started, ' && [ ! -e "$dir" ]
}
check "a tuner that does not take the space" refused_space

# What a program said, and was not shown while the folder was there.
broken_program() {
    simple "tuner: {name: exec, classArgs: {command: [sh, tuner.sh]}}"
    echo 'echo "ModuleNotFoundError: torch" >&2; exit 1' > tuner.sh
    run 3 && has err '| ModuleNotFoundError: torch' &&
        has err 'tunepipe: nothing was started, ' && [ ! -e "$dir" ]
}
check "a tuner's program that cannot begin" broken_program

killed() {
    experiment 'trialConcurrency: 2' 'maxTrialNumber: 4' << 'E'
manager=$(cat "$HERE/pid")
read -r dispatcher rest < "/proc/$manager/task/$manager/children"
[ "$TUNEPIPE_TRIAL_ID" = 00002 ] && kill -KILL "$dispatcher"
exec tunepipe trial report --final 3
E
    run 0 && has err 'the dispatcher died (signal 9)' &&
        has out 'the dispatcher goes on from its log' && replays &&
        count 4 succeeded
}
check "a dispatcher that is killed" killed

# It has logged the search space, and nobody has said yes to it.
killed_before_id() {
    command -v python3 > python || { echo 'no Python'; return 77; }
    cat > tuner.sh << 'E'
if [ ! -e once ]; then
    touch once
    head -c 16 > header
    kill -KILL $PPID
    exit
fi
exec python3 tuner.py
E
    cp "$TP_SOURCE/tuners/exec/tuner.py" .
    simple 'maxTrialNumber: 3' \
        'tuner: {name: exec, classArgs: {command: [sh, tuner.sh]}}'
    run 0 && count 3 succeeded && has err 'the dispatcher died' && replays
}
check "a dispatcher that is killed before it has answered" killed_before_id

crashes() {
    simple 'maxTrialNumber: 5' "tuner: {plugin: $PLUGINS/crashes.so}"
    run 0 && count 5 succeeded && replays &&
        has err 'the dispatcher died (signal 11) while tuner' &&
        has err 'crashes.so was at command' &&
        has err 'again and again: the command is skipped'
}
check "a tuner that crashes" crashes

# ends HOW: it ends the dispatcher at the third suggestion.
ends() {
    simple 'maxTrialNumber: 5' \
        "tuner: {plugin: $PLUGINS/exits.so, classArgs: {at_once: $1}}"
    run 0 && count 5 succeeded && replays &&
        has err 'the command is skipped' || return 1
    [ "$(grep -c 'the dispatcher died' err)" = 1 ] || fail "$(cat err)"
}

calls_exit() {
    ends 0 && has err 'error: a plugin called exit(3), expected it to return'
}
check "a tuner that calls exit()" calls_exit

calls_at_once() { ends 1 && has err 'the dispatcher died (exit status 1)'; }
check "a tuner that calls _exit()" calls_at_once

# It ends by itself, with nobody at work, and would again.
exits_twice() {
    simple
    fake 'send ID ""' 'echo $$ >> started' 'exit 1'
    run 1 --dispatcher ./fake && has err 'ended by itself (exit status 1)' &&
        [ "$(wc -l < started)" -le 2 ]
}
check "a dispatcher that ends by itself" exits_twice

garbage() {
    simple
    fake 'echo hello'
    run 1 --dispatcher ./fake && has err "the dispatcher's stream is broken"
}
check "a dispatcher that speaks no frames" garbage

nonsense() {
    simple 'maxTrialNumber: 1'
    fake 'send ID ""' 'send TR "[]"' 'send XX ""' 'send KI "\"nobody\""' \
        'send KI "{"' 'send ER "it hurts"' \
        'send TR "{\"parameter_id\": 0, \"parameters\": {}}"' \
        'send TR "{\"parameter_id\": 1, \"parameters\": {}}"' 'cat > got'
    run 0 --dispatcher ./fake && count 1 succeeded &&
        has err 'a TR that is none' && has err "sent 'XX'" &&
        has err 'the dispatcher says: it hurts' && has err 'came unasked' &&
        has got 'TE00000000000000'
}
check "nonsense in good frames" nonsense

nni_no_more() {
    simple
    fake 'send ID ""' 'send TR "{\"parameter_id\": 0, \"parameters\": {}}"' \
        'send NO "{\"parameter_id\": 1, \"parameters\": \"\"}"' 'cat > got'
    run 0 --dispatcher ./fake && count 1 succeeded && has out 'nothing more to try'
}
check "NO as NNI writes it means the end" nni_no_more

absent() {
    simple
    run 1 --dispatcher ./absent && has err './absent: cannot start'
}
check "a dispatcher that is not there" absent

wire() {
    simple 'maxTrialNumber: 1'
    fake 'printf "%s\n" "$@" > words' 'head -c 61 > got' 'send ID ""' \
        'head -c 17 >> got' \
        'send TR "{\"parameter_id\": 0, \"parameters\": {\"x\": 1.0}}"' \
        'cat >> got'
    run 0 --dispatcher ./fake || return 1
    has got 'IN00000000000045{"x": {"_type": "uniform", "_value": [0, 1]}}' &&
        has got ']}}PL00000000000013{"trials": 1}GE000000000000011NT' &&
        grep -q 'ME0000000000012[56]{"parameter_id": 0, "trial_job_id": "00000", "type": "FINAL", "sequence": 0, "value": "1", "attempt": 0, "elapsed": [0-9]*\.[0-9]\{6\}}' got &&
        has got '{"trial_job_id": "00000", "event": "SUCCEEDED", "hyper_params": "{\"parameter_id\": 0, \"parameters\": {\"x\": 1.0}}", "attempt": 0}TE00000000000000' &&
        [ "$(sed -n 1p words)" = dispatch ] && has words --extensions &&
        has words --early-stopped && has words "/e.yml"
}
check "the manager's side of the wire, byte for byte" wire

seen_while_running() {
    experiment 'maxTrialNumber: 2' << 'E'
tunepipe show "$TUNEPIPE_EXPERIMENT_DIR" > "$HERE/seen.$TUNEPIPE_TRIAL_ID"
tunepipe trial report --final 1
E
    run 0 && has seen.00001 'state:  running' &&
        has seen.00001 'trials: 1 ended: 1 succeeded; 1 running' &&
        "$T" show "$dir" > after && has after 'state:  finished: 2 trials'
}
check "show while it runs" seen_while_running

manager_killed() {
    experiment 'maxTrialNumber: 2' << 'E'
[ "$TUNEPIPE_TRIAL_ID" = 00001 ] && kill -KILL "$(cat "$HERE/pid")"
tunepipe trial report --final 1
E
    run 137 && "$T" show "$dir" > after &&
        has after 'its manager died before the end' &&
        has after 'best 1, trial 00000' && has after '1 without an end'
}
check "show after the manager was killed" manager_killed

finish
