/* SPDX-License-Identifier: MIT
 *
 * What a client asks for: the target of its request line, "/TOKEN/api/NAME?name=value&...", taken
 * apart and typed. A fixed vocabulary: whatever is not in it is refused with a sentence.
 */
#ifndef WEFT_SERVE_TARGET_H
#define WEFT_SERVE_TARGET_H

#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WEFT_TARGET_BYTES = 8192 + 128,
    WEFT_QUERY_BYTES = 8192,
    WEFT_QUERY_IDS = 4096,
    WEFT_QUERY_TEXT = 4096
};

/* The parameters, as bits of weft_query.given and of what an endpoint takes. */
enum weft_param {
    WEFT_PARAM_TRACE,
    WEFT_PARAM_FROM,
    WEFT_PARAM_TO,
    WEFT_PARAM_THREADS,
    WEFT_PARAM_THREAD,
    WEFT_PARAM_FN,
    WEFT_PARAM_MIN_NS,
    WEFT_PARAM_MAX_NS,
    WEFT_PARAM_LIMIT,
    WEFT_PARAM_WIDTH,
    WEFT_PARAM_AT,
    WEFT_PARAM_DEPTH,
    WEFT_PARAM_DEPTHS,
    WEFT_PARAM_SORT,
    WEFT_PARAM_DIRECTION,
    WEFT_PARAM_SELF,
    WEFT_PARAM_OF,
    WEFT_PARAM_PRESET,
    WEFT_PARAM_GLYPHS,
    WEFT_PARAM_DURATION_NS,
    WEFT_PARAM_GAP_NS,
    WEFT_PARAM_SPAN_NS,
    WEFT_PARAM_OUTLIER_FACTOR,
    WEFT_PARAM_OUTLIER_MIN_NS,
    WEFT_PARAM_SPAN,
    WEFT_PARAM_DB,
    WEFT_PARAM_TYPE,
    WEFT_PARAM_BEGIN,
    WEFT_PARAM_END,
    WEFT_PARAM_MATCH,
    WEFT_PARAM_WITHIN,
    WEFT_PARAM_A,
    WEFT_PARAM_B,
    WEFT_PARAM_DRAFT,
    WEFT_PARAM_CSV,
    WEFT_PARAM_NODE,
    WEFT_PARAM_OBJECT,
    WEFT_PARAM_RELEASERS,
    WEFT_PARAM_KIND,
    WEFT_PARAM_ALL,
    WEFT_PARAM_EXPLAIN,
    WEFT_PARAMS,
};

#define WEFT_PARAM_BIT(param) (UINT64_C(1) << (param))

enum weft_query_sort { WEFT_QUERY_LONGEST, WEFT_QUERY_TIME };
enum weft_query_direction { WEFT_QUERY_NEXT, WEFT_QUERY_PREVIOUS };
enum weft_query_of { WEFT_QUERY_REGTIME, WEFT_QUERY_FUNCTIONS, WEFT_QUERY_SHAPES };
enum weft_query_kind { WEFT_QUERY_WAITS, WEFT_QUERY_SECTIONS, WEFT_QUERY_MEANWHILE };

/* Ids, ascending, each once. */
struct weft_query_ids {
    uint32_t items[WEFT_QUERY_IDS];
    size_t n;
};

/* What a person wrote: without control characters, and ended by a zero. */
struct weft_query_text {
    char bytes[WEFT_QUERY_TEXT + 1];
    size_t n;
};

/* The parameters of a request; one that is not in `given` is 0. Whether ids exist and times make
 * sense is for the endpoint to check. */
struct weft_query {
    uint64_t given; /* WEFT_PARAM_BIT of each */
    uint64_t trace, from_ns, to_ns, min_ns, max_ns, limit, width, thread, at_ns, depth, depths;
    uint64_t glyphs, duration_ns, gap_ns, span_ns, outlier_factor, outlier_min_ns;
    uint64_t is_self, is_draft, is_csv, is_all, is_explained, db, node;
    uint64_t object;                      /* weft_shared_object.id */
    uint64_t sort, direction, of, preset; /* enums; preset: index of weft_query_presets */
    uint64_t kind;                        /* enum weft_query_kind */
    struct weft_query_ids threads, fn, releasers;
    struct weft_query_text span, type, begin, end, match, within, a, b;
};

/* Names of RegTime's presets, ended by NULL. */
extern const char *const weft_query_presets[];

static inline bool weft_query_has(const struct weft_query *query, enum weft_param param)
{
    return (query->given & WEFT_PARAM_BIT(param)) != 0;
}

/* The name under which a parameter stands in a query. */
const char *weft_param_name(enum weft_param param);

/* The parts of a target; views into it. */
struct weft_target {
    struct weft_str token; /* the first segment of the path */
    struct weft_str path;  /* what follows it, with its slash: "/api/lod"; empty if nothing does */
    struct weft_str query; /* behind the question mark; may be empty */
};

/* Takes a target apart. WEFT_E_ARG unless it begins with a slash; WEFT_E_LIMIT if its query is
 * longer than WEFT_QUERY_BYTES. */
WEFT_CHECKED enum weft_code weft_target_split(struct weft_str text, struct weft_target *target,
                                              struct weft_err *err);

/* Reads the query of a target. `takes` has the bits of the parameters that are known here. Names
 * and values may be percent-encoded. WEFT_E_ARG for a name that is unknown or comes twice, a number
 * that is no decimal integer or too large, an id twice in a list, a text that is empty, too long,
 * or holds control characters. */
WEFT_CHECKED enum weft_code weft_query_read(struct weft_str text, uint64_t takes,
                                            struct weft_query *query, struct weft_err *err);

#endif
