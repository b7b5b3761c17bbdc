/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a table of functions that block. What is read can be looked up; a failure names its
 * line.
 */
#include "model/locks/blocking_names.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    const struct weft_str text = { (const char *)bytes, n_bytes };
    struct weft_blocking_names *names = NULL;
    struct weft_err err = { 0 };
    if (weft_blocking_names_new(text, "table", &names, &err) != WEFT_OK) {
        if (names || !strstr(err.text, "line"))
            abort();
        return 0;
    }
    const struct weft_blocking_use lock =
        weft_blocking_use_of(NULL, WEFT_STR("pthread_mutex_lock"));
    const struct weft_blocking_use any = weft_blocking_use_of(names, text);
    if (lock.kind != WEFT_BLOCKING_WAIT || any.kind >= WEFT_BLOCKING_KINDS ||
        any.shared >= WEFT_SHARED_KINDS)
        abort();
    weft_blocking_names_free(names);
    return 0;
}
