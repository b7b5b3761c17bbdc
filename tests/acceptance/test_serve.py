#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""weft serve on real traces: the checks of tests/cli/test_serve.py, which compare every answer with
the commands and with a plain look at all calls."""
import subprocess
import sys

import support


def main():
    folder = support.unpack("wt_update_whole_small.fdr", "wtperf_xray.funcs.tsv",
                            "synth_events.fdr", "synth_events.funcs.tsv")
    for name, names in (("synth_events", "synth_events"),
                        ("wt_update_whole_small", "wtperf_xray")):
        store = support.import_trace(folder / f"{name}.fdr", name, "--map",
                                     folder / f"{names}.funcs.tsv")
        if not store:
            continue
        done = subprocess.run([sys.executable, support.ROOT / "tests" / "cli" / "test_serve.py",
                               support.WEFT, store], stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        bad = [line for line in done.stdout.splitlines() if not line.startswith("ok ")]
        support.ok(done.returncode == 0, f"weft serve {name}", "\n".join(bad[:20]))
    support.done()


main()
