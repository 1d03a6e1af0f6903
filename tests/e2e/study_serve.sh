#!/bin/sh
# SPDX-License-Identifier: MIT
# The server of a study, asked line by line (tests/programs/study_client.py):
# who is given which trial, what is kept, whoever is killed.
# not under tsan
. "$(dirname "$0")/lib.sh"

# study LINE...: study.yml with these keys.
study() {
    {
        case "$*" in *searchSpace*) ;; *)
            echo 'searchSpace: {x: {_type: uniform, _value: [0, 1]},' \
                'n: {_type: randint, _value: [8, 129]}}' ;;
        esac
        printf '%s\n' 'direction: minimize' 'seed: 1' "$@"
    } > study.yml
}

# client ARGUMENT... < PROGRAM: one in Python with the class Client; its words
# are in said.  Its assertions are the test's.
client() {
    command -v python3 > missing || { echo 'no python3'; return 77; }
    { echo 'from study_client import *; import sys'; cat; } > client.py
    PYTHONPATH=$TP_SOURCE/tests/programs PYTHONDONTWRITEBYTECODE=1 \
        python3 client.py "$@" > said 2>&1 || fail "$(cat said)"
}

# over [FOLDER]: its server has ended, its log replays.
over() {
    dir=${1:-study}
    until flock -n "$dir/experiment.json" true; do sleep 0.02; done
    "$T" show --json "$dir" > show.json && replays
}

asks() {
    study
    client << 'E' && over && count 2 succeeded && count 1 failed &&
c = Client("study", "--config", "study.yml")
for i in range(2):
    trial = c("ask")
    assert trial["trial"] == i and isinstance(trial["parameters"]["n"], int)
    assert c("report", trial=i, value=2.5) == {"stop": "go"}
    assert c("look", trial=i) == {"stop": "go"}
    assert c("tell", trial=i, value=trial["parameters"]["x"]) == {}
c("tell", trial="%05d" % c("ask", id=7)["trial"], failed="no\nroom")
assert c.try_("status", id=7)["id"] == 7
E
        has show.json '"why": "no room"' && has show.json '"intermediates": 1' &&
        [ "$(ls study/trials | wc -l)" = 0 ] || fail "$(cat show.json; ls study/trials)"
}
check "trials are asked for, reported on and told" asks

mistakes() {
    study 'maxTrialNumber: 3'
    client << 'E' && over && count 1 succeeded && count 2 failed
c = Client("study", "--config", "study.yml")
def wrong(text, command, **keys):
    said = c.try_(command, **keys)
    assert said.get("error", "").startswith(text), (text, said)
wrong("trial 00000: there is none, 0 have come", "tell", trial=0, value=1)
c("ask", n=3); c.receive(); c.receive()
wrong("value: expected a number, not a string", "tell", trial=0, value="one")
wrong("value: expected a number, not null", "report", trial=0, value=None)
wrong("value: expected a number as its member \"default\"", "report", trial=0,
      value={"loss": 1})
wrong("trial: expected its number", "tell", trial="0x", value=1)
wrong("sequence: expected an integer from 0 to 0", "report", trial=0, value=1,
      sequence=1)
wrong("expected a value, or failed", "tell", trial=0, value=1, failed="")
wrong("n: expected an integer from 1 to 1000", "ask", n=0)
wrong("id: expected an integer", "ask", id="a")
wrong("tell: no member 'valeu' (did you mean 'value'?)", "tell", valeu=1)
c("tell", trial=0, value="NaN")
wrong("trial 00000 has ended (succeeded with nan)", "tell", trial=0, value=2)
for trial in 0, "00000":
    assert c("tell", trial=trial, value="NaN", again=True) == {} # once more
wrong("trials: expected an array of trials' numbers", "release", trials=["1"])
wrong("trial 00000 has ended", "tell", trial=0, value=2, again=True)
wrong("trial 00000 has ended", "tell", trial=0, failed="", again=True)
c("tell", trial=1)
c("tell", trial=2, failed="")
said = c.try_("ask")
assert said == {"over": True,
                "error": "maxTrialNumber: all 3 trials were given out"}, said
E
}
check "a mistake costs itself" mistakes

