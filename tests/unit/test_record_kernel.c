/* SPDX-License-Identifier: MIT
 *
 * What of recording the kernel needs no privileges: putting records in order, reading rings, making
 * records of perf events, of /proc, and of formats of tracepoints.
 */
#include "base/vec.h"
#include "record/kernel/batch.h"
#include "record/kernel/bpf_ring.h"
#include "record/kernel/perf_convert.h"
#include "record/kernel/tasks.h"
#include "record/kernel/tracepoints.h"
#include "tap.h"

#include <linux/perf_event.h>
#include <linux/sched.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- a receiver that keeps all */

struct kept {
    uint8_t *items;
    size_t n, cap;
    unsigned n_calls;
};

static enum weft_code keep(void *context, uint32_t cpu, const struct weft_kernel_record *records,
                           size_t n_bytes, struct weft_err *err)
{
    struct kept *kept = context;
    (void)cpu;
    kept->n_calls++;
    if (!weft_vec_reserve(&kept->items, &kept->cap, kept->n + n_bytes, 1))
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory");
    memcpy(kept->items + kept->n, records, n_bytes);
    kept->n += n_bytes;
    return WEFT_OK;
}

static struct weft_kernel_record record_at(const struct kept *kept, size_t at)
{
    struct weft_kernel_record record;
    memcpy(&record, kept->items + at, sizeof record);
    return record;
}

static size_t after(const struct kept *kept, size_t at)
{
    return at + sizeof(struct weft_kernel_record) + record_at(kept, at).payload_bytes;
}

/* ---- order */

enum { PAYLOAD_WORDS = 4 };

static struct weft_kernel_record made_record(uint64_t time_ns, uint32_t tid)
{
    return (struct weft_kernel_record){ .time_ns = time_ns,
                                        .tid = tid,
                                        .payload_bytes = (uint16_t)(tid % PAYLOAD_WORDS * 8) };
}

/* Records whose times grow, but every few are interrupted by others: those lie behind, earlier. */
static size_t make_disorder(uint64_t *seed, struct weft_kernel_record *records, size_t n)
{
    uint64_t time_ns = 1;
    for (size_t i = 0; i < n;) {
        size_t n_nested = tap_random(seed) % 8 == 0 ? 1 + tap_random(seed) % 3 : 0;
        n_nested = n_nested < n - i ? n_nested : n - i - 1;
        for (size_t k = 0; k <= n_nested; k++)
            records[i + k] = made_record(time_ns + (n_nested - k) * 2, (uint32_t)(i + k));
        time_ns += 2 * n_nested + 1 + tap_random(seed) % 100;
        i += n_nested + 1;
    }
    return n;
}

static int by_time(const void *a, const void *b)
{
    const struct weft_kernel_record *x = a, *y = b;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static bool add_all(struct weft_batch *batch, const struct weft_kernel_record *records, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t payload[PAYLOAD_WORDS] = { records[i].tid, records[i].tid, records[i].tid };
        if (weft_batch_add(batch, &records[i], payload, NULL) != WEFT_OK)
            return false;
    }
    return weft_batch_end(batch, NULL) == WEFT_OK;
}

static void test_order(uint64_t *seed, struct weft_batch *batch)
{
    enum { N = 2000 };
    static struct weft_kernel_record records[N];
    struct kept kept = { 0 };
    uint64_t handed_ns = 0;
    make_disorder(seed, records, N);
    batch->fn = keep;
    batch->context = &kept;
    weft_batch_begin(batch, 0, &handed_ns);
    tap_ok(add_all(batch, records, N), "%d records are taken", N);
    qsort(records, N, sizeof *records, by_time);
    size_t at = 0, n_equal = 0;
    for (size_t i = 0; i < N && at < kept.n; i++, at = after(&kept, at)) {
        const struct weft_kernel_record got = record_at(&kept, at);
        uint64_t word = got.tid;
        if (got.payload_bytes > 0)
            memcpy(&word, kept.items + at + sizeof got, sizeof word);
        n_equal += memcmp(&got, &records[i], sizeof got) == 0 && word == got.tid;
    }
    tap_eq_u64(n_equal, N, "the same, sorted, each with its payload");
    tap_eq_u64(handed_ns, records[N - 1].time_ns, "the last time is kept");
    WEFT_VEC_FINI(&kept);
}

