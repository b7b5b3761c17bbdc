/* SPDX-License-Identifier: MIT
 *
 * The importer: two passes over the lines (kernel/readings.c). Lines with the same event name form
 * a class whose fields are those of its first line; known classes go to kernel/convert.h, others
 * become instants or samples. A stack belongs to the event line before it, so a line is converted
 * when the next one is read.
 */
#include "ingest/ftrace/ftrace.h"

#include "base/json_text.h"
#include "base/vec.h"
#include "ingest/ftrace/line.h"
#include "kernel/convert.h"

#include <stdlib.h>

/* Lines that are looked at to recognise the format; frames that are kept of a stack. */
enum { SNIFF_LINES = 200, MOST_FRAMES = 1024, STEP_LINES = 1 << 16 };

/* What is known of events of one name. */
struct event_class {
    struct kernel_field *fields; /* of the first line with that name */
    struct kernel_known known;
};

struct reader {
    const struct weft_mapped *file;
    struct kernel_convert kernel;
    struct weft_strtab *event_names;
    struct {
        struct event_class *items; /* by id of the name */
        size_t n, cap;
    } classes;
    struct weft_json_text json, stack;
    struct weft_str *frames; /* of the line in work, innermost first */
    size_t n_frames;
    struct ftrace_line line; /* in work: its stack may follow */
    bool has_line;
    enum kernel_abi abi; /* from a heading */
    bool has_zero;
    uint64_t zero_ns, last_ns;
    size_t at, done; /* the next line; where bytes begin that may be needed yet */
    uint64_t n_lines, n_events;
    /* What the notes say. */
    uint64_t n_unknown, unknown_off, n_lost, n_backward;
    bool has_idle;
};

/* ---- lines ----------------------------------------------------------------------------------- */

/* The next line from `at`, which moves behind it; false at the end. */
static bool next_line(const uint8_t *bytes, size_t n_bytes, size_t *at, struct weft_str *line)
{
    if (*at >= n_bytes)
        return false;
    const char *begin = (const char *)bytes + *at;
    const char *end = memchr(begin, '\n', n_bytes - *at);
    line->bytes = begin;
    line->n_bytes = end ? (size_t)(end - begin) : n_bytes - *at;
    *at += line->n_bytes + 1;
    return true;
}

bool weft_ftrace_sniff(const uint8_t *bytes, size_t n_bytes)
{
    struct weft_str text;
    struct ftrace_line line;
    size_t at = 0;
    for (unsigned k = 0; k < SNIFF_LINES && next_line(bytes, n_bytes, &at, &text); k++) {
        if (ftrace_line_read(text, &line))
            return true;
        if (!ftrace_line_is_heading(text) && ftrace_line_lost(text) == 0)
            return false;
    }
    return false;
}

/* ---- kinds of events ------------------------------------------------------------------------- */

static enum kernel_field_kind kind_of(const struct ftrace_field *field)
{
    uint64_t number;
    return ftrace_field_number(field, &number) ? KERNEL_FIELD_NUMBER : KERNEL_FIELD_TEXT;
}

/* ftrace prints no providers; some names mean something with theirs only. */
static const char *provider_of(struct weft_str name, const struct ftrace_fields *fields)
{
    if (name.n_bytes && memchr(name.bytes, ':', name.n_bytes))
        return "";
    if (weft_str_is_one_of(name, "sys_enter|sys_exit"))
        return "raw_syscalls:";
    const bool has_vector =
        fields->n == 1 && weft_str_equal(fields->items[0].name, WEFT_STR("vector"));
    return has_vector ? "irq_vectors:" : "";
}

static struct weft_str base_name(struct weft_str event)
{
    const char *colon = event.n_bytes ? memchr(event.bytes, ':', event.n_bytes) : NULL;
    const size_t n_front = colon ? (size_t)(colon + 1 - event.bytes) : 0;
    return (struct weft_str){ event.bytes + n_front, event.n_bytes - n_front };
}

/* ftrace prints system calls as sys_read(...) and sys_read -> value. */
static struct weft_str known_name(const struct ftrace_line *line, char *room, size_t n_room)
{
    const struct weft_str event = line->event;
    const struct weft_str fields = line->fields;
    if (event.n_bytes <= 4 || memcmp(event.bytes, "sys_", 4) != 0 || event.n_bytes + 8 > n_room ||
        fields.n_bytes < 2 || memcmp(fields.bytes, "->", 2) != 0)
        return event;
    memcpy(room, "sys_exit_", 9);
    memcpy(room + 9, event.bytes + 4, event.n_bytes - 4);
    return (struct weft_str){ room, event.n_bytes + 5 };
}

