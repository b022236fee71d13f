/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of locks that are certainly held, and whether the locks of two accesses have one in common.
 *
 * A lock is a path (candidates/path.h), the points-to set of its address, and whether it is held
 * only for reading.  Sets are numbered; set 0 is empty.  If a lock can be only one object, that
 * object is its root, and the lock means the same in every function.  Other locks are expressed by
 * values of a function and are translated at each call and return.
 *
 * To compare two accesses, locks are turned into *guards*, which have the same meaning in all
 * functions.  A guard is a lock that is the same everywhere; a lock at a distance from the data
 * itself ("o->lock of o->count"); or a lock of an array at the index of the data.
 */
#ifndef CANDIDATES_LOCK_INT_H
#define CANDIDATES_LOCK_INT_H

#include "candidates/path.h"

enum { LOCKS_MAX = 12 }; /* of a set; further locks are ignored.  Set by hand, deeper nesting is rare */

struct lock {
	struct path path;
	uint32_t set; /* of the facts */
	bool read;
};

struct locks {
	struct program *p;
	struct lock *items;
	size_t count, capacity;
	struct rd_tuples known, sets, guards, guard_sets;
};

void locks_init(struct locks *l, struct program *p);
void locks_release(struct locks *l);

/* The number of the lock that a call acquires or releases; `operand` is the lock's address. */
uint32_t lock_at(struct locks *l, uint32_t operand, bool read);

uint32_t lockset_add(struct locks *l, uint32_t set, uint32_t lock);
/* If the lock is not in the set, those that may be the same are removed. */
uint32_t lockset_remove(struct locks *l, uint32_t set, uint32_t lock);
uint32_t lockset_meet(struct locks *l, uint32_t a, uint32_t b);
bool lockset_has(const struct locks *l, uint32_t set, uint32_t lock); /* the same path */
uint32_t lockset_unite(struct locks *l, uint32_t a, uint32_t b);
size_t lockset_copy(const struct locks *l, uint32_t set, uint32_t items[LOCKS_MAX]); /* returns how many */

/* A set as the callee of a call sees it. */
uint32_t lockset_enter(struct locks *l, uint32_t set, uint32_t call, uint32_t callee);

/* A lock of the callee as the caller sees it; false: the caller cannot name it. */
bool lock_leave(struct locks *l, uint32_t lock, uint32_t call, uint32_t callee, uint32_t *out);

/* The guards of an access with this path while the set is held, as the number of a set of guards.
 */
uint32_t guards_of(struct locks *l, uint32_t set, const struct path *data);
/* Whether two sets have a guard in common that at least one side does not hold just for reading. */
bool guards_exclude(const struct locks *l, uint32_t a, uint32_t b);

/* Whether some locks of the two sets may be the same. */
bool locksets_overlap(const struct locks *l, uint32_t a, uint32_t b);

#endif
