/* SPDX-License-Identifier: MIT
 *
 * What the metadata of a CTF trace declare: field classes, and the classes of packets, streams and
 * events that are made of them. Both notations (TSDL of CTF 1.8, JSON of CTF 2) end up here; a plan
 * (plan.h) is made of it before any event is read. All memory is the arena's of the metadata.
 */
#ifndef WEFT_INGEST_CTF_CLASS_H
#define WEFT_INGEST_CTF_CLASS_H

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits on what metadata may declare; real ones stay far below. */
enum {
    CTF_MAX_DEPTH = 48, /* of nested classes */
    CTF_MAX_ALIGN_BITS = 1 << 20,
    CTF_MAX_PATH_WORDS = 16,
};

enum ctf_kind {
    CTF_INTEGER, /* n_bits at an alignment; with mappings it is an enumeration */
    CTF_VARINT,  /* LEB128 */
    CTF_FLOAT,   /* IEEE 754 of 32 or 64 bits */
    CTF_STRING,  /* ends with NUL */
    CTF_TEXT, /* bytes of a length that is fixed or in a field; its text ends with the first NUL */
    CTF_BLOB, /* likewise, but no text */
    CTF_STRUCT,
    CTF_ARRAY,    /* of a length that is fixed or in a field */
    CTF_VARIANT,  /* the member that a tag selects */
    CTF_OPTIONAL, /* its element, if a selector says so */
};

/* In which order bytes, and the bits within them, make a number. NATIVE is the trace's own, which
 * may be declared after the class. */
enum ctf_order { CTF_ORDER_NATIVE, CTF_ORDER_LITTLE, CTF_ORDER_BIG };

/* What a field of a header or context means to the decoder. */
enum ctf_role {
    CTF_ROLE_NONE,
    CTF_ROLE_MAGIC,
    CTF_ROLE_UUID,
    CTF_ROLE_STREAM_ID,
    CTF_ROLE_STREAM_INSTANCE,
    CTF_ROLE_PACKET_SIZE,
    CTF_ROLE_CONTENT_SIZE,
    CTF_ROLE_BEGIN,
    CTF_ROLE_END,
    CTF_ROLE_DISCARDED,
    CTF_ROLE_SEQUENCE,
    CTF_ROLE_EVENT_ID,
    CTF_ROLES,
};

/* Numbers from `first` to `last` have a label; both are signed if the enumeration is. */
struct ctf_range {
    uint64_t first, last;
    struct weft_str label;
};

/* A place of another field: the words of "stream.event.context.len". */
struct ctf_path {
    struct weft_str words[CTF_MAX_PATH_WORDS];
    unsigned n_words;
    uint8_t scope; /* CTF 2: 1 + the scope that the words begin in; 0: it is found by looking */
};

struct ctf_member;

struct ctf_class {
    uint8_t kind;  /* enum ctf_kind */
    uint8_t order; /* enum ctf_order */
    uint8_t role;  /* enum ctf_role; CTF 2 names roles, TSDL names fields */
    uint8_t n_bits;
    uint8_t base; /* 2, 8, 10, 16: how a number is shown */
    bool is_signed;
    bool is_text_element; /* an array of it is a text */
    bool is_enum;
    bool is_told; /* the length is another field's: path */
    bool is_bool;
    bool is_default_clock;       /* CTF 2: shows the clock of its stream, whatever its name */
    uint8_t n_char_bytes;        /* TEXT, STRING: of UTF-16 or UTF-32 code units; 1: UTF-8 */
    uint32_t align_bits;         /* a power of two; never less than that of a member or element */
    struct weft_str clock;       /* name of the clock that an integer shows; empty: none */
    uint64_t length;             /* of a text, blob, array */
    const struct ctf_path *path; /* length, tag, selector */
    const struct ctf_class *element;
    const struct ctf_member *members; /* STRUCT, VARIANT */
    uint32_t n_members;
    const struct ctf_range *ranges; /* labels of an enumeration; selectors of an OPTIONAL */
    uint32_t n_ranges;
};

struct ctf_member {
    struct weft_str name;  /* as shown: TSDL's leading underscore is gone */
    struct weft_str given; /* as written, for paths and tags */
    const struct ctf_class *class;
    const struct ctf_range *ranges; /* CTF 2: which selectors choose this option */
    uint32_t n_ranges;
};

struct ctf_clock {
    struct weft_str name;
    struct weft_str description;
    uint64_t frequency_hz;
    int64_t offset_s;
    int64_t offset_cycles;
    bool is_absolute; /* the origin is the Unix epoch */
};

struct ctf_event_class {
    uint64_t id;
    struct weft_str name;
    const struct ctf_class *context; /* NULL: none */
    const struct ctf_class *fields;
    uint32_t index; /* in the metadata, over all streams */
};

struct ctf_stream_class {
    uint64_t id;
    const struct ctf_class *packet_context;
    const struct ctf_class *event_header;
    const struct ctf_class *event_context;
    struct weft_map *event_of_id; /* -> index in `events` */
    struct {
        struct ctf_event_class *items;
        size_t n, cap;
    } events;
    struct weft_str clock; /* CTF 2: the default clock of its time stamps */
};

struct ctf_env {
    struct weft_str key, value; /* a number as text */
};

struct ctf_metadata {
    struct weft_arena *arena;
    bool is_big; /* native byte order */
    bool has_order;
    bool is_draft; /* says 0.x for its version: written before 1.8, read as that */
    bool has_uuid;
    bool is_json; /* CTF 2 */
    uint8_t uuid[16];
    const struct ctf_class *packet_header;
    struct {
        struct ctf_clock *items;
        size_t n, cap;
    } clocks;
    struct {
        struct ctf_stream_class *items;
        size_t n, cap;
    } streams;
    struct {
        struct ctf_env *items;
        size_t n, cap;
    } env;
    uint32_t n_events; /* classes, of all streams */
};

/* NULL: none of that name. */
const struct ctf_clock *ctf_clock_find(const struct ctf_metadata *meta, struct weft_str name);
const struct ctf_stream_class *ctf_stream_find(const struct ctf_metadata *meta, uint64_t id);
struct weft_str ctf_env_find(const struct ctf_metadata *meta, const char *key); /* empty: none */

/* Adds a stream class with this id, or gives the one there is; NULL without memory. Pointers to
 * stream classes given earlier are no longer valid. */
struct ctf_stream_class *ctf_stream_add(struct ctf_metadata *meta, uint64_t id);

/* Adds an event class. `*is_new` is false if the stream has one of the id, which stays as it is.
 * NULL without memory. */
struct ctf_event_class *ctf_event_add(struct ctf_metadata *meta, struct ctf_stream_class *stream,
                                      uint64_t id, bool *is_new);

#endif
