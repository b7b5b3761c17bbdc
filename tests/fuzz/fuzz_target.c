/* SPDX-License-Identifier: MIT
 *
 * What clients of the server ask: any bytes as the target of a request. The parts of a target are
 * parts of it; what is accepted is written back in plain digits and must be the same question.
 */
#include "serve/target.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

enum { WRITTEN_BYTES = 8192 };

static void must(bool is_so)
{
    if (!is_so)
        abort();
}

static bool is_inside(struct weft_str part, const char *text, size_t n_bytes)
{
    return part.bytes >= text && part.bytes + part.n_bytes <= text + n_bytes;
}

struct writing {
    char text[WRITTEN_BYTES];
    size_t n_bytes;
    bool is_full;
};

__attribute__((format(printf, 2, 3))) static void put(struct writing *to, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(to->text + to->n_bytes, sizeof to->text - to->n_bytes, format, args);
    va_end(args);
    to->is_full = to->is_full || n < 0 || (size_t)n >= sizeof to->text - to->n_bytes;
    to->n_bytes += to->is_full ? 0 : (size_t)n;
}

static void put_name(struct writing *to, enum weft_param param)
{
    put(to, "%s%s=", to->n_bytes ? "&" : "", weft_param_name(param));
}

static void put_ids(struct writing *to, enum weft_param param, const struct weft_query_ids *ids,
                    const struct weft_query *query)
{
    if (!weft_query_has(query, param))
        return;
    must(ids->n > 0);
    put_name(to, param);
    for (size_t i = 0; i < ids->n; i++) {
        must(i == 0 || ids->items[i - 1] < ids->items[i]);
        put(to, "%s%" PRIu32, i ? "," : "", ids->items[i]);
    }
}

/* Words are not written back. */
static uint64_t write_query(struct writing *to, const struct weft_query *query)
{
    const struct {
        enum weft_param param;
        uint64_t value;
    } numbers[] = {
        { WEFT_PARAM_TRACE, query->trace },   { WEFT_PARAM_FROM, query->from_ns },
        { WEFT_PARAM_TO, query->to_ns },      { WEFT_PARAM_THREAD, query->thread },
        { WEFT_PARAM_MIN_NS, query->min_ns }, { WEFT_PARAM_MAX_NS, query->max_ns },
        { WEFT_PARAM_LIMIT, query->limit },   { WEFT_PARAM_WIDTH, query->width },
        { WEFT_PARAM_AT, query->at_ns },      { WEFT_PARAM_DEPTH, query->depth },
        { WEFT_PARAM_DEPTHS, query->depths }, { WEFT_PARAM_OBJECT, query->object },
    };
    uint64_t written =
        query->given & (WEFT_PARAM_BIT(WEFT_PARAM_THREADS) | WEFT_PARAM_BIT(WEFT_PARAM_FN) |
                        WEFT_PARAM_BIT(WEFT_PARAM_RELEASERS));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (!weft_query_has(query, numbers[i].param))
            continue;
        written |= WEFT_PARAM_BIT(numbers[i].param);
        put_name(to, numbers[i].param);
        put(to, "%" PRIu64, numbers[i].value);
    }
    put_ids(to, WEFT_PARAM_THREADS, &query->threads, query);
    put_ids(to, WEFT_PARAM_FN, &query->fn, query);
    put_ids(to, WEFT_PARAM_RELEASERS, &query->releasers, query);
    return written;
}

static bool is_plain(const struct weft_query_text *text)
{
    for (size_t i = 0; i < text->n; i++)
        if ((unsigned char)text->bytes[i] < ' ')
            return false;
    return text->n <= WEFT_QUERY_TEXT && text->bytes[text->n] == 0;
}

static bool ids_equal(const struct weft_query_ids *a, const struct weft_query_ids *b)
{
    return a->n == b->n && memcmp(a->items, b->items, a->n * sizeof *a->items) == 0;
}

static void check_again(const struct weft_query *query, struct weft_query *again)
{
    struct writing *to = calloc(1, sizeof *to);
    const uint64_t written = to ? write_query(to, query) : 0;
    if (to && !to->is_full) {
        must(weft_query_read((struct weft_str){ to->text, to->n_bytes }, UINT64_MAX, again, NULL) ==
             WEFT_OK);
        must(again->given == written && again->from_ns == query->from_ns &&
             again->to_ns == query->to_ns && again->width == query->width &&
             again->at_ns == query->at_ns && again->max_ns == query->max_ns &&
             ids_equal(&again->threads, &query->threads) && ids_equal(&again->fn, &query->fn) &&
             again->object == query->object && ids_equal(&again->releasers, &query->releasers));
    }
    free(to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    char *text =
        malloc(n_bytes ? n_bytes : 1); /* exactly as large: ASan sees the first byte behind */
    struct weft_query *queries = calloc(2, sizeof *queries);
    struct weft_target target;
    struct weft_err err = { 0 };
    if (text && queries) {
        if (n_bytes)
            memcpy(text, data, n_bytes);
        enum weft_code code = weft_target_split((struct weft_str){ text, n_bytes }, &target, &err);
        must(is_inside(target.token, text, n_bytes) && is_inside(target.path, text, n_bytes) &&
             is_inside(target.query, text, n_bytes));
        must(code == WEFT_OK || code == WEFT_E_ARG || code == WEFT_E_LIMIT);
        if (code == WEFT_OK) {
            code = weft_query_read(target.query, UINT64_MAX, &queries[0], &err);
            must(code == WEFT_OK || code == WEFT_E_ARG);
            must((code == WEFT_OK) == (err.code == WEFT_OK));
            must(is_plain(&queries[0].span) && is_plain(&queries[0].type) &&
                 is_plain(&queries[0].begin) && is_plain(&queries[0].end) &&
                 is_plain(&queries[0].match) && is_plain(&queries[0].a) && is_plain(&queries[0].b));
            if (code == WEFT_OK)
                check_again(&queries[0], &queries[1]);
        }
    }
    free(text);
    free(queries);
    return 0;
}
