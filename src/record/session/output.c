/* SPDX-License-Identifier: MIT
 *
 * Writes pieces through one buffer into a file, a series of files of limited size, or the flight
 * recorder's memory. Pieces without which others cannot be read are kept and start every further
 * file. When writing fails, the file is cut to whole pieces and ended with the reason; recording
 * continues without output.
 */
#include "record/session/output.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { ALIGNMENT = 8, BUFFER_BYTES = 1 << 20, FLIGHT_BYTES = 256 << 20, END_ROOM_BYTES = 1 << 13 };

/* A piece in the flight recorder's memory, head and all. */
struct kept {
    uint8_t *bytes;
    size_t n_bytes;
    uint64_t time_ns;
};

struct kepts {
    struct kept *items;
    size_t n, cap;
};

struct session_output {
    struct session_output_opts opts;
    struct weft_fresh file; /* the one that is written */
    bool is_placed;         /* it has its name: from its first pieces on */
    bool has_failed;
    bool has_clock; /* the first pair of clocks was kept */
    uint64_t file_bytes, all_bytes, unwritten_bytes;
    struct {
        uint8_t *items;
        size_t n, cap;
    } buffer;
    struct kepts lasting; /* without which no other piece can be read: of every file */
    struct kepts recent;  /* of the flight recorder; from `first` on */
    size_t first;
    uint64_t recent_bytes;
    struct {
        char **items;
        size_t n, cap;
    } files;
};

/* ---- files -------------------------------------------------------------------------------------
 */

/* "run.weft", then "run.1.weft", "run.2.weft"; the caller frees. */
static char *path_of(const char *path, size_t number)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(path, '.');
    char *made = NULL;
    const bool has_end = dot && dot > (slash ? slash + 1 : path);
    const int n_front = has_end ? (int)(dot - path) : (int)strlen(path);
    const int n_made =
        number == 0 ? asprintf(&made, "%s", path)
                    : asprintf(&made, "%.*s.%zu%s", n_front, path, number, has_end ? dot : "");
    return n_made < 0 ? NULL : made;
}

static enum weft_code begin_file(struct session_output *output, struct weft_err *err)
{
    struct weft_recording_head head = { .version = WEFT_RECORDING_VERSION,
                                        .head_bytes = sizeof head };
    memcpy(head.magic, WEFT_RECORDING_MAGIC, sizeof head.magic);
    head.checksum = XXH3_64bits(&head, offsetof(struct weft_recording_head, checksum));
    char *path = path_of(output->opts.path, output->files.n);
    char **place = path ? WEFT_VEC_PUSH(&output->files) : NULL;
    if (!place) {
        free(path);
        return weft_no_memory(err, "a file");
    }
    *place = path;
    output->file_bytes = sizeof head;
    output->is_placed = false;
    enum weft_code code = weft_fresh_open(path, WEFT_ACCESS_PRIVATE, O_APPEND, &output->file, err);
    WEFT_THEN(code, weft_fd_write(output->file.fd, &head, sizeof head, err));
    for (size_t k = 0; code == WEFT_OK && k < output->lasting.n; k++) {
        const struct kept *piece = &output->lasting.items[k];
        code = weft_fd_write(output->file.fd, piece->bytes, piece->n_bytes, err);
        output->file_bytes += piece->n_bytes;
    }
    output->all_bytes += output->file_bytes;
    if (code != WEFT_OK) {
        output->has_failed = true;
        (void)weft_in_file(err, path);
    }
    return code;
}

static void end_file(struct session_output *output)
{
    weft_fresh_drop(&output->file);
}

enum weft_code session_output_open(const struct session_output_opts *opts,
                                   struct session_output **output, struct weft_err *err)
{
    struct session_output *made = calloc(1, sizeof *made);
    *output = made;
    if (!made)
        return weft_no_memory(err, "a recording");
    made->opts = *opts;
    made->file.fd = -1;
    if (opts->snapshot_ns && opts->size_bytes == 0)
        made->opts.size_bytes = FLIGHT_BYTES;
    return opts->snapshot_ns ? WEFT_OK : begin_file(made, err);
}

static void kepts_fini(struct kepts *kepts)
{
    for (size_t k = 0; k < kepts->n; k++)
        free(kepts->items[k].bytes);
    WEFT_VEC_FINI(kepts);
}

