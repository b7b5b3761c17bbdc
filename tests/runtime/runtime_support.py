# SPDX-License-Identifier: MIT
"""Runs programs under the recorder's runtime, in a folder of their own, without a recorder. The tests
are called with the folder of the build where the programs and libraries are."""
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.environ.get("WEFT_SOURCE_ROOT", "."), "tests/support"))
import ring_reader  # noqa: E402

BUILD = os.environ.get("WEFT_BUILD_ROOT", "build/dev")
FUNCTIONS = os.path.join(BUILD, "src/record/runtime/libweft-functions.so")
PRELOAD = os.path.join(BUILD, "src/record/runtime/libweft-preload.so")
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None # as a recorder prefers
n_tests = 0
n_failed = 0


def target(name):
    return os.path.join(BUILD, "tests/runtime", name)


def ok(is_ok, name, note=""):
    global n_tests, n_failed
    n_tests += 1
    n_failed += not is_ok
    print(f"{'ok' if is_ok else 'not ok'} {n_tests} - {name}")
    if not is_ok and note:
        print("# " + str(note).replace("\n", "\n# ")[:2000])
    sys.stdout.flush()
    return is_ok


def equal(got, want, name):
    return ok(got == want, name, f"got {got}, want {want}")


def skip(why):
    global n_tests
    n_tests += 1
    print(f"ok {n_tests} # SKIP {why}")


def done():
    print(f"1..{n_tests}")
    sys.exit(n_failed > 0)


class Recorded:
    """One run: status, out (text), and the rings it left, as long as the `with` lasts."""

    def __init__(self, command, preload=(PRELOAD,), env=(), filters=None, folder=None, setup=None,
                 timeout=60, stdin=None):
        self.folder = folder or tempfile.mkdtemp(prefix="weft-rings-", dir=MEMORY)
        self.is_ours = folder is None
        if filters:
            with open(os.path.join(self.folder, "filter"), "w", encoding="utf-8") as file:
                file.write(filters)
        self.env = {**os.environ, "WEFT_RECORD": self.folder, "LD_PRELOAD": ":".join(preload),
                    "WEFT_RECORD_SLOTS": "64", "WEFT_RECORD_WORDS": "65536", **dict(env)}
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
            self.env.pop(name, None)
        start_ns = time.monotonic_ns()
        self.process = subprocess.Popen(command, env=self.env, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, stdin=stdin, preexec_fn=setup)
        self.timeout, self.start_ns = timeout, start_ns
        self.out = self.err = None
        self.drained = {}

    def wait(self):
        out, err = self.process.communicate(timeout=self.timeout)
        self.out, self.err = out.decode(errors="replace"), err.decode(errors="replace")
        self.status = self.process.returncode
        self.duration_ns = time.monotonic_ns() - self.start_ns
        return self

    def rings(self, library=None, pid=None):
        return ring_reader.rings(self.folder, library, pid)

    def events(self, library=ring_reader.OPERATIONS):
        """All events of the program's own process, by thread in the order in which they began."""
        if library not in self.drained:
            found = self.drained[library] = {}
            for ring in self.rings(library, self.process.pid):
                found.update(ring.drain())
        found = self.drained[library]
        return [found[key] for key in sorted(found, key=lambda key: key[1])]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.is_ours:
            shutil.rmtree(self.folder, ignore_errors=True)


def run(command, **options):
    return Recorded(command, **options).wait()