/* Many pieces, and a record that is older than all that was handed out. */
static void test_pieces(uint64_t *seed, struct weft_batch *batch)
{
    enum { N = 50000 };
    struct weft_kernel_record *records = calloc(N, sizeof *records);
    struct kept kept = { 0 };
    uint64_t handed_ns = 0, before_ns = 0, n = 0, n_late = 0;
    if (!tap_ok(records != NULL, "memory"))
        return;
    make_disorder(seed, records, N);
    records[N - 1].time_ns = 3;
    batch->fn = keep;
    batch->context = &kept;
    weft_batch_begin(batch, 0, &handed_ns);
    tap_ok(add_all(batch, records, N) && kept.n_calls > 3, "%u pieces", kept.n_calls);
    for (size_t at = 0; at < kept.n; at = after(&kept, at), n++) {
        n_late += record_at(&kept, at).time_ns < before_ns;
        before_ns = record_at(&kept, at).time_ns;
    }
    tap_eq_u64(n, N, "all records");
    tap_eq_u64(n_late, 0, "none is earlier than the one before it");
    free(records);
    WEFT_VEC_FINI(&kept);
}

/* ---- a ring of the kernel, written as the kernel does */

struct ring {
    uint8_t *pages;
    size_t page, n_bytes;
    struct weft_bpf_ring reader;
};

static bool ring_open(struct ring *ring)
{
    ring->page = (size_t)sysconf(_SC_PAGESIZE);
    ring->n_bytes = ring->page;
    const int fd = memfd_create("ring", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)(3 * ring->page)) != 0)
        return false;
    ring->pages = mmap(NULL, 4 * ring->page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (ring->pages == MAP_FAILED)
        return false;
    void *twin = mmap(ring->pages + 3 * ring->page, ring->page, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_FIXED, fd, (off_t)(2 * ring->page));
    (void)close(fd);
    ring->reader = (struct weft_bpf_ring){
        .read = (void *)ring->pages,
        .written = (void *)(ring->pages + ring->page),
        .data = ring->pages + 2 * ring->page,
        .n_bytes = ring->n_bytes,
    };
    return twin != MAP_FAILED;
}

static uint64_t *word_of(struct ring *ring, size_t page)
{
    return (uint64_t *)(void *)(ring->pages + page * ring->page);
}

/* False: no room. `bits`: of the head. */
static bool ring_write(struct ring *ring, const struct weft_kernel_record *record, uint32_t bits)
{
    uint64_t *written = word_of(ring, 1);
    const uint32_t n_bytes = (uint32_t)sizeof *record + record->payload_bytes;
    const uint64_t n_all = (n_bytes + 15) & ~UINT64_C(7);
    if (*written + n_all - *word_of(ring, 0) > ring->n_bytes)
        return false;
    uint8_t *at = ring->pages + 2 * ring->page + (*written & (ring->n_bytes - 1));
    const uint32_t head = n_bytes | bits;
    memcpy(at, &head, sizeof head);
    memcpy(at + 8, record, sizeof *record);
    memset(at + 8 + sizeof *record, (int)record->tid, record->payload_bytes);
    *written += n_all;
    return true;
}

