/* SPDX-License-Identifier: MIT
 *
 * Opens a .weft file through input.h, so that cut and merge accept packed files, pipes and standard
 * input, and refuses other formats before anything is copied.
 */
#include "import/stored.h"

static bool is_weft(const uint8_t *bytes, size_t n_bytes)
{
    return weft_store_sniff(bytes, n_bytes);
}

enum weft_code weft_stored_open(const char *path, const struct weft_input_opts *opts,
                                struct weft_stored *stored, struct weft_err *err)
{
    struct weft_input_opts only_weft = *opts;
    only_weft.is_welcome = is_weft;
    *stored = (struct weft_stored){ 0 };
    enum weft_code code = weft_input_open(path, &only_weft, &stored->input, err);
    if (code == WEFT_OK && stored->input.is_folder) {
        (void)weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                        "expected a .weft file, found a directory");
        code = weft_in_file(err, path);
    } else if (code == WEFT_OK) {
        code = weft_store_open_mapped(path, &stored->input.file, &stored->store, err);
    }
    if (code != WEFT_OK)
        weft_stored_close(stored);
    return code;
}

void weft_stored_close(struct weft_stored *stored)
{
    if (stored->store)
        weft_store_close(stored->store);
    weft_input_close(&stored->input);
    *stored = (struct weft_stored){ 0 };
}
