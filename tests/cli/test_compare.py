#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""weft compare, flame and diagnose: statistics against numpy, gates, pictures, errors. TAP."""
import json
import math
import os
import random
import shlex
import sqlite3
import subprocess
import sys
import tempfile
import xml.dom.minidom

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tap  # noqa: E402
from tap import ok  # noqa: E402

WEFT, MADE = sys.argv[1:3]




def weft(*arguments):
    return subprocess.run([WEFT, *arguments], capture_output=True, text=True)


def make(path, lines):
    subprocess.run([MADE, path], input="\n".join(lines) + "\n", text=True, check=True)


RUNS, HALF = 3, 75  # of each build; half of the executions of a run, one a millisecond
RUN = "f:main;f:handle;s:running"
DISK = "f:main;f:handle;f:load;s:blocked:_block_device"
LOCK = "f:main;f:handle;f:acquire;s:blocked:_futex;t:journal;f:commit;f:remap;s:running"
PARSE = "f:main;f:handle;f:parse;s:running"


def executions(seed, count, parse_ns=0, lock_share=0.05):
    """Lines, and the values of each, of executions of about a millisecond."""
    draw = random.Random(seed)
    lines, rows = [], []
    for i in range(count):
        row = {RUN: int(5e5 * draw.lognormvariate(0, 0.1)),
               DISK: int(2e5 * draw.lognormvariate(0, 0.3))}
        if draw.random() < lock_share:
            row[LOCK] = int(2e7 * draw.lognormvariate(0, 0.2))
        if parse_ns:
            row[PARSE] = int(parse_ns * draw.lognormvariate(0, 0.2))
        faults = draw.randrange(5)
        lines.append(f"item worker {i * 1000000} {faults} "
                     + " ".join(f"{path}={ns}" for path, ns in row.items()))
        rows.append((row, faults))
    return lines, rows


def shown(path):
    return ";".join(part[2:].replace("_", " ") if part[0] != "t" else "thread " + part[2:]
                    for part in path.split(";"))


# ---- the same by numpy --------------------------------------------------------------------------

def student_p(t, df, np):
    """Two-sided, by integrating the density: nothing is shared with the program."""
    theta = math.atan2(abs(t), math.sqrt(df))
    # with t = sqrt(df) tan(x) the density is cos(x) ** (df - 1)
    nodes, weights = np.polynomial.legendre.leggauss(400)

    def integral(low, high):
        x = (high - low) / 2 * nodes + (high + low) / 2
        return (high - low) / 2 * np.sum(weights * np.cos(x) ** (df - 1))

    # the density is narrow where df is large
    edges = [0, *[k / math.sqrt(df) for k in (0.5, 1, 2, 4, 8, 16) if k / math.sqrt(df) < 1.5],
             math.pi / 2]
    def over(low, high):
        cuts = [low, *[e for e in edges if low < e < high], high]
        return sum(integral(a, b) for a, b in zip(cuts, cuts[1:]))
    return over(theta, math.pi / 2) / over(0, math.pi / 2)


def near(got, want, tolerance=1e-9):
    return abs(got - want) <= tolerance * max(abs(want), 1e-300) or abs(got - want) < 1e-12


def check_runs(got, runs_a, runs_b, np):
    """Groups of runs of equal size: Welch's test of the means of runs."""
    a, b = (np.array([run.mean() for run in runs]) for runs in (runs_a, runs_b))
    error = a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b)
    df = error ** 2 / ((a.var(ddof=1) / len(a)) ** 2 / (len(a) - 1)
                       + (b.var(ddof=1) / len(b)) ** 2 / (len(b) - 1))
    t = (b.mean() - a.mean()) / math.sqrt(error)
    return (near(got["mean_a_ns"], a.mean()) and near(got["mean_b_ns"], b.mean())
            and near(got["difference_ns"], b.mean() - a.mean(), 1e-7)
            and near(got["t"], t, 1e-6) and near(got["df"], df, 1e-6)
            and near(got["p"], student_p(t, df, np), 1e-5))


def check_node(got, a, b, np):
    var_a, var_b = a.var(ddof=1), b.var(ddof=1)
    error = var_a / len(a) + var_b / len(b)
    t = (b.mean() - a.mean()) / math.sqrt(error)
    df = error ** 2 / ((var_a / len(a)) ** 2 / (len(a) - 1) + (var_b / len(b)) ** 2 / (len(b) - 1))
    pooled = ((len(a) - 1) * var_a + (len(b) - 1) * var_b) / (len(a) + len(b) - 2)
    g = (b.mean() - a.mean()) / math.sqrt(pooled) * (1 - 3 / (4 * (len(a) + len(b) - 2) - 1))
    draws = np.random.default_rng(7)
    means = (draws.choice(b, (4000, len(b))).mean(axis=1) - draws.choice(a, (4000, len(a))).mean(axis=1))
    low, high = np.percentile(means, [2.5, 97.5])
    width = high - low
    return (near(got["mean_a_ns"], a.mean()) and near(got["mean_b_ns"], b.mean())
            and near(got["sd_a_ns"], math.sqrt(var_a), 1e-7)
            and near(got["sd_b_ns"], math.sqrt(var_b), 1e-7)
            and near(got["t"], t, 1e-7) and near(got["df"], df, 1e-7)
            and near(got["p"], student_p(t, df, np), 1e-6) and near(got["effect"], g, 1e-7)
            and abs(got["low_ns"] - low) < 0.15 * width and abs(got["high_ns"] - high) < 0.15 * width
            and got["low_ns"] <= low + 0.03 * width and got["high_ns"] >= high - 0.03 * width)


