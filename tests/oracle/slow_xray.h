/* SPDX-License-Identifier: MIT
 *
 * XRay logs decoded in the plainest way: one byte array, one record at a time, 128-bit division,
 * quadratic searches. Writes what recording_sink.h would have written. Shares no code with the
 * importer; docs/ingest/xray.md is its specification.
 */
#ifndef WEFT_TESTS_SLOW_XRAY_H
#define WEFT_TESTS_SLOW_XRAY_H

#include "recording_sink.h"

enum { SLOW_MOST = 4096 };

struct slow_loss {
    uint64_t count, at;
};

struct slow_losses {
    struct slow_loss duplicate, missing, bad;
};

/* A buffer of FDR records, or one record of basic mode. */
struct slow_part {
    uint64_t at, n_bytes, n_missing;
    uint64_t tid, pid, tsc; /* tsc: first absolute time stamp */
    bool has_tsc;           /* else it is not part of any thread */
    bool has_wall;
    uint64_t wall_us;
};

struct slow_thread {
    uint64_t tid, pid, tsc;
    struct slow_losses losses;
    struct rec_text text;
};

struct slow {
    const uint8_t *bytes;
    uint64_t n_bytes;
    unsigned version;
    uint64_t frequency_hz, buffer_bytes;
    struct slow_part parts[SLOW_MOST];
    size_t n_parts;   /* with a thread */
    size_t n_buffers; /* all */
    struct slow_thread threads[SLOW_MOST];
    size_t n_threads;
    struct slow_losses losses;
    uint64_t zero;
    /* Of the thread that is being written: */
    int cpu;
    bool takes_argument;
    uint64_t last_ns;
};

static uint64_t slow_get(const struct slow *s, uint64_t at, unsigned n_bytes)
{
    uint64_t value = 0;
    for (unsigned k = 0; k < n_bytes; k++)
        value |= (uint64_t)s->bytes[at + k] << 8 * k;
    return value;
}

static void slow_lose(struct slow_loss *loss, uint64_t count, uint64_t at)
{
    if (count && (!loss->count || at < loss->at))
        loss->at = at;
    loss->count += count;
}

static uint64_t slow_ns(const struct slow *s, uint64_t ticks)
{
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)ticks * 1000000000 / s->frequency_hz);
}

/* Ticks since zero; false when no log can span that. */
static bool slow_ticks(const struct slow *s, uint64_t tsc, uint64_t *ticks)
{
    __extension__ typedef unsigned __int128 wide;
    *ticks = tsc < s->zero ? 0 : tsc - s->zero;
    return *ticks < UINT64_C(1) << 62
               ? (wide)*ticks * 1000000000 <= ((wide)s->frequency_hz << 62)
               : *ticks == UINT64_C(1) << 62 && s->frequency_hz >= 1000000000;
}

/* ---- FDR --------------------------------------------------------------------------------------
 */

/* Bytes of the record at `at`, `left` bytes before the buffer's end; 0 if it does not fit (then
 * *is_short) or if no version has it. */
static uint64_t slow_record_bytes(const struct slow *s, uint64_t at, uint64_t left, bool *is_short)
{
    unsigned first = s->bytes[at];
    *is_short = left < (first & 1 ? 16 : 8);
    if (*is_short)
        return 0;
    if (!(first & 1))
        return 8;
    if (first >> 1 > 9 || first >> 1 == 7)
        return 0;
    if (first >> 1 != 5 && first >> 1 != 8)
        return 16;
    uint64_t n_payload = slow_get(s, at + 1, 4);
    if (n_payload > INT32_MAX)
        return 0;
    *is_short = n_payload > left - 16;
    return *is_short ? 0 : 16 + n_payload;
}

