/* SPDX-License-Identifier: MIT
 *
 * Recognises and opens inputs. A plain file is mapped as it is; everything else streams through one
 * buffer, with unpack.h in between, into an unlinked temporary file. Damage in packed data loses
 * the rest of the input, not what came before; the loss becomes a note of the trace.
 */
#include "import/input.h"

#include "base/folder.h"
#include "import/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Not more a write: Linux keeps what one write brought as one large folio, and a map of it stays
 * resident as a whole while any of its pages is read (13 MB became 100 MB). */
enum { PIECE_BYTES = 1 << 16, POLL_MS = 100 };

/* An input on its way into the temporary file. */
struct intake {
    const struct weft_input_opts *opts;
    struct weft_input *input;
    struct weft_unpacker *unpacker; /* NULL: as it is */
    int fd;
    int temp_fd;
    bool is_file; /* reading never waits */
    bool was_asked, is_refused;
    uint8_t *in, *out;
    size_t n_in, n_out;
    uint64_t n_read, n_written;
};

/* ---- names ----------------------------------------------------------------------------------- */

size_t weft_input_stem(const char *name)
{
    static const char *const suffixes[] = { ".gz", ".zst", ".zstd" };
    const size_t n_bytes = strlen(name);
    for (size_t k = 0; k < sizeof suffixes / sizeof *suffixes; k++) {
        const size_t n_suffix = strlen(suffixes[k]);
        if (n_bytes > n_suffix && strcmp(name + n_bytes - n_suffix, suffixes[k]) == 0)
            return n_bytes - n_suffix;
    }
    return n_bytes;
}

static bool begins_with(const char *text, const char *begin)
{
    return strncmp(text, begin, strlen(begin)) == 0;
}

/* A name for what has none; NULL: it has one. */
static const char *stream_name(const char *path)
{
    if (strcmp(path, "-") == 0)
        return "stdin";
    return begins_with(path, "/dev/fd/") || begins_with(path, "/proc/self/fd/") ? "pipe" : NULL;
}

/* "dir/log.fdr.zst" is "log.fdr", "dir/trace/" is "trace". */
static char *name_of(const char *path)
{
    if (stream_name(path))
        return strdup(stream_name(path));
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/')
        end--;
    char *name = strndup(path, end);
    char *slash = name ? strrchr(name, '/') : NULL;
    if (slash && slash[1])
        memmove(name, slash + 1, strlen(slash));
    if (name)
        name[weft_input_stem(name)] = '\0';
    return name;
}

const char *weft_input_source(const struct weft_input *input)
{
    const char *slash = strrchr(input->path, '/');
    if (stream_name(input->path) || (slash && !slash[1]))
        return input->name;
    return slash ? slash + 1 : input->path;
}

/* ---- reading --------------------------------------------------------------------------------- */

static enum weft_code check_cancel(const struct intake *intake, struct weft_err *err)
{
    if (weft_progress_is_cancelled(intake->opts->progress))
        return weft_fail(err, WEFT_E_CANCELLED, WEFT_NO_OFFSET, "interrupted");
    return WEFT_OK;
}

/* Waits for bytes or the end, looking up now and then: a signal may reach another thread. */
static enum weft_code wait_for_bytes(const struct intake *intake, struct weft_err *err)
{
    struct pollfd wait = { .fd = intake->fd, .events = POLLIN };
    int n_ready = 0;
    while (n_ready == 0) {
        WEFT_TRY(check_cancel(intake, err));
        n_ready = poll(&wait, 1, POLL_MS);
        if (n_ready < 0 && errno == EINTR)
            n_ready = 0;
    }
    return n_ready > 0 ? WEFT_OK : weft_fail_errno(err, errno, "cannot wait for it");
}

/* Up to `n_room` bytes; 0 at the end. */
static enum weft_code read_some(struct intake *intake, uint8_t *bytes, size_t n_room, size_t *n,
                                struct weft_err *err)
{
    ssize_t n_read;
    do {
        WEFT_TRY(intake->is_file ? check_cancel(intake, err) : wait_for_bytes(intake, err));
        n_read = read(intake->fd, bytes, n_room);
    } while (n_read < 0 && (errno == EINTR || errno == EAGAIN));
    if (n_read < 0)
        return weft_fail_errno(err, errno, "cannot read");
    *n = (size_t)n_read;
    intake->n_read += *n;
    weft_progress_add(intake->opts->progress, *n);
    return WEFT_OK;
}

/* Fills the piece as far as its first `n_wanted` bytes, or to the end. */
static enum weft_code fill(struct intake *intake, size_t n_wanted, struct weft_err *err)
{
    while (intake->n_in < n_wanted) {
        size_t n;
        const enum weft_code code =
            read_some(intake, intake->in + intake->n_in, PIECE_BYTES - intake->n_in, &n, err);
        if (code != WEFT_OK || n == 0)
            return code;
        intake->n_in += n;
    }
    return WEFT_OK;
}

