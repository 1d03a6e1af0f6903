#!/bin/sh
# SPDX-License-Identifier: MIT
# A tuner from outside the source tree: install into an empty folder, check
# the headers alone as C90, C99, C11 and C++11, build the tuner with what
# pkg-config says, list it, run three trials with it.
#
# Needs TP_BUILD and TP_SOURCE; prints "ok NAME" or "FAILED NAME" a line.
# not under tsan
# not under asan
set -u
: "${TP_BUILD:?is not set: run the tests with make check}"
: "${TP_SOURCE:?is not set: run the tests with make check}"

folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
umask 022
prefix=/opt/tunepipe
root=$folder/root
failed=0

# report NAME COMMAND...: its output is shown when it fails.
report() {
    name=external_plugin_$1
    shift
    if "$@" > "$folder/out" 2>&1; then
        echo "ok $name"
    else
        sed 's/^/# /' "$folder/out"
        echo "FAILED $name"
        failed=1
    fi
}

install_all() {
    umask 077
    env -u MAKEFLAGS -u MAKELEVEL make --no-print-directory \
        -C "$TP_SOURCE" "V=$(basename "$TP_BUILD")" \
        "DESTDIR=$root" "PREFIX=$prefix" install > "$folder/install"
}

# Without a DESTDIR, which is a packager's, it says what PATH lacks.
says_what_path_lacks() {
    for path in "$PATH" "$folder/own/bin:$PATH"; do
        env -u MAKEFLAGS -u MAKELEVEL "PATH=$path" make --no-print-directory \
            -C "$TP_SOURCE" "V=$(basename "$TP_BUILD")" \
            "PREFIX=$folder/own" install > "$folder/said" 2>&1 || return 1
        grep "not in your PATH" "$folder/said"
    done > "$folder/path"
    [ "$(cat "$folder/path")" = "$folder/own/bin is not in your PATH yet:\
 export PATH=\"$folder/own/bin:\$PATH\"" ] && ! grep PATH "$folder/install"
}

own_make() { # WORD...: into an environment, whose name has a blank
    env -u MAKEFLAGS -u MAKELEVEL make --no-print-directory -C "$TP_SOURCE" \
        "V=$(basename "$TP_BUILD")" "PREFIX=$folder/my env" "$@" \
        > "$folder/said" 2>&1
}

# Where Python does not look it says what to set; where it does, and where a
# packager says so, it needs no word.
python_finds_package() {
    grep -q " export PYTHONPATH=\"$folder/own/share/tunepipe/python" \
        "$folder/said" || return 1
    python3 -m venv --without-pip "$folder/my env" && own_make install &&
        ! grep PYTHONPATH "$folder/said" &&
        [ "$(cd / && env -u TUNEPIPE_PROGRAM -u PYTHONPATH \
            "$folder/my env/bin/python" -c '
from tunepipe.link import program
print(program())')" -ef "$folder/my env/bin/tunepipe" ] &&
        own_make uninstall && ! find "$folder/my env" -name '*tunepipe*' |
        grep . || return 1
    own_make install "DESTDIR=$folder/packed" PYTHONDIR=/py &&
        [ "$(cat "$folder/packed/py/tunepipe.pth")" = \
            "$folder/my env/share/tunepipe/python" ] &&
        own_make uninstall "DESTDIR=$folder/packed" PYTHONDIR=/py &&
        ! find "$folder/packed" -name '*tunepipe*' | grep .
}

# A copy of it finds the program that it was installed with.
shim_knows_its_program() {
    grep -qx "installed='$prefix/bin/tunepipe'" \
        "$root$prefix/share/tunepipe/nni-shim/python3"
}

# The program, its Python package and what pkg-config says.
versions_agree() {
    {
        run_tunepipe --version | cut -d ' ' -f 2
        PYTHONPATH=$root$prefix/share/tunepipe/python python3 -c \
            'import tunepipe; print(tunepipe.__version__)'
        pkg-config --modversion tunepipe tunepipe-study
    } > "$folder/versions"
    cat "$folder/versions"
    [ "$(sort -u "$folder/versions" | wc -l)" = 1 ] &&
        [ "$(wc -l < "$folder/versions")" = 4 ]
}

libs_are_empty() {
    libs=$(pkg-config --libs tunepipe) && [ -z "$(echo "$libs" | tr -d ' ')" ]
}

# Folders that PREFIX does not imply are compiled in, and anew when they change.
knows_folders() {
    for lib in /tp/lib64 /tp/other; do
        env -u MAKEFLAGS -u MAKELEVEL make --no-print-directory \
            -C "$TP_SOURCE" "V=$(basename "$TP_BUILD")" "B=$folder/build" \
            PREFIX=/tp "LIBDIR=$lib" "LIBEXECDIR=$lib" \
            "$folder/build/src/plugin/paths.o" \
            "$folder/build/src/runner/runner.o" &&
            grep -q "$lib/tunepipe/plugins" "$folder/build/src/plugin/paths.o" &&
            grep -q "$lib/tunepipe/tunepipe-wrapper" \
                "$folder/build/src/runner/runner.o" || return 1
    done
}

may_be_read_by_all() {
    ! find "$root" -type f ! -perm -444 | grep .
}

plugindir_has_plugins() {
    dir=$(pkg-config --variable=plugindir tunepipe) || return 1
    [ -f "$root${dir#"$root"}/random.so" ]
}

# header COMPILER OPTIONS... LANGUAGE: each public header, by itself, twice.
header() {
    for h in "$root$prefix"/include/tunepipe/*.h; do
        case "$*:$h" in
        *c90*:*/trial.h | *c90*:*/checkpoint.h)
            continue ;; # a trial's, C99: they have inline functions
        *:*/checkpoint.h) posix=-D_XOPEN_SOURCE=700 ;;
        *) posix=-DNOTHING ;;
        esac
        echo "#include \"$h\"