/* Finds thread and first time stamp. `is_lost` if events stand in it that have no time. */
static void slow_read_head(const struct slow *s, struct slow_part *part, bool *is_lost)
{
    uint64_t end = part->at + part->n_bytes;
    *is_lost = false;
    for (uint64_t at = part->at; at < end && !part->has_tsc;) {
        unsigned kind = s->bytes[at] & 1 ? s->bytes[at] >> 1 : 100;
        bool is_short;
        uint64_t n_bytes = slow_record_bytes(s, at, end - at, &is_short);
        bool is_event = kind == 5 || kind == 8;
        *is_lost |= kind == 100 || kind == 6 || is_event || n_bytes == 0;
        if ((at == part->at) != (kind == 0) || kind == 1) {
            *is_lost = true;
            return;
        }
        if (end - at >= 16 && (kind == 2 || kind == 3 || (is_event && s->version < 5))) {
            part->tsc = slow_get(s, at + (kind == 2 ? 3 : kind == 3 ? 1 : 5), 8);
            part->has_tsc = true;
        }
        if (n_bytes == 0)
            return;
        if (kind == 0)
            part->tid = slow_get(s, at + 1, 4);
        if (kind == 9)
            part->pid = slow_get(s, at + 1, 4);
        if (kind == 4 && !part->has_wall && slow_get(s, at + 1, 8) <= UINT64_C(1) << 32 &&
            slow_get(s, at + 9, 4) < 1000000) {
            part->has_wall = true;
            part->wall_us = slow_get(s, at + 1, 8) * 1000000 + slow_get(s, at + 9, 4);
        }
        at += n_bytes;
    }
}

static struct slow_thread *slow_thread_of(struct slow *s, const struct slow_part *part)
{
    for (size_t k = 0; k < s->n_threads; k++)
        if (s->threads[k].tid == part->tid && s->threads[k].pid == part->pid)
            return &s->threads[k];
    if (s->n_threads == SLOW_MOST)
        abort();
    s->threads[s->n_threads] =
        (struct slow_thread){ .tid = part->tid, .pid = part->pid, .tsc = part->tsc };
    return &s->threads[s->n_threads++];
}

static void slow_add_buffer(struct slow *s, uint64_t at, uint64_t n_bytes, uint64_t n_missing)
{
    struct slow_part part = { .at = at, .n_bytes = n_bytes, .n_missing = n_missing };
    bool is_lost;
    s->n_buffers++;
    slow_read_head(s, &part, &is_lost);
    struct slow_losses *losses = &s->losses;
    if (part.has_tsc) {
        struct slow_thread *thread = slow_thread_of(s, &part);
        if (part.tsc < thread->tsc)
            thread->tsc = part.tsc;
        losses = &thread->losses;
        if (s->n_parts == SLOW_MOST)
            abort();
        s->parts[s->n_parts++] = part;
    } else if (n_missing) {
        slow_lose(&losses->missing, n_bytes, at);
    } else if (is_lost) {
        slow_lose(&losses->bad, n_bytes, at);
    }
    slow_lose(&losses->missing, n_missing, at + n_bytes);
}

static bool slow_is_buffer(const struct slow *s, uint64_t at)
{
    return at == s->n_bytes ||
           (at < s->n_bytes && s->bytes[at] == 0x0f &&
            (at + 16 >= s->n_bytes || s->bytes[at + 16] == 0x01 || s->bytes[at + 16] == 0x0f));
}

static uint64_t slow_find_buffer(const struct slow *s, uint64_t at)
{
    for (; at + 33 <= s->n_bytes; at++)
        if (s->bytes[at] == 0x0f && s->bytes[at + 16] == 0x01 && s->bytes[at + 32] == 0x09)
            return at;
    return s->n_bytes;
}

static void slow_split(struct slow *s)
{
    uint64_t at = 32;
    while (at < s->n_bytes) {
        uint64_t left = s->n_bytes - at;
        if (s->version == 1) {
            uint64_t n_bytes = left < s->buffer_bytes ? left : s->buffer_bytes;
            slow_add_buffer(s, at, n_bytes, s->buffer_bytes - n_bytes);
            at += n_bytes;
            continue;
        }
        if (!slow_is_buffer(s, at)) {
            uint64_t found = slow_find_buffer(s, at);
            slow_lose(&s->losses.bad, found - at, at);
            at = found;
            continue;
        }
        if (left < 16) {
            slow_lose(&s->losses.missing, left, at);
            return;
        }
        uint64_t n_bytes = slow_get(s, at + 1, 8);
        uint64_t begin = at + 16;
        left -= 16;
        if (n_bytes <= left && slow_is_buffer(s, begin + n_bytes)) {
            if (n_bytes)
                slow_add_buffer(s, begin, n_bytes, 0);
            at = begin + n_bytes;
            continue;
        }
        uint64_t found = slow_find_buffer(s, begin);
        if (n_bytes > left && found == s->n_bytes && n_bytes <= s->buffer_bytes) {
            slow_add_buffer(s, begin, left, n_bytes - left);
        } else if (n_bytes < found - begin) {
            slow_lose(&s->losses.bad, found - begin - n_bytes, begin + n_bytes);
            slow_add_buffer(s, begin, n_bytes, 0);
        } else {
            slow_lose(&s->losses.bad, n_bytes > found - begin ? 16 : 0, at);
            slow_add_buffer(s, begin, found - begin, 0);
        }
        at = found;
    }
}