# A reported value is judged once, whoever dies in between.
server_dies() {
    study
    client << 'E' && over && count 3 succeeded && count 0 failed
c = Client("study", "--config", "study.yml")
c("ask"); c("ask", detached=True); c("ask")
c("report", trial=0, value=1)
c("tell", trial=2, value=2)
c.kill_server()
d = Client("study")
assert d("report", trial=0, value=1, sequence=0) == {"stop": "go"}
assert d("report", trial=0, value=2, sequence=1) == {"stop": "go"}
d.kill_server()
e = Client("study")
assert e("tell", trial=2, value=2, again=True) == {}
e("tell", trial=1, value=3)
e("tell", trial=0, value=4)
E
    has show.json '"intermediates": 2' || return 1
    [ "$("$T" log study | grep -c '"FINAL"')" = 3 ] ||
        fail "$("$T" log study | grep FINAL)"
}
check "a server that dies loses nothing, and doubles nothing" server_dies

# What is said of a trial when its server has been told to end is not refused:
# the next one answers it.
server_ends() {
    study
    client << 'E' && over && count 2 succeeded
import signal
c = Client("study", "--config", "study.yml")
x = c("ask")["parameters"]["x"]
c("ask")
with open("study/dispatcher.pid") as file:
    dispatcher = int(file.read().split()[0])
os.kill(dispatcher, signal.SIGSTOP)
os.kill(manager("study"), signal.SIGTERM)
c.send("report", trial=0, value=2.5, sequence=0, id=1)
c.send("look", trial=0, id=2)
c.send("tell", trial=0, value=x, id=3)
c.send("release", trials=[1])
for id in 4, 5:
    c.send("status", id=id)
assert [c.receive()["id"] for _ in range(2)] == [4, 5]
os.kill(dispatcher, signal.SIGCONT)
assert c.file.readline() == ""
c = Client("study")
assert c("report", trial=0, value=2.5, sequence=0) == {"stop": "go"}
assert c("tell", trial=0, value=x, again=True) == {}
c("release", trials=[1])
trial = c("ask")
assert (trial["trial"], trial["attempt"]) == (1, 1), trial
c("tell", trial=1, value=x)
E
}
check "a server that ends leaves its trials to the next one" server_ends

dispatcher_dies() {
    study
    client << 'E' && over && count 2 succeeded &&
c = Client("study", "--config", "study.yml")
for i in range(2):
    c("ask")
    with open("study/dispatcher.pid") as file:
        os.kill(int(file.read().split()[0]), 9)
    c("report", trial=i, value=1)
    c("tell", trial=i, value=i)
E
        [ "$(grep -c 'the dispatcher died' study/server.log)" = 2 ] ||
        fail "$(cat study/server.log)"
}
check "a dispatcher that dies is started again, and that is told" dispatcher_dies

# What a process had asked for is the next one's when it is gone, or says so.
given_again() {
    study
    client << 'E' && over && count 1 succeeded
c = Client("study", "--config", "study.yml")
child = os.fork()
if child == 0:
    Client("study")("ask")
    os._exit(0)
os.waitpid(child, 0)
trial = c("ask")
assert (trial["trial"], trial["attempt"]) == (0, 1), trial
c("release", trials=[0])
trial = c("ask")
assert (trial["trial"], trial["attempt"]) == (0, 2), trial
c.kill_server() # while which the other one dies
child = os.fork()
if child == 0:
    other = Client("study")
    assert other("ask")["trial"] == 1
    other.kill_server()
    os._exit(0)
os.waitpid(child, 0)
c = Client("study")
trial = c("ask")
assert trial["trial"] == 1, trial
c("tell", trial=0, value=1)
c("leave")
said = c.try_("tell", trial=1, value=1)
assert "given back" in said["error"], said
E
}
check "a trial whose process has gone is given to another" given_again

