#!/bin/sh
# SPDX-License-Identifier: MIT
# A study through kill -9 of its clients, its server and its dispatcher: what
# was told is kept, once.  STUDY_KILLS=N of them, at moments of STUDY_SEED.
# not under tsan
. "$(dirname "$0")/lib.sh"

cat > "$work/client.py" << 'E'
import os
import sys
import tunepipe

told = os.open("told", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
study = tunepipe.Study.connect("study")
while not os.path.exists("enough"):
    trial = study.ask()
    value = trial["x"] + trial.attempt
    for i in range(trial.number % 3):
        trial.report(value + i)
    study.tell(trial, value)
    os.write(told, b"%d %r\n" % (trial.number, value))
study.close()
E

cat > "$work/killer.py" << 'E'
import collections
import json
import os
import random
import subprocess
import sys
import time
import tunepipe

kills, seed = int(sys.argv[1]), int(sys.argv[2])
rng = random.Random(seed)
clients = []


def lines(path):
    try:
        with open(path) as file:
            return file.read().splitlines()
    except FileNotFoundError:
        return []


def start():
    clients.append(subprocess.Popen([sys.executable, sys.argv[3]]))


def kill(pid):
    try:
        os.kill(pid, 9)
    except ProcessLookupError:
        pass  # somebody was faster


tunepipe.Study({"x": tunepipe.uniform(0, 1)}, tuner="random", seed=seed,
               folder="study").close()
for _ in range(3):
    start()
for _ in range(kills):
    enough = len(lines("told")) + rng.randint(1, 6)
    while len(lines("told")) < enough:
        for client in clients:
            assert client.poll() is None, "a client gave up"
        time.sleep(0.002)
    whom = rng.choice(["client", "manager.pid", "dispatcher.pid"])
    if whom == "client":
        client = clients.pop(rng.randrange(3))
        client.kill()
        client.wait()
        start()
    else:
        for text in lines(os.path.join("study", whom))[:1]:
            kill(int(text.split()[0]))
open("enough", "w").close()
for client in clients:
    assert client.wait() == 0

results = collections.Counter()
values = {}
for line in lines("study/results.jsonl"):
    result = json.loads(line)
    results[int(result["trial"])] += 1
    values[int(result["trial"])] = result["value"]
told = [line.split() for line in lines("told")]
for number, value in told:
    assert values.get(int(number)) == float(value), (number, value)
assert max(collections.Counter(number for number, _ in told).values()) == 1
assert max(results.values()) == 1, results.most_common(3)
E

kills() {
    command -v python3 > missing || { echo 'no python3'; return 77; }
    PYTHONPATH=$TP_SOURCE/src/python PYTHONDONTWRITEBYTECODE=1 \
        TUNEPIPE_PROGRAM=$T python3 "$work/killer.py" "${STUDY_KILLS:-8}" \
        "${STUDY_SEED:-1}" "$work/client.py" > out 2> err ||
        fail "$(tail -n 3 err)" || return
    dir=study
    until flock -n study/experiment.json true; do sleep 0.02; done
    replays && "$T" log study > log || return
    twice=$(sed -n 's/.*ME{.*"trial_job_id": "\([0-9]*\)".*"FINAL".*/\1/p' log |
        sort | uniq -d)
    [ -z "$twice" ] || fail "told twice: $twice"
}
check "what was told is kept once, whoever is killed" kills

finish