static void slow_time(struct slow *s, struct rec_text *text, uint64_t ticks)
{
    uint64_t ns = slow_ns(s, ticks);
    rec_add(text, " @%" PRIu64, ns);
    if (ns > s->last_ns)
        s->last_ns = ns;
}

static void slow_cpu(struct slow *s, struct rec_text *text, int cpu, uint64_t ticks)
{
    if (cpu == s->cpu)
        return;
    s->cpu = cpu;
    rec_add(text, "C cpu %d cpu %d", cpu, cpu);
    slow_time(s, text, ticks);
    rec_add(text, "\n");
}

/* Writes the records of one buffer; counts entries and exits. `text` NULL: only counts. */
static uint64_t slow_buffer(struct slow *s, const struct slow_part *part, struct rec_text *text,
                            struct slow_losses *losses)
{
    uint64_t end = part->at + part->n_bytes;
    uint64_t at = part->at;
    uint64_t ticks = 0;
    uint64_t n_calls = 0;
    bool has_ticks = false;
    s->takes_argument = false;
    while (at < end) {
        unsigned first = s->bytes[at];
        bool is_short;
        uint64_t n_bytes = slow_record_bytes(s, at, end - at, &is_short);
        bool is_bad = n_bytes == 0;
        if (!is_bad && !(first & 1)) {
            unsigned kind = first >> 1 & 7;
            if (kind > 3) {
                is_bad = true;
            } else if (!has_ticks) {
                slow_lose(&losses->bad, 8, at);
            } else {
                n_calls++;
                ticks += slow_get(s, at + 4, 4);
                rec_add(text, "%c %" PRIu64, "EXTE"[kind], slow_get(s, at, 4) >> 4);
                slow_time(s, text, ticks);
                rec_add(text, "\n");
                s->takes_argument = kind == 0 || kind == 3;
            }
        } else if (!is_bad) {
            unsigned kind = first >> 1;
            uint64_t stamp = 0;
            if (kind == 0) {
                is_bad = at != part->at;
            } else if (kind == 1) {
                at += 16;
                if (s->version == 1)
                    at = end;
                break;
            } else if (kind == 2 || kind == 3) {
                is_bad = !slow_ticks(s, slow_get(s, at + (kind == 2 ? 3 : 1), 8), &stamp);
                if (!is_bad) {
                    ticks = stamp;
                    has_ticks = true;
                    if (kind == 2)
                        slow_cpu(s, text, (int)slow_get(s, at + 1, 2), ticks);
                }
            } else if (kind == 6) {
                if (s->takes_argument)
                    rec_add(text, "A %" PRIu64 "\n", slow_get(s, at + 1, 8));
                else
                    slow_lose(&losses->bad, 16, at);
            } else if (kind == 5 || kind == 8) {
                int cpu = s->cpu;
                uint64_t value = 0;
                if (s->version < 5) {
                    is_bad = !slow_ticks(s, slow_get(s, at + 5, 8), &stamp);
                    if (kind == 5 && s->version == 4)
                        cpu = (int)slow_get(s, at + 13, 2);
                    if (kind == 8)
                        value = slow_get(s, at + 13, 2);
                } else {
                    int64_t delta = (int32_t)slow_get(s, at + 5, 4);
                    is_bad = !has_ticks;
                    stamp = delta < 0 && ticks < (uint64_t)-delta ? 0 : ticks + (uint64_t)delta;
                    if (!is_bad)
                        ticks = stamp;
                    if (kind == 8)
                        value = slow_get(s, at + 9, 2);
                }
                if (!is_bad) {
                    rec_add(text, "I %s event %" PRIu64 " cpu %d", kind == 5 ? "custom" : "typed",
                            value, cpu);
                    slow_time(s, text, stamp);
                    rec_add(text, " \"");
                    for (uint64_t k = 16; k < n_bytes; k++)
                        rec_add(text, "%02x", s->bytes[at + k]);
                    rec_add(text, "\"\n");
                    s->takes_argument = false;
                }
            }
        }
        if (is_bad) {
            slow_lose(is_short && part->n_missing ? &losses->missing : &losses->bad, end - at, at);
            return n_calls;
        }
        at += n_bytes;
    }
    slow_lose(&losses->bad, end - at, at);
    return n_calls;
}

