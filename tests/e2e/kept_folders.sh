#!/bin/sh
# SPDX-License-Identifier: MIT
# Folders that earlier programs wrote, of every tuner and in every state: each
# verb says of them, to the byte, what tests/data/folders/expected.tar.gz has,
# and they are resumed to the same end.  KEPT_FOLDERS_UPDATE=1 writes that
# archive anew and shows what is different from the old one;
# KEPT_FOLDERS="asha void_empty" looks at these folders only; KEPT_FOLDERS_SAID=DIR
# leaves all that was said there, also that of which a checksum is kept.
# Under AddressSanitizer, where starting a program takes longer than answering,
# each verb is asked of a folder of every kind, by turns of the one program's and
# of the other's.
# not under tsan
# takes long
. "$TP_SOURCE/tests/e2e/lib.sh"
DATA=$TP_SOURCE/tests/data/folders
programs='d420e96 ea67f98 e65fa3e' # the commits whose programs wrote the folders
export TZ=UTC LC_ALL=C
umask 077 # who resumes a folder wants it written by nobody else

# unpack ARCHIVE DIR [MEMBER...]
unpack() {
    mkdir -p "$2" && archive=$DATA/$1.tar.gz && cd "$2" && shift 2 &&
        gzip -dc "$archive" | tar -xof - "$@" && cd "$work"
}

#--- what is asked of a folder, $f, whose kind is $name

show_all() { "$T" show "$f" --all; }
status_now() { "$T" status "$f" --json; }
csv() { "$T" export "$f" --csv; }
metrics() { "$T" export "$f" --csv --intermediate; }
# When it was read is none of its past.
report() {
    "$T" report "$f" --json > said
    status=$?
    sed 's/"read_us": [0-9]*, //' said
    return $status
}
explain() { "$T" explain "$f" 2; }
replay() { "$T" replay "$f" --verify; }
another_assessor() { "$T" replay "$f" --assessor percentile --json; }
another_tuner() { "$T" replay "$f" --tuner 'tpe:{"seed": 1}' --json; }
log() { "$T" log "$f"; }
index() { "$T" index "$f"; }

# The first half of it goes on elsewhere.
fork() {
    at=$("$T" log "$f" 2>&- | awk '$4 == "<" { n = $1 } END { print int(n / 2) + 1 }')
    "$T" fork "$f" --at "$at" half && "$T" replay half --verify &&
        "$T" log half --at "$at" && "$T" export half --csv
    status=$?
    rm -rf half
    return $status
}

# One trial more than there are, or what is left to do; times are left out, and
# what depends on them.  One trial at a time, or in lock step: there is one order,
# but between the answers of the two workers.
resume_it() {
    case $name in
    dispatch) "$T" dispatch --grace 1h --resume --dir "$f" < /dev/null && replay && return ;;
    pbt_folders) return ;; # what its trials saved lay elsewhere
    esac
    grep -q deterministic "$f/config.yml" ||
        sed -i 's/^trialConcurrency: .*/trialConcurrency: 1/' "$f/config.yml"
    set --
    [ ! -e "$f/summary.json" ] ||
        set -- --max-trials $(($(wc -l < "$f/results.jsonl") + 1))
    (cd "$name" && "$T" resume "../$f" "$@" < /dev/null > ../said 2>&1)
    echo "resume: $?"
    sed -n '/error: /p; /resumed: /p' said
    "$T" show "$f" | sed -E 's/ +[0-9.]+s +/ /; s/ \([0-9.]+ s\)//'
    csv | cut -d , -f 1-4,6-
    metrics | cut -d , -f 1-3 | sort | uniq -c
    "$T" log "$f" | awk '$4 == "R" { n = 0 }
        $4 ~ /^>/ && !/AK{/ { $1 = $2 = $3 = ""; answers[++n] = $0 }
        END { for (i = 1; i <= n; i++) print answers[i] }' |
        sort -s -k 1,1
    replay > said
    status=$?
    cut -d : -f 1 said
    return $status
}

#--- of packs

output() { "$T" trial output "$f" 4; "$T" trial output "$f" 1 --stderr; }
unpacked() {
    "$T" unpack "$f" 1 --to unpacked && find unpacked -type f | sort |
        while read -r file; do cksum "$file"; done
    rm -rf unpacked
}

#--- the same in other words, of the folders that are of a state

show() { "$T" show "$f"; }
status() { "$T" status "$f"; }
trials() { "$T" trial ls "$f"; }
why() { "$T" why "$f" 3; }
log_of_trial() { "$T" log "$f" --trial 00002 --json; }
explain_json() { "$T" explain "$f" 4 --json; }
schedule() { "$T" export "$f" --schedule 4; }
show_json() { "$T" show "$f" --json; }
trials_json() { "$T" trial ls "$f" --json; }
json() { "$T" export "$f" --json; }
metrics_json() { "$T" export "$f" --json --intermediate; }

# The page holds what `report --json` says.
page() {
    "$T" report "$f" --out page.html
    sed -n '/id="data">/,/^<\/script>/p' page.html |
        sed '1d; $d; s/"read_us": [0-9]*, //' | diff - "$got/report" && echo same
    rm -f page.html
}

# Some of its trials, of the database.
best() { "$T" show "$f" --sort value --per-page 5 --json; }
best_indexed() { best; }

