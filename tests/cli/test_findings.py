#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A trace and the database that is made of it give the same findings: of random executions, and of the
recorded case studies where they are at hand.
usage: test_findings.py WEFT [RELEASE] (RELEASE: the program for the case studies, of hundreds of megabytes)"""
import contextlib
import json
import os
import pathlib
import random
import sqlite3
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tap  # noqa: E402
from tap import ok  # noqa: E402

weft = tap.runner(os.path.abspath(sys.argv[1]))
RELEASE = os.path.abspath(sys.argv[-1])
ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACES = 24
rules_seen = set()
lost_shares = set()  # whether the source counts losses, whether what is lost is unknown


def put_kernel(path, seed):
    """Executions on one thread between two points: some wait, for a disk, a timer, a thread that another
    thread preempts, or lose the CPU to another program; one in seven traces has losses, some have few."""
    rnd = random.Random(seed)
    at, lines = 1.0, []
    slow = rnd.choice(["S", "D", "R", "none"])
    n, every = rnd.choice([8, 40, 300]), rnd.choice([3, 11, 29])
    other = rnd.choice([("compactor", 200), ("app-worker", 101)])

    def put(name, tid, text, flags="d..2."):
        lines.append(f" {name}-{tid} [000] {flags} {at:.6f}: {text}")

    def switch(prev, state, into):
        put(prev[0] if prev[1] else "<idle>", prev[1],
            f"sched_switch: prev_comm={prev[0]} prev_pid={prev[1]} prev_prio=120 prev_state={state} ==> "
            f"next_comm={into[0]} next_pid={into[1]} next_prio=120")

    app, idle = ("app", 100), ("swapper/0", 0)
    for i in range(n):
        kind = f"req{rnd.randrange(2)}" if seed % 2 else "req0"
        put("app", 100, f"{kind}_begin: id={i}", ".....")
        at += 1e-4 + rnd.random() * 2e-5
        is_slow = slow != "none" and i % every == every - 1
        wait = rnd.choice([4e-3, 2e-2]) if is_slow else 2e-4 + rnd.random() * 5e-5
        if is_slow and slow == "R":
            switch(app, "R", other)
            at += wait
            switch(other, "S", app)
        else:
            switch(app, "S" if slow == "S" or not is_slow else slow, idle)
            at += wait
            put("<idle>", 0, "sched_waking: comm=app pid=100 prio=120 target_cpu=000", "d.h2.")
            at += 5e-6
            switch(idle, "R", app)
        at += 1e-4
        put("app", 100, f"{kind}_end: id={i}", ".....")
        if seed % 7 == 3 and i % 20 == 19:
            lines.append("CPU:0 [LOST 40 EVENTS]")
        at += 5e-4 + rnd.random() * 1e-4
    with open(path, "w", encoding="ascii") as out:
        out.write("# tracer: nop\n" + "\n".join(lines) + "\n")
    return [(f"req{k}", ("--begin", f"instant:req{k}_begin", "--end", f"instant:req{k}_end", "--match", "id"))
            for k in range(1 + seed % 2)]


def put_calls(path, seed):
    """Calls of a function on two threads, some of which call another one more often, or a slower one."""
    rnd = random.Random(seed)
    events = []
    for tid in (1, 2):
        at = tid * 7
        for i in range(rnd.choice([6, 60, 400])):
            begin, is_slow = at, rnd.random() < rnd.choice([0.01, 0.06, 0.4])
            at += 2
            for _ in range(rnd.randrange(1, 30) if is_slow else 1):
                us = rnd.choice([30, 900]) if is_slow else 25 + i % 9
                events.append({"name": rnd.choice(["decode", "parse"]), "ph": "X", "ts": at, "dur": us, "pid": 1,
                               "tid": tid})
                at += us + 1
            events.append({"name": "process", "ph": "X", "ts": begin, "dur": at + 1 - begin, "pid": 1, "tid": tid})
            at += rnd.randrange(10, 4000)
    with open(path, "w", encoding="ascii") as out:
        json.dump({"traceEvents": events}, out)
    return [("process", ("--begin", "call:process")), ("decode", ("--begin", "call:decode"))]


def without_names(value):
    """The findings, but for what a trace alone has, and for commands that name it and its rules."""
    if isinstance(value, dict):
        return {key: without_names(one) for key, one in value.items()
                if key not in ("example", "open", "trace", "deadlocks") and not (key == "rule" and
                                                                                 isinstance(one, dict))}
    return [without_names(one) for one in value] if isinstance(value, list) else value


def findings(*arguments):
    done = weft("diagnose", "-q", "--json", "--explain", *arguments)
    if done.returncode:
        return done.stderr
    found = json.loads(done.stdout)
    for one in [*found["types"], *(cause for kind in found["types"] for cause in kind["causes"])]:
        rules_seen.update(rule["rule"] for rule in one["explain"])
        fired = one["explain"][-1]
        if fired["outcome"] != "fired" or fired["rule"] != one.get("verdict", one.get("rule")):
            ok(False, "the rule that fired is named", one)
    return without_names(found)


def difference(one, other, path=""):
    """Where they differ first."""
    if isinstance(one, dict) and isinstance(other, dict):
        found = [difference(one.get(key), other.get(key), f"{path}.{key}") for key in sorted({*one, *other})]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        found = [difference(a, b, f"{path}[{i}]") for i, (a, b) in enumerate(zip(one, other))]
    else:
        return "" if one == other else f"{path}: {str(one)[:700]} and {str(other)[:700]}"
    return next((text for text in found if text), "")


def check_same(name, trace, types, counts_losses=True):
    """Each type for itself, all by one file of rules, and two groups."""
    verdicts = set()
    for kind, rule in types:
        database = f"{name}-{kind}.db"
        weft("executions", "-q", *rule, "--type", kind, "--db", database, trace)
        if not os.path.exists(database):
            continue
        for groups in ((), ("--a", "duration<=1ms", "--b", "duration>1ms")):
            of_trace, of_database = findings(*rule, "--type", kind, *groups, trace), findings(*groups, database)
            if isinstance(of_trace, str) and isinstance(of_database, str):
                continue
            if isinstance(of_trace, dict):
                verdicts |= {one["verdict"] for one in of_trace["types"]}
                lost_shares.update((counts_losses, one["lost_share"] is None) for one in of_trace["types"])
            if of_trace != of_database:
                ok(False, f"{name}, {kind} {groups}: the same of the trace and of the database",
                   difference(of_trace, of_database))
                return set()
    with open("all.rules", "w", encoding="ascii") as out:
        for kind, rule in types:
            given = dict(zip(rule[::2], rule[1::2]))
            out.write(f"execution {kind} is {given['--begin']}\n" if "--end" not in given else
                      f"execution {kind}\n  begin {given['--begin']}\n  end {given['--end']}\n  match id\n")
    weft("executions", "-q", "--rules", "all.rules", "--db", f"{name}.db", trace)
    of_trace, of_database = findings("--rules", "all.rules", trace), findings(f"{name}.db")
    ok(of_trace == of_database and isinstance(of_trace, dict),
       f"{name}: the same of the trace and of the database", difference(of_trace, of_database))
    return verdicts


STATES = {1: "unknown", 2: "running", 3: "interrupted", 4: "preempted", 5: "blocked"}


def test_states():
    """What a state is, is a number in the database; it is the one that the name says."""
    n, wrong = 0, []
    for path in sorted(pathlib.Path(".").glob("*.db")):
        with contextlib.closing(sqlite3.connect(path)) as database:
            for kind, name in database.execute("SELECT kind, name FROM frames WHERE kind & 255 = 1"):
                n += 1
                if not name.startswith(STATES.get(kind >> 8 & 255, "-")):
                    wrong.append((str(path), kind, name))
    ok(n > 0 and not wrong, f"{n} states are numbers", wrong)


def test_losses():
    """Chrome's JSON does not count losses: they are unknown, of the trace and of the database."""
    ok(lost_shares == {(True, False), (False, True)}, "what is lost is unknown where it is not counted", lost_shares)


