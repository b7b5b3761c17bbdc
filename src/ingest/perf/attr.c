/* SPDX-License-Identifier: MIT
 *
 * Where each part of a record lies, computed once for each attribute, and the readers of samples
 * and trailers that use it. All offsets are checked against the record's size. Records of several
 * attributes are distinguished by their id, through a dense table where ids are close together.
 */
#include "ingest/perf/attr.h"

#include "base/checked.h"
#include "base/vec.h"
#include "kernel/bytes.h"

/* Bits of the flags of struct perf_event_attr. */
enum {
    FLAG_EXCLUDE_USER = 4,
    FLAG_EXCLUDE_KERNEL = 5,
    FLAG_FREQ = 10,
    FLAG_SAMPLE_ID_ALL = 18,
    FLAG_USE_CLOCKID = 25
};

/* Bits of read_format. */
enum { READ_ENABLED = 1, READ_RUNNING = 2, READ_ID = 4, READ_GROUP = 8, READ_LOST = 16 };

enum {
    LEAST_ATTR_BYTES = 48,
    BRANCH_OFF = 72,
    REGISTERS_OFF = 80,
    CLOCKID_OFF = 92,
    DENSE_IDS = 1 << 16
};

bool perf_attrs_init(struct perf_attrs *attrs)
{
    *attrs = (struct perf_attrs){ .of_id = weft_map_new() };
    return attrs->of_id != NULL;
}

void perf_attrs_fini(struct perf_attrs *attrs)
{
    WEFT_VEC_FINI(attrs);
    WEFT_VEC_FINI(&attrs->attr_of);
    WEFT_VEC_FINI(&attrs->dense);
    weft_map_free(attrs->of_id);
}

/* Bit fields begin at the other end of the word on a machine of the other byte order. */
static bool flag_of(uint64_t flags, unsigned bit, bool is_big)
{
    return flags >> (is_big ? 63 - bit : bit) & 1;
}

/* A part of a record that always takes 8 bytes. */
struct part {
    uint32_t bit;
    uint8_t *place; /* NULL: not needed */
};

static void place(uint64_t type, const struct part *parts, size_t n_parts,
                  struct perf_layout *layout)
{
    for (size_t k = 0; k < n_parts; k++) {
        const bool is_there = (type & parts[k].bit) != 0;
        if (parts[k].place)
            *parts[k].place = is_there ? layout->n_bytes : PERF_NOWHERE;
        layout->n_bytes = (uint8_t)(layout->n_bytes + 8 * is_there);
    }
}

/* An id stands at the first place that has one. */
static void place_all(struct perf_attr *attr)
{
    struct perf_layout *in = &attr->sample;
    struct perf_layout *end = &attr->trailer;
    const bool has_front_id = (attr->sample_type & PERF_HAS_IDENTIFIER) != 0;
    const struct part parts[] = {
        { PERF_HAS_IDENTIFIER, NULL }, { PERF_HAS_IP, &in->ip },   { PERF_HAS_TID, &in->tid },
        { PERF_HAS_TIME, &in->time },  { PERF_HAS_ADDR, NULL },    { PERF_HAS_ID, &in->id },
        { PERF_HAS_STREAM_ID, NULL },  { PERF_HAS_CPU, &in->cpu }, { PERF_HAS_PERIOD, &in->period },
    };
    const struct part trailer[] = {
        { PERF_HAS_TID, &end->tid },  { PERF_HAS_TIME, &end->time }, { PERF_HAS_ID, NULL },
        { PERF_HAS_STREAM_ID, NULL }, { PERF_HAS_CPU, &end->cpu },   { PERF_HAS_IDENTIFIER, NULL },
    };
    place(attr->sample_type, parts, sizeof parts / sizeof *parts, in);
    if (has_front_id)
        in->id = 0;
    end->tid = end->time = end->cpu = PERF_NOWHERE;
    if (attr->has_sample_id)
        place(attr->sample_type, trailer, sizeof trailer / sizeof *trailer, end);
}

