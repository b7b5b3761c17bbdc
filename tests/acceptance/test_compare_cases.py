# SPDX-License-Identifier: MIT
"""Comparison and diagnosis over recorded runs whose causes are known: named in the first sentence of
each broken variant, nothing significant of the fixed ones, two causes as two groups, builds against
each other in a database; and the statistics of the demo, computed elsewhere."""
import json
import re
import subprocess
import sys

from support import SHARED, WORK, done, note, ok, run, run_json, unpack_all

MADE = sys.argv[1]
CASES = SHARED / "cases" / "compare"

# Run, type (None: the first that is told), what the first sentence must name.
BROKEN = [
    ("case1_cpu_bug", None, ["preempted by thread `tlm-30hz`", "telemetry_encode"]),
    ("case2_disk_bug", None, ["blocked: block device", "thread `logger`", "fsync"]),
    ("case3_lock_bug", None, ["apply_insert", "thread `journal`", "remap_private_view"]),
    ("case4_sleep_bug", None, ["blocked: timer", "wait_before_retry"]),
]
FIXED = [("case1_cpu_fixed", "ctl-100hz"), ("case1_cpu_fixed", None), ("case3_lock_fixed", None)]


def nameless_store(name):
    """The trace of a run whose programs are not at hand."""
    folder = next(unpack_all(f"kernel/{name}")[0].rglob("truth.tsv")).parent
    store = WORK / f"{name}-nameless.weft"
    if not store.exists():
        run("import", "-q", "-o", store, folder / "perf.data")
    return store


def named_store(name):
    """The trace of a run, with the names of its programs."""
    folder = next(unpack_all(f"kernel/{name}")[0].rglob("truth.tsv")).parent
    programs = next(unpack_all("kernel/programs")[0].rglob("*.c"), folder).parent
    store = WORK / f"{name}-named.weft"
    if not store.exists():
        made = run("import", "-q", "-o", store, folder / "perf.data", "--symbols", programs)
        if made.returncode:
            note(made.stderr)
    return store


def diagnose(store, kind):
    return run_json("diagnose", store, *(["--type", kind] if kind else []))["types"]


def first_sentence(text):
    return text.split(". ")[0]


def check_broken():
    for name, kind, wanted in BROKEN:
        found = diagnose(named_store(name), kind)[0]
        sentence = first_sentence(found["explanation"])
        ok(found["significant"] and all(word in sentence for word in wanted),
           f"{name}: the first sentence names {', '.join(wanted)}", sentence)
    found = diagnose(nameless_store("case1_cpu_bug"), None)[0]
    ok(found["significant"] and "thread `tlm-30hz`" in first_sentence(found["explanation"]),
       "case1 without names of functions: its own thread is told, beside another program",
       found["explanation"])
    for found in (found, diagnose(named_store("case1_cpu_bug"), None)[0]):
        first = next(cause for cause in found["causes"] if cause["place"] == "program")
        ok(first["explained_share"] < 0.5 and found["confidence"]["level"] == "low" and "in part" in
           first_sentence(found["explanation"]) and "of the difference" in found["confidence"]["reasons"][0],
           "which explains a part of the difference only, and so the confidence is low", found)
    causes = [cause for cause in diagnose(named_store("case4_sleep_bug"), None)[0]["causes"]
              if cause["place"] == "program"]
    ok(len(causes) == 2 and causes[0]["executions"] == 23 and "wait_before_retry" in causes[0]["path"]
       and "fdatasync" in causes[1]["path"], "case4: two causes are two groups", causes)


def without_stacks(text):
    """A first sentence without what only stacks tell."""
    text = first_sentence(text.replace("p_case", "f_case"))
    text = re.sub(r"`[^`]* > ([^`]*)`", r"`\1`", text)
    return re.sub(r", (which is in `[^`]*`|running)", "", text)


