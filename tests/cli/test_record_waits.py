#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recorded without a kernel: the path of each wait of waits.c leads to the thread that ended it, as far
as the program's own operations tell; else the wait has the name of its call. What is slow for a disk is
diagnosed as that.
usage: test_record_waits.py WEFT WAITS"""
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tap  # noqa: E402
from tap import ok  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[2])
weft = tap.runner(os.path.abspath(sys.argv[1]))
# Way of waiting: how the path goes to who ended it, whether that is inferred, the function waited in.
ENDED = {"join": ("join", False, "pthread_join"), "thrd_join": ("join", False, "pthread_join"),
         "read": ("flow", True, "read"), "poll": ("flow", True, "poll"), "select": ("flow", True, "poll"),
         "epoll": ("flow", True, "epoll_wait"), "eventfd": ("flow", True, "read"),
         "socketpair": ("flow", True, "recv"), "connection": ("flow", True, "recv"),
         "connection_back": ("flow", True, "read")}
# Nobody is known to have ended these: reason, name.
NAMED = {"timeout": ("timer", "poll, timed out"), "epoll_timeout": ("timer", "epoll_wait, timed out"),
         "stranger": ("call", "poll")}


def longest_wait(path, function):
    waits = [one for one in path["segments"] if one["state"] == "blocked" and one["function"] == function]
    return max(waits, key=lambda one: one["end_ns"] - one["start_ns"], default=None)


def test_ended(way, edge, is_inferred, function):
    path = json.loads(weft("path", "waits.weft", "--span", way, "--json").stdout)
    worked = sum(one["end_ns"] - one["start_ns"] for one in path["segments"]
                 if one["thread"] == "answerer" and one["state"] == "running")
    ok(worked >= 2_000_000, f"{way}: the path goes on in the thread that was waited for", path["segments"])
    arrows = [arrow for arrow in path["arrows"] if arrow["edge"] == edge]
    ok(any(arrow["uncertain"] == is_inferred for arrow in arrows), f"{way}: an edge {edge}", path["arrows"])
    wait = longest_wait(path, function)
    ok(wait and wait["reason"] == "thread" and wait["in_flight"] and wait["other_thread"] == "answerer",
       f"{way}: what is left of the wait is in flight", wait)
    ok(path["unexplained_ns"] <= path["to_ns"] - path["from_ns"] - 2_000_000, f"{way}: is explained", path)


def test_named(way, reason, name):
    path = json.loads(weft("path", "waits.weft", "--span", way, "--json").stdout)
    wait = longest_wait(path, name.split(",")[0])
    ok(wait and (wait["reason"], wait["name"]) == (reason, name), f"{way}: the wait is named", path["segments"])
    ok(wait and wait["uncertain"] == (reason == "call"), f"{way}: what is sure is told so", wait)


def test_tree():
    """The same words in trees."""
    made = weft("executions", "waits.weft", "--type", "stranger", "--begin", "mark:stranger", "--db", "waits.db")
    ok(made.returncode == 0, "a tree is made", made.stderr)
    shown = weft("flame", "waits.db", "-f", "folded").stdout
    ok("poll;blocked: in poll" in shown, "blocked: in poll", shown)
    weft("executions", "waits.weft", "--type", "timeout", "--begin", "mark:timeout", "--db", "timeout.db")
    shown = weft("flame", "timeout.db", "-f", "folded").stdout
    ok("poll;blocked: poll, timed out" in shown, "blocked: poll, timed out", shown)


def test_disk():
    made = weft("record", "-q", "--no-kernel", "-o", "disk.weft", "--", PROGRAM, 200)
    ok(made.returncode == 0, "a program with a slow disk is recorded", made.stderr)
    found = weft("diagnose", "--verbose", "disk.weft").stdout
    first = re.split(r"\.(?= |\n|$)", found)[0]
    ok(all(word in first for word in ("blocked: block device", "load > read", "thread `logger`",
                                      "flush_log > fsync")),
       "the first sentence names the thread that syncs, and fsync", found)
    ok("no scheduling events" in found, "what is not known is said", found)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        made = weft("record", "-q", "--no-kernel", "-o", "waits.weft", "--", PROGRAM)
        ok(made.returncode == 0, "recorded without a kernel", made.stderr)
        for way, (edge, is_inferred, function) in ENDED.items():
            test_ended(way, edge, is_inferred, function)
        for way, (reason, name) in NAMED.items():
            test_named(way, reason, name)
        test_tree()
        test_disk()
        os.chdir("/")
    tap.done()


if __name__ == "__main__":
    main()
