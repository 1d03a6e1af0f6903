#!/bin/sh
# SPDX-License-Identifier: MIT
# tunepipe/study.h and its library: the example, built as C and C++ with what
# pkg-config says of an installed tree; what the library shows to a program
# that is linked to it; and what it does when its server dies.
#
# Needs TP_BUILD and TP_SOURCE.
# not under tsan
set -u
: "${TP_BUILD:?is not set: run the tests with make check}"
: "${TP_SOURCE:?is not set: run the tests with make check}"
. "$TP_SOURCE/tests/e2e/lib.sh"
root=$work/root
cp "$TP_SOURCE/scripts/demo/study.c" "$TP_SOURCE/scripts/demo/study.yml" "$work"
# What the library is built with, its program has to be.
case $TP_BUILD in
*/asan) sanitize='-fsanitize=address,undefined' ;;
*) sanitize= ;;
esac
PKG_CONFIG_PATH=$root/usr/lib/pkgconfig:${PKG_CONFIG_PATH-}
export PKG_CONFIG_PATH

# build COMPILER...: ./program from $work/$source.c, as an installed tree has it.
build() {
    # shellcheck disable=SC2046
    "$@" $sanitize -Wall -Wextra -Werror -pedantic -o program \
        $(pkg-config --define-variable=prefix="$root/usr" \
            --define-variable=libdir="$root/usr/lib" --cflags tunepipe-study) \
        "$work/$source.c" \
        $(pkg-config --define-variable=prefix="$root/usr" \
            --define-variable=libdir="$root/usr/lib" --libs tunepipe-study) \
        -Wl,-rpath,"$root/usr/lib"
}

is_installed() {
    env -u MAKEFLAGS -u MAKELEVEL make -s --no-print-directory \
        -C "$TP_SOURCE" "V=$(basename "$TP_BUILD")" "DESTDIR=$root" \
        PREFIX=/usr install > out 2>&1 || { cat out; return 1; }
}

# The program finds tunepipe beside the library that it is linked to.
example() { # COMPILER...
    command -v "$1" > /dev/null || { echo "no $1"; return 77; }
    source=study
    build "$@" || return 1
    ./program s "$work/study.yml" > out 2> err || fail "$(cat err)" || return 1
    [ ! -s err ] || fail "$(cat err)" || return 1
    "$T" show --json s > show.json || return 1
    count 50 succeeded && replays_study
}
replays_study() {
    "$T" replay --verify s > replay.out 2>&1 || fail "$(tail -n 1 replay.out)"
}
as_c90() { example "${CC:-cc}" -std=c90; }
as_c11() { example "${CC:-cc}" -std=c11; }
as_cxx17() { example "${CXX:-c++}" -x c++ -std=c++17; }

linked_statically() {
    [ -z "$sanitize" ] || { echo 'links the shared ones'; return 77; }
    ${CC:-cc} -I"$root/usr/include" -o program "$work/study.c" \
        "$root/usr/lib/libtunepipe-study.a" -ljson-c -ldl -lm || return 1
    PATH=$root/usr/bin:$PATH ./program s "$work/study.yml" &&
        "$T" show --json s > show.json && count 50 succeeded
}

# With trial.h beside it, which is C99, no name stands twice.
both_headers() {
    printf '#include <tunepipe/%s.h>\n' study trial study > both.c
    for compiler in "${CC:-cc} -std=c99" "${CC:-cc} -std=c11" \
        "${CXX:-c++} -x c++ -std=c++11" "${CXX:-c++} -x c++ -std=c++17"; do
        command -v "${compiler%% *}" > /dev/null || continue
        $compiler -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror -pedantic \
            -fsyntax-only -I"$root/usr/include" both.c || return 1
    done
}

