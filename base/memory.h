/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory this process has allocated, and how much there is. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdint.h>

/* Bytes that were allocated and not freed; the same in each run that does the same. */
uint64_t rd_memory_used(void);

/* Bytes that the machine has; 0: unknown. */
uint64_t rd_memory_total(void);

#endif
