/* SPDX-License-Identifier: MIT
 *
 * The first line of a diagnosis: what the trace is, and whether it is complete.
 */
#include "render/human.h"
#include "render/text/compare_words.h"
#include "render/text/notes.h"
#include "render/text/problems.h"

#include <string.h>

static struct weft_str file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return weft_str_of(slash ? slash + 1 : path);
}

enum { HEAD_INDENT = 4 }; /* of a second line */

/* False without memory. */
static bool losses_of(const struct weft_trace *trace, struct weft_losses *losses)
{
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_note_sums sums;
    struct weft_err err = { 0 };
    const bool is_good = arena && weft_note_sums(trace, arena, &sums, &err) == WEFT_OK;
    if (is_good)
        *losses = weft_losses_of(&sums);
    weft_arena_free(arena);
    return is_good;
}

/* "complete", "12 records lost, 2 processes recorded in part (weft info)"; nothing where the source
 * does not count what it loses. */
static void put_losses(struct weft_output *out, const struct weft_trace *trace,
                       const struct weft_losses *losses)
{
    const struct {
        uint64_t count;
        const char *one, *several;
    } rows[] = { { losses->n_records, "record lost", "records lost" },
                 { losses->damaged_bytes, "byte not readable", "bytes not readable" },
                 { losses->unwritten_bytes, "byte not written", "bytes not written" },
                 { losses->n_processes, "process recorded in part",
                   "processes recorded in part" } };
    static const char hint[] = " (weft info)";
    size_t n = weft_trace_meta(trace)->is_recovered;
    if (n > 0)
        weft_output_text(out, " \xc2\xb7 the file ends early");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].count > 0)
            weft_output_printf(out, "%s%s %s", n++ ? ", " : " \xc2\xb7 ",
                               weft_human_count(rows[i].count).text,
                               rows[i].count == 1 ? rows[i].one : rows[i].several);
    /* no second line for the hint alone */
    if (n > 0)
        weft_output_text(out, weft_words_columns(weft_output_held(out)) + sizeof hint - 1 <=
                                      WEFT_TEXT_COLUMNS
                                  ? hint
                                  : "");
    else if (weft_trace_counts_losses(trace))
        weft_output_text(out, " \xc2\xb7 complete");
}

/* That of the first problem, else of which there are most executions; NULL: there are none. */
static const struct weft_finding *type_of(const struct weft_findings_table *findings)
{
    const struct weft_finding *first = weft_findings_first(findings);
    if (findings->problems->n_rows > 0 && !findings->problems->rows[0].is_small)
        return first;
    for (size_t i = 0; i < findings->n_rows; i++)
        if (findings->rows[i].matrix->n_items > first->matrix->n_items)
            first = &findings->rows[i];
    return first;
}

void weft_problems_put_head(const struct weft_view *view,
                            const struct weft_findings_table *findings)
{
    const struct weft_trace *trace = view->trace;
    struct weft_output *out;
    struct weft_err err = { 0 };
    struct weft_losses losses;
    if (!trace || !losses_of(trace, &losses) || weft_output_to_memory(&out, &err) != WEFT_OK)
        return;
    weft_words_name(out, file_name(view->path));
    weft_output_printf(
        out, "   %s \xc2\xb7 %s", weft_human_ns(weft_trace_meta(trace)->duration_ns).text,
        weft_human_plural(weft_trace_n_threads(trace) - weft_trace_n_foreign(trace), "thread")
            .text);
    if (findings->whole) {
        weft_output_text(out, " \xc2\xb7 critical path of ");
        weft_words_name(out, findings->whole->type);
    }
    const struct weft_finding *first = type_of(findings);
    if (first) {
        weft_output_printf(out, " \xc2\xb7 %s ", weft_human_count(first->matrix->n_items).text);
        weft_words_executions(out, first->type);
    }
    put_losses(out, trace, &losses);
    weft_words_wrapped_from(view->out, weft_output_held(out), 0, HEAD_INDENT);
    weft_output_text(view->out, "\n");
    weft_output_drop(out, view->out);
}

void weft_problems_json_trace(struct weft_json *json, const struct weft_view *view)
{
    const struct weft_trace *trace = view->trace;
    struct weft_losses losses;
    if (!trace || !losses_of(trace, &losses)) {
        weft_json_null(json, "trace");
        return;
    }
    weft_json_begin_object(json, "trace");
    weft_json_str(json, "file", file_name(view->path));
    weft_json_u64(json, "duration_ns", weft_trace_meta(trace)->duration_ns);
    weft_json_u64(json, "threads", weft_trace_n_threads(trace) - weft_trace_n_foreign(trace));
    if (weft_trace_counts_losses(trace) || losses.n_records > 0)
        weft_json_u64(json, "lost_records", losses.n_records);
    else
        weft_json_null(json, "lost_records"); /* the source does not count them */
    weft_json_u64(json, "damaged_bytes", losses.damaged_bytes);
    weft_json_u64(json, "unwritten_bytes", losses.unwritten_bytes);
    weft_json_u64(json, "unrecorded_processes", losses.n_processes);
    weft_json_bool(json, "ends_early", weft_trace_meta(trace)->is_recovered);
    weft_json_end_object(json);
}
