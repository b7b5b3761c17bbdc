#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What weft advises: commands that it prints do as they are printed, and what is told beside the
answer reaches its reader. usage: test_advice.py WEFT"""
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tap  # noqa: E402
from tap import ok  # noqa: E402

WEFT = sys.argv[1]
WORK = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("WEFT_BUILD_ROOT")))


def weft(*arguments):
    return subprocess.run([WEFT, *map(str, arguments)], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False)


def as_printed(command):
    """A line that weft printed, as a shell would run it."""
    words = shlex.split(command)
    return weft(*words[1:]) if words[:1] == ["weft"] else weft("help", "-")


# ---- a trace whose names are hard: a blank in the file's, too ---------------------------------

EVENTS = []


def event(phase, tid, at, name, **more):
    EVENTS.append({"ph": phase, "pid": 7, "tid": tid, "ts": at, "name": name, "cat": "test",
                   **more})


for tid, thread in (1, "ctl"), (2, "tlm"):
    event("M", tid, 0, "thread_name", args={"name": thread})
for number in range(30):
    at = 1000 * number
    # Probes of two threads, with the same numbers: within the process an end has two begins.
    event("i", 1, at, "job_begin", s="t", args={"id": number})
    event("i", 2, at + 5, "job_begin", s="t", args={"id": number})
    event("i", 2, at + 20, "job_end", s="t", args={"id": number})
    event("i", 1, at + 90, "job_end", s="t", args={"id": number})
    for name in "#400", "say \"hi\"\\", "größer als 日本", "it's":
        at += 100
        event("X", 1, at, name, dur=50)
        event("X", 1, at + 10, "deep", dur=30)
        event("X", 1, at + 12, "deep", dur=20)
for number in range(12):  # at its top here, below others there
    event("X", 2, 100000 + 100 * number, "deep", dur=40)
TRACE = WORK / "a trace.weft"
(WORK / "a.json").write_text(json.dumps({"traceEvents": EVENTS}))
made = weft("import", "-q", "-o", TRACE, WORK / "a.json")
ok(made.returncode == 0, "the trace is made", made.stderr)

# ---- proposals ---------------------------------------------------------------------------------

proposals = json.loads(weft("executions", TRACE, "--json").stdout)["proposals"]
names = {proposal["type"] for proposal in proposals}
ok({"ctl", "tlm", "#400", "say \"hi\"\\", "größer als 日本", "it's", "deep"} <= names,
   "what repeats is proposed", names)
for proposal in proposals:
    options = [word for option in ("begin", "end", "match", "within") if proposal[option]
               for word in (f"--{option}", proposal[option])]
    done = weft("executions", TRACE, "--json", *options)
    kinds = json.loads(done.stdout or '{"types": []}')["types"]
    ok([(kind["count"], kind["unfinished"], kind["ends_unmatched"]) for kind in kinds]
       == [(proposal["count"], 0, 0)], f"{proposal['type']}: the options find what is counted",
       (proposal, kinds, done.stderr))
told = weft("executions", TRACE).stdout
ok("--within" in told.splitlines()[2], "the table has all options", told)
first = as_printed(told[told.index("weft executions "):].replace(" \\\n", " ").strip())
ok(first.returncode == 0 and f"{proposals[0]['count']} executions" in first.stdout.splitlines()[0],
   "the command that is printed does as it is", first.stdout + first.stderr)
for name in "#400", "say \"hi\"\\":
    done = weft("diagnose", TRACE, "--type", name)
    ok(done.returncode == 0, f"{name} is diagnosed", done.stderr)
    more = [line.strip() for line in done.stdout.splitlines() if "weft compare" in line]
    if more:
        done = as_printed(more[0].removeprefix("more: "))
        ok(done.returncode == 0, f"{name}: and the command for more", done.stderr)

# ---- examples follow the dependencies that the answer rests on ---------------------------------

EVENTS.clear()
for number in range(60):  # thread 2 waits in take until thread 1 gives; every sixth is slow
    at, slow = 1000 * number, 400 if number % 6 == 0 else 0
    event("X", 2, at, "serve", dur=300 + slow)
    event("X", 2, at + 10, "take", dur=200 + slow)
    event("i", 2, at + 200 + slow, "taken", s="t", args={"id": number})
    event("X", 1, at, "make", dur=190 + slow)
    event("i", 1, at + 185 + slow, "given", s="t", args={"id": number})
(WORK / "b.json").write_text(json.dumps({"traceEvents": EVENTS}))
weft("import", "-q", "-o", WORK / "b.weft", WORK / "b.json")
rules = WORK / "the rules"
rules.write_text("execution serve is call:serve\n"
                 "depend queue from instant:given to instant:taken match id\n")
groups = ["--a", "duration<500us", "--b", "duration>500us"]
compared = json.loads(weft("compare", WORK / "b.weft", "--rules", rules, *groups,
                           "--json").stdout)
commands = [row["command"] for row in compared["executions_b"] + compared["causes"]]
diagnosed = weft("diagnose", "--verbose", WORK / "b.weft", "--rules", rules).stdout
commands += [line.strip().removeprefix("example").strip() for line in diagnosed.splitlines()
             if line.strip().startswith("example")]
ok(len(commands) >= 5 and all(f"--rules '{rules}'" in command for command in commands),
   "examples name the file of rules", commands)
opened = as_printed(commands[0] + " --json")
ok(opened.returncode == 0 and any(segment["tid"] == 1 for segment in
                                  json.loads(opened.stdout)["segments"]),
   "and their path goes on at the other thread", opened.stderr)

# ---- what a database holds ---------------------------------------------------------------------

DB = WORK / "d.db"
for tag, host in ("v 1", "here"), ("v2", ""):
    weft("executions", WORK / "b.weft", "--rules", rules, "--db", DB, "--tag", tag,
         *(["--host", host] if host else []))
done = weft("info", DB, "--json")
held = json.loads(done.stdout or '{"sources": []}')["sources"]
ok([(row["type"], row["tag"], row["host"], row["executions"], row["complete"]) for row in held]
   == [("serve", "v 1", "here", 60, True), ("serve", "v2", None, 60, True)],
   "info of a database has its sources", done.stdout + done.stderr)
text, table = weft("info", DB).stdout, weft("info", DB, "--format", "csv").stdout
ok("120 executions of 2 sources" in text and len(table.splitlines()) == 3, "as text, as CSV", text)
ok("expected a trace, found a database" in weft("states", DB).stderr,
   "a database where a trace is wanted is told to be one")
done = weft("info", WORK / "a.json")
ok("another format (trace event JSON)" in done.stderr and f"weft import {WORK / 'a.json'}" in done.stderr,
   "another file is named, with the command that makes a trace of it", done.stderr)

# ---- remarks beside CSV and JSON ---------------------------------------------------------------

for form in "csv", "json":
    done = weft("executions", TRACE, "--format", form, "--begin", "enter:#400", "--end",
                "exit:nowhere")
    ok("30 began and none ended" in done.stderr, f"{form}: why none ended is told", done.stderr)
    ok(not weft("executions", TRACE, "--format", form, "-q", "--begin", "enter:#400", "--end",
                "exit:nowhere").stderr, f"{form}: but not with -q")
done = weft("executions", TRACE, "--begin", "syscall_exit:accept*", "--end",
            "syscall_enter:shutdown", "--match", "fd")
ok("no event of kind 'syscall_exit'" in done.stderr, "what the trace lacks is reported", done.stderr)
tap.done()