#include \"$h\"
int tests_nothing;" > "$folder/one.c"
        "$@" "$posix" -pedantic -Wall -Wextra -Werror -fsyntax-only \
            $(pkg-config --cflags tunepipe) "$folder/one.c" || return 1
    done
}

# headers COMPILER COMPILER++: in every language that they are written for.
headers() {
    for std in c90 c99 c11; do
        report "headers_are_${std}_for_$1" header "$1" "-std=$std"
    done
    for std in c++11 c++17; do
        word=$(echo "$std" | tr + x)
        if command -v "$2" > /dev/null; then
            report "headers_are_${word}_for_$1" header "$2" -x c++ "-std=$std"
        else
            echo "skipped external_plugin_headers_are_${word}_for_$1"
        fi
    done
}

# begun KIND NAME: what new-KIND makes builds outside the tree, passes the
# check, and is listed.
begun() {
    (cd "$folder" && "$root$prefix/share/tunepipe/new-$1" "$2") &&
        make -C "$folder/$2" "TUNEPIPE=$root$prefix/bin/tunepipe" check \
            > "$folder/verdicts" || { cat "$folder/verdicts"; return 1; }
    cat "$folder/verdicts"
    grep -q "^$2: [89] ok, [01] warnings, 0 failed" "$folder/verdicts" &&
        ! grep '^warning' "$folder/verdicts" | grep -v latency &&
        run_tunepipe tuners --plugin-path "$folder/$2" | grep "^$1 $2: "
}

begun_assessor() {
    begun assessor mygate
}

# A hill climber is to come nearer to the top than its first ten samples.
begun_tuner() {
    begun tuner climbs || return 1
    { frame IN '{"x": {"_type": "uniform", "_value": [0, 8]}}'
      frame GE 12
      for i in 0 1 2 3 4 5 6 7 8 9 10 11; do
          frame ME "{\"parameter_id\": $i, \"trial_job_id\": \"T$i\", \
\"type\": \"FINAL\", \"sequence\": 0, \"value\": \"$i\"}"
      done
      frame GE 1
    } | run_tunepipe dispatch --grace 1h --tuner climbs --seed 3 \
        --tuner-args '{"warmup": 12, "step": 0}' \
        --plugin-path "$folder/climbs" > "$folder/answers" 2> "$folder/log" ||
        { cat "$folder/log"; return 1; }
    cat "$folder/answers"
    # With a step of 0 the 13th trial is the best one, the 12th, again.
    best=$(sed 's/.*"parameter_id": 11, .*{"x": \([0-9.]*\)}.*TR.*/\1/' \
        "$folder/answers")
    grep -q "\"parameter_id\": 12, .*{\"x\": $best}" "$folder/answers"
}

refuses_names() {
    new=$root$prefix/share/tunepipe/new-tuner
    cd "$folder" || return 1
    for word in Upper 9lives with-dash 'two words' '' random medianstop; do
        "$new" "$word" > "$folder/out2" 2>&1 && { echo "'$word'"; return 1; }
        grep -q "^new-tuner: error: .*'$word'" "$folder/out2" || {
            cat "$folder/out2"; return 1; }
        [ -z "$word" ] || [ ! -e "$folder/$word" ] || return 1
    done
    mkdir -p there
    "$new" fine there > "$folder/out2" 2>&1 && return 1
    grep -q 'there exists already' "$folder/out2"
}

run_tunepipe() {
    "$root$prefix/bin/tunepipe" "$@"
}

