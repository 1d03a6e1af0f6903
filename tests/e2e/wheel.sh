#!/bin/sh
# SPDX-License-Identifier: MIT
# The wheel: what it needs of a system, where pip puts it, what runs there, what
# its removal leaves; and the sdist.  It is made of this machine's libraries;
# make check-wheel takes this file and the real one, as $TP_WHEEL, into older
# and younger systems.
# not under asan
# not under tsan
. "$(dirname "$0")/lib.sh"
unset TUNEPIPE_PROGRAM PYTHONPATH VIRTUAL_ENV
export PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INDEX=1
export PIP_ROOT_USER_ACTION=ignore PIP_BREAK_SYSTEM_PACKAGES=1

skip() {
    echo "skipped wheel: $*"
    exit
}

wheel=${TP_WHEEL:-}
case ${wheel:-$TP_BUILD} in *.whl | */release) ;; *) skip "release has it" ;; esac
python=$(python3 -c 'import sys; print(sys.executable)') || skip "no python3"
"$python" -m venv "$work/pip" > "$work/out" 2>&1 ||
    skip "$python makes no environments: $(tail -n 1 "$work/out")"
export HOME="$work/home"

pip() { # PYTHON WORD...: none but its own packages are seen
    (
        python=$1
        shift
        "$python" "$work"/pip/lib/python3*/site-packages/pip "$@"
    ) > said 2>&1 || fail "pip $2: $(grep -iE 'error|missing' said | head -n 3)"
}

# make_here WHAT FOLDER: from what the build has compiled, in a copy of it, which
# is younger than all that is packed.
make_here() {
    env -u MAKEFLAGS -u MAKELEVEL SOURCE_DATE_EPOCH=1000000000 \
        make --no-print-directory -C "$TP_SOURCE" \
        "$1" ROOT=/ "B=$work/b" "DIST=$2" > said 2>&1 ||
        fail "make $1: $(grep -v "^make" said | tail -n 1)"
}

if [ -z "$wheel" ]; then
    mkdir "$work/b" && cd "$work" || exit 1
    for part in src protocol tuners report completion; do
        cp -a "$TP_BUILD/$part" b || exit 1
    done
    if why=$(make_here wheel "$work" && make_here sdist "$work"); then
        wheel=$(ls "$work"/*.whl)
    else
        echo "FAILED wheel: $why"
        exit 1
    fi
fi

# By its tag: no library but the C library's, and no symbol that is younger.
needs_libc() {
    command -v objdump > where || { echo "no objdump"; return 77; }
    "$python" -m zipfile -e "$wheel" "$work/whole" &&
        find "$work/whole" -type f -exec grep -la '^.ELF' {} + > elves &&
        [ "$(wc -l < elves)" -gt 30 ] || fail "no programs" || return
    xargs objdump -p < elves | sed -n 's/^ *NEEDED *//p' | sort -u > needed
    xargs objdump -T < elves | grep -o 'GLIBC_2[.0-9]*' | sort -uV > versions
    echo "# needs" $(cat needed versions) > "$work/needs"
    ! grep -vE '^(ld-linux.*|lib(c|m|dl|pthread))\.so\.[0-9]+$' needed || return
    case $wheel in
    *-py3-none-manylinux_"$(tail -n 1 versions | sed 's/GLIBC_//; y/./_/')"_*) ;;
    *) fail "$(cat "$work/needs")" ;;
    esac
}

