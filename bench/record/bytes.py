#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How many bytes a call takes in the rings, of programs that were built with -finstrument-functions or
-fxray-instrument, and why it is more than 8: how many records came late and had a TIME before them,
how many were of a function without a number.

usage: bench/record/bytes.py [-b BUILD] COMMAND...

Prints a row of a table. Nobody reads the rings meanwhile: they are as large as they can be (512 MiB a
thread at most), and what found no room is said.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
import ring_reader  # noqa: E402

TIME_BYTES, FAR_BYTES, UNIT_BYTES = 8, 16, 4


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-b", "--build", default=str(ROOT / "build/release"))
    parser.add_argument("command", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    library = os.path.abspath(f"{args.build}/src/record/runtime/libweft-functions.so")
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        env = {**os.environ, "WEFT_RECORD": folder, "LD_PRELOAD": library, "WEFT_RECORD_SLOTS": "64",
               "WEFT_RECORD_WORDS": str(1 << 26)}
        subprocess.run(args.command, env=env, check=False, stdout=subprocess.DEVNULL)
        n_bytes = n_records = n_far = n_lost = n_functions = 0
        for ring in ring_reader.rings(folder):
            n_functions += ring.n_functions() - 1
            for slot in ring.slots():
                n_bytes += UNIT_BYTES * slot.head
                n_lost += slot.lost
                for event in slot.events():
                    n_records += 1
                    n_far += bool(event.words)
    n_times = (n_bytes - UNIT_BYTES * n_records - (FAR_BYTES - UNIT_BYTES) * n_far) / TIME_BYTES
    print("| program | calls | functions | bytes a call | TIMEs of 1000 records | FAR | lost |\n"
          "| --- | --- | --- | --- | --- | --- | --- |\n"
          f"| {' '.join(args.command)} | {n_records / 2:.0f} | {n_functions} | "
          f"{2 * n_bytes / max(n_records, 1):.3f} | {1000 * n_times / max(n_records, 1):.2f} | {n_far} | "
          f"{n_lost} |")


main()
