/* SPDX-License-Identifier: MIT
 *
 * Formats of tracepoints, as events/SYSTEM/NAME/format in tracefs shows them and both perf and
 * trace-cmd record them:
 *
 *     name: sched_switch
 *     ID: 316
 *     format:
 *             field:unsigned short common_type;  offset:0;  size:2;  signed:0;
 *             field:char prev_comm[16];          offset:8;  size:16; signed:0;
 *             field:__data_loc char[] name;      offset:8;  size:4;  signed:0;
 *
 * A record is read by them: a field lies at its offset; a __data_loc holds offset and length of its
 * data in the record (from the record's begin; of a __rel_loc, from the field's end).
 */
#ifndef WEFT_KERNEL_FORMAT_H
#define WEFT_KERNEL_FORMAT_H

#include "base/arena.h"
#include "base/json_text.h"
#include "base/map.h"
#include "kernel/convert.h"

/* More formats, or fields in one, than any kernel has. */
enum { KERNEL_MOST_FORMATS = 1 << 17, KERNEL_MOST_FORMAT_FIELDS = 1 << 12 };

enum kernel_place {
    KERNEL_PLACE_FIXED,
    KERNEL_PLACE_REST, /* to the end of the record */
    KERNEL_PLACE_DATA_LOC,
    KERNEL_PLACE_REL_LOC,
};

struct kernel_format_field {
    struct weft_str name;
    uint32_t offset, n_bytes;
    uint8_t place;         /* enum kernel_place */
    uint8_t element_bytes; /* of an array; 0: it is one number */
    bool is_signed;
    bool is_text;
};

/* How a field of `known` is read. */
struct kernel_format_step {
    uint32_t offset, end; /* of a number or a text at a fixed place */
    uint8_t field;        /* of `known` */
    bool is_number, is_text, is_signed;
};

struct kernel_format {
    struct weft_str name; /* "sched:sched_switch" */
    uint32_t id;
    uint32_t n_fields;
    const struct kernel_format_field *fields;
    const struct kernel_format_field *pid; /* common_pid; NULL: none */
    uint32_t first_own;                    /* fields before it are common_ ones */
    uint8_t n_steps[2];                    /* to deliver, and in the survey */
    struct kernel_format_step steps[2][KERNEL_FIELDS];
    struct kernel_known known;
};

struct kernel_formats {
    struct weft_arena *arena;
    struct weft_map *of_id;
    struct {
        struct kernel_format **items; /* by index of the map */
        size_t n, cap;
    };
    uint8_t long_bytes;
    bool is_big;
};

/* One record of a tracepoint. */
struct kernel_record {
    const uint8_t *bytes;
    size_t n_bytes;
};

bool kernel_formats_init(struct kernel_formats *formats);
void kernel_formats_fini(struct kernel_formats *formats);

/* Adds the format in `text`; the first of a number counts. A text that has no name or no number is
 * passed over: false in *is_good. Views of `text` are kept. WEFT_E_NOMEM, WEFT_E_LIMIT. */
WEFT_CHECKED enum weft_code kernel_formats_add(struct kernel_formats *formats,
                                               struct weft_str system, struct weft_str text,
                                               bool *is_good, struct weft_err *err);

/* Names of all that is known get their numbers. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code kernel_formats_name(struct kernel_formats *formats,
                                                struct weft_strtab *names, struct weft_err *err);

/* Where a field of this name lies, by lines as in a format; false: there is none. */
bool kernel_field_in(struct weft_str text, struct weft_str name, uint32_t *offset,
                     uint32_t *n_bytes);

/* NULL: none. */
static inline const struct kernel_format *kernel_format_find(const struct kernel_formats *formats,
                                                             uint32_t id)
{
    const uint32_t index = weft_map_find(formats->of_id, id);
    return index == WEFT_MAP_NONE ? NULL : formats->items[index];
}

/* 0 for a field that is not in the record, or is no number. */
uint64_t kernel_field_number(const struct kernel_formats *formats,
                             const struct kernel_format_field *field,
                             const struct kernel_record *record);

/* Sets numbers and texts of `now`, which are 0 and empty, from a record: those that are asked for
 * in this reading. Fields beyond the record stay 0 and empty. */
void kernel_format_steps(const struct kernel_formats *formats, const struct kernel_format *format,
                         const struct kernel_record *record, bool is_survey,
                         struct kernel_now *now);

/* The same, and known. */
static inline void kernel_format_read(const struct kernel_formats *formats,
                                      const struct kernel_format *format,
                                      const struct kernel_record *record, bool is_survey,
                                      struct kernel_now *now)
{
    now->known = &format->known;
    if (format->n_steps[is_survey])
        kernel_format_steps(formats, format, record, is_survey, now);
}

/* The event's own fields as one line of JSON. */
void kernel_format_json(const struct kernel_formats *formats, const struct kernel_format *format,
                        const struct kernel_record *record, struct weft_json_text *text);

#endif
