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

# names PATH: the results, and what is told of the trial, name that checkpoint.
names() {
    "$T" why 0 > why 2> err && "$T" why --json 0 > why.json 2> err || return 1
    if [ -n "$1" ]; then
        grep -qxF "checkpoint: $1" out && has show.json "\"checkpoint\": \"$1\"" &&
            has why "  its newest checkpoint: $1" &&
            has why.json "\"checkpoint\": \"$1\""
    else
        cat out show.json why why.json > all && lacks all checkpoint
    fi
}

policies() {
    for policy in '' '{keep: last, max: 2}' '{keep: best}' '{keep: all}' \
        '{keep: none}'; do
        rm -rf tunepipe-experiments
        three | experiment 'maxTrialNumber: 1' 'direction: maximize' \
            ${policy:+"checkpoints: $policy"}
        run 0 && count 1 succeeded || return 1
        newest=$PWD/$dir/checkpoints/00000/3
        case $policy in *none*) newest= ;; *best*) newest=${newest%3}1 ;; esac
        names "$newest" || return 1
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
    "$T" trial report --final 1 --checkpoint t 2> err
    [ $? = 2 ] && has err '--checkpoint is for intermediate results' || return 1
    unset TUNEPIPE_TRIAL_DIR TUNEPIPE_CHECKPOINT_DIR
    experiment 'maxTrialNumber: 1' 'checkpoints: {keep: lats}' < /dev/null
    "$T" run e.yml 2> err
    [ $? = 3 ] && has err 'checkpoints.keep'
}
check "what is refused" refused

# with_reports COMMAND: a trial that saves with its reports, and is lost with
# its manager behind the second; whoever goes on does no step twice.
with_reports() {
    cat > lost << 'E'
kill -KILL "$(cat "$HERE/pid")"
read -r pid rest < "$TUNEPIPE_TRIAL_DIR/wrapper.pid"
kill -KILL "$pid"
exec sleep 1000
E
    experiment 'maxTrialNumber: 1' << E
echo "from \$TUNEPIPE_STEP" >> "\$HERE/said"
$1
E
    run 137
    resume 0 && count 1 succeeded && replays && has show.json '"value": 4.0' ||
        return 1
    [ "$(tr '\n' , < said)" = 'from 0,from 2,' ] || fail "$(cat said)" ||
        return 1
    [ "$(cat "$dir/checkpoints/00000"/*/model)" = 4 ]
}

with_reports_in_shell() {
    with_reports 'step=$TUNEPIPE_STEP
cd "$TUNEPIPE_TRIAL_DIR" && : > other || exit 1
while [ $step -lt 4 ]; do
    step=$((step + 1))
    echo $step > model
    tunepipe trial report $step --checkpoint model --checkpoint other || exit 1
    [ "$TUNEPIPE_STEP$step" != 02 ] || sh "$HERE/lost"
done
tunepipe trial report $step --checkpoint missing 2> "$HERE/words"
[ $? = 1 ] && [ "$(grep -c intermediate metrics)" = 2 ] || exit 1
tunepipe trial report --final $step' && has words 'missing: cannot look at'
}
check "a checkpoint with each report, in shell" with_reports_in_shell

with_reports_in_c() {
    command -v "${CC:-cc}" > cc || { echo 'no C compiler'; return 77; }
    cat > t.c << 'E'
#include <tunepipe/checkpoint.h>
static int save(const char *folder, int step)
{
    char path[8192];
    FILE *file;
    snprintf(path, sizeof path, "%s/model", folder);
    file = fopen(path, "w");
    return !file || fprintf(file, "%d\n", step) < 0 || fclose(file) ? -1 : 0;
}
int main(void)
{
    char folder[4096];
    int step = (int)tp_restored_step();
    if (tp_checkpoint_begin(folder, sizeof folder) != 0 ||
        tp_report_checkpoint(9, folder) != -1 || errno != EINVAL)
        return 2; /* it is empty: nothing is reported */
    tp_checkpoint_discard(folder);
    while (step++ < 4) {
        if (tp_checkpoint_begin(folder, sizeof folder) != 0 ||
            save(folder, step) != 0)
            return 3;
        if ((step % 2 ? tp_report_checkpoint(step, folder)
                      : tp_report_sync_checkpoint(step, folder)) != 0)
            return 4;
        if (access(folder, F_OK) == 0)
            return 5;
        if (tp_restored_step() == 0 && step == 2)
            return system("sh \"$HERE/lost\"");
    }
    return tp_final(4) != 0;
}
E
    "${CC:-cc}" -Wall -Werror -I"$TP_SOURCE/src/trial/include" -o t t.c &&
        with_reports 'exec ./t'
}
check "the same in C" with_reports_in_c

