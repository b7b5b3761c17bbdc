#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A bit or a byte of a trace, or of a database of executions, is wrong: that is noticed (an error, or damage
that is counted), or what is told of the file is the same, because nothing depends on that byte.
usage: test_damage.py WEFT [N]"""
import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tap  # noqa: E402
from tap import ok  # noqa: E402

WEFT = sys.argv[1]
N = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
SEED = int(os.environ.get("WEFT_SEED", "1"))
WORK = pathlib.Path(tempfile.mkdtemp(prefix="weft-damage-"))
weft = tap.runner(WEFT, text=False)


def make_inputs():
    events = []
    for tid in range(1, 5):
        events.append({"ph": "M", "name": "thread_name", "pid": 1, "tid": tid, "ts": 0, "args": {"name": f"worker {tid}"}})
    for n in range(600):
        common = {"pid": 1, "tid": n % 4 + 1, "cat": f"module{n % 3}"}
        at = n * 100
        events += [{**common, "ph": "X", "name": "request", "ts": at, "dur": 90 + n % 7, "args": {"id": n}},
                   {**common, "ph": "X", "name": f"step{n % 5}", "ts": at + 1, "dur": 20 + n % 11},
                   {**common, "ph": "X", "name": f"inner{n % 13}", "ts": at + 3, "dur": 5},
                   {**common, "ph": "C", "name": "load", "ts": at + 4, "args": {"value": n}},
                   {**common, "ph": "i", "name": f"note{n % 17}", "ts": at + 5}]
    (WORK / "t.json").write_text(json.dumps({"traceEvents": events}))
    trace, database = WORK / "t.weft", WORK / "t.db"
    made = weft("import", "-q", WORK / "t.json", "-o", trace)
    for name in ("one", "two"):
        added = weft("executions", "-q", trace, "--begin", "call:request", "--type", "request", "--tag", name, "--db", database)
    ok(made.returncode == 0 and added.returncode == 0, "inputs", added.stderr)
    return trace, database


def said(arguments):
    done = subprocess.run([WEFT, *map(str, arguments)], capture_output=True, check=False, timeout=60)
    return done.returncode, done.stdout, done.stderr


def all_of_trace(path):
    """What commands tell that read every section: names, notes, calls, events, indexes."""
    return [said(words) for words in (["info", "--json", path], ["export", "--format", "chrome", path],
                                      ["interval", "--json", "--from", "1ms", "--to", "40ms", path])]


def all_of_database(path):
    return [said(words) for words in (["info", "--json", path],
                                      ["compare", "--json", path, "--a", "tag=one", "--b", "tag=two"],
                                      ["flame", "--format", "folded", path],
                                      ["compare", "--json", path, "--b", "duration > p50"])]


def damage(data, rng, k):
    """By turns a bit, a byte, and a byte that becomes 0: anywhere, but the small tables as often as the rest."""
    data = bytearray(data)
    at = rng.randrange(len(data))
    old = data[at]
    data[at] = (old ^ 1 << rng.randrange(8), rng.randrange(256), 0)[k % 3]
    return at, bytes(data) if data[at] != old else None


def normal(results, path):
    name = str(path).encode()
    return [(status, out.replace(name, b"FILE"), err.replace(name, b"FILE")) for status, out, err in results]


def check(kind, path, read, places=None):
    data = path.read_bytes()
    rng = random.Random(SEED)
    want = normal(read(path), path)
    counts = {"noticed": 0, "without effect": 0}
    missed = []

    def one(k, at, damaged):
        copy = WORK / f"{kind}-{k % 64}-{at}{path.suffix}"
        copy.write_bytes(damaged)
        try:
            found = normal(read(copy), copy)
        finally:
            copy.unlink()
        return k, at, found

    def cases():
        k = made = 0
        while made < N:
            at, damaged = damage(data, rng, k)
            k += 1
            if damaged is not None:
                made += 1
                yield k, at, damaged

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for k, at, found in pool.map(lambda case: one(*case), cases()):
            if found == want:
                counts["without effect"] += 1
            elif is_noticed(found, want):
                counts["noticed"] += 1
            else:
                missed.append((k, at, first_difference(found, want)))
    ok(not missed, f"{kind}: {N} damages, {counts['noticed']} noticed, {counts['without effect']} of bytes that nothing depends on",
       f"{len(missed)} not noticed (seed {SEED}): {missed[:6]}")


def is_noticed(found, want):
    """Every answer that differs is an error, or counts damage or says so: a wrong number alone is not."""
    return all(f == w or f[0] not in (0, w[0]) or f[0] == 1 or b"damaged" in f[2] or b"ends early" in f[2] or
               counts_damage(f[1], w[1]) for f, w in zip(found, want)) or \
        any(f[0] == 1 for f, w in zip(found, want) if f != w)


def counts_damage(out, want):
    try:
        found, before = json.loads(out), json.loads(want)
    except ValueError:
        return False
    if not isinstance(found, dict):
        return False
    keys = ("damaged", "n_damaged", "partial", "recovered", "is_recovered", "damaged_executions")
    return any(found.get(key) != before.get(key) for key in keys) or len(found.get("notes", [])) > len(before.get("notes", []))


def first_difference(found, want):
    for f, w in zip(found, want):
        if f != w:
            at = next((i for i, (a, b) in enumerate(zip(f[1], w[1])) if a != b), 0)
            return f[0], f[2][:120], f[1][max(0, at - 40):at + 40], w[1][max(0, at - 40):at + 40]
    return None


try:
    TRACE, DATABASE = make_inputs()
    check("trace", TRACE, all_of_trace)
    check("database", DATABASE, all_of_database)
finally:
    shutil.rmtree(WORK, ignore_errors=True)
tap.done()
