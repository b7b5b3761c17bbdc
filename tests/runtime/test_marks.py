#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""include/weft/mark.h: every kind of executable finds the library when it is loaded, none needs it,
and static ones stay without; marks word for word; the probes are well-formed notes."""
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from runtime_support import done, equal, ok, run, skip, target  # noqa: E402


def double(word):
    return struct.unpack("<d", struct.pack("<Q", word))[0]


def read(event):
    """(kind, id, value, text)"""
    n_numbers = {"MARK_BEGIN": 1, "MARK_END": 1, "MARK_METRIC": 2, "MARK_COUNTER": 1,
                 "TASK_QUEUED": 1, "TASK_BEGIN": 1, "TASK_END": 1}.get(event.kind, 0)
    numbers, text = event.words[:n_numbers], event.text(n_numbers)
    value = double(numbers.pop()) if event.kind in ("MARK_METRIC", "MARK_COUNTER") else None
    return event.kind, numbers[0] if numbers else None, value, text


WANT = [("THREAD_NAME", None, None, "a name of more than fifteen bytes"),
        ("MARK_BEGIN", 7, None, "request"), ("MARK_METRIC", 7, 4096.5, "bytes"),
        ("MARK_INSTANT", None, None, "instant"), ("MARK_COUNTER", None, -0.25, "counter"),
        ("TASK_QUEUED", 1, None, "queue"), ("TASK_BEGIN", 1, None, "queue"),
        ("TASK_END", 1, None, "queue"), ("SNAPSHOT", None, None, "why"),
        ("MARK_INSTANT", None, None, ""), ("MARK_INSTANT", None, None, "x" * 496),
        ("MARK_END", (1 << 64) - 1, None, "request")]


def executable(name):
    path = target(name)
    if not os.path.exists(path):
        skip(f"{name} was not built")
        return
    alone = subprocess.run([path], capture_output=True, text=True, check=False)
    equal((alone.returncode, alone.stdout), (0, "0\n"), f"{name}: alone")
    with run([path], env={"WEFT_RECORD": ""}) as it:
        equal((it.status, it.out), (0, "0\n"), f"{name}: with the library, not recorded")
    with run([path], env={"WEFT_RECORD_OPERATIONS": "0"}) as it:
        if "static" in name:
            equal((it.status, it.out, it.events()), (0, "0\n", []), f"{name}: nothing is recorded")
            return
        marks = [event for event in it.events()[0] if "WAIT" not in event.kind]
        equal((it.status, it.out, [read(event) for event in marks]), (0, "1\n", WANT),
              f"{name}: every mark")


def probes(name):
    notes = subprocess.run(["readelf", "-n", target(name)], capture_output=True, text=True,
                           check=False).stdout
    names = [line.split()[1] for line in notes.splitlines() if line.strip().startswith("Name:")]
    providers = [line for line in notes.splitlines() if line.strip() == "Provider: weft"]
    equal(sorted(set(names)), sorted(["begin", "end", "metric", "instant", "counter", "task_queued",
                                      "task_begin", "task_end", "thread_name", "snapshot"]),
          f"{name}: its probes")
    ok(len(providers) == len(names) >= 10, f"{name}: all of provider weft")


for variant in ("target_marks", "target_marks_no_pie", "target_marks_static", "target_marks_cxx",
                "target_marks_clang"):
    executable(variant)
if os.uname().machine == "x86_64":
    probes("target_marks")
    if os.path.exists(target("target_marks_cxx")):
        probes("target_marks_cxx")
done()
