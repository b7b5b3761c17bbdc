/* SPDX-License-Identifier: MIT
 *
 * The analyses: a model in, a typed table out (schema/result.h). They know neither file nor screen,
 * and never each other; what they share lives in model/. All are deterministic for any number of
 * workers. All may return WEFT_E_CANCELLED, WEFT_E_NOMEM, WEFT_E_LIMIT, and whatever loading a
 * block returns (a damaged block names its file and byte).
 */
#ifndef WEFT_ANALYSIS_ANALYSIS_H
#define WEFT_ANALYSIS_ANALYSIS_H

#include "base/pool.h"
#include "model/trace.h"
#include "model/window.h"

#include <stdbool.h>
#include <stdint.h>

/* Which threads: NULL or n_ids == 0 means all. */
struct weft_thread_filter {
    const uint32_t *ids; /* ascending model thread ids */
    size_t n_ids;
};

#endif