/* ---- basic ------------------------------------------------------------------------------------
 */

/* One part a record; thread and time of bad ones are not known. */
static void slow_split_basic(struct slow *s)
{
    uint64_t at = 32;
    for (; at + 32 <= s->n_bytes; at += 32) {
        unsigned type = (unsigned)slow_get(s, at, 2);
        unsigned kind = s->bytes[at + 3];
        if (type > 1 || (type == 0 && kind > 3) || slow_get(s, at + 4, 4) > INT32_MAX) {
            slow_lose(&s->losses.bad, 32, at);
            continue;
        }
        struct slow_part part = { .at = at, .n_bytes = 32, .has_tsc = type == 0 };
        part.tid = slow_get(s, at + (type == 0 ? 16 : 8), 4);
        part.pid = s->version < 3 ? 0 : slow_get(s, at + (type == 0 ? 20 : 12), 4);
        part.tsc = type == 0 ? slow_get(s, at + 8, 8) : UINT64_MAX;
        struct slow_thread *thread = slow_thread_of(s, &part);
        if (part.tsc < thread->tsc)
            thread->tsc = part.tsc;
        if (s->n_parts == SLOW_MOST)
            abort();
        s->parts[s->n_parts++] = part;
    }
    slow_lose(&s->losses.missing, s->n_bytes - at, at);
}

static void slow_basic_record(struct slow *s, const struct slow_part *part, struct rec_text *text,
                              struct slow_losses *losses)
{
    uint64_t at = part->at;
    uint64_t ticks;
    if (s->bytes[at] == 1) {
        if (s->takes_argument)
            rec_add(text, "A %" PRIu64 "\n", slow_get(s, at + 16, 8));
        else
            slow_lose(&losses->bad, 32, at);
    } else if (!slow_ticks(s, part->tsc, &ticks)) {
        slow_lose(&losses->bad, 32, at);
    } else {
        unsigned kind = s->bytes[at + 3];
        slow_cpu(s, text, s->bytes[at + 2], ticks);
        rec_add(text, "%c %" PRIu64, "EXTE"[kind], slow_get(s, at + 4, 4));
        slow_time(s, text, ticks);
        rec_add(text, "\n");
        s->takes_argument = kind == 0 || kind == 3;
    }
}

/* ---- the whole --------------------------------------------------------------------------------
 */

static void slow_sort(struct slow *s, bool is_fdr)
{
    for (size_t i = 0; i < s->n_threads; i++) {
        for (size_t k = i + 1; k < s->n_threads; k++) {
            const struct slow_thread *a = &s->threads[i];
            const struct slow_thread *b = &s->threads[k];
            if (b->tsc < a->tsc ||
                (b->tsc == a->tsc && (b->tid < a->tid || (b->tid == a->tid && b->pid < a->pid)))) {
                struct slow_thread swap = *a;
                s->threads[i] = *b;
                s->threads[k] = swap;
            }
        }
    }
    for (size_t i = 1; is_fdr && i < s->n_parts; i++) { /* stable insertion by time stamp */
        struct slow_part part = s->parts[i];
        size_t k = i;
        for (; k > 0 && s->parts[k - 1].tsc > part.tsc; k--)
            s->parts[k] = s->parts[k - 1];
        s->parts[k] = part;
    }
}

static bool slow_is_copy(const struct slow *s, size_t part)
{
    const struct slow_part *b = &s->parts[part];
    for (size_t k = 0; k < part; k++) {
        const struct slow_part *a = &s->parts[k];
        if (a->tid == b->tid && a->pid == b->pid && a->tsc == b->tsc && a->n_bytes == b->n_bytes &&
            memcmp(s->bytes + a->at, s->bytes + b->at, a->n_bytes) == 0)
            return true;
    }
    return false;
}

