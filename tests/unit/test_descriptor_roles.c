/* SPDX-License-Identifier: MIT
 *
 * A thread that writes first asks, one that reads first answers.
 */
#include "query/descriptor_roles.h"
#include "tap.h"

int main(void)
{
    struct weft_descriptor_roles roles;
    const bool is_good = weft_descriptor_roles_init(&roles) &&
                         /* in any order: the earliest decides */
                         weft_descriptor_roles_see(&roles, 1, 4, 300, false) &&
                         weft_descriptor_roles_see(&roles, 1, 4, 200, true) &&
                         weft_descriptor_roles_see(&roles, 1, 4, 100, false) &&
                         weft_descriptor_roles_see(&roles, 1, 5, 20, false) &&
                         weft_descriptor_roles_see(&roles, 1, 5, 10, true) &&
                         weft_descriptor_roles_see(&roles, 2, 4, 7, false);
    tap_ok(is_good, "reads and writes are kept");
    tap_ok(weft_descriptor_role_of(&roles, 1, 4) == WEFT_ROLE_ANSWERS, "it read first");
    tap_ok(weft_descriptor_role_of(&roles, 1, 5) == WEFT_ROLE_ASKS, "it wrote first");
    tap_ok(weft_descriptor_role_of(&roles, 2, 4) == WEFT_ROLE_UNKNOWN &&
               weft_descriptor_role_of(&roles, 3, 4) == WEFT_ROLE_UNKNOWN,
           "of one that only reads nothing is known");
    weft_descriptor_roles_fini(&roles);
    return tap_done();
}