def benjamini_hochberg(p, np):
    order = np.argsort(p)
    scaled = p[order] * len(p) / np.arange(1, len(p) + 1)
    adjusted = np.minimum.accumulate(scaled[::-1])[::-1]
    out = np.empty(len(p))
    out[order] = np.minimum(adjusted, 1)
    return out


def test_statistics(database, rows_a, rows_b):
    try:
        import numpy as np
    except ImportError:
        tap.skip("python3-numpy is not installed")
        return
    answer = json.loads(weft("compare", database, "--a", "tag=base", "--b", "tag=new",
                             "--json").stdout)
    by_path = {row["path"]: row for row in answer["differences"]}
    ok(answer["by_runs"] and answer["runs_a"] == answer["runs_b"] == RUNS, "runs are compared")
    for path in (RUN, DISK, LOCK, PARSE):
        runs = [np.array([float(row.get(path, 0)) for row, _ in rows]).reshape(RUNS, -1)
                for rows in (rows_a, rows_b)]
        ok(check_runs(by_path[shown(path)], runs[0], runs[1], np),
           f"numpy has the same of runs of {shown(path)}")
    halves = json.loads(weft("compare", database, "--a", f"start<{HALF}ms", "--b",
                             f"start>={HALF}ms", "--json").stdout)
    ok(not halves["by_runs"], "runs with executions of both groups are no blocks")
    by_half = {row["path"]: row for row in halves["differences"]}
    for path in (RUN, DISK, LOCK, PARSE):
        values = np.array([float(row.get(path, 0)) for row, _ in rows_a + rows_b])
        split = values.reshape(2 * RUNS, 2, -1)
        ok(check_node(by_half[shown(path)], split[:, 0].ravel(), split[:, 1].ravel(), np),
           f"numpy has the same of {shown(path)}")
    p = np.array([row["p"] for row in answer["differences"]])
    adjusted = np.array([row["p_adjusted"] for row in answer["differences"]])
    ok(np.allclose(benjamini_hochberg(p, np), adjusted, rtol=1e-12), "Benjamini-Hochberg")
    a = np.array([float(sum(row.values())) for row, _ in rows_a])
    b = np.array([float(sum(row.values())) for row, _ in rows_b])
    duration = answer["metrics"][0]
    ok(near(duration["mean_a"], a.mean()) and near(duration["p99_b"], np.quantile(b, 0.99))
       and near(duration["p50_a"], np.median(a)), "means and quantiles of durations")
    ok(near(answer["metrics"][2]["mean_a"], np.mean([f for _, f in rows_a])),
       "means of page faults")
    ok(sum(answer["duration"]["a"]) == len(a) and sum(answer["duration"]["b"]) == len(b),
       "histograms have all executions")


# ---- gates --------------------------------------------------------------------------------------

def test_gates(database, report):
    worse = weft("compare", database, "--a", "tag=base", "--b", "tag=new", "--gate",
                 "duration p50 +5%", "--report", report)
    text = open(report).read() if os.path.exists(report) else ""
    ok(worse.returncode == 1 and worse.stdout.startswith("gate 'duration p50 +5%': B is worse"),
       "a gate fails B, which is 14 % slower")
    ok("Performance: B is worse" in text and "parse" in text and "| B - A |" in text,
       "and writes a report")
    parsed = json.loads(weft("compare", database, "--a", "tag=base", "--b", "tag=new", "--gate",
                             "duration p50 +5%", "--json").stdout)["gate"]
    ok(parsed["result"] == "worse" and parsed["units"] == "runs" and parsed["n_a"] == RUNS
       and parsed["low"] > 0 and abs(parsed["allowed"] - 0.05) < 1e-12, "the gate is in JSON, too")
    same = weft("compare", database, "--a", "tag=base", "--b", "tag=new", "--gate",
                "duration p50 +25%")
    ok(same.returncode == 0 and "passed" in same.stdout, "it passes what is allowed")
    few = weft("compare", database, "--a", "trace=base0.weft", "--b", "trace=new0.weft", "--gate",
               "duration p50 +5%")
    ok(few.returncode == 0 and "not decided" in few.stdout and "at least 3" in few.stdout,
       "it does not decide on one run of each")
    bad = weft("compare", database, "--a", "all", "--gate", "duration 5%")
    ok(bad.returncode == 2 and "--gate: expected a metric" in bad.stderr
       and "'duration p99 +5%'" in bad.stderr, "a bad gate is no worse B, and shows a good one")
    for limit, want in (("duration mean +5", "+200us"), ("duration mean +5kB", "+200us"),
                        ("page_faults mean +5us", "+3")):
        unit = weft("compare", database, "--a", "all", "--gate", limit)
        ok(unit.returncode == 1 and f"such as {want}" in unit.stderr, f"gate {limit}: the unit is wrong")
    none = weft("compare", database, "--a", "all", "--gate", "speed mean +5%")
    ok(none.returncode == 1 and "no metric 'speed'" in none.stderr, "a gate of no metric")


# ---- words, pictures, errors --------------------------------------------------------------------

