/* SPDX-License-Identifier: MIT
 *
 * Tables described once. A row is a struct; a field names one of its members, and how it is written
 * in text, CSV, JSON and binary columns. Rows are read by offset; ids are resolved by the trace of
 * the context; what no member holds has a getter.
 *
 *     #define ROW struct weft_root_row
 *     static const struct weft_field fields[] = {
 *         WEFT_FIELD("tid", "tid", ID, thread_id, "thread", .as = WEFT_AS_TID),
 *         WEFT_FIELD("calls", "calls", COUNT, calls, "calls without a caller"),
 *     };
 *     const struct weft_table_type weft_roots_type =
 *         WEFT_TABLE_TYPE("roots", "calls without a caller, a row a thread", fields, ROW);
 */
#ifndef WEFT_SCHEMA_TABLE_H
#define WEFT_SCHEMA_TABLE_H

#include "base/arena.h"
#include "base/str.h"
#include "schema/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct weft_trace;

/* What a value is, and so how it is written. */
enum weft_unit {
    WEFT_UNIT_TEXT,  /* text */
    WEFT_UNIT_ID,    /* an identity, printed as it is */
    WEFT_UNIT_COUNT, /* a number of things */
    WEFT_UNIT_NS,    /* a duration */
    WEFT_UNIT_AT,    /* a point of time, ns since the start of the trace */
    WEFT_UNIT_BYTES,
    WEFT_UNIT_SHARE, /* real: 0.01 is printed as 1 % */
    WEFT_UNIT_RATIO, /* real */
    WEFT_UNIT_BOOL,  /* 0 or not */
};

/* A value on its way to the reader. */
struct weft_cell {
    struct weft_str text;
    double real;
    uint64_t number;
    bool is_null; /* unknown: "-" in text, empty in CSV, null in JSON */
    bool is_bad;  /* loss or outlier: red on a colour terminal */
};

/* The type of a member; WEFT_FROM(ROW, member) finds it. */
enum weft_from {
    WEFT_FROM_NONE, /* no member: the field has a getter */
    WEFT_FROM_BOOL,
    WEFT_FROM_U8,
    WEFT_FROM_U16,
    WEFT_FROM_U32,
    WEFT_FROM_I32, /* negative: unknown */
    WEFT_FROM_U64,
    WEFT_FROM_F64, /* not finite: unknown */
    WEFT_FROM_STR,
    WEFT_FROM_CHARS, /* const char *; NULL: unknown */
};

/* What the value of a member stands for. WEFT_ID_NONE is unknown, but for numbers. */
enum weft_as {
    WEFT_AS_NUMBER, /* itself */
    WEFT_AS_ID,     /* itself */
    WEFT_AS_TID,    /* the tid of the thread with this id */
    WEFT_AS_THREAD, /* its name */
    WEFT_AS_HOST,   /* its host */
    WEFT_AS_FUNCTION,
    WEFT_AS_FUNCTION_KEY, /* the number of the function in its source */
    WEFT_AS_MODULE,
    WEFT_AS_ADDRESS, /* of the function; 0: unknown */
    WEFT_AS_NAME,    /* name(value) */
    WEFT_AS_FLAG,    /* whether one of the bits of `arg` is set */
    WEFT_AS_PLACE,   /* the place of the row in its array; no member */
};

/* Little-endian columns (docs/http-api.md). Numbers too large for their column are its largest (u8,
 * u16, u32) or rounded (f64: above 2^53); WEFT_ID_NONE is -1 in an i32. */
enum weft_column_type {
    WEFT_COLUMN_U8,
    WEFT_COLUMN_U16,
    WEFT_COLUMN_U32,
    WEFT_COLUMN_I32,
    WEFT_COLUMN_F64,
};

