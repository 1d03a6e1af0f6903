#!/bin/sh
# SPDX-License-Identifier: MIT
# What a trial saves, who is given it, and what is deleted.
# not under tsan
. "$(dirname "$0")/lib.sh"

# kept TRIAL NUMBER...: these checkpoints of the trial are there, no others.
kept() {
    home=$dir/checkpoints/$1
    shift
    got=$(ls "$home" 2> /dev/null | grep -v "^steps" | sort -n | tr '\n' ' ')
    [ "$got" = "$*${1:+ }" ] || fail "$home has $got, expected $*"
}

# A trial that counts its epochs in a file and goes on where that was saved.
# Its first attempt is lost with its manager when it has saved three of them.
counting() {
    cat << 'E'
epoch=0
[ -z "$TUNEPIPE_RESTORE_DIR" ] || epoch=$(cat "$TUNEPIPE_RESTORE_DIR/epoch")
echo "from $epoch ${TUNEPIPE_RESTORE_DIR##*/}" >> "$HERE/said"
work=$TUNEPIPE_TRIAL_DIR/work
mkdir "$work"
while [ $epoch -lt 5 ]; do
    epoch=$((epoch + 1))
    echo $epoch > "$work/epoch"
    tunepipe trial report $epoch
    tunepipe trial checkpoint save "$work/epoch" || exit 1
    if [ $epoch = 3 ] && [ ! -e "$HERE/second" ]; then
        touch "$HERE/second"
        echo half > "$TUNEPIPE_CHECKPOINT_DIR/epoch" # begun, no more
        kill -KILL "$(cat "$HERE/pid")"
        read -r pid rest < "$TUNEPIPE_TRIAL_DIR/wrapper.pid"
        kill -KILL "$pid"
        exec sleep 1000
    fi
done
exec tunepipe trial report --final $epoch
E
}

goes_on() {
    counting | experiment 'maxTrialNumber: 1'
    run 137
    resume 0 && count 1 succeeded && replays && has show.json '"value": 5.0' &&
        kept 00000 5 || return 1
    [ "$(tr '\n' , < said)" = 'from 0 ,from 3 3,' ] || fail "$(cat said)"
}
check "an attempt goes on where another was lost" goes_on

# It has to report again what it has reported.
in_lock_step() {
    counting | experiment 'maxTrialNumber: 1' 'deterministic: true'
    run 137
    resume 0 && count 1 succeeded && replays || return 1
    [ "$(tr '\n' , < said)" = 'from 0 ,from 0 ,' ] || fail "$(cat said)"
}
check "in lock step it begins anew" in_lock_step

three() {
    cat << 'E'
for v in 3 1 2; do
    tunepipe trial report $v
    echo $v > "$TUNEPIPE_CHECKPOINT_DIR/v"
    tunepipe trial checkpoint save || exit 1
    [ -d "$TUNEPIPE_CHECKPOINT_DIR" ] || exit 1
done
tunepipe trial report --final 1
E
}

policies() {
    for policy in '' '{keep: last, max: 2}' '{keep: best}' '{keep: all}' \
        '{keep: none}'; do
        rm -rf tunepipe-experiments
        three | experiment 'maxTrialNumber: 1' 'direction: maximize' \
            ${policy:+"checkpoints: $policy"}
        run 0 && count 1 succeeded || return 1
        case $policy in
        '') kept 00000 3 ;;
        *last*) kept 00000 2 3 ;;
        *best*) kept 00000 1 ;;
        *all*) kept 00000 1 2 3 ;;
        *none*) [ ! -e "$dir/checkpoints/00000" ] || kept 00000 ;;
        esac || return 1
    done
}
check "which checkpoints are kept" policies

best_is_minimal() {
    three | experiment 'maxTrialNumber: 1' 'checkpoints: {keep: best}' \
        'direction: minimize'
    run 0 && kept 00000 2
}
check "the best when the least is best" best_is_minimal

# 64 KiB each, room for three of four trials: the worst goes.
quota() {
    experiment 'maxTrialNumber: 4' 'checkpoints: {quota: 230k}' \
        'direction: maximize' << 'E'
head -c 65536 /dev/urandom > "$TUNEPIPE_CHECKPOINT_DIR/model"
case $TUNEPIPE_TRIAL_ID in *0) v=2 ;; *1) v=1 ;; *) v=3 ;; esac
tunepipe trial report $v
tunepipe trial checkpoint save
tunepipe trial report --final $v
E
    run 0 && count 4 succeeded && kept 00000 1 && kept 00002 1 &&
        kept 00003 1 && kept 00001
}
check "a quota of the disk" quota

