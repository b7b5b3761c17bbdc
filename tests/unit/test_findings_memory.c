/* SPDX-License-Identifier: MIT
 *
 * Findings with every allocation failing in turn (the linker wraps malloc, calloc and realloc): an
 * error, never another answer.
 */
#include "analysis/findings/findings.h"
#include "failing_alloc.h"
#include "findings_scene.h"
#include "schema/result.h"
#include "tap.h"

enum { MOST_FAILURES = 1000, SLOW = 20, ALL = 60, N_TYPES = 3 };

/* Of `n` slow executions, those that each cause has: it takes what `items` of it say. */
static void list_slow(struct scene *s, uint32_t *items_b, uint32_t *cause_of, size_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        items_b[i] = i;
        cause_of[i] = 0;
    }
    s->table.items_b = items_b;
    s->table.cause_of = cause_of;
}

/* Waits for the server while it works, and is not slow for it. */
static void make_client(struct scene *s)
{
    begin(s, "ask");
    const uint32_t wait = PATH(s, "ask", "recv", "@server-1", "loop", "serve", ":running");
    const uint32_t own = PATH(s, "ask", ":running");
    for (size_t i = 0; i < SLOW; i++)
        add_item(s, "client", own, 100, wait, 100);
    s->facts.table = NULL;
}

/* Slow, and no client is slower for it. */
static void make_server(struct scene *s, uint32_t *items_b, uint32_t *cause_of)
{
    begin(s, "serve");
    const uint32_t run = PATH(s, "serve", ":running");
    for (size_t i = 0; i < ALL; i++)
        add_item(s, "server-2", run, 50 * 1000 * 1000, 0, 0);
    set_usual(s, run, US, MS);
    (void)set_cause(s, run, SLOW, ALL, 50 * MS);
    list_slow(s, items_b, cause_of, SLOW);
    s->nodes[run].confidence = WEFT_CONFIDENCE_INFERRED;
}

/* Two that are slow, each for itself, spread over two places below one caller. */
static void make_singles(struct scene *s, uint32_t *items_b, uint32_t *cause_of)
{
    begin(s, "load");
    const uint32_t one = PATH(s, "load", "parse", "one", ":running");
    const uint32_t two = PATH(s, "load", "parse", "two", ":running");
    for (size_t i = 0; i < SLOW; i++)
        add_item(s, "main", one, i < 2 ? 200000000 : 1000, two, i < 2 ? 200000000 : 1000);
    set_usual(s, one, US, 200 * MS);
    set_usual(s, two, US, 200 * MS);
    (void)set_cause(s, one, 2, SLOW, 400 * MS);
    s->matrix.n_items = SLOW;
    s->facts.tail.is_alone = true;
    list_slow(s, items_b, cause_of, 2);
}

/* What findings say, as one number. */
static uint64_t said(const struct weft_findings_table *table)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct weft_finding *row = &table->rows[i];
        hash = hash * 31 + row->verdict + (row->is_significant ? 100 : 0);
        hash = hash * 31 + row->n_single * 7 + row->felt_by.n_bytes;
        hash = hash * 31 + (uint64_t)(row->confidence.inferred * 1000) + row->confidence.n;
        for (size_t k = 0; k < row->n_causes; k++)
            hash = hash * 31 + row->causes[k].confidence.n + row->causes[k].place;
        for (size_t k = 0; k < row->n_single; k++)
            hash = hash * 31 + row->single[k].common + (row->single[k].is_spread ? 50 : 0);
    }
    return hash;
}

int main(void)
{
    static struct scene scenes[N_TYPES];
    static uint32_t items[2][SLOW], causes[2][SLOW];
    make_client(&scenes[0]);
    make_server(&scenes[1], items[0], causes[0]);
    make_singles(&scenes[2], items[1], causes[1]);
    static uint32_t first[1000]; /* whichever execution is asked for is the first one */
    for (size_t i = 0; i < N_TYPES; i++) {
        scenes[i].table.items_a = first;
        if (!scenes[i].table.items_b)
            scenes[i].table.items_b = first;
    }
    const struct weft_facts facts[N_TYPES] = { scenes[0].facts, scenes[1].facts, scenes[2].facts };
    struct weft_findings_table *table = NULL;
    struct weft_err err = { 0 };
    if (weft_findings_run(facts, N_TYPES, &table, &err) != WEFT_OK)
        return 1;
    const uint64_t want = said(table);
    bool is_unfelt = false, has_common = false;
    for (size_t i = 0; i < table->n_rows; i++) {
        is_unfelt |= table->rows[i].verdict == WEFT_VERDICT_UNFELT;
        has_common |= table->rows[i].n_single > 0 && table->rows[i].single[0].common != 0;
    }
    tap_ok(is_unfelt, "the server's fault is felt by no client");
    tap_ok(has_common, "a single execution is longer in two places of one caller");
    weft_result_free(table);
    int n = 0, n_wrong = 0;
    for (bool has_failed = true; has_failed && n < MOST_FAILURES; n++) {
        n_until_failure = n;
        table = NULL;
        err = (struct weft_err){ 0 };
        const enum weft_code code = weft_findings_run(facts, N_TYPES, &table, &err);
        has_failed = n_until_failure < 0;
        n_until_failure = -1;
        const bool is_good =
            code == WEFT_OK ? said(table) == want : has_failed && code == WEFT_E_NOMEM && !table;
        if (!is_good)
            tap_note("allocation %d: %s, another answer", n, weft_code_name(code));
        n_wrong += !is_good;
        weft_result_free(table);
    }
    tap_ok(n_wrong == 0 && n > 10, "%d failed allocations: an error, no other answer", n - 1);
    return tap_done();
}
