/* SPDX-License-Identifier: MIT
 *
 * What a rule sees of one point of a trace: its fields, and whether its conditions hold.
 */
#ifndef WEFT_ANALYSIS_EXECUTIONS_RULE_VIEW_H
#define WEFT_ANALYSIS_EXECUTIONS_RULE_VIEW_H

#include "model/trace.h"
#include "schema/rules.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum weft_rule_value_kind {
    WEFT_VALUE_ABSENT,
    WEFT_VALUE_WHOLE, /* integer */
    WEFT_VALUE_REAL,  /* number */
    WEFT_VALUE_TEXT,  /* text, which reads as no number */
};

struct weft_rule_value {
    enum weft_rule_value_kind kind;
    int64_t integer;
    double number;        /* WHOLE and REAL */
    struct weft_str text; /* as it stands; numbers that were never text: empty */
};

/* A call (event NULL), or an event. What is borrowed lives as long as whoever fills this says. */
struct weft_rule_view {
    const struct weft_trace *trace;
    uint32_t thread_id;
    uint64_t at_ns, start_ns, duration_ns;
    const struct weft_event *event;
    uint32_t function_id, depth; /* of a call */
    bool is_exit;                /* of a call */
    bool is_operation;           /* the call stands for a system call (model/operations.h) */
    const uint64_t *args;        /* of a call */
    size_t n_args;
    struct weft_str payload; /* of the event; arguments of the call */
    struct {
        uint64_t name, argument; /* a hash of its name; the first argument */
        bool is_known;
    } entry; /* of the system call that the thread is in */
    struct {
        char *bytes;
        size_t cap;
    } text; /* where escapes are resolved; weft_rule_view_fini frees it */
};

void weft_rule_view_fini(struct weft_rule_view *view);

/* The event is behind the view: what its end will be asked is kept of a system call that begins.
 * Without this call, ends have no descriptors but those that they returned. */
void weft_rule_view_passed(struct weft_rule_view *view, const struct weft_event *event);

/* The field's value, valid until the next one is asked for. Members of the payload are those of a
 * JSON object, "a.b" also the member b of the member a. Without memory it is absent. */
struct weft_rule_value weft_rule_field_get(struct weft_rule_view *view,
                                           const struct weft_rule_field *field);

/* Do all conditions hold? A condition on an absent value does not, but for !=. */
bool weft_rule_holds(struct weft_rule_view *view, const struct weft_rule *rule);

/* Those conditions of the rule that say of which threads it is: false if none of the thread's
 * points can fulfil it. */
bool weft_rule_is_of_thread(const struct weft_trace *trace, uint32_t thread_id,
                            const struct weft_rule *rule);

/* Is the name one that the rule is for? Of an instant "provider:name", the name alone will do. */
bool weft_rule_names(const struct weft_rule *rule, struct weft_str name);

/* A number that stands for the value: equal ones for equal values. Integers and texts that read as
 * the same integer are equal. */
uint64_t weft_rule_value_key(const struct weft_rule_value *value);

/* Calls `see` for every member of the payload that is a number. */
void weft_rule_view_numbers(const struct weft_rule_view *view,
                            void (*see)(void *context, struct weft_str name, double value),
                            void *context);

#endif