# It looks when what it saved is known to the manager.
the_only_one() {
    experiment 'maxTrialNumber: 1' 'checkpoints: {quota: 10k}' << 'E'
head -c 65536 /dev/urandom > "$TUNEPIPE_CHECKPOINT_DIR/model"
tunepipe trial report 1
tunepipe trial checkpoint save
tunepipe trial report --sync 1
[ -e "${TUNEPIPE_CHECKPOINT_DIR%/*}/1/model" ] || exit 1
tunepipe trial report --final 1
E
    run 0 && count 1 succeeded && has err 'more than checkpoints.quota' &&
        kept 00000
}
check "the only one of a running trial stays" the_only_one

unfinished() {
    experiment 'maxTrialNumber: 1' << 'E'
echo half > "$TUNEPIPE_CHECKPOINT_DIR/model"
tunepipe trial checkpoint save missing 2> "$HERE/words"
echo $? > "$HERE/status"
mkdir "$TUNEPIPE_CHECKPOINT_DIR.mine"
echo half > "$TUNEPIPE_CHECKPOINT_DIR.mine/model"
tunepipe trial report --final 1
E
    run 0 && [ "$(cat status)" = 1 ] && has words 'missing: cannot look at' &&
        [ ! -e "$dir/checkpoints/00000" ]
}
check "what was begun goes with the trial" unfinished

refused() {
    "$T" trial checkpoint 2> err
    [ $? = 2 ] && has err 'expected save' || return 1
    "$T" trial checkpoint save 2> err
    [ $? = 2 ] && has err 'TUNEPIPE_TRIAL_DIR' || return 1
    mkdir t t/saving.0
    export TUNEPIPE_TRIAL_DIR=t TUNEPIPE_CHECKPOINT_DIR="$PWD/t/saving.0"
    "$T" trial checkpoint save 2> err
    [ $? = 1 ] && has err 'nothing was saved into it' || return 1
    "$T" trial checkpoint save . 2> err
    [ $? = 2 ] && has err 'a file or folder with a name' || return 1
    unset TUNEPIPE_TRIAL_DIR TUNEPIPE_CHECKPOINT_DIR
    experiment 'maxTrialNumber: 1' 'checkpoints: {keep: lats}' < /dev/null
    "$T" run e.yml 2> err
    [ $? = 3 ] && has err 'checkpoints.keep'
}
check "what is refused" refused

c_and_python() {
    command -v "${CC:-cc}" > cc && command -v python3 > python ||
        { echo 'no C compiler or no Python'; return 77; }
    cat > t.c << 'E'
#include <tunepipe/checkpoint.h>
static int save(const char *folder, const char *text)
{
    char path[8192];
    FILE *file;
    snprintf(path, sizeof path, "%s/inner", folder);
    if (mkdir(path, 0700) != 0)
        return -1;
    snprintf(path, sizeof path, "%s/inner/model", folder);
    file = fopen(path, "w");
    return !file || fputs(text, file) < 0 || fclose(file) ? -1 : 0;
}
int main(void)
{
    char folder[4096];
    if (tp_restore_dir())
        return 1;
    tp_report(1);
    if (tp_checkpoint_begin(folder, sizeof folder) != 0 ||
        tp_checkpoint_commit(folder) != -1 || errno != EINVAL)
        return 2;
    if (save(folder, "one") != 0 || tp_checkpoint_commit(folder) != 0)
        return 3;
    if (tp_checkpoint_begin(folder, sizeof folder) != 0 ||
        save(folder, "two") != 0)
        return 4;
    tp_checkpoint_discard(folder);
    if (access(folder, F_OK) == 0)
        return 5;
    return tp_final(1) != 0;
}
E
    "${CC:-cc}" -Wall -Werror -I"$TP_SOURCE/src/trial/include" -o t t.c ||
        return 1
    cat > t.py << 'E'
import os, tunepipe
assert tunepipe.restore_dir() is None
for text in "one", "two":
    tunepipe.report(1)
    with tunepipe.checkpoint() as folder:
        os.mkdir(folder + "/inner")
        os.symlink("inner", folder + "/link")
        with open(folder + "/link/model", "w") as file:
            file.write(text)
try:
    with tunepipe.checkpoint() as folder:
        open(folder + "/model", "w").close()
        raise KeyError
except KeyError:
    tunepipe.final(1)
E
    experiment 'maxTrialNumber: 2' << 'E'
[ "$TUNEPIPE_TRIAL_ID" = 00000 ] && exec ./t
exec python3 t.py
E
    run 0 && count 2 succeeded && kept 00000 1 && kept 00001 2 || return 1
    [ "$(cat "$dir/checkpoints/00000/1/inner/model")" = one ] &&
        [ "$(cat "$dir/checkpoints/00001/2/inner/model")" = two ] &&
        [ -h "$dir/checkpoints/00001/2/link" ] || return 1
    PYTHONPATH=$TP_SOURCE/src/trial python3 -c '
import os, tunepipe
with tunepipe.checkpoint() as folder:
    open(folder + "/x", "w").close()
assert not os.path.exists(folder)'
}
check "checkpoints in C and in Python" c_and_python

finish
