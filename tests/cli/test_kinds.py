#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A server with one planted fault of each kind (examples/kinds), recorded as users record: the first finding
of diagnose names the fault, its place and what holds it up; the same server without the fault has no finding.
On a busy machine a second and a third recording decide.
usage: test_kinds.py WEFT KINDS [RECORDINGS], which records each kind so often and prints how often it is named"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tap  # noqa: E402
from tap import ok  # noqa: E402

WEFT, PROGRAM = (os.path.abspath(path) for path in sys.argv[1:3])
RECORDINGS = int(sys.argv[3]) if len(sys.argv) > 3 else 0
weft = tap.runner(WEFT)

# Kind of program: kinds of finding that name it, the lock, a function of the waiters, one of the holder.
PLANTED = {
    "lock": (("lock_contention",), "table_mutex", "look_up", "rebuild_index"),
    "lock-sort": (("lock_contention",), "table_mutex", "look_up", "sort_rows"),
    "lock-io": (("lock_held_across_io",), "table_mutex", "look_up", "write_journal"),
    "lock-sleep": (("lock_held_while_sleeping",), "table_mutex", "look_up", "back_off"),
    "rwlock": (("lock_contention",), "config_lock", "read_config", "parse_config"),
    # Where the threads that spin are more than the CPUs, they take them from each other.
    "spin": (("spinning", "cpu_saturation"), None, "count_request", None),
    "fsync": (("fsync",), None, "save_order", None),
    "network": (("network", "lock_held_across_network"), None, "handle_remote", "ask_peer"),
    "sleep": (("sleep",), None, "retry_later", None),
    "child": (("child_process", "sleep"), None, "run_converter", None),
    "child-pipe": (("child_process",), None, "filter_document", "answer_pipe"),
    "resolver": (("waiting_for_thread",), None, "resolve_name", "parse_zone"),
    "pool-condition": (("pool_too_small",), "link_free", "exchange", "exchange"),
    "pool": (("pool_too_small",), "connections", "query_database", None),
    "more-work": (("slower_code", "more_work"), None, "find_key", None),
    "slower-code": (("slower_code", "more_work"), None, "compress", None),
    "minor-faults": (("minor_page_faults",), None, "decode_tile", None),
    "herd": (("thundering_herd",), "jobs_ready", "take_job", "submit_job"),
    "imbalance": (("load_imbalance",), "step_barrier", "run_steps", "run_steps"),
    "wait-function": (("sleep", "waiting_for_thread"), None, "lock_row", "archive_rows"),
    "delayed-ack": (("delayed_ack",), None, "send_basket", None),
    "backlog": (("connect",), None, "ask_directory", None),
    "time-out": (("time_out",), None, "look_up_name", None),
    "late-wakeup": (("late_wakeup",), None, "wait_for_job", None),
    "starvation": (("writer_starvation",), "settings_lock", "update_settings", "read_settings"),
}
# These need no fault that others may have: shared by all.
HEALTHY = ["lock", "rwlock", "sleep", "pool", "pool-condition", "slower-code", "herd", "wait-function",
           "time-out", "late-wakeup"]


def findings(kind, *variant):
    recorded = weft("record", "-q", "--force", "-o", "kind.weft", "--", PROGRAM, kind, *variant)
    assert recorded.returncode == 0, recorded.stderr
    return json.loads(weft("diagnose", "kind.weft", "--json").stdout)["findings"]


def is_named(found, kind):
    kinds, lock, waiter, holder = PLANTED[kind]
    if not found:
        return False
    first = found[0]
    functions = " ".join(first["waiter_functions"])
    holders = " ".join(first["holder_functions"] + first.get("last_functions", []))
    return (first["kind"] in kinds and (lock is None or first["object"] == lock) and waiter in functions
            and (holder is None or holder in holders))


def is_quiet(found):
    return not [one for one in found if not one["small"]]


def of_three(name, is_right, *command):
    """The first recording, else both of two others."""
    tries, wanted = [], 1
    for _ in range(3):
        found = findings(*command)
        tries.append([one["sentence"] for one in found][:2] if found else [])
        wanted -= is_right(found)
        if wanted == 0:
            break
        if len(tries) == 1:
            wanted = 2
        elif not is_right(found):
            break
    ok(wanted == 0, name, tries)


def test_deadlock():
    """Two threads that wait for each other until they are killed."""
    weft("record", "-q", "--force", "-o", "kind.weft", "--", PROGRAM, "deadlock")
    waits = json.loads(weft("diagnose", "kind.weft", "--json").stdout)["deadlocks"]
    ok(len(waits) == 2 and {one["lock"] for one in waits} == {"accounts_mutex", "journal_mutex"} and
       waits[0]["holder_tid"] == waits[1]["waiter_tid"] and waits[1]["holder_tid"] == waits[0]["waiter_tid"],
       "a deadlock is found", waits)
    text = weft("kind.weft").stdout
    ok(" 1  Deadlock: 2 threads wait for each other to the end\n" in text, "and comes first", text)


def count(kind):
    named = sum(is_named(findings(kind), kind) for _ in range(RECORDINGS))
    quiet = sum(is_quiet(findings(kind, "--healthy")) for _ in range(RECORDINGS))
    print(f"# {kind:12} named in {named} of {RECORDINGS}, quiet without the fault in {quiet}", flush=True)
    return named, quiet


def test_sentences():
    """What people read is short: 100 columns a line, and the first one says what, how much, how often."""
    found = findings("lock")
    text = weft("diagnose", "kind.weft").stdout
    lines = [line for line in text.splitlines() if not line.lstrip().startswith(("open ", "Nothing", "weft "))]
    ok(max(map(len, lines)) <= 100, "no line has more than 100 columns", max(lines, key=len))
    ok(found and max(len(one["sentence"].split()) for one in found) <= 25, "no sentence has more than 25 words",
       [one["sentence"] for one in found])
    ok(weft("kind.weft").stdout == text, "a trace alone is diagnosed")
    said = weft("record", "--force", "-o", "kind.weft", "--", PROGRAM, "lock").stderr
    ok("weft diagnose kind.weft" in said, "record ends with the first finding", said)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    subprocess.run([WEFT, "record", "-q", "-o", "probe.weft", "--", "true"], check=False, capture_output=True)
    probe = weft("info", "probe.weft", "--json").stdout
    if '"switch"' not in probe:
        tap.skip("no scheduling events can be recorded here")
    elif RECORDINGS:
        sums = [count(kind) for kind in PLANTED]
        total = RECORDINGS * len(PLANTED)
        print(f"# all: named {sum(named for named, _ in sums)} of {total}, "
              f"quiet {sum(quiet for _, quiet in sums)} of {total}")
    else:
        for one in PLANTED:
            of_three(f"{one}: the first finding names it", lambda found, one=one: is_named(found, one), one)
        for one in HEALTHY:
            of_three(f"{one}: without the fault nothing is found", is_quiet, one, "--healthy")
        test_sentences()
        test_deadlock()
tap.done()