static void test_ring(uint64_t *seed, struct weft_batch *batch)
{
    const uint32_t busy = UINT32_C(1) << 31, discarded = UINT32_C(1) << 30;
    struct ring ring;
    struct kept kept = { 0 };
    uint64_t handed_ns = 0, n_written = 0, n_lost = 0, n_read = 0, n_wrong = 0;
    uint32_t fill = 0;
    if (!tap_ok(ring_open(&ring), "a ring"))
        return;
    batch->fn = keep;
    batch->context = &kept;
    enum weft_code code = WEFT_OK;
    for (uint32_t i = 0; i < 20000 && code == WEFT_OK; i++) {
        const struct weft_kernel_record record = made_record(i, i);
        const bool is_discarded = tap_random(seed) % 16 == 0;
        const bool is_written = ring_write(&ring, &record, is_discarded ? discarded : 0);
        n_written += is_written && !is_discarded;
        n_lost += !is_written;
        if (tap_random(seed) % 64 == 0) {
            weft_batch_begin(batch, 0, &handed_ns);
            code = weft_bpf_ring_read(&ring.reader, batch, &fill, NULL);
            code = code == WEFT_OK ? weft_batch_end(batch, NULL) : code;
        }
    }
    struct weft_kernel_record last = made_record(UINT32_MAX, 2);
    *word_of(&ring, 0) = *word_of(&ring, 1) & ~UINT64_C(7);
    const uint64_t at = *word_of(&ring, 1);
    tap_ok(ring_write(&ring, &last, busy), "a record that is still written");
    weft_batch_begin(batch, 0, &handed_ns);
    tap_ok(code == WEFT_OK && weft_bpf_ring_read(&ring.reader, batch, &fill, NULL) == WEFT_OK &&
               batch->n_bytes == 0 && *word_of(&ring, 0) == at,
           "it is not read");
    for (size_t off = 0; off < kept.n; off = after(&kept, off), n_read++) {
        const struct weft_kernel_record got = record_at(&kept, off);
        for (size_t k = 0; k < got.payload_bytes; k++)
            n_wrong += kept.items[off + sizeof got + k] != (uint8_t)got.tid;
    }
    tap_ok(n_read <= n_written && n_written - n_read < 128 && n_lost > 0 && fill > 50,
           "%" PRIu64 " of %" PRIu64 " read, those thrown away left out", n_read, n_written);
    tap_eq_u64(n_wrong, 0, "payloads are whole, also around the end");
    (void)munmap(ring.pages, 4 * ring.page);
    WEFT_VEC_FINI(&kept);
}

/* ---- /proc and tracefs */

static void test_tasks(void)
{
    struct weft_task task = { 0 };
    tap_ok(weft_task_parse("17 (a) b (c) D 1 2", &task) && task.tid == 17 && task.state == 2,
           "a name with parentheses");
    tap_eq_str(task.comm, "a) b (c", "the name");
    tap_ok(weft_task_parse("8 (0123456789abcdefgh) I 1", &task) && task.state == 0x80,
           "a name that is too long");
    tap_eq_str(task.comm, "0123456789abcde", "is cut");
    tap_ok(weft_task_parse("8 (x) R 1", &task) && task.state == 0, "one that runs");
    tap_ok(!weft_task_parse("8 (x", &task) && !weft_task_parse("", &task) &&
               !weft_task_parse(")(", &task) && !weft_task_parse("8 (x)", &task),
           "lines that are none");
}

#define LINE(type, name, off, size)                                                                \
    "\tfield:" type " " name ";\toffset:" #off ";\tsize:" #size ";\tsigned:0;\n"

static const char switch_format[] =
    "name: sched_switch\nID: 316\nformat:\n" LINE("unsigned short", "common_type", 0, 2)
        LINE("unsigned char", "common_flags", 2, 1) "\n" LINE("char", "prev_comm[16]", 8, 16)
            LINE("pid_t", "prev_pid", 24, 4) LINE("long", "prev_state", 32, 8)
                LINE("char", "next_comm[16]", 40, 16) LINE("pid_t", "next_pid", 56, 4);
static const char waking_format[] =
    "name: sched_waking\nID: 320\nformat:\n" LINE("char", "comm[16]", 8, 16)
        LINE("pid_t", "pid", 24, 4) LINE("int", "target_cpu", 32, 4);

