#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two hosts whose clocks packets set (Trace Compass' scp example): as two inputs, and as one directory; the
critical path of the client leads to the server's threads on the other host."""
import shutil
import support

support.unpack_all("ctf")
FOLDER = support.TRACES / "ctf" / "ctf-traces"
HOSTS = [FOLDER / "synctraces__scp_src", FOLDER / "synctraces__scp_dest"]
SSH = 7422  # of the first host
SERVERS = {4047, 4048, 4049}  # sshd of the second


def check(store, what):
    info = support.run_json("info", store)
    path = support.run_json("path", store, "--thread", SSH, "--from", "16.326s", "--to", "16.445s")
    notes = [note for note in info["notes"] if note["kind"] == "clock_set"]
    support.ok(len(notes) == 1, f"{what}: one clock is set", info["notes"])
    accuracy_ns = sum(note["count"] for note in notes)
    support.ok(0 < accuracy_ns < 1_000_000, f"{what}: to less than a millisecond", accuracy_ns)
    tids = {segment["tid"] for segment in path["segments"]}
    support.ok(SERVERS <= tids, f"{what}: the client's path leads to the server's threads", tids)
    detail = notes[0]["detail"] if notes else ""
    support.note(f"{what}: {detail}, {accuracy_ns} ns")
    return detail


both = support.WORK / "both.weft"
done = support.run("import", "-q", "-o", both, *HOSTS)
support.ok(done.returncode == 0, "two inputs", done.stderr)
check(both, "two inputs")

folder = support.WORK / "hosts"
for host in HOSTS:
    shutil.copytree(host, folder / host.name)
one = support.WORK / "one.weft"
done = support.run("import", "-q", "-o", one, folder)
support.ok(done.returncode == 0, "one directory", done.stderr)
detail = check(one, "one directory")
support.ok("-0.080" in detail or "+0.080" in detail, "they are 0.08 s apart by the wall clock", detail)

given = support.WORK / "given.weft"
done = support.run("import", "-q", "-o", given, "--offset", "0,1s", *HOSTS)
notes = support.run_json("info", given)["notes"]
support.ok(all(note["kind"] != "clock_set" for note in notes), "an offset that is given counts alone", notes)
support.done()