void session_output_close(struct session_output *output)
{
    if (!output)
        return;
    end_file(output);
    kepts_fini(&output->lasting);
    kepts_fini(&output->recent);
    WEFT_VEC_FINI(&output->buffer);
    for (size_t k = 0; k < output->files.n; k++)
        free(output->files.items[k]);
    WEFT_VEC_FINI(&output->files);
    free(output);
}

/* ---- pieces ------------------------------------------------------------------------------------
 */

/* Of the pairs of clocks the first lasts, so that a file has two, at least. */
static bool is_lasting(struct session_output *output, enum weft_piece_kind kind)
{
    const bool is_first_clock = kind == WEFT_PIECE_CLOCK && !output->has_clock;
    output->has_clock |= is_first_clock;
    return kind == WEFT_PIECE_META || is_first_clock || kind == WEFT_PIECE_PROCESS ||
           kind == WEFT_PIECE_MAPS || kind == WEFT_PIECE_BUILD || kind == WEFT_PIECE_FUNCTIONS ||
           kind == WEFT_PIECE_KERNEL_NAMES || kind == WEFT_PIECE_JIT;
}

/* False without memory. */
static bool keep(struct kepts *kepts, const uint8_t *bytes, size_t n_bytes, uint64_t time_ns)
{
    struct kept *place = WEFT_VEC_PUSH(kepts);
    if (!place)
        return false;
    place->bytes = malloc(n_bytes);
    if (!place->bytes) {
        kepts->n--;
        return false;
    }
    memcpy(place->bytes, bytes, n_bytes);
    place->n_bytes = n_bytes;
    place->time_ns = time_ns;
    return true;
}

/* Drops what is older than is kept, or more than fits. */
static void forget(struct session_output *output, uint64_t now_ns)
{
    struct kepts *recent = &output->recent;
    while (output->first < recent->n &&
           (output->recent_bytes > output->opts.size_bytes ||
            recent->items[output->first].time_ns + output->opts.snapshot_ns < now_ns)) {
        struct kept *piece = &recent->items[output->first++];
        output->recent_bytes -= piece->n_bytes;
        free(piece->bytes);
        piece->bytes = NULL;
    }
    if (output->first > recent->n / 2 && output->first > 0) {
        recent->n -= output->first;
        memmove(recent->items, recent->items + output->first, recent->n * sizeof *recent->items);
        output->first = 0;
    }
}

/* The piece in the buffer, from `at` on: where a flight recorder puts it. */
static bool keep_piece(struct session_output *output, enum weft_piece_kind kind, size_t at,
                       uint64_t time_ns)
{
    const uint8_t *bytes = output->buffer.items + at;
    const size_t n_bytes = output->buffer.n - at;
    bool is_good = true;
    /* Files of one recording, and snapshots of a flight recorder, begin with what lasts. */
    const bool is_needed = output->opts.snapshot_ns || output->opts.size_bytes;
    const bool lasts = is_needed && is_lasting(output, kind);
    if (lasts)
        is_good = keep(&output->lasting, bytes, n_bytes, time_ns);
    if (!output->opts.snapshot_ns)
        return is_good;
    if (!lasts) {
        is_good = keep(&output->recent, bytes, n_bytes, time_ns);
        output->recent_bytes += is_good ? n_bytes : 0;
        forget(output, time_ns);
    }
    output->buffer.n = at;
    return is_good;
}

static uint8_t *make_room(struct session_output *output, size_t n_bytes)
{
    if (!weft_vec_reserve(&output->buffer.items, &output->buffer.cap, output->buffer.n + n_bytes,
                          1))
        return NULL;
    uint8_t *at = output->buffer.items + output->buffer.n;
    output->buffer.n += n_bytes;
    return at;
}

