/* SPDX-License-Identifier: MIT
 *
 * A program that makes code while it runs, as a runtime does: "outer" calls "inner", which keeps a
 * CPU busy. usage: jitted HOW SECONDS [FOLDER], where HOW says which names it writes.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CODE_BYTES = 1 << 16, INNER_BYTES = 16, OUTER_BYTES = 18, TURNS = 200000 };

typedef void (*made_code)(uint64_t n_turns);

static uint8_t *code;

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* With frame pointers: counts its argument down. */
static void make_inner(uint8_t *at)
{
    static const uint8_t bytes[INNER_BYTES] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf8,
                                                0x48, 0xff, 0xc8, 0x75, 0xfb, 0x5d, 0xc3 };
    memcpy(at, bytes, sizeof bytes);
}

static void make_outer(uint8_t *at, const uint8_t *inner)
{
    static const uint8_t front[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0xb8 };
    static const uint8_t end[] = { 0xff, 0xd0, 0x5d, 0xc3 };
    const uint64_t address = (uint64_t)(uintptr_t)inner;
    memcpy(at, front, sizeof front);
    memcpy(at + sizeof front, &address, sizeof address);
    memcpy(at + sizeof front + sizeof address, end, sizeof end);
}

static void run(double seconds)
{
    const uint64_t end_ns = now_ns() + (uint64_t)(seconds * 1e9);
    made_code outer;
    const uint8_t *at = code + 256;
    memcpy(&outer, &at, sizeof outer);
    while (now_ns() < end_ns)
        outer(TURNS);
}

/* ---- perf maps ------------------------------------------------------------------------------- */

static void map_path(char path[64])
{
    (void)snprintf(path, 64, "/tmp/perf-%d.map", (int)getpid());
}

static void other_path(char other[80])
{
    char path[64];
    map_path(path);
    (void)snprintf(other, 80, "%s.other", path);
}

static void write_map(const char *path)
{
    FILE *out = fopen(path, "w");
    if (!out)
        exit(3);
    fprintf(out, "%" PRIxPTR " %x JS:~old /srv/app.js:1:1\n", (uintptr_t)code, CODE_BYTES);
    fprintf(out, "%" PRIxPTR " %x JS:*inner /srv/app.js:12:3\n", (uintptr_t)code, INNER_BYTES);
    fprintf(out, "%" PRIxPTR " %x Lcom/foo/Bar;::outer\n", (uintptr_t)code + 256, OUTER_BYTES);
    (void)fclose(out);
}

static void write_usual(void)
{
    char path[64];
    map_path(path);
    write_map(path);
}

/* What a map of this name may be, and is not to be believed; it is there at once. */
static void write_bad(const char *how)
{
    const struct timespec times[] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
    char path[64], other[80];
    bool is_good = true;
    map_path(path);
    other_path(other);
    write_map(other);
    if (strcmp(how, "stale") == 0)
        is_good = utimensat(AT_FDCWD, other, times, 0) == 0 && rename(other, path) == 0;
    else if (strcmp(how, "foreign") == 0)
        is_good = chown(other, 65533, 65533) == 0 && rename(other, path) == 0;
    else if (strcmp(how, "link") == 0)
        is_good = symlink(other, path) == 0;
    else if (strcmp(how, "pipe") == 0)
        is_good = mkfifo(path, 0600) == 0;
    FILE *out = strcmp(how, "text") == 0 ? fopen(path, "w") : NULL;
    if (out) {
        fprintf(out, "root:x:0:0:secret-of-another-file\n%" PRIxPTR " 1000 inner\n",
                (uintptr_t)code);
        (void)fclose(out);
    }
    if (!is_good)
        exit(4);
}

static void remove_map(void)
{
    char path[64], other[80];
    map_path(path);
    other_path(other);
    (void)unlink(path);
    (void)unlink(other);
}

/* ---- jitdumps -------------------------------------------------------------------------------- */

static FILE *dump_open(const char *folder)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/jit-%d.dump", folder, (int)getpid());
    FILE *out = fopen(path, "w+");
    if (!out)
        exit(5);
    const uint32_t words[] = { 0x4a695444, 1, 40, 62, 0, (uint32_t)getpid() };
    const uint64_t more[] = { now_ns(), 0 };
    (void)fwrite(words, sizeof words, 1, out);
    (void)fwrite(more, sizeof more, 1, out);
    (void)fflush(out);
    if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(out), 0) == MAP_FAILED)
        exit(6);
    return out;
}

static void dump_load(FILE *out, const uint8_t *at, uint64_t n_bytes, uint64_t index,
                      const char *name)
{
    const uint32_t head[] = { 0, (uint32_t)(16 + 40 + strlen(name) + 1 + n_bytes) };
    const uint32_t ids[] = { (uint32_t)getpid(), (uint32_t)getpid() };
    const uint64_t time = now_ns(), address = (uint64_t)(uintptr_t)at;
    const uint64_t words[] = { address, address, n_bytes, index };
    (void)fwrite(head, sizeof head, 1, out);
    (void)fwrite(&time, sizeof time, 1, out);
    (void)fwrite(ids, sizeof ids, 1, out);
    (void)fwrite(words, sizeof words, 1, out);
    (void)fwrite(name, strlen(name) + 1, 1, out);
    (void)fwrite(at, n_bytes, 1, out);
    (void)fflush(out);
}

/* The same addresses are two functions, one after the other. */
static void run_dump(double seconds, const char *folder)
{
    FILE *out = dump_open(folder);
    dump_load(out, code + 256, OUTER_BYTES, 1, "outer");
    dump_load(out, code, INNER_BYTES, 2, "first");
    run(seconds / 2);
    dump_load(out, code, INNER_BYTES, 3, "second");
    run(seconds / 2);
    (void)fclose(out);
}

/* ---- all ------------------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    const char *how = argv[1];
    const double seconds = strtod(argv[2], NULL);
    code = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
                -1, 0);
    if (code == MAP_FAILED)
        return 2;
    make_inner(code);
    make_outer(code + 256, code);
    if (strcmp(how, "map") == 0 || strcmp(how, "fork") == 0)
        write_usual();
    else if (strcmp(how, "none") != 0 && strcmp(how, "late") != 0 && strcmp(how, "dump") != 0)
        write_bad(how);
    printf("ready\n");
    (void)fflush(stdout);
    if (strcmp(how, "dump") == 0) {
        run_dump(seconds, argc > 3 ? argv[3] : ".");
        return 0;
    }
    if (strcmp(how, "fork") == 0) { /* the child has no map of its own */
        const pid_t child = fork();
        if (child == 0) {
            run(seconds);
            _exit(0);
        }
        (void)waitpid(child, NULL, 0);
    } else {
        run(seconds);
    }
    if (strcmp(how, "late") == 0)
        write_usual();
    else
        remove_map(); /* as some runtimes do: the recorder has it open */
    return 0;
}
