/* SPDX-License-Identifier: MIT
 *
 * One data stream file: its packets, found once, and a cursor over their events.
 *
 *     file    | packet | packet | damage | packet |
 *     packet  | header | context | event | event | ... |  padding |
 *             0                              content_bits      n_bytes * 8
 *
 * A packet that contradicts its format loses itself alone, or its rest from the damage on; where a
 * header is damaged the next one is looked for. All of it is counted.
 */
#ifndef WEFT_INGEST_CTF_PACKETS_H
#define WEFT_INGEST_CTF_PACKETS_H

#include "base/file.h"
#include "ingest/ctf/decode.h"

struct ctf_packet {
    uint64_t at_off, n_bytes;
    uint64_t content_bits;
    uint64_t begin, end; /* cycles; 0 without such fields */
    uint32_t stream;     /* index in the trace's plan */
    bool has_begin, has_end;
};

/* What was lost or repaired, with its first place in the file. */
struct ctf_tally {
    uint64_t count;
    uint64_t at_off;
};

enum ctf_remark {
    CTF_BAD_BYTES,     /* in packets that contradict their format */
    CTF_MISSING_BYTES, /* the file ends within a packet */
    CTF_LOST_EVENTS,   /* the tracer discarded them */
    CTF_LOST_PACKETS,  /* lost by the tracer, or when the trace was copied */
    CTF_STEPS_BACK,    /* events before the one before them; raised to its time */
    CTF_REMARKS,
};

struct ctf_file {
    const struct ctf_trace_plan *plan;
    struct weft_mapped file;
    const char *name;
    uint32_t n_slots; /* of frame 0, for any stream */
    uint32_t n_tries; /* to find a packet behind damage */
    struct {
        struct ctf_packet *items;
        size_t n, cap;
    } packets; /* in order of begin */
    struct ctf_tally remarks[CTF_REMARKS];
    struct ctf_fault first_fault; /* of the first damaged packet */
    const char *first_damage;     /* what was expected there; NULL: none */

    struct ctf_tally opened[CTF_REMARKS]; /* remarks of the packets alone */

    /* The cursor. */
    struct ctf_decoder decoder;
    size_t n_opened;                      /* packets opened so far */
    const struct ctf_packet *packet;      /* the open one; NULL: none */
    const struct ctf_stream_plan *stream; /* of the packet */
    const struct ctf_event_plan *event;   /* whose header was decoded */
    uint32_t packet_values;               /* values that the open packet keeps */
    uint64_t event_bits;                  /* where its header begins */
};

/* Finds the packets. WEFT_E_NOMEM; damage is no failure. The plan and the file must outlive it. */
WEFT_CHECKED enum weft_code ctf_file_open(const struct ctf_trace_plan *plan,
                                          const struct weft_mapped *mapped, const char *name,
                                          struct ctf_file *file, struct weft_err *err);
void ctf_file_close(struct ctf_file *file);

/* Back to the first event, with the remarks that were made when the file was opened. */
void ctf_file_rewind(struct ctf_file *file);

/* Decodes the header of the next event; `*is_end` at the end of the file. */
WEFT_CHECKED enum weft_code ctf_file_next(struct ctf_file *file, bool *is_end,
                                          struct weft_err *err);

/* Decodes contexts and fields of that event. `*is_good` is false if it is damaged: then it is
 * dropped with the rest of its packet. */
WEFT_CHECKED enum weft_code ctf_file_event(struct ctf_file *file, bool *is_good,
                                           struct weft_err *err);

#endif
