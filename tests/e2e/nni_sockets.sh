#!/bin/sh
# SPDX-License-Identifier: MIT
# tunepipe dispatch on a socket of its own, for managers that do not start it,
# and frames whose digits are told by the first of them.
set -u
: "${TP_BUILD:?is not set: run the tests with make check}"
: "${TP_SOURCE:?is not set: run the tests with make check}"
. "$TP_SOURCE/tests/e2e/lib.sh"
umask 022

# A manager: listens (or connects) at a path, sends frames of so many digits,
# prints what comes, and closes.
cat > "$work/peer.py" <<'EOF'
import os, socket, sys
way, path, digits = sys.argv[1], sys.argv[2], int(sys.argv[3])
s = socket.socket(socket.AF_UNIX)
if way == 'listen':
    s.bind(path)
    s.listen(1)
    print('listening', flush=True)
    s = s.accept()[0]
else:
    while True:
        try:
            s.connect(path)
            break
        except (FileNotFoundError, ConnectionRefusedError):
            if os.path.exists('gone'):
                sys.exit('the dispatcher has ended')
            os.sched_yield()
def frame(code, text=''):
    return ('%s%0*d%s' % (code, digits, len(text), text)).encode()
s.sendall(frame('IN', '{"x":{"_type":"choice","_value":["only"]}}')
          + frame('PI') + frame('GE', '1'))
s.shutdown(socket.SHUT_WR)
while True:
    b = s.recv(65536)
    if not b:
        break
    sys.stdout.write(b.decode())
    sys.stdout.flush()
EOF
python() { command -v python3 > /dev/null || { echo "no python3"; return 77; }; }

# answers WIDTH: what the peer is to hear.
answers() {
    printf 'ID%0*d' "$1" 0
    t='{"parameter_id": 0, "parameter_source": "algorithm", "parameters": {"x": "only"}, "parameter_index": 0}'
    printf 'TR%0*d%s' "$1" ${#t} "$t"
}

listens() { # DIGITS
    python || return
    ("$T" dispatch --grace 1h --tuner random --seed 1 --listen "unix:$PWD/s" --dir log \
        > dispatch.out 2>&1; echo $? > status; : > gone) &
    python3 "$work/peer.py" connect s "$1" > out 2> err || return 1
    wait
    [ "$(cat status)" = 0 ] || fail "status $(cat status)" || return
    answers "$1" | cmp - out || return
    [ ! -e s ] || fail "the socket is still there" || return
    "$T" replay --verify log > replay.out 2>&1 || fail "$(cat replay.out)"
}
fourteen() { listens 14; }
six() { listens 6; }

connects() {
    python || return
    mkfifo said
    python3 "$work/peer.py" listen s 6 > said 2> err &
    exec 7< said
    read -r _ <&7
    "$T" dispatch --grace 1h --tuner random --seed 1 --connect unix:s > dispatch.out \
        2>&1 || fail "status $?: $(cat dispatch.out)" || return
    cat <&7 > out
    exec 7<&-
    wait
    answers 6 | cmp - out
}

# refused STATUS TEXT WORD...
refused() {
    want=$1 text=$2
    shift 2
    "$T" dispatch --grace 1h --tuner random --quiet "$@" < /dev/null > out 2> err
    got=$?
    [ $got = "$want" ] || fail "$*: status $got, expected $want" || return
    [ "$(wc -l < err)" -eq 1 ] || fail "$*: more than one line" || return
    has err "$text"
}

bad_words() {
    : > file
    mkdir open
    chmod 777 open
    long=$(printf '%0200d' 0)
    refused 2 "--connect: expected unix:PATH, got 'here'" --connect here &&
    refused 2 "--listen: expected unix:PATH, got 'unix:'" --listen unix: &&
    refused 2 "a socket's path has at most 107 bytes" --listen "unix:$long" &&
    refused 2 "--connect: not with --listen" --connect unix:a --listen unix:b &&
    refused 2 "not with --connect or --listen" --connect unix:a --in-fd 3 &&
    refused 1 "--connect: nobody: cannot connect: No such file" \
        --connect unix:nobody &&
    refused 1 "--listen: open: others may write to it" --listen unix:open/s &&
    refused 1 "--listen: file: is there already, and no socket" \
        --listen unix:file &&
    refused 2 "--digits: expected 14, 6 or detect, got '7'" --digits 7
}

stopped_while_it_waits() {
    "$T" dispatch --grace 1h --tuner random --listen unix:s > out 2>&1 &
    pid=$!
    while [ ! -S s ]; do kill -0 $pid || fail "it ended" || return; done
    [ "$(stat -c %a s)" = 600 ] || fail "mode $(stat -c %a s)" || return
    kill -TERM $pid
    wait $pid
    status=$?
    [ $status = 143 ] || fail "status $status, expected 143" || return
    [ ! -e s ] || fail "the socket is still there"
}

detects_on_descriptors() {
    for width in 6 14; do
        printf 'IN%0*d{}TE%0*d' $width 2 $width 0 |
            "$T" dispatch --grace 1h --tuner random --digits detect > out 2> err || {
            fail "status $?"
            return
        }
        printf 'PI%0*d' $width 0 |
            "$T" dispatch --grace 1h --tuner random --digits detect > out 2> err || {
            fail "$width: status $?: $(cat err)"
            return
        }
    done
    printf 'PI0000x' | "$T" dispatch --grace 1h --tuner random --digits detect > out \
        2> err
    [ $? = 4 ] || fail "a broken header passed" || return
    has err "byte 6 of the stream: expected 14 digits"
}

check "a manager connects, fourteen digits" fourteen
check "a manager connects, six digits" six
check "it connects to a manager" connects
check "sockets that cannot be are refused in one line" bad_words
check "a stop while nobody has come leaves no socket" stopped_while_it_waits
check "digits are detected on descriptors" detects_on_descriptors
finish