# A trial of the installed program finds the module for Python, and a tuner that
# is a program finds its own.
gives_python_module() {
    mkdir -p "$folder/experiment" && cd "$folder/experiment" || return 1
    cat > e.yml << E
searchSpace: {x: {_type: uniform, _value: [0, 1]}}
trialCommand: echo "\$PYTHONPATH" > "$folder/pythonpath"; tunepipe trial report --final 1
trialConcurrency: 1
maxTrialNumber: 1
direction: minimize
tuner: {name: exec, classArgs: {command: [sh, tuner.sh]}}
E
    cat > tuner.sh << E
echo "\$PYTHONPATH" > "$folder/tunerpath"
exec "$root$prefix/bin/tunepipe" dispatch --tuner random
E
    PYTHONPATH=/mine run_tunepipe run e.yml || return 1
    cat "$folder/pythonpath" "$folder/tunerpath"
    cmp "$(cut -d: -f2 "$folder/tunerpath")/tunepipe_tuner.py" \
        "$TP_SOURCE/tuners/exec/tunepipe_tuner.py" || return 1
    package=$(cut -d: -f2 "$folder/pythonpath")/tunepipe
    grep -q '^/mine:' "$folder/pythonpath" &&
        [ "$package" -ef "$root$prefix/share/tunepipe/python/tunepipe" ] &&
        diff -r -x __pycache__ "$package" "$TP_SOURCE/src/python/tunepipe"
}

# The installed package finds the installed program.
tunes_from_python() {
    cd "$folder" && env -u TUNEPIPE_PROGRAM \
        PYTHONPATH="$root$prefix/share/tunepipe/python" python3 -c '
import tunepipe
print(tunepipe.Study and tunepipe.link.program())
with tunepipe.Study({"x": tunepipe.uniform(0, 1)}) as study:
    study.optimize(lambda trial: trial["x"], n_trials=3)
    assert len(study.trials) == 3' > "$folder/program" &&
        [ "$(cat "$folder/program")" -ef "$root$prefix/bin/tunepipe" ]
}

listed() {
    run_tunepipe tuners --plugin-path "$folder/plugins" > "$folder/list" &&
        cat "$folder/list" &&
        grep -q '^tuner mytuner: walks the van der Corput' "$folder/list" &&
        grep -q '  base (integer, at least 2, at most 1000, default 2)' \
            "$folder/list" &&
        grep -q '^tuner random: ' "$folder/list" &&
        grep -q '^assessor medianstop: ' "$folder/list"
}

broken_is_told() {
    echo 'no library' > "$folder/plugins/broken.so"
    run_tunepipe tuners --plugin-path "$folder/plugins" > "$folder/list" &&
        cat "$folder/list" &&
        grep -q "^refused $folder/plugins/broken.so: " "$folder/list" &&
        grep -q '^tuner mytuner: ' "$folder/list"
}

frame() {
    printf '%s%014d%s' "$1" "${#2}" "$2"
}

session() {
    frame IN '{"x": {"_type": "uniform", "_value": [0, 8]}}'
    frame GE 3
    for i in 0 1 2; do
        frame ME "{\"parameter_id\": $i, \"trial_job_id\": \"T$i\", \"type\": \
\"FINAL\", \"sequence\": 0, \"value\": \"$i.5\"}"
        frame EN "{\"trial_job_id\": \"T$i\", \"event\": \"SUCCEEDED\", \
\"hyper_params\": \"{\\\"parameter_id\\\": $i}\"}"
    done
}

# With base 2 the points are 1/2, 1/4 and 3/4 of the way.
three_trials() {
    session | run_tunepipe dispatch --grace 1h --tuner MyTuner --tuner-args '{"base": 2}' \
        --plugin-path "$folder/plugins" > "$folder/answers" 2> "$folder/log" ||
        { cat "$folder/log"; return 1; }
    cat "$folder/answers" "$folder/log"
    grep -q '^ID00000000000000' "$folder/answers" &&
        grep -q '"parameter_id": 0, .*{"x": 4.0}.*"parameter_id": 1, .*{"x": 2.0}.*"parameter_id": 2, .*{"x": 6.0}' \
            "$folder/answers" &&
        grep -q 'tuner mytuner: best is 2.5, of trial 2' "$folder/log"
}

report install install_all
report install_says_what_path_lacks says_what_path_lacks
report python_finds_package python_finds_package
report shim_knows_its_program shim_knows_its_program
[ $failed = 0 ] || exit 1
umask 022
report may_be_read may_be_read_by_all
report knows_folders knows_folders
PKG_CONFIG_PATH=$root$prefix/lib/pkgconfig
PKG_CONFIG_SYSROOT_DIR=$root
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
report versions_agree versions_agree
report links_to_nothing libs_are_empty
report finds_plugindir plugindir_has_plugins
report gives_python_module gives_python_module
report tunes_from_python tunes_from_python
headers "${CC:-cc}" "${CXX:-c++}"
if command -v clang > /dev/null; then
    headers clang clang++
fi
report begins_a_tuner begun_tuner
report begins_an_assessor begun_assessor
report refuses_names refuses_names
mkdir "$folder/plugins"
report builds_by_hand "$TP_SOURCE/tests/external/build" \
    "$folder/plugins/mytuner.so"
report is_listed listed
report broken_neighbour_is_told broken_is_told
report runs_three_trials three_trials
exit $failed
