/* SPDX-License-Identifier: MIT
 *
 * What users write for executions and dependencies (docs/rules.md), parsed into schema/rules.h:
 *
 *     execution request
 *       begin syscall_exit:accept* where ret >= 0
 *       end   syscall_enter:shutdown
 *       match fd
 *     execution batch is call:run_batch
 *     depend queue from instant:push to instant:pop match item
 *
 * Errors are WEFT_E_MALFORMED and name line and column, what was expected and what was found. A
 * text of n bytes takes O(n) memory, with a factor of some hundred.
 */
#ifndef WEFT_QUERY_RULES_H
#define WEFT_QUERY_RULES_H

#include "base/error.h"
#include "schema/rules.h"

#include <stddef.h>

enum {
    WEFT_RULES_BYTES_MAX = 1 << 20, /* of a file */
    WEFT_RULES_TYPES_MAX = 256,     /* types, and dependencies */
    WEFT_RULES_LIST_MAX = 64,       /* conditions of a rule, metrics of a type */
};

/* The rules of a whole text. The caller frees them. */
WEFT_CHECKED enum weft_code weft_rules_parse(struct weft_str text, struct weft_rules **rules,
                                             struct weft_err *err);

/* The rules of a file. */
WEFT_CHECKED enum weft_code weft_rules_read(const char *path, struct weft_rules **rules,
                                            struct weft_err *err);

/* One type, as the options of a command give it. NULL: not given. `begin` may be a rule for whole
 * executions ("call:run_batch"); then there is no `end`. The type is called `type`, or as what its
 * rule names. Errors name the option. */
struct weft_rule_options {
    const char *type, *begin, *end, *match, *thread, *within;
    const char *metrics; /* "bytes,length=args.n,counter:depth" */
};

WEFT_CHECKED enum weft_code weft_rules_of_options(const struct weft_rule_options *options,
                                                  struct weft_rules **rules, struct weft_err *err);

/* The rules of a file, or those that options give; one of them. The caller frees them. */
WEFT_CHECKED enum weft_code weft_rules_given(const char *path,
                                             const struct weft_rule_options *options,
                                             struct weft_rules **rules, struct weft_err *err);

/* What is counted: one rule, of whole ones or of points, distinguished by fields
 * ("src_func,src_file"; NULL: by name), which are the metrics of the one type. Errors name --count
 * or --by. */
WEFT_CHECKED enum weft_code weft_rules_of_count(const char *rule, const char *by,
                                                struct weft_rules **rules, struct weft_err *err);

/* Leaves only the type `name`; the dependencies stay. WEFT_E_ARG if there is none, or several. */
WEFT_CHECKED enum weft_code weft_rules_choose(struct weft_rules *rules, const char *name,
                                              struct weft_err *err);

/* "kind:name" as users write it, the name in quotes if it needs them; in the arena, {NULL, 0}
 * without memory. */
struct weft_str weft_rule_text(struct weft_arena *arena, const char *kind, struct weft_str name);

#endif
