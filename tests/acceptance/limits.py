# SPDX-License-Identifier: MIT
"""What RegTime with the default preset and row budget, and the page, hold to on every trace: at most
400 rows a thread, a ratio of 1,000 for every thread with more than 400,000 calls, no raised threshold
for 99 % of the threads, at most a quarter of the expression time in `other` on the large traces, and a
page of at most 2 MB."""
from support import ok

MAX_PAGE_BYTES = 2_000_000
# Of the expression time. In the basic log one thread of 159,235 calls has 94 notable calls and 36
# expressions, which leaves few of its 400 rows to nodes; a flight recorder log of the same workload
# stays far below.
MAX_IN_OTHER = {"wt_update_whole_small.basic": 0.30}
NAMES = {"synth_events": "synth_events.funcs.tsv", "wt_lsm": "wtperf_lsm_xray.funcs.tsv"}


def names_of(name):
    for prefix, table in NAMES.items():
        if name.startswith(prefix):
            return table
    return "wtperf_xray.funcs.tsv"


def check_threads(name, document):
    threads = document["threads"]
    most = max(thread["rows_after"] for thread in threads)
    ok(most <= 400, f"{name}: no thread has more than 400 rows", most)
    low = [(thread["tid"], thread["calls_before"], thread["rows_after"]) for thread in threads
           if thread["calls_before"] > 400_000
           and thread["calls_before"] < 1000 * thread["rows_after"]]
    ok(not low, f"{name}: ratio of at least 1,000 above 400,000 calls", low[:5])
    folded = sum(thread["folded_ns"] for thread in threads)
    in_runs = sum(thread["expression_ns"] for thread in threads)
    if name.startswith("wt_"):
        share = folded / in_runs if in_runs else 0
        ok(share <= MAX_IN_OTHER.get(name, 0.25), f"{name}: {share:.1%} of the expression time is in `other`")
    return len(threads), sum(thread["factor"] == 1 for thread in threads)


def check_kept(n_all, n_kept):
    ok(n_kept >= 0.99 * n_all, f"no threshold raised in {n_kept} of {n_all} threads")


def check_page(name, page):
    n_bytes = page.stat().st_size
    ok(n_bytes <= MAX_PAGE_BYTES, f"{name}: a page of {n_bytes} bytes", MAX_PAGE_BYTES)
    text = page.read_text(encoding="utf-8")
    ok('id="weft-data"' in text, f"{name}: the page holds its data")
    ok("<script src" not in text and "<link" not in text, f"{name}: the page loads nothing")
    page.unlink()
