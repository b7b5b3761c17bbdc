/* SPDX-License-Identifier: MIT
 *
 * The closing lines of `weft record`. Those of a trace are taken from the trace alone: what the
 * recorder counted while it ran is another thing (records, not events; nothing that the import
 * found missing).
 */
#include "cli/closing.h"

#include "query/findings.h"
#include "render/human.h"
#include "render/text/compare_words.h"
#include "render/text/notes.h"
#include "render/text/problem_words.h"

#include <stdio.h>
#include <string.h>

enum { LEAST_SHARED_NS = 1000000000, MOST_EVENTS = 2000000 };

/* Processes have a line of their own. */
static void print_losses(const struct weft_note_sums *sums)
{
    const struct weft_losses losses = weft_losses_of(sums);
    if (losses.n_records || !losses.unwritten_bytes) /* "0 lost" of a full disk would mislead */
        weft_say(", %s lost%s", weft_human_count(losses.n_records).text,
                 losses.n_records ? " (weft info)" : "");
    if (losses.damaged_bytes)
        weft_say(", %s bytes not readable (weft info)",
                 weft_human_count(losses.damaged_bytes).text);
    if (losses.unwritten_bytes)
        weft_say(", stopped: %s bytes not written (disk full, or a limit on the size of files)",
                 weft_human_count(losses.unwritten_bytes).text);
}

/* The importer states the cost last in the details, but for why the recording ended. */
static void print_cost(struct weft_str details)
{
    static const char front[] = "recorder ";
    const size_t n_front = sizeof front - 1;
    for (size_t at = details.n_bytes; at-- > 0;) {
        const bool is_first = at == 0 || details.bytes[at - 1] == ' ';
        if (!is_first || details.n_bytes - at <= n_front ||
            memcmp(details.bytes + at, front, n_front) != 0 || details.bytes[at + n_front] < '0' ||
            details.bytes[at + n_front] > '9')
            continue;
        const char *bytes = details.bytes + at;
        const char *end = memchr(bytes, ';', details.n_bytes - at);
        weft_say(", %.*s", (int)(end ? (size_t)(end - bytes) : details.n_bytes - at), bytes);
        return;
    }
}

static void print_trace(const struct weft_trace *trace, const struct weft_note_sums *sums,
                        const char *path)
{
    const struct weft_store_meta *meta = weft_trace_meta(trace);
    weft_say("weft: %s: %s", path, weft_human_ns(meta->duration_ns).text);
    if (meta->calls)
        weft_say(", %s", weft_human_plural(meta->calls, "call").text);
    weft_say(", %s", weft_human_plural(meta->events, "event").text);
    print_losses(sums);
    weft_say(", %s", weft_human_bytes(meta->bytes_out).text);
    print_cost(meta->details);
    weft_say("\n");
}

static void put_path(struct weft_output *out, const struct weft_problem *problem)
{
    weft_problem_put_path_head(out, problem);
    weft_output_printf(out, ", %s of the critical path", weft_human_share(problem->share).text);
}

/* What diagnose says first. */
static void put_first(struct weft_output *out, const struct weft_findings *findings)
{
    const struct weft_problems_table *problems = findings->table->problems;
    const struct weft_problem *first = NULL;
    for (size_t i = problems->n_rows; i-- > 0;)
        first = problems->rows[i].is_small ? first : &problems->rows[i];
    if (problems->n_deadlocks > 0)
        weft_output_text(out, "deadlock");
    else if (weft_problems_n_leading(problems) > 0)
        weft_sync_put_sentence(out, &problems->syncs[0]);
    else if (!first)
        weft_output_text(out, "nothing significant");
    else if (first->finding->table->n_a == 0)
        put_path(out, first);
    else
        weft_problem_put_sentence(out, first);
}

/* And how to see the rest; only that without findings. */
static void print_finding(const struct weft_findings *findings, const char *path)
{
    struct weft_output *out;
    struct weft_err err = { 0 };
    if (weft_output_to_memory(&out, &err) != WEFT_OK)
        return;
    if (findings)
        put_first(out, findings);
    else
        weft_output_text(out, "what was slow");
    weft_output_text(out, ": weft diagnose ");
    weft_words_argument(out, weft_str_of(path));
    const struct weft_str text = weft_output_held(out);
    weft_say("weft: %.*s\n", (int)text.n_bytes, text.bytes);
    weft_output_abort(out);
}

void weft_closing_finding(struct weft_cli *cli, const char *path)
{
    const struct weft_findings_request request = { .path = path };
    struct weft_findings *findings = NULL;
    struct weft_session *session = NULL;
    struct weft_err err = { 0 };
    enum weft_code code = weft_session_open(path, &cli->run, &session, &err);
    const struct weft_store_meta *meta =
        code == WEFT_OK ? weft_trace_meta(weft_session_trace(session)) : NULL;
    if (meta && meta->calls + meta->events > MOST_EVENTS) {
        print_finding(NULL, path);
    } else {
        WEFT_THEN(code, weft_findings_of_trace(session, &request, &findings, &err));
        weft_cli_quiet_line(cli);
        if (code == WEFT_OK)
            print_finding(findings, path);
    }
    weft_result_free(findings);
    weft_session_close(session);
}

enum weft_code weft_closing_trace(struct weft_cli *cli, const char *path)
{
    struct weft_session *session = NULL;
    struct weft_note_sums sums;
    struct weft_arena *arena = weft_arena_new(0);
    enum weft_code code = arena ? weft_session_open(path, &cli->run, &session, &cli->err)
                                : weft_no_memory(&cli->err, "a summary");
    WEFT_THEN(code, weft_note_sums(weft_session_trace(session), arena, &sums, &cli->err));
    if (code == WEFT_OK)
        print_trace(weft_session_trace(session), &sums, path);
    if (code == WEFT_OK)
        weft_closing_advice(&sums);
    weft_session_close(session);
    weft_arena_free(arena);
    return code;
}

void weft_closing_recording(const char *path, const struct weft_recorder_state *state)
{
    weft_say("weft: %s: a recording, no trace: %s records read", path,
             weft_human_count(state->events).text);
    if (state->lost || !state->unwritten_bytes)
        weft_say(", %s lost", weft_human_count(state->lost).text);
    if (state->unwritten_bytes)
        weft_say(", stopped: %s bytes not written", weft_human_count(state->unwritten_bytes).text);
    weft_say("\n");
}

void weft_closing_cost(const struct weft_recorder_state *state, char *text, size_t n_text)
{
    const int n = snprintf(text, n_text, "recorder %.1f ms CPU", (double)state->own_cpu_ns / 1e6);
    if (state->elapsed_ns >= LEAST_SHARED_NS && n > 0 && (size_t)n < n_text)
        (void)snprintf(
            text + n, n_text - (size_t)n, " (%s of a CPU)",
            weft_human_share((double)state->own_cpu_ns / (double)state->elapsed_ns).text);
}