# Several clients of a process are told apart, over a death, too; by who knows
# of no such numbers they are not.
clients_apart() {
    study
    client << 'E' && over && count 3 succeeded
c = Client("study", "--config", "study.yml")
d = Client("study")
for number, one in enumerate((c, d, d)):
    assert one("ask", client=1 + (one is d))["trial"] == number
d.kill_server()
d = Client("study")
d("release", client=2, but=[1]) # the answer to its second ask was lost
trial = d("ask", client=2)
assert (trial["trial"], trial["attempt"]) == (2, 1), trial
d("leave", client=2)
c = Client("study")
for number, attempt in (1, 1), (2, 2):
    trial = c("ask", client=1)
    assert (trial["trial"], trial["attempt"]) == (number, attempt), trial
c("tell", trial=0, value=0, attempt=0)
c.kill_server()
with open("study/asked") as file: # as it was before there were numbers
    lines = [line.split()[:4] for line in file if line.strip()]
with open("study/asked", "w") as file:
    file.write("".join("\n" + " ".join(line) for line in lines))
c = Client("study")
c("release", client=1)
c("tell", trial=1, value=1)
c("release")
assert c.try_("look", trial=2)["gone"]
c("tell", trial=c("ask")["trial"], value=2)
E
}
check "clients of one process have trials of their own" clients_apart

# Who has given a trial back, or was taken for dead, has no say any more.
attempts() {
    study
    client << 'E' && over && count 1 succeeded && has show.json '"value": 1.0'
c = Client("study", "--config", "study.yml")
c("ask")
c("release", trials=[0])
d = Client("study")
assert d("ask")["attempt"] == 1
for command, keys in (("report", {"value": 5}), ("look", {}), ("tell", {}),
                      ("saved", {"number": 1}),
                      ("tell", {"value": 5, "again": True}),
                      ("tell", {"failed": ""})):
    said = c.try_(command, trial=0, attempt=0, **keys)
    assert said == {"gone": True, "error": "trial 00000: attempt 0 was given "
                    "back, attempt 1 is another's"}, said
d.kill_server()
d = Client("study")
assert d("report", trial=0, attempt=1, value=2) == {"stop": "go"}
assert "gone" not in d.try_("tell", trial=0, attempt=1, value="x")
assert "attempt: expected" in d.try_("look", trial=0, attempt=-1)["error"]
d("tell", trial=0, attempt=1, value=1)
assert d.try_("tell", trial=0, value=1)["gone"]
assert "gone" not in d.try_("tell", trial=1, value=1)
E
}
check "a trial is told by the attempt that it runs as" attempts

# What is asked for, given and given back in one breath is not given twice.
pipelined() {
    study
    client << 'E' && over && count 1 succeeded
c = Client("study", "--config", "study.yml")
c.file.write('{"command": "ask", "id": 1}\n{"command": "add", "id": 2, '
             '"parameters": [{"x": 0.5}]}\n{"command": "release", "id": 3}\n')
c.file.flush()
said = {one["id"]: one["answer"] for one in (c.receive() for _ in range(3))}
assert c("tell", trial=said[1]["trial"], attempt=said[1]["attempt"],
         value=0.5) == {}
E
}
check "what is asked for and given back at once" pipelined

# Who has lost the answer adds once more, under the same tag.
added_once() {
    study
    client << 'E' && over && count 4 succeeded
c = Client("study", "--config", "study.yml")
one, other, third = {"x": 0.5}, {"x": 0.25}, {"x": 0.75}
assert c("add", parameters=[one], tag="a")["trials"] == ["00000"]
assert c("add", parameters=[one], tag="b", again=True)["trials"] == ["00001"]
c("ask")
c("tell", trial=0, value=0.5)
c.kill_server()
c = Client("study")
for i in range(2):
    assert c("add", parameters=[one], tag="a", again=True)["trials"] == ["00000"]
# A part of it was kept.
for i in range(2):
    said = c("add", parameters=[one, other, third], tag="b", again=True)
    assert said["trials"] == ["00001", "00002", "00003"], said
for value in 0.5, 0.25, 0.75:
    trial = c("ask")
    assert trial["parameters"]["x"] == value, trial
    c("tell", trial=trial["trial"], value=value)
assert "tag: " in c.try_("add", parameters=[one], tag=1)["error"]
E
}
check "what is added once more is there once" added_once

