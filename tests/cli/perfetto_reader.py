# SPDX-License-Identifier: MIT
"""Reads Perfetto traces slowly: the protobuf wire format by hand, and the rules that its documentation
gives for packets that are not written by its own library. Breaking one raises Broken."""
import struct


class Broken(Exception):
    pass


def varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise Broken(f"varint at byte {at}")
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 0x80:
            return value & (1 << 64) - 1, at


def fields(data):
    """(number, value) of a message; lengths give bytes, fixed64 eight bytes."""
    at, out = 0, []
    while at < len(data):
        tag, at = varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind in (1, 2):
            size = 8
            if kind == 2:
                size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            if at > len(data):
                raise Broken(f"field {number} ends beyond its message")
        else:
            raise Broken(f"wire type {kind} of field {number}")
        out.append((number, value))
    return out


def one(message, number, default=None):
    """The only value of a field that may occur once."""
    values = [value for key, value in message if key == number]
    if len(values) > 1:
        raise Broken(f"field {number} occurs {len(values)} times")
    return values[0] if values else default


def text(value):
    return value.decode("utf-8")  # strict: a string field must be UTF-8


def need(condition, what):
    if not condition:
        raise Broken(what)


def annotation(data):
    message = fields(data)
    name = text(one(message, 10))
    values = [(number, value) for number, value in message if 2 <= number <= 9]
    need(len(values) == 1, f"annotation {name} has {len(values)} values")
    number, value = values[0]
    if number == 4:
        value = value - (1 << 64) if value >> 63 else value
    elif number == 5:
        value = struct.unpack("<d", value)[0]
    elif number in (6, 9):
        value = text(value)
    return name, value


class Trace:
    """tracks: uuid -> {name, parent, process, thread, counter}; slices: dicts with track, name,
    category, start, end, depth, args; instants, counters: dicts with track, at, name, args, value,
    flows. Slices stand in order of their begins."""

    def __init__(self, data):
        self.tracks, self.slices, self.instants, self.counters = {}, [], [], []
        self.clocks, self.sequences, self.open = {}, {}, {}
        for number, value in fields(data):
            need(number == 1, f"field {number} in the trace")
            self.packet(fields(value))
        for track, stack in self.open.items():
            need(not stack, f"{len(stack)} slices of track {track} never end")

    def packet(self, packet):
        sequence_id = one(packet, 10)
        need(sequence_id, "a packet without a sequence")
        flags = one(packet, 13, 0)
        state = self.sequences.get(sequence_id)
        if state is None:
            need(flags & 1, f"sequence {sequence_id} does not begin with cleared state")
        if flags & 1:
            state = self.sequences[sequence_id] = {"names": {}, "categories": {}, "track": None,
                                                   "last": 0, "is_sorted": True}
        payload = [number for number, _ in packet if number in (6, 11, 60)]
        need(len(payload) == 1, f"a packet with {len(payload)} payloads")
        if one(packet, 12) is not None:
            self.intern(state, fields(one(packet, 12)))
        if one(packet, 59) is not None:
            state["track"] = one(fields(one(fields(one(packet, 59)), 11)), 11)
        if payload[0] == 6:
            self.clock(fields(one(packet, 6)))
        elif payload[0] == 60:
            self.track(fields(one(packet, 60)))
        else:
            at = one(packet, 8)
            need(at is not None, "an event without a time")
            state["is_sorted"] = state["is_sorted"] and at >= state["last"]
            state["last"] = at
            self.event(state, flags, at, fields(one(packet, 11)))

    @staticmethod
    def intern(state, message):
        for number, value in message:
            table = {1: "categories", 2: "names"}[number]
            entry = fields(value)
            iid, name = one(entry, 1), text(one(entry, 2))
            need(iid, "an interned string with id 0")
            need(state[table].get(iid, name) == name, f"id {iid} means two strings")
            state[table][iid] = name

    def clock(self, message):
        for number, value in message:
            if number == 1:
                entry = fields(value)
                self.clocks[one(entry, 1)] = one(entry, 2)

    def track(self, message):
        uuid, parent = one(message, 1), one(message, 5)
        need(uuid, "a track without an id")
        need(parent is None or parent in self.tracks, "a track whose parent is unknown")
        track = {"name": text(one(message, 2, b"")), "parent": parent, "process": None,
                 "thread": None, "counter": one(message, 8) is not None}
        if one(message, 3) is not None:
            process = fields(one(message, 3))
            track["process"] = (one(process, 1, 0), text(one(process, 6, b"")))
        if one(message, 4) is not None:
            thread = fields(one(message, 4))
            track["thread"] = (one(thread, 1, 0), one(thread, 2, 0), text(one(thread, 5, b"")))
        need(self.tracks.get(uuid, track) == track, f"track {uuid} is described in two ways")
        self.tracks[uuid] = track

    def event(self, state, flags, at, event):
        kind, track = one(event, 9), one(event, 11, state["track"])
        need(track in self.tracks, f"an event on an unknown track {track}")
        need(one(event, 11) is not None or flags & 2, "a default is used without saying so")
        names = [value for number, value in event if number == 23]
        categories = [text(value) for number, value in event if number == 22]
        for number, value in event:
            if number in (10, 3):
                need(flags & 2, "an interned string is used without saying so")
                table = state["names" if number == 10 else "categories"]
                need(value in table, f"id {value} was not interned")
                (names if number == 10 else categories).append(table[value])
        names = [name if isinstance(name, str) else text(name) for name in names]
        args = dict(annotation(value) for number, value in event if number == 4)
        entry = {"track": track, "at": at, "name": names[0] if names else None,
                 "category": categories[0] if categories else "", "args": args}
        if kind == 1:
            stack = self.open.setdefault(track, [])
            need(entry["name"] is not None, "a slice without a name")
            entry.update(start=at, end=None, depth=len(stack))
            stack.append(entry)
            self.slices.append(entry)
        elif kind == 2:
            need(self.open.get(track), "an end without a begin")
            self.open[track].pop()["end"] = at
        elif kind == 3:
            entry["flows"] = [struct.unpack("<Q", value)[0] for number, value in event
                              if number in (47, 48)]
            self.instants.append(entry)
        elif kind == 4:
            need(self.tracks[track]["counter"], "a counter's value on another track")
            entry["value"] = struct.unpack("<d", one(event, 44))[0]
            self.counters.append(entry)
        else:
            raise Broken(f"an event of type {kind}")
