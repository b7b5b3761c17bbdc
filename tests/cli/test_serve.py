#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""weft serve, from outside: what it answers is what the commands print and what a plain look at
every call gives; who may not ask gets nothing; whoever asks nonsense is told so.
usage: test_serve.py WEFT [TRACE.weft]"""
import atexit
import collections
import concurrent.futures
import csv
import gzip
import http.client
import io
import json
import os
import pathlib
import random
import resource
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import time
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tap  # noqa: E402
from tap import ok  # noqa: E402

WEFT = sys.argv[1]
weft = tap.runner(WEFT, text=False)
SEED = int(os.environ.get("WEFT_SEED", "1"))
NAMES = ["main", "get", "put", "hash", "lock_wait", "log"]
TYPES = {"u8": "B", "u16": "H", "u32": "I", "i32": "i", "f64": "d"}
Call = collections.namedtuple("Call", "thread start end depth name self")


def weft_json(*arguments):
    return json.loads(weft(*arguments, "--json").stdout)


# ---- a server and a client -------------------------------------------------------------------------


class Server:
    def __init__(self, *arguments, state=None, n_files=None):
        environment = {**os.environ, "XDG_RUNTIME_DIR": str(state) if state else ""}
        self.process = subprocess.Popen([WEFT, "serve", "-q", *map(str, arguments)], text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env=environment,
                                        preexec_fn=n_files and (lambda: resource.setrlimit(
                                            resource.RLIMIT_NOFILE, (n_files, n_files))))
        atexit.register(self.process.kill)  # a test that fails leaves no server behind
        self.address = self.process.stdout.readline().strip()
        parts = urllib.parse.urlsplit(self.address)
        self.port, self.token = parts.port, parts.path.strip("/")
        self.host = f"127.0.0.1:{self.port}"

    def get(self, path, method="GET", headers=None, under_token=True):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        target = f"/{self.token}/{path}" if under_token else path
        connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
        for name, value in {"Host": self.host, **(headers or {})}.items():
            connection.putheader(name, value)
        connection.endheaders()
        response = connection.getresponse()
        body = response.read()
        connection.close()
        return response, body

    def api(self, name, **parameters):
        query = "&".join(f"{key.rstrip('_')}={value}" for key, value in parameters.items())
        response, body = self.get(f"api/{name}{'?' if query else ''}{query}")
        if response.status != 200:
            raise RuntimeError(f"{name} {query}: {response.status} {body[:300]}")
        if response.getheader("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        if response.getheader("Content-Type") == "application/vnd.weft.columns":
            return read_columns(body)
        return json.loads(body)

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(timeout=60)


def read_columns(body):
    """The header, with the rows of each table as dicts under its name."""
    magic, n_header = struct.unpack_from("<II", body)
    assert magic == 0x43544657 and n_header % 8 == 0
    header = json.loads(body[8:8 + n_header])
    at = 8 + n_header
    for table in header["tables"]:
        columns = {}
        for column in table["columns"]:
            form = f"<{table['rows']}{TYPES[column['type']]}"
            columns[column["name"]] = struct.unpack_from(form, body, at)
            at += (struct.calcsize(form) + 7) // 8 * 8
        header[table["name"]] = [dict(zip(columns, row)) for row in zip(*columns.values())]
    assert at == len(body)
    return header


# ---- a trace ---------------------------------------------------------------------------------------


def write_trace(path, rng, n_roots):
    now, lines = 1000, []

    def call(name, depth):
        nonlocal now
        now += rng.randint(0, 9)
        lines.append(f"0 {name} {now}")
        for _ in range(rng.choice([0, 1, 1, 2, 3]) if depth < 5 else 0):
            call(rng.choice(NAMES[1:]), depth + 1)
        now += 5000 if rng.random() < 0.02 else rng.randint(0, 9)
        lines.append(f"1 {name} {now}")

    for _ in range(n_roots):
        call("main", 0)
    path.write_text("\n".join(lines) + "\n")


def read_calls(trace, thread_of):
    """Every call, from the export."""
    text = weft("export", "-q", "--format", "csv", trace).stdout.decode()
    return [Call(thread_of[int(row["tid"])], int(row["start_ns"]), int(row["end_ns"]),
                 int(row["depth"]), row["function"], int(row["self_ns"]))
            for row in csv.DictReader(io.StringIO(text))]


def has_part(call, from_ns, to_ns):
    return call.start < to_ns and (call.end > from_ns or call.start >= from_ns)


# ---- answers ---------------------------------------------------------------------------------------


def without(value, *keys):
    """The document without these keys anywhere."""
    if isinstance(value, dict):
        return {key: without(item, *keys) for key, item in value.items() if key not in keys}
    return [without(item, *keys) for item in value] if isinstance(value, list) else value


def check_documents(server, trace, threads):
    traces = server.api("traces")
    ok(len(traces["traces"]) == 1 and traces["traces"][0]["name"] == trace.name, "traces", traces)
    ok(server.api("info") == weft_json("info", trace), "info")
    ok([(row["tid"], row["calls"]) for row in threads] ==
       [(row["tid"], row["calls"]) for row in weft_json("info", trace)["thread_list"]], "threads")
    functions = server.api("functions")
    ok(without(functions, "fn") == weft_json("functions", trace), "functions")
    names = server.api("names")["functions"]
    ok(all(names[row["fn"]]["name"] == row["name"] for row in functions["functions"]), "names")
    ok(all(names[row["fn"]]["count"] >= row["count"] for row in functions["functions"])
       and all(names[row["fn"]]["self_ns"] >= row["self_ns"] for row in functions["functions"]),
       "names have the calls and time of their functions")
    tid = threads[-1]["tid"]
    ok(without(server.api("functions", threads=threads[-1]["id"]), "fn") ==
       weft_json("functions", "--tid", tid, trace), "functions of a thread")
    duration = traces["traces"][0]["duration_ns"]
    part = (duration // 3, duration // 2)
    served = server.api("interval", from_=part[0], to=part[1])
    told = weft_json("interval", "--from", f"{part[0]}ns", "--to", f"{part[1]}ns", trace)
    for thread in served["threads"]:
        del thread["thread"]
    ok(without(served, "fn") == told, "interval")
    ok(without(server.api("outliers"), "fn", "thread_id", "context_fn") ==
       weft_json("outliers", trace), "outliers")
    check_regtime(server, trace, part)
    shapes = server.api("shapes")["shapes"]["totals"]
    told = weft_json("shapes", trace)
    ok(shapes["shapes"] == told["shapes"] and shapes["clusters"] == told["clusters"], "shapes",
       shapes)
    for kept in ("regtime", "functions", "shapes"):
        ok(server.api("progress", of=kept)["state"] == "ready", f"progress of {kept}")
    return names, duration


def check_regtime(server, trace, part):
    for options, wanted, name in (
            ({}, (), "regtime"),
            ({"from_": part[0], "to": part[1]}, ("--from", f"{part[0]}ns", "--to", f"{part[1]}ns"),
             "regtime of a part"),
            ({"preset": "fine", "glyphs": 50}, ("--preset", "fine", "--glyphs", 50),
             "regtime with options")):
        served, told = server.api("regtime", **options), weft_json("regtime", *wanted, trace)
        ok(served["shapes"] is None and
           [(row["tid"], row["rows_after"], row["records_after"]) for row in served["threads"]] ==
           [(row["tid"], row["rows_after"], row["records_after"]) for row in told["threads"]], name)


def check_lod(server, calls, threads, duration):
    lod = server.api("lod", width=300)
    ok(sum(item["count"] for item in lod["items"]) == len(calls), "lod: every call is in one item")
    ok([span["id"] for span in lod["threads"]] == [thread["id"] for thread in threads] and
       sum(span["n_items"] for span in lod["threads"]) == len(lod["items"]), "lod: threads")
    longest = max(calls, key=lambda call: call.end - call.start)
    ok(any(item["start_ns"] == longest.start and item["end_ns"] == longest.end
           for item in lod["items"]), "lod: the longest call is there")
    top = server.api("lod", width=300, depths=2)
    ok(top["items"] == [item for item in lod["items"] if item["depth"] < 2],
       "lod: the first levels")
    some = server.api("lod", width=64, threads=threads[0]["id"], from_=duration // 4,
                      to=duration // 2)
    wanted = [call for call in calls if call.thread == threads[0]["id"] and
              call.end - call.start > some["pixel_ns"] and
              has_part(call, duration // 4, duration // 2)]
    got = [item for item in some["items"] if not item["is_cluster"]]
    ok(sorted((item["start_ns"], item["depth"]) for item in got) ==
       sorted((call.start, call.depth) for call in wanted), "lod: calls longer than a pixel",
       f"{len(got)} {len(wanted)}")


def rows_of(answer, names):
    return [(row["thread"], row["start_ns"], row["end_ns"], row["depth"],
             names[row["function"]]["name"]) for row in answer["calls"]]


def plain(call):
    return (call.thread, call.start, call.end, call.depth, call.name)


def check_calls(server, calls, names, duration):
    for name in {call.name for call in random.Random(SEED).sample(calls, 5)}:
        ids = ",".join(str(row["id"]) for row in names if row["name"] == name)
        part = (duration // 5, duration // 2)
        mine = [call for call in calls if call.name == name and has_part(call, *part)]
        if not mine:
            continue
        least = sorted(call.end - call.start for call in mine)[len(mine) // 2]
        wanted = [call for call in mine if call.end - call.start >= least]
        answer = server.api("calls", fn=ids, from_=part[0], to=part[1], min_ns=least, limit=100000)
        ok(answer["total"] == len(wanted) and
           sorted(rows_of(answer, names)) == sorted(plain(call) for call in wanted)[:100000],
           f"calls of {name}")
        lengths = [row["end_ns"] - row["start_ns"] for row in answer["calls"]]
        ok(lengths == sorted(lengths, reverse=True), "the longest first")
        first = server.api("calls", fn=ids, sort="time", limit=3)["calls"]
        ok([row["start_ns"] for row in first] ==
           sorted(call.start for call in calls if call.name == name)[:3], "the earliest")
        histogram = server.api("histogram", fn=ids, from_=part[0], to=part[1])
        ok(histogram["count"] == len(mine) and
           histogram["sum_ns"] == sum(call.end - call.start for call in mine) and
           all(bin["count"] == sum(bin["from_ns"] <= call.end - call.start < bin["to_ns"]
                                   for call in mine) for bin in histogram["bins"]),
           f"histogram of {name}")
        own = server.api("histogram", fn=ids, self_=1)
        every = [call for call in calls if call.name == name]
        ok(own["count"] == len(every) and own["sum_ns"] == sum(call.self for call in every),
           "self times")
        most = sorted(call.self for call in every)[len(every) // 2]
        answer = server.api("calls", fn=ids, self_=1, min_ns=most, limit=100000)
        wanted = sorted(((call.start, call.self) for call in every if call.self >= most),
                        key=lambda one: (-one[1], one[0]))
        ok([(row["start_ns"], row["self_ns"]) for row in answer["calls"]] == wanted and
           answer["total_ns"] == sum(ns for _, ns in wanted), "calls of most self time first")


def check_tree(server, trace, calls, names):
    tree = server.api("tree", limit=1000000)
    told, served = collections.Counter(), collections.Counter()
    for thread in weft_json("interval", trace)["threads"]:
        path = []
        for row in thread["cct"]:
            path[row["depth"]:] = [row["function"]]
            told[tuple(path), "n"] += row["count"]
            told[tuple(path), "sum"] += row["sum_ns"]
            told[tuple(path), "self"] += row["self_ns"]
    path = []
    for node in tree["nodes"]:
        path[node["depth"]:] = [names[node["function"]]["name"]]
        served[tuple(path), "n"] += node["count"]
        served[tuple(path), "sum"] += node["sum_ns"]
        served[tuple(path), "self"] += node["self_ns"]
    ok(told == served and tree["total"] == len(tree["nodes"]), "tree")
    few = server.api("tree", limit=5)
    ok(len(few["nodes"]) == min(5, tree["total"]) and
       few["folded_self_ns"] + sum(node["self_ns"] for node in few["nodes"]) ==
       sum(call.self for call in calls), "a tree of few nodes")


def children_of(calls, at):
    """{name: [count, sum, self]} of the direct callees of calls[at]; calls in pre-order."""
    found = collections.defaultdict(lambda: [0, 0, 0])
    for call in calls[at + 1:]:
        if call.depth <= calls[at].depth:
            break
        if call.depth == calls[at].depth + 1:
            for place, value in enumerate((1, call.end - call.start, call.self)):
                found[call.name][place] += value
    return found


def check_items(server, calls, names, threads):
    rng = random.Random(SEED)
    by_thread = {thread["id"]: [call for call in calls if call.thread == thread["id"]]
                 for thread in threads}
    n_bad = collections.Counter()
    for _ in range(30):
        mine = by_thread[rng.choice([id for id, some in by_thread.items() if some])]
        at = rng.randrange(len(mine))
        call = mine[at]
        item = server.api("item", thread=call.thread, at=call.start, depth=call.depth)
        twins = [other for other in mine if other.start == call.start and other.depth == call.depth]
        if len(twins) == 1:
            served = {}
            for child in item["children"]:
                row = served.setdefault(names[child["function"]]["name"], [0, 0, 0])
                for place, key in enumerate(("count", "sum_ns", "self_ns")):
                    row[place] += child[key]
            n_bad["item"] += not (item["found"] and item["end_ns"] == call.end and
                                  item["self_ns"] == call.self and
                                  names[item["function"]]["name"] == call.name and
                                  len(item["ancestors"]) == call.depth and
                                  served == dict(children_of(mine, at)))
        later = [other for other in mine if other.start > call.start and other.depth == call.depth]
        step = server.api("step", thread=call.thread, at=call.start, depth=call.depth)
        n_bad["next"] += step["found"] != bool(later) or bool(
            later and step["start_ns"] != later[0].start)
        earlier = [other for other in mine if other.start < call.start and
                   other.end - other.start >= 3]
        step = server.api("step", thread=call.thread, at=call.start, direction="previous", min_ns=3)
        n_bad["previous"] += step["found"] != bool(earlier) or bool(
            earlier and step["start_ns"] != earlier[-1].start)
        inside = [other for other in mine if has_part(other, call.start, call.end)]
        subtree = server.api("subtree", thread=call.thread, from_=call.start, to=call.end,
                             limit=200000)
        n_bad["subtree"] += (len(inside) <= 200000 and
                             sorted(rows_of(subtree, names)) != sorted(map(plain, inside)))
    for kind in ("item", "next", "previous", "subtree"):
        ok(n_bad[kind] == 0, f"30 random calls: {kind}", n_bad)
    none = server.api("item", thread=0, at=2 ** 60, depth=0)
    ok(none == {"found": False}, "no call there", none)


# ---- who may not ask, and what may not be asked ----------------------------------------------------


def check_headers(server):
    for path in ("", "weft.js", "weft.css", "api/traces", "api/nothing", "nothing"):
        response, _ = server.get(path)
        ok(response.getheader("Content-Security-Policy", "").startswith("default-src 'none'; ") and
           response.getheader("X-Content-Type-Options") == "nosniff" and
           response.getheader("Referrer-Policy") == "no-referrer" and
           response.getheader("Cache-Control") == "no-store" and
           response.getheader("Cross-Origin-Resource-Policy") == "same-origin",
           f"headers of '{path}'", response.getheaders())
    response, body = server.get("api/names", "HEAD")
    ok(response.status == 200 and body == b"" and int(response.getheader("Content-Length")) > 0,
       "HEAD")


def check_refusals(server):
    token = server.token
    wrong = token[:-1] + ("0" if token[-1] != "0" else "1")
    for name, path in {"a wrong token": f"/{wrong}/api/traces", "no token": "/", "half of it":
                       f"/{token[:16]}/", "one letter more": f"/{token}0/",
                       "upper case": f"/{token.upper()}x/",
                       "up and down": f"/x/../{token}/api/traces"}.items():
        response, body = server.get(path, under_token=False)
        ok(response.status == 403 and body == b"", f"{name} is refused without a word", path)
    for host in ("evil.example", f"evil.example:{server.port}", f"127.0.0.1:{server.port + 1}",
                 "127.0.0.1", ""):
        response, body = server.get("api/traces", headers={"Host": host})
        ok(response.status == 403 and body == b"", f"host '{host}'")
    for host in (f"localhost:{server.port}", f"[::1]:{server.port}"):
        ok(server.get("api/traces", headers={"Host": host})[0].status == 200, f"host '{host}'")
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"):
        response, _ = server.get("api/traces", method)
        ok(response.status == 405 and response.getheader("Allow") == "GET, HEAD", method)
    for path in ("../", "..%2f..%2fetc/passwd", "/etc/passwd", "api/../api/traces", "api/",
                 "api/traces/", "api/traces%00", "weft.js/", "api%2ftraces"):
        ok(server.get(path)[0].status == 404, f"'{path}' is not there")


def check_queries(server):
    bad = ["lod", "lod?width=0", "lod?width=65537", "lod?width=-1", "lod?width=+1", "lod?width=1.5",
           "lod?width=1e3", "lod?width=0x10", "lod?width=", "lod?width", "lod?width=%20", "lod?=1",
           "lod?width=18446744073709551616", "lod?width=99999999999999999999999999",
           "lod?width=1&width=1", "lod?width=1&wid%74h=1", "lod?width=1&from=2&to=1",
           "lod?width=1&x=1", "lod?width=1&depths=0", "lod?width=%zz", "lod?width=1%", "lod?width=1&threads=",
           "lod?width=1&threads=0,", "lod?width=1&threads=0,0", "lod?width=1&threads=1000000",
           "lod?width=1&threads=-1", "info?trace=1", "info?trace=4294967296", "info?width=1",
           "traces?trace=0", "histogram", "histogram?fn=4000000", "histogram?fn=0&self=2",
           "calls?limit=0", "calls?limit=100001", "calls?sort=name", "item?thread=0&at=1",
           "item?thread=9999&at=1&depth=0", "step?thread=0&at=0&direction=up", "progress?of=lod",
           "regtime?preset=none", "subtree?thread=0&limit=200001", "lod?width=1&&threads=0"]
    for query in bad:
        response, body = server.get(f"api/{query}")
        try:
            error = json.loads(body)["error"]
        except (ValueError, KeyError):
            error = {}
        ok(response.status == 400 and error.get("code") == "arg" and error.get("message"),
           f"'{query}' is refused with a sentence", f"{response.status} {body}")
    ok(server.get("api/nothing?x=1")[0].status == 404, "an unknown question")
    ok(server.get("api/lod?width=1&threads=%30%2C1")[0].status == 200, "encoded values")
    ok(server.get("api/traces?" + "a" * 8193)[0].status == 414, "a long query")
    ok(server.get("api/lod?width=1&threads=" + "," * 8000)[0].status == 400, "many commas")
    ok(server.get("x" * 200000)[0].status in (403, 404, 414, 431), "a very long path")


def get_at_last(server, path, seconds=20):
    """The answer's status, once the server has seen that connections were closed."""
    end = time.monotonic() + seconds
    while True:
        try:
            return server.get(path)[0].status
        except (OSError, http.client.HTTPException):
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def raw(server, text, seconds=5):
    """All that is answered to these bytes, and whether the server ended the connection."""
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=seconds)
    answer = b""
    try:
        connection.sendall(text)
        while part := connection.recv(4096):
            answer += part
        return answer, True
    except ConnectionError:
        return answer, True
    except OSError:
        return answer, False
    finally:
        connection.close()


