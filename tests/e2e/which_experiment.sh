#!/bin/sh
# SPDX-License-Identifier: MIT
# Which experiments there are, and which one a verb takes.
# not under tsan
. "$(dirname "$0")/lib.sh"

# ls_of WORD...: `tunepipe ls` with these words, in ls.out.
ls_of() { "$T" ls "$@" > ls.out 2> ls.err; }

# begin NAME [LINE...]: e.yml of three trials, of an experiment with that name;
# the trial that ./die names kills the manager.
begin() {
    name=$1
    shift
    experiment "experimentName: $name" 'maxTrialNumber: 3' "$@" << 'E'
[ "$TUNEPIPE_TRIAL_ID" != "$(cat die 2> /dev/null)" ] || kill -KILL "$(cat pid)"
tunepipe trial report --final 1
E
}

# told STATUS WORD TEXT...: tunepipe with the words of WORD says TEXT.
told() {
    "$T" $2 > told.out 2> told.err < /dev/null
    [ $? = "$1" ] && has told.err "$3"
}

guessed() {
    told 2 'kill 3' "no verb 'kill' (did you mean 'trial kill'?); see" &&
        told 2 'check x' "(did you mean 'plugin check'?)" &&
        told 2 init "no verb 'init'; see" &&
        told 3 'show 21' "21: expected an experiment's folder, as tunepipe run printed it; of a trial: tunepipe why 21, tunepipe explain 21" &&
        told 3 'stop 21' "of a trial: tunepipe why 21" &&
        told 2 'tuners tpee' "no tuner, assessor or filter 'tpee' (did you mean 'tpe'?); there are: " &&
        "$T" tuners Medianstop > one && grep -qx 'assessor medianstop: .*' one &&
        [ "$(grep -vc '^  ' one)" = 1 ] && has one '  start_step (' &&
        [ "$("$T" tuners exec --json | grep -c '"name": "exec"')" = 2 ]
}
check "words that one would guess" guessed

lists() {
    ls_of && [ ! -s ls.out ] && has ls.err 'no experiment in ./tunepipe-experiments' &&
        ls_of --json && [ "$(cat ls.out)" = '{"experiments": []}' ] || return 1
    begin one && run 0 || return 1
    one=$dir
    begin two && echo 00002 > die && run 137 && rm die || return 1
    two=$(ls -d tunepipe-experiments/two-*)
    "$T" fork "$one" --at-trial 0 tunepipe-experiments/three > forked &&
        mkdir tunepipe-experiments/none tunepipe-experiments/bad && echo '{' > tunepipe-experiments/bad/experiment.json || return 1
    touch -d '3 hours ago' "$one/experiment.json" && touch -d '2 hours ago' "$two/experiment.json" &&
        touch -d '1 hour ago' tunepipe-experiments/three/experiment.json &&
        touch -d '50 hours ago' tunepipe-experiments/bad/experiment.json && ls_of || return 1
    sed 's/  [0-9]*[sm] ago/  now/' ls.out > now # however slow this machine
    cat > want << END
STATE       TRIALS  BEST  TRIAL  BEGAN   CHANGED  FOLDER
forked         1/3     1  00000  1h ago  now   tunepipe-experiments/three
died           2/3     1  00000  2h ago  now   $two
finished       3/3     1  00000  3h ago  now   $one
unreadable       -     -  -      2d ago  2d ago   tunepipe-experiments/bad
END
    cmp want now || { cat now; return 1; }
    ls_of "$PWD/tunepipe-experiments/" && has ls.out "  $PWD/tunepipe-experiments/three" || return 1
    ls_of "$one"
    [ $? = 3 ] && has ls.err "$one: is an experiment, expected the folder in which" &&
        has ls.err "tunepipe trial ls $one" || return 1
    ls_of nowhere
    [ $? = 3 ] && has ls.err "nowhere: No such file" && ! ls_of . . && has ls.err "'.': expected one folder"
}
check "ls: the newest first, and how each stands" lists