static void test_formats(struct weft_perf_convert *convert)
{
    struct weft_tracepoint_format *formats = convert->formats;
    tap_ok(weft_tracepoint_parse(WEFT_TRACEPOINT_SWITCH, weft_str_of(switch_format),
                                 &formats[WEFT_TRACEPOINT_SWITCH]) &&
               formats[WEFT_TRACEPOINT_SWITCH].id == 316 &&
               formats[WEFT_TRACEPOINT_SWITCH].fields[1].off == 32 &&
               formats[WEFT_TRACEPOINT_SWITCH].fields[3].n_bytes == 16,
           "sched_switch");
    tap_ok(weft_tracepoint_parse(WEFT_TRACEPOINT_WAKING, weft_str_of(waking_format),
                                 &formats[WEFT_TRACEPOINT_WAKING]),
           "sched_waking");
    struct weft_tracepoint_format other;
    tap_ok(!weft_tracepoint_parse(WEFT_TRACEPOINT_ISSUE, weft_str_of(waking_format), &other),
           "a format without the fields");
}

/* ---- perf events */

struct event {
    uint8_t bytes[512];
    size_t n;
};

static void put(struct event *event, const void *bytes, size_t n)
{
    memcpy(event->bytes + event->n, bytes, n);
    event->n += n;
}

static void put32(struct event *event, uint32_t value)
{
    put(event, &value, sizeof value);
}

static void put64(struct event *event, uint64_t value)
{
    put(event, &value, sizeof value);
}

static struct event begin(uint32_t type, uint16_t misc)
{
    struct event event = { 0 };
    const struct perf_event_header header = { .type = type, .misc = misc };
    put(&event, &header, sizeof header);
    return event;
}

/* id, pid, tid, time, processor; at the end of others than samples the id comes last */
static struct event sample(uint64_t id, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
    struct event event = begin(PERF_RECORD_SAMPLE, 0);
    put64(&event, id);
    put32(&event, pid);
    put32(&event, tid);
    put64(&event, time_ns);
    put64(&event, 0);
    return event;
}

static void put_end(struct event *event, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
    put32(event, pid);
    put32(event, tid);
    put64(event, time_ns);
    put64(event, 0);
    put64(event, 1);
}

static struct event switch_event(uint32_t prev, uint64_t state, uint32_t next, const char *comm)
{
    struct event event = sample(1, 50, prev, 1000);
    uint8_t raw[64] = { 0 };
    memcpy(raw + 24, &prev, 4);
    memcpy(raw + 32, &state, 8);
    memcpy(raw + 40, comm, strlen(comm));
    memcpy(raw + 56, &next, 4);
    put32(&event, sizeof raw);
    put(&event, raw, sizeof raw);
    return event;
}

static struct event run_time_event(uint32_t tid, uint64_t ran_ns)
{
    struct event event = sample(4, 50, tid, 1000);
    uint8_t raw[64] = { 0 };
    memcpy(raw + 24, &tid, 4);
    memcpy(raw + 32, &ran_ns, 8);
    put64(&event, ran_ns); /* period */
    put32(&event, sizeof raw);
    put(&event, raw, sizeof raw);
    return event;
}

static struct event waking_event(uint32_t tid, uint32_t cpu, uint8_t flags)
{
    struct event event = sample(2, 50, 51, 1001);
    uint8_t raw[36] = { [2] = flags };
    memcpy(raw + 24, &tid, 4);
    memcpy(raw + 32, &cpu, 4);
    put32(&event, sizeof raw);
    put(&event, raw, sizeof raw);
    return event;
}

struct bench {
    struct weft_perf_convert convert;
    struct weft_batch *batch;
    struct kept kept;
    uint64_t handed_ns;
};

