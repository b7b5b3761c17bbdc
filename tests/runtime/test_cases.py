#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The programs of examples/cases under both libraries: what makes each slow, or not, is recorded."""
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from runtime_support import BUILD, FUNCTIONS, PRELOAD, Recorded, done, equal, ok  # noqa: E402
import ring_reader  # noqa: E402


class Case:
    """Events of one run by the last name of the thread, of all its processes."""

    def __init__(self, name, n_runs, *options):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(BUILD, "examples/cases", name)
            with Recorded([program, "--runs", str(n_runs), *options, folder],
                          preload=(PRELOAD, FUNCTIONS)) as it:
                it.wait()
                equal((it.status, os.listdir(folder)), (0, []), f"{name} {options}: runs")
                self.out, self.operations, self.calls = it.out, {}, {}
                for ring in it.rings():
                    of_library = (self.operations if ring.library == ring_reader.OPERATIONS
                                  else self.calls)
                    for slot in ring.slots():
                        of_library.setdefault(slot.name, []).append(list(slot.events()))

    def all(self, kind):
        return [event for lists in self.operations.values() for events in lists
                for event in events if event.kind == kind]

    def marks(self):
        begins = [event.words[0] for event in self.all("MARK_BEGIN")]
        return begins == [event.words[0] for event in self.all("MARK_END")] and begins

    def n_calls(self):
        return sum(event.kind == "ENTER" for lists in self.calls.values() for events in lists
                   for event in events)


def both(name, n_runs):
    cases = [Case(name, n_runs), Case(name, n_runs, "--fixed")]
    for case in cases:
        ok(case.marks() == list(range(n_runs)) and case.n_calls() > n_runs,
           f"{name}: executions and calls", f"{case.marks()} {case.n_calls()}")
    return cases


def calls_while_held(case):
    """How many calls the journal made while it held the mutex, over all its commits."""
    locks = [event for event in case.operations["journal"][0]
             if event.kind in ("LOCK_ACQUIRED", "LOCK_RELEASED")]
    calls = [event.ticks for event in case.calls["journal"][0] if event.kind == "ENTER"]
    return [sum(a.ticks < ticks < b.ticks for ticks in calls)
            for a, b in zip(locks[::2], locks[1::2])]


broken, fixed = both("lock", 45)
ok(set(calls_while_held(broken)) == {1} and set(calls_while_held(fixed)) == {0},
   "lock: the journal calls something while it has the mutex, or not",
   f"{calls_while_held(broken)} {calls_while_held(fixed)}")

broken, fixed = both("fsync", 80)
equal(sum(event.argument == 2 for event in fixed.all("IO_BEGIN")), 2, "fsync: once for the log")
ok(sum(event.argument == 2 for event in broken.all("IO_BEGIN")) > 2, "fsync: again and again")

broken, fixed = both("sleep", 100)
naps = [[event for event in case.all("WAIT_BEGIN") if event.words[1:] == [60000000]]
        for case in (broken, fixed)]
equal(len(naps[1]), 0, "sleep: nobody sleeps when it is fixed")
tokens = [[event for event in case.all("IO_END") if event.argument == 2]
          for case in (broken, fixed)]
equal([len(found) for found in tokens], [1, 1], "sleep: a checkpoint each 97th time")

broken, fixed = both("workers", 10)
equal([len(case.all("THREAD_BEGIN")) for case in (broken, fixed)], [17, 4], "workers: how many")
for case, n_tasks in ((broken, 50), (fixed, 40)):
    equal([sorted(event.words[0] for event in case.all(kind))
           for kind in ("TASK_QUEUED", "TASK_BEGIN", "TASK_END")], [list(range(n_tasks))] * 3,
          "workers: each task is queued, begins, ends")

broken, fixed = both("hang", 41)
monitors = [case.operations["hang-monitor"][0] for case in (broken, fixed)]
waits = [[event for event in events if event.kind in ("LOCK_REQUEST", "LOCK_FAILED")]
         for events in monitors]
equal([event.kind for event in waits[0]], ["LOCK_REQUEST"], "hang: one wait, to the end")
ok(len(waits[1]) > 5 and "0 hangs" in broken.out and "0 hangs" not in fixed.out,
   "hang: waits with a limit", f"{len(waits[1])} {broken.out} {fixed.out}")

both("preemption", 20)
done()
