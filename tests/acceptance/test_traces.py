# SPDX-License-Identifier: MIT
"""The uftrace directory and the OpTrack files beside the project. Both are read here once more,
slowly, and compared with weft; the uftrace reading also with the report of uftrace itself, in which
the time off the processor is a function of its own."""
import bisect
import re
import struct
import subprocess

from support import SHARED, TRACES, done, import_trace, note, ok, run, run_json, unpack_all

UFTRACE = unpack_all("ldb_uftrace.data")[0] / "ldb_uftrace.data"
OPTRACK = unpack_all("optrack/wt_optrack.tar")[0] / "wt_optrack"
SCHEDULE, PREEMPTED = "linux:schedule", "linux:schedule (pre-empted)"
NS = {"us": 1000, "ms": 1000000, "s": 1000000000}


# ---- uftrace ---------------------------------------------------------------------------------------

def read_symbols():
    """(mapping begin, end, sorted addresses, their demangled names) of each module."""
    modules = []
    for line in next(UFTRACE.glob("sid-*.map")).read_text(encoding="utf-8").splitlines():
        words = line.split()
        table = UFTRACE / (words[5].rpartition("/")[2] + ".sym")
        if not table.exists():
            continue
        rows = [row.split(maxsplit=2) for row in table.read_text(encoding="utf-8").splitlines()
                if not row.startswith("#")]
        plain = subprocess.run(["c++filt"], input="\n".join(row[2] for row in rows), check=True,
                               stdout=subprocess.PIPE, text=True).stdout.splitlines()
        begin, end = (int(part, 16) for part in words[0].split("-"))
        modules.append((begin, end, [int(row[0], 16) for row in rows], plain))
    return modules


def function_at(modules, address, cache={}):
    """(what tells it from others, its name)"""
    if address not in cache:
        cache[address] = None
        for begin, end, addresses, names in modules:
            if begin <= address < end:
                at = bisect.bisect_right(addresses, address - begin) - 1
                cache[address] = (begin + addresses[at], names[at])
    return cache[address]


def read_switches():
    """tid -> [(time, kind, name)]: leaves by a name (kind 0), comes back (1), ends (2)."""
    switches = {}
    for path in UFTRACE.glob("perf-cpu*.dat"):
        data, at = path.read_bytes(), 0
        while at < len(data):
            kind, misc, size = struct.unpack_from("<IHH", data, at)
            if kind == 14:
                tid, time = struct.unpack_from("<IQ", data, at + 12)
                name = PREEMPTED if misc & 0x4000 else SCHEDULE
                switches.setdefault(tid, []).append((time, 0 if misc & 0x2000 else 1, name))
            elif kind == 4:
                tid, time = struct.unpack_from("<I4xQ", data, at + 16)
                switches.setdefault(tid, []).append((time, 2, None))
            at += size
    return switches


def read_task(path, modules, switches):
    """[(time, kind, function)] in order of time, kind 0 entry, 1 exit; with `switches`, those too."""
    data, rows = path.read_bytes(), []
    for time, word in struct.iter_unpack("<QQ", data):
        rows.append((time, word & 3, function_at(modules, word >> 16)))
    rows += [(time, kind, (name, name)) for time, kind, name in switches]
    return sorted(rows, key=lambda row: row[0])


def add_up(rows, name_of, sums):
    """Adds (calls, inclusive of the outermost, self) by name. Returns how many stay open; they end
    with the last row."""
    stack, depth_of = [], {}

    def leave(time):
        function, start, inner = stack.pop()
        depth_of[function] -= 1
        row = sums.setdefault(name_of(function[1]), [0, 0, 0])
        row[0] += 1
        row[1] += 0 if depth_of[function] else time - start
        row[2] += time - start - inner
        if stack:
            stack[-1][2] += time - start

    for time, kind, function in rows:
        if kind == 0 and (stack or not function[1].startswith("linux:")):
            stack.append([function, time, 0])
            depth_of[function] = depth_of.get(function, 0) + 1
        elif kind == 1 and stack and (function[1].startswith("linux:") ==
                                      stack[-1][0][1].startswith("linux:")):
            leave(time)
    n_open = len(stack)
    while stack:
        leave(rows[-1][0])
    return n_open


