#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Outputs: no command writes over what it reads, text over no trace; devices, pipes, access modes.
usage: test_outputs.py WEFT"""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tap  # noqa: E402
from tap import equal, ok  # noqa: E402

WEFT = os.path.abspath(sys.argv[1])
ROOT = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("WEFT_BUILD_ROOT")))
os.environ["TMPDIR"] = str(ROOT / "temporary")
(ROOT / "temporary").mkdir()

REFUSED = "an input of this command"
TRACE_COMMANDS = ("cut", "import", "merge", "record")
# What commands need beside an input and -o to do their work.
NEEDED = {"export": ["--format", "csv"], "path": ["--thread", "7"], "interval": [],
          "executions": ["--begin", "call:step"], "compare": ["--begin", "call:step", "--b", "all"],
          "diagnose": ["--begin", "call:step"], "cut": ["--to", "1ms"]}


def weft(*arguments, **more):
    more.setdefault("stdout", subprocess.PIPE)
    return subprocess.run([WEFT, *map(str, arguments)], stderr=subprocess.PIPE,
                          stdin=more.pop("stdin", subprocess.DEVNULL), check=False, timeout=120,
                          **more)


def help_of(command):
    return weft(command, "--help").stdout.decode()


COMMANDS = [name for name in re.findall(r"^  ([a-z]+)  ", weft("help").stdout.decode(), re.M)
            if "--output FILE" in help_of(name)]
FILE_OPTIONS = [(name, option) for name in COMMANDS
                for option in re.findall(r"(--[a-z-]+) (?:FILE|PROGRAM)", help_of(name))
                if option not in ("--output", "--db", "--report")]


# ---- inputs of every kind ------------------------------------------------------------------------

def make_events():
    """A program whose main calls step again and again."""
    events = [{"ph": "M", "name": "thread_name", "pid": 7, "tid": 7, "args": {"name": "main"}}]
    for k in range(50):
        events.append({"ph": "X", "pid": 7, "tid": 7, "ts": 100 + 20 * k, "dur": 10 + k % 7,
                       "name": "step"})
    return events


def make_recording(path):
    """What a recorder that was killed leaves."""
    process = subprocess.Popen([WEFT, "record", "-q", "--no-kernel", "-o", path, "--", "sleep", "30"],
                               stderr=subprocess.DEVNULL)
    for _ in range(500):
        if path.exists() and path.stat().st_size > 200:
            break
        time.sleep(0.02)
    children = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True,
                              check=False).stdout.split()
    process.kill()
    process.wait()
    for child in children:
        os.kill(int(child), signal.SIGKILL)


def make_kinds(folder):
    """One input of every kind, by its name."""
    kinds = {kind: folder / kind for kind in ("foreign.json", "trace.weft", "runs.db", "text.txt",
                                              "recording.weft", "perf.data", "folder", "program")}
    kinds["foreign.json"].write_text(json.dumps({"traceEvents": make_events()}))
    kinds["text.txt"].write_text("--> main 1 1000\n--> step 1 1100\n<-- step 1 1200\n<-- main 1 2000\n")
    kinds["perf.data"].write_bytes(b"PERFILE2" + bytes(96))
    shutil.copy("/bin/true", kinds["program"])
    kinds["folder"].mkdir()
    shutil.copy(kinds["foreign.json"], kinds["folder"] / "part.json")
    equal(weft("import", "-q", "-o", kinds["trace.weft"], kinds["foreign.json"]).returncode, 0,
          "a trace")
    done = weft("executions", kinds["trace.weft"], "-q", "--begin", "call:step", "--db",
                kinds["runs.db"])
    equal(done.returncode, 0, "a database of executions")
    make_recording(kinds["recording.weft"])
    ok(kinds["recording.weft"].read_bytes().startswith(b"WEFTREC"), "a recording",
       kinds["recording.weft"].read_bytes()[:16])
    return kinds


KINDS = make_kinds(ROOT)


def snapshot(folder):
    """All that a folder holds, but what its files are called by links."""
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
            for path in sorted(folder.rglob("*")) if not path.is_fifo()}


# ---- an output that is an input -----------------------------------------------------------------

def ways(folder, name, victim):
    """Names by which an output is the file `victim`: (way, words for -o, how to open stdout)."""
    link, hard, chain = folder / "link", folder / "hard", folder / "chain"
    link.symlink_to(victim)
    chain.symlink_to(link)
    os.link(victim, hard)
    relative = os.path.relpath(victim, folder)
    yield "the same path", victim, None
    yield "a relative path", relative, None
    yield "a path with dots", folder / "." / ".." / folder.name / relative, None
    yield "a symbolic link", link, None
    yield "a link to a link", chain, None
    yield "a hard link", hard, None
    yield "/dev/stdout", "/dev/stdout", "ab"
    yield "/dev/fd/1", "/dev/fd/1", "r+b"
    if name not in ("record", "cut", "merge"):
        yield "standard output", None, "ab"


def try_own_input(command, kind):
    """How many ways were refused, and what went wrong."""
    folder = ROOT / f"own-{command}-{kind}"
    folder.mkdir()
    source = KINDS[kind]
    given = folder / source.name
    (shutil.copytree if source.is_dir() else shutil.copy)(source, given)
    victim = given / "part.json" if source.is_dir() else given
    inputs = [given, KINDS["trace.weft"]] if command == "merge" else [given]
    words = ["--", *inputs] if command == "record" else [*inputs, *NEEDED.get(command, [])]
    wrong = []
    n_ways = 0
    for way, output, opened in ways(folder, command, victim):
        before = snapshot(folder)
        stdout = open(victim, opened) if opened else subprocess.PIPE
        done = weft(command, *([] if output is None else ["-o", output]), "--force", *words,
                    cwd=folder, stdout=stdout)
        if opened:
            stdout.close()
        n_ways += 1
        message = done.stderr.decode(errors="replace")
        if done.returncode == 0 or REFUSED not in message or snapshot(folder) != before:
            wrong.append((way, done.returncode, message[:200]))
    return n_ways, wrong


def test_own_inputs():
    n_all = 0
    for command in COMMANDS:
        kinds = [kind for kind in KINDS if (command, kind) != ("record", "folder")]  # it takes a program
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            results = list(pool.map(lambda kind: try_own_input(command, kind), kinds))
        n_all += sum(n_ways for n_ways, _ in results)
        wrong = [(kind, *failure) for kind, (_, failures) in zip(kinds, results) for failure in failures]
        ok(not wrong, f"{command}: its input is never its output", wrong[:5])
    print(f"# {n_all} combinations of command, kind of input and way to name it as the output")


def test_other_inputs():
    """Files that options name, and standard input, are inputs as well."""
    wrong = []
    victim = ROOT / "option.txt"
    for command, option in FILE_OPTIONS:
        victim.write_text("something\n")
        words = ["--"] if command == "record" else []
        done = weft(command, option, victim, "-o", victim, *words, KINDS["foreign.json"])
        if done.returncode == 0 or REFUSED.encode() not in done.stderr or \
                victim.read_text() != "something\n":
            wrong.append((command, option, done.stderr[:200]))
    ok(not wrong and FILE_OPTIONS, f"files that {len(FILE_OPTIONS)} options read", wrong)
    own = ROOT / "own.json"
    shutil.copy(KINDS["foreign.json"], own)
    with open(own, "rb") as stdin:
        done = weft("import", "-o", own, "-", stdin=stdin)
    ok(done.returncode != 0 and own.read_bytes() == KINDS["foreign.json"].read_bytes(),
       "standard input is an input", done.stderr)
    before = own.read_bytes()
    with open(own, "ab") as stderr:
        status = subprocess.run([WEFT, "import", "-o", ROOT / "x.weft", own], stderr=stderr,
                                stdout=subprocess.DEVNULL, check=False).returncode
    ok(status != 0 and own.read_bytes() == before, "standard error that leads into the input")


def test_several_outputs():
    trace, runs = KINDS["trace.weft"], ROOT / "several.db"
    shutil.copy(KINDS["runs.db"], runs)
    before = runs.read_bytes()
    rule = ["--begin", "call:step"]
    done = weft("executions", trace, *rule, "--db", runs, "-o", runs, "--force")
    ok(done.returncode != 0 and runs.read_bytes() == before, "-o is not --db", done.stderr)
    own = ROOT / "own.weft"
    shutil.copy(trace, own)
    done = weft("executions", own, *rule, "--db", own)
    ok(done.returncode != 0 and own.read_bytes() == trace.read_bytes(), "--db is not the trace",
       done.stderr)
    gate = ["--b", "all", "--gate", "duration mean +5%"]
    done = weft("compare", runs, *gate, "--report", runs)
    ok(done.returncode != 0 and runs.read_bytes() == before, "--report is not the database",
       done.stderr)
    done = weft("compare", runs, *gate, "--report", ROOT / "same", "-o", ROOT / "same")
    ok(done.returncode != 0 and not (ROOT / "same").exists(), "--report is not -o", done.stderr)
    journal = ROOT / "several.db-journal"
    journal.write_bytes(b"journal")
    done = weft("compare", runs, "--b", "all", "-o", journal)
    ok(done.returncode != 0 and journal.read_bytes() == b"journal", "-o is no journal of the database",
       done.stderr)
    journal.unlink()


# ---- what is there already ----------------------------------------------------------------------

def test_existing():
    """Text does not replace traces, recordings and databases; with --force it does."""
    for command in COMMANDS:
        kinds = ["runs.db"] if command in TRACE_COMMANDS else ["trace.weft", "recording.weft", "runs.db"]
        wrong = []
        for kind in kinds:
            there = ROOT / "there"
            shutil.copy(KINDS[kind], there)
            words = ["--", "true"] if command == "record" else \
                [KINDS["trace.weft"]] * (1 + (command == "merge")) + NEEDED.get(command, [])
            done = weft(command, "-o", there, *words)
            if done.returncode == 0 or b"--force" not in done.stderr or \
                    there.read_bytes() != KINDS[kind].read_bytes():
                wrong.append((kind, done.returncode, done.stderr[:200]))
            there.unlink()
        ok(not wrong, f"{command}: {', '.join(kinds)} is not overwritten", wrong)
    there = ROOT / "there"
    shutil.copy(KINDS["runs.db"], there)
    done = weft("functions", "--force", "-o", there, KINDS["trace.weft"])
    ok(done.returncode == 0 and b"step" in there.read_bytes(), "--force does it", done.stderr)
    done = weft("functions", "-o", there, KINDS["trace.weft"])
    equal(done.returncode, 0, "text replaces text")
    before = (ROOT / "old.weft").write_bytes(KINDS["trace.weft"].read_bytes())
    done = weft("cut", KINDS["trace.weft"], "--to", "200us", "-o", ROOT / "old.weft")
    ok(done.returncode == 0 and (ROOT / "old.weft").stat().st_size != before,
       "a trace replaces a trace", done.stderr)
    inside = KINDS["folder"] / "made.weft"
    shutil.copy(KINDS["trace.weft"], inside)
    done = weft("import", "-o", inside, KINDS["folder"])
    ok(REFUSED.encode() not in done.stderr, "a trace beside foreign files is none of them", done.stderr)
    inside.unlink()


# ---- devices, pipes, descriptors ----------------------------------------------------------------

def read_pipe(path, got):
    with open(path, "rb") as pipe:
        got.append(pipe.read())


def through_pipe(words, command):
    path, got = ROOT / "pipe", []
    os.mkfifo(path)
    reader = threading.Thread(target=read_pipe, args=(path, got), daemon=True)
    reader.start()
    done = weft(command, "-o", path, *words)
    reader.join(20)
    path.unlink()
    return done, b"".join(got)


def through_socket(words, command):
    """As a service manager starts programs: standard output is a socket."""
    ours, theirs = socket.socketpair()
    got = []
    reader = threading.Thread(target=lambda: got.append(read_socket(ours)))
    reader.start()
    done = weft(command, "-o", "/dev/stdout", *words, stdout=theirs)
    theirs.close()
    reader.join(20)
    ours.close()
    return done, b"".join(got)


def read_socket(ours):
    pieces = []
    while piece := ours.recv(1 << 16):
        pieces.append(piece)
    return b"".join(pieces)


def test_devices():
    wrong, n_tried = [], 0
    for command in COMMANDS:
        words = [KINDS["trace.weft"], *NEEDED.get(command, [])]
        plain = ROOT / "plain"
        if command in TRACE_COMMANDS or weft(command, "-o", plain, *words).returncode != 0:
            continue
        want = plain.read_bytes()
        n_tried += 1
        if weft(command, "-o", "/dev/null", *words).returncode != 0:
            wrong.append((command, "/dev/null"))
        for way, (done, got) in (("pipe", through_pipe(words, command)),
                                 ("socket", through_socket(words, command))):
            if done.returncode != 0 or got != want:
                wrong.append((command, way, done.returncode, done.stderr[:200]))
        with open(ROOT / "appended", "wb") as stdout:
            stdout.write(b"before\n")
            stdout.flush()
            done = weft(command, "-o", "/dev/stdout", *words, stdout=stdout)
        if (ROOT / "appended").read_bytes() != b"before\n" + want:
            wrong.append((command, "/dev/stdout"))
        with open(ROOT / "fifth", "wb") as fifth:
            done = weft(command, "-o", f"/dev/fd/{fifth.fileno()}", *words, pass_fds=[fifth.fileno()])
        if done.returncode != 0 or (ROOT / "fifth").read_bytes() != want:
            wrong.append((command, "/dev/fd/N", done.stderr[:200]))
    ok(not wrong and n_tried > 10, f"{n_tried} commands write to devices, pipes and descriptors", wrong)
    done = weft("functions", "-o", "/dev/full", KINDS["trace.weft"])
    ok(done.returncode == 1 and b"No space left" in done.stderr, "a device that is full", done.stderr)
    done = weft("functions", "-o", "/dev/fd/77", KINDS["trace.weft"])
    ok(done.returncode == 1, "a descriptor that is not open", done.stderr)


def test_traces_to_devices():
    pipe = ROOT / "pipe"
    os.mkfifo(pipe)
    trace = KINDS["trace.weft"]
    for command, words in (("import", [trace]), ("cut", [trace]), ("merge", [trace, trace]),
                           ("record", ["--no-kernel", "--", "true"])):
        done = weft(command, "-o", "/dev/null", *words)
        ok(done.returncode == 0 and stat.S_ISCHR(os.stat("/dev/null").st_mode),
           f"{command} -o /dev/null", done.stderr)
        done = weft(command, "-o", pipe, *words)
        ok(done.returncode == 1 and b"regular file" in done.stderr, f"{command}: no trace into a pipe",
           done.stderr)
        with open(ROOT / "redirected", "wb") as stdout:
            done = weft(command, "-o", "/dev/stdout", *words, stdout=stdout)
        ok(done.returncode == 1, f"{command}: no trace into /dev/stdout", done.stderr)
    pipe.unlink()
    equal(list((ROOT / "temporary").iterdir()), [], "nothing is left in TMPDIR")


def catches(process, number):
    """Waits until the process handles a signal."""
    for _ in range(400):
        with open(f"/proc/{process.pid}/status", encoding="ascii", errors="replace") as status:
            caught = next((line for line in status if line.startswith("SigCgt:")), "SigCgt: 0")
        if int(caught.split()[1], 16) >> (number - 1) & 1:
            return
        time.sleep(0.05)


def test_pipe_without_reader():
    """Whoever waits for a reader can be interrupted."""
    pipe = ROOT / "pipe"
    os.mkfifo(pipe)
    process = subprocess.Popen([WEFT, "functions", "-o", pipe, KINDS["trace.weft"]],
                               stderr=subprocess.PIPE)
    catches(process, signal.SIGTERM)
    time.sleep(0.5)
    process.terminate()
    process.communicate(timeout=20)
    equal(process.returncode, 128 + signal.SIGTERM, "waiting for a reader is interrupted")
    pipe.unlink()


# ---- access modes -------------------------------------------------------------------------------

def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def test_modes():
    trace = KINDS["trace.weft"]
    for mask in (0o000, 0o022, 0o077, 0o277):
        folder = ROOT / f"mask-{mask:o}"
        folder.mkdir()
        made = {name: folder / name for name in ("import", "cut", "merge", "record", "db", "text")}
        os.umask(mask)
        weft("import", "-o", made["import"], KINDS["foreign.json"])
        weft("cut", "-o", made["cut"], trace)
        weft("merge", "-o", made["merge"], trace, trace)
        weft("record", "--no-kernel", "-o", made["record"], "--", "true")
        weft("executions", trace, "--begin", "call:step", "--db", made["db"])
        weft("functions", trace, "-o", made["text"])
        make_recording(folder / "killed")
        os.umask(0o022)
        private = {path.name: mode_of(path) for path in folder.iterdir() if path.name != "text"}
        ok(len(private) == 6 and set(private.values()) == {0o600},
           f"umask {mask:03o}: traces, recordings and databases are 0600",
           {name: oct(mode) for name, mode in private.items()})
        equal(oct(mode_of(made["text"])), oct(0o666 & ~mask), f"umask {mask:03o}: text is as any file")
    made = ROOT / "open.weft"
    shutil.copy(trace, made)
    made.chmod(0o644)
    weft("import", "-o", made, KINDS["foreign.json"])
    equal(oct(mode_of(made)), oct(0o600), "a new trace in place of one that others may read")


def test_journal():
    """What SQLite keeps beside a database while it is written."""
    runs = ROOT / "locked.db"
    os.umask(0o000)
    weft("executions", KINDS["trace.weft"], "--begin", "call:step", "--db", runs)
    database = sqlite3.connect(runs)
    database.execute("BEGIN IMMEDIATE")
    database.execute("UPDATE sources SET tag = 'x'")
    modes = {path.name: mode_of(path) for path in ROOT.glob("locked.db*")}
    database.rollback()
    database.close()
    os.umask(0o022)
    ok(len(modes) == 2 and set(modes.values()) == {0o600}, "a journal has the mode of its database",
       modes)


test_own_inputs()
test_other_inputs()
test_several_outputs()
test_existing()
test_devices()
test_traces_to_devices()
test_pipe_without_reader()
test_modes()
test_journal()
shutil.rmtree(ROOT)
tap.done()
