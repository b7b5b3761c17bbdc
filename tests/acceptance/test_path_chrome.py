# SPDX-License-Identifier: MIT
"""A browser's own trace and a kernel's trace of the same run, imported together: threads are one by
pid and tid, on one clock, and the critical path of an action that a page asks of a worker crosses
page, worker and page. The JSON is read here a second time, in Python."""
import collections
import gzip
import json

from support import done, import_trace, note, ok, run_json, unpack_all


def read_actions(path):
    """The actions of the page: name -> (tid, begin, end) in ns."""
    found = collections.defaultdict(dict)
    document = json.loads(gzip.decompress(path.read_bytes()))
    for event in document["traceEvents"]:
        if event["ph"] in "be" and event["name"].startswith("action:"):
            found[event["name"]][event["ph"]] = event
    return document, {name: (ends["b"]["tid"], ends["b"]["ts"] * 1000, ends["e"]["ts"] * 1000)
                      for name, ends in found.items()}


def threads_of(document):
    """(pid, tid) -> name, of threads that have events."""
    names, live = {}, set()
    for event in document["traceEvents"]:
        if event["ph"] == "M" and event["name"] == "thread_name":
            names[event["pid"], event["tid"]] = event["args"]["name"]
        elif event["ph"] != "M":
            live.add((event["pid"], event["tid"]))
    return {thread: names.get(thread, "") for thread in live}


def check_joined(document, kernel, both, what):
    before = run_json("info", "--threads", kernel)
    after = run_json("info", "--threads", both)
    details = after["details"]
    ok("aligned by CLOCK_MONOTONIC" in details, f"{what}: the clock is named", details)
    tids = collections.Counter(row["tid"] for row in before["thread_list"])
    rows = {row["tid"]: row for row in after["thread_list"] if row["calls"]}
    wrong = []
    for (pid, tid), name in threads_of(document).items():
        row = rows.get(tid)
        if row and (row["pid"] != pid or (name and row["name"] != name)):
            wrong.append((pid, tid, name, row))
    ok(not wrong, f"{what}: threads have pids and names of the program", *wrong[:3])
    apart = [tid for (_, tid) in threads_of(document)
             if tid in tids and sum(row["tid"] == tid for row in after["thread_list"]) > tids[tid]]
    ok(len(apart) <= 1, f"{what}: no thread is there twice", *apart)
    events = collections.Counter(after["events_by_kind"])
    ok(events["switch"] == before["events_by_kind"]["switch"], f"{what}: every switch is there")
    ok(events["span"] == sum(event["ph"] == "b" for event in document["traceEvents"]),
       f"{what}: every span is there", events["span"])


def check_action(store, name, action, what):
    """Whether the path crosses page, worker and page, and names the worker's call."""
    tid, begin, end = action
    path = run_json("path", store, "--thread", tid, "--from", f"@{begin}", "--to", f"@{end}")
    if not path:
        return False
    turns = []
    for segment in path["segments"]:
        if not turns or turns[-1] != segment["thread"]:
            turns.append(segment["thread"])
    length = end - begin
    shares = {row["name"]: row["sum_ns"] / length for row in path["threads"]}
    is_good = (turns == ["CrRendererMain", "DedicatedWorker thread", "CrRendererMain"]
               and shares["DedicatedWorker thread"] > 0.9
               and path["unexplained_ns"] < 0.01 * length
               and path["functions"][0]["function"] == "FunctionCall"
               and any(row["span"] == name for row in path["spans"])
               and sum(row["end_ns"] - row["start_ns"] for row in path["segments"]) == length)
    if not is_good:
        note(f"{what}, {name}: {turns} {shares} unexplained {path['unexplained_ns']}")
    return is_good


def main():
    folder = next(unpack_all("kernel/chrome")[0].rglob("chrome.json.gz")).parent
    document, actions = read_actions(folder / "chrome.json.gz")
    work = {name: action for name, action in actions.items() if name.startswith("action:work:")}
    for source in ("trace.dat", "perf.data"):
        kernel = import_trace(folder / source, f"kernel_{source}")
        both = import_trace(folder / source, f"both_{source}", folder / "chrome.json.gz")
        if not kernel or not both:
            continue
        check_joined(document, kernel, both, source)
        crossing = sum(check_action(both, name, action, source) for name, action in work.items())
        ok(len(work) == 12 and crossing == 12,
           f"{source}: {crossing} of {len(work)} paths cross page, worker and page")
        longest = max(work.values(), key=lambda action: action[2] - action[1])
        path = run_json("path", both, "--span", "action:work")
        ok(path and path["tid"] == longest[0] and
           path["to_ns"] - path["from_ns"] == longest[2] - longest[1],
           f"{source}: the longest span is found by its name")


main()
done()