def test_words(database):
    text = weft("compare", database, "--a", "duration<5ms", "--b", "duration>=5ms").stdout
    verdict = text.splitlines()[1]
    ok(verdict.startswith("B is ") and "slower than A" in verdict and "remap" in verdict
       and "thread `journal`" in verdict, "the verdict names the holder's function")
    ok("weft path base0.weft --thread 42 --from" in text, "executions have a command to open them")
    found = weft("diagnose", "--verbose", database)
    first = found.stdout.split("\n\n")[0]
    ok(found.returncode == 0 and first.startswith(" 1  ") and "remap" in first and "are slow" in found.stdout,
       "the diagnosis names it in its first finding", found.stdout)
    ok("more: weft compare" in found.stdout, "and the command that shows more")
    parsed = json.loads(weft("diagnose", database, "--json").stdout)["types"][0]
    ok(parsed["significant"] and parsed["tail"]["found"] and len(parsed["causes"]) == 1,
       "one cause, as JSON")
    unnamed = json.loads(weft("diagnose", database, "--json", "--type", "").stdout)["types"][0]
    ok(unnamed == parsed, "an empty type is none: that of the database is named", unnamed["type"])
    runs = weft("compare", database, "--a", "tag=base", "--b", "tag=new").stdout.splitlines()[1]
    ok("Runs were compared: 3 of A and 3 of B" in runs, "builds of several runs: runs are compared")
    quick = [f"{tag} and duration<5ms" for tag in ("tag=base", "tag=new")]
    runs = weft("compare", database, "--a", quick[0], "--b", quick[1]).stdout.splitlines()[1]
    ok("Runs were compared: 3 of A" in runs and "no evidence" not in runs and "parse" in runs,
       "which is evidence where runs agree")
    quick = [f"trace={tag}0.weft and duration<5ms" for tag in ("base", "new")]
    runs = weft("compare", database, "--a", quick[0], "--b", quick[1]).stdout.splitlines()[1]
    ok("1 run of A and 1 of B: too few" in runs, "one run of each is too few, which is said")
    ok("runs" not in verdict, "runs with executions of both are no blocks")
    versus = weft("diagnose", "--verbose", database, "--a", "tag=base and duration<5ms", "--b",
                  "tag=new and duration<5ms").stdout
    ok(any("slower than A" in line and "parse" in line for line in versus.splitlines()) and
       "parse" in versus.split("\n\n")[0], "builds are compared", versus)
    quoted = ["metric('duration') < 5ms", 'metric("duration") >= 5ms']
    found = weft("diagnose", "--verbose", database, "--a", quoted[0], "--b", quoted[1])
    more = [line for line in found.stdout.splitlines() if line.startswith("  more: ")]
    words = shlex.split(more[0].removeprefix("  more: ")) if more else [found.stderr]
    ok(words[0] == "weft" and words[-4:] == ["--a", quoted[0], "--b", quoted[1]],
       "filters with quotes are words of the command that shows more", words)


def test_pictures(database):
    picture = weft("flame", database, "--diff", "--a", "duration<5ms", "--b", "duration>=5ms")
    tree = xml.dom.minidom.parseString(picture.stdout)
    titles = [title.firstChild.data for title in tree.getElementsByTagName("title")]
    ok(any(title.startswith("remap: A ") for title in titles), "boxes say both means")
    ok(not tree.getElementsByTagName("script") and "href" not in picture.stdout,
       "the picture needs nothing else")
    folded = weft("flame", database, "--diff", "--a", "duration<5ms", "--b", "duration>=5ms", "-f",
                  "folded").stdout
    ok(any(line.startswith("main;handle;acquire;blocked: futex;thread journal;commit;remap;running 0 ")
           for line in folded.splitlines()), "folded differences have both means")
    plain = weft("flame", database, "-f", "folded").stdout
    ok(any(line.startswith("main;handle;running ") for line in plain.splitlines()),
       "folded executions")
    short = weft("flame", database, "-f", "folded", "--strip", "ha").stdout
    ok(any(line.startswith("main;ndle;running ") for line in short.splitlines()),
       "a front that names have in common is left out")


ERRORS = [
    (["compare", "DB", "--a", "duration<<20ms"], "column 10: expected a value such as 20ms"),
    (["compare", "DB", "--a", "duration<20"], "column 10: expected a duration such as"),
    (["compare", "DB", "--a", "speed>3"], "column 1: expected a metric (duration, start"),
    (["compare", "DB", "--b", "tag=base and"], "found its end"),
    (["compare", "DB", "--b", "context('nowhere')>1ms"], "no execution has a context 'nowhere'"),
    (["compare", "DB", "--a", "all", "--type", "none"], "no executions are of type 'none'; there are req"),
    (["diagnose", "DB", "--type", "none"], "no executions are of type 'none'; there are req"),
    (["compare", "DB", "--report", "x.md"], "--report needs --gate"),
    (["compare", "DB"], "expected --a FILTER, --b FILTER or both"),
    (["compare", "DB", "--b", "tag=unknown"], "no execution is in group B (tag=unknown); of "),
    (["compare", "DB", "--b", "tag=unknown"], "; tags: base"),
    (["compare", "DB", "--b", "tag=base", "--begin", "call:f"], "of a database are found already"),
    (["diagnose", "DB", "--rules", "none"], "of a database are found already"),
    (["flame", "DB", "--match", "id"], "of a database are found already"),
    (["compare", "DB", "--b", "tag=base", "--gate", "speed p99 +5%"],
     "no metric 'speed' for the gate; there are duration, start"),
    (["diagnose", "DB", "--b", "tag=unknown"], "is in group B"),
    (["flame", "DB", "--b", "tag=unknown"], "no execution is in group"),
    (["flame", "DB", "--a", "all"], "--a needs --diff"),
]


