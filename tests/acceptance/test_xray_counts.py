# SPDX-License-Identifier: MIT
"""Every XRay trace imports, and what weft counts is what a slow reader counts (count_xray.c), which
itself agrees with the index and the independent oracles that come with the traces. Times are
compared in ticks: a copy of each log claims a clock of 1 GHz, so that a tick is a nanosecond."""
import subprocess
import sys

from support import (SHARED, done, import_trace, in_ticks, index_rows, note, ok, run_json, unpack)

COUNTER = sys.argv[1]
ORACLES = {
    "synth_events.fdr": "synth_events.fdr", "wt_evict_win_small.fdr": "wt_evict_win_small.fdr",
    "wt_evict_whole_medium.fdr": "wt_evict_whole_medium",
    "wt_lsm_update_whole.fdr": "wt_lsm_update_whole",
    "wt_update_whole_small.basic": "wt_update_whole_small.basic",
    "wt_update_whole_small.fdr": "wt_update_whole_small.fdr",
}


def count(log):
    lines = subprocess.run([COUNTER, log], check=True, stdout=subprocess.PIPE,
                           text=True).stdout.splitlines()
    sums = {key: int(value) for key, value in (word.split("=") for word in lines[0][2:].split())}
    rows = {}
    for line in lines[1:]:
        id_, *numbers = map(int, line.split())
        rows[id_] = tuple(numbers)
    return sums, rows


def check_oracle(name, rows):
    path = SHARED / "cases" / "xray" / f"{ORACLES[name]}.oracle.tsv"
    wrong = []
    for line in path.read_text(encoding="utf-8").splitlines()[2:]:
        id_, _, enters, completed, inclusive, own = line.split("\t")
        row = rows.get(int(id_), (0, 0, 0, 0, 0))
        if (row[0], row[1] - row[2], row[3], row[4]) != tuple(
                map(int, (enters, completed, inclusive, own))):
            wrong.append(f"{line}: counted {row}")
    ok(not wrong, f"{name}: the slow reader agrees with the oracle", *wrong[:5])


def check_functions(name, store, rows):
    document = run_json("functions", store)
    if not document:
        return
    seen = {}
    for row in document["functions"]:
        if row["count"] or row["cut_count"]:
            seen[int(row["name"].lstrip("#"))] = row
    wrong = []
    for id_, (enters, closed, _, inclusive, own) in rows.items():
        row = seen.get(id_)
        got = row and (row["count"], row["count"] - row["open_count"], row["inclusive_ns"],
                       row["self_ns"])
        if got != (enters, closed, inclusive, own):
            wrong.append(f"function {id_}: {got}, expected {(enters, closed, inclusive, own)}")
    ok(not wrong, f"{name}: calls, inclusive and self time of {len(rows)} functions", *wrong[:5])
    extra = [id_ for id_, row in seen.items() if row["count"] and id_ not in rows]
    ok(not extra, f"{name}: no function beyond those", extra[:5])


def check_trace(name, n_events, n_threads):
    log = in_ticks(unpack(name) / name, name)
    sums, rows = count(log)
    ok((sums["records"], sums["threads"]) == (n_events, n_threads),
       f"{name}: the slow reader agrees with the index", sums)
    if name in ORACLES:
        check_oracle(name, rows)
    store = import_trace(log, name)
    log.unlink()
    if not store:
        return
    info = run_json("info", store)
    ok(info["threads"] == n_threads, f"{name}: {n_threads} threads", info["threads"])
    ok(info["calls"] == sums["enters"], f"{name}: {sums['enters']} calls", info["calls"])
    ok(info["duration_ns"] == sums["span"], f"{name}: the time it spans", info["duration_ns"],
       sums["span"])
    if sums["implicit"] or sums["unmatched"]:
        ok(info["repaired"] > 0, f"{name}: the repairs are counted", info["repaired"])
    check_functions(name, store, rows)
    store.unlink()


traces = index_rows()
ok(len(traces) >= 12, "the index lists the XRay traces", sorted(traces))
for trace, (events, threads) in sorted(traces.items(), key=lambda row: row[1]):
    check_trace(trace, events, threads)
note("times in ticks; in a normal import each becomes floor(ticks * 1e9 / frequency) ns")
done()
