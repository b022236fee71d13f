/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of this process and of the machine, and a function that drops pages that can be loaded
 * again. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdint.h>

/* Returns the number of bytes that are allocated and not yet freed.  It is deterministic: the same
 * work leads to the same number. */
uint64_t rd_memory_used(void);

/* Returns the size of the machine's memory in bytes, or 0 if it is unknown. */
uint64_t rd_memory_total(void);

/* Drops the resident pages of code and constants.  Pages that are needed again are read from the
 * page cache. */
void rd_memory_drop_code(void);

#endif
