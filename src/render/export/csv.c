/* SPDX-License-Identifier: MIT
 *
 * One line a call, in the order in which a thread's calls began. Quoted as RFC 4180 says; lines end
 * with a line feed alone.
 */
#include "render/export/exporter.h"

#include <inttypes.h>

struct csv {
    struct weft_str ids;  /* tid,thread, */
    struct weft_str tail; /* ,pid,node,generation and the line's end */
};

static void label(struct weft_exporter *exporter, uint32_t function_id)
{
    const struct weft_function *function = weft_trace_function(exporter->trace, function_id);
    weft_output_csv(exporter->scratch, function->name);
    weft_output_text(exporter->scratch, ",");
    weft_output_csv(exporter->scratch, function->module);
    weft_output_text(exporter->scratch, ",");
}

static void begin(struct weft_exporter *exporter)
{
    weft_output_text(exporter->out, "tid,thread,function,module,depth,start_ns,end_ns,duration_ns,"
                                    "self_ns,flags,args,pid,node,generation\n");
    weft_output_set_form(exporter->scratch, weft_output_form(exporter->out));
}

static void thread_begin(struct weft_exporter *exporter)
{
    struct csv *csv = exporter->state;
    weft_output_clear(exporter->scratch);
    weft_put_number(exporter->scratch, exporter->thread->info.tid);
    weft_output_text(exporter->scratch, ",");
    weft_output_csv(exporter->scratch, exporter->thread->info.name);
    weft_output_text(exporter->scratch, ",");
    csv->ids = weft_arena_copy(exporter->arena, weft_output_held(exporter->scratch));
    const struct weft_thread_info *info = &exporter->thread->info;
    weft_output_clear(exporter->scratch);
    weft_output_printf(exporter->scratch, ",%" PRIu64 ",%" PRIu32 ",%" PRIu32 "\n", info->pid,
                       info->host_id, info->generation);
    csv->tail = weft_arena_copy(exporter->arena, weft_output_held(exporter->scratch));
    if (!csv->ids.bytes || !csv->tail.bytes)
        weft_exporter_no_memory(exporter);
}

/* flags,args of a call that has either. */
static void put_rest(struct weft_exporter *exporter, const struct weft_walk_call *call)
{
    const struct csv *csv = exporter->state;
    weft_put_flags(exporter->out, call->flags, "", " ");
    weft_output_text(exporter->out, ",");
    weft_output_clear(exporter->scratch);
    weft_output_text(exporter->scratch, "{");
    bool has_args = weft_put_json_args(exporter->scratch, call);
    weft_output_text(exporter->scratch, "}");
    weft_output_set_form(exporter->scratch, WEFT_OUTPUT_JSON);
    weft_output_seal(exporter->scratch);
    weft_output_set_form(exporter->scratch, weft_output_form(exporter->out));
    if (has_args)
        weft_output_csv(exporter->out, weft_output_held(exporter->scratch));
    weft_output_write(exporter->out, csv->tail.bytes, csv->tail.n_bytes);
}

static void enter(struct weft_exporter *exporter, const struct weft_walk_call *call)
{
    const struct csv *csv = exporter->state;
    struct weft_str function = weft_exporter_label(exporter, call->function_id);
    bool is_plain = !call->flags && !call->n_args && !call->n_arg_texts;
    char *to =
        weft_output_room(exporter->out, csv->ids.n_bytes + function.n_bytes +
                                            6 * (WEFT_PUT_U64_BYTES + 1) + csv->tail.n_bytes);
    if (!to)
        return;
    to = weft_put_str(to, csv->ids);
    to = weft_put_str(to, function);
    to = weft_put_u64(to, call->depth);
    *to++ = ',';
    to = weft_put_u64(to, call->start_ns);
    *to++ = ',';
    to = weft_put_u64(to, call->end_ns);
    *to++ = ',';
    to = weft_put_u64(to, call->end_ns - call->start_ns);
    *to++ = ',';
    to = weft_put_u64(to, call->self_ns);
    *to++ = ',';
    if (is_plain) {
        *to++ = ',';
        to = weft_put_str(to, csv->tail);
    }
    weft_output_filled(exporter->out, to);
    if (!is_plain)
        put_rest(exporter, call);
}

const struct weft_export_format_ops weft_export_csv = {
    .state_bytes = sizeof(struct csv),
    .wants_self = true,
    .wants_args = true,
    .begin = begin,
    .thread_begin = thread_begin,
    .enter = enter,
    .label = label,
};
