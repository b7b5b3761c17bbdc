#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recordings with little memory: stacks of a program whose call frame information and symbols are larger
than the ceiling are walked and named; a browser with its hundred processes and threads is recorded,
finished, opened and looked at.
usage: test_record_memory.py WEFT SANITIZE"""
import json
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tap  # noqa: E402
from tap import ok, skip  # noqa: E402

weft = tap.runner(os.path.abspath(sys.argv[1]))
IS_SANITIZED = sys.argv[2] != "none"  # what it needs itself would count
SCRIPT = """
import json, re
for k in range(1500):
    json.loads(json.dumps([1, {'a': 2.5}] * 50)); re.sub('a+b', 'c', 'aab' * 300); sorted(map(str, range(300)))
"""
PAGE = """<html><body><p id=o></p><script>
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }
let sum = 0;
for (let k = 0; k < 20; k++) sum += fib(24);
for (let k = 0; k < 1000; k++) {
    const p = document.createElement('p'); p.textContent = 'row ' + k; document.body.appendChild(p);
}
document.getElementById('o').textContent = 'sum ' + sum;
</script></body></html>"""
BROWSER = [shutil.which("chromium") or shutil.which("chromium-headless-shell"),
           "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
           "--disable-background-networking", "--disable-component-update", "--disable-sync"]


def about(trace, *more):
    return json.loads(weft("info", trace, "--json", *more).stdout)


def test_interpreter():
    """The interpreter's call frames take 7 MB, its symbols more: 24 MiB are for all."""
    made = weft("record", "-q", "--hz", 2000, "--mem", "24M", "-o", "python.weft", "--",
                sys.executable, "-c", SCRIPT)
    ok(made.returncode == 0, "an interpreter is recorded with 24 MiB", made.stderr)
    stacks = weft("export", "-f", "folded", "--weight", "stacks", "python.weft").stdout.splitlines()
    deep = [line for line in stacks if line.count(";") >= 8]
    ok(len(deep) > 10, "its stacks are walked", stacks[:20])


def test_browser():
    with open("page.html", "w", encoding="utf-8") as page:
        page.write(PAGE)
    made = weft("record", "--mem", "128M", "-o", "browser.weft", "--", *BROWSER,
                "--user-data-dir=" + os.path.abspath("profile"), "--dump-dom",
                "file://" + os.path.abspath("page.html"), timeout=240)
    ok(made.returncode == 0, "a browser is recorded with 128 MiB", made.stderr[-1500:])
    ok("sum 927360" in made.stdout, "its page is shown", made.stdout[:300])
    ok(about("browser.weft")["threads"] > 30, "its threads are in the trace")
    for command in ["functions", "states", "waits", "regtime", "shapes", "flame", "cpu"]:
        done = weft(command, "browser.weft", "-q", "--mem", "128M", timeout=240)
        ok(done.returncode == 0 and done.stdout, f"{command} of it", done.stderr)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        if IS_SANITIZED:
            skip("a sanitizer's memory would count")
        elif os.geteuid() != 0:
            skip("stacks are recorded by root only")
        else:
            test_interpreter()
            if BROWSER[0]:
                test_browser()
            else:
                skip("there is no browser")
    tap.done()


main()
