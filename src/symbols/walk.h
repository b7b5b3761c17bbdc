/* SPDX-License-Identifier: MIT
 *
 * Stacks of user space from a copy of them: registers, and the top of the stack. They are walked by
 * the call frame information of the programs, which are looked for as those that give names are,
 * and by frame pointers where there is none (code that was made at run time, and programs built
 * without).
 */
#ifndef WEFT_SYMBOLS_WALK_H
#define WEFT_SYMBOLS_WALK_H

#include "symbols/symbols.h"

enum { WEFT_WALK_MOST = 1024, WEFT_WALK_REGISTERS = 17 };

/* Numbers of registers of x86-64, as DWARF has them: 8-15 are r8-r15. */
enum weft_walk_register {
    WEFT_WALK_AX,
    WEFT_WALK_DX,
    WEFT_WALK_CX,
    WEFT_WALK_BX,
    WEFT_WALK_SI,
    WEFT_WALK_DI,
    WEFT_WALK_BP,
    WEFT_WALK_SP,
    WEFT_WALK_R8,
    WEFT_WALK_IP = 16,
};

#define WEFT_WALK_NO_MODULE UINT32_MAX

/* A part of an address space that is one of a file. */
struct weft_walk_part {
    uint64_t begin, file_off; /* of `begin` */
    uint32_t module;          /* of the symbols; WEFT_WALK_NO_MODULE: not known */
};

struct weft_walk_space {
    /* The part that holds the address; WEFT_WALK_NO_MODULE: none that is known. False without
     * memory. */
    bool (*find)(void *context, uint64_t address, struct weft_walk_part *part);
    void *context;
};

struct weft_walk_stack {
    uint64_t registers[WEFT_WALK_REGISTERS];
    const uint8_t *bytes; /* from the stack pointer on */
    uint64_t n_bytes;
    bool is_big; /* its byte order */
};

struct weft_walker;

/* NULL without memory; the caller frees. `symbols` outlives it; NULL: nothing can be walked. Tables
 * of programs are held in at most `most_bytes` (at least 1 MiB), or read again. */
struct weft_walker *weft_walker_new(struct weft_symbols *symbols, uint64_t most_bytes);
/* NULL is allowed. */
void weft_walker_free(struct weft_walker *walker);

/* The instruction, then where calls return to, innermost first: at least one, if there are symbols,
 * and at most WEFT_WALK_MOST; the stack pointer in each, unless that is NULL. `*has_run_out`:
 * deeper frames lie beyond the copy, or there are more than that. O(frames), and reading the entry
 * of a function when it is first met. False without memory. */
bool weft_walk_copy(struct weft_walker *walker, const struct weft_walk_space *space,
                    const struct weft_walk_stack *stack, uint64_t addresses[WEFT_WALK_MOST],
                    uint64_t *stack_pointers, size_t *n_addresses, bool *has_run_out);

/* What the tables of a ceiling on memory may take; 0: there is none. */
uint64_t weft_walk_share(uint64_t memory_bytes);

#endif
