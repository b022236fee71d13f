/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps sets of locks that are certainly held, and decides whether a common lock protects two
 * accesses.
 *
 * A lock consists of a path (candidates/path.h), the points-to set of its address, and a flag that
 * is true if it is held only for reading.  Sets are numbered, and set 0 is empty.  If a lock can be
 * only one object, that object is its root, and the lock has the same meaning in every function.
 * Other locks are expressed by values of a function, and are translated at each call and return.
 *
 * To compare two accesses, locks are turned into *guards*, which have the same meaning in all
 * functions.  There are three kinds of guards: a lock that is the same everywhere, a lock at a
 * fixed distance from the data (o->lock for the data o->count), and the element of an array of
 * locks at the index of the data.
 */
#ifndef CANDIDATES_LOCK_INT_H
#define CANDIDATES_LOCK_INT_H

#include "candidates/path.h"

/* The largest number of locks in a set.  Further locks are ignored.  Set by hand: locks are rarely
 * nested more deeply. */
enum { LOCKS_MAX = 12 };

struct lock {
	struct path path;
	uint32_t set; /* points-to set of its address, as numbered in the facts */
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

/* Returns the number of the lock that a call acquires or releases.  `operand` is the address of the
 * lock. */
uint32_t lock_at(struct locks *l, uint32_t operand, bool read);

uint32_t lockset_add(struct locks *l, uint32_t set, uint32_t lock);
/* Removes a lock from a set.  If the set does not contain this lock, removes all locks that may be
 * the same lock. */
uint32_t lockset_remove(struct locks *l, uint32_t set, uint32_t lock);
uint32_t lockset_meet(struct locks *l, uint32_t a, uint32_t b);
/* Returns true if the set contains a lock with the same path. */
bool lockset_has(const struct locks *l, uint32_t set, uint32_t lock);
uint32_t lockset_unite(struct locks *l, uint32_t a, uint32_t b);
/* Copies the locks of a set to `items`, and returns their number. */
size_t lockset_copy(const struct locks *l, uint32_t set, uint32_t items[LOCKS_MAX]);

/* Translates a set from the caller of `call` to the callee. */
uint32_t lockset_enter(struct locks *l, uint32_t set, uint32_t call, uint32_t callee);

/* Translates a lock from the callee to the caller.  Returns false if the caller cannot name it. */
bool lock_leave(struct locks *l, uint32_t lock, uint32_t call, uint32_t callee, uint32_t *out);

/* Turns locks into guards, which have the same meaning in all functions.  The locks are those of
 * `set`, and are held at an access to the data with the path `data`.  Returns the number of the
 * set of guards. */
uint32_t guards_of(struct locks *l, uint32_t set, const struct path *data);
/* Returns true if two sets of guards have a common guard that at least one side holds
 * exclusively. */
bool guards_exclude(const struct locks *l, uint32_t a, uint32_t b);

/* Returns true if a lock of one set may be the same as a lock of the other. */
bool locksets_overlap(const struct locks *l, uint32_t a, uint32_t b);

#endif
