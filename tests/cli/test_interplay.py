#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""weft interplay against the log of the recorded program: examples/interplay knows of each of its
waits who ended it.
usage: test_interplay.py WEFT PROGRAM"""
import json
import os
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
MODES = {"mutex": 60, "nested": 60, "rwlock": 60, "queue": 40, "condition": 60, "semaphore": 60,
         "barrier": 60, "create": 25}


def record(folder, mode, rounds):
    trace, log = os.path.join(folder, f"{mode}.weft"), os.path.join(folder, f"{mode}.tsv")
    got = run("record", "-q", "--no-kernel", "-o", trace, "--", PROGRAM, mode, log, rounds)
    ok(got.returncode == 0 and os.path.exists(log), f"{mode}: recorded", got.stderr)
    zero = json.loads(run("info", "--json", trace).stdout)["clock"]["monotonic_ns"]
    answer = run("interplay", "--json", trace)
    if not ok(answer.returncode == 0, f"{mode}: answers", answer.stderr):
        return None, [], trace
    with open(log, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    truth = [(kind, int(waiter), int(releaser), int(before) - zero, int(after) - zero, int(n_sleeps))
             for kind, waiter, releaser, before, after, n_sleeps in rows]
    return json.loads(answer.stdout), truth, trace


def compare(mode, document, truth):
    """Each wait of the answer lies within one of the log: was it ended by the same thread?"""
    by_thread = {}
    for row in truth:
        by_thread.setdefault(row[1], []).append(row)
    kinds = {row[0] for row in truth}
    n_same, wrong, found = 0, [], set()
    for wait in document["waits"]:
        if wait["kind"] not in kinds:
            continue
        # Clocks differ a little: the wait that follows at once has its middle behind the row's end.
        middle_ns = (wait["start_ns"] + wait["end_ns"]) / 2
        around = [row for row in by_thread.get(wait["waiter_tid"], ())
                  if row[0] == wait["kind"] and row[3] <= wait["start_ns"] + 1000 and
                  row[3] <= middle_ns <= row[4] and wait["end_ns"] <= row[4] + 1000]
        if not around:
            continue # of an object that the program does not log
        # A condition's wait is the last of those within.
        found.add(around[0])
        if wait["releaser_tid"] == around[0][2]:
            n_same += 1
        else:
            wrong.append((wait, around[0]))
    missed = [row for row in truth if row not in found and row[2] not in (0, row[1]) and row[5] > 0]
    n_all = n_same + len(wrong) + len(missed)
    text = "\n".join(f"{a['waiter_tid']} {a['start_ns']}..{a['end_ns']} let go by "
                     f"{a['releaser_tid']} ({a['confidence']}), logged {b}" for a, b in wrong[:6])
    print(f"# {mode}: {n_same} of {n_all} equal, {len(missed)} of the log not seen")
    ok(n_all > 0 and n_same >= 0.999 * n_all, f"{mode}: who ended the waits", f"{text}\n{missed[:5]}")


def check_functions(mode, document, wait, release):
    pairs = {(row["wait_function"], row["release_function"]) for row in document["pairs"]}
    ok((wait, release) in pairs, f"{mode}: {wait} waits, {release} lets go", sorted(map(str, pairs)))


def patterns(document):
    return {row["pattern"] for row in document["patterns"]}


def test_modes(folder):
    functions = {"mutex": ("update", "update"), "nested": ("update_inner", "update_inner"),
                 "queue": ("wait_for_work", "wake_one"), "condition": ("follower", "run_condition"),
                 "semaphore": ("runner", "runner"), "barrier": ("marcher", "marcher"),
                 "create": ("make_thread", "child"), "rwlock": ("write_shared", "rw_release")}
    wanted = {"semaphore": "leader", "queue": "farmer"}
    for mode, rounds in MODES.items():
        document, truth, _ = record(folder, mode, rounds)
        if not document:
            continue
        compare(mode, document, truth)
        check_functions(mode, document, *functions[mode])
        joins = [row for row in document["waits"] if row["kind"] == "join" and not row["cut"]]
        ok(all(row["confidence"] == "release" and row["releaser_tid"] for row in joins),
           f"{mode}: threads are joined by their handles", joins[:3])
        if mode == "barrier":
            barriers = [row for row in document["waits"] if row["kind"] == "barrier" and not row["cut"]]
            ok(barriers and all((row["mode"], row["awaited"]) == ("all", 4) for row in barriers),
               "barrier: each waits for all of four", barriers[:3])
        if mode in wanted:
            ok(wanted[mode] in patterns(document), f"{mode}: a {wanted[mode]}", patterns(document))
        ok(document["n_waits"] == sum(document["confidence"].values()) and
           document["joined"] + sum(document["unknown"].values()) == document["n_waits"],
           f"{mode}: every wait is counted once")


def until(is_so, what):
    """Waits until it is so; a minute is for ever."""
    end = time.monotonic() + 60
    while not (found := is_so()):
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.001)
    return found


def program_of(recorder):
    """The process id of the recorded program, once it is that and not the recorder's own child any more."""
    with open(f"/proc/{recorder}/task/{recorder}/children", encoding="ascii") as file:
        for child in file.read().split():
            try:
                if os.readlink(f"/proc/{child}/exe") == os.path.realpath(PROGRAM):
                    return child
            except OSError:
                pass
    return None


