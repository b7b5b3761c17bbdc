# SPDX-License-Identifier: MIT
"""The Test Anything Protocol, and the weft program, for scripts: what each of them begins with."""
import contextlib
import os
import signal
import subprocess
import sys

NOTE_BYTES = 2000
n_run = n_failed = 0


def ok(is_ok, name, note=""):
    """One test; `note` is shown if it fails."""
    global n_run, n_failed
    n_run += 1
    n_failed += not is_ok
    print(f"{'ok' if is_ok else 'not ok'} {n_run} - {name}", flush=True)
    if not is_ok and note != "":
        print("#", str(note)[:NOTE_BYTES].replace("\n", "\n# "), flush=True)
    return is_ok


def equal(got, want, name):
    return ok(got == want, name, f"got {got}, want {want}")


def skip(why):
    global n_run
    n_run += 1
    print(f"ok {n_run} # SKIP {why}", flush=True)


def done():
    """The plan, and the end of the script."""
    print(f"1..{n_run}", flush=True)
    sys.exit(n_failed > 0)


def runner(path, text=True):
    """A function that runs the program at `path` and waits for its end."""
    def run(*arguments, **more):
        return subprocess.run([path, *map(str, arguments)], capture_output=True, text=text, check=False, **more)
    return run


@contextlib.contextmanager
def running(*command, **more):
    """A program that says when it is ready; it and its children are killed at the end."""
    with subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, text=True, start_new_session=True,
                          **more) as program:
        program.stdout.readline()
        try:
            yield program
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(program.pid, signal.SIGKILL)
