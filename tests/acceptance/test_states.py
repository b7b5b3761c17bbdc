#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""States of real kernel traces against babeltrace2: who ran where and when by sched_switch alone, and
what waits were ended by, from a simulation of its own; that states tile every thread's life; bytes of
the file (skipped where babeltrace2 is not installed)."""
import collections
import re
import shutil
import subprocess

import support
from support import done, note, ok, run_json

TRACES = ("bug446190", "many-threads", "own__mutex4_perf_to_ctf", "perf-taskset2", "uneven-streams")
FIELD = re.compile(r'(\w+) = ("(?:[^"\\]|\\.)*"|-?\w+)')
HEAD = re.compile(r"^timestamp = (\d+), name = ([^,]+),")
MOST_BYTES = 8
SOFTIRQS = {1: "timer", 8: "timer", 2: "network", 3: "network", 4: "block_device",
            5: "block_device", 0: "device", 6: "device"}


def events(trace):
    """(time, name, processor, fields) of every event of the scheduler and of interrupts."""
    text = subprocess.run(["babeltrace2", "--fields=emf", "--names=all", "--no-delta",
                           "--clock-cycles", trace], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True).stdout.decode("utf-8", "replace")
    for line in text.splitlines():
        head = HEAD.match(line)
        name = head[2].split(":")[-1].replace("timer_hrtimer", "hrtimer") if head else ""
        if name.startswith(("sched_", "softirq", "irq_", "hrtimer_expire", "timer_expire")):
            fields = dict(FIELD.findall(line))
            yield int(head[1]), name, number(fields, "cpu_id", "perf_cpu"), fields


def number(fields, *names):
    """The first of the fields that is there."""
    for name in names:
        if name in fields:
            return int(fields[name].strip('"'), 0)
    return None


class Simulation:
    """One event after the other: processors, interrupts, and who waits since when."""

    def __init__(self):
        self.on = {}  # processor -> (thread, since)
        self.stints = set()  # (tid, processor, from, to) between two switches
        self.nested = collections.defaultdict(list)  # by processor
        self.blocked = {}  # tid -> since
        self.unwoken = {}  # tid -> (came, since): its wakeup may follow in the same ns
        self.waits = collections.Counter()  # (tid, reason) -> ns
        self.leaving = set()
        self.is_lost = False

    def switch(self, time, cpu, fields):
        prev, state = number(fields, "prev_tid", "prev_pid"), number(fields, "prev_state")
        following = number(fields, "next_tid", "next_pid")
        tid, since = self.on.get(cpu, (prev, None))
        self.is_lost |= tid != prev
        if tid == prev and since is not None:
            self.stints.add((prev, cpu, since, time))
        self.on[cpu] = (following, time)
        self.nested[cpu].clear()
        if following in self.blocked:
            self.unwoken[following] = (time, self.blocked.pop(following))
        is_dead = state & 0x30 or (prev in self.leaving and state & 0xff and not state & 3)
        if prev and state & 0xff and not is_dead:
            self.blocked[prev] = time
        self.leaving -= {prev} if is_dead else set()

    def wake(self, time, cpu, fields):
        tid = number(fields, "tid", "pid")
        if self.unwoken.get(tid, (None,))[0] == time:
            self.waits[tid, self.reason(cpu)] += time - self.unwoken.pop(tid)[1]
        if tid not in self.blocked or tid == self.on.get(cpu, (None,))[0]:
            return
        self.waits[tid, self.reason(cpu)] += time - self.blocked.pop(tid)

    def reason(self, cpu):
        if not self.nested[cpu]:
            return "thread" if self.on.get(cpu, (0,))[0] else "unknown"
        kind, vector, device = self.nested[cpu][-1]
        if kind == "softirq":
            return SOFTIRQS.get(vector, "unknown")
        if kind != "irq" or vector == 0 or "timer" in device:
            return "timer"
        return "device"

    def take(self, time, name, cpu, fields):
        plain = name.removeprefix("irq_").replace("handler", "irq_handler")
        if name == "sched_switch":
            self.switch(time, cpu, fields)
        elif name in ("sched_waking", "sched_wakeup", "sched_wakeup_new"):
            self.wake(time, cpu, fields)
        elif name == "sched_process_exit":
            self.leaving.add(number(fields, "tid", "pid"))
        elif plain in ("irq_handler_entry", "softirq_entry", "hrtimer_expire_entry"):
            self.nested[cpu].append((plain.split("_")[0], number(fields, "irq", "vec"),
                                     fields.get("name", "")))
        elif plain in ("irq_handler_exit", "softirq_exit", "hrtimer_expire_exit"):
            key = (plain.split("_")[0], number(fields, "irq", "vec"))
            while key in [item[:2] for item in self.nested[cpu]]:
                if self.nested[cpu].pop()[:2] == key:
                    break


def stints_of(states, zero):
    """(tid, processor, from, to): states in which a thread runs, joined."""
    stints = set()
    open_stint = None
    for state in states:
        runs = state["state"] in ("running", "running_user", "running_kernel", "interrupted")
        place = (state["tid"], state["cpu"])
        if open_stint and (not runs or open_stint[0] != place or
                           open_stint[2] != state["start_ns"]):
            stints.add((*open_stint[0], open_stint[1] + zero, open_stint[2] + zero))
            open_stint = None
        if runs:
            begin = open_stint[1] if open_stint else state["start_ns"]
            open_stint = (place, begin, state["end_ns"])
    if open_stint:
        stints.add((*open_stint[0], open_stint[1] + zero, open_stint[2] + zero))
    return stints


def check_sums(name, waits):
    """The life of every thread is the sum of its parts, of its reasons, of its causes."""
    bad = []
    for thread in waits["threads"]:
        parts = sum(thread[key] or 0 for key in ("running_ns", "interrupted_ns", "preempted_ns",
                                                "blocked_ns", "unknown_ns"))
        reasons = sum(thread[key] or 0 for key in ("timer_ns", "network_ns", "block_device_ns",
                                              "device_ns", "ipi_ns", "woken_by_thread_ns",
                                              "unexplained_ns"))
        causes = sum(cause["sum_ns"] for cause in thread["causes"])
        if not (parts == thread["life_ns"] == causes and reasons == thread["blocked_ns"]):
            bad.append(thread)
    ok(not bad and waits["threads"], f"{name}: {len(waits['threads'])} lives are the sums of their "
       "parts", *bad[:3])


def check_tiles(name, states):
    """States of a thread follow each other without gaps."""
    last = {}
    gaps = 0
    for state in states:
        before = last.get(state["thread_key"])
        gaps += before is not None and before != state["start_ns"]
        last[state["thread_key"]] = state["end_ns"]
    ok(gaps == 0 and last, f"{name}: {len(states)} states without gaps", gaps)


def number_threads(states):
    """A key for every thread: threads stand one after the other, and each begins anew."""
    key, before = 0, None
    for state in states:
        if before is None or state["tid"] != before["tid"] or state["start_ns"] < before["end_ns"]:
            key += 1
        state["thread_key"] = key
        before = state


def check_waits(name, waits, simulation):
    """Sums of waits that an event ended, over threads of a tid."""
    columns = {"timer": "timer_ns", "network": "network_ns", "block_device": "block_device_ns",
               "device": "device_ns", "thread": "woken_by_thread_ns"}
    got = collections.Counter()
    for thread in waits["threads"]:
        for reason, column in columns.items():
            got[thread["tid"], reason] += thread[column]
    want = {key: value for key, value in simulation.waits.items() if key[1] != "unknown"}
    differ = [(key, got[key], want.get(key, 0)) for key in set(want) | set(got)
              if got[key] != want.get(key, 0)]
    wrong = sum(abs(have - need) for _, have, need in differ)
    whole = sum(want.values())
    note(f"{name}: {len(want)} sums of waits, {whole / 1e9:.3f} s; {wrong / 1e9:.6f} s differ")
    ok(whole > 0 and wrong <= whole * (0.02 if simulation.is_lost else 0),
       f"{name}: waits by reason are those of the simulation", *differ[:5])


def check(folder, name):
    store = support.import_trace(folder / name, name)
    if not store:
        return
    info = run_json("info", store)
    waits = run_json("waits", store)
    states = run_json("states", store)
    if not (info and waits and states):
        return
    states = states["states"]
    number_threads(states)
    check_sums(name, waits)
    check_tiles(name, states)
    simulation = Simulation()
    for event in events(folder / name):
        simulation.take(*event)
    got = stints_of(states, info["clock"]["zero_ticks"])
    missing = [stint for stint in simulation.stints if stint[2] < stint[3] and stint not in got]
    ok(simulation.stints and len(missing) <= len(simulation.stints) * 0.001,
       f"{name}: {len(simulation.stints)} times on a processor, {len(missing)} differ", *missing[:5])
    check_waits(name, waits, simulation)
    per_event = store.stat().st_size / info["events"]
    ok(per_event < MOST_BYTES or info["events"] < 10000, f"{name}: {per_event:.2f} bytes an event")


def main():
    if shutil.which("babeltrace2") is None:
        print("1..0 # SKIP babeltrace2 is not installed")
        return
    support.unpack_all("ctf")
    for name in TRACES:
        check(support.TRACES / "ctf" / "ctf-traces", name)
    done()


main()
