/* SPDX-License-Identifier: MIT
 *
 * See kallsyms.h.
 */
#include "symbols/kallsyms.h"

#include "base/search.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_SYMBOL_BYTES = 1 << 24, MOST_KALLSYMS_BYTES = 1 << 28, PIECE_BYTES = 1 << 16 };

static bool parse_kallsym(struct weft_str line, uint64_t *address, struct weft_str *name)
{
    size_t at = 0;
    *address = 0;
    for (; at < line.n_bytes && at < 16; at++) {
        const char c = line.bytes[at];
        const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0)
            break;
        *address = *address << 4 | (uint64_t)digit;
    }
    if (at == 0 || at + 3 >= line.n_bytes || line.bytes[at] != ' ' || *address == 0)
        return false;
    const char kind = line.bytes[at + 1];
    *name = (struct weft_str){ line.bytes + at + 3, line.n_bytes - at - 3 };
    const char *module = memchr(name->bytes, '\t', name->n_bytes);
    if (module)
        name->n_bytes = (size_t)(module - name->bytes);
    return kind == 't' || kind == 'T' || kind == 'w' || kind == 'W';
}

static bool add_symbol(struct weft_kallsyms *kernel, uint64_t address, struct weft_str name)
{
    struct weft_kallsym *symbol = name.n_bytes <= UINT32_MAX ? WEFT_VEC_PUSH(kernel) : NULL;
    if (symbol)
        *symbol = (struct weft_kallsym){ .address = address,
                                         .bytes = name.bytes,
                                         .n_bytes = (uint32_t)name.n_bytes };
    return symbol != NULL;
}

static int compare_symbols(const void *a_void, const void *b_void)
{
    const struct weft_kallsym *a = a_void;
    const struct weft_kallsym *b = b_void;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return weft_str_compare((struct weft_str){ a->bytes, a->n_bytes },
                            (struct weft_str){ b->bytes, b->n_bytes });
}

/* Mostly they are sorted already. */
static void sort_symbols(struct weft_kallsyms *kernel)
{
    bool is_sorted = true;
    for (size_t k = 1; is_sorted && k < kernel->n; k++)
        is_sorted = compare_symbols(&kernel->items[k - 1], &kernel->items[k]) <= 0;
    if (!is_sorted)
        qsort(kernel->items, kernel->n, sizeof *kernel->items, compare_symbols);
}

struct weft_str weft_kallsyms_find(const struct weft_kallsyms *kernel, uint64_t address)
{
    size_t low;
    WEFT_SEARCH(low, kernel->n, kernel->items[low].address <= address);
    if (low == 0 || address - kernel->items[low - 1].address > MOST_SYMBOL_BYTES)
        return (struct weft_str){ 0 };
    const struct weft_kallsym *symbol = &kernel->items[low - 1];
    while (symbol > kernel->items && symbol[-1].address == symbol->address)
        symbol--;
    return (struct weft_str){ symbol->bytes, symbol->n_bytes };
}

bool weft_kallsyms_parse(struct weft_str text, struct weft_kallsyms *kernel)
{
    while (text.n_bytes > 0) {
        const char *end = memchr(text.bytes, '\n', text.n_bytes);
        const size_t n_line = end ? (size_t)(end - text.bytes) : text.n_bytes;
        struct weft_str name;
        uint64_t address;
        if (parse_kallsym((struct weft_str){ text.bytes, n_line }, &address, &name) &&
            !add_symbol(kernel, address, name))
            return false;
        text.bytes += n_line + (end != NULL);
        text.n_bytes -= n_line + (end != NULL);
    }
    sort_symbols(kernel);
    return true;
}

char *weft_kernel_text(const char *path, size_t n_most, size_t *n_bytes, bool *is_nomem)
{
    struct {
        char *items;
        size_t n, cap;
    } text = { 0 };
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n_read = fd < 0 ? 0 : 1;
    *is_nomem = false;
    while ((n_read > 0 || (n_read < 0 && errno == EINTR)) && text.n < n_most) {
        *is_nomem = !weft_vec_reserve(&text.items, &text.cap, text.n + PIECE_BYTES, 1);
        if (*is_nomem)
            break;
        n_read = read(fd, text.items + text.n, PIECE_BYTES);
        text.n += n_read > 0 ? (size_t)n_read : 0;
    }
    if (fd >= 0)
        (void)close(fd);
    if (*is_nomem)
        WEFT_VEC_FINI(&text);
    *n_bytes = text.n;
    return text.items;
}

bool weft_kallsyms_of_machine(struct weft_kallsyms *kernel)
{
    size_t n_bytes = 0;
    bool is_nomem;
    kernel->text = weft_kernel_text("/proc/kallsyms", MOST_KALLSYMS_BYTES, &n_bytes, &is_nomem);
    return !is_nomem && weft_kallsyms_parse((struct weft_str){ kernel->text, n_bytes }, kernel);
}

void weft_kallsyms_fini(struct weft_kallsyms *kernel)
{
    WEFT_VEC_FINI(kernel);
    free(kernel->text);
    kernel->text = NULL;
}
