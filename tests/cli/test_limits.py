#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces that are large in one way, with little memory: many operations on locks, where results must
not depend on --mem; calls of great depth, where memory and time must not grow with its square; and
regular expressions that would take the machine. usage: test_limits.py WEFT GENERATE_LARGE SANITIZED"""
import json
import os
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tap  # noqa: E402
from tap import ok  # noqa: E402

PATH, GENERATE = (os.path.abspath(path) for path in sys.argv[1:3])
IS_SANITIZED = sys.argv[3] == "1"
RELEASE = os.path.join(os.environ.get("WEFT_SOURCE_ROOT", "."), "build/release/weft")
if IS_SANITIZED and os.path.exists(RELEASE): # sanitizers need memory of their own
    PATH, IS_SANITIZED = os.path.abspath(RELEASE), False
weft = tap.runner(PATH)
OPERATIONS, DEPTH, MIB = 150000, 65000, 1 << 20
TERRIBLE = ("((a{1,255}){1,255}){1,255}", "(((a{1,255}){1,255}){1,255}){1,255}", "(" * 300 + ")" * 300)


def make(kind, path, count):
    subprocess.run([GENERATE, kind, path, str(count)], check=True)


def check_locks():
    """150,000 acquisitions take some 40 MB: with 32 MB they lie in files."""
    make("locks", "locks.weft", OPERATIONS)
    asked = (("locks", "--json"), ("interplay", "--json"),
             ("path", "--json", "--thread", "100"), ("waits",),
             ("diagnose", "--json", "--begin", "call:handle_request"))
    for command, *options in asked:
        whole = weft(command, "-q", *options, *(() if IS_SANITIZED else ("--mem", "4G")), "locks.weft")
        ok(whole.returncode == 0, f"{command} {' '.join(options)}", whole.stderr)
        if IS_SANITIZED: # its own memory would count
            continue
        mem = "256M" if command == "diagnose" else "32M"
        little = weft(command, "-q", "-j", "1", *options, "--mem", mem, "locks.weft")
        ok(little.returncode == 0 and little.stdout == whole.stdout,
           f"{command} {' '.join(options)} in {mem}: the same bytes", little.stderr)
    found = json.loads(weft("locks", "-q", "--json", "locks.weft").stdout)
    count = sum(row["acquisitions"] for row in found["locks"])
    ok(count == OPERATIONS, "every operation counts", f"{count} of {OPERATIONS}")


def measured(*arguments):
    """Runs weft within 256 MiB; its seconds of CPU beside."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = weft(*arguments, *(() if IS_SANITIZED else ("--mem", "256M")))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def check_depth():
    """The square of the depth would be 17 GB and minutes."""
    make("deep", "deep.weft", DEPTH)
    make("deep", "less.weft", DEPTH // 4) # shapes are compared in pairs
    asked = [("functions",), ("regtime",), ("outliers",), ("outliers", "--json", "--limit", "0", "-o", "rows.json"),
             ("interval",), ("flame", "-o", "deep.svg"), ("locks",), ("interplay",), ("states",),
             ("path", "--thread", "100"), ("executions", "--begin", "call:main"),
             ("export", "-f", "chrome", "-o", "deep.json"), ("export", "-f", "folded", "-o", "deep.folded"),
             ("cut", "--from", "1us", "-o", "cut.weft"), ("shapes",)]
    page = weft("report", "-q", "-o", "deep.html", "less.weft")
    if "without its user interface" not in page.stderr:
        ok(page.returncode == 0 and page.stderr == "", "report", page.stderr)
    for command, *options in asked:
        done, seconds = measured(command, "-q", *options, "less.weft" if command == "shapes" else "deep.weft")
        ok(done.returncode == 0 and (IS_SANITIZED or seconds < 30),
           f"{command} {' '.join(options)} of {DEPTH} levels", f"{seconds:.1f} s\n{done.stderr}")
    with open("rows.json", encoding="utf-8") as text:
        rows = json.load(text)["outliers"]
    ok(all(len(row["context"]) + row.get("context_omitted", 0) == row["depth"] for row in rows) and
       any("context_omitted" in row for row in rows), "callers that are not named are counted")
    with open("deep.folded", encoding="utf-8") as lines:
        deep = [line for line in lines if ";[deeper calls]" in line]
    ok(deep and all(line.count(";") <= 520 for line in deep), "so are frames of folded stacks")


def check_regex():
    def limit():
        if not IS_SANITIZED:
            resource.setrlimit(resource.RLIMIT_AS, (1024 * MIB, 1024 * MIB))
    for pattern in TERRIBLE:
        for arguments in (("record", "-o", "x.weft", "--function", pattern, "--", "true"),
                          ("outliers", "--function", f"/{pattern}/", "deep.weft")):
            done = weft(*arguments, preexec_fn=limit, timeout=60)
            ok(done.returncode != 0 and "regular expression /" in done.stderr,
               f"{arguments[0]} refuses /{pattern[:30]}/", done.stderr)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_locks()
        check_depth()
        check_regex()
        os.chdir("/")
    tap.done()


main()