def short(name):
    """As uftrace shows it: no parameters, no template arguments."""
    if name.startswith("linux:"):
        return name
    if name.startswith("_GLOBAL__sub_I__Z"):
        return "_GLOBAL__sub_I_" + short(subprocess.run(["c++filt", name[15:]], check=True, text=True,
                                                        stdout=subprocess.PIPE).stdout.strip())
    name = name.replace("(anonymous namespace)", "_GLOBAL__N_1").replace("operator()", "operator\0")
    out, depth = "", 0
    name = re.sub(r"operator(<<|>>|<=|>=|->|<|>)", lambda m: "operator" + "\1" * len(m[1]), name)
    for letter in name:
        depth += letter in "(<"
        if depth == 0:
            out += letter
        depth -= letter in ")>"
    out = out.split(" const")[0].replace("[abi:", "::").replace("]", "")
    return out.split(" ")[-1].replace("\0", "()")


def read_report():
    rows = {}
    path = SHARED / "cases" / "xray" / "ldb_uftrace.report.txt"
    for line in path.read_text(encoding="utf-8").splitlines()[2:]:
        match = re.match(r" *([\d.]+) +(\w+) +([\d.]+) +(\w+) +(\d+)  (.+)", line)
        if match:
            total, total_unit, own, own_unit, calls, name = match.groups()
            rows[name] = (int(calls), (float(total) * NS[total_unit], NS[total_unit]),
                          (float(own) * NS[own_unit], NS[own_unit]))
    return rows


def is_near(ns, shown):
    return abs(ns - shown[0]) <= 0.0011 * shown[1]


def check_report(modules, tasks):
    switches, sums, report = read_switches(), {}, read_report()
    for path in tasks:
        add_up(read_task(path, modules, switches.get(int(path.stem), [])), short, sums)
    wrong = [name for name, (calls, _, _) in report.items() if sums.get(name, [0])[0] != calls]
    ok(not wrong and len(sums) == len(report),
       f"uftrace: calls of {len(report)} names as its own report has them", wrong[:5],
       set(sums) ^ set(report))
    wrong = [(name, sums[name], row) for name, row in report.items()
             if name in sums and not is_near(sums[name][2], row[2])]
    ok(not wrong, "uftrace: self times as in its report", *wrong[:5])
    wrong = [(name, sums[name], row) for name, row in report.items()
             if name in sums and not is_near(sums[name][1], row[1])]
    ok(not wrong, "uftrace: total times as in its report", *wrong[:5])


def check_uftrace():
    modules = read_symbols()
    tasks = sorted(path for path in UFTRACE.glob("*.dat") if path.stem.isdigit())
    check_report(modules, tasks)
    store = import_trace(UFTRACE, "uftrace")
    info = run_json("info", store)
    document = run_json("functions", store)
    if not info or not document:
        return
    sums, n_open = {}, 0
    for path in tasks:
        n_open += add_up(read_task(path, modules, []), lambda name: name, sums)
    ok(info["threads"] == 11 and info["calls"] == sum(row[0] for row in sums.values()),
       "uftrace: 11 threads, all calls", info["threads"], info["calls"])
    ok(len([row for row in document["functions"] if row["count"]]) == 293, "uftrace: 293 functions")
    ok(n_open == 2 == sum(row["open_count"] for row in document["functions"]),
       "uftrace: 2 calls stay open", n_open)
    seen = {}
    for row in document["functions"]:
        total = seen.setdefault(row["name"], [0, 0, 0, 0])
        for k, field in enumerate(("count", "inclusive_ns", "self_ns", "open_count")):
            total[k] += row[field]
    wrong = [(name, seen.get(name), row) for name, row in sums.items()
             if seen.get(name, [0])[0] != row[0] or
             (not seen[name][3] and seen[name][1:3] != row[1:])]
    ok(not wrong, f"uftrace: calls, inclusive and self time of {len(sums)} names", *wrong[:5])
    check_jobs(UFTRACE, "uftrace")


