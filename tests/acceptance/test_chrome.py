# SPDX-License-Identifier: MIT
"""Trace event JSON. The JSON that llvm-xray makes of a log holds the calls of that log: for each
thread and function as many, and as long, as the log itself gives; llvm-xray writes times to a tenth
of a nanosecond, so each call may differ by one. And a trace of Chrome itself imports whole."""
import collections
import gzip
import json
import subprocess

from support import SHARED, WORK, done, import_trace, note, ok, run_json, unpack

TWIN = "wt_update_whole_small.fdr"
MAP = "wtperf_xray.map.yaml"


def unpack_file(name):
    path = SHARED / "data" / name
    target = WORK / path.name.removesuffix(".zst")
    with open(target, "wb") as out:
        subprocess.run(["zstd", "-dcq", "--long=27", path], check=True, stdout=out)
    return target


def sums(store, tid):
    document = run_json("functions", "--tid", tid, store)
    rows = collections.Counter()
    for row in document["functions"]:
        rows[row["name"], "count"] += row["count"]
        rows[row["name"], "ns"] += row["inclusive_ns"]
    return rows


def check_twin():
    xray = unpack(TWIN, MAP)
    log = import_trace(xray / TWIN, "twin_fdr", "--map", xray / MAP)
    text = import_trace(unpack_file(f"chrome/{TWIN}.trace_event.json.zst"), "twin_json")
    if not log or not text:
        return
    first, second = run_json("info", log, "--threads"), run_json("info", text, "--threads")
    for key in ("calls", "threads"):
        ok(first[key] == second[key], f"twin: {key}", first[key], second[key])
    ok(abs(first["duration_ns"] - second["duration_ns"]) <= 1, "twin: duration")
    n_rows, n_calls, wrong = 0, 0, []
    for thread in first["thread_list"]:
        want, got = sums(log, thread["tid"]), sums(text, thread["tid"])
        for name, what in want.keys() | got.keys():
            allowed = want[name, "count"] if what == "ns" else 0
            if abs(want[name, what] - got[name, what]) > allowed:
                wrong.append((thread["tid"], name, what, want[name, what], got[name, what]))
        n_rows += len(want) // 2
        n_calls += sum(count for (_, what), count in want.items() if what == "count")
    ok(not wrong, f"twin: counts and times of {n_rows} functions in threads", *wrong[:5])
    ok(n_calls == first["calls"], f"twin: all {n_calls} calls compared")


def check_chrome():
    archive = SHARED / "data" / "kernel" / "chrome.tar.zst"
    packed = subprocess.run(["tar", "--zstd", "-xOf", archive, "--wildcards", "*chrome.json.gz"],
                            check=True, stdout=subprocess.PIPE).stdout
    text = gzip.decompress(packed)
    path = WORK / "chrome.json"
    path.write_bytes(text)
    document = json.loads(text)
    phases = collections.Counter(event["ph"] for event in document["traceEvents"])
    ok((phases["X"], phases["s"], phases["f"]) == (74454, 3619, 3619), "chrome: as in the index")
    store = import_trace(path, "chrome")
    if not store:
        return
    info = run_json("info", store)
    ok(info["calls"] == phases["X"] + phases["B"], "chrome: every call", info["calls"])
    threads = {(event["pid"], event["tid"]) for event in document["traceEvents"]
               if event["ph"] != "M"}
    ok(info["threads"] == len(threads), "chrome: every thread", info["threads"], len(threads))
    lost = [row for row in info["notes"] if row["class"] == "lost"]
    ok(not lost, "chrome: nothing is lost", *lost)
    longest = collections.Counter()
    for event in document["traceEvents"]:
        if event["ph"] == "X":
            longest[event["name"], event["cat"]] += 1
    rows = run_json("functions", store)["functions"]
    counted = collections.Counter()
    for row in rows:
        counted[row["name"]] += row["count"]
    want = collections.Counter()
    for event in document["traceEvents"]:
        if event["ph"] in "XB":
            want[event["name"]] += 1
    ok(counted == want, f"chrome: calls of each of {len(want)} names")


check_twin()
check_chrome()
note("times in whole nanoseconds")
done()