as_json() {
    experiment 'maxTrialNumber: 2' << 'E'
tunepipe ls --json "$HERE/tunepipe-experiments" > "$HERE/during"
tunepipe pause "$TUNEPIPE_EXPERIMENT_DIR" && tunepipe ls "$HERE/tunepipe-experiments" > "$HERE/paused"
tunepipe continue "$TUNEPIPE_EXPERIMENT_DIR"
tunepipe trial report --final 2
E
    run 0 && has during "\"state\": \"running\", \"pid\": $(cat pid), \"reason\": null, \"done\": " &&
        grep -q "^paused ($(cat pid))  " paused || fail "$(cat during paused)" || return 1
    ls_of --json && has ls.out '"experiment": "e-' && has ls.out "\"folder\": \"$PWD/$dir\", \"state\": \"finished\", \"pid\": null" &&
        has ls.out '"done": 2, "max_trials": 2, "optimize_mode": "minimize", "best": {"trial": "00000", "value": 2.0}, "began_s": '
}
check "ls: of one that runs or pauses; JSON" as_json

# As status tells it; a signal is told by the word.
ended_before_its_end() {
    begin one 'onRepeatedFailure: end' && echo 'exit 1' > trial.sh
    sed -i 's/^maxTrialNumber.*/maxTrialNumber: 9/' e.yml && run 1 || return 1
    one=$dir
    touch -d '1 hour ago' "$one/experiment.json"
    begin two && echo 'tunepipe stop "$TUNEPIPE_EXPERIMENT_DIR"' >> trial.sh && run 1 &&
        ls_of && grep -q "^3 trials in a row failed the same way  *3/9  .*$one" ls.out &&
        grep -q '^interrupted  *./3 ' ls.out || fail "$(cat ls.out)" || return 1
    ls_of --json && has ls.out '"state": "interrupted", "pid": null, "reason": "3 trials in a row failed the same way: exit status 1"'
}
check "ls: why one ended before its end" ended_before_its_end

# What a name holds is shown, and does nothing to the terminal.
hostile() {
    begin one && run 0 && mv "$dir" "tunepipe-experiments/$(printf 'a\033[2Jb')" && ls_of &&
        has ls.out 'tunepipe-experiments/a?[2Jb' && lacks ls.out "$(printf '\033')"
}
check "ls: hostile names" hostile

# takes_newest VERB WORD...: it says on stderr that it has taken $newest, and
# prints what it prints where that is named first.
takes_newest() {
    verb=$1
    shift
    "$T" "$verb" "$@" > unnamed 2> err || fail "$verb $*: $(cat err)" || return 1
    [ "$(head -n 1 err)" = "tunepipe $verb: $newest" ] || fail "$verb: $(cat err)" || return 1
    "$T" "$verb" "$newest" "$@" > named && cmp named unnamed
}

newest() {
    "$T" explain 0 2> err
    [ $? = 3 ] && has err 'no experiment in ./tunepipe-experiments' || return 1
    begin one && run 0 && one=$dir && begin two && run 0 || return 1
    newest=$(ls -d tunepipe-experiments/two-*)
    touch -d '1 hour ago' "$one/experiment.json"
    takes_newest explain 0 && takes_newest explain 0 --json && takes_newest replay --verify &&
        takes_newest log --trial 1 && takes_newest resume || return 1
    "$T" fork --at-trial 0 ./new > out 2> err && has err "tunepipe fork: $newest" && has new/experiment.json '"forked_from": "'"$PWD/$newest"'"'
}
check "the newest where none is named" newest

# A word that may be a folder is never taken for a trial, or for nothing.
ambiguous() {
    begin one && run 0 && mkdir 00000 || return 1
    "$T" explain 00000 > out 2> err && has out 'trial       00000,' || return 1
    for word in "$dir" ./nowhere 'trial.sh'; do
        "$T" explain "$word" 2> err
        [ $? = 2 ] && has err "'$word' alone: expected [DIR] TRIAL" || return 1
    done
    "$T" explain one 2> err
    [ $? = 1 ] && has err "nothing of a trial 'one'" || return 1
    "$T" fork --at 1 "$dir" 2> err
    [ $? = 2 ] && has err "'$dir' alone: expected [LOG] NEWDIR" || return 1
    for verb in resume replay log; do
        "$T" "$verb" nowhere > out 2> err && fail "$verb" && return 1
        has err 'nowhere: ' && "$T" "$verb" a b 2> err
        [ $? = 2 ] && has err "'b': expected one" || return 1
    done
}
check "no folder is taken for a trial" ambiguous

