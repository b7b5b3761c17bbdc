/* SPDX-License-Identifier: MIT
 *
 * Builds perf.data and trace.dat of either byte order in memory: records of tracepoints, with the
 * formats that describe them, in files, pipes, pages and sections.
 */
#ifndef WEFT_TESTS_KERNEL_BUILDER_H
#define WEFT_TESTS_KERNEL_BUILDER_H

#include "xray_builder.h"

#include <stdio.h>
#include <zlib.h>
#include <zstd.h>

/* Numbers of tracepoints. */
enum { KB_SWITCH = 10, KB_WAKING, KB_SOFTIRQ, KB_SYSCALL, KB_ODD, KB_FORK, KB_EXIT, KB_END };

struct kb {
    struct xb out;
    bool is_big;
};

__attribute__((unused)) static void kb_fini(struct kb *kb)
{
    xb_fini(&kb->out);
}

__attribute__((unused)) static void kb_int(struct kb *kb, uint64_t value, size_t n_bytes)
{
    for (size_t k = 0; k < n_bytes; k++) {
        const size_t place = kb->is_big ? n_bytes - 1 - k : k;
        xb_int(&kb->out, place < 8 ? value >> 8 * place & 255 : 0, 1);
    }
}

__attribute__((unused)) static void kb_set(struct kb *kb, size_t at, uint64_t value, size_t n_bytes)
{
    for (size_t k = 0; k < n_bytes; k++) {
        const size_t place = kb->is_big ? n_bytes - 1 - k : k;
        kb->out.bytes[at + k] = (uint8_t)(place < 8 ? value >> 8 * place : 0);
    }
}

__attribute__((unused)) static void kb_bytes(struct kb *kb, const void *bytes, size_t n_bytes)
{
    xb_bytes(&kb->out, bytes, n_bytes);
}

/* With its NUL. */
__attribute__((unused)) static void kb_text(struct kb *kb, const char *text)
{
    kb_bytes(kb, text, strlen(text) + 1);
}

/* A field of 16 bytes. */
__attribute__((unused)) static void kb_comm(struct kb *kb, const char *name)
{
    char padded[16] = "";
    memcpy(padded, name, strlen(name) < 15 ? strlen(name) : 15);
    kb_bytes(kb, padded, sizeof padded);
}

__attribute__((unused)) static void kb_align(struct kb *kb, size_t to)
{
    while (kb->out.n_bytes % to)
        kb_int(kb, 0, 1);
}

/* ---- formats ----------------------------------------------------------------------------------
 */

#define KB_COMMON                                                                                  \
    "format:\n"                                                                                    \
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                         \
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                         \
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"                 \
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

/* What the formats that tell it say of the machine; NULL: nothing. */
static const char *kb_machine;

/* System, format. */
__attribute__((unused)) static const char *const kb_formats[][2] = {
    { "sched", "name: sched_switch\nID: 10\n" KB_COMMON
               "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
               "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
               "\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
               "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
               "\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
               "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
               "\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n\nprint fmt: \"x\"\n" },
    { "sched", "name: sched_waking\nID: 11\n" KB_COMMON
               "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
               "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
               "\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
               "\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n" },
    { "irq", "name: softirq_entry\nID: 12\n" KB_COMMON
             "\tfield:unsigned int vec;\toffset:8;\tsize:4;\tsigned:0;\n" },
    { "raw_syscalls",
      "name: sys_enter\nID: 13\n" KB_COMMON "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
      "\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n" },
    { "test", "name: odd\nID: 14\n" KB_COMMON "\tfield:short n;\toffset:8;\tsize:2;\tsigned:1;\n"
              "\tfield:u8 mac[6];\toffset:10;\tsize:6;\tsigned:0;\n"
              "\tfield:__data_loc char[] text;\toffset:16;\tsize:4;\tsigned:0;\n"
              "\tfield:unsigned int pair[2];\toffset:20;\tsize:8;\tsigned:0;\n"
              "\tfield:char rest[];\toffset:28;\tsize:0;\tsigned:0;\n" },
    { "sched", "name: sched_process_fork\nID: 15\n" KB_COMMON
               "\tfield:char parent_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
               "\tfield:pid_t parent_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
               "\tfield:char child_comm[16];\toffset:28;\tsize:16;\tsigned:0;\n"
               "\tfield:pid_t child_pid;\toffset:44;\tsize:4;\tsigned:1;\n" },
    { "sched", "name: sched_process_exit\nID: 16\n" KB_COMMON
               "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
               "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n" },
};

