#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""weft export, from outside: every format of a trace says the same calls, and `weft functions` the
same sums. usage: test_export.py WEFT"""
import csv
import io
import json
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

import perfetto_reader

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tap  # noqa: E402
from tap import ok  # noqa: E402

WEFT = sys.argv[1]
ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("WEFT_BUILD_ROOT")))
FORMATS = ["chrome", "perfetto", "folded", "csv", "speedscope"]
SEED = int(os.environ.get("WEFT_SEED", "1"))




def weft(*arguments):
    return subprocess.run([WEFT, *map(str, arguments)], capture_output=True, check=False)


def export(trace, format_name, *arguments):
    raw = ["--raw"] if format_name == "csv" else []
    done = weft("export", trace, "--format", format_name, *raw, *arguments)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.decode())
    return done.stdout


# ---- readers ---------------------------------------------------------------------------------


def calls_of_csv(data):
    """(tid, function, depth, start, end, flags, args) in order of entry, and self times."""
    rows = list(csv.DictReader(io.StringIO(data.decode(), newline="")))
    calls = [(int(row["tid"]), row["function"], row["module"], int(row["depth"]),
              int(row["start_ns"]), int(row["end_ns"]), row["flags"], row["args"]) for row in rows]
    return calls, rows


def ns(number):
    whole, decimals = number.split(".")
    assert len(decimals) == 3
    return int(whole) * 1000 + int(decimals)


def calls_of_chrome(data):
    document = json.loads(data, parse_float=str, parse_int=str)
    calls, ends = [], {}
    for event in document["traceEvents"]:
        if event["ph"] != "X":
            continue
        tid, start = int(event["tid"]), ns(event["ts"])
        args = event.get("args", {})
        flags = " ".join(args.pop("weft", {}).get("flags", []))  # and a depth, if it has no duration
        text = json.dumps(args, separators=(",", ":")).replace('"', "") if args else ""
        calls.append([tid, event["name"], event.get("cat", ""), start, start + ns(event["dur"]),
                      flags, text])
    return calls


def calls_of_perfetto(data):
    trace = perfetto_reader.Trace(data)
    for number, sequence in trace.sequences.items():
        if not sequence["is_sorted"] and number % 2 == 0:  # odd: events that are no calls
            raise perfetto_reader.Broken(f"times of sequence {number} fall")
    calls = []
    for call in trace.slices:
        if trace.tracks[call["track"]]["thread"] is None:
            continue  # a span
        args = {key: value for key, value in call["args"].items() if key != "weft.flags"}
        text = json.dumps(args, separators=(",", ":")) if args else ""
        calls.append((trace.tracks[call["track"]]["thread"][1], call["name"], call["category"],
                      call["depth"], call["start"], call["end"],
                      call["args"].get("weft.flags", ""), text))
    return calls


def calls_of_speedscope(data):
    document = json.loads(data)
    frames = document["shared"]["frames"]
    calls = []
    for profile in document["profiles"]:
        stack, last = [], profile["startValue"]
        for event in profile["events"]:
            assert last <= event["at"] <= profile["endValue"]
            last = event["at"]
            if event["type"] == "O":
                stack.append(len(calls))
                frame = frames[event["frame"]]
                calls.append([profile["name"], frame["name"], frame.get("file", ""),
                              len(stack) - 1, event["at"], None])
            else:
                assert event["type"] == "C" and calls[stack[-1]][1] == frames[event["frame"]]["name"]
                calls[stack.pop()][5] = event["at"]
        assert not stack
    return calls


def sums_of_folded(data):
    """Weight by innermost function."""
    sums = {}
    for line in data.decode().splitlines():
        stack, weight = line.rsplit(" ", 1)
        name = stack.split(";")[-1]
        sums[name] = sums.get(name, 0) + int(weight)
    return sums


def sums_of_csv(rows, of_row):
    sums = {}
    for row in rows:
        name = "".join(f"\\x{ord(c):02x}" if c < " " else c for c in row["function"].replace(";", ":"))
        sums[name] = sums.get(name, 0) + of_row(row)
    return {name: weight for name, weight in sums.items() if weight}


# ---- the formats against each other ----------------------------------------------------------


def compare(trace, *window):
    """What differs between the formats, or None."""
    calls, rows = calls_of_csv(export(trace, "csv", *window))
    chrome = calls_of_chrome(export(trace, "chrome", *window))
    if chrome != [[*call[:3], *call[4:7], call[7].replace('"', "")] for call in calls]:
        return "chrome"
    if calls_of_perfetto(export(trace, "perfetto", *window)) != calls:
        return "perfetto"
    speedscope = calls_of_speedscope(export(trace, "speedscope", *window))
    if [call[1:] for call in speedscope] != [list(call[1:6]) for call in calls]:
        return "speedscope"
    if sums_of_folded(export(trace, "folded", *window)) != sums_of_csv(
            rows, lambda row: int(row["self_ns"])):
        return "folded"
    if sums_of_folded(export(trace, "folded", "--weight", "calls", *window)) != sums_of_csv(
            rows, lambda row: 1):
        return "folded calls"
    return None


def compare_functions(trace):
    """The whole trace against the table of functions: calls and self times, by state."""
    _, rows = calls_of_csv(export(trace, "csv"))
    table = json.loads(weft("functions", "--json", trace).stdout)["functions"]
    for function in table:
        mine = [row for row in rows if row["function"] == function["name"]]
        entered = [row for row in mine if "cut_start" not in row["flags"]]
        is_open = [row for row in entered if "cut_end" in row["flags"]]
        closed = [row for row in entered if "cut_end" not in row["flags"]]
        got = (len(entered), sum(int(row["self_ns"]) for row in closed), len(is_open),
               sum(int(row["self_ns"]) for row in is_open), len(mine) - len(entered))
        want = (function["count"], function["self_ns"], function["open_count"],
                function["open_self_ns"], function["cut_count"])
        if got != want:
            return f"{function['name']}: {got}, {want}"
    return None if {row["function"] for row in rows} == {row["name"] for row in table} else "names"


NAMES = ["main", "run", "a;b", "f(int, \"x\")", "caf\u00e9", "back\\slash", "operator<< <T>"]


def random_text(source, path):
    at, stack, lines = source.randrange(50), [], []
    for _ in range(source.randrange(200)):
        at += source.choice([0, 0, 1, 2, 300, 100000])
        if stack and source.random() < 0.5:
            lines.append(f"1 {stack.pop()} {at}")
        elif source.random() < 0.05:
            lines.append(f"1 {source.choice(NAMES).replace(' ', '_')} {at}")
        else:
            stack.append(source.choice(NAMES).replace(" ", "_"))
            lines.append(f"0 {stack[-1]} {at}")
    path.write_text("\n".join(lines + [""]), encoding="utf-8")


def random_traces():
    print(f"# seed {SEED}")
    for seed in range(SEED, SEED + 24):
        source = random.Random(seed)
        inputs = []
        for thread in range(source.randrange(1, 4)):
            inputs.append(WORK / f"t{thread}-{11 + thread}.txt")
            random_text(source, inputs[-1])
        trace = WORK / "random.weft"
        done = weft("import", "-q", "-o", trace, *inputs)
        if done.returncode != 0:
            ok(True, f"seed {seed}: nothing to import # SKIP")
            continue
        last = json.loads(weft("info", "--json", trace).stdout)["duration_ns"]
        times = sorted(source.randrange(last + 1) for _ in range(2))
        round_trip(trace, f"seed {seed}")
        wrong = compare(trace) or compare_functions(trace)
        wrong = wrong or compare(trace, "--from", f"{times[0]}ns", "--to", f"{times[1]}ns")
        wrong = wrong or compare(trace, "--tid", "11", "--from", f"{times[1]}ns")
        ok(wrong is None, f"seed {seed}: all formats say the same", wrong)


# ---- there and back --------------------------------------------------------------------------


def rows_of_csv(trace):
    """By thread: all that stands in the lines of calls, with the flags that an importer keeps among
    the arguments. Without their order and depth: of calls without duration times do not tell it."""
    threads = {}
    for row in calls_of_csv(export(trace, "csv"))[1]:
        args = json.loads(row["args"] or "{}")
        flags = set(row["flags"].split()) | set(args.pop("weft", {}).get("flags", []))
        threads.setdefault(int(row["tid"]), []).append(
            (int(row["start_ns"]), int(row["end_ns"]), row["thread"], row["function"],
             row["module"], sorted(flags), json.dumps(args)))
    return {tid: sorted(rows) for tid, rows in threads.items()}


def is_new_metadata(event):
    return event["ph"] == "M" and event["name"] != "thread_name"


def events_of_chrome(path):
    """All that is no call and was not added by the export, in any order."""
    events = json.loads(path.read_bytes(), parse_float=str, parse_int=str)["traceEvents"]
    return sorted(json.dumps(event, sort_keys=True) for event in events
                  if event["ph"] not in "XP" and not is_new_metadata(event))


def there_and_back(trace):
    """What the way to Chrome's format and back loses, or None; False without an importer."""
    first, back, second = WORK / "first.json", WORK / "back.weft", WORK / "second.json"
    first.write_bytes(export(trace, "chrome"))
    done = weft("import", "-q", "-o", back, first)
    if done.returncode != 0:
        return False
    if rows_of_csv(back) != rows_of_csv(trace):
        return "calls"
    second.write_bytes(export(back, "chrome"))
    if events_of_chrome(first) != events_of_chrome(second):
        return "events"
    done = weft("import", "-q", "-o", back, second)
    third = export(back, "chrome")
    return None if third == second.read_bytes().replace(b"first.json", b"second.json") else "bytes"


