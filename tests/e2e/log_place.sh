#!/bin/sh
# SPDX-License-Identifier: MIT
# commandLogDirectory: the log of an experiment lies elsewhere, and is found.
# not under tsan
. "$(dirname "$0")/lib.sh"

elsewhere() { # LINE...: four trials, whose log lies in ./logs
    experiment 'maxTrialNumber: 4' 'commandLogDirectory: logs' "$@" << 'E'
tunepipe trial report --final "$TUNEPIPE_PARAM_x"
E
}

# verbs N: each finds the log of N results, from here and from elsewhere.
verbs() {
    for here in . /; do
        at=$(realpath "$dir")
        (
            cd $here && "$T" show --json "$at" && "$T" export --csv "$at" &&
                "$T" index "$at" && "$T" report "$at" && "$T" explain "$at" 0 &&
                "$T" why "$at" 0 && "$T" log "$at" &&
                "$T" replay --verify "$at"
        ) > said 2>&1 || fail "$(tail -n 1 said)" || return
        has said ": $1 trials" && has said identical: &&
            lacks said warning: || return
    done
}

found() {
    elsewhere && run 0 && verbs 4 && [ ! -e "$dir/command.log" ] &&
        place=$(realpath logs/*) && [ "$(basename "$place")" = "$(basename "$dir")" ] &&
        [ "$(stat -c %a "$place" "$dir/command.log.at" | tr '\n' ' ')" = '700 600 ' ] &&
        [ "$(tail -n 1 "$dir/command.log.at")" = "$place" ] &&
        "$T" resume "$dir" --max-trials 6 > out 2> err && verbs 6 &&
        "$T" run e.yml --dry-run > out && has out "the log would lie in $PWD/logs"
}
check "every verb finds it, from wherever" found

crashed() {
    write_kill_them kill.sh
    elsewhere
    cat > trial.sh << 'E'
[ -e "$HERE/go" ] || { : > "$HERE/go"; sh "$HERE/kill.sh" both; }
tunepipe trial report --final 1
E
    run 137
    resume 0 && verbs 4
}
check "kill -9, and gone on from" crashed

# A fork's log lies beside that of what was forked; one that fails leaves none.
forked() {
    elsewhere && run 0 && "$T" fork "$dir" --at-trial 1 new > out &&
        [ -s logs/new/command.log ] && [ ! -e new/command.log ] &&
        "$T" resume new > out 2> err && dir=new && verbs 4 || return
    ! "$T" fork "$dir" --at 9999 newer > out 2> err && [ ! -e newer ] &&
        [ ! -e logs/newer ]
}
check "a fork" forked

named_alike() {
    mkdir logs logs/study && experiment 'commandLogDirectory: logs' \
        'trainingService: {platform: client}' 'maxTrialNumber: 1' < /dev/null &&
        sed -i '/^trialCommand/d' e.yml &&
        "$T" ask study --config e.yml > asked && "$T" tell study 0 1 &&
        "$T" stop study > out 2>&1
    [ -s logs/study-2/command.log ] && [ -z "$(ls logs/study)" ]
}
check "a folder of that name is another's" named_alike

# Nothing is left of an experiment that was not begun.
refused() {
    elsewhere 'tuner: {name: random, classArgs: {nonsense: 1}}'
    run 3
    [ ! -d tunepipe-experiments ] && [ -z "$(ls logs)" ] || return 1
    experiment 'commandLogDirectory: /proc' < /dev/null
    run 3 && [ ! -d tunepipe-experiments ] && has err 'commandLogDirectory: /proc/'
}
check "one that is refused" refused

moved() {
    elsewhere && run 0 && mv "$dir" moved && dir=moved && verbs 4 &&
        "$T" resume moved --max-trials 6 > out 2> err && verbs 6 &&
        [ "$(tail -n 1 logs/*/command.log.of)" = "$PWD/moved" ] &&
        cp -r moved copy && ! "$T" resume copy --max-trials 9 > out 2> err &&
        has err "copy: is a copy of $PWD/moved, whose log it would go on with" &&
        sh -c "$(sed -n "s/.*: \(cp '.*\), then \(rm .*\)/\1; \2/p" err)" &&
        "$T" resume copy --max-trials 9 > out 2> err && dir=copy && verbs 9 &&
        dir=moved && verbs 6
}
check "the experiment's folder is moved, is copied" moved

gone() {
    elsewhere && run 0 && mv logs away || return
    why="its log was put into $PWD/logs/$(basename "$dir") on machine $(uname -n) and is not there"
    for verb in 'show' 'export --csv' 'report'; do
        "$T" $verb "$dir" > out 2> err && has err "warning: $dir: $why" || return
    done
    for verb in 'log' 'replay' 'index' 'resume --max-trials 5' 'fork --at 3 new'; do
        ! "$T" ${verb%% *} "$dir" $(echo "$verb" | sed 's/^[a-z]*//') > out 2> err &&
            has err "$why" || fail "$verb: $(cat err)" || return
    done
    [ "$(ls -d new "$dir/command.log" logs 2>&-)" = "" ] &&
        [ -z "$(ls "$dir" | grep held)" ] && mv away logs && verbs 4
}
check "it is not there any more" gone

# Neither a link nor what another experiment left is taken for it.
strange() {
    elsewhere && run 0 && place=$(realpath logs/*) && mv "$place" other &&
        ln -s "$PWD/other" "$place" || return
    ! "$T" log "$dir" > out 2> err && has err 'is not there' || return
    rm "$place" && cp -r other "$place" && "$T" log "$dir" > out &&
        echo 0123456789abcdef > "$place/command.log.of" &&
        ! "$T" log "$dir" > out 2> err && has err 'is not there' || return
    mv "$dir/command.log.at" at && ln -s "$PWD/at" "$dir/command.log.at" &&
        ! "$T" log "$dir" > out 2> err && has err 'command.log.at: cannot read'
}
check "links are not followed" strange

finish