# Nothing else of the tree can clash with a program's own; and what was released
# stays.
shows_its_names_only() {
    sed -n 's/^ \([a-z_]*\)@.*/\1/p' \
        "$TP_SOURCE/scripts/packaging/debian/libtunepipe-study0.symbols" |
        sort > "$work/released"
    grep -o 'tp_[a-z_]*(' "$root/usr/include/tunepipe/study.h" |
        tr -d '(' | sort -u > names
    for names in "nm -D $root/usr/lib/libtunepipe-study.so" \
        "nm -g $root/usr/lib/libtunepipe-study.a"; do
        $names --defined-only | awk 'NF == 3 && $2 != "B" && $2 != "D" { print $3 }' |
            grep -v '^__\(asan\|odr_asan\)' | sort > shown
        comm -23 shown names > more
        [ ! -s more ] || fail "$names: $(cat more)" || return 1
        diff "$work/released" shown || return 1
    done
    readelf -d "$root/usr/lib/libtunepipe-study.so" > dynamic
    has dynamic 'soname: [libtunepipe-study.so.0]'
}

# An ask that is answered by a server's last breath: what was given is not lost,
# and another study of the same process keeps what it has.
answers_are_lost() {
    cat > "$work/lost.c" << 'C'
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <tunepipe/study.h>

static int
failed(struct tp_study *study, const char *what)
{
    printf("%s: %s\n", what, tp_study_why(study));
    return 1;
}

/* Begins an ask, takes its answer out of the socket, and kills the server,
 * which is stopped meanwhile: else the answer might be heard at once. */
static int
lose(struct tp_study *study)
{
    struct sockaddr_un peer;
    struct pollfd p[64];
    char text[4096];
    int i;

    if (system("kill -STOP $(cat s/manager.pid)") != 0 ||
        tp_study_ask_begin(study) != 0 ||
        system("kill -CONT $(cat s/manager.pid)") != 0)
        return -1;
    for (i = 0; i < 64; i++) {
        socklen_t len = sizeof peer;
        int is_ours =
            i > 2 && getpeername(i, (struct sockaddr *)&peer, &len) == 0;

        p[i].events = POLLIN;
        p[i].fd = is_ours ? i : -1;
    }
    if (poll(p, 64, -1) != 1)
        return -1;
    for (i = 0; i < 64; i++)
        if (p[i].fd >= 0 && p[i].revents != 0 &&
            recv(i, text, sizeof text, 0) < 10)
            return -1;
    return system("kill -KILL $(cat s/manager.pid)");
}

int
main(void)
{
    struct tp_study *study[2];
    struct tp_trial *trial[4];
    char why[200];
    long number = -1;
    int i;

    for (i = 0; i < 2; i++)
        if (tp_study_open(&study[i], "s", "c.yml", why, sizeof why) != 0 ||
            tp_study_ask(study[i], &trial[i]) != 0)
            return failed(study[i], "ask");
    if (lose(study[0]))
        return failed(study[0], "lose");
    if (tp_study_tell(study[0], 0, 0) != 0)
        return failed(study[0], "tell");
    if (tp_study_enqueue(study[0], "{\"x\": 0.5}", &number) != 0 || number != 3)
        return failed(study[0], "enqueue");
    for (i = 2; i < 4; i++) {
        if (tp_study_ask(study[0], &trial[i]) != 0 ||
            tp_trial_number(trial[i]) != i)
            return failed(study[0], "what was lost");
        if (tp_study_tell(study[0], i, i) != 0)
            return failed(study[0], "tell");
    }
    tp_study_close(study[0]);
    if (tp_trial_report(trial[1], 1) != TP_STUDY_GO ||
        tp_study_tell(study[1], 1, 1) != 0)
        return failed(study[1], "the other one's");
    tp_study_close(study[1]);
    for (i = 0; i < 4; i++)
        tp_trial_free(trial[i]);
    return 0;
}
C
    cat > c.yml << 'Y'
searchSpace: {x: {_type: uniform, _value: [0, 1]}}
direction: minimize
tuner: {name: random}
seed: 1
Y
    source=lost
    build "${CC:-cc}" -std=c90 -D_GNU_SOURCE || return 1
    ./program > out 2> err || fail "$(cat out err)" || return 1
    "$T" show --json s > show.json || return 1
    count 4 succeeded && replays_study
}

