/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a perf map: each address that a line could name has a name of that text or none, and
 * names can be printed.
 */
#include "symbols/perf_map.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

enum { MOST_BYTES = 1 << 16 };

static void must(bool is_so)
{
    if (!is_so)
        abort();
}

static void check(const struct weft_jit_table *table, const struct weft_strtab *texts,
                  uint64_t address)
{
    const uint32_t name = weft_jit_find(table, address, weft_jit_era(table, 0));
    if (name == WEFT_JIT_NONE)
        return;
    must((name & ~WEFT_JIT_SYSTEM) < weft_strtab_count(texts));
    const struct weft_str text = weft_strtab_get(texts, name & ~WEFT_JIT_SYSTEM);
    must(text.n_bytes > 0 && text.n_bytes <= WEFT_JIT_NAME_BYTES);
    for (size_t k = 0; k < text.n_bytes; k++)
        must((unsigned char)text.bytes[k] >= ' ' && text.bytes[k] != 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    struct weft_jit_table table = { 0 };
    struct weft_jit_names names = { .table = &table, .texts = weft_strtab_new() };
    if (n_bytes > MOST_BYTES || !names.texts) {
        weft_strtab_free(names.texts);
        return 0;
    }
    must(weft_perf_map_read(&names, (struct weft_str){ (const char *)bytes, n_bytes }));
    must(weft_jit_seal(&table));
    for (size_t k = 0; k < table.n; k++) {
        const struct weft_jit_function *one = &table.items[k];
        must(weft_jit_find(&table, one->begin, weft_jit_era(&table, 0)) != WEFT_JIT_NONE ||
             one->name == WEFT_JIT_NONE || k + 1 < table.n);
        check(&table, names.texts, one->begin);
        check(&table, names.texts, one->begin + one->n_bytes - 1);
        check(&table, names.texts, one->begin + one->n_bytes);
        check(&table, names.texts, one->begin - 1);
    }
    weft_jit_table_fini(&table);
    weft_strtab_free(names.texts);
    return 0;
}
