# SPDX-License-Identifier: MIT
"""Recorded runs of a program whose locks are known: four workers and a main thread, two mutexes, one
within the other, a condition, a barrier a round, a disk read and a nap. Counted by events of a lock
library and by futex calls; and what the critical paths of rounds (truth.tsv) name."""
from support import WORK, done, note, ok, run, run_json, unpack_all

STEP = 20  # every so many rounds


def import_run(name, *inputs):
    """The folder of a run and the store of its inputs, which are taken as one trace."""
    folder = next(unpack_all(f"kernel/{name}")[0].rglob("truth.tsv")).parent
    programs = unpack_all("kernel/programs")
    store = WORK / f"locks_{name}.weft"
    done_run = run("import", "-q", "-s", programs[0], "-o", store, *(folder / i for i in inputs))
    ok(done_run.returncode == 0, f"{name}: import", done_run.stderr)
    return folder, store


def executions(folder, label):
    for line in (folder / "truth.tsv").read_text(encoding="utf-8").splitlines():
        fields = line.split("\t")
        if len(fields) == 6 and fields[0] == label:
            yield int(fields[2]), int(fields[3]), int(fields[4])


def by_kind(document, kind):
    return [row for row in document["locks"] if row["kind"] == kind]


def sites(document, lock):
    return {row["function"]: row["acquisitions"] for row in document["sites"]
            if row["lock_id"] == lock["lock_id"]}


def check_counts(name, store, n_rounds, has_events):
    """What the program does in a round: five arrive at the barrier, four wait for the condition; the
    first mutex is taken nine times, the second twice, once within the first."""
    document = run_json("locks", store)
    barrier = max(by_kind(document, "barrier"), key=lambda row: row["acquisitions"])
    ok(barrier["acquisitions"] == 5 * n_rounds, f"{name}: all arrivals at the barrier", barrier)
    ok(4 * n_rounds - 5 <= barrier["contended"] <= 4 * n_rounds,
       f"{name}: all but the last one wait there", barrier)
    waits = max(row["acquisitions"] for row in by_kind(document, "condition"))
    ok(4 * n_rounds * 0.95 <= waits <= 4 * n_rounds, f"{name}: waits for the condition: {waits}")
    if not has_events:
        ok(document["futex"] > 0 and document["events"] == 0, f"{name}: futexes say so")
        ok(len(by_kind(document, "mutex")) == 3, f"{name}: three mutexes had to wait")
        return
    ok(document["futex"] > 0 and document["events"] > 0, f"{name}: both sources say so")
    counts = {row["lock"]: row["acquisitions"] for row in by_kind(document, "mutex")}
    ok(9 * n_rounds in counts.values() and 2 * n_rounds in counts.values(),
       f"{name}: acquisitions of the mutexes", counts)
    first = next(row for row in by_kind(document, "mutex") if row["acquisitions"] == 9 * n_rounds)
    second = next(row for row in by_kind(document, "mutex") if row["acquisitions"] == 2 * n_rounds)
    ok(sites(document, first) == {"update_shared_a": 8 * n_rounds, "update_nested": n_rounds},
       f"{name}: where the first is asked for", sites(document, first))
    ok(sites(document, second) == {"update_shared_b": 2 * n_rounds},
       f"{name}: where the second is asked for", sites(document, second))
    orders = {(row["first"], row["second"]): row for row in document["orders"]}
    nested = orders.get((first["lock"], second["lock"]))
    ok(nested and nested["count"] == n_rounds and nested["inverse"] == 0,
       f"{name}: one within the other, never the other way", nested)
    contexts = {row["function"] for row in document["contexts"] if row["lock_id"] == first["lock_id"]}
    ok("spin" in contexts, f"{name}: what holders do", contexts)


