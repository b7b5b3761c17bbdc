/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a function map: a program, YAML or TSV. What is read can be looked up; a failure has
 * a reason.
 */
#include "ingest/xray/function_map.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    struct weft_xray_map *map = NULL;
    struct weft_err err = { 0 };
    if (weft_xray_map_read(bytes, n_bytes, &map, &err) != WEFT_OK) {
        if (map || err.text[0] == '\0')
            abort();
        return 0;
    }
    struct weft_function_info info;
    uint32_t last_key = weft_xray_map_last_key(map);
    if (weft_xray_map_count(map) == 0 || !weft_xray_map_find(map, last_key, &info) ||
        info.key != last_key || weft_xray_map_find(map, last_key + 1, &info))
        abort();
    weft_xray_map_free(map);
    return 0;
}
