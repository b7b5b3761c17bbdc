#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""weft executions, from outside: types of every kind of rule, metrics, janks, proposals, errors.
usage: test_executions.py WEFT TRANSFERS    (TRANSFERS: transfers.c)"""
import csv
import io
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tap  # noqa: E402
from tap import ok  # noqa: E402

WEFT, TRANSFERS = sys.argv[1:3]
WORK = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("WEFT_BUILD_ROOT")))


def weft(*arguments):
    return subprocess.run([WEFT, *map(str, arguments)], capture_output=True, text=True,
                          errors="backslashreplace", stdin=subprocess.DEVNULL, check=False)


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
event("b", 1, 290, "left:1", id=77)  # never ends
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

turns = found("--begin", "instant:push", "--end", "instant:push")
ok([(*row, "unfinished" in execution["flags"])
    for row, execution in zip(spans(turns), turns["executions"])]
   == [(10, 11, 1, 1, False), (11, 12, 1, 1, False), (12, 300, 1, 1, False),
       (300, 414, 1, 1, True)], "from marker to marker", turns)
ok(turns["ends_unmatched"] == 0, "of which the first ends nothing", turns)
steps = found("--begin", "enter:batch where depth = 0", "--end", "enter:batch")
ok([row[:2] for row in spans(steps)] == [(0, 100), (100, 102), (200, 300), (300, 400), (400, 414)],
   "from turn to turn of a loop, which another call ends, too", steps)
left = found("--begin", "instant:push", "--end", "instant:push", "--match", "id")
ok(left["types"][0]["unfinished"] == 4 and left["ends_unmatched"] == 0,
   "each of its own key", left)

actions = found("--begin", "span:action:*", "--metric", "counter:depth.depth")
ok(spans(actions) == [(200, 220, 1, 2), (250, 280, 1, 2)], "spans", actions)
ok([row["metrics"]["depth.depth"] for row in actions["executions"]] == [9, 9]
   and [row["metrics"]["depth.depth_change"] for row in actions["executions"]] == [6, 0],
   "a counter at the end, and its change", actions)
ok(spans(found("--begin", "begin:action:*", "--end", "end:action:*")) == spans(actions),
   "the same by begin and end")
left = found("--begin", "span:left:*")
ok([row["flags"] for row in left["executions"]] == ["unfinished"] and
   left["types"][0]["unfinished"] == 1 and left["types"][0]["mean_ns"] is None,
   "a span that is left open is unfinished", left)
ok("unfinished" in found("--begin", "begin:left:*", "--end", "end:left:*")["executions"][0]["flags"],
   "by begin and end, too")
ok("unfinished" not in actions["executions"][0]["flags"], "others are not")

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

# ---- what happens during them ----------------------------------------------------------------


def counted(*arguments):
    done = weft("executions", TRACE, "--json", "--begin", "call:batch where depth = 0", "--slower-than",
                "20us", *arguments)
    if done.returncode != 0:
        ok(False, " ".join(map(str, arguments)), done.stderr)
        return {"frequencies": []}
    document = json.loads(done.stdout)
    return {row["label"]: [row[key] for key in ("count", "slow_count", "others_count", "slow_mean_ns",
                                                "others_mean_ns")] for row in document["frequencies"]}


ok(counted("--count", "call:*", "--by", "name,depth") == {
    "batch, 0": [5, 1, 4, 60000, 11750], "step, 1": [4, 1, 3, 4000, 3000],
    "batch, 1": [1, 0, 1, 0, 1000]}, "how often, and how long: in the slow one, in each other",
   counted("--count", "call:*", "--by", "name,depth"))
ok(counted("--count", "instant:*", "--by", "name,id") == {
    "push, 9": [1, 1, 0, 0, 0]}, "points, of the same process alone",
   counted("--count", "instant:*", "--by", "name,id"))
ok(counted("--count", "span:action:*", "--by", "id,absent") == {"0, -": [1, 0, 1, 0, 3000]},
   "spans, by a field that is not there", counted("--count", "span:action:*", "--by", "id,absent"))
ok(counted("--count", "call:step", "--path") == {"step": [4, 1, 3, 4000, 3000]}, "on their paths",
   counted("--count", "call:step", "--path"))
few = weft("executions", TRACE, "--begin", "call:batch where depth = 0", "--slower-than", "20us",
           "--count", "call:step")
ok("not tested: fewer than 10 executions in a group prove nothing" in few.stdout
   and "too many" not in few.stdout, "few executions are not tested, for that reason", few.stdout)
plain = weft("executions", TRACE, "--begin", "call:batch where depth = 0", "--count", "call:step")
ok("during 5 executions" in plain.stdout and "in each" in plain.stdout
   and "not tested" not in plain.stdout, "without a limit: of all",
   plain.stdout)
for arguments, status, expected in [
        (["--count", "cal:f"], 1, "--count: line 1: column 1"),
        (["--count", "syscall:read"], 1, "expected syscall_enter:NAME"),
        (["--count", "call:f", "--by", "counter:depth"], 1, "--by: line 1"),
        (["--count", "call:f", "--by", ""], 1, "--by: line 1"),
        (["--by", "name"], 2, "--by belongs to --count"),
        (["--count", "call:f", "--db", WORK / "no.db"], 2, "exclude each other")]:
    done = weft("executions", TRACE, "--begin", "call:batch", *arguments)
    ok(done.returncode == status and expected in done.stderr and not done.stdout,
       f"{' '.join(map(str, arguments)).replace(str(WORK), '')} is refused", done.stderr)

# ---- rules from a file -----------------------------------------------------------------------

(WORK / "rules").write_text("""# two types, and how they depend on each other
execution batch is call:batch where depth = 0
  metric rows = size.rows
