/* SPDX-License-Identifier: MIT
 *
 * Who waits for work, and whom it hurts that a thread is slow (docs/analyses/diagnose.md, "What
 * matters").
 */
#ifndef WEFT_RENDER_TEXT_DIAGNOSE_IDLE_H
#define WEFT_RENDER_TEXT_DIAGNOSE_IDLE_H

#include "render/text/diagnose.h"

/* Is `node` a wait for another thread, not for a lock, while that one waits itself outside of all
 * that the program does again and again? Then there is nothing to do for either of them. False
 * where nothing is known of what repeats (weft_diagnosis.wholes). */
bool weft_diagnosis_is_idle_at(const struct weft_diagnosis *diagnosis, uint32_t node);

/* Do usual executions do next to nothing but be idle: is what is not, at most a tenth of their
 * time, or 10 us? O(nodes). */
bool weft_diagnosis_is_there_to_wait(const struct weft_diagnosis *diagnosis);

/* Do executions of `other`, of a thread of another name, wait as usual for the thread of
 * `diagnosis` while it works? At least a third of them, for a tenth of their time. O(values of
 * `other`); false without memory. */
bool weft_diagnosis_serves(const struct weft_diagnosis *diagnosis,
                           const struct weft_diagnosis *other);

/* Does a cause within the program of `other` lead through the thread of `diagnosis`? */
bool weft_diagnosis_is_felt(const struct weft_diagnosis *diagnosis,
                            const struct weft_diagnosis *other);

#endif
