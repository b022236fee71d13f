/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory this process has allocated, how much there is, and giving back what can be had again. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdint.h>

/* Bytes that were allocated and not freed; the same in each run that does the same. */
uint64_t rd_memory_used(void);

/* Bytes that the machine has; 0: unknown. */
uint64_t rd_memory_total(void);

/* Lets go of the pages of code and constants that this process has used so far; those that it needs again
 * come back from the page cache. */
void rd_memory_drop_code(void);

#endif
