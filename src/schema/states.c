/* SPDX-License-Identifier: MIT */
#include "schema/states.h"

#include "base/u128.h"

#include <math.h>

static const char *const kind_names[WEFT_STATE_KINDS] = {
    "unknown", "running", "running_user", "running_kernel", "interrupted", "preempted", "blocked"
};
static const char *const reason_names[WEFT_WAIT_REASONS] = { "none",         "timer",  "network",
                                                             "block_device", "device", "ipi",
                                                             "thread",       "unknown" };

const char *weft_state_kind_name(enum weft_state_kind kind)
{
    return (size_t)kind < WEFT_STATE_KINDS ? kind_names[kind] : "unknown";
}

uint64_t weft_state_cpu_ns(const struct weft_state *state, uint64_t from_ns, uint64_t to_ns)
{
    const uint64_t part_ns = to_ns > from_ns ? to_ns - from_ns : 0;
    const uint64_t whole_ns = state->end_ns - state->start_ns;
    if (!weft_state_is_on_cpu(state->kind) || part_ns == 0)
        return 0;
    if (!(state->flags & WEFT_STATE_CLOCKED))
        return state->kind == WEFT_STATE_INTERRUPTED ? 0 : part_ns;
    if (part_ns >= whole_ns)
        return state->ran_ns;
    return (uint64_t)((weft_u128)state->ran_ns * part_ns / whole_ns);
}

/* Wilson's interval has its bounds where the share lies that is z deviations from what was seen. */
static void interval_of(const struct weft_run_modes *modes, struct weft_mode_times *times)
{
    const double n = (double)(modes->user_samples + modes->kernel_samples);
    const double share = (double)modes->kernel_samples / n;
    const double z = 1.959963984540054, z2 = z * z;
    const double centre = (share + z2 / (2 * n)) / (1 + z2 / n);
    const double half = z * sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n);
    const uint64_t sampled_ns = modes->unknown_ns - modes->unsampled_ns;
    const double sampled = (double)sampled_ns;
    const uint64_t in_kernel_ns = (uint64_t)llround(sampled * share);
    times->kernel_ns += in_kernel_ns;
    times->user_ns += sampled_ns - in_kernel_ns;
    times->kernel_low_ns += (uint64_t)llround(sampled * fmax(centre - half, 0));
    times->kernel_high_ns += (uint64_t)llround(sampled * fmin(centre + half, 1));
    times->unknown_ns = modes->unsampled_ns;
}

struct weft_mode_times weft_run_mode_times(const struct weft_run_modes *modes)
{
    struct weft_mode_times times = { .user_ns = modes->user_ns,
                                     .kernel_ns = modes->kernel_ns,
                                     .kernel_low_ns = modes->kernel_ns,
                                     .kernel_high_ns = modes->kernel_ns,
                                     .unknown_ns = modes->unknown_ns };
    times.is_estimated =
        modes->unknown_ns > modes->unsampled_ns && modes->user_samples + modes->kernel_samples > 0;
    if (times.is_estimated)
        interval_of(modes, &times);
    times.is_known = times.unknown_ns == 0 || times.unknown_ns < times.user_ns + times.kernel_ns;
    return times.is_known ? times : (struct weft_mode_times){ .unknown_ns = modes->unknown_ns };
}

const char *weft_mode_source(const struct weft_run_modes *modes)
{
    const struct weft_mode_times times = weft_run_mode_times(modes);
    const bool has_calls = modes->user_ns + modes->kernel_ns > 0;
    if (!times.is_known || (!has_calls && !times.is_estimated))
        return NULL;
    return !times.is_estimated ? "system_calls" : has_calls ? "system_calls,samples" : "samples";
}

const char *weft_wait_reason_name(enum weft_wait_reason reason)
{
    return (size_t)reason < WEFT_WAIT_REASONS ? reason_names[reason] : "unknown";
}
