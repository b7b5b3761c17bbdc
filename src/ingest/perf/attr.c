/* SPDX-License-Identifier: MIT */
#include "ingest/perf/attr.h"

#include "base/vec.h"
#include "kernel/bytes.h"

/* Bits of the flags of struct perf_event_attr. */
enum { FLAG_FREQ = 10, FLAG_SAMPLE_ID_ALL = 18, FLAG_USE_CLOCKID = 25 };

/* Bits of read_format. */
enum { READ_ENABLED = 1, READ_RUNNING = 2, READ_ID = 4, READ_GROUP = 8, READ_LOST = 16 };

enum { LEAST_ATTR_BYTES = 48, CLOCKID_OFF = 92, CHAIN_BYTES = 8 };

bool perf_attrs_init(struct perf_attrs *attrs)
{
    *attrs = (struct perf_attrs){ .of_id = weft_map_new() };
    return attrs->of_id != NULL;
}

void perf_attrs_fini(struct perf_attrs *attrs)
{
    WEFT_VEC_FINI(attrs);
    WEFT_VEC_FINI(&attrs->attr_of);
    weft_map_free(attrs->of_id);
}

/* Bit fields begin at the other end of the word on a machine of the other byte order. */
static bool flag_of(uint64_t flags, unsigned bit, bool is_big)
{
    return flags >> (is_big ? 63 - bit : bit) & 1;
}

/* Where the time and the id stand in a sample. */
static void place(struct perf_attr *attr)
{
    const uint64_t before_time = PERF_HAS_IDENTIFIER | PERF_HAS_IP | PERF_HAS_TID;
    const uint64_t before_id = PERF_HAS_IP | PERF_HAS_TID | PERF_HAS_TIME | PERF_HAS_ADDR;
    const uint64_t type = attr->sample_type;
    attr->time_at = (uint16_t)(8 * __builtin_popcountll(type & before_time));
    attr->id_at =
        type & PERF_HAS_IDENTIFIER ? 0 : (uint16_t)(8 * __builtin_popcountll(type & before_id));
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
    if (attr.has_clockid)
        attr.clockid = (int32_t)kernel_load_u32(sub.start + CLOCKID_OFF, is_big);
    if (flag_of(flags, FLAG_FREQ, is_big))
        attr.period = 0;
    place(&attr);
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

/* ---- samples ----------------------------------------------------------------------------------
 */

/* The attribute of a sample: by the id that stands at the same place in all of them. */
static const struct perf_attr *attr_of_sample(const struct perf_attrs *attrs, const uint8_t *body,
                                              size_t n_body, bool is_big)
{
    const size_t at = attrs->items[0].id_at;
    if (attrs->n == 1 || !(attrs->items[0].sample_type & (PERF_HAS_IDENTIFIER | PERF_HAS_ID)))
        return attrs->items;
    return at + 8 <= n_body ? perf_attr_of_id(attrs, kernel_load_u64(body + at, is_big))
                            : attrs->items;
}

static void skip_words(struct weft_cursor *cur, uint64_t n_words)
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

static void read_tid(struct weft_cursor *cur, bool is_big, struct perf_sample *sample)
{
    sample->pid = (int32_t)kernel_cur_u32(cur, is_big);
    sample->tid = (int32_t)kernel_cur_u32(cur, is_big);
    sample->has_tid = sample->tid >= 0;
}

static void read_cpu(struct weft_cursor *cur, bool is_big, struct perf_sample *sample)
{
    const uint32_t cpu = kernel_cur_u32(cur, is_big);
    (void)kernel_cur_u32(cur, is_big);
    sample->cpu = cpu < KERNEL_MOST_CPUS ? (int32_t)cpu : -1;
}

static void read_variable(struct weft_cursor *cur, uint64_t type, bool is_big,
                          struct perf_sample *sample)
{
    if (type & PERF_HAS_READ)
        skip_counts(cur, sample->attr->read_format, is_big);
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
    struct weft_cursor cur = weft_cur_init(body, n_body, 0);
    *sample = (struct perf_sample){ .pid = -1, .tid = -1, .cpu = -1 };
    sample->attr = attr_of_sample(attrs, body, n_body, is_big);
    const uint64_t type = sample->attr->sample_type;
    skip_words(&cur, (type & PERF_HAS_IDENTIFIER) != 0);
    if (type & PERF_HAS_IP)
        sample->ip = kernel_cur_u64(&cur, is_big);
    if (type & PERF_HAS_TID)
        read_tid(&cur, is_big, sample);
    if (type & PERF_HAS_TIME)
        sample->time_ns = kernel_cur_u64(&cur, is_big);
    skip_words(&cur, (type & PERF_HAS_ADDR) != 0);
    skip_words(&cur, (type & PERF_HAS_ID) != 0);
    skip_words(&cur, (type & PERF_HAS_STREAM_ID) != 0);
    if (type & PERF_HAS_CPU)
        read_cpu(&cur, is_big, sample);
    sample->period = sample->attr->period;
    if (type & PERF_HAS_PERIOD)
        sample->period = kernel_cur_u64(&cur, is_big);
    read_variable(&cur, type, is_big, sample);
    return !cur.fault;
}

/* ---- other records ----------------------------------------------------------------------------
 */

enum {
    TRAILER = PERF_HAS_TID | PERF_HAS_TIME | PERF_HAS_ID | PERF_HAS_STREAM_ID | PERF_HAS_CPU |
              PERF_HAS_IDENTIFIER
};

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
    *sample = (struct perf_sample){ .pid = -1, .tid = -1, .cpu = -1 };
    sample->attr = attr_of_trailer(attrs, body, n_body, is_big);
    if (!sample->attr->has_sample_id)
        return true;
    const uint64_t type = sample->attr->sample_type & TRAILER;
    const size_t n_trailer = 8 * (size_t)__builtin_popcountll(type);
    if (n_trailer > n_body)
        return false;
    struct weft_cursor cur = weft_cur_init(body + n_body - n_trailer, n_trailer, 0);
    if (type & PERF_HAS_TID)
        read_tid(&cur, is_big, sample);
    if (type & PERF_HAS_TIME)
        sample->time_ns = kernel_cur_u64(&cur, is_big);
    skip_words(&cur, (type & PERF_HAS_ID) != 0);
    skip_words(&cur, (type & PERF_HAS_STREAM_ID) != 0);
    if (type & PERF_HAS_CPU)
        read_cpu(&cur, is_big, sample);
    return true;
}

uint64_t perf_time_of(const struct perf_attrs *attrs, bool is_sample, const uint8_t *body,
                      size_t n_body, bool is_big)
{
    if (!is_sample) {
        struct perf_sample sample;
        return perf_trailer_read(attrs, body, n_body, is_big, &sample) ? sample.time_ns : 0;
    }
    const struct perf_attr *attr = attr_of_sample(attrs, body, n_body, is_big);
    return attr->sample_type & PERF_HAS_TIME && attr->time_at + 8u <= n_body
               ? kernel_load_u64(body + attr->time_at, is_big)
               : 0;
}