execution item
  begin instant:push   end instant:pop
  match id
depend queue from instant:push to instant:pop match id
""")
(WORK / "depends").write_text("depend queue from instant:push to instant:pop\n")
(WORK / "twice").write_text("execution a is call:f execution a is call:g\n")
both = found("--rules", WORK / "rules")
ok([(kind["type"], kind["count"]) for kind in both["types"]] == [("batch", 5), ("item", 4)],
   "two types of a file", both)
ok(len(found("--rules", WORK / "rules", "--type", "item")["executions"]) == 4, "one of them")
for arguments, status, expected in [
        (["--rules", WORK / "rules", "--type", "none"], 1,
         "the rules have no type 'none'; there are batch, item"),
        (["--rules", WORK / "nowhere"], 1, "nowhere"),
        (["--rules", WORK / "rules", "--begin", "call:f"], 2, "exclude each other"),
        (["--begin", "call:batch", "--end", "exit:batch"], 1, "--begin: line 1: column 11"),
        (["--begin", "enter:batch"], 1, "expected an end rule"),
        (["--begin", "cal:batch"], 1, "expected a rule such as call:NAME"),
        (["--end", "exit:batch"], 2, "expected --begin RULE"),
        (["--begin", "call:batch", "--tag", "x"], 2, "belong to --db"),
        (["--db", WORK / "no.db"], 1, "expected --begin RULE"),
        (["--path"], 2, "expected --begin RULE"),
        (["--rules", WORK / "depends"], 1, "depends: expected a type of executions"),
        (["--rules", WORK / "twice"], 1, "twice: line 1: column 33: expected a name that no other")]:
    done = weft("executions", TRACE, *arguments)
    ok(done.returncode == status and expected in done.stderr and not done.stdout,
       f"{' '.join(str(word) for word in arguments[-2:]).replace(str(WORK), '')} is refused",
       done.stderr)
for arguments, expected in [
        (["--begin", "call:bat"], "no function has the name 'bat'; one is 'batch'"),
        (["--begin", "enter:batch", "--end", "exit:BATCH*"], "no function has the name 'BATCH*'; one is"),
        (["--begin", "call:none"], "no function has the name 'none'\n"),
        (["--begin", "call:batch", "--count", "enter:none"], "no function has the name 'none'"),
        (["--begin", "instant:pus", "--end", "instant:pop"], "there is no instant:pus\n"),
        (["--begin", "instant:push", "--end", "instant:po"], "there is no instant:po\n"),
        (["--begin", "call:batch where m = 1"], "no call:batch has the field 'm'"),
        (["--begin", "instant:push", "--end", "instant:pop", "--match", "idd"],
         "no instant:push has the field 'idd'"),
        (["--begin", "instant:push", "--end", "instant:pop", "--match", "id=waitd"],
         "no instant:pop has the field 'waitd'"),
        (["--begin", "call:batch", "--thread", "none"], "of call:batch none meets the condition on 'thread'"),
        (["--begin", "instant:push where id = 99", "--end", "instant:pop"],
         "of instant:push none meets the condition on 'id'"),
        (["--begin", "instant:push", "--end", "instant:pop where id > 9 and waited = 8"],
         "of instant:pop none meets the conditions on 'id', 'waited'"),
        (["--begin", "switch", "--end", "switch"], "no event of kind 'switch'")]:
    done = weft("executions", TRACE, *arguments)
    ok(done.returncode == 0 and expected in done.stderr, f"{arguments[-1]}: says what is not there",
       done.stderr)
long = weft("executions", TRACE, "--begin", "call:*", "--limit", "0").stdout.splitlines()
ok(len({line.index("producer") for line in long if "producer" in line}) == 1 and
   sum("producer" in line for line in long) == 10,
   "columns stand below each other", long)
(WORK / "bad").write_text("execution a\n  begin call:f\n  end  whenever\n")
done = weft("executions", TRACE, "--rules", WORK / "bad")
ok(done.returncode == 1 and "bad: line 3: column 8: expected a rule" in done.stderr,
   "a bad file names line and column", done.stderr)

# ---- cut at both ends ------------------------------------------------------------------------

(WORK / "long.json").write_text(json.dumps({"traceEvents": [
    {"ph": phase, "pid": 7, "tid": 1, "id": number, "ts": 100 * number + at, "name": "turn",
     "cat": "test"} for number in range(5) for phase, at in (("b", 0), ("e", 150))]}))
weft("import", "-q", "-o", WORK / "long.weft", WORK / "long.json")
weft("cut", "-q", "-o", WORK / "part.weft", WORK / "long.weft", "--from", "120us", "--to", "320us")
for begin, end in ("span:turn", None), ("begin:turn", "end:turn"):
    done = weft("executions", WORK / "part.weft", "--json", "--begin", begin,
                *(["--end", end, "--match", "id"] if end else []))
    seen = [(row["flags"], row["duration_ns"]) for row in json.loads(done.stdout)["executions"]]
    cut = [] if end else [("cut_start", 130000), ("cut_start nested", 30000)]
    ok(seen == [*cut, ("unfinished", 120000), ("unfinished nested", 20000)],
       f"{begin}: what a cut took is told", seen)

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


def stored(path, *arguments):
    return weft("executions", TRACE, "--rules", WORK / "rules", "--type", "batch", "--db", path,
                *arguments)


def query(path, sql):
    base = sqlite3.connect(path)
    with base:
        rows = base.execute(sql).fetchall()
    base.close()
    return rows


DB = WORK / "d.db"
ok(query(DB, "SELECT tag, executions, is_complete FROM sources ORDER BY tag")
   == [("new", 5, 1), ("old", 5, 1)], "each tag is there once, the second time replaces")
ok(query(DB, "SELECT id FROM blocks ORDER BY id") == [(1 << 32,), (3 << 32,)],
   "with its executions, a block each")
both = [subprocess.Popen([WEFT, "executions", TRACE, "--rules", WORK / "rules", "--type", "batch",
                          "--db", WORK / "two.db", "--tag", tag, "-q"], stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, text=True) for tag in ("a", "b", "c")]
said = [writer.communicate()[1] for writer in both]
ok(not any(said) and query(WORK / "two.db", "SELECT tag, executions, is_complete FROM sources "
                           "ORDER BY tag") == [(tag, 5, 1) for tag in "abc"],
   "three writers at once make and fill one", said)

# Many, in chunks that any worker may take: the same bytes.
(WORK / "many.json").write_text(json.dumps({"traceEvents": [
    {"ph": "X", "pid": 7, "tid": 1 + number % 3, "ts": 10 * number + nested,
     "dur": 28 - 5 * nested - number % 4, "name": ("turn", "inner", f"leaf {number % 9}")[nested]}
    for number in range(900) for nested in range(3)]}))
made = weft("import", "-q", "-o", WORK / "many.weft", WORK / "many.json")
for jobs in 1, 2, 5:
    done = weft("executions", WORK / "many.weft", "--begin", "call:turn", "--db",
                WORK / f"{jobs}.db", "-q", "-j", jobs)
    made = made if done.returncode == 0 else done
ok(made.returncode == 0 and query(WORK / "1.db", "SELECT executions FROM sources") == [(900,)] and
   len({(WORK / f"{jobs}.db").read_bytes() for jobs in (1, 2, 5)}) == 1,
   "a database has the same bytes for 1, 2 and 5 workers", made.stderr)

version = WORK / "version.db"
version.write_bytes(DB.read_bytes())
query(version, "PRAGMA user_version = 9")
before = version.read_bytes()
for done in stored(version), weft("compare", version, "--a", "tag=old", "--b", "tag=new"):
    ok(done.returncode == 1 and "version.db: the database has version 9" in done.stderr
       and "a newer weft reads it" in done.stderr, "one of a newer version is refused", done.stderr)
ok(version.read_bytes() == before, "and stays as it is")
query(version, "PRAGMA user_version = 4")
query(version, "CREATE TRIGGER t AFTER INSERT ON sources BEGIN DELETE FROM blocks; END")
done = stored(version)
ok(done.returncode == 1 and query(version, "SELECT count(*) FROM blocks") == [(2,)],
   "one with a trigger is refused", done.stderr)
for path, expected in ((WORK / "none" / "d.db", "No such file or directory"),
                       (WORK, "found a directory"), ("/dev/null", "found no regular file")):
    done = stored(path)
    ok(done.returncode == 1 and expected in done.stderr, f"says why: {expected}", done.stderr)
if os.geteuid() != 0:  # who may write anything
    closed = WORK / "closed"
    closed.mkdir()
    (closed / "d.db").write_bytes(DB.read_bytes())
    closed.chmod(0o555)
    done = weft("compare", closed / "d.db", "--a", "tag=old", "--b", "tag=new")
    ok(done.returncode == 0, "one in a folder that may not be written is read", done.stderr)
    for name, expected in (("new.db", "opening: Permission denied"),
                           ("d.db", "the folder that it is in, may not be written")):
        done = stored(closed / name)
        ok(done.returncode == 1 and expected in done.stderr, f"says why: {expected}", done.stderr)
    closed.chmod(0o755)
done = stored(TRACE)
ok(done.returncode == 1 and "an input of this command" in done.stderr,
   "a trace is no database", done.stderr)

# Bytes of the file change: a clear error or a counted loss.
whole, damaged = DB.read_bytes(), WORK / "damaged.db"
n_bad = 0
for number in range(24):
    at = (number * 2654435761 + 16) % len(whole)
    damaged.write_bytes(whole[:at] + bytes([whole[at] ^ 0xff]) + whole[at + 1:])
    done = weft("compare", damaged, "--a", "tag=old", "--b", "tag=new")
    if done.returncode not in (0, 1) or (done.returncode and "damaged.db" not in done.stderr):
        n_bad += 1
        print(f"# byte {at}: {done.returncode} {done.stderr[:200]}")
ok(n_bad == 0, "damage to single bytes")
damaged.write_bytes(whole)
query(damaged, "UPDATE blocks SET bytes = x'00' WHERE id = (SELECT min(id) FROM blocks)")
done = weft("compare", damaged, "--a", "duration>0", "--b", "tag=new")
ok(done.returncode == 0 and "omitted: 5 executions, damaged" in done.stderr
   and "A: 5 executions, duration>0" in done.stdout, "a damaged block is left out, no other",
   done.stdout + done.stderr)
query(damaged, "UPDATE blocks SET bytes = x'00'")
done = weft("compare", damaged, "--a", "duration>0", "--b", "tag=new")
ok(done.returncode == 1 and "no execution to choose from: all are damaged" in done.stderr,
   "where all are damaged that is told", done.stderr)
damaged.write_bytes(whole)
query(damaged, "UPDATE metrics SET name = name || 'x' WHERE name = 'blocked_device'")
done = weft("compare", "--json", damaged, "--a", "tag=old", "--b", "tag=new")
ok(done.returncode == 0 and "omitted: 1 metric, damaged" in done.stderr
   and json.loads(done.stdout)["damaged_metrics"] == 1, "a damaged metric is left out, which is said", done.stderr)
damaged.write_bytes(whole)
query(damaged, "UPDATE facts SET recorded_ns = recorded_ns + 1 WHERE id = (SELECT min(id) FROM facts)")
done = weft("compare", "--json", damaged, "--a", "tag=old", "--b", "tag=new")
ok(done.returncode == 0 and "details of the traces of 1 of" in done.stderr
   and json.loads(done.stdout)["damaged_facts"] == 1, "damaged facts are left out, which is said", done.stderr)
damaged.write_bytes(whole[:len(whole) // 2])
done = weft("compare", damaged, "--a", "tag=old", "--b", "tag=new")
ok(done.returncode == 1 and "damaged.db" in done.stderr and ".recover" in done.stderr,
   "half a file: what to do", done.stderr)
damaged.write_bytes(whole)
query(damaged, "UPDATE sources SET executions = 'none' WHERE id = 1")
for done in (weft("info", damaged), weft("compare", damaged, "--a", "tag=old", "--b", "tag=new")):
    ok(done.returncode == 1 and "damaged.db: reading sources: the database is damaged" in done.stderr,
       "a table of sources with rows of another one", done.stdout + done.stderr)

# A file without a byte: a writer was killed before its first commit.
empty = WORK / "empty.db"
empty.write_bytes(b"")
for done in (weft("info", empty), weft("compare", empty, "--b", "all"), weft("diagnose", empty)):
    ok(done.returncode == 1 and "empty.db: expected a .weft file or a database of executions, found an "
       "empty file" in done.stderr, "an empty file is told", done.stderr)
ok(stored(empty).returncode == 0 and query(empty, "SELECT count(*) FROM blocks") == [(1,)],
   "and becomes a database")
before = empty.read_bytes()
done = weft("executions", TRACE, "--begin", "call:batch where n = 99", "--type", "batch", "--db", empty)
ok(done.returncode == 0 and "nothing was added to" in done.stderr and empty.read_bytes() == before,
   "where no execution is found nothing is replaced, which is said", done.stderr)

# One of version 1, and a name of bytes that are no text.
first = WORK / os.fsdecode(b"version \xff 1.db")
first.write_bytes((pathlib.Path(__file__).parents[1] / "data/database/version_1.db").read_bytes())
done = weft("compare", first, "--a", "duration>0", "--b", "duration>0")
ok(done.returncode == 0 and "A: 20 executions" in done.stdout, "one of version 1 is read", done.stderr)
done = stored(first)
ok(done.returncode == 0 and query(first, "PRAGMA user_version") == [(4,)] and
   sorted(query(first, "SELECT executions FROM sources")) == [(5,), (20,)],
   "who adds to it brings it up", done.stderr)

# A database without executions, and one of more types than are looked at.
done = weft("executions", TRACE, "--begin", "call:none", "--db", WORK / "none.db")
done = weft("diagnose", WORK / "none.db")
ok(done.returncode == 1 and "none.db: the database has no executions yet" in done.stderr,
   "diagnose of a database without executions says so", done.stdout + done.stderr)
(WORK / "many").write_text("".join(f"execution t{i} is call:batch\n" for i in range(18)))
weft("executions", TRACE, "--rules", WORK / "many", "--db", WORK / "many.db")
for command in (["diagnose", WORK / "many.db"], ["diagnose", TRACE, "--rules", WORK / "many"]):
    done = weft(*command)
    ok(done.returncode == 0 and "2 of 18 types of executions were not analyzed" in done.stderr,
       "types that were not analyzed are said", done.stdout + done.stderr)

# Names that changed between two versions.
(WORK / "names").write_text("# OLD -> NEW\nstep -> stride\n")
done = weft("compare", DB, "--a", "tag=old", "--b", "tag=new", "--map", WORK / "names", "--json")
inside = weft("compare", DB, "--a", "context('stride')>1us", "--b", "tag=new", "--map",
              WORK / "names")
ok(done.returncode == 0 and inside.returncode == 0 and "A: 0 executions" not in inside.stdout,
   "names stand for others", inside.stdout + inside.stderr)
(WORK / "names").write_text("step -> stride\nstep = stride\n")
done = weft("compare", DB, "--a", "tag=old", "--b", "tag=new", "--map", WORK / "names")
ok(done.returncode == 1 and "names: line 2: expected OLD -> NEW, found 'step = stride'"
   in done.stderr, "a bad line of names", done.stderr)

# A writer that keeps the file: others wait, then go on.
holder = sqlite3.connect(DB, isolation_level=None)
holder.execute("BEGIN IMMEDIATE")
waiting = subprocess.Popen([WEFT, "executions", TRACE, "--rules", WORK / "rules", "--type",
                            "batch", "--db", DB, "--tag", "third", "-q"],
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
done = weft("compare", DB, "--a", "tag=old", "--b", "tag=new")
ok(done.returncode == 0, "readers do not wait for it", done.stderr)
holder.execute("ROLLBACK")
holder.close()
ok(waiting.communicate()[1] == "" and waiting.returncode == 0 and
   query(DB, "SELECT executions FROM sources WHERE tag = 'third'") == [(5,)],
   "a writer waits for another")

# ---- states: exact times of a trace that was made up ------------------------------------------

SWITCH = ("sched_switch: prev_comm={0} prev_pid={1} prev_prio=120 prev_state={2} ==> "
          "next_comm={3} next_pid={4} next_prio=120")
NOBODY, WORKER, OTHER = ("swapper/0", 0), ("worker", 10), ("other", 20)
ran = []  # (us, who writes the record, record)


def switch(at, before, state, after):
    ran.append((at, before, SWITCH.format(*before, state, *after)))


for number in range(3):  # 1 ms each: runs 100 us, is preempted, runs, sleeps, runs
    start = 1000 * number
    switch(start, NOBODY, "R", WORKER)
    ran.append((start + 10, WORKER, f"tracing_mark_write: B job {number}"))
    for turn in range(number):  # so many times somebody else has its processor, 20 us each
        switch(start + 100 + 50 * turn, WORKER, "R", OTHER)
        switch(start + 120 + 50 * turn, OTHER, "S", WORKER)
    switch(start + 400, WORKER, "S", NOBODY)
    ran.append((start + 500, NOBODY, "sched_waking: comm=worker pid=10 prio=120 target_cpu=000"))
    switch(start + 510, NOBODY, "R", WORKER)
    ran.append((start + 700, WORKER, f"tracing_mark_write: E job {number}"))
    switch(start + 800, WORKER, "S", NOBODY)
    ran.append((start + 900, NOBODY, "sched_waking: comm=worker pid=10 prio=120 target_cpu=000"))
(WORK / "states.txt").write_text("# tracer: nop\n#\n" + "".join(
    f"{name:>16}-{pid:<7}[000] d..2. {50 + at / 1e6:.6f}: {record}\n"
    for at, (name, pid), record in ran))
made = weft("import", "-q", "-o", WORK / "states.weft", WORK / "states.txt")
ok(made.returncode == 0, "a trace of the kernel imports", made.stderr)
told = json.loads(weft("executions", WORK / "states.weft", "--json").stdout)["proposals"]
told = told[0] if told else {"begin": "", "end": "", "match": ""}
ok(told["match"] == "text.3", "lines that the program wrote are proposed", told)
done = weft("executions", WORK / "states.weft", "--begin", told["begin"], "--end", told["end"],
            "--match", told["match"], "--json")
jobs = json.loads(done.stdout or '{"executions": []}')["executions"]
ok([(job["duration_ns"], job["metrics"]["cpu_time"], job["metrics"]["preemptions"])
    for job in jobs]
   == [(690000, 580000 - 20000 * number, number) for number in range(3)],
   "time on a processor and preemptions", done.stdout[:900] + done.stderr)

# ---- threads that a kernel has one of for each processor are one context ------------------------

lines = []


def record(at, cpu, name, tid, text):
    lines.append(f"{name:>16}-{tid:<7}({tid:>5}) [{cpu:03}] d..2. {50 + at / 1e6:.6f}: {text}")


for number in range(4):  # on either processor ksoftirqd takes it away for 50 us
    cpu, start = number % 2, 1000 * number
    soft = (f"ksoftirqd/{cpu}", 30 + cpu)
    record(start, cpu, *NOBODY, SWITCH.format(*NOBODY, "R", *WORKER))
    record(start + 10, cpu, *WORKER, f"tracing_mark_write: B job {number}")
    record(start + 100, cpu, *WORKER, SWITCH.format(*WORKER, "R", *soft))
    record(start + 150, cpu, *soft, SWITCH.format(*soft, "S", *WORKER))
    record(start + 200, cpu, *WORKER, f"tracing_mark_write: E job {number}")
    record(start + 210, cpu, *WORKER, SWITCH.format(*WORKER, "S", *NOBODY))
(WORK / "soft.txt").write_text("# tracer: nop\n#\n" + "\n".join(lines) + "\n")
made = weft("import", "-q", "-o", WORK / "soft.weft", WORK / "soft.txt")
done = weft("executions", WORK / "soft.weft", "--begin", told["begin"], "--end", told["end"],
            "--match", told["match"], "--db", WORK / "soft.db")
ok(query(WORK / "soft.db", "SELECT name, module FROM frames WHERE kind = 3")
   == [("ksoftirqd", "ksoftirqd")] and
   query(WORK / "soft.db", "SELECT count(*) FROM nodes n, frames f WHERE f.id = n.frame AND f.kind = 3")
   == [(1,)], "ksoftirqd/0 and ksoftirqd/1 are one context", done.stderr)

# ---- bytes: a recording of a program that moves known amounts ---------------------------------

made = weft("record", "-q", "--no-kernel", "-o", WORK / "transfers.weft", "--", TRANSFERS)
ok(made.returncode == 0, "a program that transfers is recorded", made.stderr)
done = weft("executions", WORK / "transfers.weft", "--begin", "mark:job", "--json")
jobs = json.loads(done.stdout or '{"executions": []}')["executions"]
ok([(job["metrics"].get("bytes_read"), job["metrics"].get("bytes_written")) for job in jobs]
   == [(1010 * n, 1010 * n) for n in range(1, 6)],
   "bytes that each read and wrote, whatever it asked for", done.stdout[:900] + done.stderr)

# ---- what is not there -----------------------------------------------------------------------

done = weft("executions", TRACE, "--begin", "instant:nowhere", "--end", "instant:pop")
ok(done.returncode == 0 and "nothing matches the rules" in done.stdout,
   "nothing found, and how to go on", done.stdout)
for begin, end, why in (("instant:push", "instant:nowhere", "nothing matches the rule of the end"),
                        ("instant:push", "instant:pop", "4 ends of the rule have no begin")):
    done = weft("executions", TRACE, "--type", "item", "--begin", begin, "--end", end)
    ok(done.returncode == 0 and f"item: 4 began and none ended: {why}" in done.stdout,
       f"begins without an end: {why}", done.stdout + done.stderr)
ok("none ended" not in weft("executions", TRACE, "--begin", "instant:push", "--end",
                            "instant:pop", "--match", "id").stdout, "but not if some end")
done = weft("executions", TRACE, "--begin", "call:batch", "--metric", "nowhere,n,counter:none")
ok(done.returncode == 0 and "no execution has the metric 'nowhere'" in done.stderr
   and "'none'" in done.stderr and "'n'" not in done.stderr, "metrics that nothing has",
   done.stderr)
ok(not weft("executions", TRACE, "--begin", "call:batch", "--metric", "nowhere", "-q").stderr,
   "quietly")

(WORK / "not.db").write_text("this is no database")
done = weft("executions", TRACE, "--begin", "call:batch", "--db", WORK / "not.db")
ok(done.returncode == 1 and "not.db" in done.stderr, "not into another file", done.stderr)
ok((WORK / "not.db").read_text() == "this is no database", "which stays as it is")

subprocess.run(["rm", "-rf", WORK], check=False)
tap.done()
