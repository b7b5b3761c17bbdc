/* SPDX-License-Identifier: MIT
 *
 * Files of released versions open for ever: each tests/data/store/NAME.weft against NAME.txt, all
 * that a reader shows of it. UPDATE_GOLDEN=1 rewrites the texts; the .weft files never change.
 */
#include "store/reader.h"
#include "tap.h"

static const char *const files[] = { "v1_small", "v1_events" };

struct text {
    char *bytes;
    size_t n, cap;
};

TAP_PRINTF(2, 3) static void put(struct text *text, const char *format, ...)
{
    if (text->cap - text->n < 1000)
        text->bytes = realloc(text->bytes, text->cap += 65536);
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(text->bytes + text->n, 1000, format, args);
    va_end(args);
    text->n += n > 0 ? (size_t)n : 0;
}

static void put_str(struct text *text, struct weft_str str)
{
    put(text, "\"%.*s\"", (int)str.n_bytes, str.bytes);
}

static void put_meta(struct text *text, const struct weft_store *store)
{
    const struct weft_store_meta *meta = weft_store_meta_get(store);
    put(text, "version %u format ", meta->version);
    put_str(text, meta->format);
    put_str(text, meta->details);
    put_str(text, meta->source_name);
    put(text, "\nclock %" PRIu64 " %" PRIu64 " %d %" PRIu64 "\n", meta->clock.frequency_hz,
        meta->clock.zero_ticks, meta->clock.has_realtime, meta->clock.realtime_ns);
    put(text,
        "bytes %" PRIu64 " %" PRIu64 " duration %" PRIu64 " calls %" PRIu64 " cut %" PRIu64
        " recovered %d\n",
        meta->bytes_in, meta->bytes_out, meta->duration_ns, meta->calls, meta->cut_calls,
        meta->is_recovered);
    for (uint32_t i = 0; i < meta->n_functions; i++) {
        const struct weft_store_function *function = weft_store_function_get(store, i);
        put(text, "function %" PRIu32 " key %" PRIu32 " at %" PRIu64 " ", i, function->key,
            function->address);
        put_str(text, function->name);
        put_str(text, function->module);
        put(text, "\n");
    }
    for (size_t i = 0; i < meta->n_notes; i++) {
        const struct weft_note *note = weft_store_note_get(store, i);
        put(text, "note %s %" PRIu64 " thread %" PRId32 " ", weft_note_name(note->kind),
            note->count, (int32_t)note->thread_id);
        put_str(text, note->detail);
        put(text, "\n");
    }
}

static void put_calls(struct text *text, const struct weft_calls *calls)
{
    for (size_t i = 0; i < calls->n_open; i++)
        put(text, "  open %zu function %" PRIu32 " %" PRIu64 "..%" PRIu64 " flags %" PRIu32 "\n", i,
            calls->open[i].function_id, calls->open[i].start_ns, calls->open[i].end_ns,
            calls->open[i].flags);
    for (size_t i = 0; i < calls->n_rows; i++)
        put(text,
            "  %" PRIu64 " function %" PRIu32 " depth %" PRIu32 " %" PRIu64 "..%" PRIu64
            " flags %u\n",
            calls->first_row + i, calls->function_id[i], calls->depth[i], calls->start_ns[i],
            calls->end_ns[i], calls->flags ? calls->flags[i] : 0u);
    for (size_t i = 0; i < calls->n_args; i++)
        put(text, "  argument of %" PRIu32 ": %" PRIu64 "\n", calls->arg_row[i],
            calls->arg_value[i]);
}

static void put_id(struct text *text, const char *name, uint32_t id)
{
    if (id != WEFT_ID_NONE)
        put(text, " %s %" PRIu32, name, id);
}

static void put_event(struct text *text, const struct weft_event *event)
{
    put(text, "  %s %" PRIu64 " for %" PRIu64 " value %" PRIu64, weft_event_kind_name(event->kind),
        event->time_ns, event->duration_ns, event->value);
    put_id(text, "to", event->next_thread_id);
    put_id(text, "object", event->object_id);
    put_id(text, "stack", event->stack_id);
    put(text, " cpu %" PRId32 " state %" PRIu32 " ", event->cpu, event->prev_state);
    put_str(text, event->name);
    put_str(text, event->category);
    put_str(text, event->payload);
    put(text, "\n");
}