# Once more than it may fail, whoever dies in between.
retried() {
    study 'onFailure: {retry: 2, backoff: 0.1s}' 'maxTrialNumber: 1'
    client << 'E' && over && count 1 failed && has show.json '"why": "no 2"'
c = Client("study", "--config", "study.yml")
for attempt in range(3):
    trial = c("ask", detached=True)
    assert (trial["trial"], trial["attempt"]) == (0, attempt), trial
    c("tell", trial=0, failed="no %d" % attempt)
    if attempt < 2:
        c.kill_server()
        c = Client("study")
assert c.try_("ask")["over"]
E
}
check "a trial is tried again as often as it may, over a death, too" retried

# It is told to stop, and ends when it likes to.
stopped() {
    study "assessor: {plugin: $PLUGINS/stops_at.so, classArgs: {step: 2}}"
    client << 'E' && over && count 2 stopped && has show.json '"latest": 2.0'
c = Client("study", "--config", "study.yml")
for i in range(2):
    c("ask")
    assert c("report", trial=i, value=1) == {"stop": "go"}
    assert c("report", trial=i, value=2) == {"stop": "stop"}
    assert c("look", trial=i) == {"stop": "stop"}
    if i == 1: # and whoever comes next knows of it
        c.kill_server()
        c = Client("study")
        assert c("look", trial=i) == {"stop": "stop"}
    c("tell", trial=i) if i == 0 else c("leave") # it need not say so
E
}
check "an assessor's word reaches who asks" stopped

# An advisor's trials have budgets, and go on from each other's checkpoints.
promoted() {
    study "tuner: {plugin: $PLUGINS/advisor.so, classArgs: {budget: 3}}"
    client << 'E' && over && count 3 paused && count 1 succeeded
c = Client("study", "--config", "study.yml")
def save(trial, text):
    home = os.path.dirname(trial["checkpoint_dir"])
    os.makedirs(os.path.join(home, "draft"), 0o700)
    with open(os.path.join(home, "draft", "model"), "w") as file:
        file.write(text)
    os.rename(os.path.join(home, "draft"), os.path.join(home, "1"))
    c("saved", trial=trial["trial"], number=1)
for i in range(3):
    trial = c("ask")
    assert trial["budget"] == 1 and "restore_dir" not in trial, trial
    assert c("report", trial=i, value=-i) == {"stop": "pause"}
    save(trial, str(i))
    c("tell", trial=i)
trial = c("ask")
assert (trial["budget"], trial["step"]) == (3, 1), trial
with open(os.path.join(trial["restore_dir"], "model")) as file:
    assert file.read() == "0"
c.kill_server()
c = Client("study")
assert c("report", trial=3, value=5) == {"stop": "go"}
assert c("report", trial=3, value=7) == {"stop": "finish"}
c("tell", trial=3, value=7)
E
}
check "trials of an advisor go on from checkpoints" promoted

# Of many who begin a server one does; each number is given once.
many() {
    study
    client << 'E' && over && count 1000 succeeded
serve("study", "--config", "study.yml")
os.kill(manager("study"), 9)
def work():
    c = Client("study")
    for i in range(250):
        trial = c("ask")
        assert trial["attempt"] == 0, trial
        c("tell", trial=trial["trial"], value=trial["parameters"]["x"])
    c("leave")
children = []
for i in range(4):
    children.append(os.fork())
    if children[-1] == 0:
        work()
        os._exit(0)
for child in children:
    assert os.waitpid(child, 0)[1] == 0
E
    [ "$(cut -d' ' -f1 study/asked | sort -u | grep -c .)" = 1000 ] ||
        fail 'a number twice'
}
check "four processes share a study" many

# More than are let into an experiment, and none is dropped while it waits.
crowd() {
    study
    client << 'E' && over && count 100 succeeded
first = Client("study", "--config", "study.yml")
first("pause")
others = [Client("study", begin=False) for i in range(100)]
for one in others:
    one.send("ask", id=1)
    assert one.try_("status", id=2)["id"] == 2
first("continue")
trials = [one.receive()["answer"]["trial"] for one in others]
assert sorted(trials) == list(range(100)), trials
for one, trial in zip(others, trials):
    one("tell", trial=trial, value=trial)
E
}
check "a hundred clients wait for trials at a time" crowd