/* The name as the kernel has it: "irq_vectors:local_timer_entry"; it stays. */
static bool whole_name(struct reader *reader, struct weft_str name,
                       const struct ftrace_fields *fields, struct weft_str *whole)
{
    struct weft_strtab *names = reader->kernel.threads.names;
    const char *provider = provider_of(name, fields);
    uint32_t id;
    weft_json_reset(&reader->json);
    weft_json_put(&reader->json, provider, strlen(provider));
    weft_json_put(&reader->json, name.bytes, name.n_bytes);
    const struct weft_str text = { reader->json.bytes, reader->json.n_bytes };
    if (reader->json.has_failed || weft_strtab_intern(names, text, &id, NULL) != WEFT_OK)
        return false;
    *whole = weft_strtab_get(names, id);
    return true;
}

static enum weft_code class_make(struct reader *reader, struct event_class *class,
                                 struct weft_str name, const struct ftrace_fields *fields)
{
    struct kernel_class about = { .n_fields = fields->n, .is_kernel = true };
    about.fields = class->fields = calloc((size_t)fields->n + 1, sizeof *class->fields);
    if (!class->fields || !whole_name(reader, name, fields, &about.name))
        return kernel_no_memory(&reader->kernel);
    for (uint32_t k = 0; k < fields->n; k++)
        class->fields[k] =
            (struct kernel_field){ fields->items[k].name, kind_of(&fields->items[k]) };
    kernel_known_make(&about, &class->known);
    return weft_strtab_intern(reader->kernel.threads.names, class->known.name,
                              &class->known.name_id, NULL) == WEFT_OK
               ? WEFT_OK
               : kernel_no_memory(&reader->kernel);
}

/* The class of the event in work; its fields are those of the first line with its name. */
static enum weft_code class_of(struct reader *reader, struct weft_str name,
                               const struct ftrace_fields *fields, struct event_class **class)
{
    uint32_t id;
    if (weft_strtab_intern(reader->event_names, name, &id, NULL) != WEFT_OK)
        return kernel_no_memory(&reader->kernel);
    if (id < reader->classes.n) {
        *class = &reader->classes.items[id];
        return WEFT_OK;
    }
    *class = WEFT_VEC_PUSH(&reader->classes);
    if (!*class)
        return kernel_no_memory(&reader->kernel);
    return class_make(reader, *class, weft_strtab_get(reader->event_names, id), fields);
}

static const struct ftrace_field *field_find(const struct ftrace_fields *fields,
                                             struct weft_str name)
{
    for (uint32_t k = 0; k < fields->n; k++)
        if (weft_str_equal(fields->items[k].name, name))
            return &fields->items[k];
    return NULL;
}

static void fields_fill(const struct event_class *class, const struct ftrace_fields *fields,
                        struct kernel_now *now)
{
    for (size_t k = 0; k < KERNEL_FIELDS; k++) {
        const uint32_t place = class->known.fields[k];
        const struct ftrace_field *field =
            place == KERNEL_NO_FIELD ? NULL : field_find(fields, class->fields[place].name);
        if (!field)
            continue;
        const bool is_number = ftrace_field_number(field, &now->numbers[k]);
        if (!is_number || class->fields[place].kind == KERNEL_FIELD_TEXT)
            now->texts[k] = field->value;
    }
}

/* ---- events ---------------------------------------------------------------------------------- */

/* The stack as perf's: outermost first. */
static bool stack_text(struct reader *reader, struct weft_str *text)
{
    struct weft_json_text *stack = &reader->stack;
    weft_json_reset(stack);
    if (reader->n_frames == 0 && reader->line.symbol.n_bytes)
        reader->frames[reader->n_frames++] = reader->line.symbol;
    for (size_t k = reader->n_frames; k-- > 0;) {
        weft_json_put(stack, reader->frames[k].bytes, reader->frames[k].n_bytes);
        if (k > 0)
            weft_json_byte(stack, ';');
    }
    *text = (struct weft_str){ stack->bytes, stack->n_bytes };
    return !stack->has_failed;
}

/* A stack below an event of the kernel has no weight: it says where, not how long. */
static enum weft_code deliver_stack(struct reader *reader, const struct kernel_now *now,
                                    bool is_sample)
{
    struct weft_event event = kernel_event_of(now, WEFT_EVENT_SAMPLE);
    if (reader->n_frames == 0 && !is_sample)
        return WEFT_OK;
    if (!stack_text(reader, &event.name))
        return kernel_no_memory(&reader->kernel);
    event.category = reader->line.event;
    event.value = is_sample ? reader->line.period : 0;
    return kernel_deliver(&reader->kernel, now->thread, &event);
}

