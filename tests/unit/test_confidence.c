/* SPDX-License-Identifier: MIT
 *
 * How far sentences about executions can be trusted: of a matrix made by hand, four executions of
 * 100 ns, in contexts that are exact, inferred, and unexplained.
 */
#include "render/text/confidence.h"
#include "schema/executions.h"
#include "tap.h"

#include <math.h>
#include <string.h>

static struct weft_ecct_node nodes[] = {
    { .parent = WEFT_ID_NONE },
    { .confidence = WEFT_CONFIDENCE_EXACT },
    { .confidence = WEFT_CONFIDENCE_INFERRED },
    { .confidence = WEFT_CONFIDENCE_UNEXPLAINED },
};
static struct weft_execution_item items[] = { { .id = 0 },
                                              { .flags = WEFT_EXECUTION_LOSSY },
                                              { .flags = WEFT_EXECUTION_UNFINISHED },
                                              { .id = 3 } };
static uint64_t starts[] = { 0, 1, 2, 4, 5 };
static uint32_t node[] = { 1, 2, 1, 3, 1 };
static uint64_t ns[] = { 100, 100, 60, 40, 100 };
static const struct weft_ecct_matrix matrix = { .nodes = nodes,
                                                .n_nodes = 4,
                                                .items = items,
                                                .n_items = 4,
                                                .starts = starts,
                                                .node = node,
                                                .ns = ns };

static void check_basis(const char *name, const struct weft_confidence_basis *basis, double want,
                        const char *text)
{
    struct weft_output *out = NULL;
    struct weft_err err = { 0 };
    const double value = weft_confidence_value(basis);
    if (!tap_ok(fabs(value - want) < 1e-9, "%s: the value", name))
        tap_note("got %.9f", value);
    if (weft_output_to_memory(&out, &err) != WEFT_OK)
        abort();
    weft_confidence_put(out, basis);
    const struct weft_str got = weft_output_held(out);
    if (!tap_ok(weft_str_equal(got, weft_str_of(text)), "%s: the words", name))
        tap_note("got %.*s", (int)got.n_bytes, got.bytes);
    weft_output_abort(out);
}

static void check(const char *name, const uint32_t *of, size_t n, double p, double lost,
                  double want, const char *text)
{
    struct weft_confidence_basis basis = weft_confidence_basis_of(&matrix, of, n);
    basis.p = p;
    basis.lost = lost;
    check_basis(name, &basis, want, text);
}

/* Half of a difference has to be explained by what is named. */
static void test_unnamed(void)
{
    static const struct {
        double unnamed, want;
        const char *text;
    } rows[] = { { 0.5, 1, "high (1.00)" },
                 { 0.6, 0.8, "medium (0.80): this explains 40 % of the difference" },
                 { 0.83, 0.34, "low (0.34): this explains 17 % of the difference" },
                 { 1, 0, "low (0.00): this explains 0 % of the difference" } };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const struct weft_confidence_basis basis = { .n = 1, .unnamed = rows[k].unnamed };
        check_basis("in part", &basis, rows[k].want, rows[k].text);
    }
}

int main(void)
{
    static const uint32_t exact[] = { 0, 3 }, lossy[] = { 1 }, partly[] = { 2, 0 };
    check("all is recorded", exact, 2, 0, 0, 1, "high (1.00)");
    check("chance alone", exact, 2, 0.2, 0, 0.8, "medium (0.80): p = 0.200");
    check("hardly any records of the trace are lost", exact, 2, 0, 0.0005, 0.9995, "high (0.99)");
    check("records of the trace are lost", exact, 2, 0, 0.05, 0.95,
          "high (0.95): 5 % of the records of the trace are lost");
    check("lost in the execution, and inferred", lossy, 1, 0, 0, 0,
          "low (0.00): records are lost in 1 of 1 execution; 100 % of the time is inferred from "
          "stacks "
          "and wakeups near it");
    check("unexplained in part", partly, 2, 0, 0, 0.8,
          "medium (0.80): 20 % of the time of these executions is unexplained");
    check("all executions", NULL, 0, 0, 0, 0.75 * (1 - 0.1 - 0.125),
          "low (0.58): records are lost in 1 of 4 executions; 25 % of the time is inferred from "
          "stacks "
          "and wakeups near it; 10 % of the time of these executions is unexplained");
    check("no execution", exact, 0, 0, 0, 1, "high (1.00)");
    test_unnamed();
    return tap_done();
}
