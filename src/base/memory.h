/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory this process uses, how much the machine has, and dropping reloadable pages. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdint.h>

/* Bytes allocated and not yet freed.  Deterministic: the same work gives the same number. */
uint64_t rd_memory_used(void);

/* The machine's memory in bytes; 0 if unknown. */
uint64_t rd_memory_total(void);

/* Drops the resident pages of code and constants.  Pages needed again come from the page cache. */
void rd_memory_drop_code(void);

#endif
