# SPDX-License-Identifier: MIT
"""Writes kernel events, given as (cpu, time, name, fields), as CTF 1.8: a trace for each host."""
import struct

# Name -> fields, each (name, struct code); "s" is a text.
FIELDS = {
    "sched_switch": [("prev_comm", "s"), ("prev_tid", "i"), ("prev_prio", "i"), ("prev_state", "q"),
                     ("next_comm", "s"), ("next_tid", "i"), ("next_prio", "i")],
    "sched_waking": [("comm", "s"), ("tid", "i"), ("prio", "i"), ("target_cpu", "i")],
    "sched_wakeup": [("comm", "s"), ("tid", "i"), ("prio", "i"), ("target_cpu", "i")],
    "sched_wakeup_new": [("comm", "s"), ("tid", "i"), ("prio", "i"), ("target_cpu", "i")],
    "sched_process_fork": [("parent_comm", "s"), ("parent_tid", "i"), ("child_comm", "s"),
                           ("child_tid", "i")],
    "sched_process_exit": [("comm", "s"), ("tid", "i"), ("prio", "i")],
    "irq_handler_entry": [("irq", "i"), ("name", "s")],
    "irq_handler_exit": [("irq", "i"), ("ret", "i")],
    "softirq_raise": [("vec", "I")],
    "softirq_entry": [("vec", "I")],
    "softirq_exit": [("vec", "I")],
    "hrtimer_expire_entry": [("hrtimer", "Q")],
    "hrtimer_expire_exit": [("hrtimer", "Q")],
    "inet_sock_local_out": [("seq", "I"), ("ack_seq", "I"), ("flags", "H")],
    "inet_sock_local_in": [("seq", "I"), ("ack_seq", "I"), ("flags", "H")],
    "syscall_entry_read": [("fd", "i"), ("count", "Q")],
    "syscall_exit_read": [("ret", "q")],
}
TYPES = {"i": ("integer { size = 32; align = 8; signed = true; }", "<i"),
         "I": ("integer { size = 32; align = 8; }", "<I"),
         "H": ("integer { size = 16; align = 8; }", "<H"),
         "q": ("integer { size = 64; align = 8; signed = true; }", "<q"),
         "Q": ("integer { size = 64; align = 8; }", "<Q"),
         "s": ("string", None)}


def _metadata(host):
    lines = ["/* CTF 1.8 */",
             "trace { major = 1; minor = 8; byte_order = le; packet.header := struct {"
             " integer { size = 32; align = 8; } magic; }; };",
             'env { domain = "kernel"; hostname = "%s"; };' % host,
             "clock { name = monotonic; freq = 1000000000; offset = 0; };",
             "stream { packet.context := struct {"
             " integer { size = 64; align = 8; } packet_size;"
             " integer { size = 64; align = 8; } content_size;"
             " integer { size = 32; align = 8; } cpu_id; };"
             " event.header := struct { integer { size = 16; align = 8; } id;"
             " integer { size = 64; align = 8; map = clock.monotonic.value; } timestamp; }; };"]
    for number, (name, fields) in enumerate(FIELDS.items()):
        members = " ".join(f"{TYPES[code][0]} _{field};" for field, code in fields)
        lines.append(f'event {{ id = {number}; name = "{name}"; fields := struct {{ {members} }}; }};')
    return "\n".join(lines) + "\n"


def _event(time, name, fields):
    made = struct.pack("<HQ", list(FIELDS).index(name), time)
    for field, code in FIELDS[name]:
        value = fields.get(field, "" if code == "s" else 0)
        made += value.encode() + b"\0" if code == "s" else struct.pack(TYPES[code][1], value)
    return made


def write(folder, hosts):
    """One trace below `folder` for each host; events of other names are left out."""
    for host, events in hosts.items():
        place = folder / host
        place.mkdir(parents=True)
        (place / "metadata").write_text(_metadata(host), encoding="ascii")
        for cpu in sorted({event[0] for event in events}):
            body = b"".join(_event(*event[1:]) for event in events
                            if event[0] == cpu and event[2] in FIELDS)
            n_bits = 8 * (4 + 8 + 8 + 4 + len(body))
            head = struct.pack("<IQQI", 0xC1FC1FC1, n_bits, n_bits, cpu)
            (place / f"channel_{cpu}").write_bytes(head + body)
