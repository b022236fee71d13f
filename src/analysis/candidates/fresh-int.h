/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that no other thread can know yet: it came from an allocator or is a local variable, and
 * its address was only passed to calls that do not keep it.  Accesses of it before its publication
 * do not race.
 */
#ifndef CANDIDATES_FRESH_INT_H
#define CANDIDATES_FRESH_INT_H

#include "candidates/path.h"

struct fresh;
struct fresh *fresh_new(struct program *p);
void fresh_free(struct fresh *f);

/* Whether the instruction of the value created the memory. */
bool fresh_is_made(const struct program *p, uint32_t value);

/* Whether the address in `root` (an argument, or a value that created memory) may have been
 * published when control is at `at`, in the same function. */
bool fresh_is_known(struct fresh *f, uint32_t root, uint32_t at);

#endif