/* What fields need besides the row. */
struct weft_table_context {
    const struct weft_trace *trace; /* of ids */
    const struct weft_thread_info *(*thread)(const struct weft_trace *trace, uint32_t id);
    const struct weft_function *(*function)(const struct weft_trace *trace, uint32_t id);
    const void *of;           /* what getters refer to, such as the result */
    struct weft_arena *arena; /* of texts that getters make; set by the writer */
    size_t place;             /* of the row in its array; set by the writer */
    uint32_t known;           /* bits of what the source contains, see weft_field.needs */
    bool is_text;             /* for people; set by the writer */
    bool is_for_page;         /* fields for such clients are written, too */
};

/* The head of a getter, which uses what it needs. */
#define WEFT_GET(name)                                                                             \
    void name(const struct weft_field *field __attribute__((unused)),                              \
              const struct weft_table_context *context __attribute__((unused)),                    \
              const void *row __attribute__((unused)), struct weft_cell *cell)

struct weft_member {
    enum weft_from from;
    uint32_t offset;
};

struct weft_field;

typedef void weft_get(const struct weft_field *field, const struct weft_table_context *context,
                      const void *row, struct weft_cell *cell);

struct weft_field {
    const char *key;  /* CSV and JSON; NULL: only in text */
    const char *head; /* text; NULL: only in CSV and JSON */
    const char *doc;  /* a sentence without a full stop; NULL: as the field before */
    enum weft_unit unit;
    enum weft_as as;
    enum weft_from from;
    uint32_t offset;
    weft_get *get;                       /* NULL: the member */
    const char *(*name)(unsigned value); /* WEFT_AS_NAME; NULL for a value: unknown */
    uint32_t arg;             /* WEFT_AS_FLAG: bits; else what the getter needs to know */
    uint32_t needs;           /* unknown unless the context has one of these bits; 0: none needed */
    struct weft_member given; /* unknown where this member is 0; WEFT_FROM_NONE: no such member */
    bool zero_is_unknown;     /* 0, or an empty text */
    bool is_bad;              /* where it is not 0 */
    bool is_detail;           /* text: dropped first where a line is too narrow */
    bool is_whole;            /* text: never elided, such as a command */
    bool is_below;            /* text: on a line of its own, unless lines may be of any width */
    bool is_for_page;         /* only in JSON for clients that have the trace's directory */
    const char *column;       /* binary columns; NULL: in none */
    enum weft_column_type type; /* of the column */
};

struct weft_table_type {
    const char *name;
    const char *doc;
    const struct weft_field *fields;
    size_t n_fields, row_bytes;
};

#define WEFT_FROM(Row, member)                                                                     \
    _Generic(((Row *)0)->member,                                                                   \
        bool: WEFT_FROM_BOOL,                                                                      \
        uint8_t: WEFT_FROM_U8,                                                                     \
        uint16_t: WEFT_FROM_U16,                                                                   \
        uint32_t: WEFT_FROM_U32,                                                                   \
        int32_t: WEFT_FROM_I32,                                                                    \
        uint64_t: WEFT_FROM_U64,                                                                   \
        double: WEFT_FROM_F64,                                                                     \
        struct weft_str: WEFT_FROM_STR,                                                            \
        const char *: WEFT_FROM_CHARS)

#define WEFT_MEMBER(Row, member)                                                                   \
    {                                                                                              \
        WEFT_FROM(Row, member), offsetof(Row, member)                                              \
    }

/* A field of a member of ROW: after the unit's name and the member, its sentence, and what else it
 * has. */
#define WEFT_FIELD(key_, head_, unit_, member, ...)                                                \
    {                                                                                              \
        .key = (key_), .head = (head_), .unit = WEFT_UNIT_##unit_, .from = WEFT_FROM(ROW, member), \
        .offset = offsetof(ROW, member), .doc = __VA_ARGS__                                        \
    }

/* A field with a getter. */
#define WEFT_GETTER(key_, head_, unit_, getter, ...)                                               \
    {                                                                                              \
        .key = (key_), .head = (head_), .unit = WEFT_UNIT_##unit_, .get = (getter),                \
        .doc = __VA_ARGS__                                                                         \
    }