def round_trip(trace, name):
    lost = there_and_back(trace)
    if lost is False:
        ok(True, f"{name}: this weft reads no Chrome JSON # SKIP")
    else:
        ok(lost is None, f"{name}: nothing is lost there and back", lost)


# ---- events that are no calls ----------------------------------------------------------------

EVENT = re.compile(rb"  (\w+) (\d+) for (\d+) value (\d+)(?: to (\d+))?(?: object (\d+))?"
                   rb"(?: stack (\d+))? cpu (-?\d+) state (\d+) ")


def stored_events(path):
    """What the stored file holds, by its description: (tid, kind, time, duration, value) in order, and
    what kinds without a phase of their own add to that. Arguments of calls apart."""
    events, tid = [], None
    for line in path.read_bytes().splitlines():
        if line.startswith(b"thread "):
            tid = int(line.split()[1])
        found = EVENT.match(line)
        if not found:
            continue
        kind = found[1].decode()
        numbers = [None if text is None else int(text) for text in found.groups()[1:]]
        time, duration, value, to, thing, stack, cpu, state = numbers
        rest = {"next_tid": None if to is None else 500 + to, "object": thing, "stack": stack,
                "state": state or None, "duration_ns": duration or None,
                "cpu": cpu if cpu >= 0 else None}
        if kind != "call_args":
            events.append((tid, kind, time, duration, value,
                           {key: number for key, number in rest.items() if number is not None}))
    return events