enum { KB_FORMATS = sizeof kb_formats / sizeof *kb_formats };

__attribute__((unused)) static void kb_format(struct kb *kb, const char *text)
{
    kb_int(kb, strlen(text), 8);
    kb_bytes(kb, text, strlen(text));
}

__attribute__((unused)) static void kb_tracing_begin(struct kb *kb, const char *version)
{
    kb_bytes(kb, "\x17\x08\x44tracing", 10);
    kb_text(kb, version);
    kb_int(kb, kb->is_big, 1);
    kb_int(kb, 8, 1);
    kb_int(kb, 256, 4); /* bytes of a page */
}

__attribute__((unused)) static void kb_headers(struct kb *kb)
{
    kb_text(kb, "header_page");
    kb_format(kb, "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
                  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                  "\tfield: char data;\toffset:16;\tsize:240;\tsigned:1;\n");
    kb_text(kb, "header_event");
    kb_format(kb, "# compressed entry header\n");
}

__attribute__((unused)) static void kb_events(struct kb *kb)
{
    kb_int(kb, KB_FORMATS, 4);
    for (size_t k = 0; k < KB_FORMATS; k++) {
        kb_text(kb, kb_formats[k][0]);
        kb_int(kb, 1, 4);
        kb_format(kb, kb_formats[k][1]);
    }
}

static const char kb_print[] =
    "name: print\nID: 5\n" KB_COMMON "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
    "\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:0;\n";

__attribute__((unused)) static void kb_ftrace(struct kb *kb)
{
    kb_int(kb, 1, 4);
    kb_format(kb, kb_print);
}

__attribute__((unused)) static void kb_tracing(struct kb *kb)
{
    kb_headers(kb);
    kb_ftrace(kb);
    kb_events(kb);
    kb_int(kb, 0, 4); /* kallsyms */
    kb_int(kb, 0, 4); /* texts of printk */
}

/* ---- records of tracepoints -------------------------------------------------------------------
 */

static void kb_common(struct kb *kb, unsigned id, uint32_t tid)
{
    kb_int(kb, id, 2);
    kb_int(kb, 0, 2);
    kb_int(kb, tid, 4);
}

__attribute__((unused)) static void kb_switch(struct kb *kb, uint32_t prev, const char *prev_comm,
                                              uint64_t state, uint32_t next, const char *next_comm)
{
    kb_common(kb, KB_SWITCH, prev);
    kb_comm(kb, prev_comm);
    kb_int(kb, prev, 4);
    kb_int(kb, 120, 4);
    kb_int(kb, state, 8);
    kb_comm(kb, next_comm);
    kb_int(kb, next, 4);
    kb_int(kb, 120, 4);
}

__attribute__((unused)) static void kb_waking(struct kb *kb, uint32_t tid, uint32_t wakee,
                                              const char *comm, uint32_t target)
{
    kb_common(kb, KB_WAKING, tid);
    kb_comm(kb, comm);
    kb_int(kb, wakee, 4);
    kb_int(kb, 120, 4);
    kb_int(kb, target, 4);
}

__attribute__((unused)) static void kb_softirq(struct kb *kb, uint32_t tid, uint32_t vec)
{
    kb_common(kb, KB_SOFTIRQ, tid);
    kb_int(kb, vec, 4);
}

__attribute__((unused)) static void kb_syscall(struct kb *kb, uint32_t tid, uint64_t number)
{
    kb_common(kb, KB_SYSCALL, tid);
    kb_int(kb, number, 8);
    for (uint64_t k = 0; k < 6; k++) /* arguments: 33, 'A', 'a' ... */
        kb_int(kb, 33 + 32 * k, 8);
}

