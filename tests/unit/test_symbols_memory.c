/* SPDX-License-Identifier: MIT
 *
 * Programs read with every allocation failing in turn (the linker wraps malloc, calloc and
 * realloc): each answer is the right one, or that there is no memory.
 */
#include "failing_alloc.h"
#include "symbols/cfi_store.h"
#include "symbols/inlines.h"
#include "symbols/kallsyms.h"
#include "symbols/members.h"
#include "symbols/symtab.h"
#include "symbols/walk.h"
#include "tap.h"

enum { MOST_ALLOCATIONS = 3000, PLACES = 400, STEP_BYTES = 1040 };

static const struct weft_cfi_program program = { .path = "/proc/self/exe" };

/* A number that the rows of many places make; false without memory. */
static bool sum_rows(uint64_t *sum)
{
    struct weft_cfi_store *store = weft_cfi_store_new(0);
    bool is_good = store != NULL;
    *sum = 0;
    for (uint64_t k = 0; is_good && k < PLACES; k++) {
        struct weft_cfi_found found;
        is_good = weft_cfi_store_find(store, &program, k * STEP_BYTES, &found);
        if (is_good && found.row)
            *sum =
                *sum * 31 + found.row->from + found.row->n_rules + (uint64_t)found.row->cfa.value;
    }
    weft_cfi_store_free(store);
    return is_good;
}

static bool sum_symbols(uint64_t *sum)
{
    struct weft_elf_file file;
    struct weft_symtab *symtab = NULL;
    *sum = 0;
    if (!weft_elf_file_open(program.path, &file))
        return false;
    const bool is_good = weft_symtab_read(&file, &symtab, NULL) == WEFT_OK;
    for (size_t k = 0; is_good && k < weft_symtab_count(symtab); k++)
        *sum =
            *sum * 31 + weft_symtab_at(symtab, k).address + weft_symtab_at(symtab, k).name.n_bytes;
    weft_symtab_free(symtab);
    weft_elf_file_close(&file);
    return is_good;
}

/* What is inlined at many places. A program without debugging information has a constant. */
static bool sum_inlined(uint64_t *sum)
{
    bool is_good;
    struct weft_inlines *inlines = weft_inlines_open(program.path, &is_good);
    is_good = !is_good;
    *sum = 1;
    for (uint64_t k = 0; inlines && is_good && k < PLACES; k++) {
        const char *names[8];
        const size_t n = weft_inlines_at(inlines, k * STEP_BYTES / 4, names, 8);
        is_good = !weft_inlines_nomem(inlines);
        for (size_t i = 0; is_good && i < n; i++)
            *sum = *sum * 31 + strlen(names[i]);
    }
    weft_inlines_free(inlines);
    return is_good;
}

/* What variables are made of; likewise. */
static bool sum_members(uint64_t *sum)
{
    bool is_good;
    struct weft_members *members = weft_members_open(program.path, &is_good);
    is_good = !is_good;
    *sum = 1;
    for (uint64_t k = 0; members && is_good && k < PLACES; k++) {
        char text[64];
        *sum = *sum * 31 + weft_members_at(members, k * 8, 0, text, sizeof text);
        is_good = !weft_members_nomem(members);
    }
    weft_members_free(members);
    return is_good;
}

/* A text of the kernel is whole, or there is none. */
static bool sum_text(uint64_t *sum)
{
    size_t n_bytes;
    bool is_nomem;
    char *text = weft_kernel_text(program.path, 1 << 22, &n_bytes, &is_nomem);
    *sum = n_bytes;
    free(text);
    return !is_nomem;
}

static void test(bool (*work)(uint64_t *sum), const char *name)
{
    uint64_t want, got;
    unsigned n_wrong = 0;
    int n = 0;
    const bool is_there = work(&want) && want != 0;
    for (bool is_done = false; !is_done && n < MOST_ALLOCATIONS; n++) {
        n_until_failure = n;
        const bool is_good = work(&got);
        is_done = n_until_failure >= 0;
        n_until_failure = -1;
        n_wrong += is_good ? got != want : is_done;
    }
    tap_ok(is_there && n_wrong == 0 && n < MOST_ALLOCATIONS,
           "%s: each of %d allocations fails: %u wrong", name, n - 1, n_wrong);
}

int main(void)
{
    test(sum_rows, "call frames");
    test(sum_symbols, "symbols");
    test(sum_inlined, "inlined functions");
    test(sum_members, "members of variables");
    test(sum_text, "a text of the kernel");
    return tap_done();
}
