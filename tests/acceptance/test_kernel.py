#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perf.data and trace.dat of the same runs, event by event and field by field, against `perf script`
and `trace-cmd report` (each skipped where it is not installed), and against each other."""
import collections
import json
import re
import shutil
import subprocess

import support
from support import done, note, ok

RUNS = ["mutex4", "case2_disk_bug", "case3_lock_bug", "chrome"]
STATES = {"R": 0, "S": 1, "D": 2, "T": 4, "t": 8, "X": 16, "Z": 32, "P": 64, "I": 128, "R+": 256}
IRQ_KINDS = {"irq": "irq:irq_handler", "softirq": "irq:softirq", "hrtimer": "timer:hrtimer_expire"}
PERF_LINE = re.compile(r"\s*(-?\d+) \[(\d+)\] +(\d+)\.(\d{9}): +(?:(\d+) )?(\S+?):?(?: (.*))?$")
REPORT_LINE = re.compile(r"\s*.*-(\d+) +\[(\d+)\] +(\d+)\.(\d{9}): (\S+): +(.*)$")
FIELD = re.compile(r"(\w+)=(\S+)")


def name_of(event):
    """The tracepoint that became this event of weft."""
    told = event.get("args", {}).get("weft", {})
    kind = told.get("kind")
    if kind in ("irq_enter", "irq_exit"):
        what = "entry" if kind == "irq_enter" else "exit"
        return f"{IRQ_KINDS.get(event['name'], 'irq_vectors:' + event['name'])}_{what}"
    names = {"switch": "sched:sched_switch", "waking": "sched:sched_waking",
             "woken": "sched:sched_wakeup_new" if told.get("state") else "sched:sched_wakeup",
             "fork": "sched:sched_process_fork", "exit": "sched:sched_process_exit",
             "syscall_enter": "raw_syscalls:sys_enter", "syscall_exit": "raw_syscalls:sys_exit",
             "io_begin": "block:block_rq_issue", "io_end": "block:block_rq_complete"}
    return names.get(kind, event["name"])


def read_store(store):
    """All events but stacks of tracepoints: (ns, event) -> fields, in lists, for they may be equal."""
    text = support.run("export", "-q", "-f", "chrome", store).stdout
    document = json.loads(text)
    zero = document["otherData"]["monotonic_ns"]
    events = collections.defaultdict(list)
    stacks = collections.Counter()
    for event in document["traceEvents"]:
        if event["ph"] not in "iP":
            continue
        whole, _, part = event["ts"].partition(".") if isinstance(event["ts"], str) else (0, 0, 0)
        if not isinstance(event["ts"], str):
            whole, part = divmod(round(event["ts"] * 1000), 1000)
        time_ns = zero + int(whole) * 1000 + int(part)
        if event["ph"] == "P":
            stacks[event["name"], len(event.get("stack", [])) > 0] += 1
            if ":" in event["name"].split("/")[0]:
                continue
        fields = dict(event.get("args", {}))
        fields.update(fields.pop("weft", {}))
        fields["tid"] = event["tid"]
        events[time_ns, name_of(event)].append(fields)
    return events, stacks


def perf_script(trace):
    """(ns, event) -> fields, as perf reads them."""
    run = subprocess.run(["perf", "script", "-i", trace, "--ns", "-F",
                          "tid,cpu,time,event,trace"], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True, errors="replace", check=False)
    events = collections.defaultdict(list)
    for line in run.stdout.splitlines():
        match = PERF_LINE.match(line)
        if not match:
            continue
        tid, cpu, seconds, part, _, name, text = match.groups()
        fields = dict(FIELD.findall(text or ""))
        fields.update(tid=int(tid), cpu=int(cpu), text=text or "")
        events[int(seconds) * 10**9 + int(part), name].append(fields)
    return events


def trace_cmd_report(trace):
    """The same by trace-cmd; its names have no system."""
    run = subprocess.run(["trace-cmd", "report", "-t", "-R", "-i", trace], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True, errors="replace", check=False)
    events = collections.defaultdict(list)
    for line in run.stdout.splitlines():
        match = REPORT_LINE.match(line)
        if not match:
            continue
        tid, cpu, seconds, part, name, text = match.groups()
        fields = dict(FIELD.findall(text))
        fields.update(tid=int(tid), cpu=int(cpu), text=text)
        events[int(seconds) * 10**9 + int(part), name].append(fields)
    return events


def number(text):
    """A number as tools print them; None of another text."""
    try:
        return int(text.rstrip(","), 0) & (2**64 - 1) if not re.fullmatch(r"0\d+", text) else int(text)
    except ValueError:
        return None


def expected(name, theirs):
    """What weft must say of the event: [(field, value)]."""
    short = name.split(":")[-1]
    wanted = [("cpu", theirs["cpu"])] if short.startswith(("sched_sw", "sched_w")) else []
    if short == "sched_switch":
        state = theirs["prev_state"]
        wanted += [("next_tid", int(theirs["next_pid"])), ("tid", int(theirs["prev_pid"])),
                   ("state", STATES.get(state, number(state)))]
    elif short in ("sched_waking", "sched_wakeup", "sched_wakeup_new"):
        wanted += [("next_tid", int(theirs["pid"])), ("value", int(theirs["target_cpu"]))]
    elif short == "sched_process_fork":
        wanted += [("next_tid", int(theirs["child_pid"]))]
    elif short in ("irq_handler_entry", "irq_handler_exit"):
        wanted += [("value", int(theirs["irq"]))]
    elif short in ("softirq_entry", "softirq_exit"):
        wanted += [("value", int(theirs["vec"]))]
    elif short in ("hrtimer_expire_entry", "hrtimer_expire_exit"):
        wanted += [("value", number(theirs["hrtimer"]))]
    elif "vector" in theirs and short.endswith(("_entry", "_exit")):
        wanted += [("value", int(theirs["vector"]))]
    return wanted


def differs(name, theirs, ours):
    """The first field that is not alike; None: all are."""
    if name.split(":")[-1] != "sched_switch" and ours["tid"] != theirs["tid"] and theirs["tid"]:
        return f"tid {ours['tid']} for {theirs['tid']}"
    for field, value in expected(name, theirs):
        if ours.get(field, 0) != value and (field != "tid" or value):
            return f"{field} {ours.get(field)} for {value}"
    for field, value in theirs.items():
        own = ours.get(field)
        if field in ("tid", "cpu", "text") or isinstance(own, bool) or not isinstance(own, int):
            continue
        if number(value) is not None and own & (2**64 - 1) != number(value):
            return f"{field} {own} for {value}"
    return None


def compare(label, theirs, ours):
    """All of their events are ours, and none more; and their fields are alike."""
    counts = {key: len(value) for key, value in ours.items()}
    wanted = {key: len(value) for key, value in theirs.items()}
    n_events = sum(wanted.values())
    missing = [key for key in wanted if counts.get(key) != wanted[key]]
    extra = [key for key in counts if key not in wanted]
    ok(n_events > 0 and not missing and not extra, f"{label}: the same {n_events} events",
       f"{len(missing)} missing, {len(extra)} more", missing[:3], extra[:3])
    n_fields, bad = 0, []
    for key, several in theirs.items():
        for their, own in zip(several, ours.get(key, [])) if len(several) == 1 else ():
            what = differs(key[1], their, own)
            n_fields += 1
            if what:
                bad.append((key, what, their["text"], own))
    ok(not bad, f"{label}: the same fields in {n_events - (n_events - n_fields)} events",
       len(bad), *bad[:5])


def check_perf(run, store):
    events, stacks = read_store(store)
    if shutil.which("perf"):
        theirs = perf_script(support.TRACES / "kernel" / run / "perf.data")
        theirs = {(at, "sample" if "clock" in name else name): value
                  for (at, name), value in theirs.items()}
        ours = {(at, "sample" if "clock" in name else name): value
                for (at, name), value in events.items()}
        compare(f"{run}/perf.data", theirs, ours)
    else:
        note("perf is not installed")
    n_empty = sum(count for (_, has_frames), count in stacks.items() if not has_frames)
    ok(n_empty <= sum(stacks.values()) // 50, f"{run}/perf.data: samples have stacks",
       f"{n_empty} of {sum(stacks.values())} have none")
    return events


def check_tracecmd(run, store):
    events, _ = read_store(store)
    if shutil.which("trace-cmd"):
        theirs = trace_cmd_report(support.TRACES / "kernel" / run / "trace.dat")
        compare(f"{run}/trace.dat", theirs,
                {(at, name.split(":")[-1]): value for (at, name), value in events.items()})
    else:
        note("trace-cmd is not installed")
    return events


def signature(events, name):
    """What happened, without the time: (who, whom) in order of time."""
    found = []
    for (at, event), several in sorted(events.items(), key=lambda row: row[0][0]):
        if event == name:
            found += [(at, one["tid"] if one["tid"] < 2**20 else 0, one.get("next_tid"))
                      for one in several]
    return found


def check_same(run, perf, ftrace):
    """Both recorders saw the same switches and wakeups, while both recorded."""
    begin = max(min(at for at, _ in perf), min(at for at, _ in ftrace))
    end = min(max(at for at, _ in perf), max(at for at, _ in ftrace))
    for name in ("sched:sched_switch", "sched:sched_waking", "sched:sched_wakeup"):
        a, b = (collections.Counter((who, whom) for at, who, whom in signature(events, name)
                                    if begin <= at <= end) for events in (perf, ftrace))
        n_events = max(sum(a.values()), sum(b.values()))
        n_differ = sum(((a - b) + (b - a)).values())
        ok(n_differ <= n_events // 100 + 4,
           f"{run}: {name} in both recordings, {n_differ} of {n_events} in one alone")


def main():
    support.unpack_all("kernel/" + RUNS[0], *("kernel/" + run for run in RUNS[1:]))
    for run in RUNS:
        folder = support.TRACES / "kernel" / run
        stores = {kind: support.import_trace(folder / kind, f"{run}-{kind}")
                  for kind in ("perf.data", "trace.dat")}
        if not all(stores.values()):
            continue
        perf = check_perf(run, stores["perf.data"])
        ftrace = check_tracecmd(run, stores["trace.dat"])
        check_same(run, perf, ftrace)
        if (folder / "trace.v7.dat").exists():
            packed = support.import_trace(folder / "trace.v7.dat", f"{run}-v7")
            ok(packed and read_store(packed)[0] == ftrace, f"{run}: version 7 holds the same events")
    done()


main()
