/* SPDX-License-Identifier: MIT
 *
 * Samples of perf with any parts, in either byte order: what the plan of an attribute reads is what
 * was written, word by word. Cut anywhere, a sample is refused or has no copy of the stack.
 */
#include "ingest/perf/attr.h"
#include "kernel_builder.h"
#include "tap.h"

enum { LEAST_WITH_ID = 40, SEEDS = 4000, TYPES = 0x17fff & ~PERF_HAS_READ };

/* A sample as its writer knows it. */
struct plain {
    uint64_t type, time_ns, ip, period, id, abi;
    uint32_t pid, tid, cpu;
    uint64_t chain[3];
    unsigned n_chain, n_raw, n_branches, n_stack, n_room;
    uint64_t registers, branch_type;
};

static struct plain random_plain(uint64_t *state, uint64_t type, uint64_t id)
{
    struct plain plain = { .type = type,
                           .time_ns = tap_random(state),
                           .ip = tap_random(state),
                           .period = tap_random(state),
                           .id = id,
                           .abi = tap_random(state) % 3,
                           .pid = (uint32_t)tap_random(state) >> 1,
                           .tid = (uint32_t)tap_random(state) >> 1,
                           .cpu = (uint32_t)tap_random(state) % 4096 };
    plain.n_chain = (unsigned)(tap_random(state) % 4);
    for (unsigned k = 0; k < 3; k++)
        plain.chain[k] = tap_random(state);
    plain.n_raw = (unsigned)(tap_random(state) % 4) * 8 + 4;
    plain.n_branches = (unsigned)(tap_random(state) % 3);
    plain.n_room = (unsigned)(tap_random(state) % 3) * 16;
    plain.n_stack = plain.n_room ? (unsigned)(tap_random(state) % plain.n_room) : 0;
    return plain;
}

static void put_zeros(struct kb *kb, size_t n_bytes)
{
    for (size_t k = 0; k < n_bytes; k++)
        kb_int(kb, 0, 1);
}

static void put_if(struct kb *kb, uint64_t type, uint64_t bit, uint64_t value)
{
    if (type & bit)
        kb_int(kb, value, 8);
}

static void put_fixed(struct kb *kb, const struct plain *plain)
{
    put_if(kb, plain->type, PERF_HAS_IDENTIFIER, plain->id);
    put_if(kb, plain->type, PERF_HAS_IP, plain->ip);
    if (plain->type & PERF_HAS_TID) {
        kb_int(kb, plain->pid, 4);
        kb_int(kb, plain->tid, 4);
    }
    put_if(kb, plain->type, PERF_HAS_TIME, plain->time_ns);
    put_if(kb, plain->type, PERF_HAS_ADDR, 77);
    put_if(kb, plain->type, PERF_HAS_ID, plain->id);
    put_if(kb, plain->type, PERF_HAS_STREAM_ID, 88);
    if (plain->type & PERF_HAS_CPU) {
        kb_int(kb, plain->cpu, 4);
        kb_int(kb, 99, 4);
    }
    put_if(kb, plain->type, PERF_HAS_PERIOD, plain->period);
}

/* Gives the bytes without registers and stack. */
static size_t put_sample(struct kb *kb, const struct plain *plain)
{
    put_fixed(kb, plain);
    put_if(kb, plain->type, PERF_HAS_CALLCHAIN, plain->n_chain);
    for (unsigned k = 0; plain->type & PERF_HAS_CALLCHAIN && k < plain->n_chain; k++)
        kb_int(kb, plain->chain[k], 8);
    if (plain->type & PERF_HAS_RAW) {
        kb_int(kb, plain->n_raw, 4);
        put_zeros(kb, plain->n_raw);
    }
    const size_t n_least = kb->out.n_bytes;
    if (plain->type & PERF_HAS_BRANCH_STACK) {
        kb_int(kb, plain->n_branches, 8);
        put_if(kb, plain->branch_type, 1 << 17, 5);
        put_zeros(kb, (size_t)plain->n_branches * 24);
    }
    if (plain->type & PERF_HAS_REGS_USER) {
        kb_int(kb, plain->abi, 8);
        for (int k = 0; plain->abi && k < __builtin_popcountll(plain->registers); k++)
            kb_int(kb, (uint64_t)k + 1000, 8);
    }
    put_if(kb, plain->type, PERF_HAS_STACK_USER, plain->n_room);
    if (plain->type & PERF_HAS_STACK_USER && plain->n_room) {
        put_zeros(kb, plain->n_room);
        kb_int(kb, plain->n_stack, 8);
    }
    return n_least;
}

