# SPDX-License-Identifier: MIT
"""Recorded runs in which every execution is known (truth.tsv): each is found, on its thread, with
its begin and end. By probes in perf.data, by lines of trace_marker in trace.dat, and by the rules
that the trace itself suggests. And the actions of a recorded browser."""
import collections

from support import WORK, done, note, ok, run, run_json, unpack_all

RUNS = ["case1_cpu_bug", "case1_cpu_fixed", "case2_disk_bug", "case3_lock_bug", "case3_lock_fixed",
        "case4_sleep_bug", "mutex4"]
# The program notes the time, writes a line, and comes to the probe: 3 to 8 us later, as a rule; an
# interrupt may come in between, or another thread.
MEDIAN_NS, NEAR_NS = 10_000, 50_000
# What these programs do besides is in the truth, but not marked.
UNMARKED = {"flush", "hold"}
ACTIONS = {"dom": 12, "paint": 12, "work": 12, "slow": 5}


def truth_of(folder):
    """name -> id -> (tid, begin, end)"""
    truth = collections.defaultdict(dict)
    for line in (folder / "truth.tsv").read_text(encoding="utf-8").splitlines():
        fields = line.split("\t")
        if len(fields) == 6 and fields[0][0] != "#" and fields[0] not in UNMARKED:
            truth[fields[0]][int(fields[1])] = tuple(map(int, fields[2:5]))
    return truth


def store_of(folder, name, source):
    store = WORK / f"{name}.{source}.weft"
    if run("import", "-q", "-o", store, folder / source).returncode:
        return None, 0
    clock = run_json("info", store)["clock"]
    return store, clock.get("monotonic_ns") or clock["zero_ticks"]


def near(a, b):
    return abs(a - b)


def check(what, document, zero, rows):
    """Every execution of the truth is there, once."""
    found = {row["key"]: row for row in document["executions"]}
    right = {key for key in rows if key in found and found[key]["tid"] == rows[key][0]
             and not found[key]["flags"]}
    offs = sorted(max(near(zero + found[key]["start_ns"], rows[key][1]),
                      near(zero + found[key]["end_ns"], rows[key][2])) for key in right)
    ok(len(found) == len(document["executions"]) == len(rows) == len(right),
       f"{what}: all {len(rows)} executions are found", len(document["executions"]), len(right))
    n_near = sum(off <= NEAR_NS for off in offs)
    ok(offs and n_near >= 0.95 * len(rows) and offs[len(offs) // 2] <= MEDIAN_NS,
       f"{what}: with their begins and ends", n_near, offs[-3:])
    if offs:
        note(f"{what}: {n_near} of {len(rows)} within 50 us, median {offs[len(offs) // 2]} ns, "
             f"most {offs[-1]} ns")


def by_proposal(name, store, zero, truth):
    """What weft proposes by itself, the probes first."""
    proposals = run_json("executions", store)["proposals"]
    of_program = [row for row in proposals if row["why"] != "tracepoints of the kernel"]
    for kind, rows in truth.items():
        tid = next(iter(rows.values()))[0]
        documents = []
        for row in of_program:
            options = [word for key in ("begin", "end", "match", "within") if row[key]
                       for word in (f"--{key}", row[key])]
            documents.append(run_json("executions", store, *options, "--no-metrics"))
        document = next((document for document in documents if document["executions"]
                         and document["executions"][0]["tid"] == tid), None)
        ok(document is not None, f"{name}: a rule for {kind} is proposed", of_program)
        if document:
            check(f"{name} {kind}, as proposed", document, zero, rows)


def by_marker(name, store, zero, truth):
    """Lines "B ctl 17" and "E ctl 17" of trace_marker."""
    for kind, rows in truth.items():
        document = run_json("executions", store, "--type", kind, "--begin",
                            f"instant:print where buf.1=B and buf.2={kind}", "--end",
                            f"instant:print where buf.1=E and buf.2={kind}", "--match", "buf.3",
                            "--within", "thread", "--no-metrics")
        check(f"{name} {kind}, by its marks", document, zero, rows)


def check_runs():
    for name in RUNS:
        folder = next(unpack_all(f"kernel/{name}")[0].rglob("truth.tsv")).parent
        truth = truth_of(folder)
        store, zero = store_of(folder, name, "perf.data")
        if ok(store is not None, f"{name}: perf.data imports"):
            by_proposal(name, store, zero, truth)
        store, zero = store_of(folder, name, "trace.dat")
        if ok(store is not None, f"{name}: trace.dat imports"):
            by_marker(name, store, zero, truth)


def check_chrome():
    source = next(unpack_all("kernel/chrome")[0].rglob("chrome.json*"))
    store = WORK / "chrome.weft"
    ok(run("import", "-q", "-o", store, source).returncode == 0, "a browser's trace imports")
    for kind, count in ACTIONS.items():
        document = run_json("executions", store, "--begin", f"span:action:{kind}:*")
        ok(len(document["executions"]) == count, f"{count} actions {kind}",
           len(document["executions"]))


check_runs()
check_chrome()
done()