/* Converts an event; the record that came of it, of type 0 if none did. */
static struct weft_kernel_record convert_one(struct bench *bench, const struct event *event)
{
    bench->kept.n = 0;
    bench->handed_ns = 0;
    weft_batch_begin(bench->batch, 0, &bench->handed_ns);
    const bool is_good =
        weft_perf_convert(&bench->convert, event->bytes, event->n, bench->batch, NULL) == WEFT_OK &&
        weft_batch_end(bench->batch, NULL) == WEFT_OK;
    return is_good && bench->kept.n > 0 ? record_at(&bench->kept, 0)
                                        : (struct weft_kernel_record){ 0 };
}

static void check_record(struct bench *bench, struct event event, struct weft_kernel_record want,
                         const char *what)
{
    struct weft_kernel_record got = convert_one(bench, &event);
    if (!tap_ok(got.tid == want.tid && got.type == want.type && got.a == want.a &&
                    got.b == want.b && got.payload_bytes == want.payload_bytes,
                "%s", what))
        tap_note("type %u tid %u a %jx b %jx payload %u", got.type, got.tid, (uintmax_t)got.a,
                 (uintmax_t)got.b, got.payload_bytes);
    size_t n_crashes = 0; /* every shorter one is passed over, or makes a record of what is there */
    for (size_t n = 0; n < event.n; n++) {
        const struct event cut = { .n = n };
        struct event *copy = malloc(sizeof *copy);
        *copy = cut;
        memcpy(copy->bytes, event.bytes, n);
        n_crashes += convert_one(bench, copy).type >= WEFT_KERNEL_TYPES;
        free(copy);
    }
    tap_eq_u64(n_crashes, 0, "%s, cut short", what);
}

static struct weft_kernel_record want(uint16_t type, uint32_t tid, uint64_t a, uint64_t b,
                                      uint16_t n_payload)
{
    return (struct weft_kernel_record){
        .time_ns = 1000, .type = type, .tid = tid, .a = a, .b = b, .payload_bytes = n_payload
    };
}

static void test_tracepoints(struct bench *bench)
{
    const uint64_t high = UINT64_C(1) << 32;
    struct weft_perf_convert *convert = &bench->convert;
    tap_ok(weft_perf_convert_thread(convert, 61, 60, NULL), "a known thread");
    check_record(bench, switch_event(51, 2, 61, "known"),
                 want(WEFT_KERNEL_SWITCH, 51, 61 | 2 * high, 60, 0), "a switch to a known thread");
    check_record(bench, switch_event(51, 0x100, 61, "known"),
                 want(WEFT_KERNEL_SWITCH, 51, 61, 60 | high, 0), "a preempted one");
    struct event event = switch_event(51, 1, 70, "newcomer");
    const struct weft_kernel_record got = convert_one(bench, &event);
    tap_ok(got.payload_bytes == 16 &&
               strcmp((const char *)bench->kept.items + sizeof got, "newcomer") == 0,
           "the name of a thread that is met first");
    check_record(bench, waking_event(61, 1, 0), want(WEFT_KERNEL_WAKING, 51, 61 | high, 60, 0),
                 "a waking by a thread");
    check_record(bench, waking_event(61, 1, 0x18),
                 want(WEFT_KERNEL_WAKING, 51, 61 | high,
                      60 | (WEFT_CONTEXT_HARDIRQ | UINT64_C(0xffffff) << 8) << 32, 0),
                 "by an interrupt");
    check_record(bench, waking_event(61, 1, 0x10),
                 want(WEFT_KERNEL_WAKING, 51, 61 | high,
                      60 | (WEFT_CONTEXT_SOFTIRQ | UINT64_C(0xffffff) << 8) << 32, 0),
                 "by a soft interrupt");
}

static struct event thread_event(uint32_t type, uint32_t pid, uint32_t ppid, uint32_t tid,
                                 uint32_t ptid)
{
    struct event event = begin(type, 0);
    put32(&event, pid);
    put32(&event, ppid);
    put32(&event, tid);
    put32(&event, ptid);
    put64(&event, 1000);
    put_end(&event, ppid, ptid, 1000);
    return event;
}