goes_on() {
    begin one && echo 00002 > die && run 137 && rm die && one=$dir && begin two && run 0 || return 1
    touch -d '1 hour ago' "$one/experiment.json"
    "$T" resume > out 2> err && has out 'is over (finished: 3 trials): nothing is left to do' &&
        has err "tunepipe resume: the newest that is not over: tunepipe resume $one" || return 1
    touch "$one/experiment.json" && "$T" resume > out 2> err && has err "tunepipe resume: $one" &&
        "$T" show "$one" > shown && has shown 'state:  finished'
}
check "resume: the newest, and else what is not over" goes_on

says() {
    "$T" status "$dir" --json && "$T" status "$dir" && "$T" show "$dir" &&
        "$T" ls --json tunepipe-experiments | sed 's/"changed_s": [0-9.]*//' &&
        "$T" report "$dir" --json | sed 's/"read_us": [0-9]*, //'
}

# as_read WORD...: what was counted at the end of $dir has these words and is
# what its files tell; a line more is counted, too.
as_read() {
    mv "$dir/summary.json" noted && has noted '"counted": {"results.jsonl": ' || return 1
    for word in "$@"; do
        has noted "$word" || return 1
    done
    sed 's/, "counted": .*/}/' noted > "$dir/summary.json" && says > read.out &&
        cp noted "$dir/summary.json" && says > noted.out && cmp noted.out read.out || return 1
    sed -i 's/"best_at": .*/"best_at": []}}/' "$dir/summary.json" && says > taken.out &&
        has taken.out '"best": null' || return 1
    cp noted "$dir/summary.json" && cp "$dir/results.jsonl" as_it_was || return 1
    tail -n 1 as_it_was >> "$dir/results.jsonl" && says > more.out &&
        n=$(grep -o '"done": [0-9]*' read.out | head -n 1) &&
        has more.out "\"done\": $((${n#*: } + 1))," && cp as_it_was "$dir/results.jsonl"
}

counted() {
    for direction in minimize maximize; do
        rm -rf tunepipe-experiments
        experiment "direction: $direction" 'maxTrialNumber: 16' 'onRepeatedFailure: ignore' \
            "assessor: {plugin: $PLUGINS/stops_at.so, classArgs: {step: 2}}" << 'E'
case $TUNEPIPE_TRIAL_ID in
00001) exit 1 ;;
00002) tunepipe trial report 1; tunepipe trial report 2; exec sleep 1000 ;;
00003) tunepipe trial kill "$TUNEPIPE_EXPERIMENT_DIR" 3; exec sleep 1000 ;;
00014) [ -e "$HERE/again" ] || { tunepipe stop "$TUNEPIPE_EXPERIMENT_DIR"; exec sleep 1000; } ;;
esac
tunepipe trial report --final $((1$TUNEPIPE_TRIAL_ID * 7 % 5))
E
        run 1 && as_read '"interrupted": 1' '"cancelled": 1' '"stopped": 1' '"failed": 1' &&
            touch again && resume 0 && as_read '"user": 1' '"succeeded": 13' &&
            rm again && lacks noted 'interrupted":' || return 1
    done
}
check "what is counted at the end is what there is" counted

# Of trials with budgets those are compared that had most.
counted_with_budgets() {
    experiment 'maxTrialNumber: 9' 'tuner: {name: asha, classArgs: {max_budget: 9,
        type: promotion, searcher: random}}' << 'E'
step=$TUNEPIPE_STEP
while step=$((step + 1)); do
    tunepipe trial report --sync "$TUNEPIPE_PARAM_x" || exit 0
    echo > s && tunepipe trial checkpoint save s
done
E
    run 0 && as_read '"paused": ' '"least_budget": 1.0'
}
check "what is counted of trials with budgets" counted_with_budgets

finish