__attribute__((unused)) static void kb_odd(struct kb *kb, uint32_t tid, int n, const char *text)
{
    const size_t n_text = strlen(text) + 1;
    kb_common(kb, KB_ODD, tid);
    kb_int(kb, (uint64_t)(int64_t)n, 2);
    kb_bytes(kb, "\1\2\3\4\5\377", 6);
    kb_int(kb, 28 | (uint64_t)n_text << 16, 4);
    kb_int(kb, 7, 4);
    kb_int(kb, UINT32_MAX, 4);
    kb_text(kb, text);
}

__attribute__((unused)) static void kb_fork(struct kb *kb, uint32_t tid, uint32_t child,
                                            const char *comm)
{
    kb_common(kb, KB_FORK, tid);
    kb_comm(kb, comm);
    kb_int(kb, tid, 4);
    kb_comm(kb, comm);
    kb_int(kb, child, 4);
}

__attribute__((unused)) static void kb_exit(struct kb *kb, uint32_t tid, const char *comm)
{
    kb_common(kb, KB_EXIT, tid);
    kb_comm(kb, comm);
    kb_int(kb, tid, 4);
}

/* ---- perf.data --------------------------------------------------------------------------------
 */

enum {
    PB_IDENTIFIER = 1 << 16,
    PB_TYPE = 1 | 2 | 4 | 128 | 256 | PB_IDENTIFIER,
    PB_RAW = 1 << 10,
    PB_CHAIN = 1 << 5,
    PB_CLOCK_ID = 200
};

/* Where a record began; pb_end sets its size. */
__attribute__((unused)) static size_t pb_begin(struct kb *kb, uint32_t type, uint32_t misc)
{
    kb_int(kb, type, 4);
    kb_int(kb, misc, 2);
    kb_int(kb, 0, 2);
    return kb->out.n_bytes - 8;
}

__attribute__((unused)) static void pb_end(struct kb *kb, size_t at)
{
    kb_align(kb, 8);
    kb_set(kb, at + 6, kb->out.n_bytes - at, 2);
}

/* What all samples begin with. */
__attribute__((unused)) static size_t pb_sample(struct kb *kb, uint64_t id, uint32_t misc,
                                                uint32_t pid, uint32_t tid, uint64_t time_ns,
                                                uint32_t cpu)
{
    const size_t at = pb_begin(kb, 9, misc);
    kb_int(kb, id, 8);
    kb_int(kb, 0x401005, 8);
    kb_int(kb, pid, 4);
    kb_int(kb, tid, 4);
    kb_int(kb, time_ns, 8);
    kb_int(kb, cpu, 4);
    kb_int(kb, 0, 4);
    kb_int(kb, 1000, 8);
    return at;
}

/* A record of a tracepoint, whose number its first bytes are; `raw` is emptied. */
__attribute__((unused)) static void pb_tracepoint(struct kb *kb, uint32_t pid, uint32_t tid,
                                                  uint64_t time_ns, uint32_t cpu, struct kb *raw)
{
    const unsigned id = raw->out.bytes[raw->is_big];
    const size_t at = pb_sample(kb, 100 + id, 1, pid, tid, time_ns, cpu);
    const size_t n_raw = (raw->out.n_bytes + 4 + 7) / 8 * 8 - 4;
    kb_int(kb, n_raw, 4);
    kb_bytes(kb, raw->out.bytes, raw->out.n_bytes);
    pb_end(kb, at);
    raw->out.n_bytes = 0;
}

/* A sample of the clock. */
__attribute__((unused)) static void pb_clock(struct kb *kb, uint32_t pid, uint32_t tid,
                                             uint64_t time_ns, uint32_t cpu, const uint64_t *chain,
                                             size_t n_chain)
{
    const size_t at = pb_sample(kb, PB_CLOCK_ID, 2, pid, tid, time_ns, cpu);
    kb_int(kb, n_chain, 8);
    for (size_t k = 0; k < n_chain; k++)
        kb_int(kb, chain[k], 8);
    pb_end(kb, at);
}

