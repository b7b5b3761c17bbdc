/* SPDX-License-Identifier: MIT
 *
 * Builds jitdump files, as runtimes write them: the code behind the name is zeros.
 */
#ifndef WEFT_TESTS_JIT_BUILDER_H
#define WEFT_TESTS_JIT_BUILDER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct jb {
    uint8_t *bytes;
    size_t n_bytes, cap;
};

__attribute__((unused)) static void jb_put(struct jb *jb, const void *bytes, size_t n_bytes)
{
    if (jb->n_bytes + n_bytes > jb->cap) {
        jb->cap = (jb->n_bytes + n_bytes) * 2 + 64;
        jb->bytes = realloc(jb->bytes, jb->cap);
        if (!jb->bytes)
            abort();
    }
    if (n_bytes && bytes)
        memcpy(jb->bytes + jb->n_bytes, bytes, n_bytes);
    else if (n_bytes)
        memset(jb->bytes + jb->n_bytes, 0, n_bytes);
    jb->n_bytes += n_bytes;
}

__attribute__((unused)) static void jb_fini(struct jb *jb)
{
    free(jb->bytes);
    *jb = (struct jb){ 0 };
}

__attribute__((unused)) static void jb_head(struct jb *jb, bool is_ticks)
{
    const uint32_t words[] = { 0x4a695444, 1, 40, 62, 0, 4711 };
    const uint64_t more[] = { 1000, is_ticks };
    jb_put(jb, words, sizeof words);
    jb_put(jb, more, sizeof more);
}

__attribute__((unused)) static void jb_record(struct jb *jb, uint32_t id, uint64_t time,
                                              size_t n_payload)
{
    const uint32_t words[] = { id, (uint32_t)(16 + n_payload) };
    jb_put(jb, words, sizeof words);
    jb_put(jb, &time, sizeof time);
}

/* With so many bytes of code behind the name. */
__attribute__((unused)) static void jb_load(struct jb *jb, uint64_t time, uint64_t address,
                                            uint64_t n_code, uint64_t index, const char *name,
                                            size_t n_held)
{
    const uint32_t ids[] = { 4711, 4712 };
    const uint64_t words[] = { address, address, n_code, index };
    jb_record(jb, 0, time, sizeof ids + sizeof words + strlen(name) + 1 + n_held);
    jb_put(jb, ids, sizeof ids);
    jb_put(jb, words, sizeof words);
    jb_put(jb, name, strlen(name) + 1);
    jb_put(jb, NULL, n_held);
}

__attribute__((unused)) static void jb_move(struct jb *jb, uint64_t time, uint64_t from,
                                            uint64_t to, uint64_t n_code, uint64_t index)
{
    const uint32_t ids[] = { 4711, 4712 };
    const uint64_t words[] = { to, from, to, n_code, index };
    jb_record(jb, 1, time, sizeof ids + sizeof words);
    jb_put(jb, ids, sizeof ids);
    jb_put(jb, words, sizeof words);
}

/* Two entries: where the function begins, and a line behind it of the same file. */
__attribute__((unused)) static void jb_debug(struct jb *jb, uint64_t time, uint64_t address,
                                             uint32_t line, const char *file)
{
    const uint64_t words[] = { address, 2, address };
    const uint32_t first[] = { line, 0 };
    const uint64_t second = address + 8;
    const uint32_t next[] = { line + 1, 0 };
    jb_record(jb, 2, time, sizeof words + sizeof first + strlen(file) + 1 + 8 + sizeof next + 2);
    jb_put(jb, words, sizeof words);
    jb_put(jb, first, sizeof first);
    jb_put(jb, file, strlen(file) + 1);
    jb_put(jb, &second, sizeof second);
    jb_put(jb, next, sizeof next);
    jb_put(jb, "\xff", 2);
}

#endif
