/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a compressed input. However the bytes are cut into pieces, the same comes out, up to
 * damage that a smaller piece shows earlier; and what an input gives is what the unpacker gave.
 */
#include "import/input.h"
#include "import/unpack.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

enum { MOST_IN = 1 << 14, MOST_OUT = 1 << 20, MEMORY = 16 << 20 };

/* What came out, and how it ended. */
struct result {
    uint8_t *bytes;
    size_t n_bytes;
    bool is_damaged, is_complete, is_full;
    enum weft_code code;
};

static void must(bool is_true)
{
    if (!is_true)
        abort();
}

static struct result unpack(enum weft_packing packing, const uint8_t *bytes, size_t n_bytes,
                            size_t n_in, size_t n_room)
{
    struct weft_unpacker *unpacker = weft_unpacker_new(packing, MEMORY);
    struct result result = { .bytes = malloc(MOST_OUT + n_room) };
    struct weft_unpack_io io = { .in = bytes };
    must(unpacker && result.bytes);
    size_t n_given = 0;
    do {
        const size_t more = n_bytes - n_given < n_in ? n_bytes - n_given : n_in;
        io.n_in += more;
        n_given += more;
        do {
            io.out = result.bytes + result.n_bytes;
            io.n_room = n_room;
            result.code = weft_unpacker_step(unpacker, &io, NULL);
            must(io.n_room <= n_room && io.in <= bytes + n_given &&
                 io.in + io.n_in == bytes + n_given);
            result.n_bytes += n_room - io.n_room;
        } while (result.code == WEFT_OK && io.n_room == 0 && result.n_bytes < MOST_OUT);
        result.is_damaged = weft_unpacker_damage(unpacker) != NULL;
        result.is_full = result.n_bytes >= MOST_OUT;
        must(result.code != WEFT_OK || result.is_damaged || result.is_full || io.n_in == 0);
    } while (n_given < n_bytes && result.code == WEFT_OK && !result.is_damaged && !result.is_full);
    result.is_complete = weft_unpacker_is_complete(unpacker);
    must(!(result.is_complete && result.is_damaged));
    weft_unpacker_free(unpacker);
    return result;
}

static void input_check(const uint8_t *bytes, size_t n_bytes, const struct result *want)
{
    const int fd = memfd_create("fuzz_input", MFD_CLOEXEC);
    must(fd >= 0 && write(fd, bytes, n_bytes) == (ssize_t)n_bytes);
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const struct weft_input_opts opts = { .beside = "/dev/shm/fuzz_input", .memory_bytes = MEMORY };
    struct weft_input input;
    struct weft_err err = { 0 };
    const enum weft_code code = weft_input_open(path, &opts, &input, &err);
    if (code == WEFT_OK) {
        must(want->code == WEFT_OK && input.is_unpacked && input.given_bytes == n_bytes);
        must(input.file.n_bytes == want->n_bytes && want->n_bytes > 0);
        must(memcmp(input.file.bytes, want->bytes, want->n_bytes) == 0);
        must(input.loss.is_any == !want->is_complete);
        weft_input_close(&input);
    } else {
        must(err.text[0] && (want->code != WEFT_OK || want->n_bytes == 0));
    }
    (void)close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    const enum weft_packing packing = weft_packing_of(bytes, n_bytes);
    if (packing == WEFT_PACKING_NONE || n_bytes > MOST_IN)
        return 0;
    struct result whole = unpack(packing, bytes, n_bytes, n_bytes, 1 << 16);
    struct result pieces = unpack(packing, bytes, n_bytes, 1 + bytes[n_bytes - 1] % 64, 1 << 10);
    if (!whole.is_full && !pieces.is_full) {
        const size_t n_both = whole.n_bytes < pieces.n_bytes ? whole.n_bytes : pieces.n_bytes;
        must(memcmp(whole.bytes, pieces.bytes, n_both) == 0);
        must(whole.code == pieces.code && whole.is_damaged == pieces.is_damaged &&
             whole.is_complete == pieces.is_complete);
        must(whole.is_damaged || whole.code != WEFT_OK || whole.n_bytes == pieces.n_bytes);
        input_check(bytes, n_bytes, &whole);
    }
    free(whole.bytes);
    free(pieces.bytes);
    return 0;
}
