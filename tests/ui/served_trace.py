#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a table of spans: four clients and a flusher, which holds what they wait for now and then.
usage: served_trace.py OUT.csv"""
import random
import sys

rng = random.Random(1)
rows = []


def call(tid, name, start, duration):
    rows.append((start, duration, name, tid))
    return start + duration


def operation(tid, at, is_blocked):
    begin = at + 200
    end = call(tid, "hash_key", begin, rng.randrange(300, 900))
    if is_blocked:
        end = call(tid, "wait_for_lock", end + 50, rng.randrange(4_000_000, 9_000_000))
    end = call(tid, "read_page", end + 80, rng.randrange(2_000, 9_000))
    for _ in range(rng.randrange(1, 4)):
        end = call(tid, "compare_keys", end + 30, rng.randrange(100, 400))
    return call(tid, "client_operation", at, end + 100 - at)


for tid in (11, 12, 13, 14):
    at = tid * 1000
    for k in range(600):
        at = operation(tid, at, k % 150 == 149) + rng.randrange(100, 3_000)
    call(tid, "client_main", tid * 900, at + 500 - tid * 900)
at = 50_000
for _ in range(20):
    end = call(15, "write_table", at + 500, rng.randrange(200_000, 700_000))
    at = call(15, "flush", at, end + 300 - at) + rng.randrange(100_000, 900_000)

with open(sys.argv[1], "w", encoding="utf-8") as file:
    file.write("start_ns,duration_ns,name,tid\n")
    file.writelines(f"{start},{duration},{name},{tid}\n" for start, duration, name, tid in rows)