struct perf_attr *perf_attr_read(struct perf_attrs *attrs, struct weft_cursor *cur, size_t n_bytes,
                                 bool is_big)
{
    struct weft_cursor sub = weft_cur_sub(cur, n_bytes);
    struct perf_attr attr = { .type = kernel_cur_u32(&sub, is_big) };
    (void)kernel_cur_u32(&sub, is_big); /* its own size */
    attr.config = kernel_cur_u64(&sub, is_big);
    attr.period = kernel_cur_u64(&sub, is_big);
    attr.sample_type = kernel_cur_u64(&sub, is_big);
    attr.read_format = kernel_cur_u64(&sub, is_big);
    const uint64_t flags = kernel_cur_u64(&sub, is_big);
    if (n_bytes < LEAST_ATTR_BYTES || sub.fault || attrs->n >= PERF_MOST_ATTRS) {
        cur->fault = true;
        return NULL;
    }
    attr.has_sample_id = flag_of(flags, FLAG_SAMPLE_ID_ALL, is_big);
    attr.has_clockid = flag_of(flags, FLAG_USE_CLOCKID, is_big) && n_bytes >= CLOCKID_OFF + 4;
    attr.has_both_modes =
        !flag_of(flags, FLAG_EXCLUDE_USER, is_big) && !flag_of(flags, FLAG_EXCLUDE_KERNEL, is_big);
    if (attr.has_clockid)
        attr.clockid = (int32_t)kernel_load_u32(sub.start + CLOCKID_OFF, is_big);
    if (n_bytes >= REGISTERS_OFF + 8) {
        attr.branch_type = kernel_load_u64(sub.start + BRANCH_OFF, is_big);
        attr.user_registers = kernel_load_u64(sub.start + REGISTERS_OFF, is_big);
    }
    if (flag_of(flags, FLAG_FREQ, is_big))
        attr.period = 0;
    place_all(&attr);
    struct perf_attr *added = WEFT_VEC_PUSH(attrs);
    if (added)
        *added = attr;
    return added;
}

bool perf_attr_add_id(struct perf_attrs *attrs, uint64_t id, size_t attr)
{
    bool is_new;
    const uint32_t index = weft_map_add(attrs->of_id, id, &is_new);
    if (index == WEFT_MAP_NONE)
        return false;
    if (is_new && !WEFT_VEC_PUSH(&attrs->attr_of))
        return false;
    attrs->attr_of.items[index] = (uint32_t)attr;
    return true;
}

static bool is_same_place(const struct perf_attr *a, const struct perf_attr *b)
{
    return a->sample.time == b->sample.time && a->sample.id == b->sample.id &&
           a->trailer.time == b->trailer.time && a->trailer.n_bytes == b->trailer.n_bytes;
}

bool perf_attrs_seal(struct perf_attrs *attrs)
{
    const uint32_t n_ids = weft_map_count(attrs->of_id);
    uint64_t most_id = 0;
    attrs->has_one_layout = true;
    for (size_t k = 1; k < attrs->n; k++)
        attrs->has_one_layout &= is_same_place(&attrs->items[0], &attrs->items[k]);
    attrs->least_id = UINT64_MAX;
    for (uint32_t k = 0; k < n_ids; k++) {
        const uint64_t id = weft_map_key(attrs->of_id, k);
        attrs->least_id = weft_min_u64(attrs->least_id, id);
        most_id = weft_max_u64(most_id, id);
    }
    if (n_ids == 0 || most_id - attrs->least_id >= DENSE_IDS)
        return true;
    const size_t n_dense = (size_t)(most_id - attrs->least_id) + 1;
    if (!weft_vec_reserve(&attrs->dense.items, &attrs->dense.cap, n_dense,
                          sizeof *attrs->dense.items))
        return false;
    memset(attrs->dense.items, 0, n_dense * sizeof *attrs->dense.items);
    for (uint32_t k = 0; k < n_ids; k++)
        attrs->dense.items[weft_map_key(attrs->of_id, k) - attrs->least_id] =
            attrs->attr_of.items[k];
    attrs->dense.n = n_dense;
    return true;
}

/* ---- samples ----------------------------------------------------------------------------------
 */