static void json_fields(struct weft_json_text *json, const struct ftrace_fields *fields)
{
    weft_json_byte(json, '{');
    for (uint32_t k = 0; k < fields->n; k++) {
        const struct ftrace_field *field = &fields->items[k];
        if (k)
            weft_json_byte(json, ',');
        weft_json_string(json, field->name.bytes, field->name.n_bytes);
        weft_json_byte(json, ':');
        weft_json_string(json, field->value.bytes, field->value.n_bytes);
    }
    weft_json_byte(json, '}');
}

static enum weft_code deliver_instant(struct reader *reader, const struct kernel_now *now,
                                      const struct ftrace_fields *fields)
{
    struct weft_event event = kernel_event_of(now, WEFT_EVENT_INSTANT);
    const struct ftrace_field whole = { WEFT_STR("text"), reader->line.fields };
    const struct ftrace_fields text = { .items = { whole }, .n = reader->line.fields.n_bytes > 0 };
    weft_json_reset(&reader->json);
    json_fields(&reader->json, fields->n ? fields : &text);
    if (reader->json.has_failed)
        return kernel_no_memory(&reader->kernel);
    event.name = reader->line.event;
    event.payload = (struct weft_str){ reader->json.bytes, reader->json.n_bytes };
    return kernel_deliver(&reader->kernel, now->thread, &event);
}

static enum weft_code find_thread(struct reader *reader, struct kernel_now *now)
{
    const struct ftrace_line *line = &reader->line;
    const struct kernel_details details = { .tid = (uint64_t)line->tid,
                                            .pid = (uint64_t)line->pid,
                                            .has_tid = line->tid >= 0,
                                            .has_pid = line->pid > 0,
                                            .comm = line->comm };
    struct kernel_cpu *cpu = kernel_cpu_of(&reader->kernel.threads, 0, now->cpu);
    if (cpu)
        return kernel_find_thread(&reader->kernel, now, cpu, &details);
    now->thread =
        details.has_tid
            ? kernel_thread_of(&reader->kernel.threads, 0, details.tid, -1, false)
            : kernel_thread_pseudo(&reader->kernel.threads, 0, 0, 0, 0, WEFT_STR("unknown thread"));
    return now->thread == WEFT_ID_NONE
               ? kernel_no_memory(&reader->kernel)
               : kernel_thread_details(&reader->kernel, now->thread, &details);
}

/* Time of the event; one that is earlier than the one before it gets that one's. */
static uint64_t time_of(struct reader *reader)
{
    const uint64_t time_ns = reader->line.time_ns;
    if (!reader->has_zero) {
        reader->has_zero = true;
        reader->zero_ns = reader->last_ns = time_ns;
    }
    if (time_ns < reader->last_ns)
        reader->n_backward += !reader->kernel.is_survey;
    else
        reader->last_ns = time_ns;
    return kernel_time_since(reader->last_ns, reader->zero_ns);
}

/* The line in work and its stack are complete. */
static enum weft_code line_end(struct reader *reader)
{
    struct kernel_now now = { .time_ns = time_of(reader),
                              .cpu = reader->line.cpu,
                              .abi = reader->abi };
    struct ftrace_fields fields;
    struct event_class *class = NULL;
    char room[128];
    const struct weft_str name = known_name(&reader->line, room, sizeof room);
    reader->has_line = false;
    ftrace_fields_read(base_name(name), reader->line.fields, &fields);
    WEFT_TRY(class_of(reader, name, &fields, &class));
    now.known = &class->known;
    fields_fill(class, &fields, &now);
    reader->has_idle |= reader->line.tid == 0;
    const bool is_known = class->known.meaning != KERNEL_MEANS_INSTANT;
    const bool is_sample = !is_known && reader->line.fields.n_bytes == 0 &&
                           (reader->n_frames > 0 || reader->line.symbol.n_bytes > 0);
    enum weft_code code = find_thread(reader, &now);
    WEFT_THEN(code, deliver_stack(reader, &now, is_sample));
    if (code == WEFT_OK && is_known)
        code = kernel_convert_event(&reader->kernel, &now);
    if (code == WEFT_OK && kernel_is_point(now.known) && !is_sample)
        code = deliver_instant(reader, &now, &fields);
    reader->n_events++;
    return code;
}

/* ---- the text -------------------------------------------------------------------------------- */

