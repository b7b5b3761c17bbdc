/* SPDX-License-Identifier: MIT
 *
 * See run_modes.h.
 */
#include "analysis/states/run_modes.h"

#include "model/events.h"

void weft_modes_add(struct weft_run_modes *modes, enum weft_state_kind kind, uint64_t length_ns)
{
    if (kind == WEFT_STATE_RUNNING)
        modes->unknown_ns += length_ns;
    else if (kind == WEFT_STATE_RUNNING_USER)
        modes->user_ns += length_ns;
    else if (kind == WEFT_STATE_RUNNING_KERNEL)
        modes->kernel_ns += length_ns;
}

void weft_modes_count(struct weft_run_modes *modes, enum weft_sample_mode mode)
{
    modes->user_samples += mode == WEFT_SAMPLE_IN_USER;
    modes->kernel_samples += mode == WEFT_SAMPLE_IN_KERNEL;
}

void weft_modes_join(struct weft_run_modes *modes, const struct weft_run_modes *others)
{
    modes->user_ns += others->user_ns;
    modes->kernel_ns += others->kernel_ns;
    modes->unknown_ns += others->unknown_ns;
    if (others->user_samples + others->kernel_samples == 0)
        modes->unsampled_ns += others->unknown_ns;
    modes->user_samples += others->user_samples;
    modes->kernel_samples += others->kernel_samples;
}

uint64_t weft_modes_ns(const struct weft_run_modes *modes)
{
    return modes->user_ns + modes->kernel_ns + modes->unknown_ns;
}

/* Others, as faults and switches, do not come in proportion to time. */
static bool is_by_time(struct weft_str category)
{
    static const char *const names[] = { "cpu-clock", "task-clock", "cycles", "cpu-cycles" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct weft_str name = weft_str_of(names[i]);
        if (category.n_bytes >= name.n_bytes &&
            memcmp(category.bytes, name.bytes, name.n_bytes) == 0 &&
            (category.n_bytes == name.n_bytes || category.bytes[name.n_bytes] == ':'))
            return true;
    }
    return false;
}

enum weft_code weft_modes_sample(const struct weft_trace *trace, uint32_t thread_id,
                                 uint64_t from_ns, uint64_t to_ns, weft_modes_sample_fn see,
                                 void *context, struct weft_err *err)
{
    struct weft_events *events = NULL;
    const struct weft_event *event = NULL;
    if (weft_trace_meta(trace)->events_of_kind[WEFT_EVENT_SAMPLE] == 0)
        return WEFT_OK;
    enum weft_code code = weft_events_open(trace, thread_id, UINT32_C(1) << WEFT_EVENT_SAMPLE,
                                           from_ns, to_ns, &events, err);
    while (code == WEFT_OK && (code = weft_events_next(events, &event, err)) == WEFT_OK && event)
        if (is_by_time(event->category))
            see(context, event->cpu, (enum weft_sample_mode)event->prev_state);
    weft_events_close(events);
    return code;
}