/* What all other records end with. */
__attribute__((unused)) static void pb_trailer(struct kb *kb, size_t at, uint32_t pid, uint32_t tid,
                                               uint64_t time_ns, uint32_t cpu)
{
    kb_align(kb, 8);
    kb_int(kb, pid, 4);
    kb_int(kb, tid, 4);
    kb_int(kb, time_ns, 8);
    kb_int(kb, cpu, 4);
    kb_int(kb, 0, 4);
    kb_int(kb, PB_CLOCK_ID, 8);
    pb_end(kb, at);
}

__attribute__((unused)) static void pb_comm(struct kb *kb, uint32_t pid, uint32_t tid,
                                            const char *name, uint64_t time_ns)
{
    const size_t at = pb_begin(kb, 3, 0);
    kb_int(kb, pid, 4);
    kb_int(kb, tid, 4);
    kb_text(kb, name);
    pb_trailer(kb, at, pid, tid, time_ns, 0);
}

__attribute__((unused)) static void pb_mmap(struct kb *kb, uint32_t pid, uint64_t begin,
                                            uint64_t n_bytes, const char *path, uint64_t time_ns)
{
    const size_t at = pb_begin(kb, 10, 2);
    kb_int(kb, pid, 4);
    kb_int(kb, pid, 4);
    kb_int(kb, begin, 8);
    kb_int(kb, n_bytes, 8);
    kb_int(kb, 0x1000, 8);
    for (size_t k = 0; k < 4; k++)
        kb_int(kb, 0, 8);
    kb_text(kb, path);
    pb_trailer(kb, at, pid, pid, time_ns, 0);
}

/* FORK (7) or EXIT (4). */
__attribute__((unused)) static void pb_task(struct kb *kb, uint32_t type, uint32_t pid,
                                            uint32_t tid, uint32_t parent, uint64_t time_ns)
{
    const size_t at = pb_begin(kb, type, 0);
    kb_int(kb, pid, 4);
    kb_int(kb, parent, 4);
    kb_int(kb, tid, 4);
    kb_int(kb, parent, 4);
    kb_int(kb, time_ns, 8);
    pb_trailer(kb, at, parent, parent, time_ns, 0);
}

__attribute__((unused)) static void pb_round(struct kb *kb)
{
    pb_end(kb, pb_begin(kb, 68, 0));
}

static void pb_attr(struct kb *kb, uint32_t type, uint64_t config, uint64_t sample_type)
{
    const size_t at = kb->out.n_bytes;
    const unsigned trailers = 18; /* bits, counted from the other end in the other byte order */
    const unsigned use_clockid = 25;
    kb_int(kb, type, 4);
    kb_int(kb, 128, 4);
    kb_int(kb, config, 8);
    kb_int(kb, 1, 8);
    kb_int(kb, sample_type, 8);
    kb_int(kb, 4, 8);
    kb_int(kb,
           UINT64_C(1) << (kb->is_big ? 63 - trailers : trailers) |
               UINT64_C(1) << (kb->is_big ? 63 - use_clockid : use_clockid),
           8);
    while (kb->out.n_bytes < at + 92)
        kb_int(kb, 0, 1);
    kb_int(kb, 1, 4); /* CLOCK_MONOTONIC */
    while (kb->out.n_bytes < at + 128)
        kb_int(kb, 0, 1);
}

/* One attribute a tracepoint, and a clock. */
enum { PB_ATTRS = KB_END - KB_SWITCH + 1 };

static uint64_t pb_put_attr(struct kb *kb, unsigned k)
{
    if (k + 1 == PB_ATTRS)
        pb_attr(kb, 1, 0, PB_TYPE | PB_CHAIN);
    else
        pb_attr(kb, 2, KB_SWITCH + k, PB_TYPE | PB_RAW);
    return k + 1 == PB_ATTRS ? PB_CLOCK_ID : 100 + KB_SWITCH + k;
}

