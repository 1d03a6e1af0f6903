#!/bin/sh
# SPDX-License-Identifier: MIT
# What goes into packages: versions that agree, a tarball that is the tree, and
# files of debian/ that name what there is.  `make check-deb` builds and installs.
#
# Needs TP_BUILD and TP_SOURCE.
# not under asan
# not under tsan
set -u
: "${TP_BUILD:?is not set: run the tests with make check}"
: "${TP_SOURCE:?is not set: run the tests with make check}"
. "$TP_SOURCE/tests/e2e/lib.sh"
umask 022
DEBIAN=$TP_SOURCE/scripts/packaging/debian
version=$(sed -n 's/^__version__ = "\([0-9.]*\)".*/\1/p' \
    "$TP_SOURCE/src/python/tunepipe/__init__.py")

make_it() { # TARGET FOLDER VARIABLE=VALUE
    env -u MAKEFLAGS -u MAKELEVEL make -s --no-print-directory -C "$2" \
        "V=$(basename "$TP_BUILD")" "$1" "$3" PREFIX=/usr
}

# All else takes it from there; CHANGELOG.md begins with it, and the list of
# symbols has the version that brought each.
version_is_said_once() {
    "$T" --version | grep -q "^tunepipe $version (plugin ABI [0-9]*)$" ||
        fail "'$version' in Python, $("$T" --version)" || return 1
    (cd "$TP_SOURCE" && grep -rlwF -- "$version" Makefile README.md protocol \
        scripts src tuners | grep -v __pycache__ | sort) > said
    cat > expected << 'E'
protocol/CHANGELOG.md
scripts/packaging/debian/libtunepipe-study0.symbols
src/python/tunepipe/__init__.py
E
    diff expected said
}

changes_begin_with_this_version() {
    first=$(sed -n '/^## /{ s/^## //p; q; }' "$TP_SOURCE/protocol/CHANGELOG.md")
    [ "${first%%, *}" = "$version" ] && date -u -d "${first#*, }" > /dev/null ||
        fail "the first entry is '$first', expected '$version, MONTH DAY, YEAR'" ||
        return 1
    # Debian's changelog has 80 columns, two of them before each line.
    ! grep -n '.\{79\}' "$TP_SOURCE/protocol/CHANGELOG.md"
}

# number FILE PATTERN: what stands there behind the pattern.
number() { grep -o "$2[0-9][0-9]*" "$TP_SOURCE/$1" | tail -n 1; }

promises_name_todays_numbers() {
    for one in "$(number src/log/snapshot.c 'tunepipe-snapshot ')" \
        "$(number src/log/lock.h 'tunepipe-lock ')" \
        "$(number src/store/tables.h 'TABLES_VERSION ')" \
        "$(number tuners/include/tunepipe/plugin.h 'TP_ABI ')" \
        "$(number Makefile 'libtunepipe-study\.so\.')" \
        "$(number src/log/record.h 'RECORD_VERSION ' |
            sed s/RECORD_VERSION/tunepipe-log/)" \
        "$(number src/report/write.c '"version", ' | tr , :)"; do
        grep -qF "\`$one\`" "$TP_SOURCE/protocol/PROMISES.md" ||
            fail "PROMISES.md has no \`$one\`" || return 1
    done
}

# What git tracks, and what pip reads of it; what was unpacked packs itself again,
# without git.
tarball_is_the_tree() {
    command -v python3 > python || { echo "no python3"; return 77; }
    make_it dist "$TP_SOURCE" "DIST=$PWD" || return 1
    tar -xzf "tunepipe-$version.tar.gz" || return 1
    mv "tunepipe-$version" tree
    (cd tree && find . ! -type d -printf '%P\n' | LC_ALL=C sort) > packed
    make_it dist "$PWD/tree" "DIST=$PWD/again"
    rm -r tree # there are words in it that a sanitizer speaks, too
    cmp "tunepipe-$version.tar.gz" "again/tunepipe-$version.tar.gz" || return 1
    [ ! -e "$TP_SOURCE/.git" ] ||
        (git -C "$TP_SOURCE" ls-files && echo PKG-INFO && echo pyproject.toml) |
        LC_ALL=C sort | diff - packed
}

# As dh_install and dh_missing go by them; its folder of libraries is another.
packages_have_what_is_installed() {
    make_it install "$TP_SOURCE" "DESTDIR=$PWD/root" > out 2>&1 ||
        { cat out; return 1; }
    cut -d ' ' -f 1 "$DEBIAN"/*.install | sed 's|^usr/lib/\*|usr/lib|' > paths
    while read -r path; do
        # shellcheck disable=SC2086
        (cd root && ls -d $path) >> there || return 1
    done < paths
    (cd root && xargs rm -r < ../there)
    [ -z "$(find root ! -type d)" ] ||
        fail "no debian/*.install has $(find root ! -type d)" || return 1
    while read -r path; do
        ls "$TP_SOURCE/$path" > out || return 1
    done < "$DEBIAN/tunepipe.docs"
}

builds_with_what_setup_installs() {
    sed -n '/^Build-Depends/,/^S/p' "$DEBIAN/control" |
        grep -oE '[a-z0-9-]+-dev\b' | sort > depends
    grep -oE 'need [a-z0-9-]+-dev\b' "$TP_SOURCE/scripts/setup" |
        cut -d ' ' -f 2 | grep -vx 'libc6-dev\|dpkg-dev\|libfuse3-dev' | sort | diff depends -
}

check "the version is said once" version_is_said_once
check "the changes begin with this version" changes_begin_with_this_version
check "the promises name today's numbers" promises_name_todays_numbers
check "the tarball is the tree" tarball_is_the_tree
check "the packages have what is installed" packages_have_what_is_installed
check "the packages are built with what setup installs" \
    builds_with_what_setup_installs
finish