static enum weft_code read_line(struct reader *reader, struct weft_str text, size_t off)
{
    struct ftrace_line line;
    struct weft_str symbol;
    enum weft_code code = WEFT_OK;
    const bool is_event = ftrace_line_read(text, &line);
    if (!is_event && reader->has_line && ftrace_line_frame(text, &symbol)) {
        if (reader->n_frames < MOST_FRAMES)
            reader->frames[reader->n_frames++] = symbol;
        return WEFT_OK;
    }
    if (reader->has_line)
        code = line_end(reader);
    reader->n_frames = 0;
    reader->has_line = is_event;
    reader->line = line;
    const struct weft_str machine = is_event ? WEFT_STR("") : ftrace_line_machine(text);
    if (machine.n_bytes > 0)
        reader->abi = kernel_abi_of(machine);
    if (is_event || reader->kernel.is_survey || ftrace_line_is_heading(text))
        return code;
    const uint64_t n_lost = ftrace_line_lost(text);
    reader->n_lost += n_lost;
    if (n_lost == 0 && reader->n_unknown++ == 0)
        reader->unknown_off = off;
    return code;
}

/* Takes one line; behind the last one the event that it is of ends. */
static enum weft_code read_next(void *importer, bool *is_end)
{
    struct reader *reader = importer;
    const struct weft_mapped *file = reader->file;
    struct weft_str text;
    const size_t off = reader->at;
    *is_end = !next_line(file->bytes, (size_t)file->n_bytes, &reader->at, &text);
    if (*is_end)
        return reader->has_line ? line_end(reader) : WEFT_OK;
    if (++reader->n_lines % STEP_LINES == 0) {
        weft_mapped_done(file, reader->done, off - reader->done);
        reader->done = off;
    }
    return read_line(reader, text, off);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static enum weft_code announce(struct reader *reader)
{
    struct weft_sink *sink = reader->kernel.sink;
    const struct weft_sink_begin begin = { .format = WEFT_STR("ftrace-text") };
    const struct weft_clock clock = { .frequency_hz = UINT64_C(1000000000),
                                      .zero_ticks = reader->zero_ns };
    enum weft_code code = sink->ops->begin(sink, &begin, reader->kernel.err);
    WEFT_THEN(code, sink->ops->clock(sink, &clock, reader->kernel.err));
    return code;
}

static enum weft_code rewind_all(void *importer)
{
    struct reader *reader = importer;
    if (reader->n_events == 0)
        return weft_fail(reader->kernel.err, WEFT_E_MALFORMED, 0,
                         "expected events as perf script or ftrace print them, found none");
    reader->n_lines = reader->n_events = 0;
    reader->at = reader->done = reader->n_frames = 0;
    reader->has_zero = false;
    return announce(reader);
}

static enum weft_code note_all(struct reader *reader)
{
    struct kernel_convert *kernel = &reader->kernel;
    /* Of one process alone all but its own switches are missing anyway. */
    const uint64_t n_inferred = reader->has_idle ? kernel->threads.n_inferred : 0;
    enum weft_code code = kernel_note(kernel, WEFT_NOTE_UNKNOWN_RECORD, reader->n_unknown,
                                      reader->unknown_off, "lines that are no events");
    WEFT_THEN(code,
              kernel_note(kernel, WEFT_NOTE_LOST_RECORDS, reader->n_lost, WEFT_NO_OFFSET, ""));
    WEFT_THEN(code, kernel_note(kernel, WEFT_NOTE_LOST_SWITCHES, n_inferred, WEFT_NO_OFFSET, ""));
    WEFT_THEN(code,
              kernel_note(kernel, WEFT_NOTE_TIME_BACKWARD, reader->n_backward, WEFT_NO_OFFSET, ""));
    return code;
}

static enum weft_code import_all(struct reader *reader, const struct weft_run *run)
{
    const struct kernel_readings readings = {
        .importer = reader, .next = read_next, .rewind = rewind_all, .unit = "lines"
    };
    const enum weft_code code = kernel_read_twice(&reader->kernel, &readings, run);
    return code == WEFT_OK ? note_all(reader) : code;
}

static void reader_fini(struct reader *reader)
{
    for (size_t k = 0; k < reader->classes.n; k++)
        free(reader->classes.items[k].fields);
    WEFT_VEC_FINI(&reader->classes);
    weft_strtab_free(reader->event_names);
    kernel_threads_fini(&reader->kernel.threads);
    weft_json_fini(&reader->json);
    weft_json_fini(&reader->stack);
    free(reader->frames);
}

enum weft_code weft_ftrace_import(const struct weft_mapped *file, struct weft_sink *sink,
                                  const struct weft_run *run, struct weft_err *err)
{
    struct weft_err local = { 0 };
    struct reader reader = { .file = file,
                             .kernel = { .sink = sink, .err = err ? err : &local },
                             .event_names = weft_strtab_new(),
                             .frames = calloc(MOST_FRAMES, sizeof *reader.frames) };
    const bool has_threads = kernel_threads_init(&reader.kernel.threads);
    const enum weft_code code = has_threads && reader.event_names && reader.frames
                                    ? import_all(&reader, run)
                                    : kernel_no_memory(&reader.kernel);
    reader_fini(&reader);
    return code;
}