/* Reads what is left and lets it go, so that its size is known and no writer of a pipe fails. */
static enum weft_code drain(struct intake *intake, struct weft_err *err)
{
    size_t n;
    enum weft_code code;
    do
        code = read_some(intake, intake->in, PIECE_BYTES, &n, err);
    while (code == WEFT_OK && n > 0);
    return code;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* The first time, someone is asked whether it is worth it. */
static enum weft_code flush(struct intake *intake, struct weft_err *err)
{
    if (!intake->was_asked && intake->n_out > 0) {
        intake->was_asked = true;
        intake->is_refused =
            intake->opts->is_welcome && !intake->opts->is_welcome(intake->out, intake->n_out);
    }
    const enum weft_code code = weft_fd_write(intake->temp_fd, intake->out, intake->n_out, err);
    if (code != WEFT_OK)
        (void)weft_within(err, "temporary file beside %s", intake->opts->beside);
    intake->n_written += intake->n_out;
    intake->n_out = 0;
    return code;
}

/* Takes what is in the piece, as far as it goes. */
static enum weft_code unpack(struct intake *intake, struct weft_err *err)
{
    struct weft_unpack_io io = { .in = intake->in, .n_in = intake->n_in };
    enum weft_code code;
    do {
        code = intake->n_out == PIECE_BYTES ? flush(intake, err) : WEFT_OK;
        if (code != WEFT_OK || intake->is_refused)
            return code;
        io.out = intake->out + intake->n_out;
        io.n_room = PIECE_BYTES - intake->n_out;
        code = weft_unpacker_step(intake->unpacker, &io, err);
        intake->n_out = PIECE_BYTES - io.n_room;
    } while (code == WEFT_OK && io.n_room == 0);
    intake->n_in = io.n_in; /* not 0 only after damage */
    return code;
}

/* The piece becomes output as it is. */
static enum weft_code copy(struct intake *intake, struct weft_err *err)
{
    uint8_t *piece = intake->in;
    intake->in = intake->out;
    intake->out = piece;
    intake->n_out = intake->n_in;
    intake->n_in = 0;
    return flush(intake, err);
}

/* ---- packed bytes that did not come out ------------------------------------------------------ */

static enum weft_code note_loss(struct intake *intake, const char *packing, struct weft_err *err)
{
    struct weft_input_loss *loss = &intake->input->loss;
    const char *damage = weft_unpacker_damage(intake->unpacker);
    loss->is_any = true;
    loss->at_off = intake->n_read - intake->n_in;
    if (damage) {
        WEFT_TRY(drain(intake, err));
        loss->n_bytes = intake->n_read - loss->at_off;
        (void)snprintf(loss->detail, sizeof loss->detail,
                       "damaged %s data (%s): what stands before was imported", packing, damage);
    } else {
        (void)snprintf(loss->detail, sizeof loss->detail,
                       "%s data without their end: what there is was imported", packing);
    }
    loss->n_bytes += loss->n_bytes == 0;
    if (intake->n_written + intake->n_out > 0)
        return WEFT_OK;
    return weft_fail(err, damage ? WEFT_E_MALFORMED : WEFT_E_TRUNCATED, loss->at_off,
                     "expected %s data, found %s and nothing to import before", packing,
                     damage ? damage : "no end");
}

enum weft_code weft_input_note_loss(const struct weft_input *input, struct weft_sink *sink,
                                    struct weft_err *err)
{
    char detail[2 * WEFT_INPUT_DETAIL_BYTES];
    if (!input->loss.is_any)
        return WEFT_OK;
    (void)snprintf(detail, sizeof detail, "%s: %s", weft_input_source(input), input->loss.detail);
    const struct weft_note note = { .kind = WEFT_NOTE_TRUNCATED,
                                    .count = input->loss.n_bytes,
                                    .thread_id = WEFT_ID_NONE,
                                    .at_off = input->loss.at_off,
                                    .detail = weft_str_of(detail) };
    return sink->ops->note(sink, &note, err);
}

static enum weft_code unpack_all(struct intake *intake, enum weft_packing packing,
                                 struct weft_err *err)
{
    intake->unpacker = weft_unpacker_new(packing, intake->opts->memory_bytes);
    if (!intake->unpacker)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for a decoder of %s",
                         weft_packing_name(packing));
    enum weft_code code;
    do
        code = unpack(intake, err);
    while (code == WEFT_OK && !intake->is_refused && !weft_unpacker_damage(intake->unpacker) &&
           (code = fill(intake, 1, err)) == WEFT_OK && intake->n_in > 0);
    if (code == WEFT_OK && !intake->is_refused && !weft_unpacker_is_complete(intake->unpacker))
        code = note_loss(intake, weft_packing_name(packing), err);
    weft_unpacker_free(intake->unpacker);
    return code;
}

