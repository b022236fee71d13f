/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the last accesses to each byte, and finds accesses without a fixed order.  The result is
 * pairs of segments that the vector clocks of the run do not order.
 *
 * For each byte, the last write and each thread's last read since that write are kept.  If every
 * access is ordered before the next access that conflicts with it, all conflicting accesses to the
 * byte are ordered.
 */
#ifndef REVERSIBLE_SHADOW_H
#define REVERSIBLE_SHADOW_H

#include "reversible/order.h"

/* The kind of an access, as shown in reports. */
enum rev_access {
	REV_READ,
	REV_WRITE,
	REV_ATOMIC_READ,
	REV_ATOMIC_WRITE,
	REV_RELEASED, /* memory was released by free, realloc or munmap */
	REV_REUSED,   /* a local variable replaces an earlier one */
	REV_SYNC,     /* an operation, or the initialisation or destruction of its object */
	REV_CALLED,   /* a library function wrote memory, or changed a hidden state */
};

/* Two segments whose order is not fixed, and one byte that both touch. */
struct rev_pair {
	/* In the run, segment s of thread t came first and segment r of thread u second, as in
	 * struct rev_question. */
	uint32_t t, s, u, r;
	uint32_t count;	       /* number of accesses that showed the pair */
	uint8_t first, second; /* enum rev_access */
	/* Bits that are set if an event is itself an operation.  Bit 0: the first event is
	 * operation s + 1.  Bit 1: the second event is operation r, or r + 1 if bit 2 is also
	 * set. */
	uint8_t ops;
	uint64_t address;
};

struct rev_shadow;
struct rev_shadow *rev_shadow_new(const struct rev_run *run);
void rev_shadow_free(struct rev_shadow *s);

/* An access by thread u in its segment r. */
struct rev_touch {
	uint32_t u, r;
	uint64_t address, size;
	uint8_t access; /* enum rev_access */
	uint8_t ops;	/* bits 1 and 2 as in struct rev_pair */
};
void rev_shadow_touch(struct rev_shadow *s, const struct rev_touch *t);

/* Ends a lifetime of the memory, for example when it is freed.  This counts as a write to all of
 * its bytes that have been accessed.  The accesses to the memory are then forgotten.  With
 * `fresh`, a new lifetime with undefined contents begins. */
void rev_shadow_end(struct rev_shadow *s, const struct rev_touch *t, bool fresh);
/* Treats the release of a block of memory as a write to all of its bytes, including bytes that are
 * accessed only later. */
void rev_shadow_release(struct rev_shadow *s, const struct rev_touch *t);
/* Begins a new lifetime of the memory, and forgets what was there before. */
void rev_shadow_clear(struct rev_shadow *s, uint64_t address, uint64_t size, bool fresh);
/* Notes that unrecorded code may have written the memory from `address` up to the next byte that
 * is known to be written. */
void rev_shadow_fill(struct rev_shadow *s, uint64_t address);
/* Returns true if one of the bytes has never been written in this lifetime. */
bool rev_shadow_is_fresh(struct rev_shadow *s, uint64_t address, uint64_t size);

/* Adds a pair of operations that depend on each other but not through memory. */
void rev_shadow_add(struct rev_shadow *s, const struct rev_pair *pair);

typedef void rev_conflict_fn(void *context, uint64_t address, bool ordered);
/* Makes the shadow memory call `fn` for every two conflicting accesses from now on. */
void rev_shadow_listen(struct rev_shadow *s, rev_conflict_fn *fn, void *context);

/* Returns the pairs, in the order in which they were found.  Stores their number in *count. */
const struct rev_pair *rev_shadow_pairs(const struct rev_shadow *s, size_t *count);
/* Stores in *conflicts the number of pairs of adjacent conflicting accesses by two threads, and in
 * *ordered how many of these pairs have a fixed order.  Sets *overflow to true if some pairs of
 * segments were not kept. */
void rev_shadow_counts(const struct rev_shadow *s, uint64_t *conflicts, uint64_t *ordered, bool *overflow);

#endif
