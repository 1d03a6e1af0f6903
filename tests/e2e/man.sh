#!/bin/sh
# SPDX-License-Identifier: MIT
# The manual pages against what they describe: --help, the table of verbs, the
# public headers, the configuration's keys; and their examples, compiled and
# run.  A failure names the page and the line that it lacks.
#
# Needs TP_BUILD and TP_SOURCE.
# not under asan
# not under tsan
set -u
: "${TP_BUILD:?is not set: run the tests with make check}"
: "${TP_SOURCE:?is not set: run the tests with make check}"
. "$TP_SOURCE/tests/e2e/lib.sh"
umask 022

pages() { ls "$TP_SOURCE"/*/man/*.[1-8] "$TP_SOURCE"/src/*/man/*.[1-8]; }
page() { pages | grep "/$1\$"; } # NAME.SECTION: its file
verbs() { "$T" --verbs | awk -F '\t' '$2 == "-" { print $1 }'; }

# section PAGE TITLE: its source.
section() {
    awk -v title="$2" '/^\.Sh / { on = $0 == ".Sh " title; next } on' "$1"
}

# same WHAT_ONE ONE WHAT_OTHER OTHER: two sorted lists of lines.
same() {
    d=$(comm -23 "$2" "$4" | tr '\n' ' ')
    [ -z "$d" ] || echo "$1, and not $3: $d"
    e=$(comm -13 "$2" "$4" | tr '\n' ' ')
    [ -z "$e" ] || echo "$3, and not $1: $e"
    [ -z "$d$e" ]
}

each_verb_has_a_page() {
    bad=0
    verbs | sort > verbs
    "$T" --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p' | sort > help
    same "in --verbs" verbs "in tunepipe --help" help || bad=1
    for verb in $(cat verbs); do
        [ -n "$(page "tunepipe-$verb.1")" ] || {
            echo "tunepipe $verb: add the page src/cli/man/tunepipe-$verb.1"
            bad=1
        }
        grep -q "^\.It Xr tunepipe-$verb 1\$" "$(page tunepipe.1)" || {
            echo "tunepipe.1, DESCRIPTION: add the line" \
                "'.It Xr tunepipe-$verb 1' and its summary"
            bad=1
        }
        summary=$("$T" --verbs | awk -F '\t' -v v="$verb" \
            '$1 == v && $2 == "-" { print $4 }')
        grep -qxF ".Nd $summary" "$(page "tunepipe-$verb.1")" || {
            echo "tunepipe-$verb.1, NAME: expected the line '.Nd $summary'"
            bad=1
        }
    done
    pages | sed -n 's|.*/tunepipe-\(.*\)\.1$|\1|p' | sort > named
    same "a page of section 1" named "a verb" verbs || bad=1
    return $bad
}

each_option_is_in_its_page() {
    bad=0
    for verb in $(verbs); do
        p=$(page "tunepipe-$verb.1")
        "$T" --verbs | awk -F '\t' -v v="$verb" \
            '$1 == v && $2 != "-" { print $2 }' | sort > table
        "$T" "$verb" --help | grep -E '^ +--' | grep -oE -- '--[a-z][a-z_-]*' |
            sort -u > help
        section "$p" OPTIONS | sed -n 's/^\.It Fl Fl \([a-z_-]*\).*/--\1/p' |
            sort > page
        same "in the table of tunepipe $verb" table "in its --help" help ||
            bad=1
        for option in $(comm -23 table page); do
            echo "tunepipe-$verb.1, OPTIONS: add the line" \
                "'.It Fl Fl ${option#--}' and what it does"
            bad=1
        done
        for option in $(comm -13 table page); do
            echo "tunepipe-$verb.1, OPTIONS: tunepipe $verb has no $option"
            bad=1
        done
        for word in $("$T" --verbs | awk -F '\t' -v v="$verb" \
            '$1 == v && $2 == "-" && sub(/ .*/, "", $3) {
             gsub(/[|]/, " ", $3); print $3 }'); do
            grep -q "^\.It Cm $word\b" "$p" || {
                echo "tunepipe-$verb.1, DESCRIPTION: add the line" \
                    "'.It Cm $word' and what it does"
                bad=1
            }
        done
    done
    return $bad
}

