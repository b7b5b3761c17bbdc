# SPDX-License-Identifier: MIT
"""What the acceptance tests share: TAP, the traces beside the project, the program under test."""
import atexit
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
WEFT = ROOT / "build" / "release" / "weft"
TRACES = ROOT / "build" / "traces"
WORK = pathlib.Path(tempfile.mkdtemp(prefix="acceptance.", dir=ROOT / "build"))

atexit.register(shutil.rmtree, WORK, ignore_errors=True)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # a time-out tidies up too
_state = {"run": 0, "failed": 0}


def ok(is_ok, name, *notes):
    """One test; notes are printed when it fails."""
    _state["run"] += 1
    _state["failed"] += not is_ok
    print(f"{'ok' if is_ok else 'not ok'} {_state['run']} - {name}".replace("#", "~"))
    for note in notes if not is_ok else ():
        print("# " + str(note).replace("\n", "\n# "))
    sys.stdout.flush()
    return is_ok


def note(text):
    print(f"# {text}", flush=True)


def done():
    """Prints the plan, ends the program."""
    print(f"1..{_state['run']}")
    sys.exit(_state["failed"] > 0)


def unpack_all(*names):
    """Unpacks the traces whose path holds one of the names (once); their paths."""
    TRACES.mkdir(parents=True, exist_ok=True)
    with open(TRACES / "lock", "w", encoding="utf-8") as lock:
        import fcntl
        fcntl.flock(lock, fcntl.LOCK_EX)
        unpacked = subprocess.run([SHARED / "tools" / "unpack", TRACES, *names], check=True,
                                  stdout=subprocess.PIPE, text=True).stdout
    return [pathlib.Path(line) for line in unpacked.splitlines()]


def unpack(*names):
    """The same of XRay traces; the folder they are in."""
    unpack_all(*("xray/" + name for name in names))
    return TRACES / "xray"


def run(*arguments, **options):
    """Runs weft; the completed process, with text output."""
    return subprocess.run([WEFT, *map(str, arguments)], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace", check=False, **options)


def run_json(*arguments):
    """Runs weft with --json; the document, or None after a failed test."""
    done_run = run(*arguments, "--json")
    if done_run.returncode != 0:
        ok(False, f"weft {' '.join(map(str, arguments))}", done_run.stderr)
        return None
    return json.loads(done_run.stdout)


def import_trace(source, name, *arguments):
    """Imports into the work folder; the path of the store, or None after a failed test."""
    store = WORK / f"{name}.weft"
    done_run = run("import", "-q", "-o", store, source, *arguments)
    if done_run.returncode != 0:
        ok(False, f"import {name}", done_run.stderr)
        return None
    return store


def in_ticks(source, name):
    """A copy of an XRay log whose header claims 1 GHz: a tick is then a nanosecond, exactly."""
    copy = WORK / name
    with open(source, "rb") as reader, open(copy, "wb") as writer:
        header = bytearray(reader.read(32))
        header[8:16] = (1_000_000_000).to_bytes(8, "little")
        writer.write(header)
        while chunk := reader.read(1 << 22):
            writer.write(chunk)
    return copy


def index_rows():
    """Trace name -> (events, threads) of the table in data/INDEX.md."""
    rows = {}
    for line in (SHARED / "data" / "INDEX.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 11 and cells[0].endswith((".fdr", ".basic")):
            rows[cells[0]] = (int(cells[1].replace(",", "")), int(cells[2].split()[0]))
    return rows


if "WEFT" in os.environ:
    WEFT = pathlib.Path(os.environ["WEFT"])
