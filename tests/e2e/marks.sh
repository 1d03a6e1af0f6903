#!/bin/sh
# SPDX-License-Identifier: MIT
# The marks by which tests say under which build they run (scripts/check).
# not under tsan
. "$(dirname "$0")/lib.sh"

# small_tree: a copy of scripts/check, some scripts, and in the place of the
# unit tests what says whose marks they are to look at.
small_tree() {
    mkdir -p scripts tests/e2e && cp "$TP_SOURCE/scripts/check" scripts/ &&
        cd tests/e2e || return 1
    echo 'echo ok plain' > plain.sh
    printf '%s\n' '# not under tsan' 'echo ok slow' > slow.sh
    printf '%s\n' '# not under asan' 'echo ok demo' > demo.sh
    printf '%s\n' '# under asan alone' 'echo ok torture' > torture.sh
    printf '%s\n' '# with clang, too' 'echo ok answers' > answers.sh
    cd ../..
    for build in release asan tsan clang; do
        mkdir -p $build/tests/unit
        printf '#!/bin/sh\necho "ok units ${TP_BUILT:-all}"\n' \
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
    unset TP_BUILT
    UNITS=
    export UNITS
    small_tree && ran 'answers demo plain slow units release' release &&
        ran 'answers plain slow torture units asan' asan &&
        ran 'answers demo plain torture units tsan' tsan &&
        ran 'answers units clang' clang && ran slow tsan slow &&
        ran 'answers demo torture units tsan' tsan -plain &&
        ran 'demo torture' asan demo torture && ran torture release torture &&
        ran plain clang plain && UNITS='-one -two' ran 'units tsan' tsan unit &&
        UNITS='-one two' ran 'units all' tsan unit
}
check "which scripts run under which build" scripts

# units WORD BUILD: what of that name runs there.
units() {
    TP_BUILT=$2 "$TP_BUILD/tests/unit/run" "$1" | tail -n 1
}
cases() {
    nothing='0 passed, 0 failed, 0 skipped' one='1 passed, 0 failed, 0 skipped'
    [ "$(units json_nul_is_safe tsan)" = "$nothing" ] &&
        [ "$(units json_nul_is_safe clang)" = "$one" ] &&
        [ "$(units queue_pops_in_order tsan)" = "$one" ] &&
        [ "$(units logfault_opening_fails clang)" = "$nothing" ] &&
        [ "$(units conformance_saving_assessors release)" = "$nothing" ] ||
        fail "json_nul_is_safe tsan: $(units json_nul_is_safe tsan)"
}
check "which unit tests run where marks count" cases
finish