# The same again: whoever asks, what is told decides.
same() {
    study
    for i in 1 2; do
        client "s$i" << 'E' && over "s$i" || return 1
c = Client(sys.argv[1], "--config", "study.yml")
for i in range(30):
    trial = c("ask")
    print(trial["parameters"])
    c("tell", trial=i, value=trial["parameters"]["x"])
    if i == 15 and sys.argv[1] == "s2":
        c.kill_server()
        c = Client(sys.argv[1])
E
        mv said "said.$i"
    done
    cmp said.1 said.2
}
check "the same seed gives the same trials, over a death, too" same

# refused STATUS TEXT DIR [OPTION...]
refused() {
    want=$1 text=$2
    shift 2
    "$T" study "$@" --serve > out 2> err
    got=$?
    [ "$got" = "$want" ] || fail "status $got, expected $want: $(cat err)" || return
    [ -z "$text" ] || has err "$text"
}

no_study() {
    study
    refused 3 'there is no study yet' none && [ ! -e none ] &&
        refused 0 '' study --config study.yml &&
        refused 0 '' study --config study.yml || return
    sed 's/_value: \[0, 1\]/_value: [0, 2]/' study.yml > other.yml
    refused 3 'is a study with another searchSpace' study --config other.yml &&
        sed 's/seed: 1/seed: 2/' study.yml > other.yml &&
        refused 3 'is a study with another seed' study --config other.yml &&
        sed 's/minimize/maximise/' study.yml > other.yml &&
        refused 3 "got 'maximise'" new --config other.yml &&
        [ ! -e new ] || return
    { cat study.yml; echo 'tuner: {name: tpe, classArgs: {gama: 1}}'; } > other.yml
    refused 3 'gama' new --config other.yml && [ ! -e new ] || return
    { cat study.yml; echo 'prepareCommand: "true"'; } > other.yml
    refused 3 "prepareCommand: is not supported by trainingService.platform 'client'" \
        new --config other.yml && [ ! -e new ] || return
    mkdir full && touch full/file
    refused 3 'is no study, and not empty' full --config study.yml || return
    "$T" stop study > out 2>&1
    over
}
check "what is no study, or another one" no_study

# Whose server is killed while it starts begins another one, but not for ever.
killed_at_start() {
    command -v python3 > missing || { echo 'no python3'; return 77; }
    cat > tuner.sh << 'E'
[ -e killed ] || { : > killed; kill -KILL "$(cat study/manager.pid)"; }
exec python3 "$TUNER"
E
    TUNER=$TP_SOURCE/tuners/exec/tuner.py
    export TUNER
    study "tuner: {name: exec, classArgs: {command: [sh, tuner.sh]}}"
    refused 0 '' study --config study.yml && [ -e killed ] &&
        "$T" ask study > out && "$T" tell study 0 1 && "$T" stop study > out &&
        over && count 1 succeeded || return
    KILL_AT=5 preloaded killat "$T" study study --serve > out 2> err
    got=$?
    [ "$got" = 1 ] || fail "status $got" || return
    has err 'study: 5 servers were started, and each was ended before it could'
}
check "a server that is killed while it starts is replaced" killed_at_start

# A manager that runs its own trials gives none away.
other_manager() {
    experiment 'maxTrialNumber: 1' << 'E'
tunepipe study "$TUNEPIPE_EXPERIMENT_DIR" --serve 2> "$HERE/refused"
tunepipe trial report --final 1
E
    run 0 && has refused 'is no study: its manager runs its trials'
}
check "an experiment that runs its trials is no study" other_manager

# Who waits when it is stopped is told so; of a signal's the next server's.
ended_by() {
    study
    client << 'E' && over
c = Client("study", "--config", "study.yml")
c("ask", detached=True)
c("pause")
c.send("ask", id=1)
subprocess.run([TUNEPIPE, "stop", "study"], check=True)
why = "the study was stopped by `tunepipe stop`"
assert c.receive() == {"error": why, "stopped": True}
assert c.receive() == {"error": why, "id": 1}
assert c.file.readline() == ""
c = Client("study")
c("pause")
c.send("ask", id=1)
assert c.try_("status", id=2)["id"] == 2
os.kill(manager("study"), 15)
assert c.file.readline() == ""
E
}
check "who waits for a trial is told that the study was stopped" ended_by