static struct event stack_event(uint32_t pid, uint32_t tid)
{
    struct event event = sample(3, pid, tid, 1000);
    put64(&event, 4);
    put64(&event, (uint64_t)-512); /* of the user's side, from here */
    put64(&event, 0x1000);
    put64(&event, 0x2000);
    put64(&event, 0x3000);
    return event;
}

/* Run time is that since the thread's last switch, of the thread that leaves alone. */
static void test_run_time(struct bench *bench)
{
    const uint64_t high = UINT64_C(1) << 32, ran_ns = 3 * high + 5;
    struct weft_tracepoint_format *format = &bench->convert.formats[WEFT_TRACEPOINT_RAN];
    *format = (struct weft_tracepoint_format){ .id = 1, .fields = { { 24, 4 }, { 32, 8 } } };
    tap_ok(weft_perf_convert_event(&bench->convert, 4, WEFT_TRACEPOINT_RAN), "another event");
    check_record(bench, run_time_event(51, 3 * high), want(0, 0, 0, 0, 0), "run time is no record");
    check_record(bench, run_time_event(51, 5), want(0, 0, 0, 0, 0), "nor is more of it");
    bench->convert.runs.items[0].ran_ns = ran_ns; /* each event was tried cut short, too */
    struct event event = switch_event(51, 2, 61, "known");
    struct weft_kernel_record got = convert_one(bench, &event);
    tap_ok(got.a == (61 | 2 * high | ran_ns >> 31 << 40) && got.b == (60 | ran_ns << 33),
           "a switch has the run time of the thread that leaves");
    got = convert_one(bench, &event);
    tap_ok(got.a == (61 | 2 * high) && got.b == 60, "once");
    event = run_time_event(77, 9);
    (void)convert_one(bench, &event);
    event = switch_event(51, 2, 61, "known");
    got = convert_one(bench, &event);
    tap_ok(got.a == (61 | 2 * high) && got.b == 60, "not that of another one");
}

/* Both sides of a sample: two records, the kernel's first. */
static void test_kernel_side(struct bench *bench)
{
    struct event event = sample(3, 80, 81, 1000);
    put64(&event, 5);
    put64(&event, (uint64_t)-128); /* of the kernel's side */
    put64(&event, UINT64_C(0xffffffff81000010));
    put64(&event, UINT64_C(0xffffffff81000110));
    put64(&event, (uint64_t)-512);
    put64(&event, 0x1000);
    event.bytes[4] = PERF_RECORD_MISC_KERNEL;
    bench->convert.with_kernel_side = true;
    check_record(bench, event, want(WEFT_KERNEL_FRAMES, 81, 0, 0, 16), "the kernel's side");
    struct weft_kernel_record second = { 0 };
    (void)convert_one(bench, &event);
    const size_t at = sizeof second + 16;
    if (bench->kept.n >= at + sizeof second)
        memcpy(&second, (const uint8_t *)bench->kept.items + at, sizeof second);
    tap_ok(second.type == WEFT_KERNEL_STACK && second.payload_bytes == 8 &&
               (second.a & 0xffffffff) == (WEFT_STACK_SAMPLE | WEFT_STACK_IN_KERNEL),
           "then the user's, with the mode");
    bench->convert.with_kernel_side = false;
}

