/* SPDX-License-Identifier: MIT
 *
 * Call frame information of any bytes: a section (first byte 0: .eh_frame, 1: .debug_frame), or a
 * whole file (anything else). All entries are compiled, expressions evaluated, and functions looked
 * for by address; rows are in order and point into what their function has.
 */
#include "symbols/cfi_section.h"
#include "symbols/cfi_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

enum { MOST_BYTES = 1 << 16, SECTION_ADDRESS = 0x10000, INDEX_BYTES = 1 << 16, SEEKS = 64 };

static void must(bool is_so)
{
    if (!is_so)
        abort();
}

static bool read_memory(void *context, uint64_t address, unsigned n_bytes, uint64_t *value)
{
    (void)context;
    *value = address * UINT64_C(0x9e3779b97f4a7c15) >> (64 - 8 * n_bytes);
    return address % 16 != 15;
}

static void evaluate(const struct weft_cfi_function *function, const struct weft_cfi_rule *rule)
{
    const struct weft_cfi_frame frame = { .registers = { [7] = 0x7000 },
                                          .has = 0x100c8,
                                          .read = read_memory };
    uint64_t value;
    if (rule->kind == WEFT_CFI_EXPRESSION || rule->kind == WEFT_CFI_AT_EXPRESSION)
        (void)weft_cfi_evaluate(&frame, function->expressions + rule->value, rule->n_expression,
                                &frame.cfa, &value);
}

static void check(const struct weft_cfi_function *function)
{
    must(function->begin < function->end && function->return_register < WEFT_CFI_REGISTERS);
    for (uint32_t k = 0; k < function->n_rows; k++) {
        const struct weft_cfi_row *row = &function->rows[k];
        must(k == 0 ? row->from == 0 : row->from > row[-1].from);
        must(weft_cfi_row(function, function->begin + row->from) == row);
        evaluate(function, &row->cfa);
        for (uint32_t i = 0; i < row->n_rules; i++)
            evaluate(function, &function->rules[row->rules_at + i]);
    }
}

static bool see(void *context, uint64_t begin, uint64_t end, uint64_t offset)
{
    struct weft_cfi_section *section = context;
    struct weft_cfi_function *function = weft_cfi_section_compile(section, offset);
    if (function) {
        must(function->begin == begin && function->end == end);
        check(function);
    }
    free(function);
    return true;
}

static void read_section(struct weft_cfi_section *section)
{
    (void)weft_cfi_section_walk(section, see, section);
    for (uint64_t k = 0; k < SEEKS; k++) {
        uint64_t offset;
        if (weft_cfi_section_seek(section, k * 0x333, INDEX_BYTES, &offset))
            free(weft_cfi_section_compile(section, offset));
    }
    weft_cfi_section_fini(section);
}

static void read_bytes(const uint8_t *data, size_t n_bytes, bool is_debug_frame)
{
    uint8_t *memory = malloc(n_bytes + 1);
    must(memory != NULL);
    memcpy(memory, data, n_bytes);
    struct weft_cfi_section section = {
        .source = { .section_address = SECTION_ADDRESS, .is_debug_frame = is_debug_frame },
        .bytes = { .fd = -1, .memory = memory, .owns_memory = true, .n_bytes = n_bytes }
    };
    read_section(&section);
}

static void read_file(const uint8_t *data, size_t n_bytes)
{
    char path[64];
    struct weft_elf_file file;
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    must(fd >= 0 && write(fd, data, n_bytes) == (ssize_t)n_bytes);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    for (int is_debug = 0; is_debug < 2 && weft_elf_file_open(path, &file); is_debug++) {
        struct weft_cfi_section section;
        if (weft_cfi_section_open(&section, &file, is_debug))
            read_section(&section);
        weft_elf_file_close(&file);
    }
    struct weft_cfi_store *store = weft_cfi_store_new(0);
    const struct weft_cfi_program program = { .path = path, .debug_path = path };
    for (uint64_t at = 0; store && at < SEEKS; at++) {
        struct weft_cfi_found found;
        must(weft_cfi_store_find(store, &program, at * 97, &found));
    }
    weft_cfi_store_free(store);
    (void)close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    if (n_bytes == 0 || n_bytes > MOST_BYTES)
        return 0;
    if (data[0] <= 1)
        read_bytes(data + 1, n_bytes - 1, data[0] == 1);
    else
        read_file(data, n_bytes);
    return 0;
}
