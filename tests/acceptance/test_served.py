# SPDX-License-Identifier: MIT
"""The served page over a real trace, in a browser: what it answers is what the command line does, the
three tasks of the NonSequitur study among it."""
import subprocess
import sys

from support import ROOT, WEFT, done, import_trace, unpack

TRACE = "wt_evict_whole_medium.fdr"
MAP = "wtperf_xray.map.yaml"

folder = unpack(TRACE, MAP)
store = import_trace(folder / TRACE, "served", "--map", folder / MAP)
if store is None:
    done()
test = subprocess.run(["node", "tests/browser/served.mjs", WEFT, store], cwd=ROOT / "ui",
                      stdin=subprocess.DEVNULL, check=False)
sys.exit(test.returncode)
