/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a jitdump: read whole, and as a recorder takes it, record by record and without the
 * code. What the recorder keeps names the same functions.
 */
#include "symbols/jitdump.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

enum { MOST_BYTES = 1 << 16 };

static void must(bool is_so)
{
    if (!is_so)
        abort();
}

struct reading {
    struct weft_jit_table table;
    struct weft_jit_names names;
};

static uint64_t ns_of_ticks(void *context, uint64_t ticks)
{
    (void)context;
    return ticks / 3;
}

static void read_dump(const uint8_t *bytes, size_t n_bytes, struct reading *reading)
{
    struct weft_jitdump dump;
    *reading = (struct reading){ 0 };
    reading->names =
        (struct weft_jit_names){ .table = &reading->table, .texts = weft_strtab_new() };
    must(reading->names.texts && weft_jitdump_init(&dump, &reading->names));
    dump.ns_of_ticks = ns_of_ticks;
    must(weft_jitdump_read(&dump, (struct weft_str){ (const char *)bytes, n_bytes }));
    must(weft_jit_seal(&reading->table));
    weft_jitdump_fini(&dump);
}

static void reading_fini(struct reading *reading)
{
    weft_jit_table_fini(&reading->table);
    weft_strtab_free(reading->names.texts);
}

/* As jit_maps.c does. */
static size_t shorten(const uint8_t *bytes, size_t n_bytes, uint8_t *kept)
{
    uint8_t room[WEFT_JITDUMP_MOST_BYTES];
    size_t n_kept = 0;
    size_t at = n_bytes >= WEFT_JITDUMP_HEAD_BYTES ? weft_jitdump_first(bytes) : 0;
    if (at == 0 || at > n_bytes)
        return 0;
    memcpy(kept, bytes, WEFT_JITDUMP_HEAD_BYTES);
    kept[8] = WEFT_JITDUMP_HEAD_BYTES;
    kept[9] = kept[10] = kept[11] = 0;
    n_kept = WEFT_JITDUMP_HEAD_BYTES;
    while (n_bytes - at >= WEFT_JITDUMP_RECORD_BYTES) {
        struct weft_jitdump_record record;
        if (!weft_jitdump_look(bytes + at, &record) || record.n_bytes > n_bytes - at)
            break;
        must(record.n_wanted <= record.n_bytes && record.n_wanted <= sizeof room);
        memcpy(room, bytes + at, record.n_wanted);
        const uint32_t n_short = record.n_wanted ? weft_jitdump_shorten(room, record.n_wanted) : 0;
        must(n_short <= record.n_wanted);
        memcpy(kept + n_kept, room, n_short);
        n_kept += n_short;
        at += record.n_bytes;
    }
    return n_kept;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    struct reading whole, part;
    uint8_t *kept = n_bytes <= MOST_BYTES ? malloc(n_bytes + 1) : NULL;
    if (!kept)
        return 0;
    const size_t n_kept = shorten(bytes, n_bytes, kept);
    read_dump(bytes, n_bytes, &whole);
    read_dump(kept, n_kept, &part);
    /* Records that contradict the format may be gone, of the others none. */
    must(n_kept == 0 || part.table.n == whole.table.n);
    for (size_t k = 0; n_kept && k < whole.table.n; k++) {
        const struct weft_jit_function *one = &whole.table.items[k];
        must(memcmp(one, &part.table.items[k], offsetof(struct weft_jit_function, name)) == 0);
        const uint32_t era = weft_jit_era(&whole.table, one->from_ns);
        const uint32_t found = weft_jit_find(&whole.table, one->begin, era);
        must(found == WEFT_JIT_NONE ||
             (found & ~WEFT_JIT_SYSTEM) < weft_strtab_count(whole.names.texts));
        must(weft_jit_find(&part.table, one->begin, era) == WEFT_JIT_NONE ||
             found != WEFT_JIT_NONE);
    }
    reading_fini(&whole);
    reading_fini(&part);
    free(kept);
    return 0;
}
