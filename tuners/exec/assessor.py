#!/usr/bin/env python3
"""An assessor as a program: stops what is worse than the median at its step,
by the first objective where there are several.
assessor: {name: exec, classArgs: {command: [python3, assessor.py]}}
PROTOCOL.md, "Programs", says what comes and what is expected."""
import json, os, statistics, sys

START = 3  # reports of a trial before it may be stopped
one = {"name": "default", "direction": os.environ.get("TUNEPIPE_DIRECTION")}
several = json.loads(os.environ.get("TUNEPIPE_OBJECTIVES_JSON", "{}"))
first = several.get("objectives", [one])[0]
sign = -1 if first["direction"] == "minimize" else 1
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
    value = sign * (value[first["name"]] if isinstance(value, dict) else value)
    others = steps.setdefault(metric["sequence"], [])
    stop = metric["sequence"] >= START and value < statistics.median(others or [value])
    others.append(value)
    if metric.get("sync"):  # the trial waits for an answer
        answer = {key: metric[key] for key in ("trial_job_id", "sequence")}
        send(b"AK", {**answer, "decision": "stop" if stop else "go"})
    elif stop:
        send(b"KI", metric["trial_job_id"])
