/* SPDX-License-Identifier: MIT
 *
 * On which descriptors a thread asks, and on which it answers: a thread that writes to a connection
 * before it reads from it waits there for replies, one that reads first waits for requests.
 */
#ifndef WEFT_QUERY_DESCRIPTOR_ROLES_H
#define WEFT_QUERY_DESCRIPTOR_ROLES_H

#include "base/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_descriptor_roles {
    struct weft_map *of; /* thread and descriptor -> place in `items` */
    struct {
        struct weft_descriptor_use {
            uint64_t read_ns, written_ns; /* first; UINT64_MAX: never */
        } * items;
        size_t n, cap;
    };
};

/* False without memory; to be finished either way. */
bool weft_descriptor_roles_init(struct weft_descriptor_roles *roles);
void weft_descriptor_roles_fini(struct weft_descriptor_roles *roles);

/* The thread reads from the descriptor, or writes to it; in any order. False without memory. */
bool weft_descriptor_roles_see(struct weft_descriptor_roles *roles, uint32_t thread_id, uint32_t fd,
                               uint64_t at_ns, bool is_write);

enum weft_descriptor_role {
    WEFT_ROLE_UNKNOWN, /* it only reads, or only writes */
    WEFT_ROLE_ASKS,    /* it wrote first */
    WEFT_ROLE_ANSWERS, /* it read first */
};

/* After all was seen. */
enum weft_descriptor_role weft_descriptor_role_of(const struct weft_descriptor_roles *roles,
                                                  uint32_t thread_id, uint32_t fd);

#endif
