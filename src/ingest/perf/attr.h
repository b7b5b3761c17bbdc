/* SPDX-License-Identifier: MIT
 *
 * What was recorded: attributes of events (struct perf_event_attr of linux/perf_event.h), and where
 * they put what in a record.
 */
#ifndef WEFT_INGEST_PERF_ATTR_H
#define WEFT_INGEST_PERF_ATTR_H

#include "base/arena.h"
#include "base/cursor.h"
#include "base/map.h"
#include "kernel/format.h"

/* Bits of sample_type. */
enum perf_sample_bit {
    PERF_HAS_IP = 1 << 0,
    PERF_HAS_TID = 1 << 1,
    PERF_HAS_TIME = 1 << 2,
    PERF_HAS_ADDR = 1 << 3,
    PERF_HAS_READ = 1 << 4,
    PERF_HAS_CALLCHAIN = 1 << 5,
    PERF_HAS_ID = 1 << 6,
    PERF_HAS_CPU = 1 << 7,
    PERF_HAS_PERIOD = 1 << 8,
    PERF_HAS_STREAM_ID = 1 << 9,
    PERF_HAS_RAW = 1 << 10,
    PERF_HAS_BRANCH_STACK = 1 << 11,
    PERF_HAS_REGS_USER = 1 << 12,
    PERF_HAS_STACK_USER = 1 << 13,
    PERF_HAS_IDENTIFIER = 1 << 16,
};

enum { PERF_TYPE_IS_TRACEPOINT = 2, PERF_MOST_ATTRS = 1 << 16 };

/* Where what stands: from the start of a sample's body, or of the end of another record's. */
struct perf_layout {
    uint8_t ip, tid, time, id, cpu, period; /* PERF_NOWHERE: it does not */
    uint8_t n_bytes;                        /* of what always takes the same room */
};

enum { PERF_NOWHERE = UINT8_MAX };

struct perf_attr {
    uint32_t type;
    uint64_t config;
    uint64_t period; /* 0: a frequency was asked for */
    uint64_t sample_type;
    uint64_t read_format;
    uint64_t branch_type;
    uint64_t user_registers; /* those that samples have, a bit each */
    struct perf_layout sample, trailer;
    int32_t clockid;
    bool has_clockid;
    bool has_both_modes;                /* neither user mode nor the kernel is excluded */
    bool has_sample_id;                 /* other records end with thread, time and so on too */
    struct weft_str name;               /* as perf calls it; empty: not recorded */
    const struct kernel_format *format; /* of a tracepoint; NULL: not known */
};

struct perf_attrs {
    struct {
        struct perf_attr *items;
        size_t n, cap;
    };
    struct weft_map *of_id; /* id -> index in `attr_of` */
    struct {
        uint32_t *items;
        size_t n, cap;
    } attr_of;
    uint64_t least_id;
    struct {
        uint32_t *items; /* attributes by id from the least one on; empty: ids lie too far apart */
        size_t n, cap;
    } dense;
    bool has_one_layout; /* time and id stand at the same place for all attributes */
};

bool perf_attrs_init(struct perf_attrs *attrs);
void perf_attrs_fini(struct perf_attrs *attrs);

/* Reads an attribute of `n_bytes`; those beyond what is known are passed over. NULL: the cursor is
 * at fault, or there is no memory. */
struct perf_attr *perf_attr_read(struct perf_attrs *attrs, struct weft_cursor *cur, size_t n_bytes,
                                 bool is_big);

/* Says that records with this id are of the attribute. False without memory. */
bool perf_attr_add_id(struct perf_attrs *attrs, uint64_t id, size_t attr);

/* After the last attribute: prepares for samples. False without memory. */
bool perf_attrs_seal(struct perf_attrs *attrs);

/* The attribute of an id; the first one for an id that is not known. */
static inline struct perf_attr *perf_attr_of_id(const struct perf_attrs *attrs, uint64_t id)
{
    if (attrs->dense.n > 0)
        return id - attrs->least_id < attrs->dense.n
                   ? &attrs->items[attrs->dense.items[id - attrs->least_id]]
                   : attrs->items;
    const uint32_t index = weft_map_find(attrs->of_id, id);
    return &attrs->items[index == WEFT_MAP_NONE ? 0 : attrs->attr_of.items[index]];
}

/* What a record says of itself. What is not there is 0, but for tid and cpu: -1. */
struct perf_sample {
    const struct perf_attr *attr;
    uint64_t time_ns, ip, period;
    int32_t pid, tid, cpu;
    bool has_tid;
    const uint8_t *chain; /* n_chain addresses of 8 bytes */
    uint64_t n_chain;
    struct kernel_record raw;
    uint64_t registers_abi;   /* of user space; 0: there are none */
    const uint8_t *registers; /* 8 bytes for each bit of the attribute's */
    const uint8_t *stack;     /* the top of it, from the stack pointer on; n_stack bytes, 0: none */
    uint64_t n_stack;
};

/* Takes apart a sample's body, or the end of another record's body. False: it is too short. */
bool perf_sample_read(const struct perf_attrs *attrs, const uint8_t *body, size_t n_body,
                      bool is_big, struct perf_sample *sample);
bool perf_trailer_read(const struct perf_attrs *attrs, const uint8_t *body, size_t n_body,
                       bool is_big, struct perf_sample *sample);

/* The time alone: what sorting needs. 0 if it is not recorded. */
uint64_t perf_time_of(const struct perf_attrs *attrs, bool is_sample, const uint8_t *body,
                      size_t n_body, bool is_big);

#endif
