#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The libraries inside processes that fork, exec, jump, are cancelled and killed, and whose folder is
missing, full or read-only."""
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from runtime_support import (FUNCTIONS, PRELOAD, Recorded, done, equal, ok, run, skip,  # noqa: E402
                             target)
import ring_reader  # noqa: E402
from ring_reader import FUNCTIONS as CALLS, OPERATIONS  # noqa: E402

PROGRAM = target("target_process")
BOTH = (PRELOAD, FUNCTIONS)


def process(how, n=0, **options):
    return run([PROGRAM, how, str(n)], preload=BOTH, **options)


def leaves(events):
    """Whole calls."""
    n = sum(event.kind == "ENTER" for event in events)
    return n if n == sum(event.kind == "EXIT" for event in events) else -1


def children():
    for how in ("fork", "raw-fork"):
        with process(how, 500) as it:
            rings = it.rings(CALLS)
            n_calls = [sum(leaves(events) for events in ring.drain().values()) for ring in rings]
            equal((it.status, it.out.split()), (0, ["3"]), f"{how}: the program's answer")
            equal(sorted(n_calls), [3, 500, 500], f"{how}: each process has its own file")
    with process("exec", 3) as it:
        n_calls = [leaves(events) for ring in it.rings(CALLS)
                   for events in ring.drain().values()]
        equal((n_calls, [os.path.basename(ring.path).split(".")[2] for ring in it.rings(CALLS)]),
              ([2, 2, 2, 2], ["0", "1", "2", "3"]), "exec: one file an image")
    with process("vfork") as it:
        n_calls = [sum(leaves(events) for events in ring.drain().values())
                   for ring in it.rings(CALLS)]
        equal(sorted(n_calls), [2, 4], "vfork: the child is its parent until it is another program")
    with process("many-forks", 100, env={"WEFT_RECORD_SLOTS": "8"}) as it:
        equal(len(it.rings(CALLS)), 101, "a hundred children")
    with process("many-forks", 20, env={"WEFT_RECORD_ONLY": "1"}) as it:
        equal((it.status, os.listdir(it.folder)), (0, []), "children are not wanted")


def many_threads():
    """A reader that drains, as the recorder does, and thread after thread takes a slot."""
    with Recorded([PROGRAM, "threads", "10000"], preload=BOTH,
                  env={"WEFT_RECORD_SLOTS": "4096"}) as it: # fewer than threads, whoever reads
        n_calls, n_ends, n_lost, names = 0, 0, 0, set()
        rings = {}
        is_over = False
        while not is_over:
            is_over = it.process.poll() is not None # once more, when it is gone
            for ring in it.rings():
                for key, events in rings.setdefault(ring.path, ring).drain().items():
                    names.add((ring.library, *key))
                    n_calls += sum(event.kind == "ENTER" for event in events)
                    n_ends += sum(event.kind == "THREAD_END" for event in events)
                    n_lost += sum(event.words[0] for event in events if event.kind == "LOST")
            time.sleep(0.004)
        it.wait()
        lost = [ring.lost_threads for ring in it.rings()]
        equal((it.status, it.out.split()), (0, ["10001"]), "10,000 threads: the program's answer")
        ok(n_calls + lost[1] >= 10001 and n_ends + lost[0] >= 10000 and n_calls > 2000,
           "10,000 threads: each has a slot or is counted", f"{n_calls} {n_ends} {lost} {n_lost}")
        ok(len(names) > 4000, "10,000 threads: each has an identity of its own", len(names))
    with process("threads", 100, env={"WEFT_RECORD_SLOTS": "8"}) as it:
        rings = it.rings()
        equal((it.status, [ring.lost_threads for ring in rings]), (0, [93, 93]),
              "threads without a slot are counted when nobody reads")


def signals():
    for how in ("signals", "jumps"):
        with process(how, 150, env={"WEFT_RECORD_WORDS": "1048576"}) as it:
            slot = it.rings(CALLS)[0].slots()[0]
            events = list(slot.events())
            n_enters = sum(event.kind == "ENTER" for event in events)
            n_told = int(it.out or -1)
            ok(it.status == 0 and n_enters <= n_told <= n_enters + slot.lost,
               f"{how}: what a handler could not record is counted",
               f"{it.status} {it.out} {n_enters} {slot.lost} {it.err}")
            ok(slot.lost < n_told / 10 and all(event.kind in ("ENTER", "EXIT", "LOST")
                                              for event in events), f"{how}: words are whole",
               slot.lost)
            ok(how == "jumps" or not [1 for event in events if event.ticks == 0], "times are told")


def handlers_that_fork():
    """The child goes on in the middle of a hook, and is recorded from its next record on."""
    with process("handler-forks", 100, env={"WEFT_RECORD_SLOTS": "8", "WEFT_RECORD_WORDS": "4096"}) as it:
        rings = it.rings(CALLS)
        n_exits = [sum(event.kind == "EXIT" for events in ring.drain().values() for event in events)
                   for ring in rings]
        parent = max(range(len(rings)), key=lambda k: n_exits[k]) if rings else 0
        children_of = [n for k, n in enumerate(n_exits) if k != parent]
        ok(it.status == 0 and len(rings) == 101 and all(7 <= n <= 8 for n in children_of),
           "handlers that fork: no child is harmed, and each is recorded",
           f"{it.status} {it.err} {len(rings)} {sorted(set(n_exits))}")
        if rings:
            kinds = {event.kind for event in list(rings[parent].slots()[0].events())}
            ok(kinds <= {"ENTER", "EXIT", "LOST"}, "and the parent's ring is whole", kinds)


def threads_that_end():
    with process("destructors") as it:
        ring = it.rings(CALLS)[0]
        n_calls = sorted(leaves(list(slot.events())) for slot in ring.slots())
        states = sorted(slot.state for slot in ring.slots())
        ok(it.status == 0 and n_calls[1] >= 9 and states == [ring_reader.LIVE, ring_reader.ENDED],
           "destructors of other keys are recorded", f"{n_calls} {it.out} {states}")
    with process("cancel", 50) as it:
        ended = [events[-1].kind for events in it.events()[1:]]
        equal((it.status, ended), (0, ["THREAD_END"] * 50), "cancelled threads end")


def odds():
    with process("daemon") as it:
        equal((it.status, [leaves(events) for events in it.events(CALLS)]), (0, [20002]),
              "a program that closes every descriptor")
    with process("dlopen") as it:
        changes = [ring.n_modules for ring in it.rings()]
        ok(it.status == 0 and changes[0] >= 4 and changes[1] >= 4, "modules that come and go",
           changes)
    with Recorded([PROGRAM, "spin"], preload=BOTH) as it:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and not [1 for ring in it.rings(CALLS)
                                                   for slot in ring.slots() if slot.head > 4096]:
            time.sleep(0.002)
        it.process.send_signal(signal.SIGKILL)
        it.wait()
        found = it.events(CALLS)[0]
        ok(it.status == -9 and len(found) > 4000, "killed: the ring is there", len(found))
        kinds = [event.kind for event in found]
        ok(all(a != b for a, b in zip(kinds, kinds[1:])), "killed: the ring is whole")


def hostile():
    def answer(name, folder, **options):
        with process("threads", 20, folder=folder, **options) as it:
            return equal((it.status, it.out.split(), it.err), (0, ["21"], ""), name)

    answer("the folder is missing", "/nonexistent/rings")
    with tempfile.TemporaryDirectory() as folder:
        os.rmdir(folder)
        answer("the folder is gone", folder)
        os.mkdir(folder)
        file = os.path.join(folder, "file")
        open(file, "w", encoding="utf-8").close()
        answer("the folder is a file", file)
        answer("the name is too long", folder + "/." * 2000)
        answer("the name is not absolute", "rings")
        for limit in (100, 5000, 1 << 20, 10 << 20):
            answer(f"files of {limit} bytes at most", folder, env={"WEFT_RECORD_SLOTS": "1024"},
                   setup=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        answer("little address space", folder, env={"WEFT_RECORD_WORDS": str(1 << 19),
                                                    "WEFT_RECORD_SLOTS": "1024"},
               setup=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29)))
    for size in ("64k", "256k", "1m"):
        with tempfile.TemporaryDirectory() as folder:
            mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder],
                                     capture_output=True, check=False).returncode == 0
            if not mounted:
                skip("no tmpfs can be mounted here")
                continue
            try:
                with run([PROGRAM, "daemon"], preload=BOTH, folder=folder) as it:
                    equal((it.status, it.out.split(), it.err), (0, ["20002"], ""),
                          f"a disk of {size} is full")
                    lost = [slot.lost for ring in it.rings(CALLS) for slot in ring.slots()]
                    found = [len(events) for events in it.events(CALLS)]
                    ok(not found or lost[0] + found[0] == 2 * 20002,
                       f"a disk of {size}: what found no room is counted", f"{lost} {found}")
                subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
                answer("a disk that is read-only", folder)
            finally:
                subprocess.run(["umount", folder], check=True)


def stopped():
    """A recorder that stops reads no more, and the program continues."""
    with Recorded([PROGRAM, "threads", "500"], preload=BOTH) as it:
        while not it.rings():
            time.sleep(0.001)
        for ring in it.rings():
            ring.stop()
        it.wait()
        equal((it.status, it.out.split()), (0, ["501"]), "stopped: the program's answer")


children()
many_threads()
signals()
handlers_that_fork()
threads_that_end()
odds()
hostile()
stopped()
done()
