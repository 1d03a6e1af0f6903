#!/bin/sh
# SPDX-License-Identifier: MIT
# Populations: whose state who goes on from, in NNI's folders and from the
# manager's checkpoints; what they found, exported and run again.
# not under tsan
. "$(dirname "$0")/lib.sh"

# Each trial adds its x to the state that it goes on from.

# As a program of NNI's: one turn a trial, in the folders it is told.  It says
# ID, state before, x, state after, folder to load from, folder to save in.
nni_program() {
    cat << 'E'
load=$(tunepipe trial param load_checkpoint_dir)
save=$(tunepipe trial param save_checkpoint_dir)
before=0
[ ! -f "$load/state" ] || before=$(cat "$load/state")
[ ! -f "$HERE/fails-$TUNEPIPE_PARAMETER_ID" ] || exit 1
after=$(awk "BEGIN {printf \"%.12f\", $before + $TUNEPIPE_PARAM_x}")
mkdir -p "$save" && echo "$after" > "$save/state"
echo "$TUNEPIPE_PARAMETER_ID $before $TUNEPIPE_PARAM_x $after" \
    "${load#*/checkpoint/} ${save#*/checkpoint/}" >> "$HERE/said"
tunepipe trial report --final "$after"
E
}

# Each goes on from what the one that saved in its folder to load had.
goes_on() {
    awk '$2 != ($5 in state ? state[$5] : 0) { print "wrong: " $0; bad = 1 }
        { state[$6] = $4 }
        END { exit bad }' said || fail "$(cat said)"
}

folders() {
    nni_program | experiment 'maxTrialNumber: 12' 'trialConcurrency: 3' \
        'tuner: {name: pbt, classArgs: {population_size: 3, fraction: 0.3}}'
    run 0 && count 12 succeeded && goes_on && replays || return 1
    # The best one's folders are told, and no row is filled with them.
    "$T" show "$dir" --all > shown && "$T" trial ls "$dir" >> shown || return 1
    [ "$(grep -c '_checkpoint_dir  */' shown)" = 2 ] &&
        [ "$(grep -c 'succeeded.*  x=[0-9.]*$' shown)" = 24 ] &&
        [ "$(grep -c '^trial .* succeeded.*  x=[0-9.]*$' out)" = 12 ] ||
        fail "$(cat shown out)" || return
    # In each round the worst one begins where the best one was.
    for round in 1 2 3; do
        n=$(awk -v r="/$round" 'index($6, r) && substr($5, 1, 1) != \
            substr($6, 1, 1)' said | wc -l)
        [ "$n" = 1 ] || fail "round $round: $(cat said)" || return
    done
    "$T" explain "$dir" 3 > explained || return
    has explained 'round 1: member ' && has explained ' copies member ' &&
        has explained 'x 0.'
}
check "in rounds a population goes on in NNI's folders" folders

# Under NNI both would be the end of it.
failing() {
    touch fails-1 fails-5
    nni_program | experiment 'maxTrialNumber: 12' 'trialConcurrency: 3' \
        'tuner: {name: pbt, classArgs: {population_size: 3, fraction: 0.3}}'
    run 0 && count 10 succeeded && count 2 failed && goes_on && replays ||
        return 1
    # Nobody goes on from a folder that nobody saved in.
    n=$(awk '$2 == 0' said | wc -l)
    [ "$n" = 2 ] || fail "$(cat said)"
}
check "who fails becomes a copy, and nobody waits for it" failing

# It goes on from its checkpoint, and ends when it is told.  Its score is its
# state.  It says ID, state before, x, results before, budget.
program() {
    cat << 'E'
state=0
[ -z "$TUNEPIPE_RESTORE_DIR" ] || state=$(cat "$TUNEPIPE_RESTORE_DIR/state")
echo "$TUNEPIPE_PARAMETER_ID $state $TUNEPIPE_PARAM_x $TUNEPIPE_STEP" \
    "$TUNEPIPE_BUDGET" >> "$HERE/said"
while :; do
    state=$(awk "BEGIN {printf \"%.12f\", $state + $TUNEPIPE_PARAM_x}")
    tunepipe trial report --sync "$state"
    status=$?
    echo "$state" > "$TUNEPIPE_CHECKPOINT_DIR/state"
    tunepipe trial checkpoint save || exit 1
    case $status in
    0) ;;
    8 | 9) exit 0 ;;
    *) exit 1 ;;
    esac
done
E
}

