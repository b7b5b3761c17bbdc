/* SPDX-License-Identifier: MIT
 *
 * A latency that is watched while it is recorded: "fn>20ms" fires when a call of fn took longer.
 */
#ifndef WEFT_RECORD_SESSION_TRIGGER_H
#define WEFT_RECORD_SESSION_TRIGGER_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct trigger;

/* Of a thread: its calls of the function that are open. */
struct trigger_thread {
    uint32_t depth;
    uint64_t start_ticks; /* of the outermost one */
};

/* Reads "NAME>TIME". WEFT_E_ARG. The caller frees. */
WEFT_CHECKED enum weft_code trigger_new(const char *text, struct trigger **trigger,
                                        struct weft_err *err);
void trigger_free(struct trigger *trigger); /* NULL is allowed */

/* An entry or exit; true: the call that it ends took too long. */
bool trigger_call(struct trigger *trigger, struct trigger_thread *thread, uint32_t pid,
                  bool is_exit, uint64_t address, uint64_t ticks);

/* Maps of a process have changed: its addresses are looked up again. */
void trigger_forget(struct trigger *trigger, uint32_t pid);

const char *trigger_text(const struct trigger *trigger);

#endif
