/* SPDX-License-Identifier: MIT
 *
 * A filter between an importer and the writer: functions with an address and no name are looked up
 * by the symbol files (symbols.h), all other calls of the sink are passed on unchanged. Functions
 * that stay unnamed are counted for each module and become notes.
 */
#include "import/naming.h"

#include "base/vec.h"
#include "symbols/symbols.h"

#include <stdio.h>
#include <stdlib.h>

/* More modules than these are noted in one sum. */
enum { MOST_NOTES = 16 };

struct weft_naming {
    struct weft_sink sink; /* first: the sink is the naming */
    struct weft_sink *below;
    struct weft_symbols *symbols;
    struct {
        uint64_t *items; /* by module: functions without a name */
        size_t n, cap;
    } unnamed;
};

static struct weft_naming *naming_of(struct weft_sink *sink)
{
    return (struct weft_naming *)sink;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* True if the function is called after its place only, as an earlier import named it. */
static bool is_nameless(const struct weft_function_info *info)
{
    char place[320];
    if (info->name.n_bytes == 0)
        return info->address != 0 || info->module.n_bytes != 0;
    if (info->address == 0)
        return false;
    const size_t n_place =
        weft_symbols_place_name(info->module, info->address, place, sizeof place);
    return weft_str_equal(info->name, (struct weft_str){ place, n_place });
}

static enum weft_code count_unnamed(struct weft_naming *naming, uint32_t module,
                                    struct weft_err *err)
{
    while (naming->unnamed.n <= module)
        if (!WEFT_VEC_PUSH(&naming->unnamed))
            return weft_no_memory(err, "symbols");
    naming->unnamed.items[module]++;
    return WEFT_OK;
}

static enum weft_code function(struct weft_sink *sink, const struct weft_function_info *info,
                               struct weft_err *err)
{
    struct weft_naming *naming = naming_of(sink);
    struct weft_function_info named = *info;
    enum weft_code code = WEFT_OK;
    char place[320];
    if (!is_nameless(info))
        return naming->below->ops->function(naming->below, info, err);
    named.name = WEFT_STR("");
    if (info->module.n_bytes) {
        uint32_t module;
        code = weft_symbols_module(naming->symbols, info->module, info->build_id, &module, err);
        if (code == WEFT_OK)
            named.name = weft_symbols_name(naming->symbols, module, info->address);
        if (code == WEFT_OK && named.name.n_bytes == 0)
            code = count_unnamed(naming, module, err);
    }
    if (named.name.n_bytes == 0)
        named.name = (struct weft_str){ place, weft_symbols_place_name(info->module, info->address,
                                                                       place, sizeof place) };
    return code == WEFT_OK ? naming->below->ops->function(naming->below, &named, err) : code;
}

/* ---- what could not be named ----------------------------------------------------------------- */

static enum weft_code note_module(struct weft_naming *naming, uint32_t module, struct weft_err *err)
{
    char detail[512];
    const struct weft_str path = weft_symbols_path(naming->symbols, module);
    const int n_detail =
        snprintf(detail, sizeof detail, "%.*s: %s", (int)(path.n_bytes < 256 ? path.n_bytes : 256),
                 path.bytes, weft_symbols_why(weft_symbols_state(naming->symbols, module)));
    const struct weft_note note = { .kind = WEFT_NOTE_UNNAMED_FUNCTION,
                                    .count = naming->unnamed.items[module],
                                    .thread_id = WEFT_ID_NONE,
                                    .at_off = WEFT_NO_OFFSET,
                                    .detail = { detail, (size_t)n_detail } };
    return naming->below->ops->note(naming->below, &note, err);
}

enum weft_code weft_naming_note(struct weft_naming *naming, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    struct weft_note rest = { .kind = WEFT_NOTE_UNNAMED_FUNCTION,
                              .thread_id = WEFT_ID_NONE,
                              .at_off = WEFT_NO_OFFSET,
                              .detail = WEFT_STR("of further programs and libraries") };
    size_t n_noted = 0;
    for (uint32_t k = 0; k < naming->unnamed.n && code == WEFT_OK; k++) {
        if (naming->unnamed.items[k] == 0)
            continue;
        if (n_noted++ < MOST_NOTES)
            code = note_module(naming, k, err);
        else
            rest.count += naming->unnamed.items[k];
    }
    if (code == WEFT_OK && rest.count)
        code = naming->below->ops->note(naming->below, &rest, err);
    return code;
}

/* ---- calls that are passed on ---------------------------------------------------------------- */

static enum weft_code begin(struct weft_sink *sink, const struct weft_sink_begin *about,
                            struct weft_err *err)
{
    struct weft_sink *below = naming_of(sink)->below;
    return below->ops->begin(below, about, err);
}

static enum weft_code clock_is(struct weft_sink *sink, const struct weft_clock *clock,
                               struct weft_err *err)
{
    struct weft_sink *below = naming_of(sink)->below;
    return below->ops->clock(below, clock, err);
}

static enum weft_code thread(struct weft_sink *sink, const struct weft_thread_info *info,
                             uint32_t *thread_id, struct weft_err *err)
{
    struct weft_sink *below = naming_of(sink)->below;
    return below->ops->thread(below, info, thread_id, err);
}

static enum weft_code calls(struct weft_sink *sink, uint32_t thread_id,
                            const struct weft_call_event *items, size_t n_items,
                            struct weft_err *err)
{
    struct weft_sink *below = naming_of(sink)->below;
    return below->ops->calls(below, thread_id, items, n_items, err);
}

static enum weft_code events(struct weft_sink *sink, uint32_t thread_id,
                             const struct weft_event *items, size_t n_items, struct weft_err *err)
{
    struct weft_sink *below = naming_of(sink)->below;
    return below->ops->events(below, thread_id, items, n_items, err);
}

static enum weft_code thread_end(struct weft_sink *sink, uint32_t thread_id, uint64_t last_ns,
                                 struct weft_err *err)
{
    struct weft_sink *below = naming_of(sink)->below;
    return below->ops->thread_end(below, thread_id, last_ns, err);
}

static enum weft_code note(struct weft_sink *sink, const struct weft_note *about,
                           struct weft_err *err)
{
    struct weft_sink *below = naming_of(sink)->below;
    if (about->kind == WEFT_NOTE_UNNAMED_FUNCTION && about->detail.n_bytes)
        return WEFT_OK; /* of an earlier import: counted again */
    return below->ops->note(below, about, err);
}

static enum weft_code object(struct weft_sink *sink, const struct weft_object_info *info,
                             struct weft_err *err)
{
    return weft_sink_object(naming_of(sink)->below, info, err);
}

static enum weft_code library(struct weft_sink *sink, const struct weft_library_function *function,
                              struct weft_err *err)
{
    return weft_sink_library(naming_of(sink)->below, function, err);
}

static enum weft_code process(struct weft_sink *sink, const struct weft_ledger_process *info,
                              struct weft_err *err)
{
    return weft_sink_process(naming_of(sink)->below, info, err);
}

static const struct weft_sink_ops naming_ops = {
    .begin = begin,
    .clock = clock_is,
    .function = function,
    .thread = thread,
    .calls = calls,
    .events = events,
    .thread_end = thread_end,
    .note = note,
    .object = object,
    .library = library,
    .process = process,
};

struct weft_naming *weft_naming_new(struct weft_sink *below, const char *place)
{
    struct weft_naming *naming = calloc(1, sizeof *naming);
    if (!naming)
        return NULL;
    naming->sink.ops = &naming_ops;
    naming->below = below;
    naming->symbols = weft_symbols_new(place);
    if (naming->symbols)
        return naming;
    free(naming);
    return NULL;
}

void weft_naming_free(struct weft_naming *naming)
{
    if (!naming)
        return;
    weft_symbols_free(naming->symbols);
    WEFT_VEC_FINI(&naming->unnamed);
    free(naming);
}

struct weft_sink *weft_naming_sink(struct weft_naming *naming)
{
    return &naming->sink;
}
