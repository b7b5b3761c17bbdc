# SPDX-License-Identifier: MIT
"""Every graph and every sequence of events of cases/critical-path: the path is that of the case, or
differs in the way written here, for the reason written here (docs/analyses/critical-path.md)."""
import json
import re
import subprocess
import sys

import path_ctf
from support import SHARED, WORK, done, import_trace, ok, run_json

GRAPH = sys.argv[1]
CASES = json.loads((SHARED / "cases" / "critical-path" / "cases.json").read_text(encoding="utf-8"))

# What an edge of a case may be on our path. A wait that an interrupt ended has a reason.
BLOCKED = {"blocked:unknown", "blocked:idle_cpu", "blocked:device", "blocked:thread"}
MEANS = {
    "RUNNING": {"running", "running_user", "running_kernel", "interrupted"},
    "PREEMPTED": {"preempted"},
    "BLOCKED": BLOCKED,
    "DEFAULT": BLOCKED,  # a hole that upstream bridges
    "TIMER": {"blocked:timer"},
    "NETWORK": {"blocked:network"},
    "BLOCK_DEVICE": {"blocked:block_device"},
    "INTERRUPTED": {"blocked:timer", "blocked:idle_cpu", "blocked:unknown"},
    "UNKNOWN": {"unknown"},
}
LETTERS = {"R": "running_user", "P": "preempted", "I": "interrupted", "U": "unknown",
           "B": "blocked:unknown", "W": "blocked:thread", "T": "blocked:timer",
           "N": "blocked:network", "D": "blocked:block_device"}
SHORT = {"RUNNING": "R", "BLOCKED": "B", "TIMER": "T", "NETWORK": "N", "BLOCK_DEVICE": "D",
         "PREEMPTED": "P", "INTERRUPTED": "I", "UNKNOWN": "U", "EPS": "R"}
EVENTS = {"packet_sent": "inet_sock_local_out", "packet_received": "inet_sock_local_in"}

# (case, thread) -> our path and why it is another one.
OURS = {
    ("trace-net-exchange-wifi", "client/200"): (
        "client/200 10-15 R, server/100 15-35 N, server/100 35-40 P, server/100 40-45 R, "
        "client/50 45-55 N, client/50 55-60 P, client/50 60-70 R, client/200 70-75 P",
        "the thread that served the interrupt is on the path, and waited for a processor"),
    ("trace-net-one-side-wifi", "client/200"): (
        "client/200 10-15 R, client/50 15-55 U, client/50 55-60 P, client/50 60-70 R, "
        "client/200 70-75 P",
        "the thread that served the interrupt is on the path, and waited for a processor"),
    ("derived-wakeup-only", "h/1"): (
        "h/1 0-10 R, h/1 10-22 B, h/1 22-23 P, h/1 23-30 R",
        "an idle processor does nothing that could be waited for"),
    ("derived-no-irq-events", "h/1"): (
        "h/1 0-10 R, h/1 10-20 B, h/1 20-21 P, h/1 21-30 R",
        "an idle processor does nothing that could be waited for; each has an idle thread"),
    ("derived-prev-state-bits", "h/13"): (
        "h/13 30-35 R, h/13 35-130 B, h/13 130-135 R", "an idle kernel thread is not runnable"),
    ("derived-prev-state-bits", "h/14"): (
        "h/14 40-45 R, h/14 45-140 U, h/14 140-145 R", "a dead thread is not runnable"),
    ("derived-prev-state-bits", "h/15"): (
        "h/15 50-55 R, h/15 55-150 B, h/15 150-155 R", "a stopped thread is not runnable"),
    ("derived-double-wakeup", "h/1"): (
        "h/1 0-10 R, h/2 10-20 R, h/1 20-30 P, h/1 30-40 R", "who was woken is runnable"),
    ("derived-exit-mismatch", "h/1"): (
        "h/1 0-5 R, h/2 5-13 R, h/1 13-16 P, h/1 16-20 R",
        "the end of a software interrupt proves that one within it ended"),
    ("derived-bounded-end", "h/1"): (
        "h/1 0-10 R, h/2 10-30 R, h/1 30-34 P, h/1 34-40 R", "the path reaches its end"),
}


def instants(graph):
    """Time -> (worker, what it may be) of a path given as a graph."""
    made = {}
    for worker, row in graph["rows"].items():
        for vertex, following in zip(row, row[1:]):
            for at in range(vertex["t"], following["t"]):
                if "edge" in vertex:
                    made[at] = (worker, MEANS[vertex["edge"]])
    for edge in graph["vertical"]:
        begin, end = (graph["rows"][worker][place]["t"] for worker, place in (edge["from"], edge["to"]))
        for at in range(begin, end):
            made[at] = (edge["to"][0], BLOCKED | {"blocked:network"})
    return made


