/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Represents addresses as paths.  A path begins at a root, adds an offset, loads a pointer, adds an
 * offset, and so on.  For example, `o->next->lock` consists of the root `o`, a load at the offset
 * of `next`, and the offset of `lock`.  At most one step may select an array element by a variable
 * index.
 *
 * Two equal paths in one function are assumed to be the same address.  If the root is global, this
 * is also assumed for equal paths in different functions.  In other words, the pointers that a path
 * loads are assumed not to change between two uses (doc/design/candidates.md).
 */
#ifndef CANDIDATES_PATH_H
#define CANDIDATES_PATH_H

#include "candidates/program.h"

/* The largest number of loads in a path.  If an address needs more loads, its path begins at a
 * loaded value instead.  Set by hand. */
enum { PATH_LOADS = 3 };

enum path_root {
	PATH_NONE,
	PATH_VALUE,  /* a value of a function */
	PATH_GLOBAL, /* a global variable, by number */
	PATH_OBJECT, /* a unique object, by number */
};

struct path {
	uint32_t kind, root;
	uint32_t loads;
	int64_t offsets[PATH_LOADS + 1]; /* the offset before each load, then the last offset */
	/* The variable index, which is an operand without casts, or FACTS_NONE if there is none. */
	uint32_t index;
	uint32_t index_at; /* the number of the step that has the index */
	int64_t stride;
};

struct path path_of(const struct facts *f, uint32_t operand);
bool path_equal(const struct path *a, const struct path *b);

/* Returns true if the path `p` begins with the path `base`.  In that case, replaces this beginning
 * by the root that `kind` and `root` describe, and stores the new path in *out.  Here and below,
 * *out may be one of the input paths. */
bool path_rebase(const struct path *p, const struct path *base, enum path_root kind, uint32_t root,
		 struct path *out);

/* Prepends the path `base` to the path `rest`, whose root represents the address `base`. */
bool path_append(const struct path *base, const struct path *rest, struct path *out);

enum { PATH_NUMBERS = 14 }; /* six numbers at most, and two for each offset */
/* Writes a path as numbers, for a hash.  Returns how many there are. */
size_t path_numbers(const struct path *p, uint32_t numbers[PATH_NUMBERS]);

#endif