static void pb_machine(struct kb *kb)
{
    if (!kb_machine)
        return;
    kb_int(kb, strlen(kb_machine) + 1, 4);
    kb_text(kb, kb_machine);
}

/* The records as a file. The caller frees. */
__attribute__((unused)) static struct kb pb_file(const struct kb *records)
{
    struct kb file = { .is_big = records->is_big };
    const uint64_t ids_off = 104;
    const uint64_t attrs_off = ids_off + 8 * PB_ATTRS;
    const uint64_t data_off = attrs_off + (uint64_t)PB_ATTRS * 144;
    const uint64_t end_off = data_off + records->out.n_bytes;
    kb_int(&file, UINT64_C(0x32454c4946524550), 8);
    const uint64_t words[] = { 104,
                               144,
                               attrs_off,
                               (uint64_t)PB_ATTRS * 144,
                               data_off,
                               records->out.n_bytes,
                               0,
                               0,
                               1 << 1 | (kb_machine ? 1 << 6 : 0) | 1 << 12,
                               0,
                               0,
                               0 };
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        kb_int(&file, words[k], 8);
    for (unsigned k = 0; k < PB_ATTRS; k++)
        kb_int(&file, k + 1 == PB_ATTRS ? PB_CLOCK_ID : 100 + KB_SWITCH + k, 8);
    for (unsigned k = 0; k < PB_ATTRS; k++) {
        (void)pb_put_attr(&file, k);
        kb_int(&file, ids_off + 8 * k, 8);
        kb_int(&file, 8, 8);
    }
    kb_bytes(&file, records->out.bytes, records->out.n_bytes);
    struct kb tracing = { .is_big = records->is_big };
    kb_tracing_begin(&tracing, "0.6");
    kb_tracing(&tracing);
    struct kb machine = { .is_big = records->is_big };
    pb_machine(&machine);
    const uint64_t tracing_off = end_off + (kb_machine ? 3u : 2u) * 16;
    const uint64_t machine_off = tracing_off + tracing.out.n_bytes;
    kb_int(&file, tracing_off, 8);
    kb_int(&file, tracing.out.n_bytes, 8);
    if (kb_machine) {
        kb_int(&file, machine_off, 8);
        kb_int(&file, machine.out.n_bytes, 8);
    }
    kb_int(&file, machine_off + machine.out.n_bytes, 8);
    kb_int(&file, 8 + 128 + 4 + 4 + 8 + 8, 8);
    kb_bytes(&file, tracing.out.bytes, tracing.out.n_bytes);
    kb_bytes(&file, machine.out.bytes, machine.out.n_bytes);
    kb_fini(&machine);
    kb_int(&file, 1, 4); /* one event has a name */
    kb_int(&file, 128, 4);
    pb_attr(&file, 1, 0, PB_TYPE | PB_CHAIN);
    kb_int(&file, 1, 4);
    kb_int(&file, 8, 4);
    kb_bytes(&file, "clock\0\0", 8);
    kb_int(&file, PB_CLOCK_ID, 8);
    kb_fini(&tracing);
    return file;
}

/* The records as what came through a pipe. The caller frees. */
__attribute__((unused)) static struct kb pb_pipe(const struct kb *records)
{
    struct kb file = { .is_big = records->is_big };
    struct kb tracing = { .is_big = records->is_big };
    kb_int(&file, UINT64_C(0x32454c4946524550), 8);
    kb_int(&file, 16, 8);
    for (unsigned k = 0; k < PB_ATTRS; k++) {
        const size_t at = pb_begin(&file, 64, 0);
        const uint64_t id = pb_put_attr(&file, k);
        kb_int(&file, id, 8);
        pb_end(&file, at);
    }
    const size_t update = pb_begin(&file, 78, 0);
    kb_int(&file, 2, 8);
    kb_int(&file, PB_CLOCK_ID, 8);
    kb_text(&file, "clock");
    pb_end(&file, update);
    if (kb_machine) {
        const size_t feature = pb_begin(&file, 80, 0);
        kb_int(&file, 6, 8);
        pb_machine(&file);
        pb_end(&file, feature);
    }
    kb_tracing_begin(&tracing, "0.6");
    kb_tracing(&tracing);
    kb_align(&tracing, 8);
    const size_t at = pb_begin(&file, 66, 0);
    kb_int(&file, tracing.out.n_bytes, 4);
    kb_int(&file, 0, 4);
    pb_end(&file, at);
    kb_bytes(&file, tracing.out.bytes, tracing.out.n_bytes);
    kb_bytes(&file, records->out.bytes, records->out.n_bytes);
    kb_fini(&tracing);
    return file;
}

