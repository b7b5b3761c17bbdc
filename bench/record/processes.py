#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a process costs that is recorded: its time, its CPU time, and the recorder's.

usage: bench/record/processes.py [-b BUILD]... [-n ROUNDS] [-p PROCESSES]

Several builds are run in turn, so that they compare on a machine with other work. Medians of rounds, but
for the least time of all.
"""
import argparse
import pathlib
import re
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOWS = ("exec", "spawn", "fork")
MODES = {"recorded": [], "--no-kernel": ["--no-kernel"], "--no-locks": ["--no-locks"]}


def measure(program, how, n, weft=None, options=()):
    """Least, median and CPU time of one, and the recorder's CPU time of one, in microseconds."""
    command = [program, how, str(n)]
    if weft:
        command = [weft, "record", "--force", "-o", "bench.weft", *options, "--", *command]
    with tempfile.TemporaryDirectory() as folder:
        got = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    recorder = re.search(r"recorder ([\d.]+) ms CPU", got.stderr)
    return [float(word) for word in got.stdout.split()] + [float(recorder[1]) * 1e3 / n if recorder else 0]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-b", "--build", action="append")
    parser.add_argument("-n", "--rounds", type=int, default=7)
    parser.add_argument("-p", "--processes", type=int, default=200)
    args = parser.parse_args()
    builds = [pathlib.Path(build).absolute() for build in args.build or [ROOT / "build/release"]]
    configurations = [("alone", None, ())]
    configurations += [(f"{name}, {build.name}", build / "weft", options)
                       for name, options in MODES.items() for build in builds]
    print("| started by | | least µs | median µs | CPU µs | recorder's CPU µs |\n"
          "| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/processes"
        subprocess.run(["cc", "-O1", "-D_GNU_SOURCE", "-o", program, ROOT / "bench/record/processes.c"],
                       check=True)
        for how in HOWS:
            found = {name: [] for name, _, _ in configurations}
            for _ in range(args.rounds):
                for name, weft, options in configurations:
                    found[name].append(measure(program, how, args.processes, weft, options))
            for name, rounds in found.items():
                least, *medians = zip(*rounds)
                print(f"| {how} | {name} | {min(least):.0f} | "
                      + " | ".join(f"{statistics.median(values):.0f}" for values in medians) + " |")


main()
