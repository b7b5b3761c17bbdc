#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""weft shapes, from outside: every view agrees with a plain reading of the definitions, with every
other view, and with itself in all formats. usage: test_shapes.py WEFT"""
import collections
import csv
import functools
import io
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tap  # noqa: E402
from tap import ok  # noqa: E402

WEFT = sys.argv[1]
SEED = int(os.environ.get("WEFT_SEED", "1"))
NAMES = ["main", "get", "put", "hash", "lock", "log"]




def weft(*arguments):
    return subprocess.run([WEFT, *map(str, arguments)], capture_output=True, check=False)


def shapes(*arguments):
    done = weft("shapes", "--json", *arguments)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.decode())
    return json.loads(done.stdout)


def rows_of(*arguments):
    done = weft("shapes", "--format", "csv", *arguments)
    return list(csv.DictReader(io.StringIO(done.stdout.decode())))


# ---- a trace, and its shapes by definition -----------------------------------------------------

unique = {}


def shape_of(name, children):
    """One object for equal shapes: Python compares others member by member, to the leaves."""
    shape = (name, frozenset(children))
    return unique.setdefault(shape, shape)


def write_trace(path, rng, n_roots):
    """Calls that mostly repeat a few patterns, in the text format of NonSequitur."""
    now = 1000
    lines = []

    def call(name, depth):
        nonlocal now
        now += rng.randint(1, 9)
        lines.append(f"0 {name} {now}")
        children = []
        n_children = rng.choice([0, 1, 1, 2, 3]) if depth < 4 else 0
        for child in rng.sample(NAMES[1:], min(n_children, len(NAMES) - 1)):
            for _ in range(rng.choice([1, 1, 2, 5])):
                children.append(call(child, depth + 1))
        now += 5000 if rng.random() < 0.02 else rng.randint(1, 9)
        lines.append(f"1 {name} {now}")
        return (name, frozenset(children))

    for _ in range(n_roots):
        call("main", 0)
    path.write_text("\n".join(lines) + "\n")


def read_calls(path):
    """(shape, start, end, {child shape: repetitions}) of every call; a shape is (name, set)."""
    stack, calls = [], []
    for line in path.read_text().splitlines():
        kind, name, at = line.split()
        if kind == "0":
            stack.append((int(at), {}))
            continue
        start, children = stack.pop()
        shape = shape_of(name, children)
        calls.append((shape, start, int(at), children))
        if stack:
            stack[-1][1][shape] = stack[-1][1].get(shape, 0) + 1
    return calls


@functools.lru_cache(maxsize=None)
def distance(a, b):
    """In half units; None is null."""
    if a is None and b is None:
        return 0
    function = 1 if a is None or b is None else 0 if a[0] == b[0] else 2
    left = (set(a[1]) if a else set()) | {None}
    right = (set(b[1]) if b else set()) | {None}
    return function + max(max(min(distance(x, y) for y in right) for x in left),
                          max(min(distance(x, y) for x in left) for y in right))


@functools.lru_cache(maxsize=None)
def descendants(shape):
    return frozenset(shape[1]).union(*(descendants(child) for child in shape[1]))


def depth_of(shape):
    return 1 + max((depth_of(child) for child in shape[1]), default=0)


def first_fit(ordered, threshold):
    clusters = []
    for shape in ordered:
        for cluster in clusters:
            if all(shape[0] == other[0] and distance(shape, other) <= threshold and
                   shape not in descendants(other) and other not in descendants(shape)
                   for other in cluster):
                cluster.append(shape)
                break
        else:
            clusters.append([shape])
    return clusters


# ---- tests -------------------------------------------------------------------------------------


def by_id(shape_list):
    """The shapes that weft's ids stand for."""
    known = {}
    for row in sorted(shape_list, key=lambda row: row["id"]):
        known[row["id"]] = shape_of(row["function"], [known[child["id"]] for child in row["children"]])
    return known


def check_shapes(trace, threads):
    listed = shapes("--list-shapes", trace)
    known = by_id(listed["shape_list"])
    calls = [call for thread in threads for call in thread]
    ok(set(known.values()) == {call[0] for call in calls} and len(set(known.values())) ==
       len(known), "every shape once")
    wrong = []
    calls_of = collections.defaultdict(list)
    for call in calls:
        calls_of[call[0]].append(call)
    for row in listed["shape_list"]:
        mine = calls_of[known[row["id"]]]
        times = [end - start for _, start, end, _ in mine]
        if (row["count"], row["total_ns"], row["min_ns"], row["max_ns"]) != \
           (len(mine), sum(times), min(times), max(times)):
            wrong.append(row)
        for child in row["children"]:
            repeats = [call[3][known[child["id"]]] for call in mine]
            if (child["min"], child["max"]) != (min(repeats), max(repeats)) or \
               abs(child["mean"] - sum(repeats) / len(repeats)) > 1e-9:
                wrong.append(child)
    ok(not wrong, "calls, times and repetitions", wrong[:2])
    order = sorted(known, key=lambda i: (depth_of(known[i]), known[i][0], sorted(
        row["id"] for row in listed["shape_list"] if known[row["id"]] in known[i][1])))
    ok(order == sorted(known), "ids in canonical order")
    return known


