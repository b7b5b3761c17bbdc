/* SPDX-License-Identifier: MIT
 *
 * Rules: which points of a trace begin and end executions, and which depend on which, as they are
 * after parsing (docs/rules.md; query/rules.h parses them). Evaluation needs no more than this:
 * texts and lists live in the arena of struct weft_rules.
 */
#ifndef WEFT_SCHEMA_RULES_H
#define WEFT_SCHEMA_RULES_H

#include "base/str.h"
#include "schema/event.h"
#include "schema/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum weft_rule_kind {
    WEFT_RULE_NONE,
    WEFT_RULE_CALL,  /* a call of a function, as a whole */
    WEFT_RULE_ENTER, /* its entry */
    WEFT_RULE_EXIT,  /* its exit */
    WEFT_RULE_SPAN,  /* a span, as a whole: also an execution that the program marked */
    WEFT_RULE_BEGIN, /* its begin */
    WEFT_RULE_END,   /* its end */
    WEFT_RULE_EVENT, /* an event of the kind `event` */
};

enum weft_rule_field_kind {
    WEFT_FIELD_NONE,
    WEFT_FIELD_NAME,     /* of the function or event */
    WEFT_FIELD_CATEGORY, /* of an event; the module of a function */
    WEFT_FIELD_ID,       /* the payload's "id" if it has one, else as VALUE */
    WEFT_FIELD_VALUE,    /* of an event */
    WEFT_FIELD_ARG,      /* `index`: of a call, of a system call's begin (0 and 1) */
    WEFT_FIELD_RET,      /* of a system call's end */
    WEFT_FIELD_FD,       /* RET where a system call ends, else ARG 0 */
    WEFT_FIELD_DURATION, /* of a call or span, ns */
    WEFT_FIELD_DEPTH,    /* of a call */
    WEFT_FIELD_OBJECT,   /* of an event */
    WEFT_FIELD_CPU,
    WEFT_FIELD_THREAD, /* name of the thread */
    WEFT_FIELD_TID,
    WEFT_FIELD_PID,
    WEFT_FIELD_PROCESS, /* name of the process' first thread */
    WEFT_FIELD_TIME,    /* ns since the start of the trace */
    WEFT_FIELD_MEMBER,  /* `name`: a member of the payload */
};

struct weft_rule_field {
    enum weft_rule_field_kind kind;
    uint32_t index;       /* ARG */
    uint32_t word;        /* from 1: only this word of the text; 0: all of it */
    struct weft_str name; /* as it was written; MEMBER: the member, without the word */
};

enum weft_rule_op {
    WEFT_OP_EQUAL, /* numbers as numbers, else texts, in which * and ? stand for any */
    WEFT_OP_DIFFERENT,
    WEFT_OP_LESS, /* these four: of numbers alone */
    WEFT_OP_AT_MOST,
    WEFT_OP_GREATER,
    WEFT_OP_AT_LEAST,
};

struct weft_rule_condition {
    struct weft_rule_field field;
    enum weft_rule_op op;
    struct weft_str text;
    bool is_number;
    bool is_whole; /* the number is an integer, and `integer` is exact */
    int64_t integer;
    double number;
};

struct weft_rule {
    enum weft_rule_kind kind;
    enum weft_event_kind event; /* EVENT */
    struct weft_str name;       /* in which * and ? stand for any; "*": all */
    struct weft_rule_condition *conditions;
    size_t n_conditions;
};

/* Where the end of an execution may be. */
enum weft_rule_scope {
    WEFT_SCOPE_THREAD,
    WEFT_SCOPE_PROCESS, /* threads of the same host and pid */
    WEFT_SCOPE_TRACE,
};

/* A metric of the user's: a field of the begin, or else of the end; or a counter. */
struct weft_rule_metric {
    struct weft_str name;
    struct weft_rule_field field; /* NONE: the counter of this name */
};

/* An execution type; or a dependency: what was done until the begin made what follows the end. */
struct weft_execution_rule {
    struct weft_str name;
    struct weft_rule begin;
    struct weft_rule end;  /* NONE: the begin is the whole execution (CALL, SPAN) */
    struct weft_rule keep; /* NONE, or its conditions are what the end must fulfil: else the
                              execution is none */
    bool has_match;        /* these two fields have to be equal */
    struct weft_rule_field match_begin, match_end;
    enum weft_rule_scope scope;
    struct weft_rule_metric *metrics;
    size_t n_metrics;
};

struct weft_rules {
    struct weft_arena *arena;
    struct weft_execution_rule *types;
    size_t n_types;
    struct weft_execution_rule *dependencies;
    size_t n_dependencies;
};

/* NULL is allowed. */
void weft_rules_free(struct weft_rules *rules);

/* Does `text` match a pattern in which * stands for any bytes and ? for one? O(product of their
 * lengths), without recursion. */
bool weft_rule_text_matches(struct weft_str pattern, struct weft_str text);

/* Stable names ("syscall_enter"): the kinds of rules and events as users write them. */
const char *weft_rule_kind_name(const struct weft_rule *rule);

#endif
