#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Processes that are hard to reach are recorded: those that outlive the program, change users or roots,
lose their environment or run into limits. Each writes how many calls it made; each call is in the trace.
usage: test_record_reach.py WEFT REACHED [full]    (REACHED: reached.c; full: as often as by hand)"""
import csv
import io
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tap  # noqa: E402
from tap import ok, skip  # noqa: E402

WEFT, PROGRAM = map(os.path.abspath, sys.argv[1:3])
run = tap.runner(WEFT)
IS_FULL = "full" in sys.argv[3:]


def info(path):
    got = run("info", path, "--json", "--threads")
    return json.loads(got.stdout) if got.returncode == 0 else {"error": got.stderr}


def n_leaves(path):
    got = run("functions", path, "--json")
    rows = json.loads(got.stdout)["functions"] if got.returncode == 0 else []
    return sum(row["count"] for row in rows if row["name"] == "leaf")


class Log:
    """What the processes of one run say that they did."""

    def __init__(self):
        self.path = os.path.abspath("log")
        with open(self.path, "w", encoding="utf-8"):
            os.chmod(self.path, 0o666)

    def calls(self):
        lines = pathlib.Path(self.path).read_text(encoding="utf-8").splitlines()
        return len(lines), sum(int(line.split()[1]) for line in lines)


def record(*command, options=(), output="reach.weft", env=(), **more):
    """A run, the number of its processes and of their calls as they say, and of calls in the trace."""
    log = Log()
    got = run("record", "--no-kernel", "-o", output, *options, "--", *command,
              env={**os.environ, "REACHED_LOG": log.path, **dict(env)}, **more)
    return got, *log.calls(), n_leaves(output)


def check(name, command, n_processes, **more):
    """All that the processes say they did is in the trace."""
    got, n_said, n_calls, n_found = record(*command, **more)
    about = info("reach.weft")
    ok(got.returncode == 0 and n_said == n_processes and n_found == n_calls > 0 and about["lost"] == 0,
       name, (got, f"{n_said} of {n_processes} processes", f"{n_found} of {n_calls} calls"))
    return got


# ---- as long as a process of the program lives ---------------------------------------------------


def test_tree():
    check("children that outlive the program", [PROGRAM, "outlive", 300], 4)
    check("a daemon", [PROGRAM, "daemon", 1500], 2)
    got = check("background jobs of a shell", ["sh", "-c", f"{PROGRAM} outlive 10 & sleep 1.2 & exit 0"], 4)
    ok(got.stderr.count("recording continues with ") == 1, "one message counts them", got.stderr)


def timed(*options):
    """The status of a program that leaves a process of 5 s, and whether the recorder waited for it."""
    start_s = time.monotonic()
    got = subprocess.run([WEFT, "record", "-q", "--no-kernel", *options, "-o", "reach.weft", "--", "sh", "-c",
                          "sleep 5 & exit 7"], check=False)
    return got.returncode, time.monotonic() - start_s >= 5


def test_wait_child():
    ok(timed("--wait", "child") == (7, False), "--wait child ends with the program")
    ok(timed("--no-follow") == (7, False), "and so does --no-follow")
    ok(timed("--wait", "tree") == (7, True), "--wait tree does not, which is the default")


def children(pid):
    """Names of the processes that a recorder waits for, its own children."""
    names = []
    for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split():
        try:
            names.append(pathlib.Path(f"/proc/{child}/comm").read_text(encoding="utf-8").strip())
        except OSError:
            pass
    return names


def interrupted(command, number, is_ended):
    """How a recorder ends that gets a signal, after its program has ended and it said so, or before."""
    with open("said", "w+", encoding="utf-8") as said, \
         subprocess.Popen([WEFT, "record", "--no-kernel", "-o", "reach.weft", "--", *command],
                          stderr=said) as recorder: # a pipe would be open as long as what is left
        for _ in range(1000):
            is_said = "recording continues" in pathlib.Path("said").read_text(encoding="utf-8")
            if children(recorder.pid) == ["sleep"] and is_said == is_ended:
                break
            time.sleep(0.01)
        start_s = time.monotonic()
        recorder.send_signal(number)
        status = recorder.wait(timeout=60)
        took_s = time.monotonic() - start_s
        said.seek(0)
        return status, said.read(), took_s


def test_interrupts():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        status, said, took_s = interrupted(["sh", "-c", "sleep 8 & exit 5"], number, True)
        ok(status == 5 and "no longer recorded: 1 process (sleep " in said and took_s < 6 and
           "error" not in info("reach.weft"), f"{number.name} ends a recording whose program has ended",
           (status, said, took_s))
        status, said, took_s = interrupted(["sh", "-c", "sleep 8 & exec sleep 8"], number, False)
        ok(status == 128 + number and took_s < 6 and "error" not in info("reach.weft"),
           f"{number.name} ends the program, and soon the recording", (status, said, took_s))
    leftovers = [path for path in pathlib.Path(".").iterdir() if path.name not in ("reach.weft", "log", "said")]
    ok(not leftovers, "no other files are left", leftovers)


# ---- processes that the folder is closed to ------------------------------------------------------


def test_changes():
    """A child that changes, and a child of that; by fork, by a system call, and another program."""
    if os.geteuid() != 0:
        skip("only root can change users and roots")
        return
    for what in ("user", "group", "root", "both", "mounts", "limit"):
        for how, n_processes in (("", 3), ("-raw", 3), ("-exec", 2)):
            if how != "-exec" or what not in ("root", "both"): # there is no program in that root
                check(f"another {what}{how}", [PROGRAM, what + how, 500], n_processes)


def test_filter():
    """A filter of calls is there for who cannot read the folder."""
    if os.geteuid() != 0:
        return
    got, _, _, n_found = record(PROGRAM, "user-exec", 100, options=("--no-function", "^leaf$"))
    ok(got.returncode == 0 and n_found == 0, "filters reach a program of another user", (got, n_found))


def test_hostile():
    """Whatever is sent to the recorder's socket harms no recording."""
    asker = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ask_recorder.py")
    seed = os.environ.get("WEFT_SEED", "1")
    got, n_said, n_calls, n_found = record("sh", "-c", f"/usr/bin/python3 {asker} {seed} && {PROGRAM} user-exec 60")
    ok(got.returncode == 0 and got.stdout == "", "a hostile child gets nothing from the recorder", got)
    ok((n_said, n_found) == (2, n_calls), "which goes on recording", (got, n_said, n_calls, n_found))


