/* SPDX-License-Identifier: MIT
 *
 * RegTime's later passes: the contexts of a run that were deferred for want of memory. A pass reads
 * the calls of the run again, finds the deferred nodes by their callers, and builds what lies under
 * them; what does not fit is deferred again. Every context is counted whole in one pass, so the
 * result is the same for any ceiling.
 */
#ifndef WEFT_ANALYSIS_REGTIME_LATER_H
#define WEFT_ANALYSIS_REGTIME_LATER_H

#include "analysis/regtime/runs.h"

/* After the thread was read once: reads each expression again that has deferred nodes, until none
 * has. About contexts / max_nodes readings. Does nothing where nothing was deferred. */
WEFT_CHECKED enum weft_code weft_regtime_build_deferred(struct regtime_builder *builder,
                                                        struct weft_scan *scan,
                                                        struct weft_err *err);

#endif
