/* SPDX-License-Identifier: MIT
 *
 * What is in a trace, for programs that go on asking by its dense ids: threads and the names of
 * functions. No pass over calls. JSON (docs/http-api.md).
 */
#ifndef WEFT_RENDER_TEXT_DIRECTORY_H
#define WEFT_RENDER_TEXT_DIRECTORY_H

#include "model/trace.h"
#include "render/json/json.h"
#include "render/text/render.h"

/* The members of a trace's entry in a list of traces. */
void weft_render_trace_entry(struct weft_json *json, const struct weft_trace *trace);

/* {threads: [{id tid pid name calls cut_calls events first_ns last_ns max_depth}]}: of these
 * ids, ascending; NULL: of all. */
void weft_render_threads(const struct weft_view *view, const uint32_t *ids, size_t n_ids);

/* Calls of a function in the whole trace, open ones too. */
struct weft_name_sum {
    uint64_t count, self_ns;
};

/* {functions: [{id name module is_wait count self_ns}]}; `sums` by function id. */
void weft_render_names(const struct weft_view *view, const struct weft_name_sum *sums);

#endif
