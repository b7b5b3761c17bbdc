/* SPDX-License-Identifier: MIT */
#include "ingest/ctf/json.h"

enum weft_code ctf_json_parse(struct weft_str text, struct ctf_metadata *meta, struct weft_err *err)
{
    (void)text, (void)meta;
    return weft_fail(err, WEFT_E_UNSUPPORTED, 0, "CTF 2");
}