# What a trial finds in its environment is one table, of what files.h names.
environment_of_a_trial() {
    sed -n '/never set/d; s/^#define TRIAL_ENV_[A-Z_]* "\([A-Z_]*\)".*/\1/p' \
        "$TP_SOURCE/src/trial/files.h" | sort > code
    section "$(page tunepipe-trial.1)" ENVIRONMENT |
        awk '/^\.It Ev/ { on = 1 } on { print } !/\\$/ { on = 0 }' |
        grep -oE '[A-Z]+(_[A-Z]*)+' | sort > page
    same "in src/trial/files.h" code \
        "under ENVIRONMENT of tunepipe-trial.1" page
}

statuses() { grep -oE '^\.It Sy [0-9]+' | awk '{ print $3 }' | sort; }

exit_statuses_agree() {
    bad=0
    for verb in $(verbs); do
        "$T" "$verb" --help | awk '/^Exit status:/ { on = 1 }
            /^$/ { on = 0 } on' | grep -oE '\b[0-9]+\b' | sort -u > help
        [ -s help ] ||
            { echo "tunepipe $verb --help: add 'Exit status: ...'"; bad=1; }
        section "$(page "tunepipe-$verb.1")" "EXIT STATUS" | statuses > page
        same "an exit status in tunepipe $verb --help" help \
            "'.It Sy N' under EXIT STATUS of tunepipe-$verb.1" page || bad=1
    done
    grep -oE 'EXIT_[A-Z]+ = [0-9]+' "$TP_SOURCE/src/cli/verb.h" |
        awk '{ print $3 }' | sort > code
    section "$(page tunepipe.1)" "EXIT STATUS" | statuses > page
    same "in enum exit_status" code \
        "'.It Sy N' under EXIT STATUS of tunepipe.1" page || bad=1
    return $bad
}

# header without its comments and the bodies of its macros
code_of() {
    awk '{
        line = $0; out = ""
        while (line != "") {
            if (inside) {
                i = index(line, "*/"); if (!i) { line = ""; break }
                line = substr(line, i + 2); inside = 0
            } else {
                i = index(line, "/*")
                if (!i) { out = out line; line = ""; break }
                out = out substr(line, 1, i - 1)
                line = substr(line, i + 2); inside = 1
            }
        }
        if (body) { body = out ~ /\\$/; next }
        if (out ~ /^#define/) { body = out ~ /\\$/; sub(/[(].*|[ \\]*$/, "", out)
            print $1, $2; next }
        if (out !~ /^#/) print out
    }' "$1"
}

# What a header declares: functions, macros, constants, structs, members.
names_of() {
    code_of "$1" | grep -oE '\b(TP_[A-Z_]+|tp_[a-z_]+)\b' |
        grep -vE '^(TP_IMPL_|tp_impl_)'
    code_of "$1" | awk '
        /^struct [a-z_]+ \{/ { on = 1; text = ""; next }
        /^\};/ { on = 0 }
        on { text = text " " $0 }
        on && /;/ {
            n = split(text, part, ",")
            if (match(text, /\(\*[a-z_0-9]+\)/)) {
                part[1] = substr(text, RSTART + 2, RLENGTH - 3)
                n = 1
            }
            for (i = 1; i <= n; i++) {
                gsub(/[;*]/, " ", part[i])
                print part[i]
            }
            text = ""
        }' | awk '{ print $NF }'
}

