#!/bin/sh
# SPDX-License-Identifier: MIT
# A tuner or an assessor that does what its arguments say, one by one:
#
#   IN, GE, ...      waits until that command has come
#   +CODE, +CODE:X   sends a frame, with the payload X
#   text:X           sends X as it is
#   word:X           says X on stderr
#   hang             does nothing any more, whatever comes
#   segv             dies
#   exit:N           ends
#   once:FILE        ends behind the steps so far, unless FILE is there
#
# and then reads to the end.  Each command that it read goes into ./told.
take() {
    head=$(head -c 16)
    [ -n "$head" ] || exit 0
    code=${head%??????????????}
    len=$(echo "${head#??}" | sed 's/^0*\(.\)/\1/')
    payload=$(head -c "$len")
    printf '%s %s\n' "$code" "$payload" >> told
    [ "$code" != TE ] || exit 0
}

for step; do
    case $step in
    +*)
        step=${step#+}
        payload=${step#??}
        payload=${payload#:}
        printf '%s%014d%s' "${step%"${step#??}"}" "${#payload}" "$payload"
        ;;
    text:*) printf '%s' "${step#text:}" ;;
    word:*) echo "${step#word:}" >&2 ;;
    hang) exec sleep 1000 ;;
    segv) kill -SEGV $$ ;;
    exit:*) exit "${step#exit:}" ;;
    once:*)
        [ -e "${step#once:}" ] || {
            : > "${step#once:}"
            exit 1
        }
        ;;
    *)
        take
        while [ "$code" != "$step" ]; do take; done
        ;;
    esac
done
while :; do take; done