def check_formats():
    """perf.data and trace.dat of one run: the same verdict, of the same thing."""
    kinds = (r"preempted by thread `[^`]*`", r"blocked: [a-z ]*", r"for thread `[^`]*`")
    for name in ("case1_cpu_bug", "case1_cpu_fixed", "case2_disk_bug", "case3_lock_bug", "case3_lock_fixed",
                 "case4_sleep_bug"):
        folder = next(unpack_all(f"kernel/{name}")[0].rglob("truth.tsv")).parent
        store = WORK / f"{name}-dat.weft"
        if not store.exists():
            run("import", "-q", "-o", store, folder / "trace.dat")
        ours, theirs = diagnose(named_store(name), None)[0], diagnose(store, None)[0]
        ok(ours["significant"] == theirs["significant"], f"{name}: one verdict from both formats",
           (ours["explanation"], theirs["explanation"]))
        found = [[re.findall(kind, without_stacks(one["explanation"])) for kind in kinds] for one in (ours, theirs)]
        ok(not ours["significant"] or found[0] == found[1], f"{name}: of the same cause", found)


def check_fixed():
    for name, kind in FIXED:
        found = diagnose(named_store(name), kind)[0]
        ok(not found["significant"] and found["explanation"].startswith("Nothing significant"),
           f"{name}: nothing significant", found["explanation"])


def check_builds():
    """Broken and fixed in one database."""
    database = WORK / "case3.db"
    database.unlink(missing_ok=True)
    for tag, name in (("broken", "case3_lock_bug"), ("fixed", "case3_lock_fixed")):
        made = run("executions", named_store(name), "--type", "insert", "--begin",
                   "instant:p_case3_lock:exec_begin", "--end", "instant:p_case3_lock:exec_end",
                   "--match", "id", "--db", database, "--tag", tag)
        if made.returncode:
            note(made.stderr)
    found = run_json("diagnose", database, "--a", "tag=fixed", "--b", "tag=broken")
    sentence = first_sentence(found["types"][0]["explanation"])
    ok("slower than A" in sentence and "thread `journal`" in sentence
       and "remap_private_view" in sentence, "builds: the broken one waits for the journal", sentence)
    compared = run_json("compare", database, "--a", "tag=fixed", "--b", "tag=broken")
    ok(compared["n_a"] == 400 and compared["n_b"] == 400, "builds: all executions of both")


def check_demo():
    """Inclusive times of stacks, as contexts without others below them."""
    given = json.loads((CASES / "demo_input.json").read_text())
    wanted = json.loads((CASES / "demo_expected.json").read_text())
    database = WORK / "demo.db"
    database.unlink(missing_ok=True)
    lines = ["metric latency number", "source demo - demo.weft"]
    for row in given["executions"]:
        values = " ".join(f"f:stack{stack}={ns}" for stack, ns in row["samples"].items())
        lines.append(f"item main {row['b'] % 10**9} {row['a']} {values}")
    subprocess.run([MADE, database], input="\n".join(lines) + "\n", text=True, check=True)
    filters = [wanted["groups"][group].replace("a", "latency", 1) for group in "AB"]
    found = run_json("compare", database, "--a", filters[0], "--b", filters[1])
    note(f"groups {wanted['groups']}, n {wanted['n']}, found {found['n_a']} and {found['n_b']}")
    ok([found["n_a"], found["n_b"]] == wanted["n"], "demo: the groups")
    rows = {row["path"]: row for row in found["differences"]}
    n_same = 0
    for stack, want in wanted["stacks"].items():
        got = rows.get(f"stack{stack}")
        n_same += (got is not None and abs(got["mean_a_ns"] - want["mean_A"]) < 1e-6
                   and abs(got["mean_b_ns"] - want["mean_B"]) < 1e-6
                   and abs(got["t"] - want["welch_t"]) < 1e-3 * max(1, abs(want["welch_t"])))
        if got is not None:
            note(f"stack {stack}: t {got['t']:.6f}, expected {want['welch_t']:.6f}")
    ok(n_same == len(wanted["stacks"]), "demo: means and Welch's t of every stack")


check_broken()
check_formats()
check_fixed()
check_builds()
check_demo()
done()
