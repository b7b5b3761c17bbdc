# SPDX-License-Identifier: MIT
"""Every command within a hard limit, of the kernel's making, on memory: import, regtime, functions,
outliers, interval, shapes and report of the largest trace in 256 MiB; and of a generated trace in
which nearly every call has a context of its own, RegTime in so little that it must read runs again,
which gives the same bytes. Without a budget of rows there, what memory folds is said and counted.
The largest trace and its page keep the limits of the others (limits.py), too."""
import json
import resource
import subprocess
import sys

import limits
from support import WEFT, WORK, done, ok, unpack

GENERATE = sys.argv[1]
MIB = 1 << 20
PROGRAM_MIB = 192  # beside data: code, libraries, stacks, what threads reserve for their heaps


def bounded(mib, *arguments, files=()):
    """Runs weft with a limit on data, and one on addresses that leaves room for mapped files."""
    mapped = sum(path.stat().st_size for path in files)

    def limit():
        resource.setrlimit(resource.RLIMIT_DATA, (mib * MIB, mib * MIB))
        addresses = (mib + PROGRAM_MIB) * MIB + 2 * mapped
        resource.setrlimit(resource.RLIMIT_AS, (addresses, addresses))

    command = [WEFT, *map(str, arguments), "--mem", f"{mib}M"]
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False, preexec_fn=limit)


def check(mib, name, *arguments, files=()):
    result = bounded(mib, *arguments, files=files)
    ok(result.returncode == 0, f"{name} in {mib} MiB", result.stderr.decode(errors="replace"))
    return result.stdout


def check_large():
    folder = unpack("wt_evict_win_large.fdr", "wtperf_xray.funcs.tsv")
    source = folder / "wt_evict_win_large.fdr"
    store, page = WORK / "large.weft", WORK / "large.html"
    check(256, "import of wt_evict_win_large", "import", "-q", "-o", store, source, "--map",
          folder / "wtperf_xray.funcs.tsv", files=[source])
    answers = {command: check(256, command, command, "-q", "--json", store, files=[store])
               for command in ("info", "regtime", "functions", "outliers", "interval", "shapes")}
    check(256, "report", "report", "-q", "-o", page, store, files=[store])
    if answers["info"] and answers["regtime"] and page.exists():
        name = source.name
        ok(json.loads(answers["info"])["unnamed_functions"] == 0, f"{name}: every function is named")
        limits.check_kept(*limits.check_threads(name, json.loads(answers["regtime"])))
        limits.check_page(name, page)


def counts_agree(thread):
    """Kept and folded calls are all calls; an expression's own rows count what it does."""
    count = {}
    for row in thread["segments"]:
        count[row["kind"]] = count.get(row["kind"], 0) + (row["count"] or 0)
    inside = count.get("node", 0) + count.get("other", 0)
    return (inside == count.get("expression", 0) and
            inside + count.get("call", 0) + count.get("sliver", 0)
            == thread["calls_before"] + thread["cut_before"])


def check_contexts():
    source, store = WORK / "contexts.fdr", WORK / "contexts.weft"
    subprocess.run([GENERATE, "-t", "3", "2000000", source], check=True)
    check(48, "import of a trace of many contexts", "import", "-q", "-j", "1", "-o", store, source,
          files=[source])
    source.unlink()
    whole = check(1024, "regtime with room", "regtime", "-q", "--json", store, files=[store])
    for jobs, mib in ((1, 48), (2, 96), (4, 192)):
        again = check(mib, f"regtime -j {jobs}", "regtime", "-q", "--json", "-j", jobs, store,
                      files=[store])
        ok(again == whole, f"regtime -j {jobs} in {mib} MiB: the same bytes")
    for command in ("functions", "outliers"):
        check(48, command, command, "-q", "--json", "-j", "1", store, files=[store])
    every = check(64, "regtime --glyphs 0", "regtime", "-q", "--json", "-j", "1", "--glyphs", "0",
                  store, files=[store])
    threads = json.loads(every)["threads"] if every else []
    ok(threads and all(thread["memory_rows"] for thread in threads), "memory bounds the rows")
    ok(all(thread["rows_after"] <= thread["memory_rows"] for thread in threads), "no thread has more")
    ok(all(map(counts_agree, threads)), "kept and folded calls are all calls")
    ok(all(map(counts_agree, json.loads(whole)["threads"] if whole else [])), "with a budget, too")
    text = check(64, "regtime --glyphs 0, as text", "regtime", "-q", "-j", "1", "--glyphs", "0",
                 store, files=[store])
    ok(b"memory limit" in text, "the text says so", text.decode(errors="replace")[-600:])


check_large()
check_contexts()
done()