each_name_of_a_header_is_in_its_page() {
    bad=0
    for header in "$TP_SOURCE"/tuners/include/tunepipe/*.h \
        "$TP_SOURCE"/src/trial/include/tunepipe/*.h \
        "$TP_SOURCE"/src/client/include/tunepipe/*.h; do
        name=$(basename "$header" .h)
        p=$(page "tunepipe-$name.3")
        [ -n "$p" ] || {
            echo "$header: add the page tunepipe-$name.3"
            bad=1
            continue
        }
        names_of "$header" | sort -u > names
        [ "$(wc -l < names)" -ge 4 ] ||
            { echo "$header: names were not found"; bad=1; }
        while read -r word; do
            # A name of another header has its entry there.
            case $word in
            TP_* | tp_*) where=$(pages | grep '\.3$') ;;
            *) where=$p ;;
            esac
            grep -qw -- "$word" $where || {
                echo "tunepipe-$name.3: says nothing of '$word'" \
                    "of tunepipe/$name.h"
                bad=1
            }
        done < names
    done
    return $bad
}

each_key_is_in_its_page() {
    bad=0
    p=$(page tunepipe-experiment.5)
    cat "$TP_SOURCE"/src/config/keys*.c |
        grep -oE '(\{|(HELD|IDLE|REFUSED)\()"[A-Za-z]+"' |
        sed 's/.*"\(.*\)"/\1/' | sort -u > keys
    [ "$(wc -l < keys)" -ge 50 ] || fail "keys were not found" || return 1
    grep -oE '^\.(It )?(Va|Cm) .*|^\.Va .*|\.Cm .*' "$p" |
        grep -oE '[A-Za-z]{2,}' | sort -u > words
    for key in $(comm -23 keys words); do
        echo "tunepipe-experiment.5, KEYS: add the line '.It Va $key'" \
            "(or '.Cm $key' for a word) and what it does"
        bad=1
    done
    sed -n 's/^\.It Va \([A-Za-z]*\)$/\1/p' "$p" | sort -u > said
    for key in $(comm -13 keys said); do
        echo "tunepipe-experiment.5, KEYS: there is no key $key"
        bad=1
    done
    return $bad
}

# example PAGE SECTION: its first literal block.
example() {
    section "$(page "$1")" "$2" |
        awk '/^\.Bd -literal/ { on = 1; next } /^\.Ed/ { exit } on'
}

compile() { # FILE FLAGS...
    file=$1
    shift
    ${CC:-cc} -std=c11 -Wall -Wextra -Werror -D_GNU_SOURCE \
        -I"$TP_SOURCE/tuners/include" -I"$TP_SOURCE/src/trial/include" \
        -I"$TP_SOURCE/src/client/include" "$@" "$file"
}

session() {
    cat << END
run dispatch --plugin-path plugins --tuner mine --assessor floor --assessor-args {"least":-0.5} --seed 1 --dir log
> IN {"x": {"_type": "uniform", "_value": [0, 8]}}
< ID
> GE 2
< TR {"parameter_id": 0, *
< TR {"parameter_id": 1, *
> ME {"parameter_id": 0, "trial_job_id": "A", "type": "PERIODICAL", "sequence": 0, "value": "0"}
> ME {"parameter_id": 0, "trial_job_id": "A", "type": "PERIODICAL", "sequence": 1, "value": "-1"}
< KI "A"
> ME {"parameter_id": 1, "trial_job_id": "B", "type": "FINAL", "sequence": 0, "value": "7.5"}
eof
exit 0
err tuner mine: got 7.5
noerr error
END
}

the_plugins_of_the_synopses_work() {
    mkdir plugins
    for kind in tuner assessor; do
        example "tunepipe-$kind.3" SYNOPSIS > "$kind.c"
        compile "$kind.c" -shared -fPIC -o "plugins/my$kind.so" || return 1
    done
    "$T" tuners --plugin-path plugins > out || return 1
    grep -q '^tuner mine: ' out || fail "tuner mine is not listed" || return 1
    grep -q '^assessor floor: ' out || fail "assessor floor is not listed" ||
        return 1
    session > wire
    "$TP_BUILD/tests/tools/wire" wire &&
        "$T" replay log --verify --plugin-path plugins
}

the_trial_of_the_synopsis_works() {
    example tunepipe-trial.3 SYNOPSIS > trial.c
    compile trial.c -o trial || return 1
    env -u TUNEPIPE_TRIAL_DIR ./trial > out || return 1
    [ "$(cat out)" = "intermediate 0.5
intermediate 0.25
intermediate 0.16666666666666666
final 0.5" ] || fail "outside tunepipe it printed: $(cat out)" || return 1
    mkdir dir && printf 'x\t3\n' > dir/parameters.tsv
    TUNEPIPE_TRIAL_DIR=$PWD/dir ./trial && tail -n 1 dir/metrics > out
    [ "$(cat out)" = "final 3" ] || fail "inside it reported: $(cat out)"
}

the_client_of_the_synopsis_works() {
    example tunepipe-study.3 SYNOPSIS > client.c
    compile client.c -c -o client.o
}

# All at once: of a trial that is only then asked for.
the_requests_of_a_study_work() {
    command -v mandoc > /dev/null || { echo "needs mandoc"; return 77; }
    mandoc -Tascii "$(page tunepipe-study.1)" | col -b |
        sed -n 's/^ *\({"command": .*}\)$/\1/p' > asked
    grep -q '"leave"' asked || fail "$(cat asked)" || return 1
    echo '{"searchSpace": {"x": {"_type": "uniform", "_value": [0, 1]}},
        "direction": "minimize"}' > study.json
    "$T" study s --stdio --config study.json < asked > said || return 1
    grep '"error"' said | grep -vE 'trial 00000|client has left' > wrong
    [ ! -s wrong ] && [ "$(wc -l < said)" = "$(wc -l < asked)" ] ||
        fail "$(cat said)"
}

the_configurations_work() {
    for p in tunepipe-experiment.5 tunepipe-run.1; do
        example "$p" EXAMPLES > e.yml
        # A folder that cannot be made ends the run behind all checks.
        printf 'experimentWorkingDirectory: /dev/null/none\n' >> e.yml
        "$T" run e.yml > out 2> err
        [ $? = 1 ] && grep -q '/dev/null/none' err ||
            fail "$p: $(cat err)" || return 1
    done
}

the_pages_are_well_formed() {
    if command -v mandoc > /dev/null; then
        pages | xargs mandoc -Tlint -Wwarning > out 2>&1
        grep -vE 'outdated mandoc.db' out > said
    elif command -v groff > /dev/null; then
        pages | while read -r p; do
            groff -mandoc -Tascii -ww -z "$p" 2>&1
        done > said
    else
        echo "needs mandoc or groff"
        return 77
    fi
    for p in $(pages); do
        head -n 1 "$p" | grep -q 'SPDX-License-Identifier: MIT' ||
            echo "$p: has no licence line" >> said
        sed -n 's/^\.\(It \)*Xr \(tunepipe[a-z-]*\) \([1-8]\).*/\2.\3/p' "$p" |
            while read -r other; do
                [ -n "$(page "$other")" ] || echo "$p: no page $other"
            done >> said
    done
    [ ! -s said ] || { cat said; return 1; }
}

