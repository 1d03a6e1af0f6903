#!/bin/sh
# SPDX-License-Identifier: MIT
# Each test that the tables of NNI.md name is there: the last column, where its
# head is "Test".
page=$TP_SOURCE/protocol/NNI.md
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
count=0
for name in $(named | tr ' ' '~' | sort -u); do
    name=$(echo "$name" | tr '~' ' ')
    count=$((count + 1))
    is_there "$name" || {
        echo "FAILED NNI.md names '$name', which is not there"
        failed=1
    }
done
[ "$count" -gt 100 ] || {
    echo "FAILED NNI.md names only $count tests: is the table still read?"
    failed=1
}
[ $failed = 1 ] || echo "ok NNI.md: the $count tests that it names are there"
exit $failed
