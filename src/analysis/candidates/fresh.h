/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that nobody else can know yet: it came from an allocator or is a variable of the function, and its
 * address has gone nowhere but into calls that do not keep it.  What is done to it before it is made known
 * races with nothing.
 */
#ifndef CANDIDATES_FRESH_H
#define CANDIDATES_FRESH_H

#include "candidates/path.h"

struct fresh;
struct fresh *fresh_new(struct program *p);
void fresh_free(struct fresh *f);

/* Whether the value is memory that its instruction made. */
bool fresh_is_made(const struct program *p, uint32_t value);

/* Whether the address in `root`, an argument or a value that made memory, may have been made known when
 * control is at `at`, both of one function. */
bool fresh_is_known(struct fresh *f, uint32_t root, uint32_t at);

#endif
