#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What commands say first: locks ranked by blame with idle waits last, patterns grouped by kind, tables of at most
100 columns without empty ones; --wide has all. usage: test_first_screen.py WEFT"""
import csv
import io
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import tap  # noqa: E402
from tap import ok  # noqa: E402

WEFT = os.path.abspath(sys.argv[1])
LONG = "a_function_with_a_name_that_is_longer_than_any_column_of_a_table_should_ever_be_in_a_terminal"
MS = 1_000_000


class Trace:
    """Lines of a text trace: nested calls of threads, written in order of time."""

    def __init__(self):
        self.lines = []

    def call(self, tid, from_ms, to_ms, name, argument=""):
        self.lines.append((from_ms * MS, 0, f"--> {name} {tid} {int(from_ms * MS)} {argument}".rstrip()))
        self.lines.append((to_ms * MS, 1, f"<-- {name} {tid} {int(to_ms * MS)} {argument}".rstrip()))

    def write(self, path):
        with open(path, "w", encoding="utf-8") as out:
            out.writelines(line + "\n" for _, _, line in sorted(self.lines, key=lambda line: line[:2]))


def weft(*arguments):
    return subprocess.run([WEFT, *arguments], capture_output=True, text=True, check=False)


def made():
    """1 is main and joins; 2 takes work from a queue in its loop; 3 waits for room deep inside of a request, while 2
    works; 4 and 5 give each other tokens; 3 waits for a mutex of 4; 6 and 7 poll."""
    trace = Trace()
    trace.call(1, 0, 1000, "main")
    trace.call(1, 1, 990, "pthread_join", "2")
    for tid, name in ((2, "worker"), (3, "client"), (4, "peer"), (5, "peer")):
        trace.call(tid, 0, 980, name)
    trace.call(2, 1, 400, "pthread_cond_wait", "queue")
    trace.call(3, 300, 700, "request")
    trace.call(3, 301, 690, "put")
    trace.call(3, 302, 680, LONG)
    trace.call(3, 399, 399.5, "pthread_cond_signal", "queue")
    trace.call(3, 450, 600, "pthread_cond_wait", "room")
    trace.call(2, 599, 599.5, "pthread_cond_signal", "room")
    for at in range(240, 440, 20):
        trace.call(4, at, at + 8, "pthread_cond_wait", "token")
        trace.call(5, at + 7, at + 7.5, "pthread_cond_signal", "token")
        trace.call(5, at + 10, at + 18, "pthread_cond_wait", "token")
        trace.call(4, at + 17, at + 17.5, "pthread_cond_signal", "token")
    trace.call(4, 200, 200.1, "pthread_mutex_lock", "m")
    trace.call(3, 210, 230, "pthread_mutex_lock", "m")
    trace.call(4, 229, 229.5, "pthread_mutex_unlock", "m")
    trace.call(3, 231, 231.5, "pthread_mutex_unlock", "m")
    for tid in (6, 7):
        trace.call(tid, 0, 980, "poller")
        for at in range(10, 970, 10):
            trace.call(tid, at, at + 9, "nanosleep")
    trace.write("made.txt")
    done = weft("import", "-q", "-o", "made.weft", "made.txt")
    ok(done.returncode == 0, "the trace is imported", done.stderr)


def test_locks():
    rows = {row["lock"]: row for row in json.loads(weft("locks", "--json", "made.weft").stdout)["locks"]}
    order = list(rows)
    ok(rows["room"]["blame_ns"] == rows["room"]["wait_ns"] > 0, "a wait inside of a request is blame", rows["room"])
    ok(rows["queue"]["idle_ns"] == rows["queue"]["wait_ns"] > 0 and rows["queue"]["blame_ns"] == 0,
       "a wait for work in the loop is idle", rows["queue"])
    ok(rows["token"]["blame_ns"] == rows["token"]["wait_ns"] > 0, "what waiters give each other is no queue",
       rows["token"])
    ok(rows["m"]["blame_ns"] == rows["m"]["blocking_ns"] > 0, "of a mutex the holds while others waited", rows["m"])
    ok(order.index("token") < order.index("room") < order.index("m") < order.index("queue"),
       "ranked by blame, idle last", order)
    joins = [row for row in rows.values() if row["kind"] == "join"]
    ok(joins and all(row["idle_ns"] == row["wait_ns"] and row["blame_ns"] == 0 for row in joins), "joins are idle", joins)
    text = weft("locks", "made.weft").stdout.splitlines()
    ok(text[0].startswith("made.weft   1.00 s") and "7 threads" in text[0], "the first line", text[0])
    ok(text[1].startswith("Most blame: token blocked others for"), "the second names the first lock", text[1])


def test_interplay():
    text = weft("interplay", "made.weft").stdout
    head = text.splitlines()[1]
    ok(head.startswith("Largest blocker: ") and "(tid 1)" not in head, "joins are not in the headline", head)
    found = json.loads(weft("interplay", "--json", "made.weft").stdout)["patterns"]
    groups = text.split("\npatterns\n", 1)[1].split("\n\n", 1)[0] if found else ""
    kinds = {pattern["pattern"] for pattern in found}
    lines = [line for line in groups.splitlines()[1:] if line[:1] not in ("", " ") and not line.startswith("all ")]
    ok(len(kinds) > 1 and len(lines) == len(kinds), "a line for each kind of pattern", groups)
    each = weft("interplay", "--patterns", "--limit", "0", "made.weft").stdout.split("\npatterns\n", 1)[1]
    lines = [line for line in each.splitlines()[1:] if line[:1] not in ("", " ")]
    ok(len(lines) == len(found), "--patterns lists each", each)
    idle = [pattern["cost_ns"] for pattern in found if pattern["pattern"] in ("idle", "farmer", "polling", "unbounded")]
    ok(all(cost is None for cost in idle), "idle time is no cost", found)


def test_first_lines():
    """File, length, threads, what it is about, and losses where the source counts them."""
    for about, *command in (
            ("functions", "functions"), ("outlier", "outliers"), ("state", "states"), ("call", "regtime"),
            ("call patterns", "shapes"), ("wait", "interplay"),
            ("time of threads", "waits"), ("critical path", "path", "--thread", "1"), ("lock", "locks"),
            ("types of executions", "executions"), ("execution", "compare", "--begin", "call:pthread_cond_wait", "--b", "duration>8ms"),
            ("1.00 s", "info"), ("calls in an interval", "interval"), ("root calls", "roots"), ("", "diagnose"),
            ("CPU", "cpu")):
        first = weft(*command, "made.weft").stdout.split("\n", 1)[0]
        ok(first.startswith("made.weft   1.00 s · 7 threads") and about in first,
           f"{' '.join(command)}: the first line", first)


def test_width():
    for command in ("info", "locks", "interplay", "waits", "states", "outliers", "functions", "cpu", "executions",
                    "shapes", "interval", "regtime", "roots", "diagnose"):
        text = weft(command, "made.weft").stdout
        wide = [line for line in text.splitlines() if len(line) > 100]
        ok(text and not wide, f"{command}: at most 100 columns", wide or text)
        text = weft(command, "--help").stdout
        ok(max(map(len, text.splitlines())) <= 100, f"{command} --help: at most 100 columns")
    narrow, wide = weft("functions", "made.weft").stdout, weft("functions", "--wide", "made.weft").stdout
    ok(LONG not in narrow and LONG in wide, "--wide has names in full", narrow)
    ok("p99.9" not in narrow.splitlines()[2] and "p99.9" in wide.splitlines()[2], "and columns of details")
    rows = list(csv.DictReader(io.StringIO(weft("functions", "--format", "csv", "made.weft").stdout)))
    ok("p999_ns" in rows[0] and any(row["name"] == LONG for row in rows), "CSV has all")
    head = weft("locks", "made.weft").stdout.split("\nlocks\n", 1)[1].splitlines()[0]
    ok("convoys" not in head, "a column without a value is left out", head)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        made()
        test_locks()
        test_interplay()
        test_first_lines()
        test_width()
        os.chdir("/")
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