def differences(expected, found):
    wrong = [at for at in sorted(expected.keys() | found.keys())
             if at not in expected or at not in found or expected[at][0] != found[at][0]
             or found[at][1] not in expected[at][1]]
    return [(at, expected.get(at), found.get(at)) for at in wrong]


def check_graph(case):
    for edge in case["graph"]["vertical"]:
        if edge["from"][0] == edge["to"][0]:  # what ended the wait is what the wait was for
            case["graph"]["rows"][edge["to"][0]][edge["to"][1] - 1]["edge"] = edge["type"]
    rows = " / ".join(worker + ": " + " ".join(
        str(vertex["t"]) + (" " + SHORT[vertex["edge"]] if "edge" in vertex else "") for vertex in row)
        for worker, row in case["graph"]["rows"].items())
    edges = " ".join("{}@{}>{}@{}{}".format(
        edge["from"][0], case["graph"]["rows"][edge["from"][0]][edge["from"][1]]["t"],
        edge["to"][0], case["graph"]["rows"][edge["to"][0]][edge["to"][1]]["t"],
        "n" if edge["type"] == "NETWORK" else "") for edge in case["graph"]["vertical"])
    worker = case["start"]["worker"]
    row = case["graph"]["rows"][worker]
    text = subprocess.run([GRAPH, rows, edges, worker, str(row[case["start"]["vertex"]]["t"]),
                           str(row[-1]["t"])], stdout=subprocess.PIPE, text=True, check=True).stdout
    found = {}
    for thread, letter, begin, end in re.findall(r"(\d+)([A-Z])(\d+)-(\d+)", text.split("|")[0]):
        for at in range(int(begin), int(end)):
            found[at] = (thread, LETTERS[letter])
    ok(not (wrong := differences(instants(case["expected_bounded"]), found)), case["id"], wrong, text)


def kernel_events(case):
    hosts = {}
    for host, events in case["hosts"].items():
        hosts[host] = []
        for event in events:
            fields = dict(event["fields"])
            if "msgid" in fields:
                fields = {"seq": fields["msgid"]}
            name = EVENTS.get(event["name"], event["name"])
            if name in path_ctf.FIELDS:
                hosts[host].append((event["cpu"], event["t"], name, fields))
    return hosts


def path_of(store, case, worker, begin, end):
    """Time -> (worker, state) of our path."""
    hosts = sorted(case["hosts"])
    zero = min(event[1] for events in kernel_events(case).values() for event in events)
    document = run_json("path", store, "--thread", worker.split("/")[1], "--from", f"{begin - zero}ns",
                        "--to", f"{end - zero}ns")
    found = {}
    for segment in document["segments"] if document else ():
        state = segment["state"] + (":" + segment["reason"] if segment["reason"] else "")
        for at in range(segment["start_ns"] + zero, segment["end_ns"] + zero):
            found[at] = (f"{hosts[segment['host']]}/{segment['tid']}", state)
    return found


def read_ours(text):
    made = {}
    for part in text.split(", "):
        worker, times, letter = part.split()
        begin, end = map(int, times.split("-"))
        for at in range(begin, end):
            made[at] = (worker, MEANS[next(key for key, value in SHORT.items() if value == letter)])
    return made


def check_events(case):
    folder = WORK / case["id"]
    path_ctf.write(folder, dict(sorted(kernel_events(case).items())))
    store = import_trace(folder, case["id"])
    if not store:
        return
    asked = case["expected_paths"]
    if not asked and not case["expected_graph"]["vertical"]:  # then each row is its own path
        asked = [{"worker": worker, "expected": {"rows": {worker: row}, "vertical": []}}
                 for worker, row in case["expected_graph"]["rows"].items()]
    for path in asked:
        worker = path["worker"]
        row = path["expected"]["rows"][worker]
        found = path_of(store, case, worker, row[0]["t"], path.get("end", row[-1]["t"]))
        ours = OURS.get((case["id"], worker))
        expected = read_ours(ours[0]) if ours else instants(path["expected"])
        ok(not (wrong := differences(expected, found)),
           f"{case['id']}: {worker}" + (f": another path, since {ours[1]}" if ours else ""), wrong)


for one in CASES["cases"]:
    if one["kind"] == "graph-to-path":
        check_graph(one)
    else:
        check_events(one)
done()
