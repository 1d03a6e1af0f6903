#!/bin/sh
# SPDX-License-Identifier: MIT
# Each test that the tables of NNI.md and PROMISES.md name is there: the last
# column, where its head is "Test".
# not under tsan
# not under asan
tests=$TP_SOURCE/tests

# What the last cells hold, one a line; \| is no end of a cell.
named() {
    sed 's/\\|//g' "$page" | awk -F '|' '
        !/^\|/ { on = 0; next }
        !on { on = tolower($(NF - 1)) ~ /^ *tests? *$/ ? 1 : 2; next }
        on == 1 && $2 !~ /^-+$/ { print $(NF - 1) }' |
        tr -d '`' | tr ',' '\n' | sed 's/^ *//; s/ *$//'
}

# A name may end in \* or *: one that begins so.
is_there() {
    case $1 in
    -) ;;
    transcript:*) ls "$tests"/transcripts/${1#*:}.wire ;;
    malformed:*)
        one=${1#*:}
        cat "$tests/malformed/${one%/*}"/*.wire | grep "^case ${one#*/}: " ;;
    recording:*) ls "$tests"/data/recordings/${1#*:}.jsonl ;;
    vectors:*) grep -qx "vector ${1#*:}" "$TP_SOURCE/protocol/vectors/vectors.txt" ;;
    scripts/*) ls "$TP_SOURCE/$1" ;;
    e2e/* | malformed/* | fuzz/* | websocket/* | torture/*)
        ls -d "$tests"/${1%% *} ;;
    '['*'](#'*')')
        heading=${1#*(#}
        sed -n 's/^##* //p' "$page" | tr 'A-Z ' 'a-z-' | tr -d "'," |
            grep -qx "${heading%)}" ;;
    *) grep -q "^TEST($1)" "$tests"/unit/*_test.c ;;
    esac > /dev/null 2>&1
}

failed=0
for least in NNI:100 PROMISES:30; do
    page=$TP_SOURCE/protocol/${least%:*}.md
    count=0
    wrong=0
    for name in $(named | tr ' ' '~' | sort -u); do
        name=$(echo "$name" | tr '~' ' ')
        count=$((count + 1))
        is_there "$name" || {
            echo "FAILED ${least%:*}.md names '$name', which is not there"
            wrong=1
        }
    done
    [ "$count" -gt "${least#*:}" ] || {
        echo "FAILED ${least%:*}.md names only $count tests: is the table still read?"
        wrong=1
    }
    [ $wrong = 1 ] ||
        echo "ok ${least%:*}.md: the $count tests that it names are there"
    failed=$((failed + wrong))
done
exit $failed
