/* SPDX-License-Identifier: MIT
 *
 * Any text as a filter of executions: it is refused with a reason, or chooses some; "not" of it
 * chooses the others; the same again chooses the same.
 */
#include "matrix_builder.h"
#include "query/filter.h"
#include "schema/result.h"

#include <stdint.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

enum { ITEMS = 12 };

static void check(bool is_ok)
{
    if (!is_ok)
        abort();
}

static struct weft_ecct_matrix *make(void)
{
    struct matrix_builder made;
    matrix_begin(&made);
    const uint32_t faults = matrix_metric(&made, "page_faults", WEFT_METRIC_COUNT);
    const uint32_t bytes = matrix_metric(&made, "bytes_read", WEFT_METRIC_BYTES);
    const uint32_t a = matrix_node(&made, 0, WEFT_FRAME_FUNCTION, "handle");
    const uint32_t b = matrix_node(&made, a, WEFT_FRAME_FUNCTION, "fsync");
    (void)matrix_source(&made, "/tmp/a.weft", "base");
    (void)matrix_source(&made, "/tmp/b.weft", "new");
    for (uint32_t i = 0; i < ITEMS; i++) {
        matrix_item(&made, i % 2, i % 3 ? "worker" : "main", i * UINT64_C(1000000));
        matrix_value(&made, a, 1000 * i);
        if (i % 4 == 0)
            matrix_value(&made, b, 2000000);
        matrix_number(&made, faults, i % 5);
        if (i % 3)
            matrix_number(&made, bytes, 4096 * i);
    }
    return matrix_end(&made);
}

static enum weft_code choose(struct weft_str text, struct weft_filter_scope *scope,
                             uint8_t *members, struct weft_err *err)
{
    struct weft_filter *filter;
    enum weft_code code = weft_filter_parse(text, &filter, err);
    check((code == WEFT_OK) == (filter != NULL));
    if (code == WEFT_OK)
        code = weft_filter_apply(filter, scope, 1, members, err);
    weft_filter_free(filter);
    return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    uint8_t members[ITEMS] = { 0 }, others[ITEMS] = { 0 };
    struct weft_err err = { 0 };
    char *negated = malloc(n_bytes + 8);
    struct weft_ecct_matrix *matrix = make();
    struct weft_filter_scope *scope = weft_filter_scope_new(matrix);
    const struct weft_str text = { .bytes = (const char *)bytes, .n_bytes = n_bytes };
    const enum weft_code code = choose(text, scope, members, &err);
    check(code == WEFT_OK || err.text[0] != '\0');
    bool is_blank = true;
    for (size_t i = 0; i < n_bytes; i++)
        is_blank = is_blank && memchr(" \t\n\v\f\r", bytes[i], 6);
    if (code == WEFT_OK && negated && !is_blank && n_bytes < WEFT_FILTER_BYTES_MAX - 8) {
        memcpy(negated, "not (", 5);
        memcpy(negated + 5, bytes, n_bytes);
        negated[5 + n_bytes] = ')';
        const struct weft_str not_text = { .bytes = negated, .n_bytes = n_bytes + 6 };
        const enum weft_code not_code = choose(not_text, scope, others, NULL);
        check(not_code == WEFT_OK || not_code == WEFT_E_LIMIT);
        for (size_t i = 0; not_code == WEFT_OK && i < ITEMS; i++)
            check(members[i] != others[i]);
    }
    weft_filter_scope_free(scope);
    weft_result_free(matrix);
    free(negated);
    return 0;
}
