#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recorded without a kernel and without functions: a lock that is held long is the first finding, and a
program that does not hold it long has no significant one. Load of the machine may hide the fault, and
that is no failure of a rule that must not name it without proof: a recording is repeated.
usage: test_diagnose_held.py WEFT HELD"""
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tap  # noqa: E402
from tap import ok  # noqa: E402

TRIES = 4
PROGRAM = os.path.abspath(sys.argv[2])
weft = tap.runner(os.path.abspath(sys.argv[1]))


def first_finding(how, trace):
    made = weft("record", "-q", "--no-kernel", "--force", "-o", trace, "--", PROGRAM, how)
    done = weft("diagnose", "-q", "--json", trace)
    if made.returncode or done.returncode:
        return {"significant": None, "explanation": made.stderr + done.stderr}
    return json.loads(done.stdout)["types"][0]


def is_named(found):
    sentence = found["explanation"].split(". ")[0]
    return found["significant"] and "waiting in `store`" in sentence and "`flusher`" in sentence


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        tried = []
        while len(tried) < TRIES and not (tried and is_named(tried[-1])):
            tried.append(first_finding("broken", "broken.weft"))
        ok(is_named(tried[-1]), "a lock that is held for 15 ms comes first", tried)
        if is_named(tried[-1]):
            ok(tried[-1]["lost_share"] == 0, "no loss is a known 0: the recorder counts losses", tried[-1])
        explained = weft("diagnose", "-q", "--explain", "broken.weft").stdout
        ok("holds" in explained or not is_named(tried[-1]), "--explain says how often it was held", explained)
        tried = []
        while len(tried) < TRIES and not (tried and tried[-1]["significant"] is False):
            tried.append(first_finding("healthy", "healthy.weft"))
        ok(tried[-1]["significant"] is False, "a lock that is held for 5 us is no finding", tried)
        os.chdir("/")
    tap.done()


if __name__ == "__main__":
    main()