def check_interplay(name, store, n_rounds, has_events):
    """Who ends waits: workers wait for the main thread's condition, for each other's mutexes, and at
    the barrier for who comes last; a kernel confirms it."""
    document = run_json("interplay", store)
    waits = [row for row in document["waits"] if row["kind"] in ("mutex", "condition", "barrier")]
    joined = [row for row in waits if row["releaser_tid"] is not None]
    kinds = {kind: sum(row["kind"] == kind for row in joined) for kind in ("condition", "barrier")}
    confirmed = sum(row["confidence"] == "confirmed" for row in joined)
    note(f"{name}: {len(joined)} of {len(waits)} waits joined, {confirmed} confirmed by the kernel")
    ok(len(joined) >= 0.99 * len(waits) and confirmed >= 0.8 * len(joined),
       f"{name}: waits are joined with what ended them", (len(waits), len(joined), confirmed))
    ok(all(0.9 * 4 * n_rounds <= n <= 4 * n_rounds + 4 for n in kinds.values()),
       f"{name}: of each round four at the condition, four at the barrier", kinds)
    ok(all(row["start_ns"] <= row["release_ns"] <= row["end_ns"] for row in joined),
       f"{name}: releases lie in their waits")
    if has_events:
        pairs = {(row["wait_function"], row["release_function"], row["kind"])
                 for row in document["pairs"]}
        ok({("worker", "run_round", "condition"), ("update_shared_a", "update_shared_a", "mutex")} <=
           pairs, f"{name}: from where", sorted(map(str, pairs)))


def named(counts, key, is_named):
    counts.setdefault(key, []).append(bool(is_named))


def workers_of(store, main):
    """Tids of the four threads that the main one made last."""
    tids = {row["tid"] for row in run_json("info", store)["thread_list"] if row["pid"] == main}
    return sorted(tids - {main})[-4:]


def check_paths(name, folder, store):
    rows = list(executions(folder, "round"))[STEP // 2::STEP]
    workers = workers_of(store, rows[0][0])
    counts = {}
    for tid, begin, end in rows:
        window = ("--from", f"@{begin}", "--to", f"@{end}")
        path = run_json("path", store, "--thread", tid, *window)
        named(counts, "barrier", any(row["edge"] == "barrier" for row in path["locks"]))
        for number, worker in enumerate(workers):
            path = run_json("path", store, "--thread", worker, *window)
            kinds = {row["edge"] for row in path["locks"]}
            reasons = {row["reason"] for row in path["segments"] if row["tid"] == worker}
            named(counts, "condition", "condition" in kinds)
            if number == 0:
                named(counts, "disk", "block_device" in reasons)
            if number == 1:
                named(counts, "nap", "timer" in reasons)
            waits = run_json("locks", store, "--tid", worker, *window)
            if any(row["kind"] == "mutex" and row["longest_wait_ns"] > 50_000 for row in waits["locks"]):
                named(counts, "lock", "release" in kinds)
    for what, found in sorted(counts.items()):
        share = sum(found) / len(found)
        note(f"{name}: {what} is named by {sum(found)} of {len(found)} paths, {100 * share:.1f} %")
        ok(share >= 0.9, f"{name}: paths name the {what}")


def check_held():
    """Executions that the journal held up, from futex calls alone."""
    folder, store = import_run("case3_lock_bug", "perf.data")
    rows = (folder / "truth.tsv").read_text(encoding="utf-8").splitlines()
    n_held = sum(line.endswith("\theld") for line in rows)
    document = run_json("locks", store)
    mutex = by_kind(document, "mutex")[0]
    ok(mutex["contended"] == n_held, f"case3_lock_bug: {mutex['contended']} of {n_held} waits")
    blockers = {row["blocker"]: row["sum_ns"] for row in document["blockers"]
                if row["lock_id"] == mutex["lock_id"]}
    ok(set(blockers) == {"journal"} and blockers["journal"] > 0.9 * mutex["wait_ns"],
       "case3_lock_bug: the journal had it", blockers)
    ok({"client", "journal"} >= {row["lock"].split(" ")[1] for row in by_kind(document, "join")},
       "case3_lock_bug: joins")


mixed, mixed_store = import_run("mixed_mutex4", "ust", "perf.data")
check_counts("mixed_mutex4", mixed_store, len(list(executions(mixed, "round"))), True)
check_interplay("mixed_mutex4", mixed_store, 120, True)
check_paths("mixed_mutex4", mixed, mixed_store)
plain, plain_store = import_run("mutex4", "perf.data")
check_counts("mutex4", plain_store, len(list(executions(plain, "round"))), False)
check_interplay("mutex4", plain_store, len(list(executions(plain, "round"))), False)
check_paths("mutex4", plain, plain_store)
_, traced = import_run("mixed_mutex4", "ust", "trace.dat")
check_counts("mixed_mutex4, trace.dat", traced, 120, True)
check_held()
done()