install_to() {
    env -u MAKEFLAGS -u MAKELEVEL make -s --no-print-directory \
        -C "$TP_SOURCE" "V=$(basename "$TP_BUILD")" "DESTDIR=$PWD/root" \
        PREFIX=/usr "$@"
}

they_are_installed_and_uninstalled() {
    install_to install > out 2>&1 || { cat out; return 1; }
    for p in $(pages); do
        cmp "$p" "root/usr/share/man/man${p##*.}/${p##*/}" || return 1
    done
    for f in bash-completion/completions/tunepipe \
        zsh/site-functions/_tunepipe fish/vendor_completions.d/tunepipe.fish; do
        [ -s "root/usr/share/$f" ] || fail "no share/$f" || return 1
    done
    install_to uninstall > out 2>&1 || { cat out; return 1; }
    [ -z "$(find root -type f)" ] || fail "left: $(find root -type f)"
}

check "each verb has a page" each_verb_has_a_page
check "each option is in its page" each_option_is_in_its_page
check "exit statuses agree" exit_statuses_agree
check "each name of a header is in its page" \
    each_name_of_a_header_is_in_its_page
check "the environment of a trial is in its page" environment_of_a_trial
check "each key is in its page" each_key_is_in_its_page
check "the plugins of the synopses work" the_plugins_of_the_synopses_work
check "the trial of the synopsis works" the_trial_of_the_synopsis_works
check "the client of the synopsis works" the_client_of_the_synopsis_works
check "the requests of a study work" the_requests_of_a_study_work
check "the configurations work" the_configurations_work
check "the pages are well formed" the_pages_are_well_formed
check "pages and completions are installed" they_are_installed_and_uninstalled
finish
