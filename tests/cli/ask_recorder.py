#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Asks its recorder, as the libraries do, for what it must not give, and then for what it gives.
Prints a line for each wrong answer; nothing if all are right. usage: ask_recorder.py SEED"""
import os
import random
import socket
import struct
import sys

MAGIC = 0x314b534154464557
RING, FILTER, NOTHING = 1, 2, 3
NAME, TOKEN = os.environ["WEFT_RECORD_ASK"].encode().split(b":")
draw = random.Random(int(sys.argv[1]))


def ask(magic=MAGIC, token=TOKEN, kind=RING, library=2, pid=None, reach=1, n_bytes=1 << 20, is_new=0):
    return struct.pack("<Q32s4IQ2I", magic, token, kind, library, os.getpid() if pid is None else pid, reach,
                       n_bytes, is_new, 0)


def connected():
    one = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.bind("") # an address of the kernel's choice
    one.connect(b"\0" + NAME)
    return one


def answer(datagram, timeout_s):
    """The size of the file that is given; None: no answer, or one without a file."""
    with connected() as one:
        one.settimeout(timeout_s)
        one.send(datagram)
        try:
            _, fds, _, _ = socket.recv_fds(one, 16, 4)
        except TimeoutError:
            return None
    sizes = [os.fstat(fd).st_size for fd in fds]
    for fd in fds:
        os.close(fd)
    return sizes[0] if len(sizes) == 1 else None


def expect(name, got, want):
    if got != want:
        print(f"{name}: {got}, not {want}")


def flip(datagram):
    """Some bytes of it changed, or its length."""
    changed = bytearray(datagram)
    for _ in range(draw.randrange(1, 6)):
        changed[draw.randrange(len(changed))] = draw.randrange(256)
    return bytes(changed[:draw.choice([len(changed)] * 3 + [draw.randrange(len(changed) + 1)])])


WRONG = {
    "another token": ask(token=b"0" * 32),
    "no magic": ask(magic=1),
    "another process": ask(pid=1),
    "no library": ask(library=3),
    "no reason": ask(reach=1 << 20),
    "no kind": ask(kind=9),
    "a file of no bytes": ask(n_bytes=0),
    "a file too large": ask(n_bytes=1 << 60),
    "less than a datagram": ask()[:-1],
    "more than a datagram": ask() + b"\0",
    "nothing": b"",
}

for what, question in WRONG.items():
    expect(what, answer(question, 0.1), None)
with connected() as flood:
    flood.setblocking(False)
    for _ in range(3000):
        try:
            flood.send(flip(ask()))
        except BlockingIOError:
            pass
    flood.setblocking(True)
    for _ in range(200):
        flood.send(ask(kind=NOTHING, reach=draw.randrange(8)))
expect("a ring", answer(ask(n_bytes=123456), 20), 123456)