same_again() {
    (umask 077 && make_here wheel "$PWD" && make_here sdist "$PWD") &&
        cmp ./*.whl "$wheel" && cmp ./*.tar.gz "$work"/*.tar.gz
}

# is_whole FOLDER PYTHON: the program there has all its parts, and the package
# that this Python sees is of that program.
is_whole() {
    "$1/bin/tunepipe" tuners > tuners && [ "$(wc -l < tuners)" -gt 50 ] &&
        [ "$(cd / && "$2" -c 'from tunepipe.link import program
print(program())')" -ef "$1/bin/tunepipe" ] || fail "not whole: $1" || return
    "$2" -m tunepipe tuners | cmp - tuners
}

make_venv() {
    "$python" -m venv --without-pip "$1" && pip "$1/bin/python" install "$wheel"
}

# Installed beside the tests' folders, where lib.sh looks for what sanitizers say.
# It may be moved, and its program be called by a link, as pipx makes one.
venv() {
    one="$work/an env" two=$work/other
    "$python" -m venv --without-pip "$one" && find "$one" ! -type d | sort > before &&
        pip "$one/bin/python" install "$wheel" &&
        is_whole "$one" "$one/bin/python" || return
    mv "$one" "$work/moved" && is_whole "$work/moved" "$work/moved/bin/python" &&
        ln -s "$work/moved/bin/tunepipe" link && ./link tuners | cmp - tuners &&
        mv "$work/moved" "$one" && make_venv "$two" &&
        is_whole "$two" "$two/bin/python" && is_whole "$one" "$one/bin/python" &&
        pip "$one/bin/python" uninstall -y tunepipe || return
    find "$one" ! -type d -o -name tunepipe | sort | diff before - && is_whole "$two" "$two/bin/python"
}

elsewhere() {
    pip "$python" install --target "$work/a folder" "$wheel" &&
        PYTHONPATH="$work/a folder" is_whole "$work/a folder" "$python" || return
    pip "$python" install --user "$wheel" &&
        is_whole "$HOME/.local" "$python" &&
        pip "$python" uninstall -y tunepipe || return
    ! find "$HOME" | grep tunepipe || fail "is left"
}

study() {
    cat > study.py << 'E'
import tunepipe
with tunepipe.Study({"x": tunepipe.uniform(0, 1)}, seed=1, folder="s") as study:
    study.optimize(lambda trial: trial["x"], n_trials=20)
    assert len(study.trials) == 20 and study.best.value < 0.1
E
    python3 -W error study.py && tunepipe show s > shown && has shown "20 succeeded"
}

# A tuner in Python, trials of a shell and of a Python that the wheel is not in.
experiment_runs() {
    experiment 'maxTrialNumber: 4' "tuner: {name: exec, classArgs: {command: \
[python3, $PREFIX/share/tunepipe/tuner.py]}}" << E
tunepipe trial report 1
"$python" -c 'import tunepipe; tunepipe.final(tunepipe.param("x"))'
E
    T=tunepipe
    run 0 && count 4 succeeded && replays && tunepipe index "$dir" > out &&
        has out '4 results read' || return
    "$python" -c 'import sqlite3, sys
assert sqlite3.connect(sys.argv[1]).execute(
    "select count(*) from trials").fetchone()[0] == 4' "$dir/results.db"
}

no_websocket() {
    NNI_TUNER_COMMAND_CHANNEL=ws://localhost:1 tunepipe nni --exp_params \
        "$(echo '{}' | base64)" > out 2>&1
    has out 'WebSocket needs lib/websocket.so, which this build lacks'
}

begins_a_tuner() {
    command -v pkg-config cc > where || { echo "no compiler"; return 77; }
    "$PREFIX/share/tunepipe/new-tuner" mine > out &&
        PKG_CONFIG_PATH=$PREFIX/share/pkgconfig make -C mine check > out 2>&1 &&
        has out ' 0 failed' || fail "$(cat out)"
}

sdist() {
    env=$work/built
    "$python" -m venv --without-pip "$env" || return
    ! PKG_CONFIG_LIBDIR=/none pip "$env/bin/python" install "$work"/*.tar.gz ||
        return
    has said "missing (by Debian's names): libjson-c-dev libyaml-dev" &&
        ! grep -q Traceback said || return
    MAKEFLAGS="B=$work/b" pip "$env/bin/python" install "$work"/*.tar.gz &&
        is_whole "$env" "$env/bin/python"
}

check "needs the C library alone" needs_libc
[ ! -e "$work/needs" ] || cat "$work/needs"
check "pip in virtual environments" venv
check "pip --target and --user" elsewhere
PREFIX=$work/used
(cd "$work" && make_venv used) || { echo "FAILED wheel: no environment"; exit 1; }
PATH=$PREFIX/bin:$PATH
check "a study of 20 trials" study
check "an experiment with a tuner in Python, and its database" experiment_runs
check "no WebSocket, and it says so" no_websocket
check "a tuner of one's own" begins_a_tuner
if [ -z "${TP_WHEEL:-}" ]; then
    check "the same tree gives the same bytes" same_again
    check "pip installs the sdist" sdist
fi
finish