def as_double(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def is_in_chrome(event, found):
    """Whether the next events of the Chrome trace, taken from `found`, are this one."""
    tid, kind, time, duration, value, rest = event
    got = found.pop(0)
    args = got.get("args", {})
    if (int(got["tid"]), ns(got["ts"])) != (tid, time):
        return False
    if kind == "span":
        end = found.pop(0)
        return (got["ph"] + end["ph"] == "be" and got["id"] == end["id"] == hex(value)
                and ns(end["ts"]) == time + duration)
    if kind == "counter":
        return got["ph"] == "C" and float(args["value"]) == as_double(value)
    if kind.startswith("flow_"):
        phase = {"flow_begin": "s", "flow_step": "t", "flow_end": "f"}[kind]
        return got["ph"] == phase and got["id"] == hex(value)
    if kind == "sample":
        return got["ph"] == "P" and int(got["weight"]) == value
    if kind == "instant":
        return len(got["ph"]) == 1 and (value == 0 or got["id"] == hex(value))
    return got["ph"] == "i" and args["weft"] == {"kind": kind, "value": str(value), **{
        key: str(number) for key, number in rest.items()}}


def is_in_perfetto(event, trace):
    tid, kind, time, duration, value, rest = event

    def is_here(track):
        return trace.tracks[trace.tracks[track]["parent"]]["thread"][1] == tid
    if kind == "span":
        got = trace.spans.pop(0)
        return (is_here(got["track"]) and (got["start"], got["end"]) == (time, time + duration)
                and got["args"].get("id", 0) == value)
    if kind == "counter":
        got = trace.counters.pop(0)
        return is_here(got["track"]) and got["at"] == time and got["value"] == as_double(value)
    got = trace.instants.pop(0)
    args = {key[5:]: value for key, value in got["args"].items() if key.startswith("weft.")}
    if trace.tracks[got["track"]]["thread"][1] != tid or got["at"] != time:
        return False
    if kind.startswith("flow_"):
        return got["flows"] == [value]
    if kind == "instant":
        return args.get("value", 0) == value
    return args == {"kind": kind, "value": value, **rest}


def events():
    """The stored file with events of all kinds, and arguments that are texts."""
    trace = ROOT / "data" / "store" / "v1_events.weft"
    want = stored_events(trace.with_suffix(".txt"))
    ok(len(want) > 50, f"the stored file has {len(want)} events that are no calls")
    document = json.loads(export(trace, "chrome"), parse_float=str, parse_int=str)
    found = [event for event in document["traceEvents"] if event["ph"] not in "XM"]
    names = {event["name"] for event in found}
    wrong = [event for event in want if not found or not is_in_chrome(event, found)]
    ok(not wrong and not found, "Chrome has every event", wrong[:2])
    perfetto = perfetto_reader.Trace(export(trace, "perfetto"))
    perfetto.spans = [call for call in perfetto.slices
                      if perfetto.tracks[call["track"]]["thread"] is None]
    ok({entry["name"] for entry in perfetto.spans + perfetto.instants} - {""}
       >= names - {""} - {perfetto.tracks[entry["track"]]["name"] for entry in perfetto.counters},
       "names are the same in both")
    wrong = [event for event in want if not is_in_perfetto(event, perfetto)]
    ok(not wrong and not perfetto.spans + perfetto.counters + perfetto.instants,
       "Perfetto has every event", wrong[:2])
    ok(perfetto.clocks == {6: 0, 1: 1700000000000000000}, "and the clocks", perfetto.clocks)
    wrong = compare(trace) or compare(trace, "--from", "66332ns", "--to", "17ms")
    ok(wrong is None, "calls and their arguments are the same in all formats", wrong)
    round_trip(trace, "the stored file")
    said = weft("export", trace, "--format", "csv").stderr.decode()
    ok(f"only holds calls: {len(want)} other events omitted" in said, "CSV says what it has no place for", said)
    said = weft("export", trace, "--format", "speedscope").stderr.decode()
    ok("arguments" in said, "speedscope says that it loses arguments", said)
    samples = sum(value for tid, kind, _, _, value, _ in want if kind == "sample" and tid == 500)
    folded = export(trace, "folded", "--weight", "samples", "--tid", "500").decode("utf-8", "replace")
    ok(sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines()) % 2**64 == samples % 2**64,
       "samples are summed", folded)
    counted = export(trace, "folded", "--weight", "stacks", "--tid", "500").decode("utf-8", "replace")
    n_samples = sum(kind == "sample" and tid == 500 for tid, kind, *_ in want)
    ok(sum(int(line.rsplit(" ", 1)[1]) for line in counted.splitlines()) == n_samples,
       "stacks are counted", counted)
    said = weft("export", trace, "--format", "folded", "--weight", "samples").stderr.decode()
    n_weightless = sum(kind == "sample" and value == 0 for _, kind, _, _, value, _ in want)
    ok((f"{n_weightless} stacks have no duration" in said) == (n_weightless > 0),
       "stacks without weight are reported", said)
    ok(not any(line.endswith(b" 0") for line in
               export(trace, "folded", "--weight", "samples").splitlines()), "no line of weight 0")