/* The attribute of a sample: by the id that stands at the same place in all of them. */
static const struct perf_attr *attr_of_sample(const struct perf_attrs *attrs, const uint8_t *body,
                                              size_t n_body, bool is_big)
{
    const size_t at = attrs->items[0].sample.id;
    if (attrs->n == 1 || at == PERF_NOWHERE)
        return attrs->items;
    return at + 8 <= n_body ? perf_attr_of_id(attrs, kernel_load_u64(body + at, is_big))
                            : attrs->items;
}

static inline void skip_words(struct weft_cursor *cur, uint64_t n_words)
{
    const size_t n_left = weft_cur_left(cur);
    (void)weft_cur_take(cur, n_words <= n_left / 8 ? (size_t)n_words * 8 : SIZE_MAX);
}

static void skip_counts(struct weft_cursor *cur, uint64_t format, bool is_big)
{
    const unsigned n_times =
        (unsigned)((format & READ_ENABLED) != 0) + (unsigned)((format & READ_RUNNING) != 0);
    const unsigned n_each =
        1 + (unsigned)((format & READ_ID) != 0) + (unsigned)((format & READ_LOST) != 0);
    if (!(format & READ_GROUP)) {
        skip_words(cur, n_times + n_each);
        return;
    }
    const uint64_t n_counts = kernel_cur_u64(cur, is_big);
    skip_words(cur, n_times);
    if (n_counts > weft_cur_left(cur) / 8)
        cur->fault = true;
    else
        skip_words(cur, n_counts * n_each);
}

/* The parts that always take the same room, all of which are there. */
static inline void read_fixed(const struct perf_layout *layout, const uint8_t *bytes, bool is_big,
                              struct perf_sample *sample)
{
    sample->tid = sample->pid = sample->cpu = -1;
    if (layout->tid != PERF_NOWHERE) {
        sample->pid = (int32_t)kernel_load_u32(bytes + layout->tid, is_big);
        sample->tid = (int32_t)kernel_load_u32(bytes + layout->tid + 4, is_big);
    }
    sample->has_tid = sample->tid >= 0;
    if (layout->time != PERF_NOWHERE)
        sample->time_ns = kernel_load_u64(bytes + layout->time, is_big);
    if (layout->cpu != PERF_NOWHERE) {
        const uint32_t cpu = kernel_load_u32(bytes + layout->cpu, is_big);
        sample->cpu = cpu < KERNEL_MOST_CPUS ? (int32_t)cpu : -1;
    }
}

static void skip_branches(struct weft_cursor *cur, uint64_t branch_type, bool is_big)
{
    enum { BRANCH_HAS_INDEX = 1 << 17, BRANCH_WORDS = 3 };
    const uint64_t n_branches = kernel_cur_u64(cur, is_big);
    skip_words(cur, (branch_type & BRANCH_HAS_INDEX) != 0);
    if (n_branches > weft_cur_left(cur) / 8)
        cur->fault = true;
    else
        skip_words(cur, n_branches * BRANCH_WORDS);
}

/* Registers, and a copy of the stack: its room, the bytes, and how many of them hold something.
 * What is damaged is not there. */
static void read_user(struct weft_cursor *cur, bool is_big, struct perf_sample *sample)
{
    const struct perf_attr *attr = sample->attr;
    if (attr->sample_type & PERF_HAS_BRANCH_STACK)
        skip_branches(cur, attr->branch_type, is_big);
    const uint64_t abi = kernel_cur_u64(cur, is_big);
    const uint8_t *registers = cur->at;
    if (abi)
        skip_words(cur, (uint64_t)__builtin_popcountll(attr->user_registers));
    const uint64_t n_room = kernel_cur_u64(cur, is_big);
    const size_t n_left = cur->fault ? 0 : weft_cur_left(cur);
    const uint8_t *stack = weft_cur_take(cur, n_room <= n_left ? (size_t)n_room : SIZE_MAX);
    const uint64_t n_stack = n_room ? kernel_cur_u64(cur, is_big) : 0;
    if (cur->fault)
        return;
    sample->registers_abi = abi;
    sample->registers = registers;
    sample->stack = stack;
    sample->n_stack = weft_min_u64(n_stack, n_room);
}

