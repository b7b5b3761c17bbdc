/* SPDX-License-Identifier: MIT
 *
 * Functions and threads: names and numbers of events become dense ids.
 */
#include "base/cursor.h"
#include "base/vec.h"
#include "ingest/chrome/trace.h"

/* Numbers of labels in the maps of pids and tids, and as they are shown. */
#define LABEL_KEY (UINT64_C(1) << 63)
#define LABEL_SHOWN (UINT64_C(1) << 32)

void chrome_remark(struct chrome_count remarks[CHROME_REMARKS], enum chrome_remark remark,
                   uint64_t count, uint64_t at_off)
{
    if (remarks[remark].count == 0 || at_off < remarks[remark].at_off)
        remarks[remark].at_off = at_off;
    remarks[remark].count += count;
}

bool chrome_plain(const struct weft_json_value *value, struct chrome_text *text,
                  struct weft_str *plain)
{
    *plain = (struct weft_str){ .bytes = value->bytes, .n_bytes = value->n_bytes };
    if (!value->has_escapes)
        return true;
    if (!weft_vec_reserve(&text->items, &text->cap, text->n + value->n_bytes, 1))
        return false;
    plain->bytes = text->items + text->n;
    plain->n_bytes = weft_json_unescape(value, text->items + text->n);
    text->n += plain->n_bytes;
    return true;
}

/* ---- functions ------------------------------------------------------------------------------ */

static uint64_t edges_of(const char *bytes, size_t n_bytes)
{
    if (n_bytes >= 8)
        return weft_load_u64((const uint8_t *)bytes) * 31 +
               weft_load_u64((const uint8_t *)bytes + n_bytes - 8);
    uint64_t word = 0;
    for (size_t k = 0; k < n_bytes; k++)
        word = word << 8 | (uint8_t)bytes[k];
    return word;
}

static size_t cache_slot(const struct weft_json_value *name, const struct weft_json_value *category)
{
    uint64_t hash = edges_of(name->bytes, name->n_bytes) + name->n_bytes;
    if (category)
        hash = hash * 0x9e3779b97f4a7c15u + edges_of(category->bytes, category->n_bytes);
    hash *= 0xff51afd7ed558ccdu;
    return (size_t)(hash >> 40) % CHROME_FUNCTION_CACHE;
}

static bool is_cached(const struct chrome_function_slot *slot, const struct weft_json_value *name,
                      const struct weft_json_value *category)
{
    return slot->is_used && slot->n_name == name->n_bytes &&
           memcmp(slot->name, name->bytes, name->n_bytes) == 0 &&
           (slot->category == NULL) == (category == NULL) &&
           (!category || (slot->n_category == category->n_bytes &&
                          memcmp(slot->category, category->bytes, category->n_bytes) == 0));
}

static enum weft_code intern(struct chrome_trace *trace, struct weft_strtab *table,
                             const struct weft_json_value *value, uint32_t *id,
                             struct weft_err *err)
{
    struct weft_str plain;
    trace->scratch.n = 0;
    if (!chrome_plain(value, &trace->scratch, &plain))
        return weft_no_memory(err, "names and threads");
    return weft_strtab_intern(table, plain, id, err);
}

static enum weft_code add_function(struct chrome_trace *trace, const struct weft_json_value *name,
                                   const struct weft_json_value *category, uint32_t *key,
                                   struct weft_err *err)
{
    uint32_t name_id;
    uint32_t category_id = 0;
    bool is_new;
    enum weft_code code = intern(trace, trace->names, name, &name_id, err);
    if (code == WEFT_OK && category)
        code = intern(trace, trace->categories, category, &category_id, err);
    if (code != WEFT_OK)
        return code;
    uint64_t pair = (uint64_t)name_id << 32 | (category ? category_id + 1 : 0);
    *key = weft_map_add(trace->functions, pair, &is_new);
    if (*key == WEFT_MAP_NONE)
        return weft_no_memory(err, "names and threads");
    if (name_id == trace->function_of_name.n) {
        uint32_t *first = WEFT_VEC_PUSH(&trace->function_of_name);
        if (!first)
            return weft_no_memory(err, "names and threads");
        *first = *key;
    }
    return WEFT_OK;
}

enum weft_code chrome_function(struct chrome_trace *trace, const struct weft_json_value *name,
                               const struct weft_json_value *category, uint32_t *key,
                               struct weft_err *err)
{
    struct chrome_function_slot *slot = &trace->function_cache[cache_slot(name, category)];
    if (is_cached(slot, name, category)) {
        *key = slot->key;
        return WEFT_OK;
    }
    enum weft_code code = add_function(trace, name, category, key, err);
    if (code == WEFT_OK)
        *slot = (struct chrome_function_slot){ .name = name->bytes,
                                               .n_name = name->n_bytes,
                                               .category = category ? category->bytes : NULL,
                                               .n_category = category ? category->n_bytes : 0,
                                               .key = *key,
                                               .is_used = true };
    return code;
}