/* The same records packed, in pieces of `piece_bytes` that do not end where records do. */
__attribute__((unused)) static struct kb pb_pack(const struct kb *records, size_t piece_bytes)
{
    struct kb packed = { .is_big = records->is_big };
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    uint8_t out[4096];
    for (size_t at = 0; at < records->out.n_bytes; at += piece_bytes) {
        const size_t n_left = records->out.n_bytes - at;
        ZSTD_inBuffer in = { records->out.bytes + at, n_left < piece_bytes ? n_left : piece_bytes,
                             0 };
        ZSTD_outBuffer room = { out, sizeof out, 0 };
        if (ZSTD_isError(ZSTD_compressStream2(zstd, &room, &in, ZSTD_e_flush)) || in.pos < in.size)
            abort();
        const size_t begin = pb_begin(&packed, 81, 0);
        kb_bytes(&packed, out, room.pos);
        kb_set(&packed, begin + 6, packed.out.n_bytes - begin, 2);
    }
    (void)ZSTD_freeCCtx(zstd);
    return packed;
}

/* ---- trace.dat --------------------------------------------------------------------------------
 */

enum { TB_PAGE_BYTES = 256, TB_MOST_CPUS = 4, TB_MISSED = 1 << 30 };

/* Pages of each processor, being filled. */
struct tb {
    struct kb cpus[TB_MOST_CPUS];
    uint64_t time_ns[TB_MOST_CPUS];
    size_t page_at[TB_MOST_CPUS];
    bool is_open[TB_MOST_CPUS];
    unsigned n_cpus;
    bool is_big;
};

__attribute__((unused)) static void tb_fini(struct tb *tb)
{
    for (unsigned k = 0; k < TB_MOST_CPUS; k++)
        kb_fini(&tb->cpus[k]);
}

__attribute__((unused)) static void tb_close_page(struct tb *tb, unsigned cpu)
{
    struct kb *kb = &tb->cpus[cpu];
    if (!tb->is_open[cpu])
        return;
    kb_set(kb, tb->page_at[cpu] + 8, kb->out.n_bytes - tb->page_at[cpu] - 16, 8);
    while (kb->out.n_bytes < tb->page_at[cpu] + TB_PAGE_BYTES)
        kb_int(kb, 0, 1);
    tb->is_open[cpu] = false;
}

static void tb_word(struct kb *kb, uint32_t kind, uint64_t delta)
{
    kb_int(kb, kb->is_big ? (uint64_t)kind << 27 | delta : delta << 5 | kind, 4);
}

