#!/bin/sh
# SPDX-License-Identifier: MIT
# scripts/nni-shim/python3 in the places where its README.md puts it, with a real
# Python: who is called, and what that takes for its own name.
set -u
: "${TP_BUILD:?is not set: run the tests with make check}"
: "${TP_SOURCE:?is not set: run the tests with make check}"
. "$TP_SOURCE/tests/e2e/lib.sh"
shim=$TP_SOURCE/scripts/nni-shim
umask 022
unset TUNEPIPE TUNEPIPE_PYTHON VIRTUAL_ENV PYTHONHOME NNI_TUNER_COMMAND_CHANNEL
cat > "$work/show.py" <<'EOF'
import sys
print(sys.executable, sys.prefix, sys.argv[1:])
EOF
show=$work/show.py
path=$PATH
real=$(python3 -c 'import sys; print(sys.executable)' 2> "$work/no")
prefix=$(python3 -c 'import sys; print(sys.prefix)' 2> "$work/no")

need() {
    [ -n "$real" ] || { echo "no python3"; return 77; }
}


expect() { # TEXT COMMAND...
    want=$1
    shift
    got=$("$@" 2>&1)
    [ "$got" = "$want" ] || fail "$*: '$got', expected '$want'"
}

# A tunepipe that says how it was called.
fake() {
    printf '#!/bin/sh\nprintf "<%%s>" "$@"\n' > "$1"
    chmod +x "$1"
}

the_call() {
    fake tunepipe
    TUNEPIPE=$PWD/tunepipe
    export TUNEPIPE
    said='<-m><nni><--exp_params><QQ==><more words>'
    expect "$said" "$shim/python3" -m nni --exp_params QQ== 'more words' &&
        expect '<-m><nni><--exp_params=QQ==>' \
            "$shim/python3" -m nni --exp_params=QQ== &&
        expect '<-m><nni><--tuner_class_name><TPE>' \
            "$shim/python3" -m nni --tuner_class_name TPE || return
    unset TUNEPIPE
    PATH=$PWD:$path
    expect "$said" "$shim/python3" -m nni --exp_params QQ== 'more words' ||
        return
    PATH=$path
    mkdir -p p/bin p/share/tunepipe/nni-shim
    cp tunepipe p/bin
    cp "$shim/python3" p/share/tunepipe/nni-shim
    ln -s "$PWD/p/share/tunepipe/nni-shim/python3" link
    command -v tunepipe > where && return # there is one in PATH
    expect "$said" ./link -m nni --exp_params QQ== 'more words' || return
    mkdir copied
    cp "$shim/python3" copied
    NNI_LOG_DIRECTORY=$PWD copied/python3 -m nni --exp_params QQ== > out 2> err
    status=$?
    [ $status = 127 ] || fail "without tunepipe: $status" || return
    has err "no tunepipe: build or install it, put it into PATH" &&
        has dispatcher.log "ERROR (tunepipe/MainThread) copied/python3: no tune"
}

# In a tree that was built, as the README has it, and where it is installed,
# from which it may be copied.
the_program_is_found() {
    need || return
    command -v tunepipe > where && return
    mkdir -p tree/scripts tree/build/release
    cp -r "$shim" tree/scripts
    fake tree/build/release/tunepipe
    PATH=$PWD/tree/scripts/nni-shim:$path
    expect '<-m><nni><--exp_params><QQ==>' python3 -m nni --exp_params QQ== ||
        return
    PATH=$path
    ln -s "$PWD/tree/scripts/nni-shim/python3" linked
    expect '<-m><nni><--exp_params><QQ==>' ./linked -m nni --exp_params QQ== ||
        return
    mkdir -p venv/bin
    sed "s|^installed=.*|installed='$T'|" "$shim/python3" > venv/bin/python3
    chmod +x venv/bin/python3
    expect "$("$T" --version) answers NNI's managers here: $T
Every other call goes to $(command -v python3)" \
        venv/bin/python3 -m nni --tunepipe
}

# The manager's call arrives, at tunepipe as it is.
the_program() {
    TUNEPIPE=$T "$shim/python3" -m nni --exp_params bm8= 3< /dev/null \
        4> answers > out 2> err
    [ $? = 3 ] && has err 'tunepipe nni: error: --exp_params: byte 0'
}

