#!/bin/sh
# SPDX-License-Identifier: MIT
# What a trial's folder holds while it runs, and what is left of it.
. "$(dirname "$0")/lib.sh"

holds() { # ID NAME...: what the trial saw, and nothing else
    id=$1
    shift
    printf '%s\n' "$@" | sort > want
    LC_ALL=C sort "seen$id" > got
    LC_ALL=C sort want | cmp -s - got ||
        fail "trial $id has $(tr '\n' ' ' < "seen$id")"
}

left() { # ID NAME...
    ls -A "$dir/trials/$1" > "seen$1" && holds "$@"
}

# The first report shows that none is waited for.
quiet() {
    experiment 'maxTrialNumber: 3' << 'E'
tunepipe trial report 1
while [ -e "$TUNEPIPE_TRIAL_DIR/answers" ]; do :; done
ls -A "$TUNEPIPE_TRIAL_DIR" > "seen$TUNEPIPE_TRIAL_ID"
tunepipe trial report --final 2
E
    run 0 && replays || return 1
    for id in 00000 00002; do
        holds $id metrics parameters.json parameters.tsv stderr stdout \
            wrapper.pid && left $id exit metrics parameters.json \
            parameters.tsv || return 1
    done
    ls -A "$dir" > files && lacks files lease
}
check "a trial that reports and prints nothing" quiet

waits() {
    experiment 'maxTrialNumber: 2' << 'E'
tunepipe trial report --sync 1
ls -A "$TUNEPIPE_TRIAL_DIR" > "seen$TUNEPIPE_TRIAL_ID"
echo printed
tunepipe trial report --final 2
E
    run 0 && replays || return 1
    for id in 00000 00001; do
        holds $id answers metrics parameters.json parameters.tsv stderr \
            stdout wrapper.pid && left $id exit metrics parameters.json \
            parameters.tsv stdout || return 1
    done
}
check "a trial that waits for answers" waits

# The first report of the second trial finds no place for an answer.
waits_later() {
    experiment 'maxTrialNumber: 2' << 'E'
[ "$TUNEPIPE_TRIAL_ID" = 00000 ] && exec tunepipe trial report --final 1
tunepipe trial report --sync 1
until [ -e "$TUNEPIPE_TRIAL_DIR/answers" ]; do :; done
tunepipe trial report --sync 2
tunepipe trial report --final 2
E
    run 0 && count 2 succeeded && replays && "$T" log "$dir" > log &&
        [ "$(grep -c '"sync": true, ' log)" = 1 ] || fail "$(grep ME log)"
}
check "a trial that waits where none did" waits_later

nni() {
    command -v python3 > python || { echo 'no Python'; return 77; }
    cat > made.py << 'E'
import os
folder = os.environ["NNI_SYS_DIR"]
os.makedirs(folder + "/.n" + "ni", exist_ok=True)
with open(folder + "/.n" + "ni/metrics", "ab") as metrics:
    while not os.path.exists(folder + "/parameter" + ".cfg"):
        pass
    text = b'{"type": "FINAL", "sequence": 0, "value": "3"}'
    metrics.write(b"ME%06d%s" % (len(text), text))
E
    experiment 'maxTrialNumber: 2' 'trialConcurrency: 1' << 'E'
python3 made.py
E
    run 0 && count 2 succeeded && replays && left 00001 .nni exit \
        parameter.cfg parameters.json parameters.tsv
}
check "NNI's files from when a trial makes .nni on" nni

kept_to() {
    experiment 'maxTrialNumber: 1' 'maxTrialOutput: 64k' << 'E'
echo begin
i=0
while [ $i -lt 3000 ]; do
    echo "$i is one of many lines that are between the first and the last one"
    i=$((i + 1))
done
echo end
tunepipe trial report --final 1
E
    run 0 || return 1
    [ "$(du -k "$dir/trials/00000/stdout" | cut -f 1)" -le 72 ] ||
        fail "$(du -k "$dir/trials/00000/stdout")" || return 1
    "$T" trial output "$dir" 0 > out 2> err && [ "$(head -n 1 out)" = begin ] &&
        [ "$(tail -n 1 out)" = end ] && has out 'bytes: see maxTrialOutput' &&
        [ "$(wc -c < out)" -lt 74000 ] || fail "$(head -c 300 out)" || return 1
    "$T" trial output "$dir" 0 --stderr > out && [ ! -s out ]
}
check "output beyond maxTrialOutput" kept_to

plain() {
    cat > prog << 'E'
#!/bin/sh
echo "$PWD" "$@" > "$HERE/said"
exec tunepipe trial report --final 1
E
    chmod +x prog
    many="./prog $(seq -s ' ' 300)"
    for command in ./prog "./prog a=1 'b  c'" "$many" './prog; true' \
        ./nosuch 'exit 3'; do
        rm -rf tunepipe-experiments said
        experiment 'maxTrialNumber: 1' < /dev/null
        sed -i "s|^trialCommand.*|trialCommand: \"$command\"|" e.yml
        HERE=$PWD "$T" run e.yml > out 2> err
        dir=$(ls -d tunepipe-experiments/*)
        case $command in
        ./nosuch) has out 'exit status 127' && has out 'nosuch: not found' ;;
        exit*) has out 'exit status 3' ;;
        *a=1*) has said "$PWD a=1 b  c" ;;
        *300) has said "$PWD 1 2 " && has said ' 299 300' ;;
        *) has said "$PWD" ;;
        esac || return 1
        shell=$(tr '\0' '\n' < "$dir/trials/00000/exit" | grep -c '^/bin/sh$')
        case $command in
        *';'* | *nosuch | exit*) [ "$shell" = 1 ] ;;
        *) [ "$shell" = 0 ] ;;
        esac || fail "$command: a shell, or none" || return 1
    done
}
check "a command that needs no shell" plain

finish
