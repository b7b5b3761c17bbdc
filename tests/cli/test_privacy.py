#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Privacy: secrets in command lines, paths and users in what is passed on, and what files reveal.
usage: test_privacy.py WEFT"""
import base64
import gzip
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tap  # noqa: E402
from tap import equal, ok  # noqa: E402

WEFT = os.path.abspath(sys.argv[1])
WORK = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("WEFT_BUILD_ROOT")))
os.chdir(WORK)
SECRETS = ["hunter2", "s3cretvalue", "urlpassword", "envpassword", "tokenvalue", "mysqlpassword"]
ARGUMENTS = ["--password=hunter2", "--api-key", "s3cretvalue", "https://joe:urlpassword@host.example/x",
             "PGPASSWORD=envpassword", "-H", "Authorization: Bearer tokenvalue", "-pmysqlpassword",
             "--port", "8080", "-p80", "--verbose"]


def weft(*arguments, text=True):
    return subprocess.run([WEFT, *map(str, arguments)], capture_output=True, text=text,
                          stdin=subprocess.DEVNULL, check=False, timeout=120,
                          errors="replace" if text else None)


def details(path):
    return json.loads(weft("info", "--json", path).stdout)["details"]


# ---- command lines -------------------------------------------------------------------------------

def test_command_line():
    done = weft("record", "-q", "--no-kernel", "-o", "a.weft", "--", "/bin/true", *ARGUMENTS)
    equal(done.returncode, 0, "recorded")
    shown = details("a.weft")
    ok(not any(secret in shown for secret in SECRETS), "no secret is in the trace", shown)
    ok(shown.startswith("/bin/true --password=*** --api-key *** https://***@host.example/x "
                        "PGPASSWORD=*** -H Authorization: *** -p*** --port 8080 -p80 --verbose"),
       "all else is", shown)
    weft("record", "-q", "--no-kernel", "--no-command-line", "-o", "b.weft", "--", "/bin/true", "argument")
    ok("argument" not in details("b.weft") and "/bin/true" not in details("b.weft"), "--no-command-line",
       details("b.weft"))


def test_recording():
    """The file that the recorder writes has none either."""
    path = pathlib.Path("open.weft")
    recorder = subprocess.Popen([WEFT, "record", "-q", "--no-kernel", "-o", path, "--", "sh", "-c",
                                 "while :; do sleep 0.1; done", *ARGUMENTS], stderr=subprocess.DEVNULL)
    for _ in range(500):
        if path.exists() and path.stat().st_size > 500:
            break
        time.sleep(0.02)
    time.sleep(0.2)
    children = subprocess.run(["pgrep", "-P", str(recorder.pid)], capture_output=True, text=True,
                              check=False).stdout.split()
    recorder.send_signal(signal.SIGKILL)
    recorder.wait()
    for child in children:
        os.kill(int(child), signal.SIGKILL)
    data = path.read_bytes()
    ok(b"command=sh -c" in data and not any(secret.encode() in data for secret in SECRETS),
       "nor in a recording that was not finished")


# ---- paths ---------------------------------------------------------------------------------------

USER, FOLDER = "secretuser", "/home/secretuser/project"


def make_trace():
    """A trace whose every text has paths."""
    events = [{"ph": "M", "name": "thread_name", "pid": 7, "tid": 7,
               "args": {"name": f"worker {FOLDER}/worker.py"}},
              {"ph": "M", "name": "process_name", "pid": 7, "tid": 7, "args": {"name": f"{FOLDER}/bin/app"}}]
    for k in range(40):
        events.append({"ph": "X", "pid": 7, "tid": 7, "ts": 100 + 50 * k, "dur": 40 + k % 7,
                       "name": f"render {FOLDER}/page.py", "cat": f"{FOLDER}/lib/libpage.so",
                       "args": {"file": f"{FOLDER}/data/input-{k % 3}.bin", "home": "/home/secretuser"}})
        events.append({"ph": "X", "pid": 7, "tid": 7, "ts": 105 + 50 * k, "dur": 10,
                       "name": "GET /api/users", "cat": "/data1/secretuser/lib.so"})
        events.append({"ph": "i", "pid": 7, "tid": 7, "ts": 130 + 50 * k, "s": "t",
                       "name": f"opened {FOLDER}/log.txt", "args": {"path": f"{FOLDER}/log.txt"}})
        events.append({"ph": "C", "pid": 7, "tid": 7, "ts": 131 + 50 * k, "name": f"size of {FOLDER}/log.txt",
                       "args": {"value": k}})
    folder = WORK / USER
    folder.mkdir()
    (folder / "t.json").write_text(json.dumps({"traceEvents": events}))
    trace = folder / "t.weft"
    equal(weft("import", "-q", "-o", trace, folder / "t.json").returncode, 0, "a trace full of paths")
    return trace


def test_exports(trace):
    kept = 0
    for form in ("chrome", "perfetto", "folded", "csv", "speedscope"):
        out = WORK / f"export.{form}"
        done = weft("export", "-q", "--format", form, "-o", out, trace)
        data = out.read_bytes() if out.exists() else b""
        ok(done.returncode == 0 and USER.encode() not in data and b"/home/" not in data and
           b"page.py" in data, f"export --format {form}: no paths, no user",
           re.findall(rb".{40}" + USER.encode() + rb".{20}", data)[:3])
        ok(form == "folded" or b"GET /api/users" in data, f"export --format {form}: routes are no paths")
        weft("export", "-q", "--with-paths", "--format", form, "-o", out, trace)
        kept += USER.encode() in out.read_bytes()
    equal(kept, 5, "--with-paths keeps them")
    data = json.loads((WORK / "export.chrome").read_text())
    ok(isinstance(data, dict) or isinstance(data, list), "still JSON")


def test_pictures(trace):
    for words in (["--format", "svg"], ["--format", "folded"], ["--weight", "calls"]):
        out = WORK / "flame"
        done = weft("flame", *words, "-o", out, trace)
        text = out.read_text() if out.exists() else ""
        ok(done.returncode == 0 and USER not in text and "page.py" in text,
           f"flame {' '.join(words)}: no paths", re.findall(r".{40}" + USER + r".{20}", text)[:3])
    rule = ["--begin", 'call:"GET /api/users"']
    weft("executions", trace, "-q", *rule, "--db", "runs.db", "--tag", "old")
    weft("executions", trace, "-q", *rule, "--db", "runs.db", "--tag", "new")
    for source in (["runs.db"], [trace, *rule]):
        done = weft("flame", *source)
        ok(done.returncode == 0 and USER not in done.stdout, "flame of executions: no paths",
           re.findall(r".{40}" + USER + r".{20}", done.stdout)[:3] or done.stderr)
    done = weft("compare", WORK / "runs.db", "--a", "tag=old", "--b", "tag=new", "--gate",
                "duration mean +500%", "--report", "gate.md")
    text = pathlib.Path("gate.md").read_text() if os.path.exists("gate.md") else ""
    ok(text and USER not in text and str(WORK) not in text,
       "compare --report: no paths", done.stderr or text[:500])


def text_of(page):
    """All that is in a page, its data and its answers unpacked."""
    text = page.read_text()
    packed = re.findall(r'<script (?:id="weft-data"|class="weft-answer")[^>]*>([^<]*)<', text)
    return text + "".join(gzip.decompress(base64.b64decode(one)).decode("latin1") for one in packed)


def test_report(trace):
    out = WORK / "page.html"
    done = weft("report", "-q", "-o", out, trace)
    if done.returncode != 0:
        ok("page" in done.stderr, "this program has no page", done.stderr)
        return
    text = text_of(out)
    ok(USER not in text and str(WORK) not in text and "page.py" in text, "report: no paths",
       re.findall(r".{40}" + USER + r".{20}", text)[:3])
    weft("report", "-q", "--with-paths", "-o", out, trace)
    ok(USER in text_of(out), "report --with-paths has them")
    weft("record", "-q", "-o", "c.weft", "--", "/bin/cat", "/etc/hostname")
    weft("report", "-q", "-o", out, "c.weft")
    text = text_of(out)
    ok("/etc/hostname" not in text and "/bin/cat" not in text and str(WORK) not in text,
       "report of a recording: no command line")


# ---- what a file reveals -------------------------------------------------------------------------

def test_revealed(trace):
    done = weft("info", "--private", "--json", trace)
    rows = json.loads(done.stdout)["revealed"]
    of_kind = {}
    for row in rows:
        of_kind.setdefault(row["kind"], {})[row["text"]] = row["count"]
    equal(list(of_kind.get("user", {})), [USER], "info --private: the user")
    ok(of_kind["file"].get(f"{FOLDER}/data/input-1.bin") == 13 and
       f"{FOLDER}/log.txt" in of_kind["file"], "info --private: files", of_kind["file"])
    ok(f"{FOLDER}/lib/libpage.so" in of_kind["module"] or f"{FOLDER}/lib/libpage.so" in of_kind["file"],
       "info --private: modules", of_kind)
    ok("t.json" in of_kind["source"], "info --private: the source", of_kind["source"])
    text = weft("info", "--private", trace).stdout
    ok(USER in text and "environment variables" in text, "as text", text)
    rows = weft("info", "--private", "--format", "csv", trace).stdout.splitlines()
    ok(rows[0] == "kind,count,text" and len(rows) > 5, "as CSV", rows[:3])
    text = weft("info", "--private", "a.weft").stdout
    ok("--password=***" in text, "the command line of a recording", text)


test_command_line()
test_recording()
TRACE = make_trace()
test_exports(TRACE)
test_pictures(TRACE)
test_report(TRACE)
test_revealed(TRACE)
os.chdir("/")
shutil.rmtree(WORK)
tap.done()
