#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""libweft-functions.so: the rings hold exactly the calls that a program says it made."""
import os
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from runtime_support import FUNCTIONS, Recorded, done, equal, ok, run, skip, target  # noqa: E402
import ring_reader  # noqa: E402

LIB = ring_reader.FUNCTIONS


def truth(out):
    """By thread: [(kind, address)]."""
    threads = {}
    for line in out.splitlines():
        number, kind, address = line.split()
        threads.setdefault(int(number), []).append((kind, int(address, 16)))
    return [threads[number] for number in sorted(threads)]


def calls(events):
    return [("X" if event.kind == "EXIT" else event.kind[0], event.address) for event in events]


def by_truth(told, found):
    """The threads of a recording in the order of those of the truth: they may have begun in any."""
    return sorted(map(tuple, told)), sorted(map(tuple, found))


def call_for_call(program, what):
    for seed in range(1, 6):
        with run([target(program), str(seed), "4", "4000"], preload=(FUNCTIONS,)) as it:
            told, found = by_truth(truth(it.out), [calls(events) for events in it.events(LIB)])
            ok(it.status == 0 and told == found, f"{what}: call for call, seed {seed}",
               f"status {it.status}, {[len(t) for t in told]}, {[len(f) for f in found]} {it.err}")
    with run([target(program), "7", "1", "4000"], preload=(FUNCTIONS,)) as it:
        ticks = [event.ticks for events in it.events(LIB) for event in events]
        ok(ticks == sorted(ticks) and ticks[0] < ticks[-1], f"{what}: time goes forward")


def nested(events):
    """Drops exits without entry and entries that were left by a jump, as a reader does."""
    stack, kept = [], []
    for i, (kind, address) in enumerate(events):
        if kind == "E":
            stack.append((address, i))
        elif any(address == open_ for open_, _ in stack):
            while stack[-1][0] != address:
                stack.pop()
            kept += [(stack.pop()[1], i)]
    return kept


def plain_depth(told, limit):
    """The oracle of `depth`."""
    kept, stack = [], 0
    for kind, address in told:
        stack += kind == "E"
        if stack <= limit:
            kept.append((kind, address))
        stack -= kind == "X"
    return kept


def plain_only(told, keep):
    return [(kind, address) for kind, address in told if keep(address)]


def filters(program, what):
    with run([target(program), "3", "2", "3000"], preload=(FUNCTIONS,), filters="depth 3\n") as it:
        told, found = by_truth([plain_depth(thread, 3) for thread in truth(it.out)],
                               [calls(events) for events in it.events(LIB)])
        ok(told == found, f"{what}: depth")
    # The addresses of functions lie where the program was loaded: asked for in a first run.
    symbols = symbols_of(target(program))
    lines = "".join(f"skip {os.path.realpath(target(program))} {start:x} {start + 1:x}\n"
                    for name, start in symbols.items() if name in ("beta", "delta"))
    with run([target(program), "3", "2", "3000"], preload=(FUNCTIONS,), filters=lines) as it:
        skipped = {symbols[name] & 0xfff for name in ("beta", "delta")}
        told, found = by_truth([plain_only(thread, lambda a: a & 0xfff not in skipped)
                                for thread in truth(it.out)],
                               [calls(events) for events in it.events(LIB)])
        ok(told == found and all(found), f"{what}: skip")
    lines = f"only {os.path.realpath(target(program))} {symbols['beta']:x} {symbols['beta'] + 1:x}\n"
    with run([target(program), "3", "2", "3000"], preload=(FUNCTIONS,), filters=lines) as it:
        told, found = by_truth([plain_only(thread, lambda a: a & 0xfff == symbols["beta"] & 0xfff)
                                for thread in truth(it.out)],
                               [calls(events) for events in it.events(LIB)])
        ok(told == found and all(found), f"{what}: only")


def symbols_of(path):
    """Values of the functions of target_calls.c."""
    import subprocess
    lines = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in lines.splitlines()]
    names = ("alpha", "beta", "gamma_", "delta", "epsilon")
    return {row[2]: int(row[0], 16) for row in rows if len(row) == 3 and row[2] in names}


def short_calls():
    """min_ns: what is left nests, is long enough or holds something; calls of 300 us all stay."""
    for seed in ("5", "6"):
        with run([target("target_calls"), seed, "2", "3000", "slow"], preload=(FUNCTIONS,),
                 filters="min_ns 100000\n") as it:
            told, found = truth(it.out), [calls(events) for events in it.events(LIB)]
            n_told, n_found = (sum(map(len, lists)) for lists in (told, found))
            ok(it.status == 0 and 0 < n_found < n_told / 2, f"min_ns takes back, seed {seed}",
               f"{n_found} of {n_told}")
            ok(all(2 * len(nested(events)) == len(events) for events in found),
               f"min_ns leaves whole calls, seed {seed}")
    with run([target("target_calls"), "5", "1", "3000", "slow"], preload=(FUNCTIONS,),
             filters="min_ns 100000\n") as it:
        kept = nested(calls(it.events(LIB)[0]))
        ok(kept and all(end > begin + 1 or long_enough(it, begin, end) for begin, end in kept),
           "min_ns: no short call without calls inside")
    # With others left out in between, too.
    path = os.path.realpath(target("target_calls"))
    symbols = symbols_of(path)
    lines = "".join(f"skip {path} {symbols[name]:x} {symbols[name] + 1:x}\n"
                    for name in ("beta", "gamma_"))
    with run([target("target_calls"), "5", "1", "3000", "slow"], preload=(FUNCTIONS,),
             filters="min_ns 100000\n" + lines) as it:
        kept = nested(calls(it.events(LIB)[0]))
        ok(kept and all(end > begin + 1 or long_enough(it, begin, end) for begin, end in kept),
           "min_ns and skip: no short call without calls inside")
    with run([target("target_calls"), "5", "1", "3000"], preload=(FUNCTIONS,),
             filters="min_ns 1000000000\n") as it:
        equal(it.events(LIB), [], "min_ns: nothing is long enough")


