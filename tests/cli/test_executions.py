#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""weft executions, from outside: types of every kind of rule, metrics, janks, proposals, errors.
usage: test_executions.py WEFT"""
import csv
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile

WEFT = sys.argv[1]
WORK = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("WEFT_BUILD_ROOT")))
n_run = 0
n_failed = 0


def ok(is_ok, name, note=""):
    global n_run, n_failed
    n_run += 1
    n_failed += not is_ok
    print(f"{'ok' if is_ok else 'not ok'} {n_run} - {name}", flush=True)
    if not is_ok:
        print("#", str(note)[:900].replace("\n", "\n# "))


def weft(*arguments):
    return subprocess.run([WEFT, *map(str, arguments)], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False)


def found(*arguments):
    """The JSON of weft executions, {} after a failure."""
    done = weft("executions", TRACE, "--json", *arguments)
    if done.returncode != 0:
        ok(False, " ".join(map(str, arguments)), done.stderr)
        return {"executions": [], "types": [], "metrics": []}
    return json.loads(done.stdout)


def spans(document):
    return [(row["start_ns"] // 1000, row["end_ns"] // 1000, row["tid"], row["end_tid"])
            for row in document["executions"]]


# Times are microseconds, from 100 on; threads 1 and 2 of process 7, thread 3 of process 8.
EVENTS = []


def event(phase, tid, at, name, **more):
    EVENTS.append({"ph": phase, "pid": 8 if tid == 3 else 7, "tid": tid, "ts": 100 + at,
                   "name": name, "cat": "test", **more})


for number in range(5):  # serial calls, the fourth is slow; a call within a call of the same name
    start = 100 * number
    length = 60 if number == 3 else 10 + number
    event("X", 1, start, "batch", dur=length, args={"n": number, "size": {"rows": number * 2}})
    event("X", 1, start + 2, "batch" if number == 1 else "step", dur=4)
for number in range(3):  # parallel, from one thread to the other
    event("I", 1, 10 + number, "push", args={"id": number}, s="t")
    event("I", 2, 40 + 10 * number, "pop", args={"id": 2 - number, "waited": 7}, s="t")
event("I", 1, 300, "push", args={"id": 9}, s="t")  # never taken
event("I", 3, 310, "pop", args={"id": 9}, s="t")  # by another process
for number in range(2):
    event("b", 1, 200 + 50 * number, f"action:{number}", id=number)
    event("e", 2, 220 + 60 * number, f"action:{number}", id=number)
for at, value in (0, 3), (205, 5), (215, 9), (400, 1):
    event("C", 1, at, "depth", args={"depth": value})
event("M", 1, 0, "thread_name", args={"name": "producer"})
event("M", 2, 0, "thread_name", args={"name": "consumer"})
(WORK / "t.json").write_text(json.dumps({"traceEvents": EVENTS}))
TRACE = WORK / "t.weft"
made = weft("import", "-q", "-o", TRACE, WORK / "t.json")
ok(made.returncode == 0, "a trace imports", made.stderr)

# ---- kinds of rules --------------------------------------------------------------------------

calls = found("--begin", "call:batch")
ok(len(calls["executions"]) == 6 and calls["types"][0]["count"] == 6, "calls", calls)
nested = [row for row in calls["executions"] if row["flags"] == "nested"]
ok(len(nested) == 1 and nested[0]["duration_ns"] == 4000, "one of them within another", calls)
ok(spans(calls) == spans(found("--begin", "enter:batch", "--end", "exit:batch")),
   "the same by entry and exit")
ok(len(found("--begin", "call:batch where depth = 0")["executions"]) == 5, "outermost ones")
ok(len(found("--begin", "call:batch where duration >= 13us")["executions"]) == 2, "long ones")
ok(len(found("--begin", "call:batch where n > 1 and size.rows != 6")["executions"]) == 2,
   "by their arguments")
ok(len(found("--begin", "call:b?t*")["executions"]) == 6, "a name with * and ?")
ok(len(found("--begin", "call:batch", "--thread", "consumer")["executions"]) == 0,
   "not of the other thread")
ok(len(found("--begin", "call:batch", "--thread", "1")["executions"]) == 6, "of a tid")

queue = found("--type", "item", "--begin", "instant:push", "--end", "instant:pop", "--match", "id")
ok(sorted(spans(queue)) == [(10, 60, 1, 2), (11, 50, 1, 2), (12, 40, 1, 2), (300, 414, 1, 1)],
   "parallel, from thread to thread; one never ends", queue)
ok("unfinished" in queue["executions"][-1]["flags"] and queue["types"][0]["unfinished"] == 1,
   "which is said")
ok(queue["ends_unmatched"] == 1, "an end of another process")
ok(len([row for row in found("--begin", "instant:push", "--end", "instant:pop", "--match", "id",
                             "--within", "trace")["executions"] if "unfinished" not in row["flags"]]) == 4,
   "which counts within the trace")
ok([row["key"] for row in queue["executions"]] == [0, 1, 2, 9], "the matched field")

actions = found("--begin", "span:action:*", "--metric", "counter:depth.depth")
ok(spans(actions) == [(200, 220, 1, 2), (250, 280, 1, 2)], "spans", actions)
ok([row["metrics"]["depth.depth"] for row in actions["executions"]] == [9, 9]
   and [row["metrics"]["depth.depth_change"] for row in actions["executions"]] == [6, 0],
   "a counter at the end, and its change", actions)
ok(spans(found("--begin", "begin:action:*", "--end", "end:action:*")) == spans(actions),
   "the same by begin and end")

# ---- metrics, janks, formats -----------------------------------------------------------------

waited = found("--begin", "instant:push", "--end", "instant:pop", "--match", "id", "--metric",
               "waited,number=id")
ok([row["metrics"] for row in waited["executions"]]
   == [{"number": 0, "waited": 7}, {"number": 1, "waited": 7}, {"number": 2, "waited": 7},
       {"number": 9, "waited": None}], "fields of begin and end as metrics", waited)
janks = found("--begin", "call:batch", "--slower-than", "13us")
ok([row["duration_ns"] for row in janks["executions"]] == [60000, 14000], "janks, longest first",
   janks)
ok(janks["found"] == sum(row["duration_ns"] >= 13000 for row in calls["executions"]),
   "as many as there are")
ok(len(found("--begin", "call:batch", "-n", "2")["executions"]) == 2, "a limit")
row = calls["types"][0]
durations = sorted(row["duration_ns"] for row in calls["executions"])
ok(row["sum_ns"] == sum(durations) and row["p50_ns"] == durations[2]
   and row["max_ns"] == durations[-1] and row["mean_ns"] == sum(durations) // 6,
   "statistics of the type", row)
table = weft("executions", TRACE, "--begin", "call:batch", "--format", "csv", "--metric", "n")
rows = list(csv.DictReader(io.StringIO(table.stdout)))
ok([r["n"] for r in rows] == ["0", "1", "", "2", "3", "4"], "CSV with a metric", table.stdout)
text = weft("executions", TRACE, "--begin", "call:batch", "--slower-than", "20us")
ok("1 execution take" in text.stdout or "1 execution takes" in text.stdout, "text", text.stdout)
one, three = (weft("executions", TRACE, "--begin", "call:*", "--json", "-j", jobs).stdout
              for jobs in (1, 3))
ok(one == three and one, "the same for any number of workers")
ok("running" in found("--begin", "call:batch", "--path")["executions"][0]["metrics"],
   "times of critical paths")

# ---- rules from a file -----------------------------------------------------------------------

(WORK / "rules").write_text("""# two types, and how they depend on each other
execution batch is call:batch where depth = 0
  metric rows = size.rows
