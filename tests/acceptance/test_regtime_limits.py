# SPDX-License-Identifier: MIT
"""The limits of RegTime and of the page (limits.py) on every trace but the largest, which test_memory.py
reads."""
from limits import check_kept, check_page, check_threads, names_of
from support import WORK, done, import_trace, index_rows, ok, run, run_json, unpack

LARGEST = "wt_evict_win_large.fdr"


n_all = n_kept = 0
for trace in sorted(index_rows()):
    if trace == LARGEST:
        continue
    folder = unpack(trace, names_of(trace))
    store_path = import_trace(folder / trace, trace, "--map", folder / names_of(trace))
    if not store_path:
        continue
    ok(run_json("info", store_path)["unnamed_functions"] == 0, f"{trace}: every function is named")
    regtime = run_json("regtime", store_path)
    if regtime:
        n_threads, n_unraised = check_threads(trace, regtime)
        n_all += n_threads
        n_kept += n_unraised
    page = WORK / f"{trace}.html"
    report = run("report", store_path, "-o", page, "-q")
    if ok(report.returncode == 0, f"{trace}: the page is written", report.stderr):
        check_page(trace, page)
    store_path.unlink()
check_kept(n_all, n_kept)
done()