def test_errors(database):
    for arguments, wanted in ERRORS:
        got = weft(*[database if word == "DB" else word for word in arguments])
        if not ok(got.returncode in (1, 2) and wanted in got.stderr, f"{' '.join(arguments)}: {wanted}"):
            print(f"# {got.stderr}")
    one = weft("compare", database, "--a", "tag=base", "--b", "duration>=p100")
    ok(one.returncode == 0 and "too few executions" in one.stdout, "one execution is too few")


HOSTILE = "f:main;f:<script>x`|[y](z)*\x1b[31m\x07\u202e&amp;;s:blocked:_disk;t:`rm`|</title>;f:\"]]>'"


def test_hostile(folder):
    """Names that would be commands of a terminal, or markup of a picture or a report."""
    path, report = os.path.join(folder, "hostile.db"), os.path.join(folder, "hostile.md")
    lines = ["metric page_faults count"]
    for i in range(60):
        lines += [f"source req {'new' if i % 2 else 'base'} it's\x1b[1mé{i}.weft"] if i < 6 else []
    lines += [f"item w\x1b]0;x\x07 {i * 100000000} 0 {RUN}={500000 + i * 997}"
              + (f" {HOSTILE}={9000000 + i * 991}" if i % 3 == 0 else "") for i in range(90)]
    make(path, lines)
    groups = ("--a", "duration<5ms", "--b", "duration>=5ms")
    texts = {name: weft(*command) for name, command in {
        "compare": ["compare", path, *groups, "--gate", "duration mean +5%", "--report", report],
        "diagnose": ["diagnose", path], "flame": ["flame", path, "--diff", *groups],
        "folded": ["flame", path, "-f", "folded"],
        "json": ["compare", path, *groups, "--json"]}.items()}
    for name, found in texts.items():
        bad = [c for c in found.stdout if (ord(c) < 32 and c not in "\n\t") or ord(c) == 0x7f]
        ok(found.returncode in (0, 1) and found.stdout and not bad and "Traceback" not in found.stderr,
           f"hostile names: {name} has nothing that a terminal obeys")
    xml.dom.minidom.parseString(texts["flame"].stdout)
    ok(bool(json.loads(texts["json"].stdout)["differences"]), "hostile names: JSON is JSON")
    ok("é5.weft" in texts["compare"].stdout, "letters beyond ASCII stay in a command")
    text = open(report, encoding="utf-8").read()
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    ok(not any(ord(c) < 32 and c != "\n" for c in text) and "\\<script\\>" in text
       and all(line.replace("\\|", "").count("|") == 7 for line in rows),
       "hostile names: a report has no markup but its own")


def spread_out(seed, count, foreign):
    """Durations without a gap; in some executions a part of them is a wait that others do not have."""
    draw = random.Random(seed)
    lines = []
    for i in range(count):
        run, disk = 5e5 * draw.lognormvariate(0, 0.4), 4e5 * draw.lognormvariate(0, 0.9)
        waits = f" {LOCK}={int(4e6 * draw.lognormvariate(0, 0.7))}" if foreign and i % 25 == 3 else ""
        lines.append(f"item worker {i * 1000000} 0 {RUN}={int(run)} {DISK}={int(disk)}{waits}")
    return ["metric page_faults count", "source req - spread.weft", *lines]


def test_spread(folder):
    """No gap between slow and fast: what only slow ones do is told, more of the same is not."""
    found = {True: [], False: []}
    for seed in range(15):
        for foreign in found:
            path = os.path.join(folder, f"spread{seed}{foreign}.db")
            make(path, spread_out(seed, 500, foreign))
            kind = json.loads(weft("diagnose", path, "--json").stdout)["types"][0]
            ok(not kind["tail"]["found"], f"seed {seed}: durations have no gap")
            found[foreign].append(kind["explanation"])
    ok(all("`journal`" in text and "remap" in text and "are slow" in text for text in found[True]),
       "a wait of slow ones alone is told")
    ok(all(text.startswith("Nothing significant") for text in found[False]),
       "more of what all have is not")


def test_healthy(path):
    lines, _ = executions(99, 300, lock_share=0)
    make(path, ["source req - calm.weft", *lines])
    found = weft("diagnose", "--verbose", path)
    ok(found.stdout.startswith("Nothing significant"), "healthy executions have no diagnosis")
    for n, said in ((1, "1 execution of `req` is too few"), (2, "2 executions of `req` are too few")):
        few = f"{path}.few{n}"
        make(few, ["source req - calm.weft", *lines[:n]])
        text = weft("diagnose", "--verbose", few).stdout
        ok(f"\nNothing significant: {said} to separate slow ones from others." in text and
           text.startswith("Nothing significant:\n"), said, text)


