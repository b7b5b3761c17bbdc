#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The waits of requests to an epoll server: each is followed to the thread that answered, or counts as
unexplained, and the segments of each path fill its interval.
usage: test_path_requests.py WEFT EPOLL_SERVER"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tap  # noqa: E402
from tap import ok  # noqa: E402

WEFT, PROGRAM = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
weft = tap.runner(WEFT)
KINDS = ("tcp", "tcp_writev", "tcp_send", "unix", "pipe", "eventfd")
REQUESTS, PATHS = 200, 12
OPEN = ("network", "call", "thread", "lock", "task", "unknown", "idle_cpu")


def is_unexplained(one):
    """As docs/analyses/critical-path.md defines it."""
    if one["state"] == "unknown":
        return True
    return one["state"] == "blocked" and not one["in_flight"] and one["reason"] in OPEN and \
        (one["other_tid"] is None or one["cycle"] or one["too_deep"])


def check_path(name, one):
    path = json.loads(weft("path", f"{name}.weft", "--thread", one["tid"], "--from", f"{one['start_ns']}ns",
                           "--to", f"{one['end_ns']}ns", "--json").stdout)
    length = sum(part["end_ns"] - part["start_ns"] for part in path["segments"])
    unexplained = sum(part["end_ns"] - part["start_ns"] for part in path["segments"] if is_unexplained(part))
    return length == one["end_ns"] - one["start_ns"] and unexplained == path["unexplained_ns"], path


def test(kind, *options, is_kernel):
    name = f"{kind}{'_kernel' if is_kernel else ''}"
    made = subprocess.run([WEFT, "record", "-q", "-o", f"{name}.weft", *options, "--", PROGRAM, kind, str(REQUESTS)],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    ok(made.returncode == 0, f"{name}: is recorded", made.stderr)
    found = json.loads(weft("executions", f"{name}.weft", "--begin", "call:request", "--path", "--json",
                            "--limit", 0).stdout)["executions"]
    ok(len(found) == 4 * REQUESTS, f"{name}: all requests are there", len(found))
    all_ns = sum(one["duration_ns"] for one in found)
    open_ns = sum(one["metrics"]["blocked_network"] + one["metrics"]["blocked_call"] for one in found)
    if is_kernel:
        ok(open_ns <= all_ns / 1000, f"{name}: waits are followed to who answered",
           (open_ns, all_ns, [one for one in found if one["metrics"]["blocked_network"]][:2]))
    unfollowed = sorted(found, key=lambda one: -one["metrics"]["blocked_network"] - one["metrics"]["unexplained"])
    checked = [check_path(name, one) for one in unfollowed[:PATHS // 2] + found[::len(found) // (PATHS // 2)]]
    ok(all(is_good for is_good, _ in checked),
       f"{name}: segments fill the interval, and what is not followed is unexplained",
       [path for is_good, path in checked if not is_good][:1])


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for kind in KINDS:
            if os.geteuid() == 0:
                test(kind, is_kernel=True)
        for kind in ("tcp", "pipe", "eventfd"):
            test(kind, "--no-kernel", is_kernel=False)
        os.chdir("/")
    tap.done()


if __name__ == "__main__":
    main()
