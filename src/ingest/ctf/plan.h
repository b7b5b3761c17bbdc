/* SPDX-License-Identifier: MIT
 *
 * Plans: field classes, made into one array of operations in pre-order that the decoder runs, with
 * every length, tag and clock resolved. A value has a slot, which is the same in every event of a
 * class:
 *
 *     frame 0:  packet header | packet context | event header | event context | context, fields
 *     elements of arrays: a frame each, behind frame 0, as they are decoded
 *
 * Options of a variant share their slots.
 */
#ifndef WEFT_INGEST_CTF_PLAN_H
#define WEFT_INGEST_CTF_PLAN_H

#include "base/error.h"
#include "ingest/ctf/class.h"

enum { CTF_MOST_OPS = 1 << 20 };

#define CTF_NO_SLOT UINT32_MAX

enum ctf_op_kind {
    CTF_OP_STRUCT, /* aligns; its members follow */
    CTF_OP_BYTES,  /* integer of 8, 16, 32 or 64 bits that begins with a byte */
    CTF_OP_BITS,   /* any other integer */
    CTF_OP_VARINT,
    CTF_OP_FLOAT,
    CTF_OP_STRING,
    CTF_OP_TEXT, /* text or blob: a run of bytes */
    CTF_OP_ARRAY,
    CTF_OP_VARIANT,
    CTF_OP_OPTIONAL,
};

/* What a selector's value from `first` to `last` chooses: operations [begin, end). */
struct ctf_option {
    uint64_t first, last;
    uint32_t begin, end;
};

struct ctf_op {
    uint8_t kind;
    uint8_t role; /* enum ctf_role */
    uint8_t n_bits;
    bool is_big, is_signed;
    bool is_told;  /* the length is in the slot (ref_level, ref_slot) */
    bool is_clock; /* the value moves the stream's clock */
    uint8_t level; /* of the frame that `slot` is in */
    uint8_t ref_level;
    bool is_ref_signed;
    uint32_t align_mask; /* bits - 1 */
    uint32_t slot;
    uint32_t ref_slot;
    uint32_t next;          /* the operation behind this one and its parts */
    uint32_t element_slots; /* ARRAY */
    uint32_t n_options;     /* VARIANT, OPTIONAL */
    uint64_t element_bits;  /* ARRAY: the least that an element takes */
    uint64_t length;
    const struct ctf_option *options;
    const struct ctf_class *class;
    struct weft_str name, given;
};

struct ctf_plan {
    struct ctf_op *ops; /* the first is the structure itself */
    uint32_t n_ops;     /* 0: there is no such class */
};

struct ctf_event_plan {
    const struct ctf_event_class *class;
    struct ctf_plan context, fields;
};

struct ctf_stream_plan {
    const struct ctf_stream_class *class;
    const struct ctf_clock *clock; /* NULL: its events have no time */
    struct ctf_plan packet_context, event_header, event_context;
    struct ctf_event_plan *events;       /* as in the class */
    uint32_t first_event_slot;           /* where the slots of packets end */
    uint32_t first_own_slot;             /* where those of header and common context end, too */
    uint32_t n_slots;                    /* of frame 0, for any event */
    uint64_t lone_event;                 /* number of the event when the header has none */
    const struct ctf_event_plan **of_id; /* events with numbers < n_of_id; NULL: none */
    uint32_t n_of_id;
};

struct ctf_trace_plan {
    const struct ctf_metadata *meta;
    struct ctf_plan packet_header;
    struct ctf_stream_plan *streams;
    size_t n_streams;
    uint32_t n_packet_slots; /* of the packet header */
};

/* Makes all plans; memory is the metadata's arena, and so are clocks that traces without a
 * declared one get. WEFT_E_MALFORMED if a length or a tag means no field, or not one that can be
 * meant; WEFT_E_LIMIT for classes nested too deep or too large; WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code ctf_plan_make(struct ctf_metadata *meta, struct ctf_trace_plan *trace,
                                          struct weft_err *err);

/* The slot of a member of the plan's structure, "a" or "a.b" through structures; NULL: none. */
const struct ctf_op *ctf_plan_find(const struct ctf_plan *plan, const char *name);

#endif
