/* SPDX-License-Identifier: MIT
 *
 * See cpus.h.
 */
#include "record/kernel/cpus.h"

#include <stdio.h>

bool weft_cpu_is_online(uint32_t cpu)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/online", cpu);
    FILE *file = fopen(path, "re");
    if (!file) /* the first has no such file */
        return true;
    const int byte = fgetc(file);
    (void)fclose(file);
    return byte != '0';
}