# ---- OpTrack ---------------------------------------------------------------------------------------

def read_session(path):
    """The runs of a file, oldest first: [(ticks, operation, is_exit)]."""
    data = path.read_bytes()
    records = list(struct.iter_unpack("<QhHI", data[24:]))
    runs, begin = [], 0
    for k in range(1, len(records) + 1):
        if k == len(records) or records[k][0] < records[k - 1][0]:
            runs.insert(0, [row[:3] for row in records[begin:k]])
            begin = k
    return runs


def balance(run_):
    stack, n_unmatched, n_implicit = [], 0, 0
    for _, operation, is_exit in run_:
        if not is_exit:
            stack.append(operation)
        elif operation in stack:
            while stack.pop() != operation:
                n_implicit += 1
        else:
            n_unmatched += 1
    return n_unmatched, n_implicit, len(stack)


def check_optrack():
    files = sorted(OPTRACK.glob("optrack.*"))
    sessions = [read_session(path) for path in files]
    n_events = sum(len(run_) for runs in sessions for run_ in runs)
    n_steps = sum(len(runs) - 1 for runs in sessions)
    ok((n_events, len(files), n_steps) == (1053452, 115, 5),
       "OpTrack: the slow reader agrees with the index", n_events, len(files), n_steps)
    sums = [sum(column) for column in zip(*(balance(run_) for runs in sessions for run_ in runs))]
    ok(sums == [3, 0, 111], "OpTrack: repairs as the index has them", sums)
    ok(all(older[-1][0] <= newer[0][0] for runs in sessions for older, newer in zip(runs, runs[1:])),
       "OpTrack: the runs of a file do not overlap")
    store = import_trace(OPTRACK, "optrack")
    info = run_json("info", store)
    document = run_json("functions", store)
    if not info or not document:
        return
    n_entries = sum(1 - is_exit for runs in sessions for run_ in runs for _, _, is_exit in run_)
    ok(info["threads"] == 115 and n_entries <= info["calls"] <= n_entries + sums[0],
       "OpTrack: 115 sessions, all calls", info["threads"], info["calls"], n_entries)
    ok(len(document["functions"]) == 33, "OpTrack: 33 functions", len(document["functions"]))
    notes = {}
    for row in info["notes"]:
        notes[row["kind"]] = notes.get(row["kind"], 0) + row["count"]
    ok([notes.get(kind, 0) for kind in ("exit_without_entry", "missing_exit", "open_at_end",
                                        "time_backward", "exit_ignored")] == [3, 0, 111, 5, 0],
       "OpTrack: 3 exits without entry, 111 open calls, 5 steps back", notes)
    ticks = [row[0] for runs in sessions for run_ in runs for row in run_]
    span = (max(ticks) - min(ticks)) * 1000 // 2699
    ok(info["duration_ns"] == span, "OpTrack: the time it spans", info["duration_ns"], span)
    check_jobs(OPTRACK, "optrack")
    check_files(files)


def check_files(files):
    """Files of the directory instead of it; the map is found beside them."""
    store = import_trace(files[4], "optrack_files", *files[5:9])
    document = store and run_json("functions", store)
    ok(document and all(row["name"].startswith("__") for row in document["functions"]),
       "OpTrack: several files, their map found")


def check_jobs(source, name):
    stores = [import_trace(source, f"{name}_j{jobs}", "-j", jobs) for jobs in (1, 2, 5)]
    ok(all(store and store.read_bytes() == stores[0].read_bytes() for store in stores),
       f"{name}: the same bytes for any -j")


def check_refused():
    refused = run("import", "-o", TRACES / "refused.weft", UFTRACE.parent)
    ok(refused.returncode == 1 and "found one of other files" in refused.stderr,
       "a directory of no trace is refused as before", refused.stderr)
    refused = run("import", "-o", TRACES / "refused.weft", "--binary", "/bin/true", OPTRACK)
    ok(refused.returncode != 0 and "no program" in refused.stderr, "OpTrack takes no program",
       refused.stderr)


check_uftrace()
check_optrack()
check_refused()
note("uftrace's report counts time off the processor as a function; weft keeps it as events")
done()