def check_heads(server):
    """What two readers may understand in different ways is refused, and ends the connection."""
    host = f"Host: {server.host}\r\n".encode()
    line = f"/{server.token}/api/traces HTTP/1.1\r\n".encode()
    get = b"GET " + line
    after = get + host + b"Connection: close\r\n\r\n"
    answer, ended = raw(server, get + host + b"Content-Length: 0\r\nConnection: close\r\n\r\n")
    ok(answer.startswith(b"HTTP/1.1 200") and ended, "a body of no bytes is none", answer[:100])
    for name, text in {
            "two hosts": get + host + host + b"\r\n",
            "a second host of another site": get + host + b"hOST: evil.example\r\n\r\n",
            "a body": get + host + b"Content-Length: 5\r\n\r\nhello",
            "a body of HEAD": b"HEAD " + line + host + b"Content-Length: 5\r\n\r\nhello",
            "a body in chunks": get + host + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "a body of another coding": get + host + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
            "length and chunks": get + host + b"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "two lengths": get + host + b"Content-Length: 0\r\nContent-Length: 0\r\n\r\n",
            "two different lengths": get + host + b"Content-Length: 0\r\nContent-Length: 5\r\n\r\nhello",
            "a length with a sign": get + host + b"Content-Length: +0\r\n\r\n",
            "lengths in one line": get + host + b"Content-Length: 0, 0\r\n\r\n",
            "a negative length": get + host + b"Content-Length: -1\r\n\r\n"}.items():
        answer, ended = raw(server, text + after)
        ok(answer.startswith(b"HTTP/1.1 400") and b"HTTP/1.1 200" not in answer and ended, f"{name}: 400, and the end",
           answer[:200])


