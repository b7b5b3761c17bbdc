#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Signals at random moments of commands that write: afterwards the old output or a whole new one, no
temporary files, a status that names the signal, and a next run that works.
usage: test_signals.py WEFT RECORDED    (RECORDED: recorded.c)
WEFT_SIGNALS=N: so many for each command (default 15); WEFT_SEED=N: other moments."""
import collections
import fcntl
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tap  # noqa: E402
from tap import equal, ok  # noqa: E402

WEFT, PROGRAM = map(os.path.abspath, sys.argv[1:3])
N_SIGNALS = int(os.environ.get("WEFT_SIGNALS", "15"))
SEED = int(os.environ.get("WEFT_SEED", "1"))
WORK = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("WEFT_BUILD_ROOT")))
TEMPORARY = WORK / "temporary"
FOLDER = WORK / "folder"  # where outputs are, and nothing else
INPUTS = WORK / "inputs"
for each in (TEMPORARY, FOLDER, INPUTS):
    each.mkdir()
os.environ["TMPDIR"] = str(TEMPORARY)
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL]
RUN_NS = 300e6  # of the program that is recorded
RINGS = pathlib.Path("/dev/shm")


def weft(*arguments):
    return subprocess.run([WEFT, *map(str, arguments)], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=120, errors="replace")


def make_inputs():
    """Work of some tenths of a second."""
    events = [{"ph": "X", "pid": 7, "tid": 7 + k % 4, "ts": 100 + 10 * k, "dur": 8, "name": f"f{k % 50}"}
              for k in range(80000)]
    (INPUTS / "events.json").write_text(json.dumps(events))
    equal(weft("import", "-q", "-o", INPUTS / "trace.weft", INPUTS / "events.json").returncode, 0,
          "a trace to work on")


def time_of(arguments):
    began_s = time.monotonic()
    weft(*arguments)
    return time.monotonic() - began_s


def leftovers(output):
    return sorted(str(path.relative_to(WORK)) for folder in (FOLDER, TEMPORARY)
                  for path in folder.iterdir() if path != output)


def no_core():
    """SIGQUIT would leave a file of its own."""
    import resource
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def interrupt(arguments, number, delay_s):
    """Starts a command, and sends it a signal after a while; its status, and whether it still ran."""
    process = subprocess.Popen([WEFT, *map(str, arguments)], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=True, preexec_fn=no_core)
    time.sleep(delay_s)
    children = children_of(process.pid)
    was_running = process.poll() is None
    process.send_signal(number)
    return process.wait(timeout=60), was_running, children


def children_of(pid):
    try:
        return list(map(int, pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))
    except OSError:
        return []


def ends_by(status, number):
    return status in (-number, 128 + number)


def spread(draw, n_signals):
    """Signals in turn, at moments that a whole run is drawn from."""
    return [(SIGNALS[k % len(SIGNALS)], draw.random() * 1.1) for k in range(n_signals)]


# ---- commands that make a file of a file --------------------------------------------------------

def try_command(name, arguments, output):
    draw = random.Random(f"{SEED} {name}")
    outcomes, wrong, left_by_kill = collections.Counter(), [], 0
    equal(weft(*arguments).returncode, 0, f"{name} works")
    took_s = min(time_of(arguments) for _ in range(3))
    whole = output.read_bytes()
    old = b"an older file\n"
    for number, share in spread(draw, N_SIGNALS):
        output.write_bytes(old)
        status, was_running, _ = interrupt(arguments, number, share * took_s)
        found = output.read_bytes() if output.exists() else None
        left = leftovers(output)
        what = "old" if found == old else "new" if found == whole else "torn"
        outcomes[f"{what} output" if was_running else "ended before"] += 1
        is_status = status == 0 or ends_by(status, number)
        if what == "torn" or not is_status or (status == 0 and what != "new") or \
                (left and number != signal.SIGKILL):
            wrong.append((number.name, share, status, what, left))
        for path in left:
            left_by_kill += number == signal.SIGKILL
            target = WORK / path
            shutil.rmtree(target) if target.is_dir() else target.unlink()
    ok(not wrong, f"{name}: {N_SIGNALS} signals at random moments", wrong[:5])
    print(f"# {name}: {N_SIGNALS} signals in {took_s:.2f} s of work:",
          ", ".join(f"{count} {what}" for what, count in sorted(outcomes.items())) +
          f"; {left_by_kill} files left by SIGKILL", flush=True)
    ok(weft(*arguments).returncode == 0 and output.read_bytes() == whole, f"{name} works as before")
    output.unlink()


def test_commands():
    trace, page = INPUTS / "trace.weft", FOLDER / "page.html"
    output = FOLDER / "made.weft"
    try_command("import", ["import", "-q", "-o", output, INPUTS / "events.json"], output)
    output = FOLDER / "made.json"
    try_command("export", ["export", "-q", "--format", "chrome", "-o", output, trace], output)
    if weft("report", "-q", "-o", page, trace).returncode == 0:
        try_command("report", ["report", "-q", "-o", page, trace], page)
    else:
        tap.skip("report: this program has no page")


# ---- the recorder --------------------------------------------------------------------------------

def abandoned_rings(before):
    """Folders of rings that no recorder holds; others may be recording meanwhile."""
    found = []
    for path in set(RINGS.glob("weft-??????")) - before:
        try:
            fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            found.append(path)
        except OSError:
            continue
        os.close(fd)
    return found


def end_children(children):
    for child in children:
        try:
            os.kill(child, signal.SIGKILL)
        except OSError:
            pass


def look(output):
    done = weft("info", "-q", "--json", output)
    return json.loads(done.stdout) if done.returncode == 0 else {"error": done.stderr}


def judge(number, status, was_running, found, left):
    """What is wrong after a signal to the recorder; None: nothing."""
    details = found.get("details", "")
    if "error" in found:
        return "not valid"
    if left and number != signal.SIGKILL:
        return f"left {left}"
    if not (ends_by(status, number) or status == 0):
        return "status"
    if not was_running or status == 0 or found.get("source") == "old":
        return None
    is_early = "interrupted by" in details or "did not end it" in details
    is_whole = found["duration_ns"] >= 0.99 * RUN_NS
    return None if is_early or is_whole else "does not say that it ended early"


def try_recorder(draw, old, arguments, output, took_s):
    outcomes, wrong, latest = collections.Counter(), [], []
    for number, share in spread(draw, N_SIGNALS):
        output.write_bytes(old)
        before = set(RINGS.glob("weft-??????"))
        status, was_running, children = interrupt(arguments, number, share * took_s)
        end_children(children if number == signal.SIGKILL else [])
        rings = abandoned_rings(before) if number != signal.SIGKILL else []
        left = leftovers(output)
        if output.read_bytes() == old:
            found = {"source": "old"}
        else:
            found = look(output)
        what = judge(number, status, was_running, found, left)
        outcomes["old output" if found.get("source") == "old" else
                 "ended before" if not was_running else
                 "interrupted" if "interrupted by" in found.get("details", "") else
                 "open recording" if "did not end it" in found.get("details", "") else "whole"] += 1
        latest += rings
        if what:
            wrong.append((number.name, round(share, 3), status, what, found))
        for path in left:
            target = WORK / path
            shutil.rmtree(target) if target.is_dir() else target.unlink()
    time.sleep(1)
    rings = [path for path in latest if path in abandoned_rings(set())]
    return outcomes, wrong, rings


def test_record():
    draw = random.Random(f"{SEED} record")
    output = FOLDER / "recorded.weft"
    old = (INPUTS / "trace.weft").read_bytes()
    arguments = ["record", "-q", "--no-kernel", "-o", output, "--", PROGRAM, "run", str(RUN_NS / 1e9)]
    equal(weft(*arguments).returncode, 0, "record works")
    took_s = time_of(arguments)
    outcomes, wrong, rings = try_recorder(draw, old, arguments, output, took_s)
    ok(not wrong, f"record: {N_SIGNALS} signals at random moments", wrong[:5])
    ok(not rings, "record: no rings are left", rings)
    print(f"# record: {N_SIGNALS} signals in {took_s:.2f} s of work:",
          ", ".join(f"{count} {what}" for what, count in sorted(outcomes.items())), flush=True)
    ok(weft(*arguments).returncode == 0 and look(output)["calls"] > 0, "record works as before")


def test_hangup():
    """Whoever ignores SIGHUP, as under nohup(1), is not interrupted by it, nor is the program."""
    output = FOLDER / "nohup.weft"
    process = subprocess.Popen(["nohup", WEFT, "record", "-q", "--no-kernel", "-o", output, "--", PROGRAM,
                                "run", "0.6"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True)
    time.sleep(0.3)
    os.killpg(process.pid, signal.SIGHUP)
    equal(process.wait(timeout=60), 0, "under nohup a hangup is ignored")
    ok("interrupted" not in look(output).get("details", "interrupted"), "and the recording is whole")


make_inputs()
test_commands()
test_record()
test_hangup()
shutil.rmtree(WORK)
tap.done()
