/* SPDX-License-Identifier: MIT
 *
 * Fields of an event as one line of JSON: {"a":1,"b":"text","c":[1,2],"d":{"e":1.5}}. Enumerations
 * are their label, or the number where they have none.
 */
#ifndef WEFT_INGEST_CTF_PAYLOAD_H
#define WEFT_INGEST_CTF_PAYLOAD_H

#include "base/json_text.h"
#include "ingest/ctf/decode.h"

struct ctf_payload {
    struct weft_json_text text;
};

/* Begins a new object; adds the members of a scope; ends it. `hides` may be NULL: true of a member
 * that is omitted. */
void ctf_payload_begin(struct ctf_payload *payload);
void ctf_payload_add(struct ctf_payload *payload, const struct ctf_plan *plan,
                     const struct ctf_value *values, bool (*hides)(const struct ctf_op *op));
/* The text, valid until the next one begins; empty if there was no member, or no memory. */
struct weft_str ctf_payload_end(struct ctf_payload *payload);
void ctf_payload_fini(struct ctf_payload *payload);

#endif