# ---- the command -----------------------------------------------------------------------------


def bundled():
    trace = WORK / "t.weft"
    inputs = sorted((ROOT / "golden" / "input").glob("*.txt"))
    done = weft("import", "-q", "-o", trace, *inputs)
    ok(done.returncode == 0, "the small trace imports", done.stderr)
    wrong = compare(trace)
    ok(wrong is None, "all formats say the same", wrong)
    wrong = compare_functions(trace)
    ok(wrong is None, "the sums are those of weft functions", wrong)
    ok(compare(trace, "--from", "3us", "--to", "1ms") is None, "within a window too")
    round_trip(trace, "the small trace")
    return trace


def outputs(trace):
    for name in FORMATS:
        path = WORK / "out"
        raw = ["--raw"] if name == "csv" else []
        done = weft("export", trace, "--format", name, *raw, "-o", path)
        ok(done.returncode == 0 and done.stdout == b"" and b"wrote" in done.stderr,
           f"{name} into a file", done.stderr)
        ok(path.read_bytes() == export(trace, name), f"{name}: the same as on standard output")
        ok(export(trace, name) == export(trace, name, "-o", "-"), f"{name}: -o - too")
        done = weft("export", trace, "--format", name, "-q", "-o", path)
        ok(done.stderr == b"", f"{name}: -q says nothing")
        ok(len(list(WORK.glob("out*"))) == 1, f"{name}: no temporary file is left")
        full = subprocess.run([WEFT, "export", trace, "--format", name], check=False,
                              stdout=open("/dev/full", "wb"), stderr=subprocess.PIPE)
        ok(full.returncode == 1 and b"standard output" in full.stderr,
           f"{name}: a full disk is said", full.stderr)


