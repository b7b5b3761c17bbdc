# SPDX-License-Identifier: MIT
"""A small trace cut at every byte, and 5,300 random bit flips, of the XRay log and of the .weft
made from it: each run ends with status 0 or 1, never with a signal, and an error says why."""
import concurrent.futures
import os
import random
import subprocess
import threading

from support import WEFT, WORK, done, import_trace, note, ok, unpack

SEED = int(os.environ.get("WEFT_SEED", "1"))
FOLDER = unpack("synth_events")
LOG = (FOLDER / "synth_events.fdr").read_bytes()
BASIC = (FOLDER / "synth_events.basic").read_bytes()
STORE = import_trace(FOLDER / "synth_events.fdr", "store").read_bytes()
QUERIES = ("info", "functions", "regtime", "outliers")
SECONDS_A_RUN = 20


def attempt(case):
    """Returns a complaint, or None."""
    name, content, is_store = case
    worker = threading.get_ident()
    path = WORK / f"damaged.{worker}"
    path.write_bytes(content)
    output = WORK / f"out.{worker}.weft"
    command = (QUERIES[len(content) % 4], "--json", path) if is_store else ("import", "-q", "-o",
                                                                             output, path)
    try:
        ended = subprocess.run([WEFT, *command], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False,
                               timeout=SECONDS_A_RUN, close_fds=False)
    except subprocess.TimeoutExpired:
        return f"{name}: did not end within {SECONDS_A_RUN} s"
    if ended.returncode not in (0, 1):
        return f"{name}: status {ended.returncode}: {ended.stderr[-300:]}"
    if ended.returncode == 1 and not ended.stderr.startswith(b"weft: "):
        return f"{name}: no clear error: {ended.stderr[-300:]}"
    return None


def flip(content, rng):
    at = rng.randrange(len(content))
    changed = bytearray(content)
    changed[at] ^= 1 << rng.randrange(8)
    return at, bytes(changed)


def cuts(name, content, is_store, limit):
    return [(f"{name} cut at {at}", content[:at], is_store) for at in range(min(len(content), limit))]


def flips(name, content, is_store, how_many, rng):
    return [(f"{name} with a bit of byte {at} flipped", changed, is_store)
            for at, changed in (flip(content, rng) for _ in range(how_many))]


def check(name, cases):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        complaints = [text for text in pool.map(attempt, cases) if text]
    ok(not complaints, f"{name}: {len(cases)} runs", *complaints[:5])


note(f"seed {SEED}")
random_source = random.Random(SEED)
check("the FDR log cut at every byte", cuts("FDR", LOG, False, len(LOG)))
check("the basic log cut in its first records", cuts("basic", BASIC, False, 400))
check("the FDR log with flipped bits", flips("FDR", LOG, False, 3000, random_source))
check("the basic log with flipped bits", flips("basic", BASIC, False, 800, random_source))
check("the .weft cut at every byte", cuts(".weft", STORE, True, len(STORE)))
check("the .weft with flipped bits", flips(".weft", STORE, True, 1500, random_source))
done()