def test_hung():
    """A recorder that does not answer delays a program by some seconds, and no more."""
    if os.geteuid() != 0:
        return
    log = Log()
    with subprocess.Popen([WEFT, "record", "-q", "--no-kernel", "-o", "reach.weft", "--", "sh", "-c",
                           f"kill -STOP $PPID; {PROGRAM} user-exec 60; kill -CONT $PPID"],
                          env={**os.environ, "REACHED_LOG": log.path}) as recorder:
        start_s = time.monotonic()
        status = recorder.wait(timeout=60)
    ok(status == 0 and log.calls()[0] == 2 and time.monotonic() - start_s < 20, "a recorder that is stopped", status)


# ---- many threads --------------------------------------------------------------------------------


def test_threads():
    """Each has a ring: no call is missing, and no thread is."""
    n_turns = 100_000 if IS_FULL else 10_000
    for name, how, n in (("alive at once", "threads", 10_000), ("one after the other", "turns", n_turns)):
        start_s = time.monotonic()
        check(f"{n:,} threads {name}", [PROGRAM, how, n], 1)
        n_threads = info("reach.weft")["threads"]
        ok(n_threads == n + 1, "each is in the trace", n_threads)
        print(f"# {time.monotonic() - start_s:.1f} s", flush=True)


# ---- threads without a time stamp counter --------------------------------------------------------


def test_counter():
    """PR_SET_TSC: the clock by a system call instead, on the same scale."""
    check("threads and a child without the counter", [PROGRAM, "no-counter", 200], 2)
    rows = json.loads(run("functions", "reach.weft", "--json").stdout)["functions"]
    step = next((row for row in rows if row["name"] == "step"), {"count": 0})
    ok(step["count"] == 4 and step["min_ns"] > 99e6 and step["p50_ns"] < 200e6, "their calls are as long as they are", step)
    ok("error" not in info("reach.weft"), "the trace opens")


def test_counters():
    """Many threads that lose it, beside one that works without: no time runs away."""
    got = record(PROGRAM, "no-counters", 2000)[0]
    about = info("reach.weft")
    ok(got.returncode == 0 and about["duration_ns"] < 60e9, "2,000 threads lose the counter", (got, about["duration_ns"]))


def test_harmless():
    """What the library takes of stack and system calls ends no program that lives without it."""
    for name in ("small-stack", "sandbox"):
        alone = subprocess.run([PROGRAM, name, "5"], capture_output=True, check=False)
        got = record(PROGRAM, name, 5)[0]
        ok(alone.returncode == 0 == got.returncode, f"{name}: ends as without weft", (alone, got))