def test_rare(folder):
    """A tail of 0.1 %, and single executions."""
    for n, slow in ((10000, 10), (400, 2)):
        path = os.path.join(folder, f"rare{n}.db")
        lines, _ = executions(7, n, lock_share=0)
        for i in range(slow):
            lines[1 + i * (n // slow)] += f" {LOCK}={int(4e7 + 1e6 * i)}"
        make(path, ["metric page_faults count", "source req - rare.weft", *lines])
        kind = json.loads(weft("diagnose", path, "--json").stdout)["types"][0]
        said = kind["explanation"].split(". ")[0]
        ok(kind["tail"]["n_slow"] == slow and "remap" in said and "`journal`" in said,
           f"{slow} of {n} are found, and named")
        ok(kind["significant"] == (slow == 10) and kind["tail"]["alone"] == (slow == 2),
           "too few for a comparison are told one by one" if slow == 2 else "with evidence")
    ok("2 of 400 executions of `req` are far slower than all others" in said, "in the first sentence")
    text = weft("diagnose", "--verbose", path).stdout
    ok(text.count("    to open   weft path rare.weft --thread 42") == 2 and text.count("its path") == 2,
       "with a command, and what its path holds, for each", text)


def test_many_contexts(folder):
    """No context stands for the difference: its state does. Frames without a symbol are one."""
    path = os.path.join(folder, "many.db")
    lines = ["metric preempted ns", "metric lock_waits count", "source req - some.weft"]
    for i in range(120):
        lost = f"f:main;f:step{i};f:[kernel]+0x1;f:[kernel]+0x2;s:preempted={10**7 + 10**4 * i}"
        lines.append(f"item worker {i * 10**8} {10**7 + 10**4 * i if i % 2 else 0},0 "
                     f"f:main;s:running={10**6 + 1000 * (i % 7)} {lost if i % 2 else ''}")
    make(path, lines)
    groups = ["--a", "duration<5ms", "--b", "duration>5ms"]
    told = weft("compare", path, *groups).stdout
    ok("100 % of that is preempted, in many contexts" in told.splitlines()[1],
       "a difference that is spread is told by its state")
    ok("main > step119 > [kernel] > preempted" in told, "frames without a symbol are one")
    rows = [line.split()[0] for line in told.splitlines() if line.strip()]
    parsed = json.loads(weft("compare", path, *groups, "--json").stdout)
    ok("preempted" in rows and "lock_waits" not in rows
       and "lock_waits" in [row["metric"] for row in parsed["metrics"]],
       "metrics that are 0 everywhere are no lines of text")
    lines = [line.replace("s:running=100", "s:running=1") for line in lines]  # A has next to none
    make(path, lines)
    told = weft("compare", path, *groups).stdout.splitlines()[1]
    ok("100 % of that is preempted, in many contexts, and 100 % " in told and "e+" not in told,
       "all of it is 100 %", told)


def slow_ones(path, others):
    """1 ms each; of 400 some have another wait, by their number."""
    lines = ["metric page_faults count", "source req - some.weft"]
    for i in range(400):
        more = "".join(f" {frames}={ns}" for every, at, frames, ns in others if i % every == at)
        lines.append(f"item worker-{i % 2} {i * 1000000} 0 {RUN}={1000000 + i % 7 * 1000}{more}")
    make(path, lines)
    return json.loads(weft("diagnose", path, "--json").stdout)["types"][0]


def test_names(folder):
    """Whole chains, in whichever stacks: one cause. Threads that do the same work are none."""
    wait = "f:main;f:handle;f:acquire;s:blocked:_futex;t:low"
    holder = "s:preempted;t:middle;f:communicate;s:running"
    kind = slow_ones(os.path.join(folder, "chain.db"),
                     [(50, 3, f"{wait};f:update;f:store;{holder}", 25000000),
                      (50, 7, f"{wait};{holder}", 24000000)])
    said = kind["explanation"].split(". ")[0]
    ok(said.startswith("16 of 400") and "for thread `low`, preempted by thread `middle`" in said
       and "communicate" in said, "a chain is told whole, and is one cause")
    kind = slow_ones(os.path.join(folder, "queue.db"),
                     [(40, 3, f"{wait};f:update;s:running", 9000000),
                      (40, 7, f"{wait.replace('low', 'worker-1')};f:main;f:handle;f:acquire;"
                       "s:blocked:_futex;t:low;f:update;s:running", 9500000)])
    ok(kind["explanation"].startswith("20 of 400") and len(kind["causes"]) == 1,
       "a queue of threads for one lock is one cause")
    kind = slow_ones(os.path.join(folder, "peers.db"),
                     [(20, 5, "f:main;f:handle;s:preempted;t:worker-1;f:main;f:handle;s:running", 3000000)])
    ok(not kind["significant"] and kind["causes"][0]["place"] == "shared"
       and "threads that do the same work" in kind["explanation"], "peers that preempt are no cause")
    kind = slow_ones(os.path.join(folder, "other.db"),
                     [(20, 5, f"f:main;f:handle;{holder}", 3000000)])
    ok(kind["significant"] and "`communicate`" in kind["explanation"].split(". ")[0],
       "another thread of the program is")


def test_sizes(folder):
    """A tail that costs little is called small; what most do is no exception."""
    wait = "f:main;f:handle;f:acquire;s:blocked:_futex;t:low;f:update;s:running"
    kind = slow_ones(os.path.join(folder, "small.db"), [(40, 3, wait, 2500000)])
    ok(kind["significant"] and kind["explanation"].startswith("A small tail: 10 of 400 executions")
       and "which costs 5.9 % of all time" in kind["explanation"] and kind["causes"][0]["small"]
       and abs(kind["causes"][0]["cost_share"] - 0.0587) < 0.001, "a small tail is called that")
    kind = slow_ones(os.path.join(folder, "large.db"), [(40, 3, wait, 25000000)])
    ok(kind["explanation"].startswith("10 of 400 executions") and not kind["causes"][0]["small"]
       and "which costs 38 % of all time" in kind["explanation"], "a large one is not")
    for name, thread, place in (("waiters", "t:worker-1;f:main;f:handle;s:running", "shared"),
                                ("waiting", "t:low;f:update;s:running", "program")):
        kind = slow_ones(os.path.join(folder, f"{name}.db"),
                         [(5, at, f"f:main;f:handle;s:blocked:_futex;{thread}", 1400000) for at in (1, 3)])
        ok(kind["causes"][0]["place"] == place and kind["significant"] == (place == "program"),
           "two of five that wait for threads of the same work" if place == "shared" else "for another")


def test_other_programs(folder):
    """Told in the first sentence if most are slow for them; what is left of many is no cause."""
    other = "f:main;f:handle;s:preempted;o:"
    kind = slow_ones(os.path.join(folder, "hog.db"), [(20, 5, other + "hog;s:running", 9000000)])
    said = kind["explanation"].split(". ")[0]
    ok(not kind["significant"] and said.startswith("Nothing significant in `req` itself: 20 of 400")
       and "20 of them because another program had the CPU: preempted by thread `hog`" in said,
       "another program comes first if nothing else does")
    crowd = [(20, 5, f"f:main;f:handle;f:step{k};s:preempted;o:p{k};f:f{k};s:running", 900000)
             for k in range(8)]
    parse = [(20, at, PARSE, 1100000 if at == 5 else 100000) for at in range(20)]
    kind = slow_ones(os.path.join(folder, "crowd.db"), [*parse, *crowd])
    ok(not kind["significant"], "the lesser part, where all compute, is no cause")


def test_load(folder):
    """What a thread does is told before that it lost its processor there; peers of a thread that is
    waited for; single executions that other programs slow; what only costs little more."""
    page = "f:main;f:handle;f:page;f:draw"
    kind = slow_ones(os.path.join(folder, "stampede.db"),
                     [(50, 3, f"{page};s:running", 12000000),
                      (50, 3, f"{page};s:preempted;t:worker-1;{page};s:running", 13000000)])
    said = kind["explanation"].split(". ")
    ok(kind["significant"] and "page > draw`" in said[0]
       and "preempted" not in said[0] and "preempted by thread `worker-1`" in said[1],
       "who computes for long is told for that, not for losing its processor", kind["explanation"])
    for peer, place in (("db-2", "shared"), ("backup", "program")):
        kind = slow_ones(os.path.join(folder, f"backend-{peer}.db"),
                         [(20, 5, f"f:main;f:handle;f:ask;s:blocked:_network;t:db-1;s:preempted;t:{peer};"
                           "f:serve;f:query;s:running", 3000000)])
        ok(kind["causes"][0]["place"] == place, f"a thread that is waited for loses its processor to {peer}",
           kind["causes"])
    kind = slow_ones(os.path.join(folder, "nameless.db"),
                     [(20, 5, "f:main;f:handle;f:ask;s:blocked:_network;t:worker-8;s:preempted;t:worker-9;"
                       "f:clean;s:running", 3000000)])
    ok(kind["causes"][0]["place"] == "program", "threads that are named as all are may do anything", kind["causes"])
    kind = slow_ones(os.path.join(folder, "once.db"),
                     [(200, 5, "f:main;f:handle;s:preempted;o:zip;f:pack;s:running", 30000000)])
    ok(not kind["significant"] and kind["tail"]["alone"]
       and kind["explanation"].startswith("Nothing significant: 2 of 400")
       and "because another program had the CPU" in kind["explanation"],
       "single ones that another program slows are nothing of this one's", kind["explanation"])
    kind = slow_ones(os.path.join(folder, "mostly.db"),
                     [(200, 5, "f:main;f:handle;s:preempted;o:zip;f:pack;s:running", 12000000)] +
                     [(200, 5, f"f:main;f:handle;f:{name};s:blocked:_futex", 10000000) for name in "pqr"])
    ok(kind["tail"]["alone"] and kind["explanation"].startswith("2 of 400"),
       "but not if that is the lesser part of why they are slow", kind["explanation"])
    kind = slow_ones(os.path.join(folder, "further.db"),
                     [(20, 5, LOCK, 30000000), (100, 7, DISK, 12000000), (40, 11, PARSE, 25000000)])
    ok("parse" in kind["explanation"] and "block device" not in kind["explanation"]
       and any("block device" in cause["cause"] for cause in kind["causes"]),
       "what costs less than a tenth of the first cause is in the list alone", kind["explanation"])


def test_untold(folder):
    """Without a kernel: a wait of which nothing is known, longer where all wait, may be one for a processor."""
    for state in ("blocked:_in_recv", "blocked:_unknown", "blocked:_timer;t:server;f:serve;s:running"):
        reply = f"f:main;f:handle;f:reply;s:{state}"
        kind = slow_ones(os.path.join(folder, "untold.db"),
                         [(20, at, reply, 1600000 if at == 5 else 300000 + 1000 * at) for at in range(20)])
        ok(not kind["significant"] and kind["causes"][0]["place"] == "untold",
           f"{state} for little more than usual is told, but no fault", kind)
        kind = slow_ones(os.path.join(folder, "told.db"), [(20, 5, reply, 30000000)])
        ok(kind["significant"], f"{state} that only slow ones have is")


def rhythm_lines(slow_ms, jitter_ms):
    """A thread that is due every 10 ms takes 3 ms of the processor of one that is every `slow_ms`."""
    draw = random.Random(7)
    lines = ["metric page_faults count", "source often - a.weft"]
    lines += [f"item ctl {i * 10**7} 0 {RUN}={3000000 + i % 7 * 1000}" for i in range(400)]
    lines.append("source seldom - a.weft")
    for i in range(200):
        at = int((i * slow_ms + draw.uniform(0, jitter_ms)) * 10**6)
        lost = "f:main;f:handle;s:preempted;t:ctl;f:main;f:step;s:running=3000000"
        lines.append(f"item tlm {at} 0 {RUN}={1000000 + i % 7 * 1000} {lost if i % 10 == 3 else ''}")
    return lines


def test_rhythms(folder):
    """Who is due more often goes first: that is no fault, if the other is still in time."""
    for slow_ms, jitter_ms, is_fault in ((33, 5, False), (33, 200, True), (3, 0.2, True)):
        path = os.path.join(folder, f"rhythm-{slow_ms}-{jitter_ms}.db")
        make(path, rhythm_lines(slow_ms, jitter_ms))
        kinds = json.loads(weft("diagnose", path, "--json").stdout)["types"]
        kind = next(kind for kind in kinds if kind["type"] == "seldom")
        ok(kind["significant"] == is_fault
           and (kind["causes"][0]["place"] == "due first") == (not is_fault)
           and ("is due more often goes first" in kind["explanation"]) == (not is_fault),
           f"every {slow_ms} ms, {jitter_ms} ms late at most: "
           + ("preemption is a cause" if is_fault else "the other is due first"))


def test_few(folder):
    """Groups that are too small to be trusted, said in words and in JSON."""
    path = os.path.join(folder, "few.db")
    lines, _ = executions(5, 40)
    make(path, ["metric page_faults count", "source req - few.weft", *lines])
    for border, is_small in ((7, True), (12, False)):
        groups = ["--a", f"start<{border}ms", "--b", f"start>={border}ms"]
        verdict = weft("compare", path, *groups).stdout.splitlines()[1]
        answer = json.loads(weft("compare", path, *groups, "--json").stdout)
        told = json.loads(weft("diagnose", path, *groups, "--json").stdout)["types"][0]
        ok(answer["n_a"] == border and answer["too_small"] == told["too_small"] == is_small
           and ("A group of fewer than 10 executions is not to be trusted" in verdict) == is_small,
           f"a group of {border}")


def test_one_place(folder):
    """B waits for a disk now and then; what others take of the processor hides it in the duration."""
    path = os.path.join(folder, "place.db")
    draw = random.Random(8)
    hog = "f:main;f:handle;s:preempted;o:hog;s:running"
    lines = ["metric page_faults count"]
    for tag in "fixed", "broken":
        lines.append(f"source req {tag} {tag}.weft")
        for i in range(500):
            slow = f" {DISK}={2000000 + i}" if tag == "broken" and i % 20 == 3 else ""
            taken = f" {hog}={int(4e7 * draw.random())}" if draw.random() < 0.02 else ""
            lines.append(f"item worker {i * 1000000} 0 {RUN}={int(2e5 * draw.lognormvariate(0, 0.02))}{slow}{taken}")
    make(path, lines)
    groups = ["--a", "tag=fixed", "--b", "tag=broken"]
    answer = json.loads(weft("compare", path, *groups, "--json").stdout)
    ok("slower than A in one place" in answer["verdict"] and "load" in answer["verdict"]
       and "of the whole duration there is no evidence" in answer["verdict"], "one place differs for sure")
    told = json.loads(weft("diagnose", path, *groups, "--json").stdout)["types"][0]
    ok(told["significant"] and "blocked: block device" in told["explanation"].split(". ")[0],
       "which the first sentence of the diagnosis names")
    duration = next(row for row in answer["metrics"] if row["metric"] == "duration")
    ok(duration["p"] == duration["p_adjusted"], "the duration's p is not adjusted")
    ok(all(abs(row["share"] * duration["difference"] - row["difference_ns"]) < 1 for row in answer["differences"]),
       "shares have a sign")


def test_short(folder):
    """Long names of C++, addresses, threads that wait for threads: the first sentence stays short."""
    path = os.path.join(folder, "long.db")
    long = ";".join(f"f:app::Service<std::vector<std::pair<std::string,_int>_>_>::step{k}(std::map<int,_std::string>_const&)"
                    for k in range(6))
    wait = f"f:main;{long};s:blocked:_lock"
    chain = f"{wait};t:one;{long};s:blocked:_lock;t:two;{long};s:blocked:_block_device"
    lines = ["metric page_faults count", "source req - long.weft"]
    for i in range(400):
        slow = f" {chain}=20000000" if i % 20 == 5 else ""
        lines.append(f"item worker {i * 1000000} 0 {RUN}={1000000 + i}{slow}")
    make(path, lines)
    told = json.loads(weft("diagnose", path, "--json").stdout)["types"][0]
    first = told["explanation"].split(". ")[0]
    ok(told["significant"] and "thread `one`" in first and "thread `two`" in first and "block device" in first
       and "step5" in first, "it names the chain")
    ok(len(first) <= 300 and "std::map" not in first, f"in {len(first)} characters")
    ok("std::map<int, std::string> const&" in told["causes"][0]["path"], "the path has whole names")
    blank = os.path.join(folder, "blank.db")
    lines = ["metric page_faults count", "source req - blank.weft"]
    for i in range(400):
        seen = f"{PARSE}=9000000" if i % 80 == 5 else "s:running=9000000"
        slow = f" {seen}" if i % 20 == 5 else ""
        lines.append(f"item worker {i * 1000000} 0 f:main;s:running={1000000 + i}{slow}")
    make(blank, lines)
    kind = json.loads(weft("diagnose", blank, "--json").stdout)["types"][0]
    ok(kind["explanation"].startswith("20 of 400 ") and "handle > parse" in kind["explanation"],
       "what ran in no stack that is known is what was seen")


def test_seems(folder):
    """Runs that prove a difference of durations, and of no context beside all others."""
    path = os.path.join(folder, "seems.db")
    lines = ["metric page_faults count"]
    for run in range(6):
        lines.append(f"source req {'base' if run < 3 else 'new'} run{run}.weft")
        for i in range(20):
            waits = f" {LOCK}={(700, 1000, 1400)[run - 3] * 1000}" if run >= 3 else ""
            small = " ".join(f"f:main;f:step{k};s:running={1000 + (run * 7 + k * 3) % 11}" for k in range(20))
            lines.append(f"item worker {i * 1000000} 0 {RUN}=1000000 {small}{waits}")
    make(path, lines)
    verdict = weft("compare", path, "--a", "tag=base", "--b", "tag=new").stdout.splitlines()[1]
    ok("slower than A" in verdict and "100 % of that seems to be" in verdict and "`journal`" in verdict
       and "(p = 0." in verdict, "a verdict says what its cause seems to be")
    answer = json.loads(weft("compare", path, "--a", "tag=base", "--b", "tag=new", "--json").stdout)
    ok(not any(row["sure"] for row in answer["differences"]), "though no context is sure")


def test_left_out(folder):
    """Damaged and unfinished executions are told."""
    path = os.path.join(folder, "damaged.db")
    lines, _ = executions(8, 60)
    lines[5:7] = [line.replace("item", "unfinished", 1) for line in lines[5:7]]
    lines[9] = lines[9].replace("worker", "lonely", 1)
    make(path, ["metric page_faults count", "source req - some.weft", *lines])
    with sqlite3.connect(path) as database:
        database.execute("DELETE FROM threads WHERE name = 'lonely'")
    database.close()
    for command in (["compare", "--a", "all"], ["diagnose"], ["flame", "-f", "folded"]):
        found = weft(*command, path)
        ok("omitted: 1 execution, damaged" in found.stderr and "2 of 59 executions" in found.stderr,
           f"{command[0]} says what is left out, and what is unfinished")
        ok(weft(*command, "-q", path).stderr == "", f"{command[0]} -q does not")
    parsed = json.loads(weft("compare", path, "--a", "all", "--json").stdout)
    ok(parsed["damaged"] == 1 and parsed["unfinished"] == 2, "compare has it in JSON")
    kind = json.loads(weft("diagnose", path, "--json").stdout)["types"][0]
    ok(kind["damaged"] == 1 and kind["unfinished"] == 2 and kind["executions"] == 59,
       "diagnose has it in JSON")


def test_cut_off(folder):
    """Runs whose executions were not all added, as of a writer that was killed."""
    path = os.path.join(folder, "cut-off.db")
    make(path, ["metric page_faults count", "source req base a.weft", *executions(3, 40)[0],
                "source req new b.weft", *executions(4, 40)[0], "killed"])
    for command in (["compare", "--a", "tag=base", "--b", "tag=new"], ["diagnose"]):
        found = weft(*command, path)
        ok(found.returncode == 0 and "of 1 of 2 runs not all executions are there" in found.stderr,
           f"{command[0]} says whose executions are not all there")
        answer = json.loads(weft(*command, path, "--json").stdout)
        ok((answer if command[0] == "compare" else answer["types"][0])["partial_runs"] == 1,
           f"{command[0]} has it in JSON")


def main():
    with tempfile.TemporaryDirectory() as folder:
        database = os.path.join(folder, "runs.db")
        lines, rows = ["metric page_faults count"], {"base": [], "new": []}
        for tag, parse_ns, seed in (("base", 0, 0), ("new", 100000, 50)):
            for run in range(RUNS):
                more, values = executions(seed + run, 2 * HALF, parse_ns)
                lines += [f"source req {tag} {tag}{run}.weft", *more]
                rows[tag] += values
        make(database, lines)
        test_statistics(database, rows["base"], rows["new"])
        test_gates(database, os.path.join(folder, "report.md"))
        test_words(database)
        test_pictures(database)
        test_errors(database)
        test_hostile(folder)
        test_spread(folder)
        test_rare(folder)
        test_many_contexts(folder)
        test_names(folder)
        test_sizes(folder)
        test_other_programs(folder)
        test_load(folder)
        test_untold(folder)
        test_rhythms(folder)
        test_few(folder)
        test_one_place(folder)
        test_short(folder)
        test_seems(folder)
        test_left_out(folder)
        test_cut_off(folder)
        test_healthy(os.path.join(folder, "calm.db"))
    tap.done()


main()
