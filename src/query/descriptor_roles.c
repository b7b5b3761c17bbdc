/* SPDX-License-Identifier: MIT
 *
 * First reads and first writes by thread and descriptor. A number that is used again for another
 * connection keeps the role of the first.
 */
#include "query/descriptor_roles.h"

#include "base/vec.h"

bool weft_descriptor_roles_init(struct weft_descriptor_roles *roles)
{
    *roles = (struct weft_descriptor_roles){ .of = weft_map_new() };
    return roles->of;
}

void weft_descriptor_roles_fini(struct weft_descriptor_roles *roles)
{
    weft_map_free(roles->of);
    WEFT_VEC_FINI(roles);
}

static uint64_t key_of(uint32_t thread_id, uint32_t fd)
{
    return (uint64_t)thread_id << 32 | fd;
}

bool weft_descriptor_roles_see(struct weft_descriptor_roles *roles, uint32_t thread_id, uint32_t fd,
                               uint64_t at_ns, bool is_write)
{
    bool is_new = false;
    const uint32_t at = weft_map_add(roles->of, key_of(thread_id, fd), &is_new);
    if (at == WEFT_MAP_NONE || (is_new && !WEFT_VEC_PUSH(roles)))
        return false;
    struct weft_descriptor_use *use = &roles->items[at];
    if (is_new)
        *use = (struct weft_descriptor_use){ UINT64_MAX, UINT64_MAX };
    uint64_t *first_ns = is_write ? &use->written_ns : &use->read_ns;
    if (at_ns < *first_ns)
        *first_ns = at_ns;
    return true;
}

enum weft_descriptor_role weft_descriptor_role_of(const struct weft_descriptor_roles *roles,
                                                  uint32_t thread_id, uint32_t fd)
{
    const uint32_t at = weft_map_find(roles->of, key_of(thread_id, fd));
    const struct weft_descriptor_use *use = at == WEFT_MAP_NONE ? NULL : &roles->items[at];
    if (!use || use->read_ns == UINT64_MAX || use->written_ns == UINT64_MAX)
        return WEFT_ROLE_UNKNOWN;
    return use->written_ns < use->read_ns ? WEFT_ROLE_ASKS : WEFT_ROLE_ANSWERS;
}
