#!/bin/sh
# SPDX-License-Identifier: MIT
# The marks by which tests say under which build they run (scripts/check).
# not under tsan
. "$(dirname "$0")/lib.sh"

# small_tree: a copy of scripts/check, three scripts, and in the place of the
# unit tests what says whether they are to look at their marks.
small_tree() {
    mkdir -p scripts tests/e2e && cp "$TP_SOURCE/scripts/check" scripts/ &&
        cd tests/e2e || return 1
    echo 'echo ok plain' > plain.sh
    printf '%s\n' '# not under tsan' 'echo ok slow' > slow.sh
    printf '%s\n' '# with clang, too' 'echo ok answers' > answers.sh
    cd ../..
    for build in release asan tsan clang; do
        mkdir -p $build/tests/unit
        printf '#!/bin/sh\necho "ok units ${TP_MARKED:-all}"\n' \
            > $build/tests/unit/run
    done
    for row in arrows abi symbols; do echo '#!/bin/sh' > scripts/check-$row; done
    chmod +x scripts/* ./*/tests/unit/run
}

# ran WANT BUILD [NAME...]: the rows that it runs are these.
ran() {
    want=$1
    shift
    scripts/check "$@" > out 2>&1 || fail "$(cat out)" || return 1
    got=$(sed 's/^ok //' "$1/check.txt" | sort -u | tr '\n' ' ')
    [ "$got" = "$want " ] || fail "$*: ran $got, expected $want"
}

scripts() {
    TP_MARKED='' UNITS=
    export TP_MARKED UNITS
    small_tree && ran 'answers plain slow units all' release &&
        ran 'answers plain slow units all' asan &&
        ran 'answers plain units 0' tsan && ran 'answers units all' clang &&
        ran 'answers units 0' tsan -plain && ran slow tsan slow &&
        ran plain clang plain && UNITS='-one -two' ran 'units 0' tsan unit &&
        UNITS='-one two' ran 'units all' tsan unit
}
check "which scripts run under which build" scripts

# units WORD VALUE: what of that name runs where TP_MARKED is VALUE.
units() {
    TP_MARKED=$2 "$TP_BUILD/tests/unit/run" "$1" | tail -n 1
}
cases() {
    nothing='0 passed, 0 failed, 0 skipped'
    [ "$(units json_nul_is_safe 0)" = "$nothing" ] &&
        [ "$(units json_nul_is_safe 1)" = "1 passed, 0 failed, 0 skipped" ] &&
        [ "$(units queue_pops_in_order 0)" = "1 passed, 0 failed, 0 skipped" ]
}
check "which unit tests run where marks count" cases
finish