# Who only looks does not keep the server, and hears of its end.
watched() {
    study 'maxTrialNumber: 1'
    client << 'E' && over && count 1 succeeded
c = Client("study", "--config", "study.yml")
looks = Client("study", begin=False)
looks.send("wait", event="experiment.ended", id=1)
assert looks.try_("status", id=2)["id"] == 2
c("tell", trial=c("ask")["trial"], value=1)
c.close()
said = looks.receive()
assert said["answer"]["event"] == "experiment.ended", said
assert said["answer"]["why"] == "finished: 1 trials", said
E
}
check "who waits for its end does not keep a study" watched

in_front() {
    study
    client << 'E' && over && count 1 succeeded
server = subprocess.Popen([TUNEPIPE, "study", "study", "--foreground",
                           "--config", "study.yml"], stderr=subprocess.DEVNULL)
while not os.path.exists("study/asked"):
    pass
c = Client("study")
c("tell", trial=c("ask")["trial"], value=1)
assert manager("study") == server.pid
c("leave")
c.close()
assert server.wait() == 0
E
}
check "a server in the foreground ends when nobody uses it" in_front

# A connection outlives the process that made it where a child has it, too.
parent_gone() {
    study
    client << 'E' && over && count 1 succeeded
serve("study", "--config", "study.yml")
gone, ends = os.pipe()
answer, says = os.pipe()
parent = os.fork()
if parent == 0:
    me, c = os.getpid(), Client("study", begin=False)
    if os.fork() == 0:
        os.close(ends)
        os.read(gone, 1)
        os.write(says, json.dumps([me, c.try_("ask")]).encode())
    os._exit(0)
os.waitpid(parent, 0)
c = Client("study", begin=False)
os.close(ends)
pid, said = json.loads(os.read(answer, 1000))
assert said == {"error": "process %d has gone" % pid}, said
c("tell", trial=c("ask")["trial"], value=1)
E
}
check "who asks for a process that has gone is refused, and delays nobody" \
    parent_gone

# Its words are lost where no file can have them.
no_log() {
    study
    mkdir other
    client << 'E' && over && count 1 succeeded && [ ! -e other/log ]
c = Client("study", "--config", "study.yml")
c("ask", detached=True)
for make in [os.mkdir, os.mkfifo, lambda path: os.symlink("../other/log", path)]:
    c.kill_server()
    if os.path.isdir("study/server.log"):
        os.rmdir("study/server.log")
    else:
        os.remove("study/server.log")
    make("study/server.log")
    c = Client("study")
    c("status")
c("tell", trial=0, value=1)
E
}
check "a server does without a log" no_log

# What stands in a file's place is told of, and nobody waits for it.
in_the_way() {
    study
    client << 'E' && over && count 1 succeeded
c = Client("study", "--config", "study.yml")
c("ask", detached=True)
def refused(path, make, remove, why):
    c.kill_server()
    os.rename(path, "kept")
    make(path)
    said = subprocess.run([TUNEPIPE, "study", "study", "--serve"],
                          stderr=subprocess.PIPE)
    assert said.returncode == 1 and why in said.stderr, said
    remove(path)
    os.rename("kept", path)
refused("study/asked", os.mkfifo, os.remove, b"/asked: cannot open")
c = Client("study")
c("status")
refused("study/control", os.mkdir, os.rmdir, b"/control: cannot make the sock")
c = Client("study")
c("status")
refused("study/dispatcher.log", lambda path: os.symlink("/dev/null", path),
        os.remove, b"/dispatcher.log: cannot open")
c = Client("study")
os.mkfifo("study/added.jsonl")
assert "added.jsonl" in c.try_("add", parameters=[{"x": 0.5}])["error"]
os.remove("study/added.jsonl")
c("tell", trial=0, value=1)
E
}
check "a server that cannot have its files tells so" in_the_way

# 100,000 asks of one who goes keep nobody waiting.
many_asks() {
    study
    client << 'E' && over && count 1 succeeded
c = Client("study", "--config", "study.yml")
c("pause")
for i in range(100):
    c.send("ask", n=1000)
c("status")
other = Client("study")
c.close()
other.socket.settimeout(60)
other("status")
other("continue")
other("tell", trial=other("ask")["trial"], value=1)
E
}
check "one who leaves thousands of asks behind keeps nobody waiting" many_asks

finish
