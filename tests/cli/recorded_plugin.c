/* SPDX-License-Identifier: MIT
 *
 * A library that recorded.c opens while it runs, built with -finstrument-functions.
 */
#define SHOWN __attribute__((visibility("default")))

SHOWN int plugin_wanted(int number);
SHOWN int plugin_other(int number);

int plugin_wanted(int number)
{
    __asm__ volatile("");
    return number + 1;
}

int plugin_other(int number)
{
    __asm__ volatile("");
    return number + 2;
}
