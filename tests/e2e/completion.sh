#!/bin/sh
# SPDX-License-Identifier: MIT
# The completions, as the shells themselves give them; a shell that is not
# installed is skipped.
#
# Needs TP_BUILD and TP_SOURCE.
# not under asan
# not under tsan
set -u
: "${TP_BUILD:?is not set: run the tests with make check}"
: "${TP_SOURCE:?is not set: run the tests with make check}"
. "$TP_SOURCE/tests/e2e/lib.sh"
DONE=$TP_BUILD/completion
PATH=$TP_BUILD:$PATH
HOME=$work # made by lib.sh
export PATH HOME

needs() { command -v "$1" > /dev/null || { echo "no $1"; return 77; }; }

verbs() { "$T" --verbs | awk -F '\t' '$2 == "-" { print $1 }' | sort; }
options() {
    "$T" --verbs | awk -F '\t' -v v="$1" '$1 == v && $2 != "-" { print $2 }' |
        sort
}
plugins() { "$T" tuners | sed -n "s/^$1 \([^: ]*\):.*/\1/p" | sort; }

some_files() { mkdir -p folder && touch folder/e.yml e.yml; }

# gives WORDS... : what bash proposes for the last of them, sorted.
in_bash() {
    bash -c '. "$0"
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _tunepipe
        printf "%s\n" "${COMPREPLY[@]}"' "$DONE/tunepipe.bash" "$@" | sort
}
in_fish() { # the whole line as one word
    timeout 60 fish --no-config -c "source '$DONE/tunepipe.fish'; complete -C '$1'" |
        cut -f 1 | sort
}

expect() { # WHAT GOT WANTED
    [ "$2" = "$3" ] || fail "$1: got '$2', expected '$3'"
}
has() { # WHAT GOT WANTED: each of the words WANTED is a line of GOT
    for word in $3; do
        echo "$2" | grep -qxF -e "$word" ||
            fail "$1: '$word' is missing in '$2'" || return 1
    done
}

bash_completes() {
    needs bash || return
    some_files
    bash -n "$DONE/tunepipe.bash" &&
        has verbs "$(in_bash tunepipe '')" "$(verbs) help --version" &&
        expect "a verb's beginning" "$(in_bash tunepipe repl)" replay &&
        has "help" "$(in_bash tunepipe help '')" "$(verbs)" || return 1
    for verb in $(verbs); do
        has "options of $verb" "$(in_bash tunepipe "$verb" --)" \
            "$(options "$verb") --help" || return 1
    done
    expect tuners "$(in_bash tunepipe dispatch --tuner '')" \
        "$(plugins tuner)" &&
        expect assessors "$(in_bash tunepipe dispatch --assessor '')" \
            "$(plugins assessor)" &&
        expect words "$(in_bash tunepipe dispatch --on-error '')" "fail
skip" &&
        expect "words behind =" "$(in_bash tunepipe dispatch --on-error =)" \
            "fail
skip" &&
        expect "a word behind =" \
            "$(in_bash tunepipe dispatch --on-error = s)" skip &&
        expect "no number" "$(in_bash tunepipe dispatch --seed '')" "" &&
        expect "a configuration" "$(in_bash tunepipe run e)" e.yml &&
        expect "a folder" "$(in_bash tunepipe show '')" folder &&
        expect "a file behind an option" \
            "$(in_bash tunepipe dispatch --config e)" e.yml &&
        expect "a trial's words" "$(in_bash tunepipe trial '')" "add
checkpoint
kill
ls
output
param
params
report
retry"
}

fish_completes() {
    needs fish || return
    some_files
    fish -n "$DONE/tunepipe.fish" &&
        has verbs "$(in_fish 'tunepipe ')" "$(verbs) help" || return 1
    for verb in $(verbs); do
        has "options of $verb" "$(in_fish "tunepipe $verb --")" \
            "$(options "$verb") --help" || return 1
    done
    has tuners "$(in_fish 'tunepipe dispatch --tuner ')" "$(plugins tuner)" &&
        has words "$(in_fish 'tunepipe dispatch --on-error ')" "fail skip" &&
        expect "a configuration" "$(in_fish 'tunepipe run e')" e.yml &&
        expect "a folder" "$(in_fish 'tunepipe show fo')" folder/ &&
        has "a trial's words" "$(in_fish 'tunepipe trial ')" \
            "ls output add kill retry checkpoint param params report"
}

# zsh completes in its line editor only, and that in a terminal only: zpty is
# one.  The editor itself presses the key once it runs, and quits: nothing
# depends on when it gets what is typed.
in_zsh() {
    cat > .zshrc << 'END'
fpath=($PWD/functions $fpath)
autoload -U compinit
compinit -u -D
setopt auto_list no_list_beep
LISTMAX=1000 PS1=
press() {
    BUFFER=$LINE CURSOR=$#LINE
    zle list-choices
    zle -R
    exit
}
zle -N zle-line-init press
END
    LINE=$1 TERM=dumb ZDOTDIR=$PWD timeout 60 zsh -f -c '
        zmodload zsh/zpty || exit 1
        zpty shell "zsh -d -i"
        while zpty -r shell out; do print -rn -- $out; done' |
        tr -s ' \r\t' '\n\n\n' | sort -u
}

zsh_completes() {
    needs zsh || return
    some_files
    mkdir functions && cp "$DONE/tunepipe.zsh" functions/_tunepipe
    zsh -n functions/_tunepipe || return 1
    has verbs "$(in_zsh 'tunepipe ')" "$(verbs)" &&
        has "options" "$(in_zsh 'tunepipe replay --')" \
            "--verify --plugin-path" &&
        has tuners "$(in_zsh 'tunepipe dispatch --tuner ')" \
            "$(plugins tuner)" &&
        has words "$(in_zsh 'tunepipe dispatch --on-error ')" \
            "fail skip"
}

check "bash completes" bash_completes
check "fish completes" fish_completes
check "zsh completes" zsh_completes
finish
