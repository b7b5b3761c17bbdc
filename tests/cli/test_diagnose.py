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


def put_ftrace(path, lost):
    """400 executions that wait for nobody knows what; after every 50th the tracer says what it lost."""
    at, lines = 1.0, []
    for i in range(EXECUTIONS):
        length = 0.005 if i % EVERY == 7 else 0.0005 + i % 7 * 1e-6
        switch = "sched_switch: prev_comm={} prev_pid={} prev_prio=120 prev_state={} ==> next_comm={} next_pid={} " \
                 "next_prio=120"
        lines += [f" app-100 [000] ..... {at:.6f}: req_begin: id={i}",
                  f" app-100 [000] d..2. {at + 1e-4:.6f}: " + switch.format("app", 100, "S", "swapper/0", 0),
                  f" <idle>-0 [000] d..2. {at + length:.6f}: " + switch.format("swapper/0", 0, "R", "app", 100),
                  f" app-100 [000] ..... {at + length + 1e-4:.6f}: req_end: id={i}"]
        if lost and i % 50 == 49:
            lines.append(f"CPU:0 [LOST {lost} EVENTS]")
        at += length + 0.001
    with open(path, "w", encoding="ascii") as out:
        out.write("# tracer: nop\n" + "\n".join(lines) + "\n")


def test_confidence():
    """Losses and what is unexplained lower it, in every form, of a trace and of a database."""
    rule = ("--begin", "instant:req_begin", "--end", "instant:req_end", "--match", "id")
    values = {}
    for name, lost in (("whole", 0), ("lost", 400)):
        put_ftrace(f"{name}.txt", lost)
        weft("import", "-q", "-o", f"{name}.weft", f"{name}.txt")
        told = json.loads(weft("diagnose", "--json", *rule, f"{name}.weft").stdout)["types"][0]
        values[name] = told["confidence"]["value"]
        reasons = told["confidence"]["reasons"]
        ok(("67 % of the records of the trace are lost" in reasons) == (lost > 0) and
           any(reason.endswith("is unexplained") for reason in reasons), f"{name}: the reasons are told", told)
        ok(told["confidence"]["level"] == "low" and "Confidence: low (" in told["explanation"],
           f"{name}: the sentences say so", told["explanation"])
        ok(all(cause["confidence"]["level"] == "low" for cause in told["causes"]), f"{name}: so does each cause",
           told["causes"])
        rows = weft("diagnose", "--format", "csv", *rule, f"{name}.weft").stdout.splitlines()
        ok(rows[0].endswith("confidence,confidence_level") and rows[1].endswith(",low"), f"{name}: CSV does", rows)
        ok("\n    confidence low (" in weft("diagnose", "--verbose", *rule, f"{name}.weft").stdout,
           f"{name}: so does the evidence")
    ok(abs(values["lost"] - values["whole"] / 3) < 0.01, "losses lower it by their share", values)
    weft("executions", "-q", *rule, "--db", "lost.db", "lost.weft")
    kept = json.loads(weft("diagnose", "--json", "lost.db").stdout)["types"][0]["confidence"]
    ok(kept["value"] == values["lost"] and "67 % of the records of the trace are lost" in kept["reasons"],
       "of a database, too", kept)
    verdict = json.loads(weft("compare", "--json", "lost.db", "--a", "duration<1ms", "--b",
                              "duration>=1ms").stdout)
    ok("Confidence: low (" in verdict["verdict"] and verdict["confidence"]["level"] == "low",
       "a verdict ends with it", verdict["verdict"])


def test_cut_file():
    """A file that ends early is not called complete."""
    put_ftrace("whole.txt", 0)
    weft("import", "-q", "-o", "whole.weft", "whole.txt")
    with open("whole.weft", "rb") as whole:
        data = whole.read()
    with open("cut.weft", "wb") as cut:
        cut.write(data[:len(data) - 100])
    found = {name: (weft("diagnose", "-q", name).stdout.replace("\n    ", " "),
                    json.loads(weft("diagnose", "-q", "--json", name).stdout)["trace"]["ends_early"])
             for name in ("whole.weft", "cut.weft")}
    ok("the file ends early" not in found["whole.weft"][0] and not found["whole.weft"][1], "a whole file does not",
       found["whole.weft"])
    ok("the file ends early" in found["cut.weft"][0] and "complete" not in found["cut.weft"][0] and
       found["cut.weft"][1], "a file that ends early is not complete", found["cut.weft"])


def test_last_turn():
    """After its last sleep a thread works for long, and ends: that is no iteration of its loop."""
    with open("last.py", "w", encoding="ascii") as out:
        out.write("import time\nfor _ in range(60):\n    time.sleep(0.002)\n"
                  "until = time.monotonic() + 0.4\nwhile time.monotonic() < until:\n    pass\n")
    weft("record", "-q", "--no-kernel", "-o", "last.weft", "--", os.path.realpath(sys.executable), "last.py")
    types = json.loads(weft("diagnose", "-q", "--json", "last.weft").stdout)["types"]
    ok([kind["executions"] for kind in types] == [59], "what ends with its thread is no execution", types)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        told = diagnose(40, PART_US + 1)
        ok(told.get("significant") is False and told["explanation"].startswith("Nothing significant: 20 of 400 "),
           "a task of 40 parts is not slow", told)
        ok("do more: 40 calls of `decode` instead of 1" in told["explanation"], "and what it does more is told",
           told["explanation"])
        weft("executions", "-q", "--db", "made.db", "made.weft")
        kept = json.loads(weft("diagnose", "--json", "made.db").stdout)["types"][0]
        ok(kept["verdict"] == "more_work" and kept["explanation"] == told["explanation"],
           "a database of what the trace suggests tells it, too", kept)
        told = diagnose(1, 1500)
        ok(told.get("significant") is True and "longer in `process > decode`" in told["explanation"],
           "one part that is longer is", told)
        ok(told["confidence"]["level"] == "high" and "Confidence" not in told["explanation"],
           "what is recorded in full has a high confidence", told)
        told = diagnose(1, 1500, LONG)
        ok(told.get("significant") is True and told["explanation"].startswith("20 of 400 "),
           "executions of a function with a name of 470 bytes are found", told)
        test_confidence()
        test_cut_file()
        test_last_turn()
        os.chdir("/")
    tap.done()


if __name__ == "__main__":
    main()
