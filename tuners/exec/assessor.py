#!/usr/bin/env python3
"""An assessor as a program: stops what is worse than the median at its step,
of several objectives by assessor.objective, else by the first.
assessor: {name: exec, classArgs: {command: [python3, assessor.py]}}
PROTOCOL.md, "Programs", says what comes and what is expected."""
import json, math, os, statistics, sys

START = 3  # reports of a trial before it may be stopped
one = {"name": "default", "direction": os.environ.get("TUNEPIPE_DIRECTION")}
several = json.loads(os.environ.get("TUNEPIPE_OBJECTIVES_JSON", "{}"))
objectives = several.get("objectives", [one])
name = os.environ.get("TUNEPIPE_ASSESSOR_OBJECTIVE", objectives[0]["name"])
if name == "rank":
    sys.exit("assessor.py judges one objective, expected its name, not rank")
judged = next(one for one in objectives if one["name"] == name)
sign = -1 if judged["direction"] == "minimize" else 1
steps = {}  # step -> the values that trials had there

def receive():
    head = sys.stdin.buffer.read(16)  # two letters, fourteen digits
    return (head[:2], sys.stdin.buffer.read(int(head[2:]))) if head else (b"TE", b"")

def send(code, payload):
    payload = json.dumps(payload).encode()
    sys.stdout.buffer.write(b"%s%014d%s" % (code, len(payload), payload))
    sys.stdout.buffer.flush()

for code, payload in iter(receive, (b"TE", b"")):
    if code != b"ME":
        continue  # EN: the trial has ended
    metric = json.loads(payload)
    value = json.loads(metric["value"])  # JSON inside JSON
    value = value.get(name, math.nan) if isinstance(value, dict) else value
    others = steps.setdefault(metric["sequence"], [])
    stop = (metric["sequence"] >= START and bool(others)
            and sign * value < statistics.median(others))
    if not math.isnan(value):  # a report may lack some of several values
        others.append(sign * value)
    if metric.get("sync"):  # the trial waits for an answer
        answer = {key: metric[key] for key in ("trial_job_id", "sequence")}
        send(b"AK", {**answer, "decision": "stop" if stop else "go"})
    elif stop:
        send(b"KI", metric["trial_job_id"])