def test_strict():
    """Strict seccomp: what the thread did before is there, what it does then is counted."""
    got, _, n_calls, n_found = record(PROGRAM, "strict", 200)
    about = info("reach.weft")
    ok(got.returncode == 0 and n_found == n_calls - 100 and about["lost"] >= 200,
       "strict seccomp: each call is recorded or counted", (got, n_calls, n_found, about["lost"]))


# ---- programs as they are -------------------------------------------------------------------------


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def request(port):
    with socket.create_connection(("127.0.0.1", port), timeout=20) as one:
        one.sendall(b"GET /page HTTP/1.0\r\n\r\n")
        got = b""
        while part := one.recv(4096):
            got += part
        return got


NGINX = """user nobody nogroup; worker_processes 2; pid {folder}/pid; error_log {folder}/errors;
{daemon}
events {{ worker_connections 64; }}
http {{ access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
server {{ listen 127.0.0.1:{port}; root {folder}; }} }}
"""


def until_served(port):
    for _ in range(400):
        try:
            return request(port)
        except OSError:
            time.sleep(0.05)
    return b""


def nginx(daemon, n_requests):
    """A master of root, workers of nobody: how many reads of a connection the trace has of workers."""
    folder, port = os.path.abspath("nginx"), free_port()
    os.mkdir(folder, 0o755)
    pathlib.Path(folder, "page").write_text("hello", encoding="utf-8")
    pathlib.Path(folder, "conf").write_text(NGINX.format(folder=folder, port=port, daemon=daemon), encoding="utf-8")
    with open("said", "w", encoding="utf-8") as said, \
         subprocess.Popen([WEFT, "record", "--no-kernel", "-o", "reach.weft", "--", shutil.which("nginx"), "-c",
                           f"{folder}/conf"], stderr=said) as recorder:
        is_up = b"hello" in until_served(port)
        n_answers = sum(b"hello" in request(port) for _ in range(n_requests)) if is_up else 0
        os.kill(int(pathlib.Path(folder, "pid").read_text(encoding="utf-8")), signal.SIGQUIT)
        status = recorder.wait(timeout=60)
    errors = pathlib.Path(folder, "errors").read_text(encoding="utf-8")
    shutil.rmtree(folder)
    rows = csv.DictReader(io.StringIO(run("export", "reach.weft", "--format", "csv").stdout))
    accepts = [row["pid"] for row in rows if row["function"].startswith("accept")]
    return status, n_answers, accepts, errors + pathlib.Path("said").read_text(encoding="utf-8")


def test_nginx():
    if os.geteuid() != 0 or not shutil.which("nginx"):
        skip("nginx cannot be run")
        return
    for daemon in ("daemon off;", "daemon on;"):
        status, n_answers, accepts, said = nginx(daemon, 40)
        ok(status == 0 and n_answers == 40 and len(accepts) >= 41 and len(set(accepts)) <= 2,
           f"nginx, {daemon[:-1]}: the workers of another user", (status, n_answers, len(accepts), said))


def test_users():
    """Other ways to another user, as services are started."""
    if os.geteuid() != 0:
        return
    log = os.path.abspath("log")
    for command in (["su", "nobody", "-s", "/bin/sh", "-c", f"{PROGRAM} calls 70 {log}"],
                    ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", PROGRAM, "calls", "70", log],
                    ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs", "env", "-i",
                     PROGRAM, "calls", "70", log],
                    ["sh", "-c", f"ulimit -f 8; exec {PROGRAM} calls 70 {log}"],
                    ["unshare", "-m", "sh", "-c", f"mount -t tmpfs tmpfs /dev/shm; {PROGRAM} calls 70 {log}"]):
        if shutil.which(command[0]):
            check(" ".join(command[:5]), command, 1)


# ---- programs that are started with another environment ------------------------------------------


def test_environments():
    check("a cleared environment, by each function that starts a program", [PROGRAM, "cleared", 300], 14)
    check("likewise from children of vfork", [PROGRAM, "cleared-vfork", 300], 14)
    check("an environment of 5,000 variables", [PROGRAM, "large", 300], 2)
    log = os.path.abspath("log")
    check("env -i", ["env", "-i", "sh", "-c", f"{PROGRAM} calls 10 {log}; exec {PROGRAM} calls 20 {log}"], 2)
    script = f"import subprocess; subprocess.run(['{PROGRAM}', 'calls', '30', '{log}'], env={{}}, check=True)"
    check("a child of Python", ["/usr/bin/python3", "-c", script], 1)
    got, _, _, n_found = record(PROGRAM, "cleared", 300, options=("--no-follow",))
    ok(got.returncode == 0 and n_found == 300, "nothing is added with --no-follow", (got, n_found))


