/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Determines which memory is fresh.  Fresh memory is a new allocation or local variable that no
 * other thread can reach yet, because its address was passed only to calls that do not keep it.
 * Accesses to it cannot race until its address is published.
 */
#ifndef CANDIDATES_FRESH_INT_H
#define CANDIDATES_FRESH_INT_H

#include "candidates/path.h"

struct fresh;
struct fresh *fresh_new(struct program *p);
void fresh_free(struct fresh *f);

/* Returns true if the value is an instruction that creates memory and returns its address. */
bool fresh_is_made(const struct program *p, uint32_t value);

/* Returns true if the address in `root` may have been published before control reaches the
 * instruction `at` of the same function.  `root` is an argument, or a value that created memory. */
bool fresh_is_known(struct fresh *f, uint32_t root, uint32_t at);

#endif
