/* SPDX-License-Identifier: MIT
 *
 * Which events of a Linux kernel mean something to weft, and which of their fields say what: looked
 * up once a class of events. A class is its name and its fields, in whatever format they were
 * recorded.
 */
#ifndef WEFT_KERNEL_KNOWN_H
#define WEFT_KERNEL_KNOWN_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum kernel_meaning {
    KERNEL_MEANS_INSTANT, /* nothing that is known: a point with its fields */
    KERNEL_MEANS_SWITCH,
    KERNEL_MEANS_WAKING,
    KERNEL_MEANS_WOKEN,
    KERNEL_MEANS_FORK,
    KERNEL_MEANS_EXIT,
    KERNEL_MEANS_PROCESS, /* a thread that was there before the trace, or has a new name */
    KERNEL_MEANS_RAN, /* run time by a thread's own clock since the event before; a point, too */
    KERNEL_MEANS_IRQ_ENTER,
    KERNEL_MEANS_IRQ_EXIT,
    KERNEL_MEANS_SYSCALL_ENTER,
    KERNEL_MEANS_SYSCALL_EXIT,
    KERNEL_MEANS_IO_BEGIN,
    KERNEL_MEANS_IO_END,
    KERNEL_MEANS_SENT,
    KERNEL_MEANS_RECEIVED,
    KERNEL_MEANINGS, /* numbers of an importer's own begin here */
};

enum { KERNEL_FIELDS = 5 };

#define KERNEL_NO_FIELD UINT32_MAX

enum kernel_field_kind {
    KERNEL_FIELD_OTHER,
    KERNEL_FIELD_NUMBER,
    KERNEL_FIELD_TEXT,
    KERNEL_FIELD_ARRAY, /* of numbers: its first ones are the field's and those of the next */
};

struct kernel_field {
    struct weft_str name;
    enum kernel_field_kind kind;
};

/* A class of events. */
struct kernel_class {
    struct weft_str name; /* with the provider, if there is one: "sched:sched_switch" */
    const struct kernel_field *fields;
    uint32_t n_fields;
    bool is_kernel; /* of a trace of the kernel */
};

struct kernel_known {
    uint8_t meaning; /* enum kernel_meaning, or an importer's own */
    uint8_t subtype; /* WOKEN: 1 for a new thread; SYSCALL: 1 if it is recorded by number */
    struct weft_str event_name;     /* without the provider ("sched:") */
    struct weft_str name;           /* what the event of weft is called: "softirq", "futex" */
    uint32_t name_id;               /* of `name` among the names of threads */
    uint32_t fields[KERNEL_FIELDS]; /* places in the class; KERNEL_NO_FIELD: absent */
};

/* Is the event delivered as a point with its fields, whatever else follows from it? */
static inline bool kernel_is_point(const struct kernel_known *known)
{
    return known->meaning == KERNEL_MEANS_INSTANT || known->meaning == KERNEL_MEANS_RAN;
}

/* Which system calls a source records: by number all, by name those that it names. */
struct kernel_calls {
    uint32_t n_named;
    bool has_all;
};

static inline void kernel_calls_add(struct kernel_calls *calls, const struct kernel_known *known)
{
    if (known->meaning != KERNEL_MEANS_SYSCALL_ENTER)
        return;
    calls->has_all |= known->subtype != 0;
    calls->n_named += known->subtype == 0;
}

/* Some, and not others: no kernel has so few. */
static inline bool kernel_calls_are_some(const struct kernel_calls *calls)
{
    return calls->n_named > 0 && calls->n_named < 100 && !calls->has_all;
}

/* A row of a table of known events. */
struct kernel_row {
    const char *names; /* "a|b": any of them */
    uint8_t meaning, subtype;
    const char *name;
    const char *fields[KERNEL_FIELDS]; /* "a|b": the first that is there */
    const char *providers; /* "a|b": the full name begins with one; NULL: any trace of a kernel */
    uint8_t n_needed;      /* so many of the fields must be numbers, or the event is but a point */
};

/* Fills `known` for a class; INSTANT if it is not known. Views of names live as long as the
 * class's. */
void kernel_known_make(const struct kernel_class *class, struct kernel_known *known);

/* The same from an importer's own rows; false: none fits, and `known` is an INSTANT. */
bool kernel_known_by_row(const struct kernel_class *class, const struct kernel_row *rows,
                         size_t n_rows, struct kernel_known *known);

/* Which of the KERNEL_FIELDS an event of this meaning is asked for, a bit each: to meet threads, or
 * to deliver it. All of an importer's own meanings. */
unsigned kernel_fields_needed(uint8_t meaning, bool is_survey);

#endif
