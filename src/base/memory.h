/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of this process and of the machine, and a function that drops pages that can be loaded
 * again. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdint.h>

/* The bytes that are allocated and not yet freed.  The number is deterministic: the same work gives
 * the same number. */
uint64_t rd_memory_used(void);

/* The machine's memory in bytes; 0 if unknown. */
uint64_t rd_memory_total(void);

/* Drops the resident pages of code and constants.  Pages needed again come from the page cache. */
void rd_memory_drop_code(void);

#endif
