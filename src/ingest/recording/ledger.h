/* SPDX-License-Identifier: MIT
 *
 * The ledger of a recording (schema/ledger.h): which processes the program had, and what is missing
 * of each.
 */
#ifndef WEFT_INGEST_RECORDING_LEDGER_H
#define WEFT_INGEST_RECORDING_LEDGER_H

#include "base/map.h"
#include "ingest/recording/pieces.h"
#include "schema/ledger.h"

struct rec_ledger {
    struct {
        struct weft_ledger_process
            *items; /* by number; CLOCK_MONOTONIC; names in the table given */
        size_t n, cap;
    };
    uint64_t n_bad, bad_off; /* bytes that are no entries */
};

/* Reads all pieces of it. Names are kept in `texts`. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code rec_ledger_read(const struct rec_pieces *pieces,
                                            struct weft_strtab *texts, struct rec_ledger *ledger,
                                            struct weft_err *err);
void rec_ledger_fini(struct rec_ledger *ledger);

/* The recorder ended at `at_ns` without being able to say so, for the reason `why`: processes that
 * were there still are recorded until then. */
void rec_ledger_break(struct rec_ledger *ledger, enum weft_ledger_why why, uint64_t at_ns);

#endif
