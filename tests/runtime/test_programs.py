#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs from Debian do under the recorder's library what they do without it, and are recorded."""
import hashlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from runtime_support import Recorded, done, equal, ok, run, skip  # noqa: E402
from ring_reader import OPERATIONS  # noqa: E402

PYTHON = """
import queue, threading
lock, done, todo = threading.Lock(), threading.Semaphore(0), queue.Queue()
total = 0
def work():
    global total
    while (n := todo.get()) is not None:
        with lock:
            total += n
        done.release()
threads = [threading.Thread(target=work, name=f"work {i}") for i in range(4)]
for thread in threads: thread.start()
for n in range(2000): todo.put(n)
for n in range(2000): done.acquire()
for thread in threads: todo.put(None)
for thread in threads: thread.join()
timer = threading.Event()
print(total, timer.wait(0.01), threading.active_count())
"""
SQL = "PRAGMA journal_mode=wal; CREATE TABLE t(n INTEGER PRIMARY KEY, s TEXT);" + "".join(
    f"INSERT INTO t VALUES({n}, 'text {n * n}');" for n in range(100)) + (
    "SELECT count(*), sum(n), max(s) FROM t; PRAGMA integrity_check;")


def kinds(it):
    """How often each kind of record is in the rings of all processes of a run."""
    count = {}
    for ring in it.rings(OPERATIONS):
        for events in ring.drain().values():
            for event in events:
                count[event.kind] = count.get(event.kind, 0) + 1
    return count


def same(name, command, wanted, digest=False, files=None):
    """Runs `command` twice, in an empty folder each. `wanted`: kinds of records that must be there."""
    if not shutil.which(command[0]):
        skip(f"{command[0]} is not installed")
        return
    outputs = []
    for is_recorded in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            for path, text in (files or {}).items():
                with open(os.path.join(folder, path), "wb") as file:
                    file.write(text)
            here = ["env", "-C", folder, *command]
            if not is_recorded:
                result = subprocess.run(here, capture_output=True, check=False)
                outputs.append((result.returncode, result.stdout))
                continue
            with Recorded(here) as it:
                out, err = it.process.communicate(timeout=60)
                outputs.append((it.process.returncode, out))
                found = kinds(it)
    if digest:
        outputs = [(status, hashlib.sha256(out).hexdigest()) for status, out in outputs]
    ok(outputs[0] == outputs[1] and outputs[0][0] == 0, f"{name}: the same result",
       f"{outputs} {err}"[:1500])
    ok(all(found.get(kind) for kind in wanted), f"{name}: recorded", found)


def connect(path, server):
    """A connection to the socket of a server that is starting."""
    for _ in range(1000):
        client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        client.settimeout(20)
        try:
            client.connect(path)
            return client
        except OSError:
            client.close()
            if server.process.poll() is not None:
                return None
            time.sleep(0.01)
    return None


def ask(client, text, end):
    client.sendall(text.encode())
    got = b""
    while not got.endswith(end.encode()):
        more = client.recv(1 << 16)
        if not more:
            break
        got += more
    return got.decode()


def memcached():
    if not shutil.which("memcached"):
        skip("memcached is not installed")
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "socket")
        with Recorded(["memcached", "-s", path, "-u", "root", "-t", "4"]) as server:
            client = connect(path, server)
            ok(client is not None, "memcached: starts")
            for n in range(100):
                ask(client, f"set key{n} 0 0 {len(str(n * n))}\r\n{n * n}\r\n", "STORED\r\n")
            got = [ask(client, f"get key{n}\r\n", "END\r\n").split("\r\n")[1] for n in range(100)]
            equal(got, [str(n * n) for n in range(100)], "memcached: what was stored is there")
            client.close()
            server.process.terminate()
            server.wait()
            found = kinds(server)
            ok(found.get("LOCK_ACQUIRED", 0) > 100 and found.get("IO_END", 0) > 100 and
               found.get("THREAD_BEGIN", 0) >= 4, "memcached: recorded", found)


def redis():
    checker = shutil.which("redis-check-rdb") # the same program, in the package without a service
    if not checker:
        skip("redis is not installed")
        return
    with tempfile.TemporaryDirectory() as folder:
        path, program = os.path.join(folder, "socket"), os.path.join(folder, "redis-server")
        os.symlink(os.path.realpath(checker), program)
        with Recorded([program, "--port", "0", "--unixsocket", path, "--dir", folder,
                       "--io-threads", "3", "--appendonly", "yes", "--save", ""]) as server:
            client = connect(path, server)
            ok(client is not None, "redis: starts")
            for n in range(100):
                ask(client, f"SET key{n} {n * n}\r\n", "\r\n")
            answer = ask(client, "BGSAVE\r\n", "\r\n") # a child, that shares its memory
            equal(answer, "+Background saving started\r\n", "redis: saves in a child")
            got = [ask(client, f"GET key{n}\r\n", f"{n * n}\r\n").split("\r\n")[1]
                   for n in range(100)]
            equal(got, [str(n * n) for n in range(100)], "redis: what was stored is there")
            deadline = time.monotonic() + 20
            while "rdb_bgsave_in_progress:1" in ask(client, "INFO persistence\r\n", "\r\n\r\n") and \
                    time.monotonic() < deadline:
                time.sleep(0.02)
            ok("rdb_last_bgsave_status:ok" in ask(client, "INFO persistence\r\n", "\r\n\r\n"),
               "redis: the child has saved")
            if shutil.which("redis-benchmark"):
                with run(["redis-benchmark", "-s", path, "-n", "300", "-c", "8", "--threads", "2",
                          "-t", "set,get", "--csv"]) as bench:
                    ok(bench.status == 0 and bench.out.count("\n") == 3, "redis-benchmark: runs",
                       bench.out + bench.err)
            client.close()
            server.process.terminate()
            server.wait()
            equal(server.status, 0, "redis: ends in order")
            found = kinds(server)
            ok(found.get("IO_END", 0) > 100 and found.get("THREAD_BEGIN", 0) >= 3 and
               found.get("LOCK_ACQUIRED", 0) > 10, "redis: recorded", found)


def sysbench():
    command = ["sysbench", "mutex", "--threads=4", "--mutex-num=4", "--mutex-locks=200",
               "--mutex-loops=10", "run"]
    if not shutil.which("sysbench"):
        skip("sysbench is not installed")
        return
    with run(command, env={"WEFT_RECORD_WORDS": "262144"}) as it:
        found = kinds(it)
        ok(it.status == 0 and "total number of events:              4" in it.out, "sysbench: runs",
           it.out + it.err)
        ok(found.get("LOCK_ACQUIRED", 0) >= 800 and
           found["LOCK_RELEASED"] <= found["LOCK_ACQUIRED"], "sysbench: recorded", found)


text = "".join(f"line {n} of a text that compresses well\n" for n in range(8000)).encode()
same("xz", ["xz", "-1", "-T2", "--block-size=60000", "-c", "text"],
     ["LOCK_ACQUIRED", "WAIT_END", "SIGNAL", "THREAD_BEGIN"], True, {"text": text})
same("pigz", ["pigz", "-n", "-p2", "-b", "128", "-c", "text"],
     ["LOCK_ACQUIRED", "WAIT_END", "IO_END", "THREAD_BEGIN"], True, {"text": text})
same("python3", ["python3", "-c", PYTHON], ["LOCK_ACQUIRED", "THREAD_BEGIN", "IO_END"])
same("sqlite3", ["sqlite3", "db", SQL], ["IO_END"])
memcached()
redis()
sysbench()
done()
