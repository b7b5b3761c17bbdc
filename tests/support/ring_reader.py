# SPDX-License-Identifier: MIT
"""Reads a ring file of the recorder's runtime (src/schema/recording.h) as plainly as it can be read,
for tests that know each record that must stand there."""
import mmap
import os
import struct

MAGIC = 0x34474e4952544657
FREE, LIVE, ENDED = 0, 1, 2
OPERATIONS, FUNCTIONS = 1, 2
OPS = ["", "LOST", "THREAD_NAME", "THREAD_CREATE", "THREAD_BEGIN", "THREAD_END", "LOCK_REQUEST",
       "LOCK_ACQUIRED", "LOCK_FAILED", "LOCK_RELEASED", "WAIT_BEGIN", "WAIT_END", "SIGNAL", "IO_BEGIN",
       "IO_END", "MARK_BEGIN", "MARK_END", "MARK_METRIC", "MARK_INSTANT", "MARK_COUNTER",
       "TASK_QUEUED", "TASK_BEGIN", "TASK_END", "SNAPSHOT", "CULLED", "ENTER_FAR", "EXIT_FAR",
       "EPOLL_WATCH", "OBJECT_MADE", "OBJECT_GONE"]
LOCKS = ["mutex", "read", "write", "spin", "semaphore", "condition", "barrier"]
WAITS = ["condition", "barrier", "join", "sleep", "poll", "child", "once"]
IOS = ["read", "write", "sync", "accept", "connect", "receive", "send"]


class Event:
    """kind: "ENTER", "EXIT" or a name of OPS."""
    __slots__ = ("kind", "ticks", "address", "argument", "words")

    def __init__(self, kind, ticks, address=0, argument=0, words=()):
        self.kind, self.ticks, self.address = kind, ticks, address
        self.argument, self.words = argument, list(words)

    def text(self, at):
        n_bytes = self.words[at]
        raw = struct.pack(f"<{len(self.words) - at - 1}Q", *self.words[at + 1:])
        assert n_bytes <= len(raw) < n_bytes + 8, "text fills its words"
        return raw[:n_bytes].decode()

    def __repr__(self):
        return f"{self.kind}({self.argument:#x}, {[hex(word) for word in self.words]})"


class Slot:
    def __init__(self, ring, at):
        # In this order: a slot that was free is not looked at, and what head tells of is there.
        self.state = struct.unpack_from("<I", ring.map, at)[0]
        self.head = struct.unpack_from("<Q", ring.map, at + 16)[0]
        (_, self.tid, self.start_ticks, _, self.lost, name, self.drafted, _,
         self.tail) = struct.unpack_from("<IIQQQ16sQQQ", ring.map, at)
        self.name = name.split(b"\0")[0].decode()
        self.ring, self.at = ring, at
        self.index = (at - 128) // 128

    def units(self):
        base = self.ring.data_off + self.index * self.ring.n_units * 4
        first = max(self.tail, self.head - self.ring.n_units)
        for i in range(first, self.head):
            yield struct.unpack_from("<I", self.ring.map, base + i % self.ring.n_units * 4)[0]

    def events(self):
        """ENTER and EXIT whether they are FAR or not; those have words, too."""
        units = self.units()
        clocks = self.ring.clocks # of what was read before
        for unit in units:
            kind = unit & 3
            word = unit | next(units) << 32 if kind > 1 else unit
            if kind == 2:
                clocks[self.index] = word >> 2
                continue
            assert self.index in clocks, "a TIME comes before any delta"
            ticks = clocks[self.index] = clocks[self.index] + (word >> (49 if kind == 3 else 17))
            if kind != 3:
                number = unit >> 2 & 0x7fff
                yield Event("EXIT" if kind else "ENTER", ticks, self.ring.function(number))
                continue
            argument = word >> 16 & (1 << 33) - 1
            argument -= (argument >> 32) << 33
            op, n_words = OPS[word >> 2 & 0xff], word >> 10 & 63
            words = [next(units) | next(units) << 32 for _ in range(n_words)]
            is_far = op.endswith("_FAR")
            yield Event(op.removesuffix("_FAR"), ticks, words[0] if is_far else 0, argument, words)


class Ring:
    def __init__(self, path):
        self.path, self.clocks = path, {}
        with open(path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 0)
        (magic, self.library, self.pid, self.n_slots, self.n_units, self.data_off, self.start_ticks,
         self.lost_threads, self.is_stopped, self.n_modules, _, _, self.functions_off,
         self.functions_cap) = struct.unpack_from("<QIIIIQQQIIIIQI", self.map, 0)
        assert magic == MAGIC, "magic"
        assert self.data_off + self.n_slots * self.n_units * 4 == len(self.map), "size"
        assert self.functions_off + self.functions_cap * 8 <= self.data_off, "functions"

    def n_functions(self):
        return struct.unpack_from("<I", self.map, 76)[0]

    def function(self, number):
        """Its address, which stands there before the number stands in a record."""
        assert number < self.n_functions() <= self.functions_cap, "the number of a function"
        address = struct.unpack_from("<Q", self.map, self.functions_off + number * 8)[0]
        assert (address != 0) == (number != 0), "the address of a function"
        return address

    def slots(self):
        """Those that were ever taken."""
        n_used = struct.unpack_from("<I", self.map, 80)[0]
        slots = (Slot(self, 128 + i * 128) for i in range(n_used))
        return [slot for slot in slots if slot.start_ticks]

    def drain(self):
        """As a recorder does: reads everything, frees the slots of threads that ended. Returns lists
        of events by (tid, start_ticks)."""
        found = {}
        for slot in self.slots():
            if slot.state == FREE:
                continue
            events = list(slot.events())
            if events:
                found[slot.tid, slot.start_ticks] = events
            struct.pack_into("<Q", self.map, slot.at + 64, slot.head)
            if slot.state == ENDED:
                struct.pack_into("<I", self.map, slot.at, FREE)
                n_freed = struct.unpack_from("<I", self.map, 84)[0]
                struct.pack_into("<I", self.map, 96, (n_freed + 1) % (1 << 32))
        return found

    def stop(self):
        struct.pack_into("<I", self.map, 48, 1)


def is_ready(path):
    """Whether the file has been made to its end: its magic is written last."""
    with open(path, "rb") as file:
        return file.read(8) == struct.pack("<Q", MAGIC)


def rings(folder, library=None, pid=None):
    """The ring files of a folder, in the order of process and number."""
    names = [name.split(".") for name in os.listdir(folder) if name.count(".") == 2]
    names = sorted(tuple(map(int, name)) for name in names)
    return [Ring(os.path.join(folder, f"{p}.{l}.{n}")) for p, l, n in names
            if library in (None, l) and pid in (None, p) and
            is_ready(os.path.join(folder, f"{p}.{l}.{n}"))]
