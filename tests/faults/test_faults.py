#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Each call for memory, mappings, files, reads, writes and threads that weft makes fails once: no crash, no
leak, no wrong answer, a reason on stderr, an older output as it was, and no temporary file.

usage: test_faults.py WEFT_FAULTS [COMMAND...]

By default some calls of each command are tried, chosen at random (WEFT_SEED repeats a choice); WEFT_FAULTS=N
tries N of each kind and command, WEFT_FAULTS=all every one."""
import concurrent.futures
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["WEFT_SOURCE_ROOT"], "tests", "support"))
import tap  # noqa: E402

SOURCE = pathlib.Path(os.environ["WEFT_SOURCE_ROOT"])
BUILD = pathlib.Path(os.environ["WEFT_BUILD_ROOT"])
KINDS = ("memory", "map", "open", "read", "write", "thread")
STAYING = {"memory", "write"}  # also tried so that all later calls fail, too
SANITIZER_STATUS = 99
MOST_S = 60
OLD = b"an output of an earlier run\n"
SEED = int(os.environ.get("WEFT_SEED", random.randrange(1 << 32)))
EACH = os.environ.get("WEFT_FAULTS", "4")
WORK = pathlib.Path(tempfile.mkdtemp(prefix="faults.", dir=BUILD))


def options_of(name):
    return f"{os.environ.get(name, '')}:exitcode={SANITIZER_STATUS}"


ENVIRONMENT = dict(os.environ, **{name: options_of(name) for name in ("ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS")})


def install(weft):
    """The program and the libraries that it loads into others, in one folder."""
    folder = WORK / "bin"
    folder.mkdir()
    shutil.copy(weft, folder / "weft")
    for library in (BUILD / "src" / "record" / "runtime").glob("*.so"):
        shutil.copy(library, folder)
    return folder / "weft"


WEFT = install(sys.argv[1])


def run(arguments, folder, **settings):
    return subprocess.run([WEFT, *arguments], cwd=folder, capture_output=True, check=False, timeout=MOST_S,
                          env=dict(ENVIRONMENT, TMPDIR=str(folder), **settings))


def made(*arguments):
    """Makes an input of the tests."""
    done = run(arguments, WORK)
    if done.returncode:
        sys.exit(f"weft {' '.join(map(str, arguments))}: {done.stderr.decode()}")


def make_inputs():
    for path in (SOURCE / "tests/golden/input").glob("*.txt"):
        shutil.copy(path, WORK)
    shutil.copy(SOURCE / "tests/data/store/v1_events.weft", WORK / "events.weft")
    shutil.copy(SOURCE / "tests/fuzz/corpus/fuzz_xray/fdr_v5", WORK / "log.fdr")
    (WORK / "spans.json").write_text('{"traceEvents":[' + ",".join(
        f'{{"ph":"X","name":"f{k % 7}","pid":1,"tid":{k % 3},"ts":{(k * 7919) % 1000},"dur":1}}' for k in range(400)) + "]}")
    made("import", "-q", "-o", "calls.weft", "worker-11.txt", "odd-12.txt")
    made("import", "-q", "-o", "other.weft", "log.fdr")
    made("executions", "--begin", "call:hash", "--db", "d.db", "calls.weft")


# name: (arguments, the output file or None)
COMMANDS = {
    "import": (["import", "-q", "-o", "out.weft", "worker-11.txt", "odd-12.txt"], "out.weft"),
    "import xray": (["import", "-q", "-o", "out.weft", "log.fdr"], "out.weft"),
    "import chrome": (["import", "-q", "-o", "out.weft", "spans.json"], "out.weft"),
    "info": (["info", "--threads", "calls.weft"], None),
    "functions": (["functions", "--json", "calls.weft"], None),
    "regtime": (["regtime", "--segments", "calls.weft"], None),
    "outliers": (["outliers", "calls.weft"], None),
    "shapes": (["shapes", "calls.weft"], None),
    "interval": (["interval", "--from", "0", "--to", "20ms", "calls.weft"], None),
    "flame": (["flame", "calls.weft"], None),
    "states": (["states", "events.weft"], None),
    "cpu": (["cpu", "events.weft"], None),
    "waits": (["waits", "events.weft"], None),
    "locks": (["locks", "events.weft"], None),
    "interplay": (["interplay", "events.weft"], None),
    "path": (["path", "--thread", "500", "events.weft"], None),
    "executions": (["executions", "--begin", "call:hash", "calls.weft"], None),
    "executions --db": (["executions", "--begin", "call:hash", "--db", "out.db", "calls.weft"], "out.db"),
    "compare": (["compare", "--a", "duration<1460ns", "--b", "duration>=1460ns", "d.db"], None),
    "diagnose": (["diagnose", "calls.weft"], None),
    "report": (["report", "-q", "-o", "out.html", "calls.weft"], "out.html"),
    "export chrome": (["export", "-q", "--format", "chrome", "-o", "out.json", "calls.weft"], "out.json"),
    "export csv": (["export", "-q", "--format", "csv", "-o", "out.csv", "calls.weft"], "out.csv"),
    "cut": (["cut", "-q", "--from", "0", "--to", "20ms", "-o", "out.weft", "calls.weft"], "out.weft"),
    "merge": (["merge", "-q", "-o", "out.weft", "calls.weft", "other.weft"], "out.weft"),
    "record": (["record", "-q", "-o", "out.weft", "--", "sh", "-c", "ls / >listed"], "out.weft"),
}
# Their output differs from run to run, or they end with the status of a program.
RECORDING = {"record"}


class Place:
    """A folder with the inputs, as links, in which one run works."""

    def __init__(self, number, output):
        self.folder = WORK / f"run-{number}"
        self.folder.mkdir()
        self.output = self.folder / output if output else None
        for path in WORK.iterdir():
            if path.is_file():
                os.link(path, self.folder / path.name)
        if self.output and self.output.suffix not in (".db", ".weft"):
            self.output.write_bytes(OLD)
        self.before = set(os.listdir(self.folder))

    def written(self):
        return self.output.read_bytes() if self.output and self.output.exists() else None

    def left(self):
        return sorted(set(os.listdir(self.folder)) - self.before - {self.output.name if self.output else ""})

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def counts_of(path):
    return {kind: int(n) for kind, n in (line.split() for line in path.read_text().splitlines())}


def reference(name):
    """What the command gives when nothing fails, and how many calls of each kind it makes."""
    arguments, output = COMMANDS[name]
    place = Place(f"ref-{name.replace(' ', '-')}", output)
    path = WORK / f"{name.replace(' ', '-')}.counts"
    done = run(arguments, place.folder, WEFT_FAULT_COUNTS=str(path))
    got = (done.stdout, None if output and output.endswith(".db") else place.written())
    place.remove()
    counts = counts_of(path)
    path.unlink()
    return done, got, counts


def opens(path):
    return run(["info", path], path.parent).returncode == 0


def verdict(name, done, place, want):
    """Why an outcome is not right; None: it is."""
    said = done.stderr.decode(errors="replace")
    is_recording = name in RECORDING
    if done.returncode < 0 or done.returncode >= 126 or done.returncode == SANITIZER_STATUS:
        return f"status {done.returncode}"
    if done.returncode and not re.search(r"weft: (?:\S*: )*\w+ \w+", said):
        return f"status {done.returncode} without a reason"
    left = [file for file in place.left() if not (is_recording and file == "listed")]
    if left:
        return f"left behind: {left}"
    written = place.written()
    if done.returncode and place.output and not is_recording and place.output.suffix != ".db":
        kept = OLD if place.output.suffix != ".weft" else None
        if written not in (kept, want[1]): # the whole output stands where only its summary could not be shown
            return "failed, and changed its output"
    if place.output and place.output.suffix in (".db", ".weft") and written is not None and written != b"":
        if place.output.suffix == ".weft" and not opens(place.output):
            return "left an output that does not open"
    if done.returncode == 0 and not is_recording:
        got = (done.stdout, None if place.output and place.output.suffix == ".db" else written)
        if got != want and not said:
            return "another answer, and no word of it"
    return None


def try_fault(job):
    number, name, fault, want = job
    arguments, output = COMMANDS[name]
    place = Place(number, output)
    try:
        done = run(arguments, place.folder, WEFT_FAULT=fault)
        why = verdict(name, done, place, want)
        said = done.stderr.decode(errors="replace")[-1500:]
    except subprocess.TimeoutExpired:
        why, said = f"not over after {MOST_S} s", ""
    finally:
        place.remove()
    return name, fault, why, said


def chosen(counts):
    rng = random.Random(SEED)
    for kind in KINDS:
        n_all = counts[kind]
        numbers = range(1, n_all + 1)
        if EACH != "all" and n_all > int(EACH):
            numbers = sorted(rng.sample(numbers, int(EACH)))
        for n in numbers:
            yield f"{kind}:{n}"
            if kind in STAYING:
                yield f"{kind}:{n}+"


def try_full(name):
    """Standard output is a full device: the command fails, and says why."""
    place = Place(f"full-{name.replace(' ', '-')}", COMMANDS[name][1])
    with open("/dev/full", "wb") as full:
        done = subprocess.run([WEFT, *COMMANDS[name][0]], cwd=place.folder, stdout=full, stderr=subprocess.PIPE,
                              check=False, timeout=MOST_S, env=ENVIRONMENT)
    place.remove()
    return done.returncode == 1 and b"weft: " in done.stderr, f"status {done.returncode}: {done.stderr.decode()}"


def main():
    make_inputs()
    names = sys.argv[2:] or list(COMMANDS)
    n_tried = n_calls = 0
    print(f"# seed {SEED}, {EACH} calls of each kind", flush=True)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name in names:
            done, want, counts = reference(name)
            if b"built without" in done.stderr:
                tap.skip(f"{name}: this build is without it")
                continue
            if not tap.ok(done.returncode == 0, f"{name}: works", done.stderr.decode()):
                continue
            jobs = [(f"{n_tried}-{k}", name, fault, want) for k, fault in enumerate(chosen(counts))]
            wrong = [row for row in pool.map(try_fault, jobs) if row[2]]
            n_tried += len(jobs)
            n_calls += sum(counts.values())
            tap.ok(not wrong, f"{name}: {len(jobs)} failures of {sum(counts.values())} calls",
                   "\n".join(f"{fault}: {why}\n{said}" for _, fault, why, said in wrong[:8]))
            if done.stdout:
                fails, said = try_full(name)
                tap.ok(fails, f"{name}: standard output is full", said)
    print(f"# {n_tried} faults tried, of {n_calls} calls", flush=True)
    shutil.rmtree(WORK, ignore_errors=True)
    tap.done()


if __name__ == "__main__":
    main()