# All rows of the databases, in one order, but for the time of a file and a
# checksum, which those programs did not keep; those of the views apart.
rows() {
    python3 - << 'E'
import glob, os, sqlite3
for path in glob.glob("*/tunepipe-experiments/*/results.db"):
    got = os.path.join(os.environ["got"], path.split("/")[0])
    if not os.path.isdir(got):
        continue
    db = sqlite3.connect(path)
    for kind in ("table", "view"):
        with open(f"{got}/{kind}s", "w") as out:
            names = db.execute("SELECT name FROM sqlite_master WHERE type = ?"
                               " ORDER BY name", (kind,)).fetchall()
            for (name,) in names:
                cursor = db.execute(f"SELECT * FROM {name}")
                print(name, [c[0] for c in cursor.description], file=out)
                for row in sorted(map(repr, cursor)):
                    if not row.startswith(("('summary_ns'", "('results_mark'")):
                        print("   ", row, file=out)
    db.close()
E
}

kinds='random tpe auto cmaes grid evolution regularized_evolution anneal qmc batch
asha asha_promotion bohb hyperband pbt_folders pbt_async pbt_replay program
medianstop curvefitting percentile patience threshold wilcoxon program_assessor'
of_all='show_all status_now csv metrics report explain replay another_assessor
another_tuner log fork index'
of_states='show status trials why log_of_trial explain_json schedule show_json
trials_json json metrics_json page best best_indexed'
of_packs='output unpacked'
# Of these a checksum is kept: they are large, and another verb says the same.
summed='*/*/log */*/show_json */*/trials_json */*/json */*/metrics_json */*/best
*/*/best_indexed */*/views'
for name in $kinds; do
    summed="$summed */$name/metrics */$name/tables */$name/another_*"
done

# ask VERB...: of $name; what it says, and its status, is a file of that name.
ask() {
    for verb; do
        {
            $verb
            echo "status $?"
        } > "$got/$verb" 2>&1
    done
}

# ask_all: of all folders of $program, and then resumes them.
# shellcheck disable=SC2086
ask_all() {
    cd "$work/$program" || return
    for name in $folders; do
        f=$(echo "$name"/tunepipe-experiments/*)
        got=$work/got/$program/$name
        mkdir "$got"
        ask $of_all
        case " $(echo $kinds) " in
        *" $name "*) ;;
        *) ask $of_states ;;
        esac
        case $name in packed*) ask $of_packs ;; esac
    done
    got=$work/got/$program rows > "$work/got/$program.rows" 2>&1
    for name in $folders; do
        f=$(echo "$name"/tunepipe-experiments/*)
        got=$work/got/$program/$name
        rm -f "$f/results.db"*
        ask resume_it
    done
    sed -i "s|$work/$program|/tmp/x/$program/folders|g" "$work/got/$program"/*/*
}

# Folders know where they lay: they are told where they lie.
set --
for name in ${KEPT_FOLDERS:-}; do
    for program in $programs; do set -- "$@" "./$program/$name"; done
done
unpack expected "$work/expected" && unpack folders "$work" "$@" || exit 1
turn=0 # the first two wrote the same kinds
for program in $programs; do
    sed -i "s|/tmp/x/$program/folders|$work/$program|" \
        "$work/$program"/*/tunepipe-experiments/*/experiment.json
    folders=$(cd "$work/$program" && echo */ | tr -d /)
    case $TP_BUILD:${KEPT_FOLDERS:-} in
    */asan:) folders=$(printf '%s\n' $folders | awk "(NR + $turn) % 2 == 0") ;;
    esac
    turn=$((turn + 1))
    mkdir -p "$work/got/$program"
    ask_all &
done
wait

[ -z "${KEPT_FOLDERS_SAID:-}" ] || cp -R "$work/got/." "$KEPT_FOLDERS_SAID"
(
    cd "$work/got" || exit
    # shellcheck disable=SC2086
    cksum $summed 2> /dev/null | while read -r sum size file; do
        echo "checksum $sum of $size bytes" > "$file"
    done
)

# same VERB: it said so before, of each folder.
same() {
    case $1:$(cat "$work/got/$program.rows") in
    index:*) [ -e "$TP_BUILD/lib/sqlite.so" ] || { echo 'no SQLite'; return 77; } ;;
    tables:?* | views:?*) echo "no sqlite3 of Python"; return 77 ;;
    esac
    [ -z "${KEPT_FOLDERS_UPDATE:-}" ] || return 0
    cd "$work/got/$program" || return
    odd=
    for said in */"$1"; do
        diff -u "$work/expected/$program/$said" "$said" || odd="$odd ${said%/*}"
    done > "$work/diff"
    [ -z "$odd" ] || fail "$1 of $program's$odd" || { cut -c 1-400 "$work/diff"; false; }
}

for program in $programs; do
    # shellcheck disable=SC2086
    for verb in $of_all tables views $of_states resume_it $(
        [ $program != e65fa3e ] || echo $of_packs); do
        eval "${program}_$verb() { same $verb; }"
        check "$verb of folders that $program wrote" "${program}_$verb"
    done
done

if [ -n "${KEPT_FOLDERS_UPDATE:-}" ]; then
    rm "$work/got"/*.rows
    diff -ru "$work/expected" "$work/got"
    (
        cd "$work/got" || exit
        find . ! -type d | sort -t / -k 3,3 -k 4,4 -k 2,2 > ../list
        tar -c --mtime=@1795000000 --owner=0 --group=0 --numeric-owner \
            --mode=644 -T ../list | gzip -9n > "$DATA/expected.tar.gz"
    )
fi
finish
