#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What recording the kernel costs the recorded program.

usage: bench/record/kernel.py [-n RUNS] [-b BUILD] [--table] [PROGRAM...]

The five configurations of TraceCompare (nothing; scheduling; and the stacks of waits; and samples;
everything, with copies of stacks), weft's perf events, and perf itself with and without stacks, run
in turn, RUNS times, on programs of a fixed amount of work. CPU time is that of the program and its
children (of redis: of server and client); the recorder's own is shown beside it. `sysbench threads`
does not do the same work twice, so its time a switch of its threads is shown, too. Medians; changes
are medians of the ratios to the unrecorded run of the same round, with their 95 % intervals.
--table writes the rows into docs/performance-record.md.
"""
import argparse
import os
import pathlib
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "performance-record.md"
CONFIGURATIONS = {
    "nothing": ["none"],
    "scheduling": ["requests"],
    "+ stacks of waits": ["requests", "waits"],
    "+ samples 997 Hz": ["requests", "waits", "samples"],
    "everything": ["requests", "waits", "samples", "copies", "network", "faults"],
    "by perf events": ["requests", "samples", "perf"],
}
PERF = {"perf sched:*": [], "perf sched:* -g": ["-g"]}
HEAD = ("| program | recorded | CPU ms | | wall ms | | CPU µs a switch | recorder's CPU ms | records "
        "| MB | lost |")
PORT = "7399"
REDIS = (f"redis-server --port {PORT} --save '' --appendonly no --daemonize no >/dev/null & s=$!; "
         f"until redis-cli -p {PORT} ping >/dev/null 2>&1; do sleep 0.02; done; "
         f"redis-benchmark -p {PORT} -q -n 60000 -c 20 -t get >/dev/null; kill $s; wait $s")
PROGRAMS = {
    "sysbench cpu": "sysbench --threads=2 --events=2500 --time=0 cpu run >/dev/null",
    "find": "find /usr /usr >/dev/null",
    "trace reader": "$WEFT export --format csv $TRACE >/dev/null",
    "redis": REDIS,
    "sysbench threads": "sysbench --threads=8 --events=700 --time=0 threads run >/dev/null",
}


def by_weft(bench, options, command):
    done = subprocess.run([bench, *options, "out=/dev/null", "sh", "-c", command],
                          stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, check=True)
    found = re.search(rb"^RUN (.*)$", done.stderr, re.M)
    words = found[1].decode().split()
    return dict(zip(words[::2], map(int, words[1::2])))


def by_perf(options, command):
    """perf's own time cannot be told from the program's by rusage: the shell tells of itself."""
    with tempfile.TemporaryDirectory() as folder:
        told = pathlib.Path(folder) / "times"
        shell = f"{command}\ntimes >{told}"
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begin = time.monotonic_ns()
        subprocess.run(["perf", "record", "-q", "-a", *options, "-e", "sched:*", "-o",
                        f"{folder}/data", "sh", "-c", shell], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wall = time.monotonic_ns() - begin
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        total = sum(b - a for a, b in zip(before[:2], after[:2]))
        minutes = re.findall(r"(\d+)m([\d.]+)s", told.read_text(encoding="ascii"))
        own = sum(60 * int(m) + float(s) for m, s in minutes)
        return {"wall_ns": wall, "target_ns": int(own * 1e9),
                "recorder_ns": int((total - own) * 1e9),
                "bytes": os.path.getsize(f"{folder}/data"), "records": 0, "lost": 0, "switches": 0}


def measure(bench, command, n_runs):
    """Each configuration has each place in the round equally often: a program that runs right after
    the idle seconds of another runs faster than one that follows on work."""
    ways = [(name, by_weft, (bench, options, command)) for name, options in CONFIGURATIONS.items()]
    ways += [(name, by_perf, (options, command)) for name, options in PERF.items()]
    runs = {name: [] for name, _, _ in ways}
    for number in range(n_runs):
        for place in range(len(ways)):
            name, run, arguments = ways[(number + place) % len(ways)]
            runs[name].append(run(*arguments))
    return runs


def interval(values, n_samples=2000):
    """The 95 % interval of the median, by bootstrap."""
    dice = random.Random(1)
    medians = sorted(statistics.median(dice.choices(values, k=len(values)))
                     for _ in range(n_samples))
    return medians[n_samples // 40], medians[-1 - n_samples // 40]


def rows(program, runs):
    def median(name, key):
        return statistics.median(run[key] for run in runs[name])

    def change(name, key):
        if name == "nothing":
            return "-"
        ratios = [run[key] / base[key] - 1 for run, base in zip(runs[name], runs["nothing"])]
        low, high = interval(ratios)
        return f"{100 * statistics.median(ratios):+.1f} % ({100 * low:+.1f} to {100 * high:+.1f})"

    def a_switch(name):
        if not all(run["switches"] for run in runs[name]):
            return "-"
        each = statistics.median(run["target_ns"] / run["switches"] for run in runs[name])
        return f"{each / 1000:.2f}"

    for name in runs:
        yield (f"| {program} | {name} | {median(name, 'target_ns') / 1e6:.0f} | "
               f"{change(name, 'target_ns')} | {median(name, 'wall_ns') / 1e6:.0f} | "
               f"{change(name, 'wall_ns')} | {a_switch(name)} | "
               f"{median(name, 'recorder_ns') / 1e6:.0f} | "
               f"{median(name, 'records'):.0f} | {median(name, 'bytes') / 1e6:.1f} | "
               f"{max(run['lost'] for run in runs[name])} |")


def make_trace(build, folder):
    """What the trace reader reads, and by what."""
    os.environ["WEFT"] = f"{build}/weft"
    os.environ["TRACE"] = f"{folder}/made.weft"
    subprocess.run([f"{build}/bench/bench_generate", "-c", "2000", "4000000", f"{folder}/made.fdr"],
                   check=True)
    subprocess.run([f"{build}/weft", "import", "-q", "-o", os.environ["TRACE"], "--map",
                    f"{folder}/made.fdr.tsv", f"{folder}/made.fdr"], check=True,
                   stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("-n", type=int, default=9)
    parser.add_argument("-b", default=str(ROOT / "build" / "release"))
    parser.add_argument("--table", action="store_true")
    parser.add_argument("programs", nargs="*", default=list(PROGRAMS))
    options = parser.parse_args()
    bench = f"{options.b}/bench/record/bench_record_kernel"
    table = []
    folder = tempfile.TemporaryDirectory()
    if "trace reader" in options.programs:
        make_trace(options.b, folder.name)
    for program in options.programs:
        table += rows(program, measure(bench, PROGRAMS[program], options.n))
        print("\n".join(table[-len(CONFIGURATIONS) - len(PERF):]), flush=True)
    if options.table:
        text = PAGE.read_text(encoding="utf-8")
        head, rest = text.split("<!-- kernel -->\n", 1)
        tail = rest.split("<!-- end kernel -->", 1)[1]
        PAGE.write_text(f"{head}<!-- kernel -->\n{HEAD}\n|{' --- |' * HEAD.count(' |')}\n" +
                        "\n".join(table) + "\n<!-- end kernel -->" + tail, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