# A server that is killed between any two calls: nothing is lost or doubled.
# What it starts has ended by then, and the event loop goes on.
servers_die() {
    cat > "$work/loop.c" << 'C'
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tunepipe/study.h>

static int
failed(struct tp_study *study, const char *what)
{
    printf("%s: %s\n", what, tp_study_why(study));
    return 1;
}

int
main(void)
{
    struct tp_study *study;
    char why[200];
    int i, rc;

    if (tp_study_open(&study, "s", "c.yml", why, sizeof why) != 0) {
        puts(why);
        return 1;
    }
    for (i = 0; i < 5; i++) {
        struct tp_trial *trial;
        struct pollfd p;

        p.fd = tp_study_fd(study);
        p.events = POLLIN;
        if (tp_study_ask_begin(study) != 0)
            return failed(study, "begin");
        if (i == 1 && system("kill -KILL $(cat s/manager.pid)") != 0)
            return 1;
        while ((rc = tp_study_ask_ready(study, &trial)) == 0)
            if (poll(&p, 1, -1) != 1)
                return failed(study, "poll");
        if (rc < 0)
            return failed(study, "ready");
        if (tp_trial_number(trial) != i)
            return failed(study, "number");
        if (i == 2 && system("kill -KILL $(cat s/manager.pid)") != 0)
            return 1;
        if (tp_trial_report(trial, 1) != TP_STUDY_GO)
            return failed(study, "report");
        if (i == 3 && system("kill -KILL $(cat s/manager.pid)") != 0)
            return 1;
        if (tp_trial_report(trial, 2) != TP_STUDY_GO)
            return failed(study, "second report");
        if (tp_study_tell(study, i, i) != 0)
            return failed(study, "tell");
        if (tp_study_tell(study, i, i) != TP_STUDY_REFUSED ||
            strstr(tp_study_why(study), "has ended") == NULL)
            return failed(study, "told twice");
        tp_trial_free(trial);
        if (waitpid(-1, NULL, WNOHANG) != -1)
            return failed(study, "a child");
    }
    rc = tp_study_tell(study, 99, 1);
    if (rc != TP_STUDY_REFUSED)
        return failed(study, "no such trial");
    /* What it has is given to others when it is closed, server or none. */
    for (i = 0; i < 2; i++) {
        struct tp_trial *trial;

        if (i == 1 && tp_study_open(&study, "s", NULL, why, sizeof why) != 0)
            return failed(study, "open");
        if (tp_study_ask(study, &trial) != 0 || tp_trial_number(trial) != 5)
            return failed(study, "what was left");
        tp_trial_free(trial);
        if (i == 0 && system("kill -KILL $(cat s/manager.pid)") != 0)
            return 1;
        tp_study_close(study);
    }
    rc = tp_study_open(&study, "s", "other.yml", why, sizeof why);
    if (rc != TP_STUDY_CONFIG || strstr(why, "searchSpace") == NULL)
        printf("%d: %s\n", rc, why);
    return rc != TP_STUDY_CONFIG;
}
C
    cat > c.yml << 'Y'
searchSpace: {x: {_type: uniform, _value: [0, 1]}}
direction: minimize
tuner: {name: random}
seed: 1
Y
    sed 's/\[0, 1\]/[0, 2]/' c.yml > other.yml
    source=loop
    build "${CC:-cc}" -std=c90 -D_GNU_SOURCE || return 1
    ./program > out 2> err || fail "$(cat out err)" || return 1
    "$T" show --json s > show.json || return 1
    count 5 succeeded && replays_study
}

check "is installed" is_installed
[ $failures = 0 ] || exit 1
check "the example as C90" as_c90
check "the example as C11" as_c11
check "the example as C++17" as_cxx17
check "the example linked statically" linked_statically
check "both headers" both_headers
check "shows its names only" shows_its_names_only
check "servers die" servers_die
check "answers are lost" answers_are_lost
finish
