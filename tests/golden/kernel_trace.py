#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a small kernel trace (CTF 1.8) of two processors: a thread that is preempted, sleeps, waits for a
packet, for a disk and for another thread; a fork, an exit, and a switch that is missing.
usage: kernel_trace.py FOLDER"""
import pathlib
import struct
import sys

METADATA = """/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 32; align = 8; signed = true; } := int32_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := time_t;
trace { major = 1; minor = 8; byte_order = le; };
env { domain = "kernel"; };
clock { name = monotonic; freq = 1000000000; offset = 0; };
stream {
    packet.context := struct { uint32_t cpu_id; };
    event.header := struct { uint32_t id; time_t timestamp; };
};
"""
TEXT, INT = "string", "int32_t"
EVENTS = {
    "sched_switch": [("prev_comm", TEXT), ("prev_tid", INT), ("prev_state", INT), ("next_comm", TEXT),
                     ("next_tid", INT)],
    "sched_waking": [("comm", TEXT), ("tid", INT), ("target_cpu", INT)],
    "sched_wakeup": [("comm", TEXT), ("tid", INT), ("target_cpu", INT)],
    "sched_process_fork": [("child_comm", TEXT), ("child_tid", INT), ("child_pid", INT)],
    "sched_process_exit": [("comm", TEXT), ("tid", INT)],
    "softirq_entry": [("vec", INT)],
    "softirq_exit": [("vec", INT)],
    "irq_handler_entry": [("irq", INT), ("name", TEXT)],
    "irq_handler_exit": [("irq", INT), ("ret", INT)],
    "hrtimer_expire_entry": [("hrtimer", INT)],
    "hrtimer_expire_exit": [("hrtimer", INT)],
    "syscall_entry_futex": [("uaddr", INT)],
    "syscall_exit_futex": [("ret", INT)],
    "syscall_entry_recvfrom": [("fd", INT)],
    "syscall_exit_recvfrom": [("ret", INT)],
    "syscall_entry_fsync": [("fd", INT)],
    "syscall_exit_fsync": [("ret", INT)],
}
IDS = {name: number for number, name in enumerate(EVENTS)}
NAMES = {0: "swapper", 10: "app", 20: "server", 30: "logger", 40: "child"}

# processor, time in us, event, fields
SCRIPT = [
    (0, 1, "sched_switch", 0, 0, 10), (1, 2, "sched_switch", 0, 0, 20),
    (0, 10, "hrtimer_expire_entry", 7), (0, 11, "sched_waking", 30, 0),
    (0, 12, "sched_wakeup", 30, 0), (0, 13, "hrtimer_expire_exit", 7),
    (0, 15, "sched_switch", 10, 0, 30), (0, 40, "sched_switch", 30, 1, 10),
    (0, 50, "syscall_entry_recvfrom", 3), (0, 55, "sched_switch", 10, 1, 0),
    (1, 60, "softirq_entry", 3), (1, 61, "sched_waking", 10, 0), (1, 62, "softirq_exit", 3),
    (0, 70, "sched_switch", 0, 0, 10), (0, 72, "syscall_exit_recvfrom", 5),
    (0, 80, "syscall_entry_futex", 64), (0, 82, "sched_switch", 10, 1, 0),
    (1, 100, "syscall_entry_futex", 64), (1, 103, "sched_waking", 10, 0),
    (1, 105, "syscall_exit_futex", 1), (0, 108, "sched_switch", 0, 0, 10),
    (0, 110, "syscall_exit_futex", 0), (0, 120, "sched_process_fork", 40, 10),
    (0, 121, "sched_wakeup", 40, 1), (0, 130, "syscall_entry_fsync", 4),
    (1, 135, "sched_switch", 20, 1, 40), (0, 140, "sched_switch", 10, 2, 0),
    (0, 300, "irq_handler_entry", 36, "virtio1-req.0"), (0, 302, "softirq_entry", 4),
    (0, 303, "sched_waking", 10, 0), (0, 304, "softirq_exit", 4), (0, 305, "irq_handler_exit", 36, 1),
    (0, 310, "sched_switch", 0, 0, 10), (0, 315, "syscall_exit_fsync", 0),
    (1, 320, "sched_process_exit", 40), (1, 325, "sched_switch", 40, 16, 0),
    (0, 400, "sched_switch", 10, 0x80, 0), (1, 420, "sched_switch", 30, 1, 0),
    (0, 500, "sched_switch", 0, 0, 10),
]


def payload(name, fields):
    """The fields of an event: threads get their names, what is not given is 0."""
    if name == "sched_switch":
        fields = (NAMES[fields[0]], fields[0], fields[1], NAMES[fields[2]], fields[2])
    elif name in ("sched_waking", "sched_wakeup", "sched_process_fork", "sched_process_exit"):
        fields = (NAMES[fields[0]],) + fields
    out = b""
    for value, (_, kind) in zip(fields, EVENTS[name]):
        out += value.encode() + b"\0" if kind == TEXT else struct.pack("<i", value)
    return out


def main(folder):
    """Writes metadata, and a file for each processor."""
    folder.mkdir(parents=True)
    text = METADATA
    for name, fields in EVENTS.items():
        body = " ".join(f"{kind} {field};" for field, kind in fields)
        text += f'event {{ id = {IDS[name]}; name = "{name}"; fields := struct {{ {body} }}; }};\n'
    (folder / "metadata").write_text(text)
    for cpu in (0, 1):
        stream = struct.pack("<I", cpu)
        for on, time_us, name, *fields in SCRIPT:
            if on == cpu:
                stream += struct.pack("<IQ", IDS[name], time_us * 1000) + payload(name, tuple(fields))
        (folder / f"channel_{cpu}").write_bytes(stream)


main(pathlib.Path(sys.argv[1]))