def long_enough(it, begin, end):
    """Whether 100 us passed between two events, as far as the time of the run tells how long a tick is:
    a tick is not longer than the run's time by the ticks of what was recorded of it."""
    events = it.events(LIB)[0]
    least_per_ns = (events[-1].ticks - it.rings(LIB)[0].start_ticks) / it.duration_ns
    return events[end].ticks - events[begin].ticks > 97000 * least_per_ns


def cull():
    """Whether each CULLED tells of the calls before it, and no entry of the function comes after it;
    and of how many there were. On a busy machine no function may be quick enough."""
    with run([target("target_calls"), "5", "1", "6000", "shallow"], preload=(FUNCTIONS,),
             filters="cull 50\n") as it:
        events = it.events(LIB)[0]
        n_calls, are_right = {}, []
        for event in events:
            if event.kind == "EXIT":
                n_calls[event.address] = n_calls.get(event.address, 0) + 1
            elif event.kind == "CULLED":
                are_right.append(n_calls[event.words[0]] == event.words[1] >= 50)
        ended = {event.words[0]: i for i, event in enumerate(events) if event.kind == "CULLED"}
        are_over = all(not (event.kind == "ENTER" and ended.get(event.address, i) < i)
                       for i, event in enumerate(events))
        return all(are_right), are_over, len(are_right)


def culling():
    for _ in range(50):
        are_right, are_over, n_culled = cull()
        if not are_right or not are_over or n_culled:
            break
    ok(n_culled and are_right, "cull: counts are told", f"{n_culled} culled")
    ok(are_over, "cull: no entry afterwards")


def jumps():
    with run([target("target_calls"), "2", "2", "3000", "jump"], preload=(FUNCTIONS,)) as it:
        told, found = by_truth(truth(it.out), [calls(events) for events in it.events(LIB)])
        ok(told == found, "longjmp: call for call")
    with run([target("target_calls"), "2", "2", "3000", "jump"], preload=(FUNCTIONS,),
             filters="min_ns 1\n") as it:
        told, found = by_truth([nested_calls(thread) for thread in truth(it.out)],
                               [nested_calls(calls(events)) for events in it.events(LIB)])
        ok(told == found, "longjmp: whole calls are the same with a filter")


def nested_calls(events):
    return [(events[begin][1], end - begin) for begin, end in nested(events)]


def losses():
    """A ring that is too small: what stands in it is the beginning, and the rest is counted."""
    with run([target("target_calls"), "9", "1", "20000"], preload=(FUNCTIONS,),
             env={"WEFT_RECORD_WORDS": "4096"}) as it:
        ring = it.rings(LIB)[0]
        slot = ring.slots()[0]
        told, found = truth(it.out)[0], calls(slot.events())
        ok(ring.n_units == 8192 and 7000 < len(found) <= 8192 and told[:len(found)] == found,
           "a full ring holds the beginning", f"{ring.n_units} {len(found)}")
        equal(slot.lost, len(told) - len(found), "each call that found no room is counted")


def lap():
    """A small ring that is read while it is written: what was read and what LOST says is missing are
    the program's calls, in order. Whether the ring was gone around depends on the machine."""
    with Recorded([target("target_calls"), "11", "1", "60000", "slow"], preload=(FUNCTIONS,),
                  env={"WEFT_RECORD_WORDS": "4096"}) as it:
        rings, found = {}, []

        def drain():
            for ring in it.rings(LIB):
                for events in rings.setdefault(ring.path, ring).drain().values():
                    found.extend(events)

        waiting = threading.Thread(target=it.wait)
        waiting.start()
        while waiting.is_alive():
            drain()
        waiting.join()
        drain()
        told, at, n_wrong, n_lost = truth(it.out)[0], 0, 0, 0
        for event in found:
            if event.kind == "LOST":
                at += event.words[0]
                n_lost += event.words[0]
            else:
                n_wrong += at >= len(told) or calls([event])[0] != told[at]
                at += 1
        slot = list(rings.values())[0].slots()[0]
        is_right = n_wrong == 0 and at + slot.lost - n_lost == len(told)
        return is_right, len(found) > 8192, (f"{n_wrong} wrong, {len(found)} found, {n_lost} of "
                                             f"{slot.lost} lost, {at} {len(told)}")


def laps():
    for _ in range(50):
        is_right, has_gone_around, note = lap()
        if not is_right or has_gone_around:
            break
    ok(is_right and has_gone_around,
       "a ring around many times: each call is there or counted where it was", note)


def off():
    with run([target("target_calls"), "1", "1", "100"], preload=(FUNCTIONS,),
             env={"WEFT_RECORD": ""}) as it:
        equal((it.status, os.listdir(it.folder)), (0, []), "without a folder nothing is written")
    with run([target("target_calls"), "1", "1", "100"], preload=(FUNCTIONS,),
             env={"WEFT_RECORD_ONLY": "1"}) as it:
        equal((it.status, os.listdir(it.folder)), (0, []), "another process is wanted only")


call_for_call("target_calls", "-finstrument-functions")
filters("target_calls", "-finstrument-functions")
short_calls()
culling()
jumps()
losses()
laps()
off()
if os.path.exists(target("target_calls_xray")):
    call_for_call("target_calls_xray", "XRay")
    filters("target_calls_xray", "XRay")
else:
    skip("no clang: programs with XRay were not built")
done()
