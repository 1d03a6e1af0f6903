# SPDX-License-Identifier: MIT
# lib.sh - for the scripts beside it.  A test is a function that prints why it
# fails and returns false; `check NAME FUNCTION` runs it in a folder of its own.
# $T is `tunepipe`, $PLUGINS the test plugins; sanitizers must stay silent.
T=$TP_BUILD/tunepipe
PLUGINS=$TP_BUILD/tests/plugins
failures=0
work=$(mktemp -d)

# Trials whose wrapper a test has killed outlive it, and whatever hangs.
clean() {
    for one in /proc/[0-9]*; do
        case $one:$(readlink "$one/cwd") in
        "/proc/$$":*) ;;
        *:"$work" | *:"$work"/*) kill -KILL "${one#/proc/}" ;;
        esac
    done 2> /dev/null
    rm -rf "$work"
}
trap clean EXIT
trap 'exit 143' HUP INT TERM # else a signal leaves the folder

check() {
    mkdir "$work/$2" && cd "$work/$2" || exit 1
    why=$("$2" 2>&1)
    status=$?
    words='runtime error:\|AddressSanitizer\|LeakSanitizer\|ThreadSanitizer'
    if spoke=$(grep -rls "$words" .); then
        why="a sanitizer spoke: $(echo "$spoke" | xargs cat)"
        status=1
    fi
    case $status in
    0) echo "ok $1" ;;
    77) echo "skipped $1: $why" ;;
    *)
        echo "FAILED $1: $(echo "$why" | head -n 1)"
        { echo "$why"; tail -n 40 out err 2>/dev/null; } | sed 's/^/# /'
        failures=$((failures + 1))
        ;;
    esac
    cd "$work" || exit 1
}

# beside NAME FUNCTION: check, side by side with others, some at a time; what
# they said comes with await_all.
beside=
beside() {
    if [ ! -p "$work/turns" ]; then
        mkfifo "$work/turns" && exec 9<> "$work/turns" &&
            printf '\n\n\n\n\n\n' >&9
    fi
    (
        read -r _ <&9
        (check "$@") 9>&-
        echo >&9
    ) > "$work/$2.said" 2>&1 &
    beside="$beside $!:$work/$2.said"
}
await_all() {
    for one in $beside; do
        wait "${one%%:*}"
        cat "${one#*:}"
        grep -qE '^(ok|skipped) ' "${one#*:}" || failures=$((failures + 1))
    done
    beside=
}

finish() { await_all; [ "$failures" = 0 ]; exit; }

fail() { echo "$*"; return 1; }

# python_with MODULE: the Python that has it, of that in PATH and the system's.
python_with() {
    for one in python3 /usr/bin/python3; do
        "$one" -c "import $1" 2> /dev/null && echo "$one" && return
    done
    return 1
}

# experiment LINE... < TRIAL: e.yml with the lines, trial.sh from stdin.
experiment() {
    cat > trial.sh
    {
        echo 'trialCommand: sh ./trial.sh'
        case "$*" in *searchSpace*) ;; *)
            echo 'searchSpace: {x: {_type: uniform, _value: [0, 1]}}' ;;
        esac
        case "$*" in *trialConcurrency*) ;; *) echo 'trialConcurrency: 1' ;; esac
        case "$*" in *tuner:*) ;; *) echo 'tuner: {name: random}' ;; esac
        case "$*" in *seed:*) ;; *) echo 'seed: 1' ;; esac
        printf '%s\n' "$@"
        case "$*" in *direction:* | *optimize_mode:*) ;; *)
            echo 'direction: minimize' ;;
        esac
    } > e.yml
}

# run STATUS [OPTION...]: runs e.yml; ./pid holds the manager's process id,
# $dir its folder, show.json what `show --json` says.  Where it made no folder
# $dir is ./no-experiment, which is not there: "$dir/x" must never mean /x.
run() {
    want=$1
    shift
    HERE=$PWD sh -c 'echo $$ > pid; exec "$0" run e.yml "$@"' "$T" "$@" \
        > out 2> err
    got=$?
    dir=$(ls -d tunepipe-experiments/* 2>/dev/null | tail -n 1)
    dir=${dir:-./no-experiment}
    [ ! -d "$dir" ] || "$T" show --json "$dir" > show.json || return 1
    [ "$got" = "$want" ] || fail "status $got, expected $want"
}

# resume STATUS [OPTION...]: goes on in $dir; show.json as behind `run`.
resume() {
    want=$1
    shift
    HERE=$PWD sh -c 'echo $$ > pid; exec "$0" resume "$@"' "$T" "$dir" "$@" \
        > out 2> err
    got=$?
    "$T" show --json "$dir" > show.json || return 1
    [ "$got" = "$want" ] || fail "status $got, expected $want"
}

# write_kill_them FILE: a script for trials that kills whom it is told: the
# manager of ./pid, its dispatcher, both, or these and all trials.
write_kill_them() {
    cat > "$1" << 'E'
read -r manager < "$HERE/pid"
read -r children < "/proc/$manager/task/$manager/children"
for child in $children; do
    tr '\0' ' ' < "/proc/$child/cmdline" | grep -q '^[^ ]* dispatch ' &&
        dispatcher=$child
done
case $1 in
manager) kill -KILL "$manager" ;;
dispatcher) kill -KILL "$dispatcher" ;;
both) kill -KILL "$manager" "$dispatcher" ;;
all) kill -KILL "$manager" $children ;;
esac
E
}

# meanwhile CONDITION [PID]: beside a manager (that of ./pid), waits until it
# holds; where the manager ends first the subshell does, too.
meanwhile() {
    until eval "$1"; do
        one=${2:-$(cat pid 2>&-)}
        if [ -n "$one" ] && ! kill -0 "$one" 2>&-; then
            eval "$1" && return
            echo "the manager ended before: $1" >&2
            exit 1
        fi
        sleep 0.02
    done
}

# preloaded NAME COMMAND...: all that it starts has tests/preload/NAME.c in it.
preloaded() {
    case $TP_BUILD in
    */tsan) echo "its runtime comes before $1.so"; return 77 ;;
    esac
    (
        LD_PRELOAD=$TP_BUILD/tests/preload/$1.so
        ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0
        export LD_PRELOAD ASAN_OPTIONS
        shift
        "$@"
    ) || return
    dir=$(ls -d tunepipe-experiments/* | tail -n 1)
}

# ahead_of_time COMMAND...: all that it starts lives $CLOCK_AHEAD's seconds
# ahead; ./set_ahead SECONDS changes them while $dir's manager runs.
ahead_of_time() {
    cat > set_ahead << 'E'
echo "$1" > "$CLOCK_AHEAD.new" && mv "$CLOCK_AHEAD.new" "$CLOCK_AHEAD"
# Between two answers the manager has looked at what is due by then.
for i in 1 2; do tunepipe status "$TUNEPIPE_EXPERIMENT_DIR" > /dev/null; done
E
    CLOCK_AHEAD=$PWD/clock
    export CLOCK_AHEAD
    preloaded ahead "$@"
}

# has FILE TEXT: the file contains the text.
has() {
    grep -qF -- "$2" "$1" || fail "$1 lacks '$2'"
}

# terminated FOLDER: SIGTERM ended what ran there; a shell around it is ended,
# too, or has seen first that its child was.
terminated() {
    grep -qE '^(signalled 15|exited 143)' "$1/exit" || fail "$(cat "$1/exit")"
}

lacks() {
    ! grep -qF -- "$2" "$1" || fail "$1 has '$2'"
}

# count N STATUS: so many trials ended so.
count() {
    n=$(grep -o "\"status\": \"$2\"" show.json | wc -l)
    [ "$n" -eq "$1" ] || fail "$n trials $2, expected $1"
}

# replays: what the dispatcher wrote can be replayed.
replays() {
    "$T" replay --verify --plugin-path "$PLUGINS" "$dir" > replay.out 2>&1 || fail "$(tail -n 1 replay.out)"
}