static bool is_plain(const struct perf_sample *got, const struct plain *plain)
{
    const uint64_t type = plain->type;
    const bool has_stack = type & PERF_HAS_REGS_USER && type & PERF_HAS_STACK_USER;
    const bool has_chain = type & PERF_HAS_CALLCHAIN;
    return got->ip == (type & PERF_HAS_IP ? plain->ip : 0) &&
           got->tid == (type & PERF_HAS_TID ? (int32_t)plain->tid : -1) &&
           got->pid == (type & PERF_HAS_TID ? (int32_t)plain->pid : -1) &&
           got->has_tid == ((type & PERF_HAS_TID) != 0) &&
           got->time_ns == (type & PERF_HAS_TIME ? plain->time_ns : 0) &&
           got->cpu == (type & PERF_HAS_CPU ? (int32_t)plain->cpu : -1) &&
           got->period == (type & PERF_HAS_PERIOD ? plain->period : 1) &&
           got->n_chain == (has_chain ? plain->n_chain : 0) &&
           got->raw.n_bytes == (type & PERF_HAS_RAW ? plain->n_raw : 0) &&
           got->registers_abi == (has_stack ? plain->abi : 0) &&
           got->n_stack == (has_stack ? plain->n_stack : 0);
}

/* Two attributes whose samples have their id at one place, as perf makes them; ids near each other
 * or far apart. */
static bool make_attrs(struct perf_attrs *attrs, struct plain *plain, bool is_big, uint64_t far)
{
    bool is_good = perf_attrs_init(attrs);
    for (unsigned k = 0; k < 2 && is_good; k++) {
        struct kb kb = { .is_big = is_big };
        pb_attr(&kb, 1, 0, plain->type ^ (k ? 0 : PERF_HAS_RAW));
        kb_set(&kb, 72, plain->branch_type, 8);
        kb_set(&kb, 80, plain->registers, 8);
        struct weft_cursor cur = weft_cur_init(kb.out.bytes, kb.out.n_bytes, 0);
        is_good = perf_attr_read(attrs, &cur, kb.out.n_bytes, is_big) &&
                  perf_attr_add_id(attrs, 10 + k * far, k);
        kb_fini(&kb);
    }
    return is_good && perf_attrs_seal(attrs);
}

/* Without an id the first attribute is meant, whose samples have other parts. */
static bool try_one(uint64_t seed)
{
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    const bool is_big = tap_random(&state) % 2;
    const uint64_t far = tap_random(&state) % 2 ? 1 : UINT64_C(1) << 40;
    const uint64_t type = tap_random(&state) & TYPES;
    const bool has_id = type & (PERF_HAS_ID | PERF_HAS_IDENTIFIER);
    struct plain plain = random_plain(&state, type, 10 + far);
    struct perf_attrs attrs;
    struct perf_sample got;
    plain.registers = tap_random(&state) & 0xff0fff;
    plain.branch_type = tap_random(&state) & 1 << 17;
    bool is_good = make_attrs(&attrs, &plain, is_big, far);
    plain.type ^= has_id ? 0 : PERF_HAS_RAW;
    struct kb kb = { .is_big = is_big };
    const size_t n_least = put_sample(&kb, &plain);
    const uint64_t time_ns = plain.type & PERF_HAS_TIME ? plain.time_ns : 0;
    is_good = is_good && perf_sample_read(&attrs, kb.out.bytes, kb.out.n_bytes, is_big, &got) &&
              is_plain(&got, &plain) &&
              perf_time_of(&attrs, true, kb.out.bytes, kb.out.n_bytes, is_big) == time_ns;
    for (size_t n = 0; n < kb.out.n_bytes && is_good; n++) {
        uint8_t *cut = malloc(n + 1); /* its end is watched */
        memcpy(cut, kb.out.bytes, n);
        const bool is_read = perf_sample_read(&attrs, cut, n, is_big, &got);
        /* Before its id it is another one's. */
        is_good = (has_id && n < LEAST_WITH_ID) || is_read == (n >= n_least);
        is_good = is_good && (!is_read || got.n_stack == 0);
        (void)perf_time_of(&attrs, true, cut, n, is_big);
        free(cut);
    }
    kb_fini(&kb);
    perf_attrs_fini(&attrs);
    return is_good;
}

int main(void)
{
    const uint64_t first = tap_seed(1);
    unsigned n_wrong = 0;
    for (uint64_t seed = first; seed < first + SEEDS; seed++)
        if (!try_one(seed) && n_wrong++ == 0)
            tap_ok(false, "seed %llu", (unsigned long long)seed);
    tap_eq_u64(n_wrong, 0, "%u samples are read as they were written", (unsigned)SEEDS);
    return tap_done();
}
