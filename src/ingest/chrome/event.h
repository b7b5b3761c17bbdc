/* SPDX-License-Identifier: MIT
 *
 * One object of the array of events, read into the fields that have a meaning.
 */
#ifndef WEFT_INGEST_CHROME_EVENT_H
#define WEFT_INGEST_CHROME_EVENT_H

#include "base/decimal.h"
#include "base/json_read.h"

#include <stdbool.h>
#include <stdint.h>

enum chrome_field {
    CHROME_NAME,
    CHROME_CAT,
    CHROME_PH,
    CHROME_TS,
    CHROME_DUR,
    CHROME_PID,
    CHROME_TID,
    CHROME_ARGS,
    CHROME_ID,
    CHROME_ID2,
    CHROME_SCOPE,
    CHROME_BIND_ID,
    CHROME_FLOW_IN,
    CHROME_FLOW_OUT,
    CHROME_SF,
    CHROME_STACK,
    CHROME_WEIGHT,
    CHROME_TTS,
    CHROME_TDUR,
    CHROME_ESF,
    CHROME_FIELDS,
    CHROME_OTHER, /* a field without a meaning here */
};

struct chrome_event {
    const char *begin, *end; /* the object's text */
    uint32_t present;        /* bit k: fields[k] is there; others hold nothing */
    struct weft_json_value fields[CHROME_FIELDS];
};

/* Reads the object at `reader->at`, which stands on its "{". Of fields that come twice, the last
 * counts. */
bool chrome_event_read(struct weft_json_reader *reader, struct chrome_event *event);

/* The field, or NULL. */
static inline const struct weft_json_value *chrome_field(const struct chrome_event *event,
                                                         enum chrome_field field)
{
    return event->present >> field & 1 ? &event->fields[field] : NULL;
}

/* The letter of the phase; 0 if there is none, or it is no string of one letter. */
char chrome_event_phase(const struct chrome_event *event);

/* A field of microseconds, written as a number or as a string. */
bool chrome_event_time(const struct chrome_event *event, enum chrome_field field,
                       struct weft_decimal_ns *time);

/* A number without sign and decimals, written in digits or as 0x..., in quotes or not. */
bool chrome_whole_number(const struct weft_json_value *value, uint64_t *number);

/* An id as a number: what chrome_whole_number says, or a hash of the text. */
uint64_t chrome_id_number(const struct weft_json_value *value);

/* The id of an event: of "id", or of "id2" ({"local": ...} belongs to its process only), or of
 * "bind_id" if `is_bound`. False if there is none. */
struct chrome_id {
    uint64_t number;
    bool is_local;
};
bool chrome_event_id(const struct chrome_event *event, bool is_bound, struct chrome_id *id);

/* Finds a member of an object's text; false if there is none. */
bool chrome_member(const struct weft_json_value *object, const char *name,
                   struct weft_json_value *value);

#endif
