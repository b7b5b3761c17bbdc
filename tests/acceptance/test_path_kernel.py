# SPDX-License-Identifier: MIT
"""Recorded runs in which the cause of every slow execution is known (truth.tsv): the critical path
of at least 95 % of them names it. And paths of kernel traces: they fill their interval, whatever
is missing in the trace."""
from support import TRACES, WEFT, WORK, done, import_trace, note, ok, run, run_json, unpack_all


def by_name(rows):
    return {row["name"]: row["sum_ns"] for row in rows}


def waited(document, reason):
    return sum(row["sum_ns"] for row in document["reasons"] if row["reason"] == reason)


# Run, label of the slow executions, whether a path names the cause, what that is.
CAUSES = [
    ("case1_cpu_bug", "preempted", lambda path, length: "tlm-30hz" in by_name(path["preemptors"]),
     "the thread that took the processor"),
    ("case2_disk_bug", "flush", lambda path, length: "logger" in by_name(path["sharers"]),
     "the thread that kept the disk busy"),
    ("case3_lock_bug", "held",
     lambda path, length: by_name(path["threads"]).get("journal", 0) > length / 2,
     "the thread that held the lock, behind a connection"),
    ("case4_sleep_bug", "slept", lambda path, length: waited(path, "timer") > length / 2, "the sleep"),
    ("case4_sleep_bug", "disk", lambda path, length: waited(path, "block_device") > 0, "the disk"),
]
CTF = ["many-threads", "bug446190", "uneven-streams", "synctraces__scp_src", "synctraces__scp_dest"]


def is_tiled(path):
    at = path["from_ns"]
    for segment in path["segments"]:
        if segment["start_ns"] != at or segment["end_ns"] <= at:
            return False
        at = segment["end_ns"]
    arrows = all(arrow["from_ns"] <= arrow["to_ns"] for arrow in path["arrows"])
    sums = sum(row["sum_ns"] for row in path["threads"])
    return at == path["to_ns"] and arrows and sums == path["to_ns"] - path["from_ns"]


def executions(folder, label):
    for line in (folder / "truth.tsv").read_text(encoding="utf-8").splitlines():
        fields = line.split("\t")
        if len(fields) == 6 and fields[5] == label:
            yield int(fields[2]), int(fields[3]), int(fields[4])


def import_run(name):
    """The store of a recorded run, or None where no importer reads it."""
    folder = next(unpack_all(f"kernel/{name}")[0].rglob("truth.tsv")).parent
    store = WORK / f"{name}.weft"
    if not store.exists() and run("import", "-q", "-o", store, folder / "perf.data").returncode:
        return folder, None
    return folder, store


def check_causes():
    n_all = n_named = 0
    for name, label, names_it, what in CAUSES:
        folder, store = import_run(name)
        if not store:
            note(f"{name}: no importer for perf.data")
            continue
        rows = list(executions(folder, label))
        named = tiled = 0
        for tid, begin, end in rows:
            path = run_json("path", store, "--thread", tid, "--from", f"@{begin}", "--to", f"@{end}")
            named += bool(path) and names_it(path, end - begin)
            tiled += bool(path) and is_tiled(path)
        n_all += len(rows)
        n_named += named
        ok(rows and tiled == len(rows), f"{name}: {tiled} of {len(rows)} paths fill their interval")
        note(f"{name}: {what} is named for {named} of {len(rows)}")
    if n_all:
        ok(n_named >= 0.95 * n_all, f"the cause is named for {n_named} of {n_all}")


def longest_threads(store, count):
    threads = [row for row in run_json("info", store)["thread_list"] if row["tid"] and row["last_ns"]]
    threads.sort(key=lambda row: (row["first_ns"] - row["last_ns"], row["tid"]))
    return threads[:count]


def check_ctf():
    unpack_all("ctf")
    for name in CTF:
        store = import_trace(TRACES / "ctf" / "ctf-traces" / name, name)
        if not store:
            continue
        for row in longest_threads(store, 5):
            path = run_json("path", store, "--thread", row["tid"])
            ok(bool(path) and is_tiled(path), f"{name}: the path of {row['tid']} fills its interval")


check_causes()
check_ctf()
done()
