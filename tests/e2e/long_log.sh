#!/bin/sh
# SPDX-License-Identifier: MIT
# A long log takes no more memory than a short one, whoever reads or writes it.
# LONG_LOG=N: so many commands against a tenth of them (make torture: ten
# million).
. "$(dirname "$0")/lib.sh"

n=${LONG_LOG:-400000}
case $TP_BUILD in
*/asan | */tsan) echo 'skipped long_log (a sanitizer has memory of its own)'
    exit 0 ;;
esac

# peak WHAT COMMAND...: its memory, in the file WHAT.$size
peak() {
    what=$1
    shift
    "$TP_BUILD/tests/tools/peak" "$what.$size" "$@" > "$what.out" 2> "$what.err" ||
        fail "$what: status $?: $(tail -n 1 "$what.err")"
}

# session N: a log of so many commands, and all that is done with it.
session() {
    size=$1
    "$TP_BUILD/tests/tools/longlog" "$size" |
        "$TP_BUILD/tests/tools/peak" "dispatch.$size" "$T" dispatch --grace 1h --quiet \
            --tuner random --seed 1 --assessor stops_at \
            --assessor-args '{"step": 1000000}' --plugin-path "$PLUGINS" \
            --dir log > dispatch.out 2> dispatch.err ||
        fail "dispatch: $(tail -n 1 dispatch.err)" || return 1
    peak log sh -c 'exec "$0" log log > /dev/null' "$T" &&
        peak select "$T" log log --trial 00003 &&
        peak replay "$T" replay log --verify --plugin-path "$PLUGINS" &&
        peak resume sh -c 'exec "$0" dispatch --dir log --resume --plugin-path \
            "$1" < /dev/null' "$T" "$PLUGINS" || return 1
    grep -q "^identical: " replay.out &&
        grep -q "resumed: $size commands" resume.err ||
        fail "$(cat replay.out resume.err)" || return 1
    rm -r log
}

# A third more is no growth, nor is what of the mapped log stays (32 MiB).
flat() {
    session $((n / 10)) && session "$n" || return 1
    for what in dispatch log select replay resume; do
        short=$(cat "$what.$((n / 10))") long=$(cat "$what.$n")
        [ "$long" -le $((short * 4 / 3 + 32768)) ] ||
            fail "$what: $short kB of $((n / 10)) commands, $long kB of $n" ||
            return 1
        echo "$what: $short kB, $long kB" >> "${LONG_LOG_SAYS:-/dev/null}"
    done
}
check "the memory of $n commands" flat

finish
