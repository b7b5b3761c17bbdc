#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Of each blocking operation its object, its result and who called are in the trace, as the program
says that it did them: of a program that is not instrumented, and through the C++ library.
usage: test_record_operations.py WEFT OPERATIONS [OPERATIONS_CXX]"""
import csv
import io
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tap  # noqa: E402
from tap import ok  # noqa: E402

WEFT, PROGRAM = map(os.path.abspath, sys.argv[1:3])
weft = tap.runner(WEFT)
CXX = os.path.abspath(sys.argv[3]) if len(sys.argv) > 3 else None


def recorded(program):
    """The calls of the trace in order of time, as the program says them; and what it said."""
    got = weft("record", "-q", "--no-kernel", "--no-follow", "-o", "ops.weft", "--", program)
    rows = list(csv.DictReader(io.StringIO(weft("export", "-f", "csv", "ops.weft", "-o", "-").stdout)))
    calls = []
    for row in sorted(rows, key=lambda row: (row["tid"] != row["pid"], int(row["start_ns"]))):
        told = json.loads(row["args"])
        calls.append({"function": row["function"], "caller": told.pop("caller"),
                      "object": told.pop("arg0"), "told": told})
    return calls, [json.loads(line) for line in got.stderr.splitlines()]


def test_operations():
    calls, said = recorded(PROGRAM)
    for call, want in zip(calls, said):
        if want["object"] == 2 ** 64 - 1 and want["function"] == "nanosleep":
            call["object"] = want["object"] # what it asked for is no time
        ok(call == want, f"{want['function']} of {want['caller']}", (call, want))
    ok(len(calls) == len(said) > 30, "no more, and no fewer", (len(calls), len(said)))


def test_views():
    """Who called is shown where waits are."""
    locks = json.loads(weft("locks", "--json", "ops.weft").stdout)
    sites = locks["sites"]
    kinds = {(site["function"], row["kind"]) for site in sites for row in locks["locks"]
             if row["lock_id"] == site["lock_id"]}
    ok({("semaphore_here", "semaphore"), ("condition_here", "condition")} <= kinds and
       ("semaphore_here", "condition") not in kinds,
       "a semaphore is no condition", kinds)
    events = json.loads(weft("info", "--json", "ops.weft").stdout)["events_by_kind"]
    row = next(row for row in locks["locks"] if row["lock"] == "mutex")
    ok(events["lock_failed"] == 3 and row["failed"] == 3 and 0 < events["lock_acquired"] <= row["acquisitions"],
       "tries that found a lock taken did not acquire it", (events, row))
    found = {site["function"] for site in sites}
    ok({"condition_here", "barrier_here", "semaphore_here", "join_here"} <= found, "weft locks", found)
    shown = weft("interplay", "--json", "ops.weft").stdout
    missing = [name for name in ("condition_here", "join_here", "sleep_here", "poll_here",
                                 "select_here", "epoll_here", "child_here", "semaphore_here")
               if name not in shown]
    ok(not missing, "weft interplay", missing)


def test_cxx():
    """The C++ library calls the C library for the program, or lets it."""
    calls, _ = recorded(CXX)
    callers = {call["function"]: call["caller"] for call in calls}
    for function, own in (("pthread_cond_timedwait", "wait_here"), ("pthread_cond_wait", "wait_long_here"),
                          ("pthread_join", "wait_long_here")):
        if function in callers: # a thread that was woken before it waited did not wait
            ok(own in callers[function] or "std::" in callers[function], function, callers)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        test_operations()
        test_views()
        if CXX:
            test_cxx()
        os.chdir("/")
    tap.done()


if __name__ == "__main__":
    main()