/* Adds an event; `raw` is emptied. Every third one has its size in a word of its own. */
__attribute__((unused)) static void tb_event(struct tb *tb, unsigned cpu, uint64_t time_ns,
                                             struct kb *raw)
{
    struct kb *kb = &tb->cpus[cpu];
    kb->is_big = tb->is_big;
    kb_align(raw, 4);
    const size_t n_raw = raw->out.n_bytes;
    if (tb->is_open[cpu] && kb->out.n_bytes + n_raw + 16 > tb->page_at[cpu] + TB_PAGE_BYTES)
        tb_close_page(tb, cpu);
    if (!tb->is_open[cpu]) {
        tb->is_open[cpu] = true;
        tb->page_at[cpu] = kb->out.n_bytes;
        tb->time_ns[cpu] = time_ns;
        kb_int(kb, time_ns, 8);
        kb_int(kb, 0, 8);
    }
    uint64_t delta = time_ns - tb->time_ns[cpu];
    if (delta >> 27) {
        const bool is_stamp = time_ns % 2;
        tb_word(kb, is_stamp ? 31 : 30, (is_stamp ? time_ns : delta) & ((1 << 27) - 1));
        kb_int(kb, (is_stamp ? time_ns : delta) >> 27, 4);
        delta = 0;
    }
    tb->time_ns[cpu] = time_ns;
    if (n_raw / 4 <= 28 && time_ns % 3) {
        tb_word(kb, (uint32_t)n_raw / 4, delta);
    } else {
        tb_word(kb, 0, delta);
        kb_int(kb, n_raw + 4, 4);
    }
    kb_bytes(kb, raw->out.bytes, n_raw);
    raw->out.n_bytes = 0;
}

static const char tb_cmdlines[] = "10 saved\n77 other\n";

static void tb_option(struct kb *kb, unsigned option, const void *bytes, size_t n_bytes)
{
    kb_int(kb, option, 2);
    kb_int(kb, n_bytes, 4);
    kb_bytes(kb, bytes, n_bytes);
}

static void tb_options(struct kb *kb)
{
    static const char clock[] = "local global [mono] boot";
    tb_option(kb, 1, "0x3e8", 6); /* 1,000 us */
    tb_option(kb, 4, clock, sizeof clock);
    char uname[64];
    const int n_uname = snprintf(uname, sizeof uname, "Linux test%s%s", kb_machine ? " " : "",
                                 kb_machine ? kb_machine : "");
    tb_option(kb, 5, uname, (size_t)n_uname + 1);
}

/* Version 6. The caller frees. */
__attribute__((unused)) static struct kb tb_file(struct tb *tb)
{
    struct kb file = { .is_big = tb->is_big };
    kb_tracing_begin(&file, "6");
    kb_tracing(&file);
    kb_int(&file, sizeof tb_cmdlines - 1, 8);
    kb_bytes(&file, tb_cmdlines, sizeof tb_cmdlines - 1);
    kb_int(&file, tb->n_cpus, 4);
    kb_bytes(&file, "options  ", 10);
    tb_options(&file);
    kb_int(&file, 0, 2);
    kb_bytes(&file, "flyrecord", 10);
    uint64_t off =
        (file.out.n_bytes + 16 * tb->n_cpus + TB_PAGE_BYTES - 1) / TB_PAGE_BYTES * TB_PAGE_BYTES;
    for (unsigned k = 0; k < tb->n_cpus; k++) {
        tb_close_page(tb, k);
        kb_int(&file, off, 8);
        kb_int(&file, tb->cpus[k].out.n_bytes, 8);
        off += tb->cpus[k].out.n_bytes;
    }
    kb_align(&file, TB_PAGE_BYTES);
    for (unsigned k = 0; k < tb->n_cpus; k++)
        kb_bytes(&file, tb->cpus[k].out.bytes, tb->cpus[k].out.n_bytes);
    return file;
}

/* Packs to u32 packed size, u32 size, bytes. */
static void tb_pack(struct kb *kb, const char *packing, const uint8_t *bytes, size_t n_bytes)
{
    uint8_t *out = malloc(n_bytes * 2 + 1024);
    size_t n_out = 0;
    if (!out)
        abort();
    if (strcmp(packing, "zstd") == 0) {
        n_out = ZSTD_compress(out, n_bytes * 2 + 1024, bytes, n_bytes, 1);
    } else {
        uLongf n_room = n_bytes * 2 + 1024;
        if (compress(out, &n_room, bytes, n_bytes) != Z_OK)
            abort();
        n_out = n_room;
    }
    kb_int(kb, n_out, 4);
    kb_int(kb, n_bytes, 4);
    kb_bytes(kb, out, n_out);
    free(out);
}

