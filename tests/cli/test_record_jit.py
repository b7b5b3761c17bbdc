#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names of functions that runtimes compile while they run: perf maps and jitdumps of a program made for that,
launched and attached, and of Node and Java where these are installed. usage: test_record_jit.py WEFT JITTED"""
import contextlib
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tap  # noqa: E402
from tap import ok, running  # noqa: E402

WEFT = os.path.abspath(sys.argv[1])
PROGRAM = os.path.abspath(sys.argv[2])
weft = tap.runner(WEFT)
INNER = "inner [app.js:12]"
OUTER = "com.foo.Bar.outer"


def stacks(trace="jit.weft"):
    lines = weft("flame", trace, "-f", "folded", "--weight", "stacks", "-q").stdout.splitlines()
    return [line.rsplit(" ", 1)[0].split(";") for line in lines for _ in range(int(line.rsplit(" ", 1)[1]))]


def counts(trace="jit.weft"):
    """Stacks by their last two frames of user mode."""
    found = {}
    for stack in stacks(trace):
        at = [k for k, frame in enumerate(stack) if frame.startswith(("main", "run"))]
        pair = tuple(stack[at[-1] + 1:at[-1] + 3]) if at else None
        found[pair] = found.get(pair, 0) + 1
    return found


def record(*command, output="jit.weft"):
    return weft("record", "--force", "-o", output, *command)


def notes(trace="jit.weft"):
    got = weft("info", "--json", trace)
    return json.loads(got.stdout)["notes"] if got.returncode == 0 else []


def advice(given):
    return [note["detail"] for note in given if note["kind"] == "jit_unnamed"]


def named(found):
    return sum(n for pair, n in found.items() if pair and pair[:2] == (OUTER, INNER))


def tidy():
    """Some runtimes leave their maps, as the program does when it writes one at its end."""
    for path in glob.glob("/tmp/perf-*.map"):
        with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
            if "/srv/app.js:12:3" in text or os.getcwd() in text or " Busy." in text:
                os.unlink(path)


# ---- a program that makes code

def test_map():
    for options in (), ("--no-locks",), ("--no-bpf",):
        got = record(*options, "--", PROGRAM, "map", 0.5)
        found = counts()
        ok(got.returncode == 0 and named(found) > 20 and not any(pair and "old" in str(pair) for pair in found),
           f"frames have the names of a perf map, the last one of several {options}", (got.stderr, found))
        given = notes()
        ok(not advice(given) and "JIT" not in got.stderr, "then there is no advice", (got.stderr, given))
    shutil.copy("jit.weft", "copy.weft")
    ok(named(counts("copy.weft")) > 20, "the trace has the names, the map is gone")


def test_late():
    record("--", PROGRAM, "late", 0.5)
    found = counts()
    ok(named(found) > 20, "a map that is written when the program ends", found)
    seen = []
    for _ in range(5):
        record("--", PROGRAM, "late", 0.02)
        found = counts()
        seen.append((named(found), found))
    ok(sum(n > 0 for n, _ in seen) >= 2 and not any(n == 0 and ("[jit]",) in found for n, found in seen),
       "of programs that end before they are looked at, too", seen)


def test_dump():
    folder = tempfile.mkdtemp(dir=".")
    got = record("--", PROGRAM, "dump", 1, folder)
    found = counts()
    first = sum(n for pair, n in found.items() if pair == ("outer", "first"))
    second = sum(n for pair, n in found.items() if pair == ("outer", "second"))
    ok(first > 20 and second > 20 and min(first, second) * 3 > max(first, second),
       "a jitdump names by the time of the sample", (got.stderr, found))


def test_attached():
    with running(PROGRAM, "map", 10) as program:
        got = record("-p", program.pid, "-d", "0.7s")
    found = counts()
    ok(named(found) > 20, "attached: a perf map", (got.stderr, found))
    folder = tempfile.mkdtemp(dir=".")
    with running(PROGRAM, "dump", 2, folder) as program:
        got = record("-p", program.pid, "-d", "5s")
    found = counts()
    ok(found.get(("outer", "second"), 0) > 20, "attached: a jitdump, to its end", (got.stderr, found))


def test_fork():
    record("--", PROGRAM, "fork", 0.5)
    found = counts()
    ok(named(found) > 20, "a child of fork has its parent's code", found)


def test_files():
    for size in "300k", "100k": # a busy machine leaves less to record
        got = record("--size", size, "--", PROGRAM, "map", 2.5, output=f"size{size}.weft")
        files = sorted(glob.glob(f"size{size}*.weft"))
        if len(files) > 1:
            break
    found = [named(counts(file)) for file in files]
    ok(len(files) > 1 and sum(found[1:]) > 20 and sum(n > 0 for n in found) > 1,
       "of a recording in several files each has the names that were there", (got.stderr[-500:], found))


def test_killed():
    """Without its end a recording has no names, and can be read."""
    with subprocess.Popen([WEFT, "record", "--force", "-o", "killed.weft", "--", PROGRAM, "map", "3"],
                          stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as recorder:
        time.sleep(2)
        recorder.kill()
    got = weft("info", "killed.weft")
    ok(got.returncode == 0, "a recorder that was killed", got.stderr)


def test_unnamed():
    got = record("--", PROGRAM, "none", 3)
    found = counts()
    ok(sum(n for pair, n in found.items() if pair and pair == ("[jit]",)) > 20,
       "code without names is one frame, [jit]", found)
    given = notes()
    lines = advice(given)
    ok(len(lines) == 1 and "jitted: functions that are compiled at run time have no names" in lines[0],
       "weft info says what would give them names", given)
    ok(f"weft: {lines[0]}\n" in got.stderr if lines else False, "so do the closing lines", got.stderr)


def test_bad():
    for how in "stale", "foreign", "link", "pipe", "text":
        if how == "foreign" and os.geteuid() != 0:
            continue
        got = record("--", PROGRAM, how, 0.5)
        found = counts()
        ok(got.returncode == 0 and named(found) == 0 and any(pair == ("[jit]",) for pair in found),
           f"a map that is not to be believed: {how}", (got.stderr, found))
        with open("jit.weft", "rb") as file:
            ok(b"secret-of-another" not in file.read(), f"nothing of it is in the trace: {how}")


def test_namespaces():
    """Another pid namespace, and a /tmp of its own."""
    script = f"mount -t tmpfs none /tmp && exec {PROGRAM} map 1"
    front = ["unshare", "--pid", "--fork", "--mount", "--mount-proc", "sh", "-c"]
    if os.geteuid() != 0 or subprocess.run([*front, "mount -t tmpfs none /tmp"], check=False,
                                           stderr=subprocess.DEVNULL).returncode != 0:
        tap.skip("no namespaces can be made here")
        return
    got = record("--", *front, script)
    found = counts()
    ok(named(found) > 20, "a process in namespaces of its own", (got.stderr, found))


# ---- runtimes

NODE = """
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
function slowReport(n) { let v = 0; while (n-- > 0) v += fib(20); return v; }
let n = 0;
function tick() { slowReport(++n % 20 ? 2 : 400); if (n < last) setTimeout(tick, 2); }
const last = Number(process.argv[2]);
console.log('ready'); setTimeout(tick, 0);
"""

JAVA = """
public class Busy {
    static long crunch(int n) { long s = 0; for (int i = 0; i < n; i++) s += Integer.toString(i).hashCode(); return s; }
    public static void main(String[] a) {
        long end = System.currentTimeMillis() + Long.parseLong(a[0]), s = 0;
        System.out.println("ready");
        while (System.currentTimeMillis() < end) s += crunch(10000);
        System.out.println(s);
    }
}
"""


def shares(pattern, trace="jit.weft"):
    """Of stacks: those with such a frame; frames that are addresses or [jit]; all frames."""
    all_stacks = stacks(trace)
    frames = [frame for stack in all_stacks for frame in stack]
    nameless = [frame for frame in frames if frame == "[jit]" or re.fullmatch("0x[0-9a-f]+", frame)]
    return sum(any(re.fullmatch(pattern, frame) for frame in stack) for stack in all_stacks), len(nameless), len(frames)


def test_node():
    if not shutil.which("node"):
        tap.skip("no Node here")
        return
    with open("app.js", "w", encoding="utf-8") as file:
        file.write(NODE)
    flags = "--perf-basic-prof", "--interpreted-frames-native-stack"
    said = ""
    for _ in range(3): # of a busy machine others may be the cause
        record("--", "node", *flags, "app.js", 400)
        n_fib, n_nameless, n_frames = shares(r"fib \[app.js:2\]")
        said += weft("diagnose", "jit.weft").stdout
        if re.search(r"(fib|slowReport) \[app.js", said):
            break
    ok(n_fib > 50 and n_nameless * 100 <= n_frames, "Node: functions of scripts have name, file and line",
       (n_fib, n_nameless, n_frames))
    if re.search(r"(fib|slowReport) \[app.js", said) or "which other" not in said:
        ok(re.search(r"(fib|slowReport) \[app.js", said), "weft diagnose names them", said)
    else:
        tap.skip("other programs have the CPUs")
    with running("node", "--perf-basic-prof", "app.js", 10000000) as program:
        record("-p", program.pid, "-d", "4s")
    n_fib, n_nameless, n_frames = shares(r"fib \[app.js:2\]")
    ok(n_fib > 10 and n_nameless * 100 <= n_frames, "attached, too", (n_fib, n_nameless, n_frames))
    got = record("--", "node", "app.js", 300)
    given = notes()
    ok("weft: node: JIT-compiled functions have no names: start it with --perf-basic-prof" in got.stderr and
       len(advice(given)) == 1, "without a map there is a line of advice", (got.stderr, given))


def record_with_jcmd():
    """Attached to a Java, which writes a map when it is asked to."""
    with running("java", "-XX:+PreserveFramePointer", "-cp", ".", "Busy", 60000) as program:
        time.sleep(2)
        with subprocess.Popen([WEFT, "record", "--force", "-o", "jit.weft", "-p", str(program.pid), "-d", "8s"],
                              stderr=subprocess.DEVNULL) as recorder:
            time.sleep(4) # what is compiled later has no names
            made = subprocess.run(["jcmd", str(program.pid), "Compiler.perfmap"], capture_output=True, check=False)
            recorder.wait()
        with contextlib.suppress(OSError):
            os.unlink(f"/tmp/perf-{program.pid}.map")
    return made


def test_java():
    if not shutil.which("java") or not shutil.which("javac"):
        tap.skip("no Java here")
        return
    with open("Busy.java", "w", encoding="utf-8") as file:
        file.write(JAVA)
    subprocess.run(["javac", "Busy.java"], check=True)
    unlocked = "-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit"
    got = record("--", "java", "-XX:+PreserveFramePointer", *unlocked, "-cp", ".", "Busy", 3000)
    if "Unrecognized VM option" in got.stderr + got.stdout:
        tap.skip("this Java writes no perf map")
        return
    n_busy, n_nameless, n_frames = shares(r"Busy\.crunch")
    ok(n_busy > 10 and n_nameless * 50 <= n_frames, "Java: methods have names", (got.stderr, n_busy, n_nameless, n_frames))
    got = record("--", "java", "-XX:+PreserveFramePointer", "-cp", ".", "Busy", 3000)
    ok("weft: java: JIT-compiled methods have no names: start it with" in got.stderr, "without a map: advice", got.stderr)
    for _ in range(3): # of a busy machine others may be the cause
        made = record_with_jcmd()
        n_busy, n_nameless, n_frames = shares(r"Busy\.crunch")
        if n_busy > 10:
            break
    ok(n_busy > 10 and n_nameless * 10 <= n_frames, "attached: with the map that jcmd makes",
       (made, n_busy, n_nameless, n_frames))


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        probe = record("--no-locks", "--", "true", output="probe.weft")
        if "the kernel is not recorded" in probe.stderr or "stacks" not in weft("info", "probe.weft").stdout:
            tap.skip("no stacks can be recorded here")
        else:
            for test in (test_map, test_late, test_dump, test_attached, test_fork, test_files, test_killed,
                         test_unnamed, test_bad, test_namespaces, test_node, test_java):
                test()
                tidy()
        os.chdir("/")
    tap.done()


if __name__ == "__main__":
    main()
