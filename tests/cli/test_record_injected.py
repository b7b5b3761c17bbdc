#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each system call of the recorder's libraries inside a program fails once, or from then on: the program does
what it does otherwise, and each of its calls is in the trace, or the trace says that something is missing.
usage: test_record_injected.py WEFT REACHED INJECT [EACH]    (EACH: of each kind and program; default 3, 0: all)"""
import concurrent.futures
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tap  # noqa: E402
from tap import ok  # noqa: E402

WEFT, REACHED, INJECT = map(os.path.abspath, sys.argv[1:4])
EACH = int(sys.argv[4]) if len(sys.argv) > 4 else 3
SEED = int(os.environ.get("WEFT_SEED", random.randrange(1 << 32)))
MOST_S = 60
# Children, threads, and where root may: a program without the rights of it, which has to ask for its ring.
PROGRAMS = {"calls": ["calls", "40"], "outlive": ["outlive", "20"], "threads": ["threads", "30"]}
COMMANDS = {name: [REACHED, *words] for name, words in PROGRAMS.items()}
COMMANDS["filtered"] = COMMANDS["calls"]
OPTIONS = {"filtered": ["--depth", "50"]}
if os.geteuid() == 0:
    COMMANDS["other user"] = ["setpriv", "--reuid", "65534", "--clear-groups", REACHED, "calls", "40"]


class Run:
    """One recording, what its processes say they did, and what the trace has and says."""

    def __init__(self, name, **env):
        with tempfile.TemporaryDirectory(prefix="weft-inject-") as folder:
            os.chmod(folder, 0o755)
            log, trace = pathlib.Path(folder, "log"), pathlib.Path(folder, "out.weft")
            log.touch()
            log.chmod(0o666)
            try:
                done = subprocess.run(
                    [WEFT, "record", "--no-kernel", *OPTIONS.get(name, []), "-o", trace, "--", *COMMANDS[name]], capture_output=True, text=True,
                    check=False, timeout=MOST_S, cwd=folder, env={
                        **os.environ, "REACHED_LOG": str(log), "LD_PRELOAD": INJECT, **env})
                self.status, self.said = done.returncode, done.stderr
            except subprocess.TimeoutExpired:
                self.status, self.said = "not over", ""
            lines = [line.split() for line in log.read_text(encoding="utf-8").splitlines()]
            self.did = sorted(int(line[1]) for line in lines)
            self.about = self.ask("info", trace, "--json") or {}
            functions = (self.ask("functions", trace, "--json") or {}).get("functions", [])
            self.found = sum(row["count"] for row in functions if row["name"] == "leaf")

    @staticmethod
    def ask(*words):
        done = subprocess.run([WEFT, *words], capture_output=True, text=True, check=False, timeout=MOST_S)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def says_loss(self):
        program = self.about.get("program") or {}
        return (not self.about or self.about["lost"] > 0 or program.get("recorded") != program.get("processes")
                or program.get("lost_threads", 0) > 0 or program.get("lost_records", 0) > 0
                or program.get("missing", 0) > 0)

    def wrong(self, reference):
        if self.did != reference.did:
            return f"the program did {self.did}, not {reference.did}: status {self.status}"
        if self.status != reference.status and "weft: " not in self.said:
            return f"status {self.status} without a reason"
        if self.found > sum(self.did):
            return f"{self.found} calls in the trace, of {sum(self.did)}"
        has_all = self.about and self.about["calls"] >= reference.about["calls"]  # some without a name, which is seen
        if self.found < sum(self.did) and not has_all and not self.says_loss():
            return f"{self.found} of {sum(self.did)} calls in the trace, which says that nothing is missing"
        return None


def counts_of(name):
    """How many calls of each kind one process makes, at most."""
    with tempfile.TemporaryDirectory(prefix="weft-inject-") as folder:
        os.chmod(folder, 0o777)
        path = pathlib.Path(folder, "counts")
        path.touch()
        path.chmod(0o666)
        Run(name, WEFT_INJECT_COUNTS=str(path))
        counts = {}
        for kind, n in (line.split() for line in path.read_text(encoding="utf-8").splitlines()):
            counts[kind] = max(counts.get(kind, 0), int(n))
    return counts


def faults_of(counts):
    rng = random.Random(SEED)
    for kind, n_all in sorted(counts.items()):
        numbers = range(1, n_all + 1)
        if 0 < EACH < n_all:
            numbers = sorted(rng.sample(numbers, EACH))
        for n in numbers:
            yield f"{kind}:{n}"
            yield f"{kind}:{n}+"


def main():
    n_tried = n_lossy = 0
    print(f"# seed {SEED}", flush=True)
    with concurrent.futures.ThreadPoolExecutor(2) as pool: # at a time
        for name in COMMANDS:
            reference, counts = Run(name), counts_of(name)
            if not ok(reference.status == 0 and reference.found == sum(reference.did) > 0 and counts.get("map", 0) > 0,
                      f"{name}: all is recorded, and calls are counted", (vars(reference), counts)):
                continue
            faults = list(faults_of(counts))
            runs = list(pool.map(lambda fault, what=name: Run(what, WEFT_INJECT=fault), faults))
            wrong = [(fault, run.wrong(reference), run.said[-400:]) for fault, run in zip(faults, runs)
                     if run.wrong(reference)]
            n_tried += len(faults)
            n_lossy += sum(run.says_loss() for run in runs)
            ok(not wrong, f"{name}: {len(faults)} failures of {sum(counts.values())} calls", "\n".join(map(str, wrong[:8])))
    print(f"# {n_tried} faults tried, {n_lossy} with a loss that is said", flush=True)
    tap.done()


if __name__ == "__main__":
    main()
