/* SPDX-License-Identifier: MIT
 *
 * The XRay importer against slow_xray.h, on thousands of random logs of every version, whole and
 * damaged. Records are drawn near each other, so that threads interleave, buffers repeat and times
 * collide.
 */
#include "ingest/xray/xray.h"
#include "slow_xray.h"
#include "tap.h"
#include "xray_builder.h"

enum { ROUNDS = 6000, BUFFER_BYTES = 320 };

static uint64_t draw(uint64_t *state, uint64_t n)
{
    return tap_random(state) % n;
}

static void put_record(struct xb *log, uint64_t *state, uint64_t tsc)
{
    static const char payload[] = "payload of an event";
    uint32_t id = draw(state, 30) ? (uint32_t)draw(state, 5) : (uint32_t)draw(state, 1 << 28);
    uint32_t delta = draw(state, 20) ? (uint32_t)draw(state, 50) : (uint32_t)tap_random(state);
    uint32_t n_payload = (uint32_t)draw(state, sizeof payload);
    uint64_t time = log->version >= 5 ? delta : tsc + delta;
    switch (draw(state, 16)) {
    case 0:
        xb_custom(log, time, (unsigned)draw(state, 4), payload, n_payload);
        break;
    case 1:
        xb_typed(log, time, (unsigned)draw(state, 4), payload, n_payload);
        break;
    case 2:
        xb_wrap(log, tsc + draw(state, 1000));
        break;
    case 3:
        xb_cpu(log, (unsigned)draw(state, 3), tsc + draw(state, 1000));
        break;
    case 4:
        xb_argument(log, tap_random(state));
        break;
    case 5:
        xb_function(log, XB_ENTER_ARG, id, delta);
        xb_argument(log, tap_random(state));
        break;
    default:
        xb_function(log, (unsigned)draw(state, 3), id, delta);
        break;
    }
}

static void put_buffer(struct xb *log, uint64_t *state)
{
    uint64_t tsc = 5000 + draw(state, 40) * 50;
    size_t at = xb_begin_buffer(log);
    if (draw(state, 20))
        xb_head(log, (uint32_t)draw(state, 4), (uint32_t)draw(state, 2), 0, tsc);
    else
        xb_new_buffer(log, (uint32_t)draw(state, 4));
    for (uint64_t n = draw(state, 12); n && log->n_bytes - at < BUFFER_BYTES - 80; n--)
        put_record(log, state, tsc);
    xb_end_buffer(log, at, BUFFER_BYTES);
    if (draw(state, 6) == 0) { /* once more */
        size_t n_bytes = log->n_bytes - at;
        uint8_t copy[2 * BUFFER_BYTES];
        memcpy(copy, log->bytes + at, n_bytes);
        xb_bytes(log, copy, n_bytes);
    }
}

static void put_basic(struct xb *log, uint64_t *state)
{
    uint32_t tid = (uint32_t)draw(state, 3);
    uint32_t pid = (uint32_t)draw(state, 2);
    uint32_t id = (uint32_t)draw(state, 5);
    for (uint64_t n = draw(state, 6) + 1; n; n--) {
        if (draw(state, 6) == 0)
            xb_basic_argument(log, id, tap_random(state), tid, pid);
        else
            xb_basic(log, (unsigned)draw(state, 2), (unsigned)draw(state, 4), id,
                     5000 + log->n_bytes, tid, pid);
    }
}

/* Damage behind the header: flipped bits, bytes cut out or put in, the end cut off. */
static void damage(struct xb *log, uint64_t *state)
{
    if (log->n_bytes < 40)
        return;
    for (uint64_t n = draw(state, 4); n; n--)
        log->bytes[32 + draw(state, log->n_bytes - 32)] ^= (uint8_t)(1u << draw(state, 8));
    if (draw(state, 3) == 0) {
        size_t at = 32 + (size_t)draw(state, log->n_bytes - 32);
        size_t n_bytes = 1 + (size_t)draw(state, 24);
        n_bytes = n_bytes < log->n_bytes - at ? n_bytes : log->n_bytes - at;
        memmove(log->bytes + at, log->bytes + at + n_bytes, log->n_bytes - at - n_bytes);
        log->n_bytes -= n_bytes;
    }
    if (draw(state, 3) == 0)
        log->n_bytes = 32 + (size_t)draw(state, log->n_bytes - 32 + 1);
}

static void build(struct xb *log, uint64_t *state)
{
    static const uint64_t frequencies[] = { 1000000000, 2700000000, 2699999999,
                                            1000,       999999999,  24000000 };
    uint64_t frequency = frequencies[draw(state, sizeof frequencies / sizeof *frequencies)];
    bool is_fdr = draw(state, 4) != 0;
    unsigned version = 1 + (unsigned)draw(state, is_fdr ? 5 : 3);
    xb_header(log, version, is_fdr, frequency, BUFFER_BYTES);
    for (uint64_t n = draw(state, 10); n; n--) {
        if (is_fdr)
            put_buffer(log, state);
        else
            put_basic(log, state);
    }
}

/* Where two texts part, as a note. */
static void show_difference(const char *got, const char *want)
{
    size_t at = 0;
    while (got[at] && got[at] == want[at])
        at++;
    while (at && got[at - 1] != '\n')
        at--;
    tap_note("got  %.60s", got + at);
    tap_note("want %.60s", want + at);
}

static bool is_same(const struct xb *log, bool is_shown)
{
    uint8_t *bytes = malloc(log->n_bytes);
    memcpy(bytes, log->bytes, log->n_bytes);
    const struct weft_mapped file = { .bytes = bytes, .n_bytes = log->n_bytes };
    struct rec_sink rec;
    rec_init(&rec);
    struct weft_err err = { 0 };
    enum weft_code code = weft_xray_import(&file, NULL, &rec.sink, NULL, &err);
    char *got = rec_whole(&rec);
    char *want = slow_decode(bytes, log->n_bytes);
    bool is_good = code == WEFT_OK && strcmp(got, want) == 0;
    if (!is_good && is_shown)
        show_difference(got, want);
    free(got);
    free(want);
    free(bytes);
    rec_fini(&rec);
    return is_good;
}

int main(void)
{
    uint64_t seed = tap_seed(1);
    unsigned n_different = 0;
    unsigned n_damaged = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint64_t state = seed + round;
        struct xb log = { 0 };
        build(&log, &state);
        bool is_damaged = draw(&state, 2);
        if (is_damaged)
            damage(&log, &state);
        n_damaged += is_damaged;
        if (!is_same(&log, n_different < 5)) {
            n_different++;
            tap_note("WEFT_SEED=%" PRIu64 ": they differ", seed + round);
        }
        xb_fini(&log);
    }
    tap_eq_u64(n_different, 0, "%d random logs, %u of them damaged, decode as the slow way", ROUNDS,
               n_damaged);
    return tap_done();
}