/* From the start to the end of a row. */
#define WEFT_DURATION(key_, head_, start, end, ...)                                                \
    {                                                                                              \
        .key = (key_), .head = (head_), .unit = WEFT_UNIT_NS, .get = weft_get_duration,            \
        .offset = offsetof(ROW, start), .arg = offsetof(ROW, end), .doc = __VA_ARGS__              \
    }

/* Number and name of a thread. */
#define WEFT_FIELD_THREAD(tid_key, tid_head, name_key, name_head, member, doc_)                    \
    WEFT_FIELD(tid_key, tid_head, ID, member, "tid of " doc_, .as = WEFT_AS_TID),                  \
        WEFT_FIELD(name_key, name_head, TEXT, member, "name of " doc_, .as = WEFT_AS_THREAD)

/* The dense id of a thread or function. */
#define WEFT_FIELD_ID(key_, member, doc_)                                                          \
    {                                                                                              \
        .key = (key_), .unit = WEFT_UNIT_ID, .as = WEFT_AS_ID, .from = WEFT_FROM(ROW, member),     \
        .offset = offsetof(ROW, member), .doc = (doc_), .is_for_page = true                        \
    }

/* The binary column of a field. */
#define WEFT_AND_COLUMN(type_, name) .column = (name), .type = WEFT_COLUMN_##type_

/* A member that is only in binary columns. */
#define WEFT_COLUMN(name, type_, member)                                                           \
    {                                                                                              \
        .column = (name), .type = WEFT_COLUMN_##type_, .from = WEFT_FROM(ROW, member),             \
        .offset = offsetof(ROW, member)                                                            \
    }

#define WEFT_TABLE_TYPE(name, doc, fields, Row)                                                    \
    {                                                                                              \
        (name), (doc), (fields), sizeof(fields) / sizeof *(fields), sizeof(Row)                    \
    }

/* "text", "id", "count", "ns", "at", "bytes", "share", "ratio", "bool". */
const char *weft_unit_name(enum weft_unit unit);

/* The cell of a field; a zeroed `cell` is filled. */
void weft_field_cell(const struct weft_field *field, const struct weft_table_context *context,
                     const void *row, struct weft_cell *cell);

/* The same without the getter: for getters that change a little. */
void weft_field_read(const struct weft_field *field, const struct weft_table_context *context,
                     const void *row, struct weft_cell *cell);

/* The 64-bit member at field->arg less the one at field->offset. */
weft_get weft_get_duration;

/* The member as a number: the bits of a double, 0 or 1 for a bool; of texts their length. Inline,
 * as columns are copied by the million. */
static inline uint64_t weft_member_number(const void *row, enum weft_from from, uint32_t offset)
{
    const char *member = (const char *)row + offset;
    uint64_t wide = 0;
    switch (from) {
    case WEFT_FROM_BOOL:
        return *(const bool *)member;
    case WEFT_FROM_U8:
        return (unsigned char)*member;
    case WEFT_FROM_U16:
        return *(const uint16_t *)(const void *)member;
    case WEFT_FROM_U32:
        return *(const uint32_t *)(const void *)member;
    case WEFT_FROM_I32:
        return (uint64_t) * (const int32_t *)(const void *)member;
    case WEFT_FROM_U64:
        return *(const uint64_t *)(const void *)member;
    case WEFT_FROM_F64:
        memcpy(&wide, member, sizeof wide);
        return wide;
    case WEFT_FROM_STR:
        return ((const struct weft_str *)(const void *)member)->n_bytes;
    case WEFT_FROM_CHARS:
    case WEFT_FROM_NONE:
        break;
    }
    return wide;
}

/* A name function of an enum, as a field takes it. */
#define WEFT_NAME_OF(function, name, type)                                                         \
    static const char *function(unsigned value)                                                    \
    {                                                                                              \
        return name((type)value);                                                                  \
    }

static inline double weft_share_of(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static inline bool weft_unit_is_real(enum weft_unit unit)
{
    return unit == WEFT_UNIT_SHARE || unit == WEFT_UNIT_RATIO;
}

#endif