enum weft_code chrome_function_named(struct chrome_trace *trace, const struct weft_json_value *name,
                                     uint32_t *key, struct weft_err *err)
{
    uint32_t name_id;
    struct chrome_function_slot *slot = &trace->function_cache[cache_slot(name, NULL)];
    if (is_cached(slot, name, NULL)) {
        *key = slot->key;
        return WEFT_OK;
    }
    WEFT_TRY(intern(trace, trace->names, name, &name_id, err));
    if (name_id < trace->function_of_name.n) {
        *key = trace->function_of_name.items[name_id];
        return WEFT_OK;
    }
    return chrome_function(trace, name, NULL, key, err);
}

struct weft_str chrome_function_name(const struct chrome_trace *trace, uint32_t key)
{
    return weft_strtab_get(trace->names, (uint32_t)(weft_map_key(trace->functions, key) >> 32));
}

struct weft_str chrome_function_category(const struct chrome_trace *trace, uint32_t key)
{
    uint32_t category = (uint32_t)weft_map_key(trace->functions, key);
    return category ? weft_strtab_get(trace->categories, category - 1) : (struct weft_str){ 0 };
}

/* ---- threads -------------------------------------------------------------------------------- */

/* A pid or tid as a number; others than plain numbers get one of their own. */
static enum weft_code number_of(struct chrome_trace *trace, const struct weft_json_value *value,
                                uint64_t *number, struct weft_err *err)
{
    uint32_t label;
    *number = 0;
    if (!value || (chrome_whole_number(value, number) && *number < LABEL_KEY))
        return WEFT_OK;
    enum weft_code code = intern(trace, trace->texts, value, &label, err);
    *number = LABEL_KEY | label;
    return code;
}

static uint64_t shown(uint64_t number)
{
    return number & LABEL_KEY ? LABEL_SHOWN + (number & ~LABEL_KEY) : number;
}

static enum weft_code add_thread(struct chrome_trace *trace, uint64_t pid, uint64_t tid,
                                 uint32_t *thread, struct weft_err *err)
{
    uint32_t process = weft_map_add(trace->processes, pid, NULL);
    uint32_t tid_id = weft_map_add(trace->tids, tid, NULL);
    if (process == WEFT_MAP_NONE || tid_id == WEFT_MAP_NONE)
        return weft_no_memory(err, "names and threads");
    *thread = weft_map_add(trace->thread_of_pair, (uint64_t)process << 32 | tid_id, NULL);
    if (*thread == WEFT_MAP_NONE)
        return weft_no_memory(err, "names and threads");
    if (*thread < trace->threads.n)
        return WEFT_OK;
    struct chrome_thread *added = WEFT_VEC_PUSH(&trace->threads);
    if (!added)
        return weft_no_memory(err, "names and threads");
    *added = (struct chrome_thread){ .pid = shown(pid),
                                     .tid = shown(tid),
                                     .process = process,
                                     .label = tid & LABEL_KEY ? (uint32_t)tid : WEFT_ID_NONE,
                                     .name = WEFT_ID_NONE,
                                     .thread_id = WEFT_ID_NONE,
                                     .first = UINT64_MAX };
    return WEFT_OK;
}

/* Without a tid an event is of its process: of the thread that has the pid's number. */
enum weft_code chrome_thread_of(struct chrome_trace *trace, const struct chrome_event *event,
                                uint32_t *thread, struct weft_err *err)
{
    uint64_t pid;
    uint64_t tid;
    enum weft_code code = number_of(trace, chrome_field(event, CHROME_PID), &pid, err);
    WEFT_THEN(code, number_of(trace, chrome_field(event, CHROME_TID), &tid, err));
    if (code != WEFT_OK)
        return code;
    if (!chrome_field(event, CHROME_TID))
        tid = pid;
    struct chrome_thread_slot *slot =
        &trace->thread_cache[(tid ^ tid >> 6 ^ pid * 7) % CHROME_THREAD_CACHE];
    if (!slot->is_used || slot->pid != pid || slot->tid != tid) {
        code = add_thread(trace, pid, tid, thread, err);
        if (code != WEFT_OK)
            return code;
        *slot = (struct chrome_thread_slot){
            .pid = pid, .tid = tid, .thread = *thread, .is_used = true
        };
    }
    *thread = slot->thread;
    return WEFT_OK;
}

enum weft_code chrome_process_of(struct chrome_trace *trace, const struct chrome_event *event,
                                 uint32_t *process, struct weft_err *err)
{
    uint64_t pid;
    WEFT_TRY(number_of(trace, chrome_field(event, CHROME_PID), &pid, err));
    *process = weft_map_add(trace->processes, pid, NULL);
    return *process == WEFT_MAP_NONE ? weft_no_memory(err, "names and threads") : WEFT_OK;
}
