#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whatever bytes the names in a trace hold, and the path of its file: what weft prints drives no terminal,
hides nothing, turns no text around, and JSON gives the same text again.
usage: test_plain_output.py WEFT HOSTILE"""
import csv
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tap  # noqa: E402
from tap import ok  # noqa: E402

WEFT, HOSTILE = sys.argv[1:3]
weft = tap.runner(WEFT, text=False)
WORK = pathlib.Path(tempfile.mkdtemp(prefix="weft-plain-"))

# Controls of a terminal (C0, DEL, C1), marks of direction, line breaks, what cannot be seen.
SIGNS = ("\x1b]0;title\x07\x1b[31m\x9b2J\x7f\x08\r\t\u202e\u202d\u2066\u2069\u200e\u200f\u061c\u2028\u2029\u200b\u200d"
         "\u2060\ufeff\u00ad\u180e\U000e0041\u0085")
MARK = "INJECTED"
EVIL = f"=evil{SIGNS}\n{MARK};<script>alert(1)</script>|`x`'\""
BAD_BYTES = b"\x9b31m\xff\xc3"
EVIL_BYTES = EVIL.encode() + BAD_BYTES
FORBIDDEN = {sign for sign in [*SIGNS, *map(chr, range(0xa0))] if not " " <= sign <= "~"} - {"\n"}


def faults(data):
    """What must not be printed."""
    found = []
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        found.append(str(error))
        text = data.decode(errors="replace")
    found += sorted({repr(letter) for letter in text if letter in FORBIDDEN})
    found += [line[:60] for line in text.split("\n") if line.startswith(MARK)]
    return found


N_PRINTED = 0


def check(*arguments, may_fail=False, **more):
    """Runs a command, and looks at all that it prints."""
    global N_PRINTED
    done = weft(*arguments, **more)
    found = faults(done.stdout) + faults(done.stderr)
    N_PRINTED += bool(done.stdout or done.stderr)
    shown = " ".join(map(str, arguments)).encode("unicode_escape", "replace").decode()[:100]
    ok(not found and (may_fail or done.returncode == 0), f"plain: {shown}",
       f"status {done.returncode}: {found[:8]}\n{done.stderr[:300]}\n{done.stdout[:1200]}")
    return done


# ---- inputs ----------------------------------------------------------------------------------------


def chrome_events():
    events = [{"ph": "M", "name": "process_name", "pid": 1, "tid": 1, "ts": 0, "args": {"name": EVIL}}]
    for tid in (1, 2, 3):
        events.append({"ph": "M", "name": "thread_name", "pid": 1, "tid": tid, "ts": 0, "args": {"name": f"{EVIL}{tid}"}})
    for n in range(120):
        at = n * 100
        common = {"pid": 1, "tid": n % 3 + 1, "ts": at, "cat": EVIL}
        slow = 60 if n % 20 == 19 else 5
        events += [
            {**common, "ph": "X", "name": EVIL, "dur": slow + 20, "args": {EVIL: EVIL}},
            {**common, "ph": "X", "name": f"{EVIL}inner", "ts": at + 1, "dur": slow, "args": EVIL},
            {**common, "ph": "i", "name": EVIL, "ts": at + 2, "args": {EVIL: [EVIL]}},
            {**common, "ph": "C", "name": EVIL, "ts": at + 3, "args": {EVIL: n}},
            {**common, "ph": "b", "name": f"{EVIL}span", "ts": at + 4, "id": n},
            {**common, "ph": "e", "name": f"{EVIL}span", "ts": at + 9 + slow, "id": n},
            {**common, "ph": "P", "name": EVIL, "ts": at + 5, "stack": [EVIL, EVIL]},
            {**common, "ph": "s", "name": EVIL, "ts": at + 6, "id": n},
        ]
    return events


def folder():
    """A folder and file of a hostile path, as bytes: no slash may be in it."""
    return os.fsencode(WORK) + b"/" + EVIL_BYTES.replace(b"/", b"-")[:180]


def csv_text():
    out = b"start_us,dur_us,name,tid,thread name,cat,args\n"
    quoted = b'"' + EVIL_BYTES.replace(b'"', b'""') + b'"'
    for n in range(60):
        out += b"%d,%d,%s,%d,%s,%s,%s\n" % (n * 10, 50 if n % 15 == 14 else 5, quoted, n % 2 + 1, quoted, quoted, quoted)
    return out


# Each command in each of its formats; {t} is the trace.
FORMATS = ([], ["--format", "csv"], ["--json"], ["--color", "always"])
PLAIN_VIEWS = [["info"], ["info", "--threads"], ["functions"], ["outliers"], ["outliers", "--gaps"], ["regtime"],
               ["regtime", "--segments"], ["interval"], ["shapes"], ["shapes", "--threads"], ["cpu"], ["states"],
               ["waits"], ["locks"], ["interplay"], ["executions"], ["diagnose"], ["path", "--tid", "1"]]


def views(trace, tid):
    """All that is printed of a trace."""
    for view in PLAIN_VIEWS:
        view = [str(tid) if word == "1" else word for word in view]
        for how in FORMATS[:3]:
            check(view[0], trace, *view[1:], *how, may_fail=True)
    for how in (["chrome"], ["folded"], ["folded", "--weight", "samples"], ["folded", "--weight", "stacks"], ["csv"],
                ["speedscope"]):
        check("export", trace, "--format", *how, may_fail=True)
    check("flame", trace, may_fail=True)
    check("flame", trace, "--format", "folded", may_fail=True)
    check("functions", trace, "--filter", EVIL, may_fail=True)
    check("functions", trace, "--filter", "(" + EVIL, may_fail=True)
    check("cut", trace, "-o", WORK / "cut.weft", "--from", EVIL, may_fail=True)
    check("interval", trace, "--during", f"1:{EVIL}:1", may_fail=True)


def executions_of(trace, database, rule):
    for how in FORMATS[:3]:
        check("executions", trace, *rule, *how, may_fail=True)
    done = check("executions", trace, *rule, "--db", database, may_fail=True)
    if done.returncode:
        return
    for how in FORMATS[:3]:
        check("info", database, *how)
        check("compare", database, "--b", "duration > p90", *how, may_fail=True)
        check("diagnose", database, *how, may_fail=True)
    check("compare", database, "--b", EVIL, may_fail=True)
    check("compare", database, "--b", "duration > p90", "--gate", "mean < 1%", "--report", WORK / "gate.md", may_fail=True)
    if (WORK / "gate.md").exists():
        found = faults((WORK / "gate.md").read_bytes())
        ok(not found, "plain: the gate's report", found)
    for how in ([], ["--format", "folded"], ["--diff", "--b", "duration > p90"]):
        check("flame", database, *how, may_fail=True)


def of_imports():
    place = folder()
    os.mkdir(place)
    source, trace, database = place + b"/trace.json", place + b"/trace.weft", place + b"/d.db"
    pathlib.Path(os.fsdecode(source)).write_text(json.dumps({"traceEvents": chrome_events()}))
    trace, database, source = map(os.fsdecode, (trace, database, source))
    check("import", source, "-o", trace)
    views(trace, 1)
    executions_of(trace, database, ["--begin", f"span:{EVIL}span", "--type", EVIL])
    executions_of(trace, database, ["--begin", "call:/inner/"])
    names = {row["name"] for row in json.loads(weft("functions", trace, "--json").stdout)["functions"]}
    ok(names == {EVIL, f"{EVIL}inner"}, "JSON gives the names as they are", ascii(names))
    rows = list(csv.DictReader(io.StringIO(weft("functions", trace, "--format", "csv", "--raw").stdout.decode(), newline="")))
    ok({row["name"] for row in rows} == names, "CSV does with --raw", ascii(rows)[:500])
    rows = list(csv.DictReader(io.StringIO(weft("functions", trace, "--format", "csv").stdout.decode(), newline="")))
    ok({row["name"][:6] for row in rows} == {"'=evil"} and all(int(row["count"]) > 0 for row in rows),
       "a cell of text is no formula, a number one", ascii(rows)[:500])
    exported = weft("export", trace, "--format", "csv", "--raw").stdout
    (WORK / "again.csv").write_bytes(exported)
    check("import", WORK / "again.csv", "-o", WORK / "again.weft")
    names_again = {row["name"] for row in json.loads(weft("functions", WORK / "again.weft", "--json").stdout)["functions"]}
    ok(names_again == names, "an exported table read again has the same names", ascii(names_again)[:500])

    table, trace = place + b"/table.csv", place + b"/table.weft"
    pathlib.Path(os.fsdecode(table)).write_bytes(csv_text())
    table, trace = map(os.fsdecode, (table, trace))
    check("import", table, "-o", trace)
    views(trace, 1)


def of_errors():
    """Names of files in errors; arguments of all kinds."""
    place = os.fsdecode(folder())
    broken = place + "/broken.weft"
    pathlib.Path(broken).write_bytes(pathlib.Path(place + "/trace.weft").read_bytes()[:300])
    for command in ("info", "functions", "report", "regtime", "flame", "diagnose", "compare", "merge", "cut",
                    "export", "executions", "import", "shapes"):
        check(command, place + "/none.weft", may_fail=True)
        check(command, broken, may_fail=True)
        check(command, place, may_fail=True)
        check(command, "--" + EVIL, may_fail=True)
        check(command, place + "/trace.weft", "-o", place + "/no/such.weft", may_fail=True)
    for option in ("--from", "--tid", "--mem", "-j", "--sort", "--format", "--rules", "--preset", "--limit", "--color"):
        check("functions", place + "/trace.weft", option, EVIL, may_fail=True)
        check("regtime", place + "/trace.weft", f"{option}={EVIL}", may_fail=True)
    check(EVIL, may_fail=True)
    check("help", EVIL, may_fail=True)
    check("info", EVIL, EVIL, may_fail=True)
    (WORK / "rules").write_text(f"{EVIL}\n")
    check("executions", place + "/trace.weft", "--rules", WORK / "rules", may_fail=True)
    for text in (f"{EVIL}", f'[{{"ph": "{EVIL}"', f'{{"traceEvents": [{{"ph": "X", "ts": 1, "name": "{MARK}"}}, {EVIL}'):
        pathlib.Path(place + "/odd.json").write_text(text)
        check("import", place + "/odd.json", "-o", WORK / "odd.weft", may_fail=True)


def of_recordings():
    program = os.fsdecode(folder() + b"/program")
    shutil.copy(HOSTILE, program)
    trace = os.fsdecode(folder() + b"/recorded.weft")
    done = check("record", "-o", trace, "--", program, EVIL)
    if done.returncode:
        return
    views(trace, json.loads(weft("interval", trace, "--json").stdout)["threads"][0]["tid"])
    executions_of(trace, os.fsdecode(folder() + b"/recorded.db"), ["--begin", f"mark:{EVIL}"])
    for arguments in (["--trigger", EVIL], ["--function", "(" + EVIL], ["--wait-for", EVIL], ["--snapshot", EVIL]):
        check("record", *arguments, "-o", WORK / "x.weft", "--", program, may_fail=True)
    check("record", "-o", WORK / "x.weft", "--", program + "no", may_fail=True)


def of_sources():
    """Commands print to standard error by weft_say alone, which makes names plain."""
    source = pathlib.Path(__file__).parents[2] / "src/cli"
    others = [path.name for path in sorted(source.glob("*.c"))
              if path.name != "say.c" and any(word in path.read_text() for word in ("(stderr", ", stderr", "perror("))]
    ok(not others, "commands print to standard error in one way", others)


try:
    of_sources()
    of_imports()
    of_errors()
    of_recordings()
    ok(N_PRINTED > 250, f"commands that printed something: {N_PRINTED}")
finally:
    shutil.rmtree(os.fsencode(WORK), ignore_errors=True)
tap.done()
