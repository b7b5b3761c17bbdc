/* SPDX-License-Identifier: MIT */
/* Nobody reads comments here: who cares. */
const char *const bad[] = { "nobody was told", "the processor of a thread", "told",
                            "a thread has it, too" };
const char *const good[] = { "trace_processor reads it", "a CPU of a thread", "who" };