def test_own_libraries():
    """A program's own LD_PRELOAD stays, before the recorder's libraries."""
    got = run("record", "-q", "--no-kernel", "-o", "reach.weft", "--", "env", "-i", "LD_PRELOAD=/nonexistent.so",
              "sh", "-c", "echo $LD_PRELOAD")
    ok(got.stdout.startswith("/nonexistent.so:") and got.stdout.count("libweft-") == 2, "LD_PRELOAD is kept",
       got)


def test_nested():
    """The environment of another recorder is left alone."""
    got = run("record", "-q", "--no-kernel", "-o", "outer.weft", "--", WEFT, "record", "-q", "--no-kernel",
              "-o", "reach.weft", "--", "env", PROGRAM, "calls", 40,
              env={**os.environ, "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"})
    ok(got.returncode == 0 and (n_leaves("reach.weft"), n_leaves("outer.weft")) == (40, 0),
       "a recorder in a recording", (got, n_leaves("reach.weft"), n_leaves("outer.weft")))


# ---- programs that the libraries cannot be loaded into -------------------------------------------


def test_unloadable():
    warning = "its functions, locks and markers are not recorded"
    with open("static.c", "w", encoding="utf-8") as file:
        file.write("#include <unistd.h>\nint main(void) { usleep(300000); return 0; }\n")
    if subprocess.run(["cc", "-static", "-o", "static", "static.c"], check=False).returncode != 0:
        skip("static programs cannot be built")
        return
    got = run("record", "--no-kernel", "-o", "reach.weft", "--", "./static")
    ok(got.stderr.count(f"static is statically linked: {warning}") == 1, "a static program is said", got)
    got = run("record", "--no-kernel", "-o", "reach.weft", "--", "sh", "-c", "./static; ./static; true")
    ok(got.stderr.count(f"static is statically linked: {warning}") == 1, "a child is, once", got)
    script = "import subprocess; subprocess.run(['./static'])"
    got = run("record", "--no-kernel", "-o", "reach.weft", "--", "/usr/bin/python3", "-c", script)
    ok(got.stderr.count(f"static is statically linked: {warning}") == 1, "of vfork, too", got)
    with open("script", "w", encoding="utf-8") as file:
        file.write(f"#!{os.path.abspath('static')} -x\n")
    os.chmod("script", 0o755)
    got = run("record", "--no-kernel", "-o", "reach.weft", "--", "./script")
    ok("script is statically linked" in got.stderr, "a script of one", got)
    if os.geteuid() == 0:
        shutil.copy(PROGRAM, "privileged")
        os.chown("privileged", 65534, 65534)
        os.chmod("privileged", 0o4755)
        got = run("record", "--no-kernel", "-o", "reach.weft", "--", "./privileged", "calls", 1)
        ok("privileged gains privileges when it starts" in got.stderr, "a setuid program is said", got)
        os.unlink("privileged")
    got = run("record", "--no-kernel", "-o", "reach.weft", "--", "sh", "-c", f"{PROGRAM} calls 1; ls >/dev/null")
    ok(warning not in got.stderr, "nothing is said of others", got)
    for name in ("static", "static.c", "script"):
        os.unlink(name)


def test_closed():
    """Libraries that another user cannot read."""
    if os.geteuid() != 0:
        return
    os.mkdir("closed", 0o755)
    runtime = os.path.join(os.path.dirname(WEFT), "src/record/runtime")
    for path in (WEFT, f"{runtime}/libweft-preload.so", f"{runtime}/libweft-functions.so"):
        shutil.copy(path, "closed")
    command = ["closed/weft", "record", "--no-kernel", "-o", "reach.weft", "--", "true"]
    said = []
    for mode in (0o755, 0o700):
        os.chmod("closed", mode)
        said.append(subprocess.run(command, capture_output=True, text=True, check=False).stderr)
    shutil.rmtree("closed")
    text = "closed is closed to other users"
    ok(text not in said[0] and said[1].count(text) == 1, "a folder that only root may read is said", said)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        os.chdir(folder)
        for name, test in list(globals().items()):
            if name.startswith("test_") and re.search(os.environ.get("TEST", ""), name):
                test()
        os.chdir("/")
    tap.done()


if __name__ == "__main__":
    main()