static void slow_write_thread(struct slow *s, struct slow_thread *thread, bool is_fdr)
{
    s->cpu = -1;
    s->last_ns = 0;
    s->takes_argument = false;
    for (size_t k = 0; k < s->n_parts; k++) {
        const struct slow_part *part = &s->parts[k];
        if (part->tid != thread->tid || part->pid != thread->pid)
            continue;
        if (!is_fdr) {
            slow_basic_record(s, part, &thread->text, &thread->losses);
        } else if (slow_is_copy(s, k)) {
            struct rec_text unused = { 0 };
            struct slow_losses ignored = { 0 };
            int cpu = s->cpu;
            uint64_t last_ns = s->last_ns;
            slow_lose(&thread->losses.duplicate, slow_buffer(s, part, &unused, &ignored), part->at);
            s->cpu = cpu;
            s->last_ns = last_ns;
            free(unused.bytes);
        } else {
            (void)slow_buffer(s, part, &thread->text, &thread->losses);
        }
    }
    rec_add(&thread->text, "end @%" PRIu64 "\n", s->last_ns);
}

static void slow_note(struct rec_text *out, const char *name, const struct slow_loss *loss,
                      const char *thread)
{
    if (loss->count)
        rec_add(out, "note %s %" PRIu64 "%s at 0x%" PRIx64 "\n", name, loss->count, thread,
                loss->at);
}

static void slow_notes(struct rec_text *out, const struct slow_losses *losses, const char *thread)
{
    slow_note(out, "duplicate_buffer", &losses->duplicate, thread);
    slow_note(out, "truncated", &losses->missing, thread);
    slow_note(out, "bad_record", &losses->bad, thread);
}

static void slow_begin(struct slow *s, struct rec_text *out, bool is_fdr)
{
    rec_add(out, "begin xray-%s: version %u", is_fdr ? "fdr" : "basic", s->version);
    if (is_fdr)
        rec_add(out, ", %zu buffers", s->n_buffers);
    rec_add(out, ", %.3f GHz\nclock %" PRIu64 " zero %" PRIu64, (double)s->frequency_hz / 1e9,
            s->frequency_hz, s->zero);
    const struct slow_part *earliest = NULL;
    for (size_t k = 0; k < s->n_parts; k++) /* in order of time by now */
        if (s->parts[k].has_wall && !earliest)
            earliest = &s->parts[k];
    if (earliest && earliest->tsc == s->zero)
        rec_add(out, " monotonic %" PRIu64, earliest->wall_us * 1000);
    rec_add(out, "\n");
}

/* Decodes a log whose header is good, with both clock bits set; the caller frees the text. */
__attribute__((unused)) static char *slow_decode(const uint8_t *bytes, size_t n_bytes)
{
    struct slow *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    s->bytes = bytes;
    s->n_bytes = n_bytes;
    s->version = (unsigned)slow_get(s, 0, 2);
    bool is_fdr = slow_get(s, 2, 2) == 1;
    s->frequency_hz = slow_get(s, 8, 8);
    s->buffer_bytes = slow_get(s, 16, 8);
    if (is_fdr)
        slow_split(s);
    else
        slow_split_basic(s);
    slow_sort(s, is_fdr);
    s->zero = s->n_threads ? s->threads[0].tsc : 0;
    struct rec_text out = { 0 };
    slow_begin(s, &out, is_fdr);
    for (size_t k = 0; k < s->n_threads; k++) {
        slow_write_thread(s, &s->threads[k], is_fdr);
        rec_add(&out, "thread %zu tid %" PRIu64 " pid %" PRIu64 "\n", k, s->threads[k].tid,
                s->threads[k].pid);
    }
    slow_notes(&out, &s->losses, "");
    for (size_t k = 0; k < s->n_threads; k++) {
        char name[32];
        (void)snprintf(name, sizeof name, " thread %zu", k);
        slow_notes(&out, &s->threads[k].losses, name);
    }
    for (size_t k = 0; k < s->n_threads; k++) {
        rec_add(&out, "-- %zu\n%s", k, rec_str(&s->threads[k].text));
        free(s->threads[k].text.bytes);
    }
    free(s);
    return out.bytes;
}

#endif
