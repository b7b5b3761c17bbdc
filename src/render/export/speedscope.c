/* SPDX-License-Identifier: MIT
 *
 * speedscope's own format: one evented profile a thread, frames shared by all.
 */
#include "render/export/exporter.h"
#include "render/json/json.h"

#include <inttypes.h>

enum { EVENT_BYTES = 48 };

struct speedscope {
    bool has_profiles;
    bool has_events; /* in the profile now written */
    uint64_t first_ns, last_ns;
};

static void begin(struct weft_exporter *exporter)
{
    struct weft_output *out = exporter->out;
    weft_output_text(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
                          "\"exporter\":\"weft " WEFT_VERSION "\",\"name\":");
    weft_json_quoted(out, weft_str_of(exporter->opts->name));
    weft_output_text(out, ",\"shared\":{\"frames\":[");
    for (uint32_t id = 0; id < weft_trace_n_functions(exporter->trace); id++) {
        const struct weft_function *function = weft_trace_function(exporter->trace, id);
        weft_output_text(out, id ? ",\n{\"name\":" : "\n{\"name\":");
        weft_json_quoted(out, function->name);
        if (function->module.n_bytes) {
            weft_output_text(out, ",\"file\":");
            weft_json_quoted(out, function->module);
        }
        weft_output_text(out, "}");
    }
    weft_output_text(out, "]},\"profiles\":[");
}

static void begin_profile(struct weft_exporter *exporter, uint64_t first_ns)
{
    struct speedscope *state = exporter->state;
    weft_output_text(exporter->out, state->has_profiles ? ",\n" : "\n");
    weft_output_text(exporter->out, "{\"type\":\"evented\",\"name\":");
    weft_json_quoted(exporter->out, exporter->thread_label);
    weft_output_text(exporter->out, ",\"unit\":\"nanoseconds\",\"events\":[");
    state->has_profiles = state->has_events = true;
    state->first_ns = first_ns;
}

/* {"type":"O","frame":12,"at":345} */
static void put_event(struct weft_exporter *exporter, char type, uint32_t function_id,
                      uint64_t at_ns)
{
    char *to = weft_output_room(exporter->out, EVENT_BYTES + 2 * WEFT_PUT_U64_BYTES);
    if (!to)
        return;
    to = WEFT_PUT(to, "\n{\"type\":\"");
    *to++ = type;
    to = WEFT_PUT(to, "\",\"frame\":");
    to = weft_put_u64(to, function_id);
    to = WEFT_PUT(to, ",\"at\":");
    to = weft_put_u64(to, at_ns);
    *to++ = '}';
    weft_output_filled(exporter->out, to);
}

static void enter(struct weft_exporter *exporter, const struct weft_walk_call *call)
{
    struct speedscope *state = exporter->state;
    if (state->has_events)
        weft_output_write(exporter->out, ",", 1);
    else
        begin_profile(exporter, call->start_ns);
    put_event(exporter, 'O', call->function_id, call->start_ns);
}

static void leave(struct weft_exporter *exporter, const struct weft_walk_call *call)
{
    struct speedscope *state = exporter->state;
    weft_output_write(exporter->out, ",", 1);
    put_event(exporter, 'C', call->function_id, call->end_ns);
    state->last_ns = call->end_ns;
}

/* Threads without a call have no profile: speedscope could not show one. */
static void calls_end(struct weft_exporter *exporter)
{
    struct speedscope *state = exporter->state;
    if (state->has_events)
        weft_output_printf(exporter->out, "],\"startValue\":%" PRIu64 ",\"endValue\":%" PRIu64 "}",
                           state->first_ns, state->last_ns);
    state->has_events = false;
}

static void end(struct weft_exporter *exporter)
{
    weft_output_text(exporter->out, "]}\n");
}

const struct weft_export_format_ops weft_export_speedscope = {
    .state_bytes = sizeof(struct speedscope),
    .begin = begin,
    .enter = enter,
    .leave = leave,
    .calls_end = calls_end,
    .end = end,
};
