/* SPDX-License-Identifier: MIT
 *
 * From events of CTF to events of weft: what the parts of the importer share.
 */
#ifndef WEFT_INGEST_CTF_CONVERT_H
#define WEFT_INGEST_CTF_CONVERT_H

#include "ingest/ctf/known.h"
#include "ingest/ctf/modules.h"
#include "ingest/ctf/payload.h"
#include "kernel/convert.h"
#include "schema/sink.h"

/* What is known of a trace of the input. */
struct ctf_source {
    struct ctf_known *known; /* by event class of the metadata */
    uint32_t host_id;
    bool is_kernel;
    bool is_user; /* of one process, or of a user's */
    enum kernel_abi abi;
    uint64_t pid; /* of all its events; 0: they say it, or it is unknown */
    struct weft_str comm;
};

struct ctf_convert {
    struct kernel_convert kernel; /* sink, threads, err; is_survey */
    struct ctf_reader *reader;
    struct ctf_source *sources; /* one a trace */
    struct kernel_calls calls;  /* of all kernels */
    struct ctf_modules modules;
    struct ctf_payload payload;
    struct weft_map *objects; /* (process, address) -> dense id */
    uint64_t zero_ns;         /* the reader's time that becomes 0 */
    uint64_t n_events;
};

/* The event in work. */
struct ctf_now {
    struct kernel_now kernel;
    const struct ctf_event *event;
    const struct ctf_known *known;
    const struct ctf_source *source;
    const struct ctf_value *values;
};

/* What LTTng's events of user space mean (user.c). WEFT_E_NOMEM and the sink's. */
WEFT_CHECKED enum weft_code ctf_convert_user(struct ctf_convert *convert, struct ctf_now *now);

#endif