turns() {
    program | experiment 'trialConcurrency: 3' 'tuner: {name: pbt, classArgs: {
        population_size: 3, fraction: 0.3, interval: 2, max_budget: 6}}' \
        'direction: maximize'
    run 0 && count 6 paused && count 3 succeeded && replays || return 1
    # All begin a round where the one before ended.
    n=$(awk '$4 == 2 * int($1 / 3) && $5 == $4 + 2' said | wc -l)
    [ "$n" = 9 ] || fail "$(cat said)" || return

    # The line of the best, run again, comes to the same.
    "$T" export "$dir" --csv > all.csv || return
    best=$(awk -F , '$2 == "succeeded" { print $3, $1 }' all.csv |
        sort -rn | head -n 1)
    "$T" export "$dir" --schedule "${best#* }" > schedule.yml || return
    "$T" export "$dir" --schedule "${best#* }" --json > schedule.json || return
    has schedule.json '{"segments": [{"trial": "0000' &&
        has schedule.json ', "from": 4, ' && has schedule.yml '#   from 2, ' &&
        has schedule.yml '    max_budget: 6' &&
        has schedule.yml '    optimize_mode: maximize' || return
    mv tunepipe-experiments first && mv said first.said
    grep -v '^tuner\|population' e.yml > again && cat schedule.yml >> again
    mv again e.yml
    run 0 && count 2 paused && count 1 succeeded && replays || return 1
    has show.json "\"value\": ${best% *}" || return
    [ "$(awk '{print $4}' said | xargs)" = '0 2 4' ] || fail "$(cat said)"
}
check "turns of reports; the best line's schedule comes to the same again" turns

# With one trial of the second round paused, and one that runs.
killed() {
    {
        cat << 'E'
[ "$TUNEPIPE_PARAMETER_ID" != 4 ] || ! mkdir "$HERE/once" ||
    kill -KILL "$(cat "$HERE/pid")"
E
        program
    } | experiment 'trialConcurrency: 1' 'tuner: {name: pbt, classArgs: {
        population_size: 3, fraction: 0.3, interval: 2, max_budget: 6}}'
    run 137
    resume 0 && count 6 paused && count 3 succeeded && replays || return 1
    n=$(awk '{print $1, $4, $5}' said | sort -u |
        awk '$2 == 2 * int($1 / 3) && $3 == $2 + 2' | wc -l)
    [ "$n" = 9 ] || fail "$(cat said)"
}
check "a manager that is killed in a round goes on with it" killed

# Without any rounds.
asynchronous() {
    program | experiment 'trialConcurrency: 4' 'maxTrialNumber: 40' \
        'tuner: {name: pbt, classArgs: {population_size: 4, fraction: 0.25,
        mode: async, interval: 2, max_budget: 12}}'
    run 0 && count 4 succeeded && count 0 paused && count 0 failed &&
        replays || return 1
    stopped=$(grep -o '"status": "stopped"' show.json | wc -l)
    [ "$stopped" -gt 0 ] || fail "nobody was stopped: $(cat said)" || return
    # Who took a stopped one's place began where another was.
    n=$(awk '$2 > 0 && $4 > 0' said | wc -l)
    [ "$n" = "$stopped" ] || fail "$n began from a state: $(cat said)"
}
check "asynchronously the worst is stopped and goes on as a copy" asynchronous

# Fewer places than members.
sharing() {
    program | experiment 'trialConcurrency: 2' 'maxTrialNumber: 40' \
        'tuner: {name: pbt, classArgs: {population_size: 3, fraction: 0,
        mode: async, interval: 2, max_budget: 6}}'
    run 0 && count 3 succeeded && replays || return 1
    n=$(awk '$4 == 0' said | wc -l)
    [ "$n" = 3 ] || fail "$(cat said)"
}
check "members without a place are given one in turn" sharing

no_such_trial() {
    nni_program | experiment 'maxTrialNumber: 1' \
        'tuner: {name: pbt, classArgs: {population_size: 3}}'
    run 0 || return
    "$T" export "$dir" --schedule 7 > out 2> err
    [ $? = 3 ] && has err "the log has no trial '7'" || return
    "$T" export "$dir" --schedule 0 --csv > out 2> err
    [ $? = 2 ] && has err '--schedule goes with --json and --out alone' || return
    "$T" export "$dir" --schedule 0 > out && has out 'schedule: "0: x=0.' &&
        lacks out ';'
}
check "a schedule of a trial that there is not, and of one alone" no_such_trial

finish