with_reports_in_python() {
    command -v python3 > python || { echo 'no Python'; return 77; }
    cat > t.py << 'E'
import os, sys, tunepipe
os.chdir(os.environ["TUNEPIPE_TRIAL_DIR"])
for step in range(tunepipe.restored_step() + 1, 5):
    with open("model", "w") as file:
        print(step, file=file)
    tunepipe.report(step, sync=step % 2, checkpoint="model" if step % 2 else
                    ["model"])
    if tunepipe.restored_step() == 0 and step == 2:
        os.system('sh "$HERE/lost"')
for wrong in "missing", "/", ["model", "./model"], []:
    try:
        tunepipe.report(9, checkpoint=wrong)
    except OSError:
        continue
    sys.exit("%s is saved" % wrong)
try:
    tunepipe.report(step, done=True, checkpoint="model")
except ValueError:
    tunepipe.final(step)
E
    with_reports 'exec python3 "$HERE/t.py"'
}
check "the same in Python" with_reports_in_python

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
    PYTHONPATH=$TP_SOURCE/src/python python3 -c '
import os, tunepipe
with tunepipe.checkpoint() as folder:
    open(folder + "/x", "w").close()
assert not os.path.exists(folder)'
}
check "checkpoints in C and in Python" c_and_python

# saved_by TIMES CONCURRENCY SHELL PYTHON: two trials run, at the same time or
# not, and save this file, one by the command, the other by the module; so often
# people are told that they did.
saved_by() {
    rm -rf tunepipe-experiments
    experiment "trialConcurrency: $2" 'maxTrialNumber: 2' << E
if [ \$TUNEPIPE_TRIAL_ID = 00000 ]; then
    [ $2 = 1 ] || echo > "\$HERE/meet"
    file=$3
    : > "\$file" && tunepipe trial report 1 --checkpoint "\$file" || exit 1
    exec tunepipe trial report --final 1
fi
[ $2 = 1 ] || read -r both < "\$HERE/meet"
exec python3 -c 'import os, tunepipe
file = $4
open(file, "w").close()
tunepipe.report(1, checkpoint=file)
tunepipe.final(1)'
E
    run 0 && count 2 succeeded || return 1
    [ "$(grep -c 'saved checkpoints of the same file' err)" = "$1" ] ||
        fail "$3: $(cat err)"
}

of_the_same_file() {
    command -v python3 > python || { echo 'no Python'; return 77; }
    mkfifo meet && ln -s "$PWD" link || return 1
    saved_by 1 2 model '"link/model"' &&
        has err " of the same file, $(pwd -P)/model: one may hold what the" &&
        has err 'write it into $TUNEPIPE_TRIAL_DIR' || return 1
    saved_by 0 1 model '"model"' &&
        saved_by 0 2 'model-$TUNEPIPE_TRIAL_ID' '"model-other"' &&
        saved_by 0 2 '$TUNEPIPE_TRIAL_DIR/model' \
            'os.path.join(tunepipe.trial_dir(), "model")' &&
        [ ! -e "$dir/trials/00000/saved-from" ] &&
        [ ! -e "$dir/trials/00001/saved-from" ]
}
check "checkpoints of a file that trials share" of_the_same_file

finish