execution item
  begin instant:push   end instant:pop
  match id
depend queue from instant:push to instant:pop match id
""")
both = found("--rules", WORK / "rules")
ok([(kind["type"], kind["count"]) for kind in both["types"]] == [("batch", 5), ("item", 4)],
   "two types of a file", both)
ok(len(found("--rules", WORK / "rules", "--type", "item")["executions"]) == 4, "one of them")
for arguments, status, expected in [
        (["--rules", WORK / "rules", "--type", "none"], 1, "expected one type 'none'"),
        (["--rules", WORK / "nowhere"], 1, "nowhere"),
        (["--rules", WORK / "rules", "--begin", "call:f"], 2, "exclude each other"),
        (["--begin", "call:batch", "--end", "exit:batch"], 1, "--begin: line 1: column 11"),
        (["--begin", "enter:batch"], 1, "expected an end rule"),
        (["--begin", "cal:batch"], 1, "expected a rule such as call:NAME"),
        (["--end", "exit:batch"], 2, "expected --begin RULE"),
        (["--begin", "call:batch", "--tag", "x"], 2, "belong to --db")]:
    done = weft("executions", TRACE, *arguments)
    ok(done.returncode == status and expected in done.stderr and not done.stdout,
       f"{' '.join(str(word) for word in arguments[-2:]).replace(str(WORK), '')} is refused",
       done.stderr)
(WORK / "bad").write_text("execution a\n  begin call:f\n  end  whenever\n")
done = weft("executions", TRACE, "--rules", WORK / "bad")
ok(done.returncode == 1 and "bad: line 3: column 8: expected a rule" in done.stderr,
   "a bad file names line and column", done.stderr)

# ---- proposals, dependencies, database -------------------------------------------------------

proposed = json.loads(weft("executions", TRACE, "--json").stdout)["proposals"]
ok([row["begin"] for row in proposed] == ["span:action:*"], "what the trace suggests", proposed)
shown = weft("executions", TRACE)
ok("weft executions" in shown.stdout and "--begin 'span:action:*'" in shown.stdout,
   "and the command for it", shown.stdout)
path = json.loads(weft("path", TRACE, "--thread", "2", "--from", "0", "--to", "60us", "--json",
                       "--rules", WORK / "rules").stdout)
ok({segment["tid"] for segment in path["segments"]} == {1, 2}
   and any(segment["reason"] == "task" for segment in path["segments"]),
   "a path follows declared dependencies", path)
for tag in "old", "new", "new":
    done = weft("executions", TRACE, "--rules", WORK / "rules", "--type", "batch", "--db",
                WORK / "d.db", "--tag", tag)
    ok(done.returncode == 0 and "5 executions in" in done.stderr, f"into a database, as {tag}",
       done.stderr)
(WORK / "not.db").write_text("this is no database")
done = weft("executions", TRACE, "--begin", "call:batch", "--db", WORK / "not.db")
ok(done.returncode == 1 and "not.db" in done.stderr, "not into another file", done.stderr)
ok((WORK / "not.db").read_text() == "this is no database", "which stays as it is")

print(f"1..{n_run}")
subprocess.run(["rm", "-rf", WORK], check=False)
sys.exit(n_failed > 0)
