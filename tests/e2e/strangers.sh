#!/bin/sh
# SPDX-License-Identifier: MIT
# Folders and logs that somebody else may have written: to look at them runs
# nothing of theirs, and to go on with them is for their owner.
# not under tsan
. "$(dirname "$0")/lib.sh"

CANARY=$work/sang
export TP_CANARY="$CANARY"
final='tunepipe trial report --final 1'
RANDOM_TUNER='tuner: {name: random, classArgs: {optimize_mode: minimize}}'

# silent WORD...: the verb fails, names the file that the log names and the
# option, and the plugin was not loaded.
silent() {
    "$T" "$@" > out 2> err
    got=$?
    [ $got = 3 ] && has err "the log names the file '$PWD/theirs/canary.so'" &&
        has err "if you trust it, give --plugin-path $PWD/theirs" ||
        fail "$*: status $got: $(cat err)" || return 1
    [ ! -e "$CANARY" ] || fail "$* ran what the log names"
}

no_plugin_of_a_log() {
    echo "$final" | experiment 'maxTrialNumber: 2' \
        "tuner: {plugin: $PLUGINS/canary.so}"
    run 0 && [ -e "$CANARY" ] || fail 'the canary is dumb' || return 1
    mkdir theirs && cp "$PLUGINS/canary.so" theirs && rm "$CANARY" &&
        cp -r "$dir" forged && "$TP_BUILD/tests/tools/forge" '"canary"' \
        "\"$PWD/theirs/canary.so\"" < "$dir/command.log" \
        > forged/command.log || return 1
    silent replay forged && silent replay --verify forged/command.log &&
        silent explain forged 1 && silent log forged --at 3 &&
        silent fork forged --at 2 new --assessor medianstop &&
        silent dispatch --resume --dir forged || return 1
    # What is not asked of that plugin is answered.
    "$T" replay forged --tuner random > out 2> err && has out 'tuner: ' &&
        "$T" replay forged --assessor medianstop > out 2> err &&
        [ ! -e "$CANARY" ] || fail "what-if: $(cat err)" || return 1
    "$T" replay --plugin-path "$PWD/theirs" forged > out 2> err &&
        has out identical && [ -e "$CANARY" ] ||
        fail "trusted, and not loaded: $(cat err)"
}

# In the arguments of `exec`, and of a Python class, whose words are the same.
no_program_of_a_log() {
    echo "$final" | experiment 'maxTrialNumber: 2' \
        "tuner: {name: exec, classArgs: {command: [$T, dispatch, --tuner, random],
            optimize_mode: minimize}}"
    run 0 && cp -r "$dir" forged && "$TP_BUILD/tests/tools/forge" \
        "$T" "touch\\\", \\\"$CANARY" \
        < "$dir/command.log" > forged/command.log || return 1
    rm -f "$CANARY"
    "$T" replay forged > out 2> err && has out identical ||
        fail "$(cat err)" || return 1
    for words in 'explain forged 1' 'log forged --at 3' \
        'replay --tuner random forged' 'fork forged --at 3 new'; do
        "$T" $words > out 2> err || fail "$words: $(cat err)" || return 1
    done
    [ ! -e "$CANARY" ] || fail 'a program of the log ran' || return 1
    chmod o+w forged/command.log
    "$T" dispatch --resume --dir forged < /dev/null > out 2> err
    [ $? = 3 ] && has err 'forged/command.log: nothing is run' &&
        has err 'chmod go-w forged/command.log' && [ ! -e "$CANARY" ]
}

# refused MESSAGE: neither `resume` nor `rerun` runs anything.
refused() {
    resume 3 --max-trials 4 && has err "$1" &&
        "$T" rerun "$dir" 0 > out 2> err
    [ $? = 3 ] && has err "$1" && count 2 succeeded &&
        [ ! -e "$dir/trials/00002" ] && [ ! -e "$dir/reruns" ] ||
        fail 'its commands ran'
}

only_your_own() {
    echo "$final" | experiment 'maxTrialNumber: 2' "$RANDOM_TUNER"
    run 0 || return 1
    chmod o+w "$dir" && refused 'others than its owner may write to it' &&
        has err "chmod go-w" && "$T" fork "$dir" --at 3 new > out &&
        has out 'others may have written it: look at the new config.yml' && chmod o-w "$dir" &&
        chmod o+w "$dir/config.yml" && refused 'config.yml: nothing is run' &&
        chmod o-w "$dir/config.yml" || return 1
    if [ "$(id -u)" = 0 ]; then
        chown 12 "$dir" && refused 'belongs to user 12, expected 0' &&
            chown 0:12 "$dir" && chmod g+w "$dir" &&
            refused 'others than its owner may write to it' &&
            chown 0:0 "$dir" || return 1
    fi
    chmod o+w "$dir/trials/00000/exit" &&
        { "$T" rerun "$dir" 0 > out 2> err; [ $? = 3 ]; } &&
        has err 'exit: nothing is run' || return 1
    # Options in place of keys may name a plugin.
    sed -i 's/"started_ns"/"overrides": {"seed": "1"}, &/' "$dir/experiment.json" && chmod o+w "$dir/experiment.json" &&
        refused 'experiment.json: nothing is run' && chmod o-w "$dir/experiment.json" || return 1
    # A group of the owner's own number is he alone: umask 002.
    [ "$(id -u)" != "$(id -g)" ] || chmod g+w "$dir" &&
        "$T" rerun "$dir" 1 > out 2> err || fail "$(cat err)" || return 1
    resume 0 --max-trials 4 && count 4 succeeded
}

