#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""weft record, from outside: a program's known calls are all there; its exit status is passed on;
whoever is killed leaves what was recorded; files fill up, disks too; a program that is no friend of
its recorder harms itself alone.
usage: test_record.py WEFT RECORDED [full]    (RECORDED: recorded.c; full: as often as by hand)"""
import collections
import csv
import io
import json
import os
import pathlib
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tap  # noqa: E402
from tap import ok  # noqa: E402

WEFT, PROGRAM = map(os.path.abspath, sys.argv[1:3])
run = tap.runner(WEFT)
IS_FULL = "full" in sys.argv[3:]
SEED = int(os.environ.get("WEFT_SEED", "1"))
LATEST_S = 0.1  # what a killed recorder may take along
latest = []  # what it took


def record(*options, program=(), **more):
    return run("record", "--no-kernel", *options, "--", PROGRAM, *program, **more)


def info(path):
    got = run("info", path, "--json", "--threads")
    return json.loads(got.stdout) if got.returncode == 0 else {"error": got.stderr}


def counts(path):
    """How often each function was called."""
    got = run("functions", path, "--json")
    return collections.Counter({row["name"]: row["count"]
                                for row in json.loads(got.stdout)["functions"]})


def known(n_threads, n_steps):
    """What recorded.c calls in its mode "known"."""
    return {"thread": n_threads, "step": n_threads * n_steps,
            "leaf": n_threads * sum(k % 7 for k in range(n_steps))}


# ---- a program's calls ---------------------------------------------------------------------------


def calls_of_thread(rows):
    """(depth, name) in order of time, of rows of CSV."""
    return [(int(row["depth"]), row["function"]) for row in
            sorted(rows, key=lambda row: (int(row["start_ns"]), int(row["depth"])))]


def test_calls():
    got = record("-o", "known.weft", program=("known", 3, 50))
    found = counts("known.weft")
    want = known(3, 50)
    ok(got.returncode == 0 and all(found[name] == want[name] for name in want),
       "calls of a program are all there", (got.stderr, found))
    about = info("known.weft")
    ok(about["lost"] == 0 and about["threads"] == 4, "none is lost", about)
    table = run("export", "known.weft", "--format", "csv").stdout
    of_thread = collections.defaultdict(list)
    for row in csv.DictReader(io.StringIO(table)):
        if row["function"] in want:
            of_thread[row["tid"]].append(row)
    expected = [(0, "thread")]
    for k in range(50):
        expected += [(1, "step")] + [(2, "leaf")] * (k % 7)
    ok(len(of_thread) == 3 and all(calls_of_thread(rows) == expected
                                   for rows in of_thread.values()),
       "call for call, in order", table[:300])
    run("record", "-q", "--no-kernel", "-o", "filtered.weft", "--no-function", "^leaf$", "--",
        PROGRAM, "known", 1, 20)
    found = counts("filtered.weft")
    ok(found["leaf"] == 0 and found["step"] == 20, "functions left out by name", found)
    run("record", "-q", "--no-kernel", "-o", "only.weft", "--function", "^leaf$", "--", PROGRAM,
        "known", 1, 20)
    found = counts("only.weft")
    ok(found["step"] == 0 and found["leaf"] == known(1, 20)["leaf"], "or the only ones", found)
    got = record("-o", "bad.weft", "--function", "nosuchfunction", program=("exit", 0))
    ok(got.returncode == 0 and "nosuchfunction" in got.stderr and counts("bad.weft")["leaf"] == 0,
       "a name that no function has, of a program that loads libraries", got.stderr)
    got = run("record", "--no-kernel", "-o", "bad.weft", "--function", "nosuchfunction", "--",
              shutil.which("true"))
    ok(got.returncode != 0 and "nosuchfunction" in got.stderr, "or of one that loads none", got.stderr)


def test_plugins():
    """Filters by name know libraries that are opened later, a moment after."""
    plugin = os.path.join(os.path.dirname(PROGRAM), "recorded_plugin.so")
    got = record("-o", "plugin.weft", "--function", "^plugin_wanted$", program=("plugin", plugin))
    found = counts("plugin.weft")
    ok(got.returncode == 0 and "looked at then" in got.stderr and found["plugin_other"] == 0 and
       20 < found["plugin_wanted"] <= 100, "only functions of a library that is opened later",
       (got.stderr, found))
    got = record("-o", "plugin.weft", "--no-function", "^plugin_other$", program=("plugin", plugin))
    found = counts("plugin.weft")
    ok(got.returncode == 0 and found["plugin_wanted"] == 100 and found["plugin_other"] < 80,
       "or all but some of them", (got.stderr, found))
    names = {lock["lock"] for lock in json.loads(run("locks", "plugin.weft", "--json").stdout)["locks"]}
    want = [r"mutex \(recorded\+0x[0-9a-f]+\)", r"mutex \(recorded_plugin\.so\+0x[0-9a-f]+\)", r"plugin_locks\[1\]"]
    ok(all(any(re.fullmatch(one, name) for name in names) for one in want), "locks of one name in two modules",
       names)
    got = record("-o", "plugin.weft", program=("silent-plugin", plugin))
    names = {lock["lock"] for lock in json.loads(run("locks", "plugin.weft", "--json").stdout)["locks"]}
    ok(got.returncode == 0 and "plugin_locks[2]" in names, "a library that nobody tells of is met all the same",
       (got.stderr, names))


def test_stripped():
    """A program with XRay that was stripped of the symbols that it is patched by."""
    built = os.path.join(os.path.dirname(PROGRAM), "../runtime/target_calls_xray")
    if not os.path.exists(built) or not shutil.which("strip"):
        ok(True, "# SKIP no program with XRay")
        return
    for option, is_told in (("-s", True), ("-g", False)):
        subprocess.run(["strip", option, "-o", "stripped", built], check=True)
        got = run("record", "--no-kernel", "-o", "stripped.weft", "--", "./stripped", 1, 1, 100)
        ok(got.returncode == 0 and ("stripped of the symbols" in got.stderr) == is_told and
           (info("stripped.weft")["calls"] < 50) == is_told, f"XRay, strip {option}", got.stderr)


def test_locks():
    record("-o", "locks.weft", program=("locks", 100))
    told = json.loads(run("locks", "locks.weft", "--json").stdout)
    sites = told["sites"]
    found = {site["function"]: site["acquisitions"] for site in sites}
    ok(found == {"lock_here": 100, "lock_there": 50}, "who asked for a lock, without its calls",
       found)
    lock = next((one for one in told["locks"] if one["acquisitions"] == 150), {})
    ok(lock.get("lock") == "mutex" and int(lock["address"], 16) > 4096, "a lock by its variable, and its address",
       lock)
    by_name, by_address = (run("locks", "locks.weft", "--lock", which, "--json").stdout
                           for which in ("mutex", lock.get("address", "")))
    ok(by_name == by_address and json.loads(by_name)["locks"] == [lock], "asked for by either", by_name)
    run("cut", "locks.weft", "-o", "part.weft", "--from", "1us")
    part = json.loads(run("locks", "part.weft", "--json").stdout)["locks"]
    ok([one["lock"] for one in part] == ["mutex"], "names go along with a part", part)


def test_processes():
    n = 1000 if IS_FULL else 20
    got = record("-o", "forks.weft", program=("forks", n))
    found = counts("forks.weft")
    ok(got.returncode == 0 and found["step"] == n and found["leaf"] == 3 * n,
       f"{n} children, with their calls and names", (got.stderr, found))
    record("-o", "alone.weft", "--no-follow", program=("forks", 5))
    ok(counts("alone.weft")["step"] == 0, "children left out", counts("alone.weft"))
    n = 10000 if IS_FULL else 100
    got = record("-o", "threads.weft", program=("known", n, 7))
    found = counts("threads.weft")
    want = known(n, 7)
    ok(got.returncode == 0 and all(found[name] == want[name] for name in want) and
       info("threads.weft")["threads"] == n + 1,
       f"{n} threads, one after the other", (got.stderr, found))


def ring_files(pid):
    return [path for folder in ("/dev/shm", tempfile.gettempdir())
            for path in pathlib.Path(folder).glob(f"weft-*/{pid}.*") if path.suffix != ".maps"]


def test_exec():
    """Two programs of one process that the recorder hears of at once: it reads on in the later one."""
    script = 'kill -STOP $PPID; exec "$@"'
    with subprocess.Popen([WEFT, "record", "-q", "--no-kernel", "-o", "exec.weft", "--", "sh", "-c",
                           script, "sh", PROGRAM, "become", PROGRAM, "run", "1"]) as recorder:
        _, status = os.waitpid(recorder.pid, os.WUNTRACED)
        own = pathlib.Path(f"/proc/{recorder.pid}/task/{recorder.pid}/children").read_text().split()
        end = time.monotonic() + 20
        while len(ring_files(own[0])) < 4 and time.monotonic() < end:
            time.sleep(0.01)
        n_files = len(ring_files(own[0]))
        recorder.send_signal(signal.SIGCONT)
    about = info("exec.weft")
    ok(os.WIFSTOPPED(status) and n_files >= 4 and about.get("duration_ns", 0) > 900_000_000,
       "a program that became another one before anybody looked", (status, n_files, about))
    found = counts("exec.weft")
    ok(found["early"] == 2 and found["step"] > 0 and not [name for name in found if "0x" in name],
       "the first, and its child, have their own names", found)


def test_namespace():
    """In a pid namespace processes call themselves 1, 2, 3: they are told by their numbers outside."""
    got = run("record", "-q", "--no-kernel", "-o", "inner.weft", "--", "unshare", "-pf", PROGRAM, "run",
              0.3)
    if "unshare failed" in got.stderr:
        ok(True, "# SKIP no namespace can be made")
        return
    threads = [thread for thread in info("inner.weft")["thread_list"] if thread["name"] == "recorded"]
    ok(got.returncode == 0 and len(threads) == 1 and threads[0]["tid"] > 1 and
       threads[0]["tid"] == threads[0]["pid"], "a program in a namespace of its own", (got, threads))
    once = f"unshare -pf {shlex.quote(PROGRAM)} run 0.2"
    got = run("record", "-q", "--no-kernel", "-o", "inner.weft", "--", "sh", "-c", "; ".join([once] * 4))
    threads = [thread for thread in info("inner.weft")["thread_list"] if thread["name"] == "recorded"]
    ok(got.returncode == 0 and len({thread["pid"] for thread in threads}) == len(threads) == 4 and
       all(thread["tid"] == thread["pid"] for thread in threads),
       "one after the other, in namespaces of one inode", (got, threads))


def test_short_threads():
    """Of threads of a pid namespace that end before they can be asked for, the kernel tells the numbers."""
    got = run("record", "-q", "-o", "short.weft", "--", "unshare", "-pf", PROGRAM, "known", 40, 7)
    if "unshare failed" in got.stderr or info("short.weft")["kernel_events"] == 0:
        ok(True, "# SKIP no namespace can be made, or the kernel not be recorded")
        return
    threads = [thread for thread in info("short.weft")["thread_list"]
               if thread["name"] in ("recorded", "thread") and not thread["foreign"]] # other tests run it
    ok(len(threads) == 41 and all(thread["tid"] < 1 << 30 for thread in threads) and
       len({thread["pid"] for thread in threads}) == 1,
       "threads that end at once in a namespace", (len(threads), threads[:4], threads[-3:]))


def test_foreign():
    """Told is the recorded program with what it makes, unless asked for all."""
    other = subprocess.Popen([PROGRAM, "run", "20"])
    got = run("record", "-q", "-o", "own.weft", "--", "sh", "-c", f"{PROGRAM} run 0.1; true")
    other.kill()
    other.wait()
    about = info("own.weft")
    if got.returncode != 0 or about["kernel_events"] == 0:
        ok(True, "# SKIP the kernel cannot be recorded")
        return
    names = {thread["name"] for thread in about["thread_list"] if not thread["foreign"]}
    own = len([thread for thread in about["thread_list"] if not thread["foreign"]])
    ok(names == {"sh", "recorded"} and own == 2 and other.pid in
       {thread["tid"] for thread in about["thread_list"] if thread["foreign"]},
       "which threads are the program's", (names, own))
    ok(about["foreign_threads"] + own == about["threads"], "and how many are not", about["threads"])
    for command in ("states", "waits", "info"):
        whole = ("--threads",) if command == "info" else ("--limit", "0")
        few, many = (run(command, "own.weft", *more, *whole)
                     for more in ((), ("--all-processes",)))
        ok("--all-processes adds" in few.stdout and
           "--all-processes adds" not in many.stdout, f"weft {command} says what it leaves out",
           few.stdout)


def faults_of(path):
    got = run("executions", path, "--begin", "mark:touch", "--json", "--slower-than", "0")
    rows = json.loads(got.stdout)["executions"] if got.returncode == 0 else []
    return rows[0]["metrics"].get("page_faults", 0) if len(rows) == 1 else got.stderr


def test_faults():
    """With --faults each page that is touched first is a fault of the execution that touches it."""
    n = 3000
    run("record", "-q", "-o", "faults.weft", "--faults", "--", PROGRAM, "touch", n)
    run("record", "-q", "-o", "few.weft", "--", PROGRAM, "touch", n)
    about = info("faults.weft")
    if about.get("kernel_events", 0) == 0 or faults_of("faults.weft") == 0:
        ok(True, "# SKIP page faults cannot be recorded")
        return
    found = faults_of("faults.weft")
    ok(n - about["lost"] <= found <= n + 50 and (found >= n or about["lost"]),
       f"{n} pages touched are {n} page faults", (found, about["lost"]))
    ok(faults_of("few.weft") == 0, "which are not recorded unasked", faults_of("few.weft"))


def test_running():
    """Of a process that runs already: it and what it makes from then on are the program."""
    shell = subprocess.Popen(["sh", "-c", f"read line; {PROGRAM} known 2 7; exit 3"],
                             stdin=subprocess.PIPE)
    other = subprocess.Popen([PROGRAM, "run", "20"])
    recorder = subprocess.Popen([WEFT, "record", "-q", "-o", "running.weft", "-p", str(shell.pid)],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    begun = until(lambda: recorder.poll() is not None or # what comes first is of the kernel
                  (os.path.exists("running.weft") and os.path.getsize("running.weft") > 4096))
    shell.stdin.write(b"go\n")
    shell.stdin.close()
    said, _ = recorder.communicate(timeout=60)
    shell.wait()
    other.kill()
    other.wait()
    about = info("running.weft")
    if recorder.returncode != 0 or about.get("kernel_events", 0) == 0:
        ok("is not allowed here" in said, "# SKIP the kernel cannot be recorded", (begun, said))
        return
    own = [thread for thread in about["thread_list"] if not thread["foreign"]]
    names = [thread["name"].replace("thread", "recorded") for thread in own] # or their start function's
    ok(sorted(names) == ["recorded"] * 3 + ["sh"] and
       shell.pid in {thread["tid"] for thread in own}, "a process that runs, and its later children",
       own)


def test_much():
    """Each call is there, or counted as lost; the trace is made in bounded memory."""
    n = 1350 if IS_FULL else 12
    begin_s = time.monotonic()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    recorder = subprocess.Popen([WEFT, "record", "-q", "--no-kernel", "-o", "much.weft", "--", PROGRAM,
                                 "much", str(n)])
    _, status, used = os.wait4(recorder.pid, 0)
    recorder.returncode = status
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    about = info("much.weft")
    found = counts("much.weft")
    n_steps, n_leaves = 2000 * n, 2000 * 49 * n
    n_calls = found["step"] + found["leaf"]
    n_missing = n_steps + n_leaves - n_calls # of a call that is missing one record is, or both
    ok(status == 0 and 0 <= n_missing <= about["lost"] and
       (about["lost"] or (found["step"], found["leaf"]) == (n_steps, n_leaves)),
       f"{8 * 2000 * 50 * n / 1e6:.0f} MB of calls", (status, found, about["lost"]))
    ok(used.ru_maxrss < 600e3, "in bounded memory", used.ru_maxrss)
    cpu_s = sum(b - a for a, b in zip(before[:2], after[:2]))
    print(f"# {time.monotonic() - begin_s:.1f} s, {cpu_s:.1f} s of processors, {used.ru_maxrss / 1e3:.0f}"
          f" MB of memory at most, {about['lost']} records lost, trace of "
          f"{os.path.getsize('much.weft') / 1e6:.0f} MB", flush=True)
    os.unlink("much.weft")


def test_status():
    for status in (0, 1, 42, 255):
        got = record("-q", "-o", "status.weft", program=("exit", status))
        ok(got.returncode == status, f"exit status {status}", got)
    for number in (signal.SIGTERM, signal.SIGSEGV, signal.SIGKILL):
        got = record("-q", "-o", "status.weft", program=("signal", int(number)))
        ok(got.returncode == 128 + number, f"ended by {number.name}", got)
    got = run("record", "--no-kernel", "-o", "none.weft", "./no-such-program")
    ok(got.returncode == 127 and not os.path.exists("none.weft"), "no such program", got)
    ok(run("record").returncode == 2, "nothing to record is wrong usage")


# ---- when it ends --------------------------------------------------------------------------------


def start(*options, program=("run", 20)):
    return subprocess.Popen([WEFT, "record", "-q", "--no-kernel", *options, "--", PROGRAM,
                             *map(str, program)], stderr=subprocess.DEVNULL)


def child_of(pid):
    """The recorded program, once it has become that."""
    for _ in range(1000):
        for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            try:
                if os.readlink(f"/proc/{child}/exe") == PROGRAM:
                    return int(child)
            except OSError:
                pass
        time.sleep(0.005)
    return None


def until(is_true):
    """On a busy machine everything takes its time."""
    for _ in range(600):
        if is_true():
            return True
        time.sleep(0.05)
    return False


def last_s(about):
    return (about["clock"]["monotonic_ns"] + about["duration_ns"]) / 1e9


def stalled_s(pid):
    """How long a process of one thread has waited for a processor, that of its end included."""
    return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9


def is_dead(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] in "ZX"
    except OSError:
        return True


def kill_and_wait(pid):
    """Of a child that is not waited for, its last account stays."""
    os.kill(pid, signal.SIGKILL)
    while not is_dead(pid):
        time.sleep(0.001)


def kill_one(draw, path, is_recorder):
    """Kills at a random moment; what then is wrong with the file, if anything. A killed program loses
    nothing, and rests for 200 us between its calls. A killed recorder had written all until 100 ms
    before, or it had waited for a processor: the kernel tells how long both had, whatever the load."""
    recorder = start("-o", path)
    program = child_of(recorder.pid)
    time.sleep(0.02 + draw.random() * 0.4)
    killed_s = time.monotonic()
    late_s = 0.005 + (LATEST_S if is_recorder else 0) + (0 if is_recorder else stalled_s(program))
    if is_recorder:
        kill_and_wait(recorder.pid)
        late_s += stalled_s(recorder.pid) + stalled_s(program)
    else:
        os.kill(program, signal.SIGKILL)
    status = recorder.wait()
    if is_recorder:
        os.kill(program, signal.SIGKILL)
    about = info(path)
    if "error" in about:
        return about["error"]
    if not is_recorder and status != 128 + signal.SIGKILL:
        return f"status {status}"
    missing_s = killed_s - (last_s(about) if about["calls"] else killed_s)
    latest.append(missing_s)
    kinds = [note["kind"] for note in about["notes"] if note["class"] == "lost"]
    if kinds != (["not_recorded"] if is_recorder else []) or missing_s > late_s:
        return f"{missing_s} s missing, at most {late_s} s expected, {about}"
    found = counts(path)
    if found["leaf"] > 50 * found["step"] or found["leaf"] < 50 * (found["step"] - 2):
        return str(found)
    return None


def test_kills():
    draw = random.Random(SEED)
    for is_recorder in (False, True):
        wrong = [what for _ in range(200 if IS_FULL else 2)
                 if (what := kill_one(draw, "killed.weft", is_recorder))]
        ok(not wrong, f"SIGKILL of the {'recorder' if is_recorder else 'program'}", wrong)
        print(f"# at most {1000 * max(latest):.1f} ms missing, median "
              f"{1000 * sorted(latest)[len(latest) // 2]:.1f} ms, of {len(latest)}", flush=True)
        latest.clear()
    recorder = start("-o", "stopped.weft")
    child_of(recorder.pid)
    until(lambda: os.path.getsize("stopped.weft") > 20000)
    recorder.send_signal(signal.SIGINT)
    ok(recorder.wait() == 128 + signal.SIGINT and info("stopped.weft").get("calls", 0) > 0,
       "an interrupt ends the program, and what was recorded is there")
    recorder = subprocess.Popen([WEFT, "record", "--no-kernel", "-o", "while.weft", "--duration", "100ms",
                                 "--", PROGRAM, "run", "2"], stderr=subprocess.PIPE, text=True)
    until(lambda: is_dead(recorder.pid))
    most_s = 0.35 + stalled_s(recorder.pid)
    said = recorder.communicate()[1]
    about = info("while.weft")
    ok(recorder.returncode == 0 and "continues" in said and about["duration_ns"] < 1e9 * most_s,
       "a recording that ends before its program", (said, about, most_s))


def test_unfinished():
    recorder = start("-o", "open.weft")
    program = child_of(recorder.pid)
    until(lambda: os.path.exists("open.weft") and os.path.getsize("open.weft") > 20000)
    got = run("info", "open.weft")
    ok(got.returncode == 0 and "being recorded" in got.stderr, "a look while it is recorded", got)
    recorder.kill()
    recorder.wait()
    os.kill(program, signal.SIGKILL)
    got = run("import", "open.weft", "-o", "other.weft")
    ok(got.returncode == 0 and info("other.weft")["calls"] > 0, "a recording is an input", got)
    first = run("functions", "open.weft")
    second = run("functions", "open.weft")
    ok("was killed" in first.stderr and second.stderr == "" and first.stdout == second.stdout,
       "it is completed once", (first, second))


# ---- files ---------------------------------------------------------------------------------------


def test_files():
    got = record("-o", "parts.weft", "--size", "30K", program=("much", 4))
    parts = sorted(pathlib.Path(".").glob("parts*.weft"))
    n_calls = sum(info(part)["calls"] for part in parts)
    found = sum((counts(part) for part in parts), collections.Counter())
    ok(got.returncode == 0 and len(parts) > 1 and n_calls > 0 and found["leaf"] > 0 and
       all(name in ("leaf", "step", "nanosleep") for name in found),
       "a recording in several files", (parts, found))
    recorder = subprocess.Popen([WEFT, "record", "--no-kernel", "-o", "full.weft", "--", PROGRAM,
                                 "run", "2"], stderr=subprocess.PIPE, text=True)
    child_of(recorder.pid)
    resource.prlimit(recorder.pid, resource.RLIMIT_FSIZE, (200000, 200000))
    said = recorder.communicate()[1]
    ok(recorder.returncode == 1 and "recording stopped" in said, "a disk that is full",
       (recorder.returncode, said))
    about = info("full.weft")
    ok(about.get("calls", 0) > 0, "the file opens", about)


def test_small_disk():
    """A file system of its own, which is full after some pieces: what was written before is there to
    the last call, and the file says why it ends. Rings are so large that none is lost in them."""
    os.makedirs("small", exist_ok=True)
    script = ('mount -t tmpfs -o size=24m tmpfs small && "$0" record --no-kernel -o small/full.weft -- '
              '"$1" much 40; status=$?; cp small/full.weft taken.weft; exit $status')
    got = subprocess.run(["unshare", "-m", "sh", "-c", script, WEFT, PROGRAM], capture_output=True,
                         text=True, check=False, env={**os.environ, "WEFT_RECORD_WORDS": str(1 << 24)})
    if not os.path.exists("taken.weft"):
        ok(True, "# SKIP no file system can be mounted")
        return
    n_bytes = os.path.getsize("taken.weft") # of the recording, which is made a trace now
    about = info("taken.weft")
    found = counts("taken.weft")
    notes = {note["kind"]: note for note in about.get("notes", [])}
    # Each step calls 49 leaves: the calls are those that were made first, none is missing.
    ok("recording stopped" in got.stderr and "lost_records" not in notes and
       found["step"] > 1000 and 49 * (found["step"] - 1) <= found["leaf"] <= 49 * found["step"],
       "a file system that is full: each call until then is there", (got, found, notes))
    ok("No space left" in notes.get("unwritten", {}).get("detail", ""), "and the file says so", notes)
    piece_bytes = (1 << 18) + (1 << 12)
    ok(n_bytes > 24 * (1 << 20) - piece_bytes, "but for a piece, it is full", n_bytes)


def test_snapshots():
    got = record("-o", "slow.weft", "--snapshot", "10s", "--trigger", "slow>20ms",
                 program=("slow",))
    # On a busy machine others may take too long as well.
    found = [counts(path)["slow"] for path in pathlib.Path(".").glob("slow*.weft")]
    ok(got.returncode == 0 and "snapshot (slow>20ms)" in got.stderr and max(found, default=0) > 20 and
       got.stderr.count("snapshot (") == len(found),
       "a call that took too long makes a snapshot", (got.stderr, found))
    recorder = start("-o", "flight.weft", "--snapshot", "200ms", program=("run", 60))
    child_of(recorder.pid)
    time.sleep(0.6)
    recorder.send_signal(signal.SIGUSR2)
    until(lambda: os.path.exists("flight.weft"))
    most_s = 0.4 + stalled_s(recorder.pid)
    recorder.send_signal(signal.SIGINT)
    ok(recorder.wait() == 128 + signal.SIGINT, "a flight recorder")
    about = info("flight.weft")
    calls = csv.DictReader(io.StringIO(run("export", "flight.weft", "--format", "csv").stdout))
    starts = [int(row["start_ns"]) for row in calls if not row["flags"]]
    ok(starts and max(starts) - min(starts) < 1e9 * most_s, "the last of its time, when it is asked",
       (about, most_s))
    recorder = start("-o", "marked.weft", "--snapshot", "2s", program=("run", 60))
    child_of(recorder.pid)
    time.sleep(0.3)
    wrong = run("mark", "-r", "nowhere.weft")
    got = run("mark", "-r", "marked.weft", "it is slow")
    is_there = until(lambda: os.path.exists("marked.weft"))
    recorder.send_signal(signal.SIGINT)
    ok(recorder.wait() == 128 + signal.SIGINT and got.returncode == 0 and wrong.returncode == 1 and
       is_there and info("marked.weft").get("calls", 0) > 0, "or when another program asks",
       (got, wrong))
    got = record("-o", "never.weft", "--snapshot", "1s", program=("exit", 0))
    ok(got.returncode == 0 and not os.path.exists("never.weft"), "or nothing", got.stderr)


def test_hostile():
    wrong = []
    for _ in range(20 if IS_FULL else 2):
        got = record("-o", "hostile.weft", program=("scribble", 0.3), timeout=60)
        about = info("hostile.weft")
        if got.returncode != 0 or "error" in about or about["threads"] == 0:
            wrong.append((got, about))
    ok(not wrong, "a program that writes anything into its rings", wrong)


def main():
    tests = [test_calls, test_plugins, test_stripped, test_locks, test_processes, test_exec,
             test_namespace, test_short_threads, test_foreign, test_faults, test_running, test_much,
             test_status, test_kills, test_unfinished, test_files, test_small_disk, test_snapshots,
             test_hostile]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for test in tests:
            test()
        os.chdir("/")
    tap.done()


if __name__ == "__main__":
    main()