/* Adds a section, packed unless it is of options; its offset. `content` is emptied. */
static uint64_t tb_section(struct kb *kb, unsigned number, const char *packing, struct kb *content)
{
    const uint64_t off = kb->out.n_bytes;
    const bool is_packed = strcmp(packing, "none") != 0 && number != 0;
    kb_int(kb, number, 2);
    kb_int(kb, is_packed, 2);
    kb_int(kb, 0, 4);
    kb_int(kb, 0, 8);
    if (is_packed)
        tb_pack(kb, packing, content->out.bytes, content->out.n_bytes);
    else
        kb_bytes(kb, content->out.bytes, content->out.n_bytes);
    kb_set(kb, off + 8, kb->out.n_bytes - off - 16, 8);
    content->out.n_bytes = 0;
    return off;
}

/* Pages of a processor, in chunks of two if they are packed. */
static void tb_pages(struct kb *file, const char *packing, const struct kb *pages)
{
    const size_t chunk_bytes = 2 * (size_t)TB_PAGE_BYTES;
    const size_t n_bytes = pages->out.n_bytes;
    if (strcmp(packing, "none") == 0) {
        kb_bytes(file, pages->out.bytes, n_bytes);
        return;
    }
    kb_int(file, (n_bytes + chunk_bytes - 1) / chunk_bytes, 4);
    for (size_t at = 0; at < n_bytes; at += chunk_bytes)
        tb_pack(file, packing, pages->out.bytes + at,
                n_bytes - at < chunk_bytes ? n_bytes - at : chunk_bytes);
}

/* Version 7; `packing`: "none", "zstd", "zlib". The caller frees. */
__attribute__((unused)) static struct kb tb_sections(struct tb *tb, const char *packing)
{
    struct kb file = { .is_big = tb->is_big };
    struct kb part = { .is_big = tb->is_big };
    struct kb options = { .is_big = tb->is_big };
    struct kb offs = { .is_big = tb->is_big };
    kb_tracing_begin(&file, "7");
    kb_text(&file, packing);
    kb_text(&file, "1.0");
    const size_t options_at = file.out.n_bytes;
    kb_int(&file, 0, 8);
    tb_options(&options);
    for (unsigned number = 16; number <= 21; number++) {
        switch (number) {
        case 16:
            kb_headers(&part);
            break;
        case 17:
            kb_ftrace(&part);
            break;
        case 18:
            kb_events(&part);
            break;
        case 21:
            kb_int(&part, sizeof tb_cmdlines - 1, 8);
            kb_bytes(&part, tb_cmdlines, sizeof tb_cmdlines - 1);
            break;
        default:
            kb_int(&part, 0, 4);
        }
        const uint64_t off = tb_section(&file, number, packing, &part);
        offs.out.n_bytes = 0;
        kb_int(&offs, off, 8);
        tb_option(&options, number, offs.out.bytes, 8);
    }
    const uint64_t buffer_off = file.out.n_bytes;
    kb_int(&file, 3, 2);
    kb_int(&file, strcmp(packing, "none") != 0, 2);
    kb_int(&file, 0, 12);
    kb_int(&part, buffer_off, 8);
    kb_text(&part, "");
    kb_text(&part, "mono");
    kb_int(&part, TB_PAGE_BYTES, 4);
    kb_int(&part, tb->n_cpus, 4);
    for (unsigned k = 0; k < tb->n_cpus; k++) {
        const uint64_t off = file.out.n_bytes;
        tb_close_page(tb, k);
        tb_pages(&file, packing, &tb->cpus[k]);
        kb_int(&part, k, 4);
        kb_int(&part, off, 8);
        kb_int(&part, file.out.n_bytes - off, 8);
    }
    tb_option(&options, 3, part.out.bytes, part.out.n_bytes);
    offs.out.n_bytes = 0;
    kb_int(&offs, 0, 8);
    tb_option(&options, 0, offs.out.bytes, 8);
    kb_set(&file, options_at, tb_section(&file, 0, packing, &options), 8);
    kb_fini(&part);
    kb_fini(&options);
    kb_fini(&offs);
    return file;
}

#endif
