#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How weft record ends: the closing line has the numbers of the finished trace, a full disk is
stated and counted, wrong usage runs nothing, and a recording that ends before its program is a
trace at once. usage: test_record_closing.py WEFT RECORDED"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tap  # noqa: E402
from tap import ok  # noqa: E402

WEFT, PROGRAM = map(os.path.abspath, sys.argv[1:3])
run = tap.runner(WEFT)
AFTER_S = 5  # what a program may take that outlives its recording


def info(path):
    got = run("info", path, "--json")
    return json.loads(got.stdout) if got.returncode == 0 else {"error": got.stderr}


def number(pattern, text):
    found = re.search(pattern, text)
    return int(found.group(1).replace(",", "")) if found else None


def closing_line(path, text):
    return next((line for line in text.splitlines() if line.startswith(f"weft: {path}: ")), "")


def lost(about):
    """Records that the trace says are missing: neither bytes nor processes."""
    return sum(note["count"] for note in about["notes"]
               if note["class"] == "lost" and note["kind"] not in ("truncated", "bad_record", "unwritten",
                                                                  "not_recorded"))


def check_line(path, said, name):
    """Each number of the line is one that info has of the same file."""
    about, line = info(path), closing_line(path, said)
    text = re.sub(r"\n {13}", " ", run("info", path).stdout)  # lines are broken
    lasted = re.search(r"^  time +([^,]+),", text, re.M)
    size = re.search(r"^  size +([\d.]+ \w+)", text, re.M)
    cost = re.search(r"recorder [\d.]+ ms CPU(?: \([\d.]+ % of a CPU\))?", text)
    agree = [lasted and f": {lasted.group(1)}, " in line, number(r", ([\d,]+) events?,", line) == about["events"],
             (number(r", ([\d,]+) calls?,", line) or 0) == about["calls"],
             number(r", ([\d,]+) lost", line) == lost(about), size and f", {size.group(1)}" in line,
             line.endswith(", " + cost.group(0)) if cost else "recorder" not in line,
             ("of a CPU" in line) == (about["duration_ns"] >= 1e9)]
    return ok(all(agree), name, (agree, line, text))


def test_line():
    got = run("record", "-o", "short.weft", "--", PROGRAM, "known", 4, 1000)
    check_line("short.weft", got.stderr, "the closing line of a short recording is that of info")
    got = run("record", "-o", "long.weft", "--", PROGRAM, "run", "1.3")
    check_line("long.weft", got.stderr, "and that of a long one, which has the recorder's share")
    got = run("record", "--no-kernel", "-o", "parts.weft", "--size", "30K", "--", PROGRAM, "much", 4)
    parts = sorted(str(part) for part in pathlib.Path(".").glob("parts*.weft"))
    ok(len(parts) > 1, "several files", parts)
    for part in (parts[0], parts[-1]):
        check_line(part, got.stderr, "each of several files has its line")


def test_lost():
    """Losses that the import finds are in the line, too. A ring of few words loses calls."""
    got = run("record", "--no-kernel", "-o", "lost.weft", "--", PROGRAM, "much", 40,
              env={**os.environ, "WEFT_RECORD_WORDS": "4096"})
    about = info("lost.weft")
    check_line("lost.weft", got.stderr, "what was lost")
    ok(lost(about) == 0 or " lost (weft info)" in closing_line("lost.weft", got.stderr),
       "and where the rest is said", got.stderr)


def record_full(size, *words):
    """What was said, the exit status and a copy of the file; None: nothing can be mounted."""
    os.makedirs("small", exist_ok=True)
    pathlib.Path("taken.weft").unlink(missing_ok=True)
    script = (f'mount -t tmpfs -o size={size} tmpfs small && "$@"; status=$?; '
              'cp small/full.weft taken.weft; exit $status')
    got = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", WEFT, "record", "--no-kernel", "-o",
                          "small/full.weft", "--", *map(str, words)], capture_output=True, text=True, check=False)
    return got if os.path.exists("taken.weft") else None


