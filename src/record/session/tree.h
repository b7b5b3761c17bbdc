/* SPDX-License-Identifier: MIT
 *
 * The processes that descend from one, as /proc lists them.
 */
#ifndef WEFT_RECORD_SESSION_TREE_H
#define WEFT_RECORD_SESSION_TREE_H

#include "record/session/proc.h"

#include <stddef.h>
#include <stdint.h>

enum { TREE_MAX = 4096 };

/* Living processes, parents before their children; of more than TREE_MAX the rest is missing. */
struct tree {
    size_t n;
    uint32_t pids[TREE_MAX];
};

/* All that descend from `pid`, without itself. None where the kernel has no CONFIG_PROC_CHILDREN.
 */
void tree_find(uint32_t pid, struct tree *tree, struct proc_text *room);

/* Its children alone. */
void tree_children(uint32_t pid, struct tree *tree, struct proc_text *room);

/* "2 processes (sleep 4711, nginx 4712)", with at most three names. */
void tree_print(const struct tree *tree, char *text, size_t n_text, struct proc_text *room);

#endif