def test_documented():
    """Each rule that was tried is in the documentation."""
    text = (ROOT / "docs" / "analyses" / "diagnose.md").read_text(encoding="utf-8")
    missing = sorted(rule for rule in rules_seen if f"| `{rule}` |" not in text)
    ok(rules_seen and not missing, "all rules are documented", missing)


def check_proposed(trace):
    """Without rules: the executions that the trace suggests, and what is known of them."""
    database = f"{pathlib.Path(trace).name}.proposed.db"
    made = weft("executions", "-q", "--db", database, trace)
    of_trace = findings(trace)
    if isinstance(of_trace, str) or not of_trace["types"]: # then the critical path is listed
        ok(made.returncode != 0, f"{trace}: nothing is suggested", made.stderr)
        return set()
    of_database = findings(database)
    ok(of_trace == of_database, f"{trace}: the same of what it suggests", difference(of_trace, of_database))
    return {one["verdict"] for one in of_trace["types"]}


def test_random():
    verdicts = set()
    for seed in range(TRACES):
        put, source = (put_calls, "made.json") if seed % 3 == 0 else (put_kernel, "made.txt")
        types = put(source, seed)
        weft("import", "-q", "--force", "-o", f"made{seed}.weft", source)
        verdicts |= check_same(f"made{seed}", f"made{seed}.weft", types, counts_losses=put is put_kernel)
        verdicts |= check_proposed(f"made{seed}.weft")
    ok(len(verdicts) >= 6, "of many verdicts", sorted(verdicts))


CASES = ROOT / "build" / "traces" / "kernel"


def test_cases():
    """The recorded case studies, where they are unpacked, by the rules of their own proposals."""
    global weft
    weft = tap.runner(RELEASE)
    for folder in sorted(CASES.glob("case*")) if CASES.is_dir() else []:
        trace = f"{folder.name}.weft"
        weft("import", "-q", "-o", trace, str(folder / "perf.data"))
        check_proposed(trace)
        proposals = json.loads(weft("executions", "-q", "--json", trace).stdout)["proposals"]
        types = []
        for one in proposals[:3]:
            rule = [word for key in ("begin", "end", "match", "within") if one.get(key) for word in (f"--{key}", one[key])]
            types.append((one["type"], tuple(rule)))
        for kind, rule in types:
            database = f"{folder.name}.db"
            weft("executions", "-q", *rule, "--type", kind, "--db", database, trace)
            of_trace, of_database = findings(*rule, "--type", kind, trace), findings("--type", kind, database)
            ok(of_trace == of_database, f"{folder.name}, {kind}: the same of the trace and of the database",
               difference(of_trace, of_database))


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        test_random()
        test_cases()
        test_losses()
        test_documented()
        test_states()
    tap.done()


main()
