/* SPDX-License-Identifier: MIT
 *
 * Call frame information (DWARF, and its variant in .eh_frame) of x86-64: the entry of a function,
 * compiled into a table of rows. A row says how the caller's registers are found from an
 * instruction on.
 *
 *     CIE: alignment, encodings, first rules   \
 *     FDE: where the function lies, its program -> rows: [from] CFA = register + n or expression
 *                                                        register k = at CFA + n, expression ...
 *
 * All bytes are hostile. An entry that is damaged, or larger than any compiler makes one, has no
 * rows at all: half of its rules would give wrong frames.
 */
#ifndef WEFT_SYMBOLS_CFI_H
#define WEFT_SYMBOLS_CFI_H

#include "base/cursor.h"

/* Registers of x86-64 whose rules are kept: 0-15, and where the function returns to. */
enum { WEFT_CFI_REGISTERS = 17 };

enum weft_cfi_kind {
    WEFT_CFI_UNSPECIFIED,
    WEFT_CFI_UNDEFINED,
    WEFT_CFI_SAME,
    WEFT_CFI_AT_CFA,        /* lies at CFA + value */
    WEFT_CFI_CFA,           /* is CFA + value */
    WEFT_CFI_REGISTER,      /* is in another one; for the CFA: register `other` + value */
    WEFT_CFI_AT_EXPRESSION, /* lies where an expression says */
    WEFT_CFI_EXPRESSION,    /* is what it gives */
};

struct weft_cfi_rule {
    uint8_t kind, reg, other, unused; /* no padding: rules are compared as bytes */
    uint32_t n_expression;            /* bytes of it, from `value` on */
    int32_t value;
};

struct weft_cfi_row {
    uint32_t from;              /* bytes from the function's begin on */
    uint32_t rules_at, n_rules; /* those of registers */
    struct weft_cfi_rule cfa;
};

/* A function, in one piece of memory. */
struct weft_cfi_function {
    uint64_t begin, end;
    size_t n_bytes; /* of memory */
    uint32_t n_rows;
    bool is_signal_frame; /* what it returns to was interrupted, not called from */
    uint8_t return_register;
    const struct weft_cfi_row *rows; /* by `from`, the first at 0 */
    const struct weft_cfi_rule *rules;
    const uint8_t *expressions;
};

/* Where the bytes of an entry come from. */
struct weft_cfi_source {
    uint64_t section_address; /* of its first byte */
    bool is_debug_frame;      /* else .eh_frame */
};

/* An entry's header. `id_at`: offset in the section of the word that distinguishes a CIE from an
 * FDE. */
struct weft_cfi_entry {
    uint64_t offset, id_at, next;
    uint64_t cie_offset; /* of an FDE: its CIE */
    bool is_cie, is_end; /* a terminator */
};

/* The longest entry that is read: a header and what it announces. */
enum { WEFT_CFI_MOST_ENTRY = 1 << 20, WEFT_CFI_HEADER = 20 };

/* Reads the header at `offset`, of which the cursor holds what follows. False: damage. */
bool weft_cfi_entry(const struct weft_cfi_source *source, struct weft_cursor cur, uint64_t offset,
                    struct weft_cfi_entry *entry);

/* What an FDE needs of its CIE. The programs point into the bytes that were given. */
struct weft_cfi_cie {
    uint64_t code_align;
    int64_t data_align;
    uint64_t return_register;
    uint8_t encoding; /* of addresses in its FDEs */
    bool has_augmentation, is_signal_frame;
    struct weft_cursor program;
};

/* `cur`: the whole CIE, as its header says. False: damage, or what x86-64 does not have. */
bool weft_cfi_cie(const struct weft_cfi_source *source, struct weft_cursor cur,
                  const struct weft_cfi_entry *entry, struct weft_cfi_cie *cie);

/* The addresses of an FDE, and its program; `cur` as above. */
bool weft_cfi_range(const struct weft_cfi_source *source, const struct weft_cfi_cie *cie,
                    struct weft_cursor cur, const struct weft_cfi_entry *entry, uint64_t *begin,
                    uint64_t *end, struct weft_cursor *program);

/* The rows of a function from the programs of CIE and FDE; the caller frees. NULL: damage, more
 * rows than functions have, or no memory, which `*is_nomem` says. */
struct weft_cfi_function *weft_cfi_compile(const struct weft_cfi_source *source,
                                           const struct weft_cfi_cie *cie, uint64_t begin,
                                           uint64_t end, struct weft_cursor program,
                                           bool *is_nomem);

/* The row for an address of the function. */
const struct weft_cfi_row *weft_cfi_row(const struct weft_cfi_function *function, uint64_t address);

/* A pointer in the `encoding` (DW_EH_PE_*) at the cursor, which stands at `address`; `data_base`:
 * what data-relative ones count from. False: none that can be read from a file alone. */
bool weft_cfi_pointer(struct weft_cursor *cur, uint8_t encoding, uint64_t address,
                      uint64_t data_base, uint64_t *value);
/* Signed LEB128: bits beyond the 64th are a fault. */
int64_t weft_cfi_sleb(struct weft_cursor *cur);
/* Unsigned LEB128, which may be padded, as assemblers do. */
uint64_t weft_cfi_uleb(struct weft_cursor *cur);

/* ---- expressions ----------------------------------------------------------------------------- */

/* A frame in which an expression is asked for. */
struct weft_cfi_frame {
    uint64_t registers[WEFT_CFI_REGISTERS];
    uint32_t has;  /* bit k: register k is known */
    uint64_t cfa;  /* if has_cfa */
    uint64_t bias; /* added to addresses of the file */
    bool has_cfa;
    bool (*read)(void *context, uint64_t address, unsigned n_bytes, uint64_t *value);
    void *context;
};

/* What the expression gives, with `*first` on its stack if that is given. False: it is damaged,
 * needs what is not known, or takes too many steps. */
bool weft_cfi_evaluate(const struct weft_cfi_frame *frame, const uint8_t *bytes, size_t n_bytes,
                       const uint64_t *first, uint64_t *value);

#endif
