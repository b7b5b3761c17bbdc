#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The programs of examples/cases whose executions are slow, recorded at all levels and diagnosed: the
first sentence of a broken one names its cause, that of a fixed one none of it. Other programs of a
loaded machine are a cause too, and hide others: a recording is repeated a few times, and if even then
most slow executions are slow because of them, that is the truth, and nothing is proved."""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from runtime_support import BUILD, done, ok, skip  # noqa: E402

WEFT = os.path.join(BUILD, "weft")
TRIES = 6

# Program, executions, what the first sentence of the broken variant names.
CASES = [
    ("preemption", 200, ["preempted by thread `telemetry", "telemetry_encode"]),
    ("fsync", 400, ["blocked: block device", "for thread `logger`", "fsync"]),
    ("lock", 200, ["for thread `journal`", "remap_private_view"]),
    ("sleep", 4000, ["blocked: timer", "wait_before_retry"]),
]


def record(folder, name, count, *options):
    """What is diagnosed of a new recording; None, with the reason, if the kernel was not recorded."""
    trace = os.path.join(folder, "case.weft")
    made = subprocess.run([WEFT, "record", "-o", trace, "--", os.path.join(BUILD, "examples/cases", name),
                           "--runs", str(count), *options, folder],
                          capture_output=True, text=True, timeout=120)
    about = subprocess.run([WEFT, "info", trace, "--json"], capture_output=True, text=True, timeout=120)
    if made.returncode != 0 or "kernel by" not in about.stdout:
        return None, made.stderr
    found = subprocess.run([WEFT, "diagnose", "-q", trace, "--json"], capture_output=True, text=True,
                           timeout=120)
    os.unlink(trace)
    return (json.loads(found.stdout)["types"][0] if found.returncode == 0 else {}), found.stderr


def first_sentence(text):
    return re.split(r"\.(?= |$)", text)[0]


def names(found, wanted):
    sentence = first_sentence(found["explanation"])
    return found["significant"] and all(word in sentence for word in wanted)


def is_elsewhere(found):
    """Are more executions slow for other programs than for anything in this one?"""
    count = {"program": 0, "other program": 0}
    for cause in found.get("causes", []):
        count[cause["place"]] = count.get(cause["place"], 0) + cause["executions"]
    return count["other program"] > count["program"]


def check(folder, name, count, wanted, is_fixed):
    """Notes of each recording that did not do; it ends with the first that did."""
    what = f"{name}{' --fixed' if is_fixed else ''}"
    notes, n_elsewhere = [], 0
    for _ in range(TRIES):
        found, why = record(folder, name, count, *(["--fixed"] if is_fixed else []))
        if found is None:
            skip(f"the kernel cannot be recorded here: {why.splitlines()[-1:]}")
            return
        if not found:
            ok(False, f"{what}: is diagnosed", why)
            return
        if names(found, wanted) != is_fixed:
            ok(True, f"{what}: {'nothing of its fault' if is_fixed else 'the cause comes first'}")
            return
        n_elsewhere += is_elsewhere(found)
        notes.append(found["explanation"])
    if n_elsewhere > 0 and not is_fixed:
        skip(f"{what}: other programs had the processors: {notes[-1]}".replace("#", ""))
        return
    ok(False, f"{what}: {'nothing of its fault' if is_fixed else 'the cause comes first'}",
       "\n".join(notes))


with tempfile.TemporaryDirectory() as work:
    for case in CASES:
        for fixed in (False, True):
            check(work, *case, fixed)
done()