def check_tables(trace, known, threads):
    summary = shapes(trace)
    clusters = first_fit([known[i] for i in sorted(known)], 3)
    kept = [cluster for cluster in clusters if any(shape[1] for shape in cluster)]
    ok(summary["clusters"] == len(kept) and summary["clusters_with_trivial"] == len(clusters),
       "clusters by first fit", (summary["clusters"], len(kept)))
    ok([sorted(row["shape_ids"]) for row in sorted(summary["cluster_list"], key=lambda r: r["id"])]
       == [sorted(i for i in known if known[i] in cluster) for cluster in kept], "their members")
    ok(summary["shapes"] == sum(1 for shape in known.values() if shape[1]) ==
       sum(row["new_shapes"] for row in summary["threads"]) ==
       summary["threads"][-1]["all_shapes"], "shapes, new ones, all")
    for row, thread in zip(summary["threads"], threads):
        mine = {call[0] for call in thread if call[0][1]}
        ok(row["shapes"] == len(mine) and row["calls"] == len(thread), f"shapes of {row['tid']}")
        ok(row["clusters"] == sum(1 for cluster in kept if any(
            call[0] in cluster for call in thread)), f"clusters of {row['tid']}")
    wrong = []
    for row in summary["cluster_list"]:
        members = {known[i] for i in row["shape_ids"]}
        times = sorted(end - start for thread in threads for shape, start, end, _ in thread if shape in members)
        rank = lambda share: times[max(0, -(-len(times) * share // 1000) - 1)]
        if (row["count"], row["total_ns"], row["p50_ns"], row["p90_ns"], row["p99_ns"], row["p999_ns"],
                row["max_ns"]) != (len(times), sum(times), rank(500), rank(900), rank(990), rank(999),
                                   times[-1]) or row["stddev_ns"] != deviation(times):
            wrong.append(row)
    ok(not wrong, "statistics of clusters", wrong[:1])
    totals = [row["total_ns"] for row in summary["cluster_list"]]
    ok(totals == sorted(totals, reverse=True), "longest first")
    return summary


def check_distances(trace, known, rng):
    for _ in range(4):
        shape = rng.choice(sorted(known))
        bound = rng.choice([1, 2, 3, 4])
        near = shapes("--near", shape, bound / 2, trace)["near"]
        want = sorted((distance(known[shape], known[i]), i) for i in known
                      if i != shape and distance(known[shape], known[i]) <= bound)
        ok([(int(row["distance"] * 2), row["id"]) for row in near] == want,
           f"shapes within {bound / 2} of {shape}")
        other = rng.choice(sorted(known))
        pair = shapes("--diff", shape, other, trace)
        ok(pair["distance"] * 2 == distance(known[shape], known[other]),
           f"distance of {shape} and {other}")
        ok(all(row["distance"] * 2 == distance(known.get(row["a"]), known.get(row["b"]))
               for row in pair["pairs"]), "and of all pairs below")
        critical = [row for row in pair["pairs"] if row["critical"]]
        ok(bool(critical) == (shape != other), "something makes it up")


def deviation(times):
    return int(statistics.pstdev(times) + 0.5)


def bin_begin(ns):
    """Up to 15 ns one value a bin; above, eight of each power of two."""
    return ns if ns < 16 else ns >> (ns.bit_length() - 4) << (ns.bit_length() - 4)


def check_durations(card, known, threads):
    calls = [call for thread in threads for call in thread]
    inside = {known[shape["id"]] for shape in card["shapes"]}
    times = [end - start for shape, start, end, _ in calls if shape in inside]
    bins = collections.Counter(bin_begin(ns) for ns in times)
    ok([(row["from_ns"], row["count"]) for row in card["bins"]] == sorted(bins.items()),
       "its histogram", card["bins"][:3])
    ok(all(bin_begin(row["to_ns"]) == row["to_ns"] and bin_begin(row["to_ns"] - 1) ==
           row["from_ns"] for row in card["bins"]), "whose bins end where the next begin")
    ok((card["mean_ns"], card["stddev_ns"]) == (sum(times) // len(times), deviation(times)),
       "mean and deviation")
    times = [end - start for shape, start, end, _ in calls if shape[0] == card["function"]]
    ok((card["function_count"], card["function_total_ns"], card["function_mean_ns"],
        card["function_stddev_ns"]) == (len(times), sum(times), sum(times) // len(times),
                                        deviation(times)), "and those of its function")


def check_card(trace, known, summary, threads):
    row = max(summary["cluster_list"], key=lambda row: row["shapes"])
    card = shapes("--cluster", row["id"], trace)["cluster"]
    check_durations(card, known, threads)
    ok(all(card[key] == row[key] for key in ["function", "count", "total_ns", "spikes"]),
       "a card says what the list says")
    ok(sum(thread["count"] for thread in card["threads"]) == row["count"], "threads sum up")

    def lines(shape, seen):
        if shape in seen or not shape[1]:
            return 1
        seen.add(shape)
        return 1 + sum(lines(child, seen) for child in shape[1])

    ok(all(len(drawn["nodes"]) == lines(known[drawn["id"]], set()) for drawn in card["shapes"]),
       "trees are whole")
    cut = shapes("--cluster", row["id"], "-n", 2, trace)["cluster"]
    ok(all(len(drawn["nodes"]) <= 2 and
           len(drawn["nodes"]) + drawn["nodes_cut"] == lines(known[drawn["id"]], set())
           for drawn in cut["shapes"]), "or cut, and say by how much")
    text = weft("shapes", "--cluster", row["id"], trace).stdout.decode()
    command = text[text.index("\n  slowest "):].splitlines()[2].split("weft ", 1)[1]
    span = json.loads(weft(*command.split(), "--json").stdout)
    ok(span["to_ns"] - span["from_ns"] == row["max_ns"], "the command it gives shows that call")


def check_formats(trace, summary):
    listed = rows_of(trace)
    ok([int(row["id"]) for row in listed] == [row["id"] for row in summary["cluster_list"]],
       "CSV has the same clusters")
    for option in ["--verify", "--list-shapes", "--threads", "--spikes", "--drops", "--rare"]:
        data = shapes(option, trace)
        rows = next(value for key, value in data.items() if isinstance(value, list))
        table = rows_of(option, trace)
        ok(len(table) == len(rows) and all(
            str(row[key]) == line[key] for row, line in zip(rows, table) for key in line
            if isinstance(row[key], (int, str)) and not isinstance(row[key], bool)),
           f"{option}: CSV is JSON")
        ok(weft("shapes", option, trace).returncode == 0, f"{option}: text")
        ok(shapes(option, "-j", 1, trace) == shapes(option, "-j", 4, trace), f"{option}: -j")


def check_exclude(trace, folder, files):
    """Leaving a function out is as if the program had not recorded it."""
    done = shapes("--exclude", "/^(lock|log)$/", "--list-shapes", trace)
    kept = []
    for path in files:
        kept.append(folder / ("kept-" + path.name.rsplit("-", 1)[1]))
        lines = [line for line in path.read_text().splitlines()
                 if line.split()[1] not in ("lock", "log")]
        kept[-1].write_text("\n".join(lines) + "\n")
    weft("import", "-q", "-o", folder / "kept.weft", *kept)
    other = shapes("--list-shapes", folder / "kept.weft")
    keys = ["id", "function", "count", "total_ns", "children", "cluster"]
    ok([[row[key] for key in keys] for row in sorted(done["shape_list"], key=lambda r: r["id"])] ==
       [[row[key] for key in keys] for row in sorted(other["shape_list"], key=lambda r: r["id"])],
       "--exclude")
    ok(done["excluded_calls"] == sum(
        line.split()[:2] in (["0", "lock"], ["0", "log"])
        for path in files for line in path.read_text().splitlines()), "excluded calls are counted")
    text = weft("shapes", "--exclude", "", trace).stdout.decode()
    ok("no shape: all functions match ''" in text, "everything excluded", text)


def check_versus(trace, files, threads):
    for path in files[:2]:
        weft("import", "-q", "-o", path.with_suffix(".weft"), path)
    a, b = (path.with_suffix(".weft") for path in files[:2])
    done = shapes("--new-in", a, "--vs", b)
    mine, other = ({call[0] for call in thread if call[0][1]} for thread in threads[:2])
    known = [by_id(shapes("--list-shapes", path)["shape_list"]) for path in (a, b)]
    new = {known[0][row["shape_a"]] for row in done["shape_changes"] if row["kind"] == "new"}
    gone = {known[1][row["shape_b"]] for row in done["shape_changes"] if row["kind"] == "gone"}
    ok(new == mine - other and gone == other - mine, "new and gone shapes")
    ok(done["shapes_in_both"] == len(mine & other) and done["shapes"] == len(mine | other),
       "shapes of both")
    for row in done["shape_changes"]:
        rate = (row["count_a"] / done["a"]["to_ns"]) / (row["count_b"] / done["b"]["to_ns"]) \
            if row["count_a"] and row["count_b"] else None
        if rate and not (abs(row["times_rate"] / rate - 1) < 1e-9 and (rate >= 2 or rate <= 0.5)):
            ok(False, "a rate", row)
    same = shapes("--vs", trace, trace)
    ok(not same["shape_changes"] and not same["cluster_changes"], "a trace against itself")
    half = shapes("--vs", "@-50us", "--from", "50us", trace)
    word = shapes("--new-in", "@50us-", "--vs", "@-50us", trace)
    ok(half["shape_changes"] == word["shape_changes"] and half["b"]["to_ns"] == 50000,
       "parts by --from or in the word")
    for arguments in [["--new-in", a], ["--new-in", a, "--vs", b, trace], ["--vs", "@", trace],
                      ["--vs", b], ["--new-in", a, "--vs", b, "--from", "1s"],
                      ["--vs", b, "--rare", trace]]:
        ok(weft("shapes", *arguments).returncode == 2, f"refused: {arguments[0]}, {len(arguments)}")
    ok(b"nowhere.weft" in weft("shapes", "--vs", "nowhere.weft", trace).stderr, "a missing B")


def check_usage(trace, summary):
    refused = [
        (["--spikes", "--drops"], 2, "exclude each other"),
        (["--cluster", "x"], 2, "--cluster: expected a whole number"),
        (["--diff", "1"], 2, "--diff: expected a whole number"),
        (["--near", "1", "0.7"], 2, "in steps of 0.5"),
        (["--threshold", "1.2"], 2, "in steps of 0.5"),
        (["--threshold", "-1"], 2, "from 0 to 1000"),
        (["--list-shapes", "--sort", "p50"], 2, "of clusters"),
        (["--cluster", "999999"], 1, f"expected 0 to {summary['clusters_with_trivial'] - 1}"),
        (["--diff", "0", "999999"], 1, f"expected 0 to {summary['shapes_with_trivial'] - 1}"),
        (["--near", "999999", "1"], 1, "no shape 999999"),
        (["--exclude", "/(/"], 1, "regular expression"),
        (["--from", "2s", "--to", "1s"], 1, "starts before"),
    ]
    for arguments, status, text in refused:
        done = weft("shapes", *arguments, trace)
        ok(done.returncode == status and text in done.stderr.decode() and not done.stdout,
           f"refused: {' '.join(arguments)}", done.stderr.decode())


def check_options(trace):
    ok(shapes("--threshold", 0, trace)["clusters_with_trivial"] ==
       shapes(trace)["shapes_with_trivial"], "at threshold 0 every shape is a cluster")
    few = shapes("--min-count", 10, trace)
    ok(all(row["count"] >= 10 for row in few["cluster_list"]), "--min-count")
    ok(len(shapes("-n", 2, trace)["cluster_list"]) == 2, "--limit")
    for key, field in [("count", "count"), ("mean", "mean_ns"), ("p50", "p50_ns"),
                       ("p99", "p99_ns"), ("max", "max_ns"), ("threads", "threads"),
                       ("shapes", "shapes"), ("surprise", "surprise")]:
        values = [row[field] for row in shapes("--sort", key, trace)["cluster_list"]]
        ok(values == sorted(values, reverse=True), f"--sort {key}")
    for key, field in [("first", "first_ns"), ("id", "id")]:
        values = [row[field] for row in shapes("--sort", key, trace)["cluster_list"]]
        ok(values == sorted(values), f"--sort {key}")
    one = shapes("--tid", 12, trace)
    ok([row["tid"] for row in one["threads"]] == [12], "--tid")
    checks = shapes("--verify", trace)["checks"]
    ok(len(checks) == 5 and all(row["checked"] > 0 and row["wrong"] == 0 for row in checks),
       "--verify", checks)
    part = shapes("--from", "20us", "--to", "40us", trace)
    ok(part["from_ns"] == 20000 and part["to_ns"] == 40000 and
       part["calls"] < shapes(trace)["calls"], "a part")


def main():
    with tempfile.TemporaryDirectory(dir=os.environ.get("WEFT_BUILD_ROOT")) as name:
        folder = pathlib.Path(name)
        rng = random.Random(SEED)
        files = [folder / f"t-{tid}.txt" for tid in (11, 12, 13)]
        for path in files:
            write_trace(path, rng, 60)
        trace = folder / "t.weft"
        done = weft("import", "-q", "-o", trace, *files)
        ok(done.returncode == 0, "a trace", done.stderr.decode())
        threads = [read_calls(path) for path in files]
        known = check_shapes(trace, threads)
        summary = check_tables(trace, known, threads)
        check_distances(trace, known, rng)
        check_card(trace, known, summary, threads)
        check_formats(trace, summary)
        check_exclude(trace, folder, files)
        check_versus(trace, files, threads)
        check_usage(trace, summary)
        check_options(trace)
    tap.done()


main()