def usage(trace):
    for arguments, text in [
            ([trace], "expected --format"),
            ([trace, "--format", "pprof"], "pprof"),
            ([trace, "--format", "csv", "--weight", "calls"], "--weight"),
            ([trace, "--format", "csv", "--from", "tomorrow"], "tomorrow"),
            ([trace, "--format", "csv", "--from", "2s", "--to", "1s"], "expected an interval"),
            ([trace, "--format", "csv", "--from", "1h"], "the trace's end"),
            ([trace, "--format", "csv", "--tid", "99"], "99"),
            (["--format", "csv"], "expected TRACE")]:
        done = weft("export", *arguments)
        ok(done.returncode in (1, 2) and text in done.stderr.decode() and done.stdout == b"",
           f"refused: {' '.join(map(str, arguments[1:]))}", done.stderr)
    ok(export(trace, "csv", "--from", "@1000002000") == export(trace, "csv", "--from", "2us"),
       "an absolute time is one of the source's clock")


def flames():
    """Of a trace without calls, a flame graph is of its samples, and says so."""
    frames = {"1": {"name": "main"}, "2": {"name": "leaf", "parent": "1"}}
    samples = [{"ph": "P", "pid": 1, "tid": 1, "ts": k, "name": "cpu", "sf": "2", "weight": 5} for k in range(4)]
    path, trace = WORK / "samples.json", WORK / "samples.weft"
    path.write_text(json.dumps({"traceEvents": samples, "stackFrames": frames}), encoding="utf-8")
    weft("import", "-q", "-o", trace, path)
    plain = weft("flame", "-f", "folded", trace)
    asked = weft("flame", "-f", "folded", "--weight", "samples", trace)
    ok(plain.returncode == 0 and b"leaf" in plain.stdout and plain.stdout == asked.stdout and
       b"no calls" in plain.stderr and asked.stderr == b"", "a flame graph of samples, where there are no calls",
       (plain, asked))
    ok(weft("flame", "-q", trace).stderr == b"" and b"<svg" in weft("flame", trace).stdout, "as a picture, too")
    wrong = weft("flame", "--weight", "self", trace)
    ok(wrong.returncode == 1 and b"without --weight" in wrong.stderr, "a weight that there is none of", wrong)


def interrupted():
    """A long export that is interrupted leaves the old file and no other."""
    lines = [f"{i & 1} f{i % 400 // 2} {i}" for i in range(400000)]
    (WORK / "long-1.txt").write_text("\n".join(lines + [""]), encoding="utf-8")
    trace, path = WORK / "long.weft", WORK / "kept"
    weft("import", "-q", "-o", trace, WORK / "long-1.txt")
    path.write_text("old", encoding="utf-8")
    reader, writer = os.pipe()
    process = subprocess.Popen([WEFT, "export", trace, "--format", "chrome"], stdout=writer,
                               stderr=subprocess.PIPE)
    os.close(writer)
    os.read(reader, 1)  # it writes now, and soon waits for a reader
    process.send_signal(signal.SIGINT)
    while os.read(reader, 1 << 20):
        pass
    os.close(reader)
    said = process.stderr.read()
    ok(process.wait() == 130 and b"interrupted" in said, "Ctrl-C ends it with 130", said)
    reader, writer = os.pipe()
    process = subprocess.Popen([WEFT, "export", trace, "--format", "chrome"], stdout=writer,
                               stderr=subprocess.PIPE)
    os.close(writer)
    os.close(reader)
    said = process.stderr.read()
    ok(process.wait() == -signal.SIGPIPE and said == b"", "a reader that leaves ends it quietly", said)
    ok(path.read_text(encoding="utf-8") == "old" and not list(WORK.glob("kept.*")),
       "the old file stands")


try:
    small = bundled()
    outputs(small)
    events()
    usage(small)
    flames()
    interrupted()
    random_traces()
finally:
    shutil.rmtree(WORK, ignore_errors=True)
tap.done()
