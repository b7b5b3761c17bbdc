/* SPDX-License-Identifier: MIT
 *
 * A filter as it was written: a tree of tests, whose names and values are not looked up yet.
 */
#ifndef WEFT_QUERY_FILTER_PARTS_H
#define WEFT_QUERY_FILTER_PARTS_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "query/filter.h"

#include <stddef.h>
#include <stdint.h>

enum weft_test_kind {
    WEFT_TEST_ALL,
    WEFT_TEST_AND,
    WEFT_TEST_OR,
    WEFT_TEST_NOT,
    WEFT_TEST_METRIC,
    WEFT_TEST_CONTEXT,
    WEFT_TEST_TAG,
    WEFT_TEST_TRACE,
    WEFT_TEST_HOST,
    WEFT_TEST_THREAD,
    WEFT_TEST_FLAG,
};

enum weft_test_op {
    WEFT_OP_LT,
    WEFT_OP_LE,
    WEFT_OP_GT,
    WEFT_OP_GE,
    WEFT_OP_EQ,
    WEFT_OP_NE,
    WEFT_OP_IN
};

struct weft_test_value {
    struct weft_str text; /* followed by a NUL */
    size_t at;            /* byte in the filter */
};

struct weft_test {
    enum weft_test_kind kind;
    enum weft_test_op op;
    uint32_t left, right;             /* of AND and OR; NOT: left */
    struct weft_str name;             /* of a metric, of a context; followed by a NUL */
    size_t at;                        /* byte in the filter, of the name */
    struct weft_test_value values[2]; /* the second of IN alone */
};

struct weft_filter {
    struct weft_arena *arena;
    struct weft_str text;
    struct weft_test tests[WEFT_FILTER_TESTS_MAX];
    uint32_t n_tests;
    uint32_t top;
};

/* "filter '...': column 10: expected WHAT, found ..." */
enum weft_code weft_filter_expected(const struct weft_filter *filter, size_t at, const char *what,
                                    struct weft_err *err);

#endif
