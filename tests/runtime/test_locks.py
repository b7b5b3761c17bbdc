#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""libweft-preload.so: locks answer as without it, and what they do is recorded."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from runtime_support import PRELOAD, done, ok, run, skip, target  # noqa: E402
import ring_reader  # noqa: E402


def same_answers(program, n_least):
    if not os.path.exists(target(program)):
        skip(f"{program} was not built")
        return
    plain = subprocess.run([target(program)], capture_output=True, text=True, check=False)
    want = plain.stdout.splitlines()
    ok(plain.returncode == 0 and len(want) > n_least, f"{program} runs alone", plain.stderr)
    for env, name in (({}, "recorded"), ({"WEFT_RECORD": "/nonexistent"}, "loaded only"),
                      ({"WEFT_RECORD_OPERATIONS": "0"}, "with operations off"),
                      ({"WEFT_RECORD_REQUESTS": "1"}, "with all requests")):
        with run([target(program)], env=env) as it:
            got = it.out.splitlines()
            differences = [f"{a}  <>  {b}" for a, b in zip(want, got) if a != b]
            ok(it.status == 0 and got == want, f"{program}: every answer is the same, {name}",
               "\n".join(differences[:20]) + f"\n{len(got)} lines, status {it.status} {it.err}")


def matches(event, told, text):
    """Whether an event is the one that was told; `text` is where callers lie."""
    words = [told[0], f"{told[1]}", *told[2:]]
    got = [event.kind, f"{event.argument & (1 << 33) - 1:x}", *event.words]
    if len(words) != len(got) or words[:2] != got[:2]:
        return False
    return all(text[0] <= word < text[1] if want == "caller" else word == int(want, 16)
               for want, word in zip(words[2:], got[2:]))


def word_for_word():
    with run([target("target_operations")]) as it:
        lines = it.out.splitlines()
        text = [int(word, 16) for word in lines[0].split()]
        threads = it.events()
        for number, found in enumerate(threads):
            told = [line.split()[1:] for line in lines[1:] if line.startswith(f"{number} ")]
            if number == 0: # what the program prints with is its own
                found = found[:len(told)]
            wrong = [f"{i}: {want} <> {event}" for i, (want, event) in enumerate(zip(told, found))
                     if not matches(event, want, text)]
            ok(told and len(told) == len(found) and not wrong, f"thread {number}, word for word",
               "\n".join(wrong[:5]) + f"\n{len(told)} {len(found)} {it.err}")
        ok(len(threads) == 4, "four threads", len(threads))
        slots = it.rings(ring_reader.OPERATIONS, it.process.pid)[0].slots()
        ok("the waiter" in [slot.name for slot in slots] and
           [slot.state for slot in slots].count(ring_reader.LIVE) == 1, "names and states of slots",
           [(slot.name, slot.state) for slot in slots])


def all_requests():
    with run([target("target_operations")], env={"WEFT_RECORD_REQUESTS": "1"}) as it:
        events = it.events()[0]
        asked = [event for event in events if event.kind == "LOCK_REQUEST"]
        answered = [event for event in events if event.kind in ("LOCK_ACQUIRED", "LOCK_FAILED")]
        ok(len(asked) > 9 and len(answered) - len(asked) == 5, "all requests, but of trylocks and of "
           "what is had again after a condition", f"{len(asked)} {len(answered)}")


same_answers("target_locks", 300)
same_answers("target_cxx", 6)
word_for_word()
all_requests()
done()
