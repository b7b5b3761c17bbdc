/* SPDX-License-Identifier: MIT
 *
 * The OpTrack importer against slow_optrack.h, on thousands of random sets of files, whole and
 * damaged. Times are drawn near each other, with steps back, so that runs touch and overlap.
 */
#include "ingest/optrack/optrack.h"
#include "optrack_builder.h"
#include "slow_optrack.h"
#include "tap.h"

enum { ROUNDS = 5000, MOST_FILES = 4 };

static uint64_t draw(uint64_t *state, uint64_t n)
{
    return tap_random(state) % n;
}

static void build(struct xb *file, uint64_t *state)
{
    uint64_t ticks = 5000 + draw(state, 5000);
    unsigned version = 2 + (unsigned)draw(state, 2);
    uint32_t ratio = draw(state, 4) ? 2699 : 100 + (uint32_t)draw(state, 99901);
    ob_header(file, version, (unsigned)draw(state, 2), ratio, 1795244700 + draw(state, 3));
    for (uint64_t n = draw(state, 40); n; n--) {
        ticks += draw(state, 30);
        if (draw(state, 12) == 0)
            ticks -= draw(state, 8) ? draw(state, 200) : draw(state, ticks + 1);
        if (draw(state, 400) == 0)
            ticks = tap_random(state);
        ob_record(file, ticks, draw(state, 30) ? (unsigned)draw(state, 4) : 65535,
                  draw(state, 60) ? (unsigned)draw(state, 2) : (unsigned)draw(state, 4));
    }
    if (draw(state, 10) == 0)
        xb_junk_to(file, file->n_bytes + draw(state, 16));
}

static void show_difference(const char *got, const char *want)
{
    size_t at = 0;
    while (got[at] && got[at] == want[at])
        at++;
    while (at && got[at - 1] != '\n')
        at--;
    tap_note("got  %.70s", got + at);
    tap_note("want %.70s", want + at);
}

static bool is_same(const struct xb *files, size_t n_files, bool is_shown)
{
    static struct so_file slow[MOST_FILES];
    struct weft_optrack_input inputs[MOST_FILES];
    char paths[MOST_FILES][32];
    memset(slow, 0, sizeof slow);
    for (size_t k = 0; k < n_files; k++) {
        uint8_t *bytes = malloc(files[k].n_bytes); /* exact size */
        memcpy(bytes, files[k].bytes, files[k].n_bytes);
        (void)snprintf(paths[k], sizeof paths[k], "d/optrack.0007.%04zu", k + 3);
        inputs[n_files - 1 - k] =
            (struct weft_optrack_input){ .file = { .bytes = bytes, .n_bytes = files[k].n_bytes },
                                         .path = paths[k] };
        slow[k].bytes = bytes;
        slow[k].n_bytes = files[k].n_bytes;
        slow[k].session = k + 3;
    }
    struct rec_sink rec;
    struct weft_err err = { 0 };
    rec_init(&rec);
    enum weft_code code = weft_optrack_import(inputs, n_files, NULL, &rec.sink, NULL, &err);
    char *got = rec_whole(&rec);
    char head[256];
    (void)snprintf(head, sizeof head, "%.*s\n", (int)strcspn(got, "\n"), got);
    char *want = slow_optrack(slow, n_files, head);
    bool is_good = code == WEFT_OK && strcmp(got, want) == 0 && rec.n_order_errors == 0;
    if (!is_good && is_shown)
        show_difference(got, want);
    free(got);
    free(want);
    rec_fini(&rec);
    for (size_t k = 0; k < n_files; k++)
        free((void *)(uintptr_t)inputs[k].file.bytes);
    return is_good;
}

int main(void)
{
    uint64_t seed = tap_seed(1);
    unsigned n_different = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint64_t state = seed + round;
        struct xb files[MOST_FILES] = { 0 };
        size_t n_files = 1 + (size_t)draw(&state, MOST_FILES);
        for (size_t k = 0; k < n_files; k++)
            build(&files[k], &state);
        if (!is_same(files, n_files, n_different < 5)) {
            n_different++;
            tap_note("WEFT_SEED=%" PRIu64 ": they differ", seed + round);
        }
        for (size_t k = 0; k < n_files; k++)
            xb_fini(&files[k]);
    }
    tap_eq_u64(n_different, 0, "%d random sets of files are read as the slow way", ROUNDS);
    return tap_done();
}
