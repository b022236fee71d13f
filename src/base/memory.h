/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that return the memory sizes of this process and of the machine, and a function that
 * drops pages of code. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdint.h>

/* Returns the number of bytes that are allocated and not yet freed.  The number is deterministic:
 * the same work always leads to the same number. */
uint64_t rd_memory_used(void);

/* Returns the size of the machine's memory in bytes, or 0 if it is unknown. */
uint64_t rd_memory_total(void);

/* Drops the resident pages of code and constants.  Pages that are needed again are read from the
 * page cache. */
void rd_memory_drop_code(void);

#endif
