#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What weft diagnose says of functions that nobody asked about, of traces made by hand: whether slow
executions do more, or the same for longer; names that are long. usage: test_diagnose.py WEFT"""
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tap  # noqa: E402
from tap import ok  # noqa: E402

weft = tap.runner(os.path.abspath(sys.argv[1]))
EXECUTIONS, EVERY, PART_US = 400, 20, 35
LONG = "std::map<int, " + "very_long::" * 40 + "int>::find(char const*)"


def diagnose(slow_calls, slow_us, name="process"):
    """Of 400 executions that call decode once each, and every 20th so often, for so long."""
    events, at = [], 0
    for i in range(EXECUTIONS):
        is_slow = i % EVERY == 7
        begin, us = at, slow_us if is_slow else PART_US + i % 5
        at += 2
        for _ in range(slow_calls if is_slow else 1):
            events.append({"name": "decode", "ph": "X", "ts": at, "dur": us, "pid": 1, "tid": 1})
            at += us + 1
        events.append({"name": name, "ph": "X", "ts": begin, "dur": at + 1 - begin, "pid": 1, "tid": 1})
        at += 5000
    with open("made.json", "w", encoding="ascii") as out:
        json.dump({"traceEvents": events}, out)
    weft("import", "-q", "-o", "made.weft", "made.json")
    done = weft("diagnose", "made.weft", "--json")
    return json.loads(done.stdout)["types"][0] if done.returncode == 0 else {"explanation": done.stderr}


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        told = diagnose(40, PART_US + 1)
        ok(told.get("significant") is False and told["explanation"].startswith("Nothing significant: 20 of 400 "),
           "a task of 40 parts is not slow", told)
        ok("do more: 40 calls of `decode` instead of 1" in told["explanation"], "and what it does more is told",
           told["explanation"])
        told = diagnose(1, 1500)
        ok(told.get("significant") is True and "longer in `process > decode`" in told["explanation"],
           "one part that is longer is", told)
        told = diagnose(1, 1500, LONG)
        ok(told.get("significant") is True and told["explanation"].startswith("20 of 400 "),
           "executions of a function with a name of 470 bytes are found", told)
        os.chdir("/")
    tap.done()


if __name__ == "__main__":
    main()
