#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CTF traces, event by event and field by field, against babeltrace2 (skipped where it is not
installed) and against recorded counts of traces that it cannot read. usage: test_ctf.py CTF_TEXT"""
import collections
import csv
import re
import shutil
import subprocess
import sys

import support
from support import done, note, ok

CTF_TEXT = sys.argv[1]
PREFIX = re.compile(r"^(timestamp = [^,]*, )?(?:model.emf.uri = [^ ]*, )?name = ")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


def babeltrace(trace, clock):
    """Lines of babeltrace2, and whether it read all of the trace."""
    run = subprocess.run(["babeltrace2", "--fields=emf", "--names=all", "--no-delta", clock, trace],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    lines = run.stdout.decode("utf-8", "surrogateescape").splitlines()
    # Without fields there is a comma behind the name.
    return [PREFIX.sub(r"\1name = ", line.removesuffix(", ")) for line in lines], run.returncode == 0


def decode(trace, *options):
    """Lines of the decoder, and what it counted."""
    run = subprocess.run([CTF_TEXT, *options, trace], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, check=False)
    counts = {}
    errors = run.stderr.decode("utf-8", "replace")
    for line in errors.splitlines():
        word, _, rest = line.partition(" ")
        counts[word] = int(rest) if rest.isdigit() else rest
    if run.returncode not in (0, 1) or "Sanitizer" in errors:
        ok(False, f"{trace.name}: the decoder ends by itself", errors)
    return run.stdout.decode("utf-8", "surrogateescape").splitlines(), counts


def without_stale_strings(theirs, ours):
    """babeltrace2 2.0.4 prints the string of an earlier event where one is empty."""
    left = collections.Counter(theirs) - collections.Counter(ours)
    right = collections.Counter(ours) - collections.Counter(theirs)
    blank = collections.Counter()
    for line, count in right.items():
        blank[STRING.sub('""', line)] += count * ('""' in line)
    stale = 0
    for line, count in left.items():
        hidden = STRING.sub('""', line)
        if blank[hidden] >= count:
            blank[hidden] -= count
            stale += count
    return sum(left.values()) - stale, sum(right.values()) - stale, stale


def is_sorted(lines):
    """Times never step back."""
    times = [line.split(",", 1)[0] for line in lines if line.startswith("timestamp")]
    return all(a <= b for a, b in zip(times, times[1:]))


def compare(trace, row):
    """One trace against babeltrace2."""
    theirs, is_whole = babeltrace(trace, "--clock-cycles")
    ours, counts = decode(trace, "-c")
    missing, extra, stale = without_stale_strings(theirs, ours)
    if stale:
        note(f"{trace.name}: {stale} stale strings of babeltrace2")
    expected = max(int(row["bt1_events"] or 0), int(row["bt2_events"] or 0))
    if is_whole:
        ok(missing == 0 and extra == 0, f"{trace.name}: {len(ours)} events like babeltrace2's",
           f"{missing} missing, {extra} more; {counts}")
        seconds, _ = babeltrace(trace, "--clock-seconds")
        near = [line for line in seconds if line.startswith("timestamp")]
        mine = [line for line in decode(trace)[0] if line.startswith("timestamp")]
        ok(len(near) == len(mine) and all(
            abs(nanoseconds(a) - nanoseconds(b)) <= 2 for a, b in zip(sorted(near), sorted(mine))),
           f"{trace.name}: times like babeltrace2's, within its rounding")
        ok(is_sorted(mine), f"{trace.name}: in order of time")
    elif "error" in counts:
        ok(len(theirs) == 0 and ": " in counts["error"] and "expected" in counts["error"],
           f"{trace.name}: refused with a reason", counts["error"])
    else:
        ok(missing == 0 and len(ours) >= expected, f"{trace.name}: {len(ours)} events, all that "
           f"babeltrace2 reads ({len(theirs)}) and more", f"{missing} missing of {expected}; {counts}")


def compare_notations(folder):
    """CTF 2 traces against the same ones in CTF 1.8."""
    for trace in sorted(folder.glob("CTF2-7.0-*")):
        twin = folder / trace.name.replace("CTF2-7.0-", "bt__succeed__")
        ours, counts = decode(trace)
        theirs, _ = decode(twin)
        # Whoever made the copies replaced a letter in the data, too.
        theirs = [line.replace("libhello-so", "libhello_so") for line in theirs]
        ok(ours == theirs and len(ours) > 0, f"{trace.name}: {len(ours)} events in both notations",
           str(counts))
    ours, _ = decode(folder / "CTF2-vl-ints")
    ok(len(ours) == 1 and "vu10 = 18446744073709551615" in ours[0]
       and "vi10c = -9223372036854775808" in ours[0], "numbers of variable length")


def nanoseconds(line):
    """Of "timestamp = S.NNNNNNNNN, ..." """
    whole, _, part = line.split(",", 1)[0].removeprefix("timestamp = ").partition(".")
    return int(whole) * 10**9 + int(part)


def main():
    support.unpack_all("ctf")
    folder = support.TRACES / "ctf"
    has_babeltrace = shutil.which("babeltrace2") is not None
    if not has_babeltrace:
        print("1..0 # SKIP babeltrace2 is not installed")
        return
    with open(folder / "index.tsv", encoding="utf-8") as rows:
        for row in csv.DictReader(rows, delimiter="\t", quoting=csv.QUOTE_NONE):
            trace = folder / "ctf-traces" / row["name"]
            if trace.is_dir():
                compare(trace, row)
    compare_notations(folder / "ctf-traces")
    done()


main()
