# SPDX-License-Identifier: MIT
"""Text of perf script and trace-cmd report against the recordings that they print. Skipped without the
programs. Prints TAP."""
import json
import shutil
import subprocess

import support
from support import ok


def info(source, name):
    stored = support.WORK / f"{name}.weft"
    subprocess.run([support.WEFT, "import", "-q", source, "-o", stored], check=True,
                   stdout=subprocess.DEVNULL)
    return json.loads(subprocess.check_output([support.WEFT, "info", "--json", stored]))


def compare(name, recording, command):
    text = support.WORK / f"{recording.name}.txt"
    with open(text, "w", encoding="utf-8") as out:
        subprocess.run([*command, recording], stdout=out, stderr=subprocess.DEVNULL, check=True)
    told, known = info(text, "told"), info(recording, "known")
    kinds = told["events_by_kind"]
    for kind, count in known["events_by_kind"].items():
        ok(kinds.get(kind, 0) == count, f"{name}: {kind}", f"{kinds.get(kind, 0)} instead of {count}")
    ok(set(kinds) == set(known["events_by_kind"]), f"{name}: kinds of events", kinds)
    # perf.data begins with records that are no events.
    less_ns = known["duration_ns"] - told["duration_ns"]
    ok(abs(less_ns) <= 1000 or (less_ns > 0 and known["format"] == "perf.data"), f"{name}: duration",
       f"{less_ns} ns less")
    tids = [{t["tid"] for t in one["thread_list"] if t["events"]} for one in (told, known)]
    ok(tids[0] == tids[1], f"{name}: threads", tids[0] ^ tids[1])


RUN = "kernel/case2_disk_bug"
support.unpack_all(RUN)
for program, file, command in (
        ("perf", "perf.data", ["perf", "script", "--ns", "-i"]),
        ("trace-cmd", "trace.dat", ["trace-cmd", "report", "-t"])):
    if shutil.which(program):
        compare(command[1] if program == "perf" else program, support.TRACES / RUN / file, command)
    else:
        ok(True, f"{program} # SKIP is not installed")
support.done()
