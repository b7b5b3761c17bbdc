# SPDX-License-Identifier: MIT
"""Bad input gives a clear error and nothing is lost; the output does not depend on -j."""
import os
import resource
import signal
import subprocess

from support import SHARED, WEFT, WORK, done, import_trace, ok, run, unpack

FOLDER = unpack("synth_events", "wt_update_whole_small.fdr", "wt_evict_win_small.fdr",
                "wt_read_mmap_off")
SMALL = FOLDER / "synth_events.fdr"


def check_refused(name, *arguments, expects=()):
    """Status 1, one sentence on stderr that begins with `weft: `, and no output file."""
    output = WORK / "refused.weft"
    refused = run("import", "-o", output, *arguments)
    ok(refused.returncode == 1, f"{name}: status 1", refused.returncode, refused.stderr)
    ok(refused.stderr.startswith("weft: ") and all(word in refused.stderr for word in expects),
       f"{name}: says what is wrong", refused.stderr)
    ok(not list(WORK.glob("refused*")) and not list(WORK.glob(".refused*")),
       f"{name}: leaves nothing behind", list(WORK.iterdir()))


def limit_files(n_bytes):
    def set_limits():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))
    return set_limits


def check_full_disk(name, n_bytes, command, output, *arguments):
    """A write that fails half-way: an error, and the older file of that name stays as it was."""
    output.write_bytes(b"the old content")
    failed = subprocess.run([WEFT, command, *map(str, arguments), "-o", output],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, check=False,
                            preexec_fn=limit_files(n_bytes), restore_signals=False)
    ok(failed.returncode == 1, f"{name}: status 1", failed.returncode, failed.stderr)
    ok(failed.stderr.startswith("weft: "), f"{name}: says so", failed.stderr)
    ok(output.read_bytes() == b"the old content", f"{name}: the old file stays intact")
    output.unlink()
    ok(not [path for path in WORK.iterdir() if output.stem in path.name],
       f"{name}: leaves nothing behind", list(WORK.iterdir()))


def write(name, content):
    path = WORK / name
    path.write_bytes(content)
    return path


check_refused("a missing file", WORK / "nowhere.fdr", expects=["nowhere.fdr"])
check_refused("a directory", WORK, expects=[WORK.name])
check_refused("an empty file", write("empty.fdr", b""), expects=["empty.fdr"])
check_refused("a wrong magic", write("wrong.fdr", b"\x7fELF" + bytes(64)), expects=["wrong.fdr"])
check_refused("a header alone, cut", write("cut.fdr", SMALL.read_bytes()[:20]), expects=["cut.fdr"])
check_refused("a missing map", SMALL, "--map", WORK / "no.map.yaml", expects=["no.map.yaml"])
check_refused("a missing program", SMALL, "--binary", WORK / "no-program", expects=["no-program"])
check_refused("a program without XRay", SMALL, "--binary", "/bin/sh", expects=["/bin/sh"])
check_refused("a map that is a directory", SMALL, "--map", WORK, expects=[WORK.name])
if os.geteuid() != 0:
    locked = write("locked.fdr", SMALL.read_bytes())
    locked.chmod(0)
    check_refused("a file without permission", locked, expects=["locked.fdr"])

LARGER = FOLDER / "wt_update_whole_small.fdr"
for size in (0, 4096, 300_000):
    check_full_disk(f"no room for the trace after {size} bytes", size, "import",
                    WORK / "full.weft", LARGER)
STORE = import_trace(LARGER, "larger")
check_full_disk("no room for the page", 4096, "report", WORK / "full.html", STORE)
unwritable = run("import", "-o", "/proc/weft.weft", SMALL)
ok(unwritable.returncode == 1 and unwritable.stderr.startswith("weft: "),
   "a folder that takes no file", unwritable.stderr)

for command in ("info", "functions", "regtime", "outliers"):
    for path in (write("not.weft", b"no trace at all"), WORK / "nowhere.weft", WORK):
        refused = run(command, path)
        ok(refused.returncode == 1 and refused.stderr.startswith("weft: "),
           f"{command} of {'a folder' if path == WORK else path.name}: a clear error",
           refused.returncode, refused.stderr)
ok(run("info").returncode == 2 and run("nonsense").returncode == 2, "usage errors: status 2")

for name in ("wt_update_whole_small.fdr", "wt_evict_win_small.fdr", "wt_read_mmap_off.fdr"):
    contents = set()
    answers = set()
    for jobs in (1, 2, 4):
        path = WORK / "jobs.weft"
        imported = run("import", "-q", "-j", jobs, "-o", path, FOLDER / name)
        ok(imported.returncode == 0, f"{name}: imports with -j {jobs}", imported.stderr)
        contents.add(path.read_bytes())
        answers.add(tuple(run(command, "--json", "-j", jobs, path).stdout
                          for command in ("functions", "regtime", "outliers")))
    ok(len(contents) == 1, f"{name}: the trace is the same byte for byte with -j 1, 2, 4")
    ok(len(answers) == 1, f"{name}: so are the answers")

yaml = run("import", "-q", "-o", WORK / "yaml.weft", SMALL, "--map",
           FOLDER / "synth_events.map.yaml")
elf = run("import", "-q", "-o", WORK / "elf.weft", SMALL, "--binary", FOLDER / "synth_events")
tsv = run("import", "-q", "-o", WORK / "tsv.weft", SMALL, "--map", FOLDER / "synth_events.funcs.tsv")
ok((yaml.returncode, elf.returncode, tsv.returncode) == (0, 0, 0),
   "names come from the program, a YAML map, a table", yaml.stderr, elf.stderr, tsv.stderr)
listed = [run("functions", "--format", "csv", WORK / f"{source}.weft").stdout
          for source in ("yaml", "elf", "tsv")]
ok(all("thrower" in text and "catcher" in text for text in listed), "and they are the right ones",
   *listed)
roomy = run("import", "-q", "--mem", "256M", "-o", WORK / "roomy.weft",
            FOLDER / "wt_evict_win_small.fdr")
ok(roomy.returncode == 0, "256 MB hold an import", roomy.stderr)
tight = run("regtime", "-q", "--mem", "1M", WORK / "roomy.weft")
ok(tight.returncode == 1 and "There was no memory for it" in tight.stderr,
   "a ceiling of 1 MB is kept, and said to be too low", tight.returncode, tight.stderr)
ok(SHARED.is_dir(), "the traces are untouched")
done()