only_your_own_plugin() {
    mkdir theirs && cp "$PLUGINS/canary.so" theirs
    echo "$final" | experiment 'maxTrialNumber: 2' \
        "tuner: {plugin: $PWD/theirs/canary.so}"
    run 0 && rm "$CANARY" || return 1
    for one in theirs theirs/canary.so; do
        chmod g+w $one && chgrp 12 $one 2> err ||
            { echo "needs root"; return 77; }
        resume 3 --max-trials 4 && has err "$one: nothing is run" &&
            chmod g-w $one || return 1
    done
    chown 12 theirs/canary.so && resume 3 --max-trials 4 &&
        has err 'belongs to user 12, expected 0, who runs this, or root' &&
        [ ! -e "$CANARY" ] || fail 'it was loaded' || return 1
    chown 0 theirs/canary.so && resume 0 --max-trials 4 && count 4 succeeded
}

# harmless FILE: none of the bytes that a terminal would obey.
harmless() {
    for bytes in '\033' '\302\233' '\342\200\256' '\342\201\246' '\342\200\213'; do
        ! LC_ALL=C grep -qF "$(printf "$bytes")" "$1" ||
            fail "$1 holds $bytes" || return 1
    done
}

texts() {
    all='\u001b[2J\u009b\u202e\u2066\u200b'
    experiment 'maxTrialNumber: 4' "metrics: {pattern: 'v=([0-9]+)'}" \
        "searchSpace: {\"x$all\": {_type: choice, _value: [\"$all\", \"b$all\", 3, 4]}}" \
        "$RANDOM_TUNER" << 'E'
[ "$TUNEPIPE_TRIAL_ID" != 00001 ] || echo v=1
printf 'a\033b\302\233c\342\200\256d\342\201\246e' >&2
printf 'intermediate \033\302\233\342\200\256\342\201\246\n' \
    >> "$TUNEPIPE_TRIAL_DIR/metrics"
[ "$TUNEPIPE_TRIAL_ID" = 00001 ]
E
    run 0 && has out 'a?b?c?d?e' && has err 'trial 00000: metrics: line 1' &&
        harmless out && harmless err || return 1
    for words in show 'show --all' 'trial ls' status log 'log --at 9' replay \
        'replay --tuner random'; do
        case $words in
        'trial ls') "$T" $words "$dir" ;;
        *) "$T" ${words%% *} "$dir" ${words#"${words%% *}"} ;;
        esac > said 2>&1 || fail "$words: $(cat said)" || return 1
        harmless said || fail "$words" || return 1
    done
    "$T" explain "$dir" 1 > said && harmless said &&
        "$T" rerun "$dir" 1 > said 2>&1 && harmless said || return 1
    # Nor what an argument or a folder's file says.
    "$T" show "$(printf 'no\033\302\233\342\200\256')" > said 2>&1
    harmless said || return 1
    sed "s/\"reason\": \"/&$(printf '\342\200\256\302\233')/" \
        "$dir/summary.json" > new && ! cmp -s new "$dir/summary.json" &&
        mv new "$dir/summary.json" || fail 'no reason' || return 1
    for words in show status stop resume top; do
        "$T" $words "$dir" > said 2>&1
        harmless said || fail "$words" || return 1
    done
    "$T" report "$dir" > said && harmless "$dir/report.html" &&
        "$T" export "$dir" --csv > csv && ! harmless csv > said &&
        "$T" export "$dir" --csv --safe > csv && harmless csv ||
        fail "$(cat said)" || return 1
    # Nor what their paths are called.
    evil=$(printf 'w\033\302\233\342\200\256\342\201\246')
    mkdir "$evil" && mv e.yml trial.sh tunepipe-experiments "$evil" &&
        cd "$evil" || return 1
    for words in show status ls 'trial ls' why 'why 1' report "report --out $evil" \
        index log 'log --verify' replay 'rerun 1' 'rerun 1 --json' \
        'run e.yml --dry-run' run "fork --at-trial 1 $evil.d" \
        "export --csv --out $evil/csv" 'stop' 'wait' "$evil" "show --$evil" \
        "log --repair --out $evil.log" "import $evil.csv" "-m $evil"; do
        # shellcheck disable=SC2086
        "$T" $words < /dev/null > ../said 2>&1
        harmless ../said || fail "$words: $(cat ../said)" || return 1
    done
}

check "texts of trials and folders are harmless on a terminal" texts
check "no plugin is loaded because a log says so" no_plugin_of_a_log
check "no program is run because a log says so" no_program_of_a_log
check "commands are run of one's own folder alone" only_your_own
check "a plugin of others is not taken up again" only_your_own_plugin
finish
