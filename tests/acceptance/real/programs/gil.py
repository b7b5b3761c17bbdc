# SPDX-License-Identifier: MIT
"""Workers take numbers from a queue; a thread now and then makes a call of C that keeps the GIL."""
import hashlib
import queue
import re
import sys
import threading
import time

BROKEN = "--healthy" not in sys.argv
numbers = queue.Queue()
is_over = threading.Event()


def match_backwards():
    if BROKEN:
        re.match(r"(a+)+c", "a" * 19 + "b")


def handle(number):
    digest = hashlib.sha256()
    for i in range(60):
        digest.update(b"%d" % (number * i))


def work():
    while (number := numbers.get()) is not None:
        handle(number)


def report():
    while not is_over.wait(0.2):
        match_backwards()


workers = [threading.Thread(target=work) for _ in range(3)]
reporter = threading.Thread(target=report)
for thread in [*workers, reporter]:
    thread.start()
for n in range(1500):
    numbers.put(n)
    time.sleep(0.002)
is_over.set()
for _ in workers:
    numbers.put(None)
for thread in [*workers, reporter]:
    thread.join()