def has_ended(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return file.read().rpartition(")")[2].split()[0] == "Z"


def stand_still(command):
    """Runs a recorder with small rings that is stopped from the program's first moments to its end."""
    with subprocess.Popen(command, env={**os.environ, "WEFT_RECORD_WORDS": "4096"}) as recorder:
        program = until(lambda: program_of(recorder.pid), "the program begins")
        recorder.send_signal(signal.SIGSTOP)
        try:
            until(lambda: has_ended(program), "the program ends")
        finally:
            recorder.send_signal(signal.SIGCONT)
        return recorder.wait()


def test_losses(folder):
    """The recorder stands still while rings overflow and threads end: what is not doubtful is right."""
    trace, log = os.path.join(folder, "lost.weft"), os.path.join(folder, "lost.tsv")
    ok(stand_still([WEFT, "record", "-q", "--no-kernel", "-o", trace, "--", PROGRAM, "mutex", log,
                    "1500"]) == 0, "losses: recorded")
    zero = json.loads(run("info", "--json", trace).stdout)["clock"]["monotonic_ns"]
    document = json.loads(run("interplay", "--json", trace).stdout)
    truth = {}
    with open(log, encoding="utf-8") as file:
        for line in file:
            _, waiter, releaser, before, after, _ = line.split("\t")
            truth.setdefault(int(waiter), []).append((int(before) - zero, int(after) - zero, int(releaser)))
    sure = [wait for wait in document["waits"] if wait["kind"] == "mutex" and wait["releaser_tid"] and
            wait["confidence"] == "release" and not wait["lossy"]]
    wrong = [wait for wait in sure
             if not any(before <= wait["start_ns"] + 1000 and wait["end_ns"] <= after + 1000 and
                        releaser == wait["releaser_tid"]
                        for before, after, releaser in truth.get(wait["waiter_tid"], ()))]
    print(f"# losses: {document['lost']} records, {len(document['losses'])} places, {len(sure)} waits "
          f"not doubtful, {len(wrong)} of them wrong")
    ok(document["lost"] > 0, "losses: there are some")
    ok(not wrong, "losses: what is not doubtful is right", wrong[:5])
    ok(document["lost"] == sum(loss["records"] for loss in document["losses"]),
       "losses: it says where each was", document["losses"])


def test_trylock(folder):
    document, _, _ = record(folder, "trylock", 60)
    waits = [row for row in document["waits"] if row["kind"] == "mutex"]
    ok(not waits and document["uncontended"] >= 240, "trylock: nobody waits for the mutex",
       f"{waits[:3]} {document['uncontended']}")


def period_changes(waits):
    """By the rule, from what was seen: a busy machine may let the poller sleep unsteadily."""
    starts = sorted(row["start_ns"] for row in waits)
    runs = []
    for period in (b - a for a, b in zip(starts, starts[1:])):
        mean = sum(runs[-1]) // len(runs[-1]) if runs else 0
        if runs and abs(period - mean) * 100 <= mean * 25:
            runs[-1].append(period)
        else:
            runs.append([period])
    means = [sum(run) // len(run) for run in runs if len(run) >= 3]
    return [(a, b) for a, b in zip(means, means[1:]) if 100 * max(a, b) >= 150 * min(a, b)]


def test_hang(folder):
    document, truth, trace = record(folder, "hang", 1)
    monitor = next(row[1] for row in truth if row[0] == "semaphore")
    wait = [row for row in document["waits"] if row["waiter_tid"] == monitor]
    ok(len(wait) == 1 and wait[0]["cut"] and wait[0]["releaser_tid"] is None,
       "hang: the monitor's wait is cut, and leads nowhere", wait)
    row = next((row for row in document["patterns"] if row["pattern"] == "unbounded"), None)
    ok(row and row["tid"] == monitor, "hang: waits its life long without a timeout",
       document["patterns"])
    changes = sorted((row["before_ns"], row["value_ns"]) for row in document["patterns"]
                     if row["pattern"] == "period_change")
    poller = {row["waiter_tid"] for row in document["waits"] if row["kind"] == "timer"}
    expected = sorted(period_changes([row for row in document["waits"] if row["kind"] == "timer"]))
    ok(len(poller) == 1 and changes == expected, "hang: polls in another period than before",
       f"{poller} {changes} {expected} {document['patterns']}")
    for jobs in (1, 3):
        again = json.loads(run("interplay", "--json", "-j", jobs, trace).stdout)
        ok(again == document, f"the same with -j {jobs}")
    one = json.loads(run("interplay", "--json", "--tid", monitor, trace).stdout)
    ok(one["n_waits"] == 1, "one thread alone", one["n_waits"])


def test_table(folder):
    """Functions that a user names wait and signal, too."""
    table = os.path.join(folder, "functions.txt")
    trace = os.path.join(folder, "mutex.weft")
    with open(table, "w", encoding="utf-8") as file:
        file.write("# of examples/interplay\nwork_us  io  files\n")
    document = json.loads(run("interplay", "--json", "--table", table, trace).stdout)
    ok(document["io"] > 100, "a table of functions: input and output", document["io"])
    with open(table, "w", encoding="utf-8") as file:
        file.write("update wait\nwork_us waits\n")
    got = run("interplay", "--table", table, trace)
    ok(got.returncode != 0 and "line 2" in got.stderr and "waits" in got.stderr,
       "a line that cannot be read is told", got.stderr)


with tempfile.TemporaryDirectory() as scratch:
    test_modes(scratch)
    test_losses(scratch)
    test_trylock(scratch)
    test_hang(scratch)
    test_table(scratch)
tap.done()
