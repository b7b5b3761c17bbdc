#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""libweft-functions.so: each call of a function with a number and without stands in the ring with its
address, and with a time that lies between those which its program took before and after it."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from runtime_support import FUNCTIONS, done, equal, ok, run, target  # noqa: E402
import ring_reader  # noqa: E402

LIB = ring_reader.FUNCTIONS
MOST = 1 << 15
ROOM = {"WEFT_RECORD_WORDS": str(1 << 18)}


def truth(out):
    """By process, by thread: [(kind, address, before, after)]."""
    processes = {}
    for line in out.splitlines():
        pid, thread, kind, address, before, after = line.split()
        processes.setdefault(int(pid), {}).setdefault(int(thread), []).append(
            (kind, int(address, 16), int(before), int(after)))
    return {pid: list(threads.values()) for pid, threads in processes.items()}


def found_of(rings):
    return [list(slot.events()) for ring in rings for slot in ring.slots()]


def plain(events):
    return [("E" if event.kind == "ENTER" else "X", event.address) for event in events]


def compare(told, found, what):
    """Threads may have begun in any order; no two of them do the same."""
    told = sorted(told, key=lambda calls: [call[:2] for call in calls])
    found = sorted(found, key=plain)
    ok([[call[:2] for call in calls] for calls in told] == [plain(events) for events in found],
       f"{what}: call for call", f"{[len(t) for t in told]} {[len(f) for f in found]}")
    n_wrong = sum(not before <= event.ticks <= after for calls, events in zip(told, found)
                  for (_, _, before, after), event in zip(calls, events))
    equal(n_wrong, 0, f"{what}: time for time")


def record(seed, n_threads, n_calls, n_functions, *how):
    command = [target("target_numbers"), seed, n_threads, n_calls, n_functions, *how]
    return run([str(word) for word in command], preload=(FUNCTIONS,), env=ROOM)


def of_all_kinds():
    for seed in range(1, 9):
        with record(seed, 1 + seed % 4, 5000, 10 ** (1 + seed % 4)) as it:
            rings = it.rings(LIB)
            compare(truth(it.out)[it.process.pid], found_of(rings), f"functions, seed {seed}")
            events = [event for found in found_of(rings) for event in found]
            near = {event.address for event in events if event.address >> 47 == 0}
            far = [event for event in events if event.address >> 47]
            ok(all(event.words for event in far) and
               sum(bool(event.words) for event in events) == len(far),
               f"functions, seed {seed}: only those beyond 47 bits are written out")
            ok(len(near | {0}) <= rings[0].n_functions() <= 4 * len(near) + 1,
               f"functions, seed {seed}: a number each", f"{len(near)} {rings[0].n_functions()}")


def too_many():
    with record(1, 4, 30000, 60000) as it:
        ring = it.rings(LIB)[0]
        compare(truth(it.out)[it.process.pid], found_of([ring]), "more than have a number")
        equal(ring.n_functions(), MOST, "more than have a number: all are given")


def forks():
    with record(5, 1, 3000, 2000, "fork") as it:
        told = truth(it.out)
        equal((it.status, len(told)), (0, 2), "fork: the program's answer")
        for pid, calls in told.items():
            compare(calls, found_of(it.rings(LIB, pid)),
                    "fork: parent" if pid == it.process.pid else "fork: child")


of_all_kinds()
too_many()
forks()
done()
