/* SPDX-License-Identifier: MIT
 *
 * A library with functions, for a program that has none.
 */
__attribute__((visibility("default"))) void late_leaf(void);
__attribute__((visibility("default"))) void late(int n_calls);

void late_leaf(void)
{
    __asm__ volatile("");
}

/* n_calls + 1 calls. */
void late(int n_calls)
{
    while (n_calls-- > 0)
        late_leaf();
}
