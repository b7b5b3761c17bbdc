#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The ledger of a recording: programs whose processes are hard to record write how many calls each made.
Each process is in the ledger; one that is listed as recorded has all its calls in the trace, and what is
missing of the others has a reason. With and without the kernel's level.
usage: test_record_ledger.py WEFT REACHED [STATIC]    (STATIC: the same program, linked statically)"""
import collections
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tap  # noqa: E402
from tap import ok, skip  # noqa: E402

WEFT, PROGRAM, STATIC = map(os.path.abspath, [*sys.argv[1:4], "none"][:3])
PYTHON = "/usr/bin/python3"
run = tap.runner(WEFT)
IS_ROOT = os.geteuid() == 0
NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]


def info(path):
    got = run("info", path, "--json", "--threads")
    return json.loads(got.stdout) if got.returncode == 0 else {"error": got.stderr}


def log_path():
    path = os.path.abspath("log")
    with open(path, "w", encoding="utf-8"):
        os.chmod(path, 0o666)
    return path


def truth(path):
    """Calls by process, as the processes say."""
    calls = collections.Counter()
    for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
        pid, n_calls = map(int, line.split())
        calls[pid] += n_calls
    return calls


def found_calls(about):
    calls = collections.Counter()
    for thread in about["thread_list"]:
        calls[thread["pid"]] += 0 if thread["foreign"] else thread["calls"]
    return calls


def differences(about, said, n_processes):
    """What the ledger says and is not so."""
    entries = {}
    for entry in about["process_list"]:
        entries.setdefault(entry["pid"], []).append(entry)
    found = found_calls(about)
    wrong = []
    for pid, n_calls in said.items():
        states = {entry["state"] for entry in entries.get(pid, [])}
        n_lost = sum(entry["lost_records"] for entry in entries.get(pid, []))
        n_rings = sum(entry["lost_threads"] for entry in entries.get(pid, []))
        whys = {entry["why"] for entry in entries.get(pid, [])}
        if not states:
            wrong.append(f"process {pid} is not listed")
        elif states == {"recorded"} and found[pid] != n_calls:
            wrong.append(f"process {pid} is recorded: {found[pid]} of {n_calls} calls")
        elif found[pid] > n_calls:
            wrong.append(f"process {pid}: {found[pid]} of {n_calls} calls")
        elif states == {"not_recorded"} and found[pid]:
            wrong.append(f"process {pid} is not recorded, with {found[pid]} calls")
        elif whys == {"records_lost"} and found[pid] + n_lost < n_calls:
            wrong.append(f"process {pid}: {found[pid]} of {n_calls} calls, {n_lost} records lost")
        elif whys == {"threads_lost"} and not n_rings:
            wrong.append(f"process {pid}: no thread is lost")
    if n_processes is not None and len(about["process_list"]) != n_processes:
        wrong.append(f"{len(about['process_list'])} processes, not {n_processes}")
    totals = about["program"]
    if totals["recorded"] + totals["partly"] + totals["not_recorded"] != totals["processes"]:
        wrong.append("states do not add up")
    if sum(found.values()) < sum(said.values()) and totals["recorded"] == totals["processes"]:
        wrong.append("calls are missing, and all is recorded")
    if totals["missing"] and not any(note["class"] == "lost" for note in about["notes"]):
        wrong.append("processes are missing, and nothing is lost")
    return wrong


def check(kind, command, *, options=(), env=(), n_processes=None, status=0, reasons=None, n_said=None):
    """One program, on all levels and without the kernel."""
    for level in ([], ["--no-kernel"]):
        log = log_path()
        got = run("record", *level, "--no-stacks", "--no-locks", "-o", "kind.weft", *options, "--", *command,
                  env={**os.environ, "REACHED_LOG": log, **dict(env)})
        about, said = info("kind.weft"), truth(log)
        name = f"{kind}{' without the kernel' if level else ''}"
        if "error" in about:
            ok(False, name, (got, about))
            continue
        wrong = differences(about, said, n_processes)
        if got.returncode != status:
            wrong.append(f"status {got.returncode}")
        if reasons is not None and set(about["program"]["reasons"]) != set(reasons):
            wrong.append(f"reasons {about['program']['reasons']}")
        if n_said is not None and len(said) != n_said:
            wrong.append(f"{len(said)} processes wrote, not {n_said}")
        text = run("info", "kind.weft").stdout
        if about["program"]["recorded"] < about["program"]["processes"] and "no data loss" in text:
            wrong.append("info says that there is no data loss")
        ok(not wrong, name, (wrong, got, about["process_list"], dict(said), about["notes"]))


# ---- kinds of programs ---------------------------------------------------------------------------


def source_of(path):
    """What `info` says of the source, which may take several lines."""
    return re.sub(r"\s+", " ", run("info", path).stdout.split("\n  time ")[0])


def test_usual():
    check("one process", [PROGRAM, "calls", 100], n_processes=1, reasons=())
    check("children that outlive the program", [PROGRAM, "outlive", 100], n_processes=4, reasons=())
    check("a daemon", [PROGRAM, "daemon", 100], n_processes=3, reasons=())
    check("a cleared environment", [PROGRAM, "cleared", 50], reasons=(), n_said=14)
    check("a cleared environment, by vfork", [PROGRAM, "cleared-vfork", 50], reasons=(), n_said=14)
    check("a large environment", [PROGRAM, "large", 50], n_processes=2, reasons=())
    check("threads at once", [PROGRAM, "threads", 100], n_processes=1, reasons=())
    check("threads one after another", [PROGRAM, "turns", 200], n_processes=1, reasons=())


def test_changes():
    if not IS_ROOT:
        skip("only root can change users and roots")
        return
    for what in ("user", "group", "root", "mounts"):
        check(f"another {what}", [PROGRAM, what, 50], n_processes=3, reasons=())
    for what in ("user-raw", "root-raw"):
        check(f"another {what}", [PROGRAM, what, 50], n_said=3)
    for what in ("user-exec", "group-exec", "mounts-exec"):
        check(f"another {what}", [PROGRAM, what, 50], n_processes=2, reasons=())


def test_limits():
    check("a limit of file sizes", [PROGRAM, "limit", 50], n_processes=3, reasons=())
    check("likewise of another program", [PROGRAM, "limit-exec", 50], n_processes=2, reasons=())


def test_shells():
    check("a shell", ["sh", "-c", f"{PROGRAM} calls 10; {PROGRAM} calls 20 & wait; ({PROGRAM} calls 30)"], n_said=3,
          reasons=())
    check("a pipeline", ["sh", "-c", f"{PROGRAM} calls 10 | {PROGRAM} calls 20 | cat"], n_processes=4, reasons=())
    check("env -i", ["env", "-i", "sh", "-c", f"{PROGRAM} calls 10 $0; exec {PROGRAM} calls 20 $0",
                     os.path.abspath("log")], n_said=2, reasons=())
    check("a program that is not there", ["sh", "-c", f"{PROGRAM} calls 10; exec ./none"], status=127, n_said=1,
          reasons=())
    check("a program that is killed", ["sh", "-c", f"{PROGRAM} calls 10; kill -9 $$"], status=137, n_said=1,
          reasons=())
    check("Python", [PYTHON, "-c", f"import subprocess; subprocess.run(['{PROGRAM}', 'calls', '30'], check=True)"],
          n_processes=2, reasons=())
    check("Python that forks", [PYTHON, "-c", "import os, subprocess\nfor k in range(5):\n if os.fork() == 0:\n  "
                                f"os.execv('{PROGRAM}', ['x', 'calls', str(k)])\nfor k in range(5): os.wait()"],
          n_processes=6, reasons=())


def test_unreached():
    """What cannot be recorded is listed, with the reason."""
    if not os.path.exists(STATIC):
        skip("no static program")
        return
    check("a static program", ["sh", "-c", f"{STATIC} calls 100; {PROGRAM} calls 100"], n_said=2)
    check("a static program that forks", ["sh", "-c", f"{STATIC} outlive 100 & sleep 0.5; wait"], n_said=4)
    if IS_ROOT:
        shutil.copy(PROGRAM, "privileged")
        os.chmod("privileged", 0o4755)
        os.chmod(".", 0o755)
        check("a setuid program", [*NOBODY, os.path.abspath("privileged"), "calls", 100, os.path.abspath("log")],
              reasons=("privileged_program",))


def test_options():
    check("--no-follow", [PROGRAM, "outlive", 100], options=("--no-follow",))
    check("a part of the time", ["sh", "-c", f"{PROGRAM} calls 10; sleep 1"], options=("-d", "0.4s"))
    check("no more threads than slots", [PROGRAM, "threads", 60], env={"WEFT_RECORD_SLOTS": "8"}.items(),
          n_processes=1)
    check("small rings, and a recorder that is stopped for a while",
          ["sh", "-c", f"kill -STOP $PPID; {PROGRAM} daemon 30000; sleep 0.5; kill -CONT $PPID"],
          env={"WEFT_RECORD_WORDS": "4096"}.items())


def test_namespaces():
    """Processes call themselves by the numbers of their own pid namespace, which others of the host have."""
    if not IS_ROOT or subprocess.run(["unshare", "-pf", "--mount-proc", "true"], check=False).returncode:
        skip("no pid namespaces")
        return
    shell = f"{PROGRAM} calls 10; {PROGRAM} calls 20; ls >/dev/null; ls >/dev/null"
    run("record", "--no-kernel", "-o", "space.weft", "--", "unshare", "-pf", "--mount-proc", "sh", "-c", shell,
        env={**os.environ, "REACHED_LOG": log_path()})
    about = info("space.weft")
    ok("error" not in about and about["program"]["processes"] == about["program"]["recorded"] == 6 and
       all(entry["pid"] != 1 for entry in about["process_list"]), "another pid namespace",
       about.get("process_list", about))


# ---- recorders that end early --------------------------------------------------------------------


def test_killed():
    """Of a recorder that was killed, the ledger says until when it recorded."""
    with subprocess.Popen([WEFT, "record", "-q", "--no-kernel", "-o", "killed.weft", "--", "sh", "-c",
                           f"{PROGRAM} calls 10; sleep 30"], stderr=subprocess.DEVNULL) as recorder:
        time.sleep(1.5)
        children = pathlib.Path(f"/proc/{recorder.pid}/task/{recorder.pid}/children").read_text(encoding="utf-8")
        recorder.kill()
        recorder.wait()
    for pid in map(int, children.split()):
        for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split():
            os.kill(int(child), signal.SIGKILL)
        os.kill(pid, signal.SIGKILL)
    text, about = " ".join(run("info", "killed.weft").stdout.split()), info("killed.weft")
    reasons = about["program"]["reasons"]
    ok("no data loss" not in text and "has no end" in text and reasons.get("recorder_killed", 0) >= 1 and
       about["program"]["missing"] == reasons["recorder_killed"], "a recorder that is killed", (about, text))


def test_parts():
    """The ledger stays with a part of a trace, and with traces that are merged."""
    got = run("record", "--no-kernel", "-o", "whole.weft", "--", PROGRAM, "outlive", 20)
    whole = info("whole.weft")["program"]
    cut = run("cut", "-o", "cut.weft", "whole.weft", "--to", f"{info('whole.weft')['duration_ns'] - 1}ns")
    part = info("cut.weft").get("program")
    merged = run("merge", "-o", "merged.weft", "whole.weft", "whole.weft")
    both = info("merged.weft").get("program")
    ok(part and 1 <= part["processes"] <= whole["processes"], "a part of the trace", (got, cut, part))
    ok(both and both["processes"] == 2 * whole["processes"], "traces that are merged", (merged, both))


def test_threads():
    """Threads without a ring are counted once, though two libraries look for one."""
    got = run("record", "--no-kernel", "-o", "threads.weft", "--", PROGRAM, "threads", 60,
              env={**os.environ, "WEFT_RECORD_SLOTS": "8"})
    about = info("threads.weft")
    noted = sum(note["count"] for note in about["notes"] if note["detail"].startswith("threads for which"))
    n_lost = about["program"]["lost_threads"]
    ok(0 < n_lost <= 60 and noted == n_lost and about["program"]["threads"] == 61 and
       f"{n_lost} of 61 threads not recorded" in got.stderr, "threads without a ring", (got, about["program"], noted))


def test_lost_reports():
    """What the journal lost is said by the closing line and the trace, and is no process."""
    write = ("import os, struct\nfile = os.open(os.environ['WEFT_RECORD'] + '/journal', os.O_WRONLY)\n"
             "os.pwrite(file, struct.pack('<Q', 5), 24)")
    for level in ([], ["--no-kernel"]):
        got = run("record", *level, "--no-stacks", "-o", "reports.weft", "--", PYTHON, "-c", write)
        about = info("reports.weft")
        counts = {note["detail"].split(":")[0]: note["count"] for note in about["notes"] if note["class"] == "lost"}
        ok("; 5 of its reports of forks, programs and failures were lost" in got.stderr and
           "further processes" not in got.stderr and counts.get("reports of forks, programs and failures") == 5 and
           about["program"]["processes"] == 1, f"lost reports{' without the kernel' if level else ''}",
           (got, about["notes"]))


def test_full():
    """A file that can take no more: the closing line and the trace say that the rest is missing."""
    os.mkdir("small")
    if not IS_ROOT or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", "small"], check=False).returncode:
        skip("only root can mount a small file system")
        return
    got = run("record", "--no-kernel", "-o", "small/full.weft", "--", "sh", "-c", f"{PROGRAM} turns 20000; sleep 0.2")
    shutil.copy("small/full.weft", "full-copy.weft")
    subprocess.run(["umount", "small"], check=False)
    about = info("full-copy.weft")
    ok("stopped" in got.stderr and about["program"]["missing"] >= 1 and about["program"]["reasons"].get("stopped"),
       "a file that is full", (got, about.get("program"), about.get("error")))


def test_empty():
    """Nothing at all was recorded: an error, with advice."""
    if not os.path.exists(STATIC):
        return
    got = run("record", "--no-kernel", "-o", "empty.weft", "--", STATIC, "calls", 10)
    ok(got.returncode == 1 and "nothing was recorded" in got.stderr and "static" in got.stderr,
       "nothing was recorded of a static program", got)
    got = run("record", "--no-kernel", "-o", "empty.weft", "--", "sh", "-c", f"exec {STATIC} none 10; exit 3")
    ok("static" in got.stderr, "and what it was", got)
    text = run("info", "empty.weft").stdout
    ok("no data loss" not in text and "static_program" not in text and "static program" in text, "and info says so",
       text)
    run("record", "--no-kernel", "-o", "none.weft", "--", STATIC, "calls", 10)
    first = source_of("none.weft")
    ok("reached_static" in first and "locks" not in first and "functions" not in first,
       "no level of the libraries is listed where none was loaded", first)
    if IS_ROOT:
        run("record", "-o", "kernel.weft", "--force", "--", STATIC, "calls", 10)
        first = source_of("kernel.weft")
        ok("kernel by" in first and "locks" not in first and "functions" not in first,
           "of a static program only the kernel's level is listed", first)
    run("record", "--no-kernel", "-o", "both.weft", "--", "sh", "-c", f"{STATIC} calls 10; {PROGRAM} calls 10")
    first = source_of("both.weft")
    ok("locks, functions;" in first, "all levels, where any process has them", first)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    os.chmod(folder, 0o755)
    test_usual()
    test_changes()
    test_limits()
    test_shells()
    test_unreached()
    test_options()
    test_namespaces()
    test_killed()
    test_parts()
    test_threads()
    test_lost_reports()
    test_full()
    test_empty()
    os.chdir("/")
tap.done()
