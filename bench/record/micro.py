#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What one call, one lock, one mark costs under weft's libraries and under other recorders.

usage: bench/record/micro.py [-b BUILD] [-n REPEATS]

Builds bench/record/micro.c for each recorder that is installed (uftrace, XRay by clang, LTTng-UST)
and prints a table: least and median ns. What is added is the cost less that of the plain program.
"""
import argparse
import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
import ring_reader  # noqa: E402

SOURCE = ROOT / "bench/record/micro.c"
N_WARM, N_CALLS = 14, 40000 # as there
CLANG = shutil.which("clang-14") or shutil.which("clang")
LTTNG = "/usr/lib/x86_64-linux-gnu/liblttng-ust-"


def build(folder, name, compiler, *flags):
    path = os.path.join(folder, name)
    subprocess.run([compiler, "-O2", "-D_GNU_SOURCE", f"-I{ROOT}/include", "-o", path, str(SOURCE),
                    "-pthread", *flags], check=True)
    return path


class Reader:
    """Reads the rings of a folder, in the place of a recorder, and throws all away."""

    def __init__(self, folder):
        self.folder, self.is_over, self.rings = folder, False, {}
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.is_over:
            for name in os.listdir(self.folder):
                path = os.path.join(self.folder, name)
                if path not in self.rings and ring_reader.is_ready(path):
                    self.rings[path] = ring_reader.Ring(path)
            for ring in self.rings.values():
                for slot in ring.slots():
                    ring.map[slot.at + 64:slot.at + 72] = slot.head.to_bytes(8, "little")
            time.sleep(0.001)

    def stop(self):
        self.is_over = True
        self.thread.join()
        slots = [slot for ring in self.rings.values() for slot in ring.slots()]
        return sum(slot.lost for slot in slots), 4 * sum(slot.head for slot in slots)


def rows(command, **env):
    out = subprocess.run(command, env={**os.environ, **env}, check=True, capture_output=True,
                         text=True).stdout
    fields = [line.split("\t") for line in out.splitlines() if line.count("\t") == 2]
    return {name: (float(least), float(median)) for name, least, median in fields}


def by_weft(program, what, repeats, library):
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        reader = Reader(folder)
        found = rows([program, what, repeats], WEFT_RECORD=folder, LD_PRELOAD=library)
        n_lost, n_bytes = reader.stop()
        if n_lost:
            print(f"# {library}: {n_lost} records found no room", file=sys.stderr)
        if what == "calls":
            n_calls = N_CALLS * (N_WARM + int(repeats)) - n_lost / 2
            print(f"# {n_bytes / n_calls:.3f} bytes a call in the ring", file=sys.stderr)
        return found


@contextlib.contextmanager
def lttng_session(folder):
    """A session of our own, with a daemon of our own unless one is there."""
    pid_file = os.path.join(folder, "sessiond.pid")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel", "--pidfile", pid_file], **quiet)
    time.sleep(2)
    name = f"weft-bench-{os.getpid()}"
    try:
        for command in (["create", name, f"--output={folder}/lttng"],
                        ["enable-channel", "-u", "c", "--subbuf-size=4M", "--num-subbuf=8"],
                        ["enable-event", "-u", "-a", "-c", "c"],
                        ["add-context", "-u", "-t", "vtid"], ["start"]):
            subprocess.run(["lttng", *command], check=True, **quiet)
        yield
    finally:
        subprocess.run(["lttng", "destroy", name], check=False, **quiet)
        if daemon.poll() is None:
            daemon.terminate()
            daemon.wait()


def by_lttng(folder, program, what, repeats, library):
    try:
        with lttng_session(folder):
            return rows([program, what, repeats], LD_PRELOAD=library)
    except subprocess.CalledProcessError as error:
        print(f"# LTTng: {error}", file=sys.stderr)
        return {}


def calls(folder, libraries, repeats):
    plain = build(folder, "plain", "gcc")
    hooks = build(folder, "hooks", "gcc", "-finstrument-functions")
    yield "plain", rows([plain, "calls", repeats])
    yield "weft, library loaded, off", rows([hooks, "calls", repeats], LD_PRELOAD=libraries[1])
    yield "weft, -finstrument-functions", by_weft(hooks, "calls", repeats, libraries[1])
    if CLANG:
        xray = build(folder, "xray", CLANG, "-fxray-instrument",
                     "-fxray-instruction-threshold=100000")
        yield "weft, XRay", by_weft(xray, "calls", repeats, libraries[1])
        options = f"patch_premain=true xray_mode=xray-fdr xray_logfile_base={folder}/fdr."
        yield "XRay FDR", rows([xray, "calls", repeats], XRAY_OPTIONS=options)
    if shutil.which("uftrace"):
        uftrace = ["uftrace", "record", "--no-pager", "-d", f"{folder}/uftrace"]
        pg = build(folder, "pg", "gcc", "-pg")
        yield "uftrace -pg", rows([*uftrace, pg, "calls", repeats])
        yield "uftrace -finstrument", rows([*uftrace, hooks, "calls", repeats])
    if shutil.which("lttng") and os.path.exists(f"{LTTNG}cyg-profile-fast.so"):
        yield "LTTng-UST cyg-profile-fast", by_lttng(folder, hooks, "calls", repeats,
                                                     f"{LTTNG}cyg-profile-fast.so")


def operations(folder, libraries, repeats):
    plain = build(folder, "plain", "gcc")
    yield "plain", rows([plain, "operations", repeats])
    yield "weft, library loaded, off", rows([plain, "operations", repeats], LD_PRELOAD=libraries[0])
    yield "weft", by_weft(plain, "operations", repeats, libraries[0])
    if shutil.which("lttng") and os.path.exists(f"{LTTNG}pthread-wrapper.so"):
        yield "LTTng-UST pthread-wrapper", by_lttng(folder, plain, "operations", repeats,
                                                    f"{LTTNG}pthread-wrapper.so")


def marks(folder, libraries, repeats):
    plain = build(folder, "plain", "gcc")
    yield "not recorded", rows([plain, "marks", repeats])
    yield "weft", by_weft(plain, "marks", repeats, libraries[0])


def table(title, configurations):
    base = {}
    print(f"\n{title}\n\n| what | under | least ns | median ns | added, median |\n"
          "| --- | --- | --- | --- | --- |")
    for name, found in configurations:
        base = base or found
        for what, (least, median) in found.items():
            print(f"| {what} | {name} | {least} | {median} | {median - base[what][1]:.1f} |")
        sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-b", "--build", default=str(ROOT / "build/release"))
    parser.add_argument("-n", "--repeats", default="31")
    args = parser.parse_args()
    libraries = [os.path.abspath(f"{args.build}/src/record/runtime/libweft-{name}.so")
                 for name in ("preload", "functions")]
    print(f"load {os.getloadavg()[0]:.1f}, {args.repeats} repeats")
    with tempfile.TemporaryDirectory() as folder:
        table("Calls: entry and exit", calls(folder, libraries, args.repeats))
        table("Operations", operations(folder, libraries, args.repeats))
        table("Marks", marks(folder, libraries, args.repeats))


main()
