/* SPDX-License-Identifier: MIT
 *
 * CPUs that are on.
 */
#ifndef WEFT_RECORD_KERNEL_CPUS_H
#define WEFT_RECORD_KERNEL_CPUS_H

#include <stdbool.h>
#include <stdint.h>

bool weft_cpu_is_online(uint32_t cpu);

#endif