static enum weft_code copy_all(struct intake *intake, struct weft_err *err)
{
    enum weft_code code;
    do
        code = copy(intake, err);
    while (code == WEFT_OK && !intake->is_refused && (code = fill(intake, 1, err)) == WEFT_OK &&
           intake->n_in > 0);
    return code;
}

/* ---- the temporary file ---------------------------------------------------------------------- */

static enum weft_code take_in(struct intake *intake, uint64_t total, struct weft_err *err)
{
    struct weft_input *input = intake->input;
    enum weft_code code = fill(intake, WEFT_PACKING_LOOK_BYTES, err);
    if (code != WEFT_OK || intake->n_in == 0)
        return code;
    const enum weft_packing packing = weft_packing_of(intake->in, intake->n_in);
    weft_progress_start(intake->opts->progress, packing ? "unpacking" : "reading", "bytes", total);
    weft_progress_add(intake->opts->progress, intake->n_in);
    code = weft_temp_open(intake->opts->beside, &intake->temp_fd, err);
    WEFT_THEN(code, packing ? unpack_all(intake, packing, err) : copy_all(intake, err));
    WEFT_THEN(code, flush(intake, err));
    if (code == WEFT_OK && intake->n_written == 0)
        code = weft_fail(err, WEFT_E_TRUNCATED, 0, "expected a trace, found empty %s data",
                         weft_packing_name(packing));
    WEFT_THEN(code, weft_mapped_from_fd(intake->temp_fd, input->path, &input->file, err));
    input->given_bytes = intake->n_read;
    input->is_unpacked = packing != WEFT_PACKING_NONE;
    return code;
}

static enum weft_code stream(struct intake *intake, uint64_t total, struct weft_err *err)
{
    intake->temp_fd = -1;
    intake->in = malloc(PIECE_BYTES);
    intake->out = malloc(PIECE_BYTES);
    const enum weft_code code = intake->in && intake->out
                                    ? take_in(intake, total, err)
                                    : weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET,
                                                "no memory for reading %s", intake->input->name);
    if (intake->temp_fd >= 0)
        (void)close(intake->temp_fd);
    free(intake->in);
    free(intake->out);
    return code;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* A plain file is mapped as it is, unless it is packed, or someone has read from it already. */
static bool is_mappable(int fd, const struct stat *info)
{
    uint8_t look[WEFT_PACKING_LOOK_BYTES];
    if (!S_ISREG(info->st_mode) || info->st_size == 0 || lseek(fd, 0, SEEK_CUR) != 0)
        return false;
    const ssize_t n_bytes = pread(fd, look, sizeof look, 0);
    return n_bytes >= 0 && weft_packing_of(look, (size_t)n_bytes) == WEFT_PACKING_NONE;
}

static enum weft_code open_fd(int fd, const struct weft_input_opts *opts, struct weft_input *input,
                              struct weft_err *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return weft_fail_errno(err, errno, "cannot read its size");
    if (S_ISDIR(info.st_mode)) {
        input->is_folder = true;
        input->given_bytes = weft_folder_bytes(input->path);
        return WEFT_OK;
    }
    if (isatty(fd))
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "expected a trace, found a terminal");
    if (is_mappable(fd, &info)) {
        input->given_bytes = (uint64_t)info.st_size;
        return weft_mapped_from_fd(fd, input->path, &input->file, err);
    }
    struct intake intake = {
        .opts = opts, .input = input, .fd = fd, .is_file = S_ISREG(info.st_mode)
    };
    enum weft_code code = stream(&intake, (uint64_t)(intake.is_file ? info.st_size : 0), err);
    if (code == WEFT_OK && input->given_bytes == 0)
        code = weft_fail(err, WEFT_E_TRUNCATED, 0, "expected a trace, found an empty file");
    return code;
}

enum weft_code weft_input_open(const char *path, const struct weft_input_opts *opts,
                               struct weft_input *input, struct weft_err *err)
{
    *input = (struct weft_input){ .path = path, .name = name_of(path) };
    if (!input->name)
        return weft_no_memory(err, "the name of an input");
    const bool is_stdin = strcmp(path, "-") == 0;
    /* So that opening a named pipe does not wait where nothing can interrupt it. */
    const int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    enum weft_code code =
        fd >= 0 ? open_fd(fd, opts, input, err) : weft_fail_errno(err, errno, "cannot open");
    if (fd >= 0 && !is_stdin)
        (void)close(fd);
    if (code == WEFT_OK)
        return WEFT_OK;
    (void)weft_in_file(err, is_stdin ? "standard input" : path);
    weft_input_close(input);
    return code;
}

void weft_input_close(struct weft_input *input)
{
    weft_mapped_close(&input->file);
    free(input->name);
    input->name = NULL;
}
