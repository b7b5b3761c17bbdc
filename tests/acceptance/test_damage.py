# SPDX-License-Identifier: MIT
"""A small trace cut at every byte, and 5,300 random bit flips, of the XRay log and of the .weft
made from it: each run ends with status 0 or 1, never with a signal, and an error says why.
usage: test_damage.py MANY_RUNS (many_runs.c: 25,000 runs, of which loading the program is the most)"""
import atexit
import concurrent.futures
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

from support import ROOT, WEFT, done, import_trace, note, ok, run, unpack

SEED = int(os.environ.get("WEFT_SEED", "1"))
FOLDER = unpack("synth_events")
LOG = (FOLDER / "synth_events.fdr").read_bytes()
BASIC = (FOLDER / "synth_events.basic").read_bytes()
STORE = import_trace(FOLDER / "synth_events.fdr", "store").read_bytes()
QUERIES = ("info", "functions", "regtime", "outliers")
SECONDS_A_RUN = 20


# In memory, where there is such a folder: each import waits for the disk.
WORK = pathlib.Path(tempfile.mkdtemp(prefix="weft-damage-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None))
atexit.register(shutil.rmtree, WORK, ignore_errors=True)


class Runs:
    """A weft that is loaded once, and forks for each run."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=WORK))
        self.errors = self.folder / "errors"
        environment = {**os.environ, "LD_PRELOAD": os.path.abspath(sys.argv[1]), "WEFT_RUNS_ERRORS": str(self.errors),
                       "WEFT_RUNS_SECONDS": str(SECONDS_A_RUN)}
        self.server = subprocess.Popen([WEFT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment,
                                       bufsize=0, cwd=ROOT)

    def run(self, *words):
        """The exit status, or minus the signal, and what is said on the error stream."""
        self.server.stdin.write(("\t".join(["weft", *map(str, words)]) + "\n").encode())
        answer = self.server.stdout.readline()
        if not answer:
            raise RuntimeError(f"the server of runs ended with status {self.server.wait()}")
        return os.waitstatus_to_exitcode(int(answer)), self.errors.read_bytes()


own = threading.local()


def attempt(case):
    """Returns a complaint, or None."""
    name, content, is_store = case
    if not hasattr(own, "runs"):
        own.runs = Runs()
    path = own.runs.folder / "damaged"
    path.write_bytes(content)
    output = own.runs.folder / "out.weft"
    command = (QUERIES[len(content) % 4], "--json", path) if is_store else ("import", "-q", "-o",
                                                                             output, path)
    status, said = own.runs.run(*command)
    if status == -signal.SIGALRM:
        return f"{name}: did not end within {SECONDS_A_RUN} s"
    if status not in (0, 1):
        return f"{name}: status {status}: {said[-300:]}"
    if status == 1 and not said.startswith(b"weft: "):
        return f"{name}: no clear error: {said[-300:]}"
    return None


def flip(content, rng):
    at = rng.randrange(len(content))
    changed = bytearray(content)
    changed[at] ^= 1 << rng.randrange(8)
    return at, bytes(changed)


def cuts(name, content, is_store, limit):
    return [(f"{name} cut at {at}", content[:at], is_store) for at in range(min(len(content), limit))]


def flips(name, content, is_store, how_many, rng):
    return [(f"{name} with a bit of byte {at} flipped", changed, is_store)
            for at, changed in (flip(content, rng) for _ in range(how_many))]


def check(name, cases):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        complaints = [text for text in pool.map(attempt, cases) if text]
    ok(not complaints, f"{name}: {len(cases)} runs", *complaints[:5])


def same_as_alone():
    """A run of the server ends as one of the program by itself, and says the same."""
    runs, path = Runs(), WORK / "alone"
    output = WORK / "alone.weft"
    for content, words in ((LOG, ("import", "-q", "-o", output, path)), (LOG[:5000], ("import", "-o", output, path)),
                           (LOG[:3], ("import", "-q", "-o", output, path)), (STORE, ("regtime", path)),
                           (STORE[:2000], ("info", "--json", path)), (b"", ("no-such-command",))):
        path.write_bytes(content)
        output.unlink(missing_ok=True)
        alone = run(*words)
        output.unlink(missing_ok=True)
        status, said = runs.run(*words)
        ok((status, said.decode()) == (alone.returncode, alone.stderr), f"a run as the program's own: {words[0]}",
           status, said, alone.returncode, alone.stderr)
    path.write_bytes(STORE)
    ok(runs.run("info", path)[0] == 0, "and so on")


note(f"seed {SEED}")
same_as_alone()
random_source = random.Random(SEED)
check("the FDR log cut at every byte", cuts("FDR", LOG, False, len(LOG)))
check("the basic log cut in its first records", cuts("basic", BASIC, False, 400))
check("the FDR log with flipped bits", flips("FDR", LOG, False, 3000, random_source))
check("the basic log with flipped bits", flips("basic", BASIC, False, 800, random_source))
check("the .weft cut at every byte", cuts(".weft", STORE, True, len(STORE)))
check("the .weft with flipped bits", flips(".weft", STORE, True, 1500, random_source))
done()