def test_full():
    for size in ("256k", "600k", "2m"):
        got = record_full(size, PROGRAM, "much", 4)
        if not got:
            tap.skip("no file system can be mounted")
            return
        line = closing_line("small/full.weft", got.stderr)
        about = info("taken.weft")
        unwritten = sum(note["count"] for note in about["notes"] if note["kind"] == "unwritten")
        ok("recording stopped" in got.stderr and unwritten > 0 and
           number(r"stopped: ([\d,]+) bytes not written", line) == unwritten,
           f"a disk of {size} that is full: what was not written is counted", (got, about["notes"]))
        ok(" 0 lost" not in line, "and nothing says that nothing was lost", line)
        ok(number(r", ([\d,]+) events?,", line) in (None, about["events"]), "events are those of the file", line)
        ok(got.returncode == 1, "and the exit status says so", got)
        text = run("info", "taken.weft").stdout
        ok("not written (disk full" in text and "not read" not in text, "info says what they are", text)
    got = record_full("256k", "sh", "-c", f"{PROGRAM} much 4; exit 7")
    ok(got and got.returncode == 7, "the program's own status comes first", got)


def test_usage():
    for option, value in (("--function", "("), ("--no-function", "["), ("--trigger", "step")):
        more = ["--snapshot", "1s"] if option == "--trigger" else []
        got = run("record", "--no-kernel", "-o", "wrong.weft", option, value, *more, "--", PROGRAM, "exit", 9)
        ok(got.returncode == 2 and option in got.stderr and not os.path.exists("wrong.weft"),
           f"{option} {value} is wrong usage", got)
    got = run("record", "--no-kernel", "-o", "wrong.weft", "--function", "x", "--", "./no-such-program")
    ok(got.returncode == 127 and "no-such-program" in got.stderr, "a program that is not there is not", got)
    got = run("record", "-o", "wrong.weft", "python3", "-c", "pass")
    ok(got.returncode == 2 and "unknown option '-c'" in got.stderr and "-- python3" in got.stderr,
       "an option behind the program: what to write", got)
    got = run("record", "--no-such-option", "python3")
    ok(got.returncode == 2 and "-- python3" not in got.stderr, "one before it is weft's", got)


def test_duration():
    """The trace is made when the duration is over, while the program runs."""
    begin = time.monotonic()
    recorder = subprocess.Popen([WEFT, "record", "--no-kernel", "-o", "early.weft", "-d", "200ms", "--", "sh", "-c",
                                 f"{PROGRAM} run 0.5; sleep {AFTER_S}; exit 5"], stderr=subprocess.PIPE, text=True)
    line = ""
    for line in recorder.stderr:
        if line.startswith("weft: early.weft: "):
            break
    about = info("early.weft")
    ok(time.monotonic() - begin < AFTER_S and recorder.poll() is None and about.get("calls", 0) > 0 and
       run("info", "early.weft").stderr == "", "a trace before the program ends", (line, about))
    check_line("early.weft", line, "with its closing line")
    recorder.stderr.close()
    ok(recorder.wait() == 5 and time.monotonic() - begin >= AFTER_S, "and then the program's status")
    recorder = subprocess.Popen([WEFT, "record", "--no-kernel", "-o", "early.weft", "--force", "-d", "100ms", "--",
                                 "sleep", "60"], stderr=subprocess.PIPE, text=True)
    for line in recorder.stderr:
        if line.startswith("weft: early.weft: "):
            break
    recorder.send_signal(signal.SIGTERM)
    ok(recorder.wait() == 128 + signal.SIGTERM, "signals are passed on meanwhile", recorder.returncode)
    recorder.stderr.close()


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for test in (test_line, test_lost, test_full, test_usage, test_duration):
            test()
        os.chdir("/")
    tap.done()


if __name__ == "__main__":
    main()
