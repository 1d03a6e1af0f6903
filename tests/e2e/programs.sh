#!/bin/sh
# SPDX-License-Identifier: MIT
# Tuners and assessors that are programs, behind the real binary: what they are
# told, what becomes of them, the examples in Python.
. "$TP_SOURCE/tests/e2e/lib.sh"
EXAMPLES=$TP_SOURCE/tuners/exec
STEPS=$TP_SOURCE/tests/programs/steps.sh
export STEPS

# frame CODE PAYLOAD
frame() { printf '%s%014d%s' "$1" ${#2} "$2"; }

session() {
    frame IN '{"x": {"_type": "choice", "_value": [1, 2, 3]}}'
    frame GE 2
    frame GE 2
}

# A session with a plugin, and with the same plugin behind a program.
grid_through_a_program() {
    session | "$T" dispatch --grace 1h --tuner grid --extensions > plain 2> err
    session | "$T" dispatch --grace 1h --tuner exec --extensions --tuner-args \
        "{\"command\": [\"$T\", \"dispatch\", \"--tuner\", \"grid\", \"--extensions\"]}" \
        > proxied 2> err || return 1
    [ -s plain ] && cmp plain proxied
}

# The n-th thing it was told is this.
told() {
    [ "$(sed -n "$1p" told)" = "$2" ] ||
        fail "told, line $1: $(sed -n "$1p" told), expected: $2"
}

# wire < LINES: plays them.
wire() { cat > script.wire && "$TP_BUILD/tests/tools/wire" script.wire; }

program_is_told_in_its_own_ids() {
    wire <<'E' || return 1
run dispatch --tuner exec --seed 1 --tuner-args {"command":["sh","$SOURCE/tests/programs/steps.sh","IN","+ID","GE","+TR:{\"parameter_id\":70,\"parameters\":{\"y\":\"\u00e9\"}}","+TR:{\"parameter_id\":\"a\",\"parameters\":2}"]}
> IN {"x":{"_type":"uniform","_value":[0,1e0]}}
< ID
> GE 2
< TR {"parameter_id": 0, *
< TR {"parameter_id": "a", *
> SS {"x":{"_type":"uniform","_value":[0,2]}}
> FD [{"parameter":{"x":1},"value":"0.5"}]
> AD [{"parameter_id":5,"parameters":{"x":2}},{"parameter_id":"b"}]
> ME {"parameter_id": 0, "trial_job_id": "A", "type": "FINAL", "sequence": 0, "value": "{\"default\": 1, \"loss\": 2}"}
> EN {"trial_job_id":"A","event":"SUCCEEDED","hyper_params":"{\"parameter_id\": 0}"}
> ME {"parameter_id": "a", "trial_job_id": "B", "type": "PERIODICAL", "sequence": 0, "value": "0.25"}
> EN {"trial_job_id":"B","event":"EARLY_STOPPED","hyper_params":"{\"parameter_id\": \"a\"}"}
> PI
> TE
exit 0
E
    told 1 'IN {"x": {"_type": "uniform", "_value": [0, 1.0]}}' &&
        told 2 'GE 2' &&
        told 3 'SS {"x": {"_type": "uniform", "_value": [0, 2]}}' &&
        told 4 'FD [{"parameter": {"x": 1}, "value": "0.5"}]' &&
        told 5 'AD [{"parameter_id": 5, "parameter_source": "algorithm", "parameters": {"x": 2}, "parameter_index": 0}]' &&
        told 6 'ME {"parameter_id": 70, "trial_job_id": "A", "type": "FINAL", "sequence": 0, "value": "{\"default\": 1, \"loss\": 2}"}' &&
        told 7 'EN {"trial_job_id": "A", "event": "SUCCEEDED", "hyper_params": "{\"parameter_id\": 70, \"parameter_source\": \"algorithm\", \"parameters\": {\"y\": \"\\u00e9\"}, \"parameter_index\": 0}"}' &&
        told 8 'ME {"parameter_id": "a", "trial_job_id": "B", "type": "FINAL", "sequence": 0, "value": "0.25"}' &&
        told 9 'EN {"trial_job_id": "B", "event": "EARLY_STOPPED", "hyper_params": "{\"parameter_id\": \"a\", \"parameter_source\": \"algorithm\", \"parameters\": 2, \"parameter_index\": 0}"}' &&
        told 10 'TE ' && told 11 ''
}

program_that_died_is_told_again() {
    wire <<'E' || return 1
run dispatch --tuner exec --seed 1 --tuner-args {"command":["sh","$SOURCE/tests/programs/steps.sh","IN","+ID","GE","+TR:{\"parameter_id\":0,\"parameters\":1}","+TR:{\"parameter_id\":1,\"parameters\":2}","GE","once:died"]}
> IN {"x":{"_type":"uniform","_value":[0,1]}}
< ID
> GE 2
< TR {"parameter_id": 0, *
< TR {"parameter_id": 1, *
> ME {"parameter_id": 0, "trial_job_id": "A", "type": "FINAL", "sequence": 0, "value": "0.5"}
> GE 2
< NO {"parameter_id": 2, *
> EN {"trial_job_id":"A","event":"SUCCEEDED","hyper_params":"{\"parameter_id\": 0}"}
> GE 2
< TR {"parameter_id": 4, *
< TR {"parameter_id": 5, *
> ME {"parameter_id": 4, "trial_job_id": "D", "type": "FINAL", "sequence": 0, "value": "0.75"}
> ME {"parameter_id": 1, "trial_job_id": "B", "type": "FINAL", "sequence": 0, "value": "0.25"}
> TE
exit 0
E
    told 5 'IN {"x": {"_type": "uniform", "_value": [0, 1]}}' &&
        told 6 'FD [{"parameter": 1, "value": "0.5"}]' &&
        told 7 'AD [{"parameter_id": 1, "parameter_source": "algorithm", "parameters": 2, "parameter_index": 0}]' &&
        told 8 'GE 2' &&
        told 9 'ME {"parameter_id": 0, "trial_job_id": "D", "type": "FINAL", "sequence": 0, "value": "0.75"}' &&
        told 10 'ME {"parameter_id": 1, "trial_job_id": "B", "type": "FINAL", "sequence": 0, "value": "0.25"}'
}

# A burst of requests for one that cannot be started again: that it did not
# start is an input behind them, for replay, too.
burst_for_one_that_is_gone() {
    cat > once.sh <<'E'
#!/bin/sh
rm once.sh
exec sh "$STEPS" IN +ID GE exit:1
E
    chmod +x once.sh
    wire <<'E'
run dispatch --tuner exec --seed 1 --extensions --dir $DIR/log --tuner-args {"command":"./once.sh"}
> IN {"x":{"_type":"uniform","_value":[0,1]}}
< ID {"last": 1}
> GE 1
< NO {"parameter_id": 0, *
raw GE000000000000012GE000000000000013
< NO {"parameter_id": 1, *"units": 2}
< NO {"parameter_id": 3, *"units": 3}
eof
exit 0
err ./once.sh: cannot start: No such file or directory
replay
E
}

# One that ended, but whose child writes on.
child_that_writes_on() {
    cat > tuner.sh <<'E'
sh "$STEPS" IN +ID GE exit:0
yes ER00000000000001x | tr -d '\n' &
exit 3
E
    wire <<'E'
run dispatch --tuner exec --seed 1 --extensions --dir $DIR/log --tuner-args {"command":["sh","tuner.sh"]}
> IN {"x":{"_type":"uniform","_value":[0,1]}}
< ID {"last": 1}
> GE 1
< NO {"parameter_id": 0, *"reason": "failed", "units": 1}
> TE
exit 0
err (its end): tuner exec (sh tuner.sh): *exit status 3
replay
E
}

# A result of a trial that had ended before the program was started again.
result_that_comes_late() {
    wire <<'E' || return 1
run dispatch --tuner exec --seed 1 --tuner-args {"command":["sh","$SOURCE/tests/programs/steps.sh","IN","+ID","GE","+TR:{\"parameter_id\":7,\"parameters\":1}","GE","once:died"]}
> IN {"x":{"_type":"uniform","_value":[0,1]}}
< ID
> GE 1
< TR {"parameter_id": 0, *
> EN {"trial_job_id":"A","event":"FAILED","hyper_params":"{\"parameter_id\": 0}"}
> GE 1
< NO {"parameter_id": 1, *
> GE 1
< TR {"parameter_id": 2, *
> ME {"parameter_id": 0, "trial_job_id": "B", "type": "FINAL", "sequence": 0, "value": {"default": 1, "loss": Infinity}}
> ME {"parameter_id": 2, "trial_job_id": "C", "type": "FINAL", "sequence": 0, "value": 2}
> TE
exit 0
E
    told 5 'IN {"x": {"_type": "uniform", "_value": [0, 1]}}' &&
        told 6 'GE 1' &&
        told 7 'FD [{"parameter": 1, "value": "{\"default\": 1, \"loss\": Infinity}"}]' &&
        told 8 'ME {"parameter_id": 7, "trial_job_id": "C", "type": "FINAL", "sequence": 0, "value": "2"}'
}

# One that reads nothing holds the manager, and so the tuner, for a time only.
assessor_that_reads_nothing() {
    {
        cat <<'E'
run dispatch --tuner random --assessor exec --seed 1 --extensions --dir $DIR/log --max-queued 200k --assessor-args {"command":["sleep","1000"],"deadline":0.3}
> IN {"x":{"_type":"uniform","_value":[0,1]}}
< ID {"last": 1}
> GE 1
< TR {"parameter_id": 0, *
E
        awk 'BEGIN {
            for (i = 0; i < 8000; i++)
                print "> ME {\"parameter_id\": 0, \"trial_job_id\": \"A\", " \
                    "\"type\": \"PERIODICAL\", \"sequence\": " i \
                    ", \"value\": \"1\"}"
        }'
        cat <<'E'
> GE 1
< TR {"parameter_id": 1, *
> TE
exit 0
err (its end): assessor exec (sleep 1000): has read nothing for 300 ms; killed
replay
E
    } | wire
}

# Who kills the dispatcher ends the program, which waits for nothing.
program_ends_with_the_dispatcher() {
    cat > tuner.sh <<'E'
echo $$ > program.pid
exec sleep 1000
E
    mkfifo in
    "$T" dispatch --grace 1h --tuner exec --tuner-args '{"command": "sh tuner.sh"}' \
        < in > out 2> err &
    dispatcher=$!
    exec 9> in
    until [ -s program.pid ]; do sleep 0.01; done
    kill -9 $dispatcher
    wait $dispatcher 2> /dev/null
    tries=0
    while kill -0 "$(cat program.pid)" 2> /dev/null; do
        tries=$((tries + 1))
        [ $tries -lt 1000 ] || fail "the program lives" || return 1
        sleep 0.01
    done
    exec 9>&-
}

experiment_with_the_examples() {
    command -v python3 > /dev/null || {
        echo "no python3"
        return 77
    }
    experiment 'maxTrialNumber: 3' 'direction: maximize' \
        "tuner: {name: exec, classArgs: {command: [python3, $EXAMPLES/tuner.py]}}" \
        "assessor: {name: exec, classArgs: {command: python3 $EXAMPLES/assessor.py}}" \
        'searchSpace: {x: {_type: uniform, _value: [0, 1]}, c: {_type: choice, _value: [a, b]}, n: {_type: quniform, _value: [1, 9, 2]}, l: {_type: qlognormal, _value: [0, 1, 0.5]}}' <<'E'
for i in 0 1 2 3 4 5; do
    tunepipe trial report "$(tunepipe trial param x)"
done
[ "$TUNEPIPE_TRIAL_ID" != 00002 ] || exec sleep 1000 # the worst: stopped
tunepipe trial report --final "$(tunepipe trial param x)"
E
    run 0 || return 1
    has "$dir/dispatcher.log" 'best so far:' && replays || return 1
    count 1 stopped && count 2 succeeded
}

# Relative paths begin at the configuration's folder, wherever `run` is.
experiment_from_another_folder() {
    mkdir there && cd there || return 1
    cat > tuner.sh <<'E'
#!/bin/sh
pwd > seen
exec sh "$STEPS" IN +ID GE '+TR:{"parameter_id":0,"parameters":{"x":0.5}}'
E
    chmod +x tuner.sh
    experiment 'maxTrialNumber: 1' \
        'tuner: {name: exec, classArgs: {command: ./tuner.sh}}' <<'E'
tunepipe trial report --final "$(tunepipe trial param x)"
E
    STEPS=$TP_SOURCE/tests/programs/steps.sh
    export STEPS
    cd .. || return 1
    "$T" run there/e.yml > out 2> err || fail "exit status $?" || return 1
    [ "$(cat there/seen)" = "$(cd there && pwd)" ] || return 1
    rm there/seen
    frame GE 1 |
        "$T" dispatch --grace 1h --resume --dir there/tunepipe-experiments/* > out 2> err
    [ "$(cat there/seen)" = "$(cd there && pwd)" ] ||
        fail 'gone on with, it runs elsewhere'
}

# What cannot start says what would.
starts_not() {
    "$T" dispatch --grace 1h --tuner exec --tuner-args "{\"command\": $1}" \
        < /dev/null > out 2> err
    [ $? = 3 ] || fail "exit status $?" || return 1
    has err "$2"
}

program_that_does_not_start() {
    printf '#!/no/such/interpreter\n' > mine
    starts_not '["mine"]' 'expected a program along PATH' &&
        starts_not '["./mine"]' 'expected an executable file' &&
        chmod +x mine &&
        starts_not '["./mine"]' 'an interpreter that is there'
}

command_that_is_none() {
    starts_not '[]' 'command: is empty' &&
        starts_not '""' 'command: is empty' &&
        starts_not '[""]' 'command: is empty' &&
        starts_not '["sh", 3]' 'command[1]: is an integer, expected a text' &&
        starts_not '{"sh": 3}' 'expected a list of texts or a text' &&
        starts_not '"[sh"' 'command: byte 1: ' &&
        starts_not '"sh -c \"exit 3\""' 'expected a list'
}

# The experiment goes on behind a program that dies twice; the third one lives.
experiment_with_a_program_that_dies() {
    cat > tuner.sh <<'E'
echo start >> starts
[ "$(wc -l < starts)" -lt 3 ] ||
    exec "$T" dispatch --grace 1h --tuner random --extensions
exec sh "$STEPS" IN +ID GE '+TR:{"parameter_id":0,"parameters":{"x":0.5}}' \
    GE '+TR:{"parameter_id":1,"parameters":{"x":0.25}}' GE segv
E
    export T
    experiment 'maxTrialNumber: 7' 'trialConcurrency: 2' \
        'tuner: {name: exec, classArgs: {command: sh tuner.sh}}' <<'E'
tunepipe trial report --final "$(tunepipe trial param x)"
E
    run 0 && count 7 succeeded && has err 'killed by signal 11' && replays &&
        [ "$(wc -l < starts)" = 3 ]
}

direction() {
    TUNEPIPE_DIRECTION=stale # of a run around this one
    export TUNEPIPE_DIRECTION
    echo 'echo "${TUNEPIPE_DIRECTION-none}" >> told; exec cat > /dev/null' > p.sh
    args='{"command": ["sh", "p.sh"]}'
    "$T" dispatch --tuner exec --tuner-args "$args" < /dev/null 2> err &&
        "$T" dispatch --tuner exec --tuner-args "$args" --assessor exec \
            --assessor-args "$args" --direction minimize --dir log < /dev/null ||
        return 1
    printf '%s\n' none minimize minimize | cmp - told
}

check programs_direction direction
check programs_grid_through_a_program grid_through_a_program
check programs_are_told_in_their_own_ids program_is_told_in_its_own_ids
check programs_that_died_are_told_again program_that_died_is_told_again
check programs_that_are_gone_and_a_burst burst_for_one_that_is_gone
check programs_whose_child_writes_on child_that_writes_on
check programs_and_a_late_result result_that_comes_late
check programs_that_read_nothing assessor_that_reads_nothing
check programs_end_with_the_dispatcher program_ends_with_the_dispatcher
check programs_examples experiment_with_the_examples
check programs_of_the_configurations_folder experiment_from_another_folder
check programs_that_do_not_start program_that_does_not_start
check programs_of_commands_that_are_none command_that_is_none
check programs_that_die_under_run experiment_with_a_program_that_dies
finish