static bool put_events(struct text *text, struct weft_store *store, uint32_t thread_id)
{
    const struct weft_store_thread *thread = weft_store_thread_get(store, thread_id);
    struct weft_event_buf *buf = weft_event_buf_new();
    bool is_good = buf != NULL;
    for (uint64_t i = 0; i < thread->n_event_blocks && is_good; i++) {
        const struct weft_event_block_info *info = weft_store_event_block_get(store, thread_id, i);
        const struct weft_event *events;
        size_t n_events;
        put(text, " events %" PRIu64 ": %" PRIu64 "..%" PRIu64 " kinds %" PRIx32 "\n", i,
            info->first_ns, info->last_ns, info->kinds);
        is_good =
            weft_store_load_events(store, thread_id, i, buf, &events, &n_events, NULL) == WEFT_OK;
        for (size_t j = 0; j < n_events && is_good; j++)
            put_event(text, &events[j]);
    }
    weft_event_buf_free(buf);
    return is_good;
}

static bool put_thread(struct text *text, struct weft_store *store, uint32_t thread_id)
{
    const struct weft_store_thread *thread = weft_store_thread_get(store, thread_id);
    struct weft_block_buf *buf = weft_block_buf_new();
    bool is_good = buf != NULL;
    put(text, "thread %" PRIu64 " of %" PRIu64 " ", thread->info.tid, thread->info.pid);
    put_str(text, thread->info.name);
    put(text, " calls %" PRIu64 " cut %" PRIu64 " %" PRIu64 "..%" PRIu64 " depth %" PRIu32 "\n",
        thread->calls, thread->cut_calls, thread->first_ns, thread->last_ns, thread->max_depth);
    for (uint64_t i = 0; i < thread->n_blocks && is_good; i++) {
        const struct weft_block_info *info = weft_store_block_get(store, thread_id, i);
        struct weft_calls calls;
        put(text,
            " block %" PRIu64 ": %" PRIu64 "..%" PRIu64 " longest %" PRIu64 " gap %" PRIu64
            " functions %" PRIu32 "\n",
            i, info->first_ns, info->last_ns, info->longest_call_ns, info->longest_gap_ns,
            info->n_functions);
        is_good = weft_store_load(store, thread_id, i, buf, &calls, NULL) == WEFT_OK;
        if (is_good)
            put_calls(text, &calls);
    }
    weft_block_buf_free(buf);
    return is_good;
}

static void file_check(const char *name)
{
    char path[200];
    (void)snprintf(path, sizeof path, "tests/data/store/%s.weft", name);
    struct weft_store *store;
    struct weft_err err = { 0 };
    if (!tap_ok(weft_store_open(path, &store, &err) == WEFT_OK, "%s opens", name)) {
        tap_note("%s", err.text);
        return;
    }
    struct text text = { 0 };
    put_meta(&text, store);
    bool is_good = true;
    for (uint32_t i = 0; i < weft_store_meta_get(store)->n_threads && is_good; i++)
        is_good = put_thread(&text, store, i) && put_events(&text, store, i);
    tap_ok(is_good, "%s: every block loads", name);
    (void)snprintf(path, sizeof path, "tests/data/store/%s.txt", name);
    if (getenv("UPDATE_GOLDEN")) {
        FILE *out = fopen(path, "wb");
        tap_ok(out && fwrite(text.bytes, 1, text.n, out) == text.n && fclose(out) == 0,
               "%s: text rewritten", name);
    }
    char *want = calloc(text.n + 2, 1);
    FILE *in = fopen(path, "rb");
    const size_t n_want = in ? fread(want, 1, text.n + 1, in) : 0;
    if (in)
        (void)fclose(in);
    tap_eq_u64(text.n, n_want, "%s: length of what is shown", name);
    tap_eq_mem(text.bytes, want, text.n < n_want ? text.n : n_want, "%s: what is shown", name);
    free(want);
    free(text.bytes);
    weft_store_close(store);
}

int main(void)
{
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        file_check(files[i]);
    return tap_done();
}