/* What nearly all samples have behind those: a chain of addresses, and raw data. */
static inline void read_chain(struct weft_cursor *cur, uint64_t type, bool is_big,
                              struct perf_sample *sample)
{
    if (type & PERF_HAS_CALLCHAIN) {
        sample->n_chain = kernel_cur_u64(cur, is_big);
        sample->chain = cur->at;
        skip_words(cur, sample->n_chain);
    }
    if (type & PERF_HAS_RAW) {
        sample->raw.n_bytes = kernel_cur_u32(cur, is_big);
        sample->raw.bytes = weft_cur_take(cur, sample->raw.n_bytes);
    }
}

bool perf_sample_read(const struct perf_attrs *attrs, const uint8_t *body, size_t n_body,
                      bool is_big, struct perf_sample *sample)
{
    const struct perf_attr *attr = attr_of_sample(attrs, body, n_body, is_big);
    const struct perf_layout *layout = &attr->sample;
    *sample = (struct perf_sample){ .attr = attr, .period = attr->period };
    if (n_body < layout->n_bytes)
        return false;
    read_fixed(layout, body, is_big, sample);
    if (layout->ip != PERF_NOWHERE)
        sample->ip = kernel_load_u64(body + layout->ip, is_big);
    if (layout->period != PERF_NOWHERE)
        sample->period = kernel_load_u64(body + layout->period, is_big);
    struct weft_cursor cur = weft_cur_init(body + layout->n_bytes, n_body - layout->n_bytes, 0);
    if (attr->sample_type & PERF_HAS_READ)
        skip_counts(&cur, attr->read_format, is_big);
    read_chain(&cur, attr->sample_type, is_big, sample);
    const bool is_good = !cur.fault;
    if (is_good && attr->sample_type & PERF_HAS_REGS_USER &&
        attr->sample_type & PERF_HAS_STACK_USER)
        read_user(&cur, is_big, sample);
    return is_good;
}

/* ---- other records ----------------------------------------------------------------------------
 */

static const struct perf_attr *attr_of_trailer(const struct perf_attrs *attrs, const uint8_t *body,
                                               size_t n_body, bool is_big)
{
    const uint64_t type = attrs->items[0].sample_type;
    const uint64_t last = PERF_HAS_STREAM_ID | PERF_HAS_CPU;
    size_t n_behind = 8;
    if (attrs->n == 1)
        return attrs->items;
    if (!(type & PERF_HAS_IDENTIFIER)) {
        if (!(type & PERF_HAS_ID))
            return attrs->items;
        n_behind += 8 * (size_t)__builtin_popcountll(type & last);
    }
    return n_behind <= n_body
               ? perf_attr_of_id(attrs, kernel_load_u64(body + n_body - n_behind, is_big))
               : attrs->items;
}

bool perf_trailer_read(const struct perf_attrs *attrs, const uint8_t *body, size_t n_body,
                       bool is_big, struct perf_sample *sample)
{
    const struct perf_attr *attr = attr_of_trailer(attrs, body, n_body, is_big);
    *sample = (struct perf_sample){ .attr = attr, .pid = -1, .tid = -1, .cpu = -1 };
    if (attr->trailer.n_bytes > n_body)
        return false;
    read_fixed(&attr->trailer, body + n_body - attr->trailer.n_bytes, is_big, sample);
    return true;
}

uint64_t perf_time_of(const struct perf_attrs *attrs, bool is_sample, const uint8_t *body,
                      size_t n_body, bool is_big)
{
    const struct perf_attr *attr = attrs->items;
    if (!attrs->has_one_layout)
        attr = is_sample ? attr_of_sample(attrs, body, n_body, is_big)
                         : attr_of_trailer(attrs, body, n_body, is_big);
    const struct perf_layout *layout = is_sample ? &attr->sample : &attr->trailer;
    const size_t n_behind = is_sample ? n_body : layout->n_bytes;
    return layout->time != PERF_NOWHERE && n_behind <= n_body && layout->time + 8u <= n_behind
               ? kernel_load_u64(body + (n_body - n_behind) + layout->time, is_big)
               : 0;
}
