#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Executions of a server that was recorded, from accept to shutdown of the same descriptor: each, and
those that overlap told apart, with the kernel's level and without.
usage: test_record_requests.py WEFT REQUESTS"""
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tap  # noqa: E402
from tap import ok  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[2])
weft = tap.runner(os.path.abspath(sys.argv[1]))
TRACE = "requests.weft"
AT_ONCE = 3


def found(*arguments):
    done = weft("executions", TRACE, "--json", *arguments)
    if not ok(done.returncode == 0, " ".join(arguments), done.stderr):
        return {"executions": [], "types": [{}]}
    return json.loads(done.stdout)


def recorded(*options):
    """What the program says of its requests: descriptor, bytes asked, bytes answered."""
    done = weft("record", "-q", *options, "-o", TRACE, "--", PROGRAM)
    said = [tuple(map(int, line.split())) for line in done.stderr.splitlines()
            if line and line.replace(" ", "").isdigit()]
    ok(done.returncode == 0 and len(said) > AT_ONCE, f"recorded {' '.join(options)}", done.stderr)
    return said


def test_requests(said):
    asked = ["--type", "request", "--begin", "syscall_exit:accept* where ret >= 0",
             "--end", "syscall_enter:shutdown", "--match", "fd"]
    requests = found(*asked)
    rows = requests["executions"]
    ok([row["key"] for row in rows] == [fd for fd, _, _ in said], "one for each descriptor", rows)
    ok(not any("unfinished" in row["flags"] for row in rows)
       and not requests.get("ends_unmatched"), "each of them ends", requests["types"])
    ok(all(row["tid"] != row["end_tid"] for row in rows), "on another thread than it began", rows)
    rounds = [rows[at:at + AT_ONCE] for at in range(0, len(rows), AT_ONCE)]
    ok(all(max(row["start_ns"] for row in some) <= min(row["end_ns"] for row in some)
           for some in rounds), "those of a round overlap", rows)
    ok([row["key"] for row in found(*asked[:3], "syscall_exit:accept4", *asked[4:])["executions"]]
       == [row["key"] for row in rows], "accept4 is accept; one that failed has no descriptor")
    return rows


def test_fields(said):
    read = found("--begin", "syscall_exit:recvfrom where ret > 0", "--end", "syscall_exit:write",
                 "--match", "fd", "--metric", "asked,bytes=ret")["executions"]
    n_bytes = sorted((row["key"], row["metrics"]["bytes"], row["metrics"]["asked"]) for row in read
                     if "unfinished" not in row["flags"])
    ok(n_bytes == sorted((fd, asked, 64) for fd, asked, _ in said), "bytes and descriptors", read)
    written = found("--begin", "syscall:write where fd > 2 and ret >= 4")["executions"]
    ok(len(written) == sum(answered >= 4 for _, _, answered in said), "whole ones, by result", written)
    failed = found("--begin", "syscall_enter:accept", "--end", "syscall_exit:accept where ret = -11")
    ok(sum("unfinished" not in row["flags"] for row in failed["executions"]) == 1,
       "the one that failed", failed["types"])
    closed = found("--begin", "syscall_exit:accept where ret >= 0", "--end", "syscall_enter:close",
                   "--match", "fd")["executions"]
    ok(len(closed) == len(said) and not any("unfinished" in row["flags"] for row in closed),
       "from accept to close", closed)
    kept = found("--begin", "enter:write", "--end", "exit:write where arg0 > 2 and result >= 4",
                 "--metric", "asked")["executions"]
    ok([row["metrics"]["asked"] for row in kept if "unfinished" not in row["flags"]].count(6)
       == sum(answered == 6 for _, _, answered in said), "exits know the arguments", kept)


def test_proposed(said):
    """As it is proposed."""
    proposed = json.loads(weft("executions", TRACE, "--json").stdout)["proposals"]
    one = next((row for row in proposed if row["type"] == "connection"), None)
    if ok(one and one["count"] > len(said), "connections are proposed", proposed):
        rows = found("--begin", one["begin"], "--end", one["end"], "--match", one["match"])["executions"]
        ok([row["key"] for row in rows] == [fd for fd, _, _ in said], "and found", one)
    ok(not any(row["begin"] in ("call:close", "call:shutdown") for row in proposed), "not their ends",
       proposed)
    types = {row["type"] for row in json.loads(weft("diagnose", TRACE, "--json", "-q").stdout)["types"]}
    ok(types == {"connection", "requests after accept"}, "and diagnosed beside the turns of threads", types)


def test_absent():
    done = weft("executions", TRACE, "--begin", "syscall:open*")
    ok("there is no syscall_enter:open*" in done.stderr, "calls that are not recorded", done.stderr)


def main():
    with tempfile.TemporaryDirectory(dir=os.environ.get("WEFT_BUILD_ROOT")) as folder:
        os.chdir(folder)
        said = recorded("--no-kernel")
        test_requests(said)
        test_fields(said)
        test_proposed(said)
        test_absent()
        if os.geteuid() == 0:
            said = recorded()
            test_requests(said)
            test_fields(said)
        os.chdir("/")
    tap.done()


main()
