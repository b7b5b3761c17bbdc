#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The calls that a report holds, against the calls of its trace: every tree is an occurrence, holds
its longest calls with their callers, and counts the rest. And the size of a report of many threads.
usage: page_data.py WEFT"""
import base64
import collections
import gzip
import json
import os
import pathlib
import random
import re
import string
import subprocess
import sys
import tempfile

WEFT = sys.argv[1]
SEED = int(os.environ.get("WEFT_SEED", "1"))
NAMES = ["main", "get", "put", "hash", "lock", "log", "scan"]
n_run = 0


def ok(is_ok, name, note=""):
    global n_run
    n_run += 1
    print(f"{'ok' if is_ok else 'not ok'} {n_run} - {name}", flush=True)
    if not is_ok and note:
        print("#", str(note)[:600].replace("\n", "\n# "))


def weft(*arguments):
    subprocess.run([WEFT, *map(str, arguments)], check=True, capture_output=True)


def write_trace(path, rng, n_roots):
    """Calls of one thread, and what was written: (start, end, name, level) in pre-order."""
    now, lines, calls = 1000, [], []

    def call(level):
        nonlocal now
        now += rng.choice([0, 1, 5, 40])
        name = NAMES[min(level, len(NAMES) - 1)] if rng.random() < 0.5 else rng.choice(NAMES)
        at = len(calls)
        calls.append(None)
        lines.append(f"0 {name} {now}")
        start = now
        for _ in range(rng.choice([0, 1, 2, 3, 12]) if level < 4 else 0):
            call(level + 1)
        now += rng.choice([1, 3, 20, 500])
        lines.append(f"1 {name} {now}")
        calls[at] = (start, now, name, level)

    for _ in range(n_roots):
        call(0)
    path.write_text("\n".join(lines) + "\n")
    first = calls[0][0]
    return [(start - first, end - first, name, level) for start, end, name, level in calls]


def data_of(page):
    text = re.search(r'id="weft-data"[^>]*>([^<]*)<', page.read_text()).group(1)
    return json.loads(gzip.decompress(base64.b64decode(text)))


def trees_of(data):
    """Lists of (start, end, name, level), with how many calls there are in all."""
    columns, names = data["shapes"]["calls"], data["functions"]["name"]
    threads, out, at = data["threads"], [], 0
    for i, n in enumerate(columns["n"]):
        rows, stack, last = [], [], columns["s"][i]

        def close():
            nonlocal last
            k = stack.pop()
            last += columns["e"][at + k]
            rows[k][1] = last

        for k in range(n):
            for _ in range(columns["l"][at + k]):
                close()
            last += columns["b"][at + k]
            rows.append([last, None, names[columns["f"][at + k]], len(stack)])
            stack.append(k)
        while stack:
            close()
        at += n
        out.append((threads[columns["h"][i]]["name"], columns["all"][i], [tuple(r) for r in rows]))
    ok(at == len(columns["l"]), "the trees are all the calls")
    return out


def subtree(calls, root):
    """The calls of an occurrence, levels from 0."""
    for at, (start, end, name, level) in enumerate(calls):
        if (start, end, name) != root[:3]:
            continue
        stop = at + 1
        while stop < len(calls) and calls[stop][3] > level:
            stop += 1
        yield [(s, e, f, depth - level) for s, e, f, depth in calls[at:stop]]


def is_longest(rows, all_rows):
    """Of the calls of an occurrence those are sent that none left out is longer than."""
    left = collections.Counter(all_rows)
    left.subtract(rows)
    if min(left.values()) < 0:
        return False
    shortest = min(end - start for start, end, _, _ in rows)
    return all(end - start <= shortest for start, end, _, _ in left.elements())


def answer_of(page, question):
    text = re.search(f'data-question="{question}"[^>]*>([^<]*)<', page.read_text()).group(1)
    return json.loads(gzip.decompress(base64.b64decode(text)))


def write_many(path, rng, n_threads, n_calls, n_names):
    """Threads whose names, times and functions are as random as they can be."""
    events = []
    for tid in range(1, n_threads + 1):
        now = rng.random() * 1000
        events.append({"ph": "M", "name": "thread_name", "pid": 1, "tid": tid, "args": {"name": f"{rng.random()}"}})
        for k in range(n_calls + (tid % 2)):
            last = rng.random() * 30000
            event = {"ph": "X", "pid": 1, "tid": tid, "name": f"f{rng.randrange(n_names)}", "ts": now, "dur": last}
            events.append(event)
            events.append({**event, "name": f"g{k % 7}", "ts": now + last / 8, "dur": last * rng.random() * 0.8})
            now += last + rng.random() * 4000
    path.write_text(json.dumps({"traceEvents": events}))


def test_size(folder, rng):
    """At most 2 MB; what the page goes without is named, and there is nothing that refers to it."""
    n_threads = 2600
    write_many(folder / "many.json", rng, n_threads, 40, 2000)
    weft("import", "-q", "-o", folder / "many.weft", folder / "many.json")
    page = folder / "many.html"
    done = subprocess.run([WEFT, "report", "-q", folder / "many.weft", "-o", page], check=True, text=True,
                          capture_output=True)
    ok(page.stat().st_size <= 2000000, "a page of many threads has at most 2 MB", page.stat().st_size)
    data = data_of(page)
    n_kept = len(data["threads"])
    ok(200 <= n_kept <= 2000 and data["trace"]["threads"] == n_threads, "some threads are there", n_kept)
    ok(min(thread["calls"] for thread in data["threads"]) >= 80, "those with most calls",
       collections.Counter(thread["calls"] for thread in data["threads"]))
    notes = [note["detail"] for note in data["notes"] if note["kind"] == "missing_part"]
    ok(any(note.startswith("some threads: ") and f"{n_threads - n_kept:,} threads omitted" in note
           for note in notes), "the page says how many are not", notes)
    ok("without some threads" in done.stderr, "and so does the command", done.stderr)
    ok(all(row["thread"] < n_kept for row in data["outliers"]["rows"]), "outliers are of these threads")
    threads = answer_of(page, "threads")["threads"]
    ids = [thread["id"] for thread in threads]
    ok(n_kept <= len(ids) <= 2012 and ids == sorted(set(ids)), "the answer has as many, by id", len(ids))


def test_functions(folder, rng):
    """Functions alone nearly fill a page: rows, which would gain nothing, are not cut."""
    letters = string.ascii_letters + string.digits + "_:"
    events, now = [], 0
    for _ in range(12800):
        last = rng.randrange(1, 3000)
        name = "".join(rng.choices(letters, k=80))
        events.append({"ph": "X", "pid": 1, "tid": 1, "name": name, "ts": now, "dur": last})
        now += last + rng.randrange(1, 50)
    (folder / "names.json").write_text(json.dumps({"traceEvents": events}))
    weft("import", "-q", "-o", folder / "names.weft", folder / "names.json")
    rows = []
    for name, options in (("as it is", []), ("400 rows", ["--glyphs", "400"])):
        weft("report", "-q", "--without-findings", folder / "names.weft", "-o", folder / "names.html", *options)
        data = data_of(folder / "names.html")
        rows.append(data["totals"]["rows_after"])
        notes = [note["detail"] for note in data["notes"] if note["kind"] == "missing_part"]
        ok(not any(note.startswith("some rows") for note in notes), f"{name}: no row is missing", notes)
    ok(rows[0] == rows[1], "a page of many functions has as many rows as may be", rows)


def main():
    rng = random.Random(SEED)
    print(f"# seed {SEED}")
    with tempfile.TemporaryDirectory(dir=os.environ.get("WEFT_BUILD_ROOT")) as folder:
        folder = pathlib.Path(folder)
        threads = {}
        for i in range(3):
            path = folder / f"worker{i}.txt"
            threads[path.name] = write_trace(path, rng, 12)
        weft("import", "-q", "-o", folder / "t.weft", *(folder / name for name in threads))
        weft("report", "-q", folder / "t.weft", "-o", folder / "t.html")
        weft("report", "-q", "-j", "1", folder / "t.weft", "-o", folder / "t1.html")
        ok((folder / "t.html").read_bytes() == (folder / "t1.html").read_bytes(), "for any -j")
        data = data_of(folder / "t.html")
        origin = min(thread["first_ns"] for thread in data["threads"])
        ok(origin == 0, "times count from the start of the trace")
        trees = trees_of(data)
        ok(len(trees) > 20, "there are trees", len(trees))
        shifts = {}
        for thread in data["threads"]:
            shifts[thread["name"]] = thread["first_ns"]
        bad = []
        for name, n_all, rows in trees:
            own = threads[next(key for key in threads if key.startswith(name.split(".")[0]))]
            shift = shifts[name]
            rows = [(s - shift, e - shift, f, depth) for s, e, f, depth in rows]
            found = [tree for tree in subtree(own, rows[0]) if len(tree) == n_all]
            if not any(is_longest(rows, tree) for tree in found):
                bad.append((name, n_all, rows[:4]))
        ok(not bad, "each is an occurrence, with its longest calls", bad[:2])
        ids = data["shapes"]["table"]
        ok(all(left == 0 for left in ids["m"]), "shapes are sent with all that is below them")
        rare = data["shapes"]["rare"]
        scores = [bits * time for bits, time in zip(rare["bits"], rare["time"])]
        near = all(b <= a * 1.01 + 1 for a, b in zip(scores, scores[1:]))
        ok(near, "rare shapes come most surprising time first", scores[:9])
        test_size(folder, rng)
        test_functions(folder, rng)
    print(f"1..{n_run}")


main()
