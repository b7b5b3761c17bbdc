#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""weft serve under load: 50 clients pan and zoom at random over the largest trace, at once, as pages
do: each asks for the levels of detail of 64 threads again and again, now and then for a call or an
interval, and sometimes goes away before the answer is there. No question may fail, and the server
stays within --mem. WEFT_LOAD_SECONDS says how long, and WEFT_LOAD_TRACE over which trace."""
import http.client
import json
import os
import random
import socket
import subprocess
import threading
import time
import urllib.parse

import support

CLIENTS = 50
SECONDS = float(os.environ.get("WEFT_LOAD_SECONDS", "20"))
MEMORY_MB = 512


class Client(threading.Thread):
    def __init__(self, seed, address, threads, duration, until):
        super().__init__()
        self.rng, self.until = random.Random(seed), until
        self.parts = urllib.parse.urlsplit(address)
        self.threads, self.duration = threads, duration
        self.times, self.errors, self.n_gone, self.n_bytes = {}, [], 0, 0
        self.connection = None
        self.window = (0, duration)

    def move(self):
        """Another part: a step to the side, nearer, farther, or all of it."""
        from_ns, to_ns = self.window
        length = max(to_ns - from_ns, 1000)
        length = min(int(length * self.rng.choice([0.1, 0.5, 1, 1, 1, 2, 8])) + 1000, self.duration)
        middle = from_ns + self.rng.randrange(to_ns - from_ns + 1)
        from_ns = min(max(middle - length // 2, 0), self.duration - length)
        self.window = (from_ns, from_ns + length)
        if self.rng.random() < 0.02:
            self.window = (0, self.duration)

    def question(self):
        self.move()
        from_ns, to_ns = self.window
        kind = self.rng.choice(["lod"] * 8 + ["item", "interval"])
        if kind == "item":
            return kind, (f"item?thread={self.rng.choice(self.threads)}"
                          f"&at={self.rng.randrange(from_ns, to_ns)}&depth={self.rng.randrange(4)}")
        some = sorted(self.rng.sample(self.threads, min(64, len(self.threads))))
        ids = ",".join(map(str, some))
        if kind == "interval":
            return kind, f"interval?from={from_ns}&to={to_ns}&limit=20&threads={ids}"
        return kind, f"lod?width=1920&from={from_ns}&to={to_ns}&threads={ids}"

    def ask(self, kind, question):
        target = f"{self.parts.path}api/{question}"
        if self.rng.random() < 0.05:  # a new gesture: the old answer is not awaited
            with socket.create_connection(("127.0.0.1", self.parts.port), timeout=60) as gone:
                gone.sendall(f"GET {target} HTTP/1.1\r\nHost: {self.parts.netloc}\r\n\r\n".encode())
                time.sleep(self.rng.random() * 0.05)
            self.n_gone += 1
            return
        if not self.connection:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.parts.port, timeout=60)
        begin = time.monotonic()
        self.connection.request("GET", target)
        response = self.connection.getresponse()
        n_bytes = len(response.read())
        self.times.setdefault(kind, []).append(time.monotonic() - begin)
        self.n_bytes += n_bytes
        if response.status != 200:
            self.errors.append(f"{response.status} {question[:80]}")

    def run(self):
        while time.monotonic() < self.until:
            try:
                self.ask(*self.question())
            except OSError as error:
                self.errors.append(repr(error))
                self.connection = None
            time.sleep(0.05)


def peak_mb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        rows = dict(line.split(":", 1) for line in status)
    return {key: int(rows[key].split()[0]) / 1024 for key in ("VmHWM", "VmData", "RssAnon")}


def watch(pid, peaks, until):
    while time.monotonic() < until + 2:
        try:
            for key, value in peak_mb(pid).items():
                peaks[key] = max(peaks.get(key, 0), value)
        except (OSError, KeyError):
            return
        time.sleep(0.2)


def serve(store):
    server = subprocess.Popen([support.WEFT, "serve", "-q", "--mem", f"{MEMORY_MB}M", store],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    address = server.stdout.readline().strip()
    parts = urllib.parse.urlsplit(address)
    documents = []
    for name in ("threads", "traces"):
        connection = http.client.HTTPConnection("127.0.0.1", parts.port, timeout=60)
        connection.request("GET", f"{parts.path}api/{name}")
        documents.append(json.loads(connection.getresponse().read()))
        connection.close()
    threads = [row["id"] for row in documents[0]["threads"]]
    return server, address, threads, documents[1]["traces"][0]["duration_ns"]


def report(clients):
    for kind in ("lod", "item", "interval"):
        times = sorted(value for client in clients for value in client.times.get(kind, []))
        if times:
            support.note(f"{kind}: {len(times)} answers, p50 {times[len(times) // 2] * 1e3:.1f} ms, "
                         f"p99 {times[len(times) * 99 // 100] * 1e3:.1f} ms, "
                         f"longest {times[-1] * 1e3:.1f} ms")
    n_bytes = sum(client.n_bytes for client in clients)
    support.note(f"{n_bytes / 1e6:.0f} MB sent; {sum(client.n_gone for client in clients)} clients "
                 "went away")
    return sorted(value for client in clients for times in client.times.values() for value in times)


def main():
    if "WEFT_LOAD_TRACE" in os.environ:
        store = os.environ["WEFT_LOAD_TRACE"]
    else:
        folder = support.unpack("wt_evict_win_large.fdr", "wtperf_xray.funcs.tsv")
        store = support.import_trace(folder / "wt_evict_win_large.fdr", "large", "--map",
                                     folder / "wtperf_xray.funcs.tsv")
    server, address, threads, duration = serve(store)
    until, peaks = time.monotonic() + SECONDS, {}
    clients = [Client(seed, address, threads, duration, until) for seed in range(CLIENTS)]
    watcher = threading.Thread(target=watch, args=(server.pid, peaks, until))
    for thread in (*clients, watcher):
        thread.start()
    for thread in clients:
        thread.join()
    times = report(clients)
    errors = [error for client in clients for error in client.errors]
    support.note(f"memory: {peaks}")
    support.ok(times and not errors, f"{len(times)} answers in {SECONDS:.0f} s, no error", errors[:5])
    support.ok(peaks["VmData"] <= MEMORY_MB and peaks["RssAnon"] <= MEMORY_MB,
               f"at most {MEMORY_MB} MB of memory", peaks)
    server.terminate()
    support.ok(server.wait(timeout=60) == 0, "SIGTERM ends it", server.stderr.read())
    watcher.join()
    support.done()


main()