every_other() {
    need || return
    PATH=$shim:$path
    TUNEPIPE=/nowhere
    export TUNEPIPE
    expect "$real $prefix ['a', 'b  c', '']" python3 "$show" a 'b  c' '' &&
        expect "hello" python3 -c 'print("hello")' &&
        expect "['-m', 'nni']" python3 -c \
            'import sys; print(sys.argv[1:])' -m nni || return
    got=$(echo 'print(6 * 7)' | python3 -) && [ "$got" = 42 ] || fail stdin ||
        return
    python3 -c 'raise SystemExit(5)'
    [ $? = 5 ] || fail "the status is lost" || return
    # Not quite the call: NNI's own modules.
    python3 -m nni.tools --exp_params x > out 2> err
    has err "$real" || return
    PATH=$path
    unset TUNEPIPE
}

environment() {
    need || return
    python3 -m venv --without-pip venv > out 2>&1 || {
        echo "no venv"
        return 77
    }
}

# NNI 1.0 to 2.7: first in PATH, the environment stays.
first_in_path() {
    environment || return
    PATH=$shim:$PWD/venv/bin:$path
    expect "$PWD/venv/bin/python3 $PWD/venv []" python3 "$show"
    PATH=$path
}

# NNI 2.8 to 3.0: the manager is told sys.executable, which has to be the shim.
linked() {
    environment || return
    ln -s "$shim/python3" venv/bin/python-tunepipe
    ours=$PWD/venv/bin/python-tunepipe
    expect "$ours $PWD/venv ['x']" "$ours" "$show" x || return
    # What that starts in turn is itself, too.
    expect "$ours $PWD/venv []" "$ours" -c \
        "import subprocess, sys; subprocess.run([sys.executable, '$show'])" ||
        return
    fake tunepipe
    TUNEPIPE=$PWD/tunepipe expect '<-m><nni><--exp_params><x>' "$ours" -c \
        'import os, sys
os.execv("/bin/sh", ["sh", "-c", sys.executable + " -m nni --exp_params x"])'
}

for_good() {
    environment || return
    mv venv/bin/python3 venv/bin/python3.real
    ln -s "$shim/python3" venv/bin/python3
    { echo "#!$PWD/venv/bin/python3"; cat "$show"; } > nnictl
    chmod +x nnictl
    expect "$PWD/venv/bin/python3 $PWD/venv ['create']" ./nnictl create ||
        return
    [ ! -L venv/bin/python ] ||
        expect "$PWD/venv/bin/python $PWD/venv []" venv/bin/python "$show" ||
        return
    mv venv/bin/python3.real venv/bin/python3
    expect "$PWD/venv/bin/python3 $PWD/venv ['create']" ./nnictl create &&
        [ -L venv/bin/python3 ]
}

named() {
    need || return
    export TUNEPIPE_PYTHON
    case $real in
    */venv/*) return 77 ;;
    esac
    TUNEPIPE_PYTHON=$real
    [ "$prefix" != "$(python3 -c 'import sys; print(sys.base_prefix)')" ] ||
        expect "$shim/python3 $prefix []" "$shim/python3" "$show" || return
    # An environment elsewhere is not lost for a name.
    environment || return
    TUNEPIPE_PYTHON=$PWD/venv/bin/python3
    expect "$PWD/venv/bin/python3 $PWD/venv []" "$shim/python3" "$show" ||
        return
    TUNEPIPE_PYTHON=$shim/python3
    "$shim/python3" "$show" > out 2> err
    [ $? = 127 ] && has err "is no other program" || return
    unset TUNEPIPE_PYTHON
    mkdir nothing
    ln -s "$(command -v sh)" "$(command -v env)" nothing
    PATH=$PWD/nothing "$shim/python3" "$show" > out 2> err
    [ $? = 127 ] && has err "no other python3 along PATH"
}

check "the manager's call goes to tunepipe" the_call
check "tunepipe is found" the_program_is_found
check "and arrives there" the_program
check "every other call goes to the interpreter" every_other
check "first in PATH" first_in_path
check "by a name of its own in an environment" linked
check "in an interpreter's place, and back" for_good
check "with the interpreter named" named
finish