static void test_threads(struct bench *bench)
{
    check_record(bench, stack_event(80, 81), want(0, 0, 0, 0, 0), "a sample of a stranger");
    check_record(bench, thread_event(PERF_RECORD_FORK, 80, 90, 80, 91),
                 want(WEFT_KERNEL_FORK, 91, 80 | UINT64_C(80) << 32, 0, 0), "a child");
    check_record(bench, thread_event(PERF_RECORD_FORK, 80, 80, 81, 80),
                 want(WEFT_KERNEL_FORK, 80, 81 | UINT64_C(80) << 32, CLONE_THREAD | CLONE_VM, 0),
                 "its thread");
    check_record(bench, stack_event(80, 81), want(WEFT_KERNEL_STACK, 81, WEFT_STACK_SAMPLE, 80, 24),
                 "a sample of a target's child");
    test_kernel_side(bench);
    check_record(bench, thread_event(PERF_RECORD_EXIT, 80, 80, 81, 80),
                 want(WEFT_KERNEL_EXIT, 81, 80, 0, 0), "an end");
    struct event name = begin(PERF_RECORD_COMM, 0);
    put32(&name, 80);
    put32(&name, 81);
    put(&name, "called\0\0", 8);
    put_end(&name, 80, 81, 1000);
    check_record(bench, name, want(WEFT_KERNEL_RENAMED, 81, 0, 0, 16), "a name");
    tap_eq_str((const char *)bench->kept.items + sizeof(struct weft_kernel_record), "called",
               "the name itself");
}

static void test_plain_switches(struct bench *bench)
{
    const uint64_t high = UINT64_C(1) << 32;
    struct event event = begin(PERF_RECORD_SWITCH_CPU_WIDE,
                               PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
    put32(&event, 60);
    put32(&event, 61);
    put_end(&event, 80, 81, 1000);
    check_record(bench, event, want(WEFT_KERNEL_SWITCH, 81, 61, 60 | high, 0),
                 "a switch without tracepoints");
    event = begin(PERF_RECORD_SWITCH_CPU_WIDE, 0);
    put32(&event, 60);
    put32(&event, 61);
    put_end(&event, 80, 81, 1000);
    check_record(bench, event, want(0, 0, 0, 0, 0), "its other half");
    event = begin(PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT);
    put_end(&event, 80, 81, 1000);
    check_record(bench, event, want(WEFT_KERNEL_SWITCH, 81, high, 0, 0), "one's own, out");
    event = begin(PERF_RECORD_SWITCH, 0);
    put_end(&event, 80, 81, 1000);
    check_record(bench, event, want(WEFT_KERNEL_SWITCH, 0, 81, 80, 0), "one's own, in");
    event = begin(PERF_RECORD_LOST, 0);
    put64(&event, 1);
    put64(&event, 7);
    put_end(&event, 80, 81, 1000);
    (void)convert_one(bench, &event);
    tap_eq_u64(bench->convert.n_lost, 7, "what the kernel had no room for");
}

static void test_perf(struct weft_batch *batch)
{
    struct bench bench = { .batch = batch };
    batch->fn = keep;
    batch->context = &bench.kept;
    tap_ok(weft_perf_convert_init(&bench.convert), "a converter");
    test_formats(&bench.convert);
    bool is_good = weft_perf_convert_event(&bench.convert, 1, WEFT_TRACEPOINT_SWITCH);
    is_good &= weft_perf_convert_event(&bench.convert, 2, WEFT_TRACEPOINT_WAKING);
    is_good &= weft_perf_convert_event(&bench.convert, 3, WEFT_PERF_SAMPLER);
    is_good &= weft_map_add(bench.convert.targets, 90, NULL) != WEFT_MAP_NONE;
    tap_ok(is_good, "events and a target");
    test_tracepoints(&bench);
    test_run_time(&bench);
    test_threads(&bench);
    test_plain_switches(&bench);
    weft_perf_convert_fini(&bench.convert);
    WEFT_VEC_FINI(&bench.kept);
}

int main(void)
{
    uint64_t seed = tap_seed(7);
    struct weft_batch *batch = malloc(sizeof *batch);
    if (!tap_ok(batch != NULL, "memory"))
        return tap_done();
    test_order(&seed, batch);
    test_pieces(&seed, batch);
    test_ring(&seed, batch);
    test_tasks();
    test_perf(batch);
    free(batch);
    return tap_done();
}