def loris(server, n, first):
    """Connections that have sent a part of a request."""
    held = []
    for k in range(n):
        try:
            connection = socket.create_connection(("127.0.0.1", server.port), timeout=5)
            connection.setblocking(False)
            connection.send(first if k % 2 else first[:1])
            held.append(connection)
        except OSError:
            pass
    return held


def check_slow_clients(server):
    """A thousand clients who send little by little keep nobody out; nor do those who hold connections open."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    host = f"Host: {server.host}\r\n".encode()
    for name, first in {"half a head": b"GET /x/ HTTP/1.1\r\n" + host,
                        "all of a head": b"GET /x/ HTTP/1.1\r\n" + host + b"\r\n",
                        "empty lines": b"\r\n\r\n\r\n",
                        "a head and part of a body": b"GET /x/ HTTP/1.1\r\n" + host + b"Content-Length: 50\r\n\r\nab",
                        "the token, and no next request":
                            f"GET /{server.token}/api/traces HTTP/1.1\r\n".encode() + host + b"\r\n"}.items():
        held = loris(server, 1000, first)
        longest = 0
        statuses = set()
        for k in range(20):
            for connection in held[k::20]:
                try:
                    connection.send(b"A")
                except OSError:
                    pass
            begin = time.monotonic()
            statuses.add(server.get("api/traces")[0].status)
            longest = max(longest, time.monotonic() - begin)
        ok(statuses == {200} and longest < 1 and len(held) > 900,
           f"{len(held)} slow clients ({name}): answered within {longest * 1000:.0f} ms", (statuses, longest))
        for connection in held:
            connection.close()
    begin = time.monotonic()
    answer, ended = raw(server, b"GET / HTTP/1.1\r\nHost", 30)
    ok(ended and answer == b"" and time.monotonic() - begin < 5, "half a head ends after some seconds",
       time.monotonic() - begin)


def check_connections(server):
    """More connections than there may be, silent ones among them; then bytes that are no HTTP."""
    idle = []
    for _ in range(300):
        try:
            idle.append(socket.create_connection(("127.0.0.1", server.port), timeout=5))
        except OSError:
            break
    for connection in idle[:100]:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: ")
    time.sleep(0.3)
    for connection in idle:
        connection.close()
    ok(len(idle) >= 256 and get_at_last(server, "api/traces") == 200,
       f"{len(idle)} connections, then a question")
    for text in (b"\r\n\r\n", b"GET\r\n\r\n", b"\0\1\2\3" * 50 + b"\r\n\r\n",
                 b"GET / HTTP/9.9\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
                 b"GET " + b"/" * 70000 + b" HTTP/1.1\r\n\r\n",
                 b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 10000 + b"\r\n",
                 b"GET / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
                 b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n"):
        connection = socket.create_connection(("127.0.0.1", server.port), timeout=5)
        try:
            connection.sendall(text)
            connection.shutdown(socket.SHUT_WR)
            answer = connection.recv(64)
        except OSError:
            answer = b""
        connection.close()
        ok(b" 200 " not in answer and server.get("api/traces")[0].status == 200,
           f"{text[:30]!r} is no request", answer)
    reuse = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    statuses = []
    for _ in range(5):
        reuse.request("GET", f"/{server.token}/api/traces")
        response = reuse.getresponse()
        response.read()
        statuses.append(response.status)
    reuse.close()
    ok(statuses == [200] * 5, "five requests on one connection", statuses)


def check_places(trace):
    """A connection ends while the next one takes its place: what is said of the first is not of the second."""
    server = Server(trace)
    silent = [socket.create_connection(("127.0.0.1", server.port), timeout=5) for _ in range(256)]
    time.sleep(0.5)
    server.process.send_signal(signal.SIGSTOP)
    late = socket.create_connection(("127.0.0.1", server.port), timeout=5)
    late.sendall(f"GET /{server.token}/api/traces HTTP/1.1\r\n".encode())
    silent[0].shutdown(socket.SHUT_WR)
    server.process.send_signal(signal.SIGCONT)
    time.sleep(0.3)
    try:
        late.sendall(f"Host: {server.host}\r\n\r\n".encode())
        answer = late.recv(64)
    except OSError as error:
        answer = str(error).encode()
    ok(b" 200 " in answer, "the connection that takes the place of one that ends is answered", answer)
    for connection in (late, *silent):
        connection.close()
    ok(server.end() == 0, "and the server ends")


def check_descriptors(trace):
    """More silent connections than there are descriptors: the oldest leave, and nothing spins."""
    server = Server(trace, n_files=80)

    def cpu_s():
        fields = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    silent = [socket.create_connection(("127.0.0.1", server.port), timeout=5) for _ in range(110)]
    for _ in range(3): # it has work of its own first, which takes longer on a busy machine
        before_s = cpu_s()
        time.sleep(2)
        used_s = cpu_s() - before_s
        if used_s < 0.2:
            break
    ok(used_s < 0.2, "110 silent connections, 80 descriptors: no CPU time", f"{used_s} s of 2")
    silent[0].settimeout(5)
    try:
        is_away = silent[0].recv(1) == b""
    except OSError:
        is_away = False
    ok(is_away, "the oldest connection was closed")
    for connection in silent:
        connection.close()
    ok(get_at_last(server, "api/traces") == 200, "then a question is answered")
    server.process.send_signal(signal.SIGTERM)
    try:
        status = server.process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        server.process.kill()
        status = "no end"
    ok(status == 0, "and the server ends", status)


# ---- the server itself -----------------------------------------------------------------------------


def check_files(trace, folder):
    copy = folder / "noted.weft"
    copy.write_bytes(trace.read_bytes())
    notes, colors = folder / "noted.notes.json", folder / "colors.txt"
    colors.write_text("# as NonSequitur has them\nmain #112233\nstd::map<a, b> f, #AABBCC80\n")
    server = Server(copy, "--colors", colors)
    ok(server.api("notes") == {}, "no notes")
    ok(server.api("colors") ==
       {"functions": {"main": "#112233", "std::map<a, b> f": "#AABBCC80"}}, "colours of lines")
    notes.write_text('{"flags": [1, 2]}')
    ok(server.api("notes") == {"flags": [1, 2]}, "notes")
    notes.write_text('{"flags": [1, 2')
    ok(server.get("api/notes")[0].status == 500, "notes that are no JSON")
    notes.write_text('"' + "x" * (1 << 20) + '"')
    ok(server.get("api/notes")[0].status == 413, "notes that are too large")
    server.end()
    colors.write_text('{"functions": {"a\\"b": "#00ff00"}}')
    server = Server(copy, "--colors", colors)
    ok(server.api("colors") == {"functions": {'a"b': "#00ff00"}}, "colours of JSON")
    server.end()
    colors.write_text("main red\n")
    done = weft("serve", copy, "--colors", colors)
    ok(done.returncode == 1 and b"line 1" in done.stderr, "colours that are none", done.stderr)


def check_together(trace):
    """What is kept for all, asked for the first time by many at once: made twice, it is kept once."""
    server = Server(trace)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda name: (name, server.api(name)), ["names", "functions"] * 8))
    for name in ("names", "functions"):
        texts = {json.dumps(answer) for asked, answer in answers if asked == name}
        ok(len(texts) == 1, f"{name}: one answer for all who ask at once", len(texts))
    ok(server.end() == 0, "of which nothing is left", server.process.stderr.read())


def check_restart(trace, folder):
    state = folder / "state"
    state.mkdir()
    server = Server(trace, state=state)
    address = server.address
    left = list(state.iterdir())
    ok(len(left) == 1 and stat.S_IMODE(left[0].stat().st_mode) == 0o600 and
       server.token in left[0].read_text(), "the address is left, for this user alone", left)
    other = Server(trace, state=state)
    ok(other.port != server.port and other.token != server.token and
       len(list(state.iterdir())) == 1, "a second server has an address of its own")
    other.end()
    server.end(signal.SIGKILL)
    server = Server(trace, state=state)
    ok(server.address == address and server.get("api/traces")[0].status == 200,
       "after a kill the address is the same")
    status = server.end()
    ok(status == 0 and server.process.stderr.read() == "", "SIGTERM ends it, with status 0", status)
    left[0].chmod(0o644)
    server = Server(trace, state=state)
    ok(server.token not in address, "what others could read is not used")
    server.end(signal.SIGINT)
    server = Server(trace)
    port = server.port
    done = weft("serve", "--port", port, trace)
    ok(done.returncode == 1 and str(port).encode() in done.stderr, "a port that is taken",
       done.stderr)
    server.end()
    done = weft("serve", folder / "missing.weft")
    ok(done.returncode == 1 and b"missing.weft" in done.stderr, "a trace that is not there",
       done.stderr)
    ok(weft("serve").returncode == 2 and weft("serve", "--port", "65536", trace).returncode == 2,
       "usage")


def joined(states, pixel):
    """What `states` joins: short ones that follow each other, until they are longer than a pixel."""
    rows = []
    for state in states:
        row = {key: state[key] for key in ("start_ns", "end_ns")}
        is_on = state["state"].startswith("running") and not state["idle"]
        is_on = is_on or state["state"] == "interrupted"
        row.update(count=1, longest_ns=state["duration_ns"],
                   running_ns=state["duration_ns"] if is_on else 0,
                   what=(state["state"], state["reason"] or "none", state["name"] or ""))
        last = rows[-1] if rows else None
        if last and max(last["longest_ns"], last["end_ns"] - last["start_ns"],
                        row["longest_ns"]) <= pixel:
            if row["longest_ns"] > last["longest_ns"]:
                last.update(longest_ns=row["longest_ns"], what=row["what"])
            last.update(end_ns=row["end_ns"], count=last["count"] + 1,
                        running_ns=last["running_ns"] + row["running_ns"])
        else:
            rows.append(row)
    return rows


def check_states(folder):
    script = pathlib.Path(__file__).parent.parent / "golden" / "kernel_trace.py"
    subprocess.run([sys.executable, script, folder / "kernel"], check=True)
    trace = folder / "k.weft"
    weft("import", "-q", "-o", trace, folder / "kernel")
    told = json.loads(weft("states", "--json", trace).stdout)["states"]
    server = Server(trace)
    ok(server.api("traces")["traces"][0]["has_states"] is True, "states: the trace has some")
    by_thread = []  # two may have one tid: those of a thread follow each other
    for state in told:
        last = by_thread[-1][-1] if by_thread else None
        if not last or last["tid"] != state["tid"] or state["start_ns"] < last["end_ns"]:
            by_thread.append([])
        by_thread[-1].append(state)
    for width in (1, 7, 40, 1000):
        got = server.api("states", width=width)
        wanted, found = [joined(own, got["pixel_ns"]) for own in by_thread], []
        for span in (span for span in got["threads"] if span["n_items"] > 0):
            rows = got["items"][span["first_item"]:span["first_item"] + span["n_items"]]
            found.append([{"start_ns": row["start_ns"], "end_ns": row["end_ns"],
                           "count": row["count"], "longest_ns": row["longest_ns"],
                           "running_ns": row["running_ns"],
                           "what": (got["states"][row["state"]], got["reasons"][row["reason"]],
                                    got["names"][row["name"]])} for row in rows])
        ok(wanted == found and sum(map(len, found)) > 0, f"states: as told, on {width} columns",
           f"{wanted} {found}")
    ok(server.end() == 0, "the server of states ends")


def check_compared_csv(server, path, a, b, question, where):
    """Differences as CSV are those of the command, byte by byte."""
    options = ["--type", question["type"]] if "db" in question else ["--begin", question["begin"]]
    told = weft("compare", "--format", "csv", "--a", a, "--b", b, *options, path).stdout
    text = "&".join(f"{key}={urllib.parse.quote(str(value))}" for key, value in
                    {**question, "a": a, "b": b, "csv": 1}.items())
    response, body = server.get(f"api/compare?{text}")
    ok(response.status == 200 and response.headers["Content-Type"].startswith("text/csv"),
       f"differences of {where} as CSV", response.status)
    ok(body == told and len(told.splitlines()) > 1,
       f"differences of {where} as CSV are those of the command", f"{body[:300]} {told[:300]}")


def check_compared(server, path, wanted, question, where):
    """Executions as the command lists them; groups of a comparison as a plain look at each."""
    told = server.api("executions", **question)
    rows = told["executions"]
    ok(sorted((row["start_ns"], row["end_ns"]) for row in rows) == sorted(wanted),
       f"executions of {where}", f"{len(rows)} {len(wanted)}")
    lengths = [row["end_ns"] - row["start_ns"] for row in rows]
    ok([row["value"] for row in told["metric_0"]] == lengths, f"durations of {where}")
    middle = int(sorted(lengths)[len(lengths) // 2])
    a, b = (urllib.parse.quote(f"duration{op}{middle}ns") for op in ("<", ">="))
    answer = server.api("compare", a=a, b=b, **question)
    check_compared_csv(server, path, f"duration<{middle}ns", f"duration>={middle}ns", question,
                       where)
    ok(answer["verdict"].startswith(answer["answer"]) and
       answer["verdict"].endswith(answer["grounds"]) and answer["answer"],
       f"the verdict of {where} is its answer and its grounds", answer["verdict"])
    slow = [length >= middle for length in lengths]
    ok((answer["a"], answer["b"]) == (slow.count(False), slow.count(True)) and
       [row["value"] for row in answer["members"]] == [2 if is_slow else 1 for is_slow in slow] and
       answer["verdict"], f"groups of {where}", answer["verdict"])
    for bad in ({"a": urllib.parse.quote("duration<")}, {"node": 1 << 30}, {"draft": 2}):
        text = "&".join(f"{key}={value}" for key, value in {**question, **bad}.items())
        name = "executions" if "node" in bad else "compare"
        status = server.get(f"api/{name}?{text}")[0].status
        ok(status == 400, f"{name} of {where}: {next(iter(bad))} refused", status)


def check_cut(server, question, path, where):
    """The groups to begin with are those of `weft diagnose`, which are told in its command."""
    told = server.api("cut", **question)
    options = ["--type", question["type"]] if "db" in question else ["--begin", question["begin"]]
    found = weft_json("diagnose", *options, path)["types"][0]
    if not found["filter_a"]:
        ok(told == {"by": "nothing"}, f"no cut of {where}, as diagnose has none", told)
        return
    wanted = {"by": "durations", "a_max_ns": found["tail"]["fast_max_ns"],
              "b_min_ns": found["tail"]["slow_min_ns"]}
    ok(told == wanted, f"the cut of {where} is that of diagnose", f"{told} {found['tail']}")


def check_diagnose(server, question, path, where):
    """The JSON of the command, with the rules that were tried; nonsense is refused."""
    wanted = weft_json("diagnose", *[word for key in ("begin", "type") if key in question
                                     for word in (f"--{key}", question[key])], path)
    if "db" not in question:  # commands have the name of the file, as if they were typed beside it
        wanted = json.loads(json.dumps(wanted).replace(str(path), path.name))
    told = server.api("diagnose", **question)
    ok("db" in question or str(path.parent) not in json.dumps(told), f"no folder in the findings of {where}", told)
    ok(told == wanted, f"the findings of {where}", f"{told} {wanted}")
    told = server.api("diagnose", explain=1, **question)["types"][0]
    ok(told["explain"][-1]["outcome"] == "fired" and told["explain"][-1]["rule"] == told["verdict"],
       f"the rules of {where}", told["explain"])
    text = "&".join(f"{key}={value}" for key, value in question.items())
    for bad in ("a=duration%3C", "explain=2", "end=call:x" if "db" in question else "type=none"):
        status = server.get(f"api/diagnose?{text}&{bad}")[0].status
        ok(status == 400, f"diagnose of {where}: {bad} refused", status)


def check_trifles(folder):
    """Calls that cost next to nothing are no less than what somebody asks for."""
    rng, now, lines = random.Random(1), 1000, ["0 main 0"]
    kinds = ["disk"] * 60 + ["net"] * 12 + [None] * 528
    rng.shuffle(kinds)
    for kind in kinds:
        start = now + rng.randint(2500000, 5000000)
        now = start + rng.randint(900, 1100)
        lines.append(f"0 get {start}")
        if kind:
            lines.append(f"0 {kind} {now}")
            now += rng.randint(2000, 2100) if kind == "disk" else rng.randint(40000, 42000)
            lines.append(f"1 {kind} {now}")
        now += 3
        lines.append(f"1 get {now}")
    (folder / "trifles.txt").write_text("\n".join([*lines, f"1 main {now + 10}"]) + "\n")
    trace = folder / "trifles.weft"
    done = weft("import", "-q", "-o", trace, folder / "trifles.txt")
    ok(done.returncode == 0, "a trace of trifles", done.stderr)
    proposed = weft_json("diagnose", trace)["types"][0]
    asked = weft_json("diagnose", "--begin", "call:get", trace)["types"][0]
    ok(not proposed["significant"] and asked["significant"], "trifles are significant only if they are asked for",
       f"{proposed['filter_b']} {asked['filter_b']}")
    database = folder / "trifles.db"
    done = weft("executions", "-q", "--db", database, trace)
    ok(done.returncode == 0, "a database of what the trace suggests", done.stderr)
    server = Server(trace, database)
    check_cut(server, {"db": 0, "type": "get"}, database, "what the trace suggests, in a database")
    check_diagnose(server, {"db": 0, "type": "get"}, database, "what it suggests, in a database")
    check_cut(server, {"type": "get", "begin": "call:get"}, trace, "trifles")
    check_diagnose(server, {"type": "get", "begin": "call:get"}, trace, "trifles")
    check_diagnose(server, {}, trace, "what the trace suggests")
    ok(server.end() == 0, "the server of trifles ends", server.process.stderr.read())


def check_many_types(folder):
    """Types beyond those that are looked at are counted; a limit of 0 is all rows of a list, as in the command."""
    lines, now = [], 0
    for turn in range(20):
        for kind in range(19):
            lines += [f"0 step{kind} {now}", f"1 step{kind} {now + 700 + 13 * turn}"]
            now += 2000
    (folder / "types.txt").write_text("\n".join(lines) + "\n")
    trace = folder / "types.weft"
    done = weft("import", "-q", "-o", trace, folder / "types.txt")
    ok(done.returncode == 0, "a trace of 19 types", done.stderr)
    wanted = weft_json("diagnose", trace)
    ok(len(wanted["types"]) == 16 and wanted["types_not_examined"] == 3 and wanted["omitted"] == [],
       "JSON counts the types beyond 16", wanted["types_not_examined"])
    database = folder / "types.db"
    done = weft("executions", "-q", "--db", database, trace)
    ok(done.returncode == 0, "a database of them", done.stderr)
    server = Server(trace, own_trace(folder), database)
    ok(server.api("diagnose")["types_not_examined"] == 3, "over HTTP, too")
    of_list = {limit: len(server.api("roots", trace=1, limit=limit)["rows"]) for limit in (0, 1)}
    rows = len(weft_json("roots", "--limit", 0, folder / "t.weft")["rows"])
    ok(of_list == {0: rows, 1: 1} and rows > 1, "limit=0: all rows of a list", of_list)
    ok(server.end() == 0, "the server of many types ends", server.process.stderr.read())


def check_gone(folder):
    """A client that goes away ends the work on a database."""
    database = folder / "large.db"
    maker = os.path.join(os.environ.get("WEFT_BUILD_ROOT", "build/dev"), "tests/made_executions")
    if not os.access(maker, os.X_OK):
        tap.skip("made_executions is not built")
        return
    rng, lines = random.Random(3), ["source get - large.weft"]
    for i in range(150000):
        parts = " ".join(f"f:get;f:part{k};s:running={rng.randrange(1000, 9000)}" for k in rng.sample(range(100), 12))
        slow = f" f:get;l:store;s:running={rng.randrange(10**6, 10**8)}" if i % 9 == 0 else ""
        lines.append(f"item worker {i * 10**6} - {parts}{slow}")
    made = subprocess.run([maker, database], input="\n".join(lines) + "\n", text=True, capture_output=True, check=False)
    ok(made.returncode == 0, "a large database", made.stderr)
    server = Server(database)
    began = time.monotonic()
    server.api("diagnose", db=0, type="get")
    whole_s = time.monotonic() - began
    gone = socket.create_connection(("127.0.0.1", server.port))
    gone.sendall(f"GET /{server.token}/api/diagnose?db=0&type=get HTTP/1.1\r\nHost: {server.host}\r\n\r\n".encode())
    time.sleep(0.1)
    gone.close()
    began = time.monotonic()
    server.api("types", db=0)  # the same worker
    waited_s = time.monotonic() - began
    ok(waited_s < whole_s / 2, f"a client that is gone has its work ended: {waited_s:.2f} s instead of {whole_s:.2f} s")
    ok(server.end() == 0, "its server ends", server.process.stderr.read())


def check_builds(folder):
    """Of builds the one that was put in first is the base, whatever its name."""
    database = folder / "builds.db"
    for i, tag in enumerate(("zebra", "middle", "ape", "zebra", "middle")):
        trace = own_trace(folder, SEED + i)
        done = weft("executions", "-q", "--begin", "call:get", "--type", "get", "--tag", tag,
                    "--db", database, trace)
        ok(done.returncode == 0, f"a build {tag} {i}", done.stderr)
    server = Server(own_trace(folder), database)
    ok(server.api("cut", db=0, type="get") == {"by": "tags", "a": "zebra", "b": "ape"},
       "the build that was there first is A, the last B", server.api("cut", db=0, type="get"))
    ok(server.get("api/cut?db=0&type=none")[0].status == 400, "the cut of no type is refused")
    ok(server.end() == 0, "the server of builds ends", server.process.stderr.read())


def check_executions(trace, folder):
    """Paths, executions and comparisons: of a trace, and of a database beside it."""
    database = folder / "executions.db"
    rule = ("--begin", "call:get", "--type", "get")
    done = weft("executions", "-q", *rule, "--db", database, trace)
    ok(done.returncode == 0, "a database", done.stderr)
    listed = weft_json("executions", "--begin", "call:get", "--type", "get", "--limit", 0, trace)
    wanted = [(row["start_ns"], row["end_ns"]) for row in listed["executions"]]
    damaged = folder / "damaged.db"
    damaged.write_bytes(database.read_bytes()[:100] + bytes(database.stat().st_size - 100))
    server = Server(trace, database, damaged)
    for text, want in (("begin=nonsense", 400), ("begin=call:get&end=nonsense", 400), ("db=1", 500),
                       ("db=1&a=duration%3C1ms", 500)):
        status = server.get(f"api/diagnose?{text}")[0].status
        ok(status == want, f"diagnose?{text}: {want}", status)
    check_compared(server, trace, wanted, {"type": "get", "begin": "call:get"}, "a trace")
    check_compared(server, database, wanted, {"db": 0, "type": "get"}, "a database")
    check_cut(server, {"type": "get", "begin": "call:get"}, trace, "a trace")
    check_cut(server, {"db": 0, "type": "get"}, database, "a database")
    check_diagnose(server, {"type": "get", "begin": "call:get"}, trace, "a trace")
    check_diagnose(server, {"db": 0, "type": "get"}, database, "a database")
    ok([(row["name"], row["count"]) for row in server.api("types", db=0)["types"]] ==
       [("get", len(wanted))], "types of a database")
    start, end = max(wanted, key=lambda one: one[1] - one[0])
    path = server.api("path", thread=0, from_=int(start), to=int(end))
    ok(path["segments_total"] == len(path["segments"]) and
       sum(row["end_ns"] - row["start_ns"] for row in path["segments"]) == end - start,
       "a path is as long as its time")
    for bad in ("path?thread=99999", "path?thread=0&from=9&to=3", "types?db=7", "executions",
                "executions?begin=nonsense", "compare?db=0&type=none", "path?span=none"):
        status = server.get(f"api/{bad}")[0].status
        ok(400 <= status < 500, f"{bad} is refused", status)
    ok(server.end() == 0, "the server of executions ends", server.process.stderr.read())


def own_trace(folder, seed=SEED):
    rng = random.Random(seed)
    files = [folder / f"t-{tid}.txt" for tid in (11, 12, 13)]
    for path in files:
        write_trace(path, rng, 120)
    trace = folder / "t.weft"
    done = weft("import", "-q", "-o", trace, *files)
    ok(done.returncode == 0, "a trace", done.stderr.decode())
    return trace


def main():
    if b"built without its server" in weft("serve", "/dev/null").stderr:
        print("1..0 # SKIP built without libmicrohttpd")
        return
    with tempfile.TemporaryDirectory(dir=os.environ.get("WEFT_BUILD_ROOT")) as name:
        folder = pathlib.Path(name)
        trace = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else own_trace(folder)
        server = Server(trace)
        ok(server.address.startswith("http://127.0.0.1:") and len(server.token) == 32, "an address",
           server.address)
        threads = server.api("threads")["threads"]
        names, duration = check_documents(server, trace, threads)
        calls = read_calls(trace, {thread["tid"]: thread["id"] for thread in threads})
        check_lod(server, calls, threads, duration)
        check_calls(server, calls, names, duration)
        check_tree(server, trace, calls, names)
        check_items(server, calls, names, threads)
        check_headers(server)
        check_refusals(server)
        check_queries(server)
        check_connections(server)
        check_heads(server)
        check_slow_clients(server)
        ok(server.end() == 0, "the server ends", server.process.stderr.read())
        check_places(trace)
        check_descriptors(trace)
        check_together(trace)
        check_files(trace, folder)
        check_restart(trace, folder)
        check_states(folder)
        check_executions(own_trace(folder), folder)
        check_trifles(folder)
        check_builds(folder)
        check_many_types(folder)
        check_gone(folder)
    tap.done()


main()
