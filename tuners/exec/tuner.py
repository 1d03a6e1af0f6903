#!/usr/bin/env python3
"""A tuner as a program: random search, and the best so far on stderr, as stdout
is for frames alone.
tuner: {name: exec, classArgs: {command: [python3, tuner.py]}}
PROTOCOL.md, "Programs", says what comes and what is expected."""
import itertools, json, math, os, random, sys

rng = random.Random(int(os.environ.get("TUNEPIPE_SEED", "0")))
better = min if os.environ.get("TUNEPIPE_DIRECTION") == "minimize" else max
space, ids, best = {}, itertools.count(), math.inf if better is min else -math.inf

def receive():
    head = sys.stdin.buffer.read(16)  # two letters, fourteen digits
    return (head[:2], sys.stdin.buffer.read(int(head[2:]))) if head else (b"TE", b"")

def send(code, payload=b""):
    sys.stdout.buffer.write(b"%s%014d%s" % (code, len(payload), payload))
    sys.stdout.buffer.flush()

def draw(kind, value):
    if kind in ("choice", "randint"):
        return rng.choice(value if kind == "choice" else range(*value))
    a, b, *q = value
    a, b = (math.log(a), math.log(b)) if "loguniform" in kind else (a, b)
    x = rng.gauss(a, b) if "normal" in kind else rng.uniform(a, b)
    x = math.exp(x) if "log" in kind else x
    return round(x / q[0]) * q[0] if q else x

for code, payload in iter(receive, (b"TE", b"")):
    if code in (b"IN", b"SS"):
        space = json.loads(payload)
        if code == b"IN":
            send(b"ID")
    elif code == b"GE":
        for _ in range(int(payload)):
            point = {name: draw(p["_type"], p["_value"]) for name, p in space.items()}
            send(b"TR", json.dumps({"parameter_id": next(ids), "parameters": point}).encode())
    elif code == b"ME":
        value = json.loads(json.loads(payload)["value"])  # JSON inside JSON
        best = better(best, value["default"] if isinstance(value, dict) else value)
        print("best so far:", best, file=sys.stderr)
