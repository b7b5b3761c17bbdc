#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A part that ends near 2^64 ns, far behind a trace, has what one has that ends behind the trace: nothing that
is added to its bounds wraps around. A part that begins between the exit of a thread and its last switch knows
that the thread ends.
usage: test_far_windows.py WEFT"""
import json
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tap  # noqa: E402
from tap import ok  # noqa: E402

weft = tap.runner(os.path.abspath(sys.argv[1]))
ROOT = pathlib.Path(__file__).resolve().parents[2]
FAR = 1 << 61  # no time of these traces
ENDS = (1 << 62, (1 << 63) - 1, 1 << 63, (1 << 64) - 10_000_000, (1 << 64) - 2, (1 << 64) - 1)
COMMANDS = ("states", "cpu", "waits", "locks", "interplay", "interval", "roots", "regtime",
            "path --thread TID")


def kernel_trace(path):
    """A thread that waits for another one, forks, and is woken by interrupts."""
    at, lines = 1.0, []

    def put(name, tid, text, flags="d..2."):
        lines.append(f" {name}-{tid} [000] {flags} {at:.6f}: {text}")

    def switch(a, state, b):
        put(*a, f"sched_switch: prev_comm={a[0]} prev_pid={a[1]} prev_prio=120 prev_state={state} ==> "
            f"next_comm={b[0]} next_pid={b[1]} next_prio=120")

    app, other, idle = ("app", 100), ("other", 200), ("swapper/0", 0)
    put(*app, "sched_process_fork: comm=app pid=100 child_comm=other child_pid=200")
    for k in range(40):
        at += 1e-4
        switch(app, "S", other)
        at += 2e-4
        put(*other, "sched_waking: comm=app pid=100 prio=120 target_cpu=000")
        switch(other, "S" if k % 2 else "D", idle)
        at += 1e-4
        put("<idle>", 0, "sched_waking: comm=other pid=200 prio=120 target_cpu=000", "d.h2.")
        switch(idle, "R", app)
    path.write_text("# tracer: nop\n" + "\n".join(lines) + "\n", encoding="ascii")


def call_trace(path):
    events = [{"ph": "X", "name": f"f{k % 5}", "pid": 1, "tid": k % 3 + 1, "ts": k * 10, "dur": 8} for k in range(200)]
    events += [{"ph": "B", "name": "open", "pid": 1, "tid": 9, "ts": 5}]
    path.write_text(json.dumps({"traceEvents": events}), encoding="ascii")


def plain(value):
    """Numbers that depend on the bound alike."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items() if key != "share"}  # of the window
    if isinstance(value, list):
        return [plain(one) for one in value]
    return "far" if isinstance(value, (int, float)) and not isinstance(value, bool) and value >= FAR else value


def check(trace, tid):
    for command in COMMANDS:
        words = command.replace("TID", str(tid)).split()
        answers = []
        for end in ENDS:
            done = weft(*words, "-q", "--json", "--to", f"{end}ns", trace)
            answers.append(plain(json.loads(done.stdout)) if done.returncode == 0 else done.stderr)
        wrong = [end for end, answer in zip(ENDS, answers) if answer != answers[0]]
        ok(isinstance(answers[0], dict) and not wrong, f"{trace}: {command}", (wrong, str(answers[0])[:200]))


EXIT = """# tracer: nop
 app-100 [000] d..2. 1.000000: sched_switch: prev_comm=app prev_pid=100 prev_prio=120 prev_state=R ==> next_comm=other next_pid=200 next_prio=120
 other-200 [000] d..2. 1.001000: sched_switch: prev_comm=other prev_pid=200 prev_prio=120 prev_state=S ==> next_comm=app next_pid=100 next_prio=120
 app-100 [000] d..2. 1.002000: sched_process_exit: comm=app pid=100 prio=120
 app-100 [000] d..2. 1.004000: sched_switch: prev_comm=app prev_pid=100 prev_prio=120 prev_state=I ==> next_comm=other next_pid=200 next_prio=120
 other-200 [000] d..2. 1.009000: sched_switch: prev_comm=other prev_pid=200 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
"""


def check_exit():
    """Without its exit the last switch, of a state that is no sleep, looks like a wait."""
    pathlib.Path("exit.txt").write_text(EXIT, encoding="ascii")
    weft("import", "-q", "-o", "exit.weft", "exit.txt")
    for name, source in (("part", "exit"), ("part of a part", "part")):
        done = weft("cut", "-q", "--from", "2500us" if source == "exit" else "1us", "-o", f"{name}.weft", f"{source}.weft")
        states = json.loads(weft("states", "--json", "--tid", 100, f"{name}.weft").stdout)["states"]
        ok(done.returncode == 0 and all(one["state"] != "blocked" for one in states),
           f"{name}: a thread that ended is not blocked", states)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        kernel_trace(pathlib.Path("kernel.txt"))
        call_trace(pathlib.Path("calls.json"))
        for source in ("kernel.txt", "calls.json"):
            done = weft("import", "-q", "-o", source.split(".")[0] + ".weft", source)
            ok(done.returncode == 0, source, done.stderr)
        pathlib.Path("events.weft").write_bytes((ROOT / "tests/data/store/v1_events.weft").read_bytes())
        for trace, tid in (("kernel.weft", 100), ("kernel.weft", 200), ("calls.weft", 9), ("events.weft", 500)):
            check(trace, tid)
        check_exit()
        os.chdir("/")
    tap.done()


if __name__ == "__main__":
    main()