/* Into the buffer, or the flight recorder's memory. */
static enum weft_code append(struct session_output *output, enum weft_piece_kind kind,
                             uint32_t stream, uint32_t pid, struct weft_str front,
                             struct weft_str payload, struct weft_err *err)
{
    const size_t at = output->buffer.n;
    const size_t n_payload = front.n_bytes + payload.n_bytes;
    const size_t n_padded = (n_payload + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct weft_piece_head head = { .magic = WEFT_PIECE_MAGIC,
                                    .kind = (uint16_t)kind,
                                    .stored_bytes = (uint32_t)n_payload,
                                    .raw_bytes = (uint32_t)n_payload,
                                    .stream = stream,
                                    .pid = pid,
                                    .time_ns = weft_clock_now_ns() };
    if (output->has_failed)
        output->unwritten_bytes += sizeof head + n_padded;
    if (output->has_failed || n_payload > WEFT_PIECE_BYTES_MAX)
        return WEFT_OK;
    uint8_t *bytes = make_room(output, sizeof head + n_padded);
    if (!bytes)
        return weft_no_memory(err, "a chunk");
    XXH3_state_t state;
    (void)XXH3_64bits_reset(&state);
    (void)XXH3_64bits_update(&state, &head, offsetof(struct weft_piece_head, checksum));
    (void)XXH3_64bits_update(&state, front.bytes, front.n_bytes);
    (void)XXH3_64bits_update(&state, payload.bytes, payload.n_bytes);
    head.checksum = XXH3_64bits_digest(&state);
    memcpy(bytes, &head, sizeof head);
    if (front.n_bytes)
        memcpy(bytes + sizeof head, front.bytes, front.n_bytes);
    if (payload.n_bytes)
        memcpy(bytes + sizeof head + front.n_bytes, payload.bytes, payload.n_bytes);
    memset(bytes + sizeof head + n_payload, 0, n_padded - n_payload);
    return keep_piece(output, kind, at, head.time_ns) ? WEFT_OK : weft_no_memory(err, "a chunk");
}

enum weft_code session_put(struct session_output *output, enum weft_piece_kind kind,
                           uint32_t stream, uint32_t pid, struct weft_str front,
                           struct weft_str payload, struct weft_err *err)
{
    const enum weft_code code = append(output, kind, stream, pid, front, payload, err);
    return code == WEFT_OK && output->buffer.n >= BUFFER_BYTES ? session_flush(output, err) : code;
}

/* Of pieces of which `n_written` bytes were written, how many bytes are whole pieces. */
static size_t whole_pieces(const uint8_t *bytes, size_t n_bytes, size_t n_written)
{
    struct weft_piece_head head;
    size_t n_whole = 0;
    while (n_bytes - n_whole >= sizeof head) {
        memcpy(&head, bytes + n_whole, sizeof head);
        const size_t n_piece =
            sizeof head + ((size_t)head.stored_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        if (n_piece > n_written - n_whole)
            break;
        n_whole += n_piece;
    }
    return n_whole;
}

/* The file's end behind `n_kept` bytes of the last ones: why nothing more is written. */
static bool put_stopped(struct session_output *output, size_t n_kept, size_t n_unwritten,
                        int reason)
{
    char text[160];
    struct weft_err unused = { 0 };
    if (ftruncate(output->file.fd, (off_t)(output->file_bytes + n_kept)) != 0)
        return false;
    const int n_text =
        snprintf(text, sizeof text, "stopped=%s\nunwritten=%zu\n", strerror(reason), n_unwritten);
    output->buffer.n = 0;
    enum weft_code code = session_put(output, WEFT_PIECE_META, 0, 0, WEFT_STR(""),
                                      (struct weft_str){ text, (size_t)n_text }, &unused);
    WEFT_THEN(code, session_put(output, WEFT_PIECE_END, 0, 0, WEFT_STR(""),
                                WEFT_STR("the file could take no more"), &unused));
    WEFT_THEN(code,
              weft_fd_write(output->file.fd, output->buffer.items, output->buffer.n, &unused));
    output->buffer.n = 0;
    output->file_bytes += code == WEFT_OK ? n_kept : 0;
    return code == WEFT_OK;
}

/* The file keeps its whole pieces; in the place of the torn one it says why it ends, as far as that
 * fits. */
static void end_torn(struct session_output *output, const uint8_t *bytes, size_t n_bytes,
                     int reason)
{
    struct stat about;
    if (fstat(output->file.fd, &about) != 0 || (uint64_t)about.st_size < output->file_bytes) {
        output->unwritten_bytes += n_bytes;
        return;
    }
    const uint64_t n_written = (uint64_t)about.st_size - output->file_bytes;
    const size_t n_whole =
        whole_pieces(bytes, n_bytes, n_written < n_bytes ? (size_t)n_written : n_bytes);
    /* Where the end does not fit behind them, the last pieces make room for it. */
    const size_t n_less =
        whole_pieces(bytes, n_bytes, n_whole > END_ROOM_BYTES ? n_whole - END_ROOM_BYTES : 0);
    output->opts.size_bytes = output->opts.snapshot_ns = 0;
    const bool has_all = put_stopped(output, n_whole, n_bytes - n_whole, reason);
    const bool is_ended = has_all || put_stopped(output, n_less, n_bytes - n_less, reason);
    output->file_bytes += is_ended ? 0 : n_less;
    output->unwritten_bytes += n_bytes - (has_all ? n_whole : n_less);
    output->all_bytes = output->file_bytes;
}

/* After a failure nothing more is written. */
static enum weft_code write_out(struct session_output *output, const void *bytes, size_t n_bytes,
                                struct weft_err *err)
{
    enum weft_code code = weft_fd_write(output->file.fd, bytes, n_bytes, err);
    const int reason = errno;
    if (!output->is_placed &&
        weft_fresh_place(&output->file, code == WEFT_OK ? err : NULL) == WEFT_OK)
        output->is_placed = true;
    else if (!output->is_placed)
        code = WEFT_E_IO;
    if (code != WEFT_OK) {
        end_torn(output, bytes, n_bytes, reason);
        output->has_failed = true;
        return weft_in_file(err, output->files.items[output->files.n - 1]);
    }
    output->file_bytes += n_bytes;
    output->all_bytes += n_bytes;
    return WEFT_OK;
}

/* A file that is full says so: one without an end is that of a recorder that was killed. */
static enum weft_code end_full(struct session_output *output, struct weft_err *err)
{
    const size_t n_before = output->buffer.n;
    enum weft_code code = append(output, WEFT_PIECE_END, 0, 0, WEFT_STR(""),
                                 WEFT_STR("the next file continues"), err);
    WEFT_THEN(code,
              write_out(output, output->buffer.items + n_before, output->buffer.n - n_before, err));
    output->buffer.n = n_before;
    end_file(output);
    return code;
}

enum weft_code session_flush(struct session_output *output, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    if (output->has_failed || output->opts.snapshot_ns || output->buffer.n == 0) {
        output->buffer.n = 0;
        return WEFT_OK;
    }
    const size_t n_bytes = output->buffer.n;
    if (output->opts.size_bytes && output->file_bytes + n_bytes > output->opts.size_bytes &&
        output->file_bytes > sizeof(struct weft_recording_head)) {
        code = end_full(output, err);
        WEFT_THEN(code, begin_file(output, err));
    }
    if (code == WEFT_OK)
        code = write_out(output, output->buffer.items, n_bytes, err);
    else
        output->unwritten_bytes += n_bytes;
    output->buffer.n = 0;
    return code;
}

enum weft_code session_snapshot(struct session_output *output, struct weft_str why,
                                const char **path, struct weft_err *err)
{
    *path = NULL;
    if (!output->opts.snapshot_ns || output->has_failed)
        return WEFT_OK;
    const uint64_t window_ns = output->opts.snapshot_ns;
    forget(output, weft_clock_now_ns());
    enum weft_code code = begin_file(output, err);
    for (size_t k = output->first; code == WEFT_OK && k < output->recent.n; k++)
        code =
            write_out(output, output->recent.items[k].bytes, output->recent.items[k].n_bytes, err);
    output->opts.snapshot_ns = 0; /* the end goes into the file */
    const uint64_t size_bytes = output->opts.size_bytes;
    output->opts.size_bytes = 0;
    WEFT_THEN(code, session_put(output, WEFT_PIECE_END, 0, 0, WEFT_STR("snapshot: "), why, err));
    WEFT_THEN(code, session_flush(output, err));
    output->opts.snapshot_ns = window_ns;
    output->opts.size_bytes = size_bytes;
    end_file(output);
    *path = output->files.items[output->files.n - 1];
    return code;
}

enum weft_code session_output_end(struct session_output *output, struct weft_str why,
                                  struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    if (!output->opts.snapshot_ns)
        code = session_put(output, WEFT_PIECE_END, 0, 0, WEFT_STR(""), why, err);
    WEFT_THEN(code, session_flush(output, err));
    end_file(output);
    return code;
}

uint64_t session_output_bytes(const struct session_output *output)
{
    return output->all_bytes + output->buffer.n + output->recent_bytes;
}

uint64_t session_output_unwritten(const struct session_output *output)
{
    return output->unwritten_bytes;
}

size_t session_output_n_files(const struct session_output *output)
{
    /* The last one has no name yet, and an older file has that, if nothing was written to it. */
    return output->files.n - (output->files.n > 0 && !output->is_placed);
}

const char *session_output_file(const struct session_output *output, size_t place)
{
    return output->files.items[place];
}
