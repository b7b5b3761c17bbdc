#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program without functions: what its threads do between two waits is what is proposed, and diagnosed.
usage: test_record_turns.py WEFT TURNS"""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tap  # noqa: E402
from tap import ok  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[2])
WEFT = os.path.abspath(sys.argv[1])
weft = tap.runner(WEFT)
TRACE = "turns.weft"
SERVERS, REQUESTS, SLOW = 2, 150, 15
THREADS, SLEEPS = 2000, 12
MOST_MIB = 600  # a thread that keeps a chunk takes 1 MiB; sanitizers keep 256 MiB of what is freed
LONGEST = 300  # characters of a first sentence


def test_proposals():
    rows = json.loads(weft("executions", TRACE, "--json").stdout)["proposals"]
    kinds = {row["type"]: row for row in rows}
    server = kinds.get("server after recv")
    if not ok(server is not None, "threads of a pool are one type, called after what they wait in", rows):
        return
    ok(rows[0]["why"].startswith("loop") and "loop" in server["why"], "turns come before single calls", rows)
    ok(SERVERS * REQUESTS <= server["count"] <= SERVERS * (REQUESTS + 1), "as many as waits", server)
    found = weft("executions", TRACE, "--json", "--begin", server["begin"], "--end", server["end"])
    types = json.loads(found.stdout)["types"]
    ok(types[0]["count"] == server["count"] and types[0]["unfinished"] <= SERVERS,
       "the rules find as many", types)
    named = json.loads(weft("executions", TRACE, "--json", "--type", server["type"]).stdout)["types"]
    ok([row["count"] for row in named] == [server["count"]], "a detected type is found by its name", named)
    unknown = weft("executions", TRACE, "--type", "none")
    ok(unknown.returncode == 1 and "no executions of type 'none' are detected" in unknown.stderr, "or said not to be there", unknown)
    ok("turns after nanosleep" in kinds, "the client waits longer for answers, but usually for its timer",
       kinds.keys())


def test_diagnosis():
    done = weft("diagnose", TRACE, "--json")
    types = {kind["type"]: kind for kind in json.loads(done.stdout)["types"]}
    server = types["server after recv"]
    first = re.split(r"\.(?= |\n|$)", server["explanation"])[0]
    ok(server["significant"] and all(word in first for word in ("table", "thread `keeper`", "nanosleep")),
       "the first sentence names the lock, who has it, and what that does", first)
    ok(first.startswith(f"{SLOW} of {SERVERS * (REQUESTS + 1)} "), "and how many wait for it", first)
    ok(all(len(re.split(r"\.(?= |\n|$)", kind["explanation"])[0]) <= LONGEST for kind in types.values()),
       "first sentences are short", types)
    ok("did not end" not in done.stderr, "that the last turn of a thread never ends is not told", done.stderr)


def found_by(trace, row):
    """How many executions the rules of a proposal find."""
    found = weft("executions", trace, "--json", "--begin", row["begin"], "--end", row["end"])
    return json.loads(found.stdout)["types"][0]["count"]


def test_names():
    """A pattern of names that would find others, too, is not proposed."""
    trace = "names.weft"
    for names in (["w1", "w2", "watchdog"], ["w1", "w2", "v"], ["w", "w1", "wa1", "wa2"]):
        weft("record", "-q", "--no-kernel", "-o", trace, "--", PROGRAM, *names)
        rows = json.loads(weft("executions", trace, "--json").stdout)["proposals"]
        turns = {row["type"]: row for row in rows if "after nanosleep" in row["type"]}
        ok(all(found_by(trace, row) == row["count"] for row in turns.values()),
           f"threads {', '.join(names)}: the rules find as many as was said", turns)
        n_all = sum(row["count"] for row in turns.values())
        ok((SLEEPS - 1) * len(names) <= n_all <= SLEEPS * len(names), "each thread is in one type", turns)
        os.remove(trace)


def peak_mib(*arguments):
    """What a run of weft takes at most, and its status."""
    with open(os.devnull, "w", encoding="ascii") as out:
        run = subprocess.Popen([WEFT, *arguments], stdin=subprocess.DEVNULL, stdout=out)
        _, status, usage = os.wait4(run.pid, 0)
        run.returncode = status
    return usage.ru_maxrss // 1024, status


def test_many():
    """Threads share what is decoded of their calls' texts."""
    trace = "many.weft"
    weft("record", "-q", "--no-kernel", "-o", trace, "--", PROGRAM, str(THREADS))
    rule = 'nanosleep where caller="sleep_*"'
    for name, rules in (("proposals", []), ("a rule for callers", ["--begin", f"exit:{rule}", "--end", f"enter:{rule}"])):
        mib, status = peak_mib("executions", "-q", trace, *rules)
        ok(status == 0 and mib < MOST_MIB, f"{name} of {THREADS} threads", (status, mib))


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        done = weft("record", "-q", "--no-kernel", "-o", TRACE, "--", PROGRAM)
        ok(done.returncode == 0, "recorded", done.stderr)
        test_proposals()
        test_diagnosis()
        test_names()
        test_many()
        os.chdir("/")
    tap.done()


if __name__ == "__main__":
    main()
