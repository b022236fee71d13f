/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Canonical records: what a thread did, in a form that is the same in every run of a
 * pseudo-deterministic program.
 *
 * 	struct epa_sanitizer *s = epa_sanitizer_new(walk, &names);
 * 	while (epa_sanitizer_next(s, &r) > 0) ...
 *
 * Addresses and pointers are replaced by canonical names (epa/name.h), and threads are named after
 * their creators and counted there.  Whatever depends only on the schedule is left out: positions
 * in the order, times, waits, allocations inside libraries.
 *
 * The schedule decides how often a loop around a condition wait iterates.  Iterations that end in a
 * wait are left out; only the one that found the condition true remains.  To do so, records are
 * delayed while a thread holds a mutex, provided that the program has condition waits
 * (epa/delay-int.h).  The records of a thread stay in order.
 *
 * A record is a head and up to EPA_SLOTS slots, each a number or a name:
 *
 * 	load, store, alloca      address, value or size
 * 	copy, fill               address, source or byte, length
 * 	call, entry, return, ... callee if it is indirect, values
 * 	range                    address, length; where bytes enter or leave the program: hash, pointers
 * 	atomic                   address, whether it stored, values
 * 	event                    its objects and results
 * 	fault                    nothing; only for a call that it prevented, or a byte of an address that it
 * 	                         changed
 *
 * Values of more than 8 bytes take several slots; what does not fit is folded into the last slot.
 */
#ifndef EPA_SANITIZE_H
#define EPA_SANITIZE_H

#include "epa/object.h"

#define EPA_SLOTS 16 /* set by hand: few calls have more values, and many records are stored */

struct epa_record {
	uint32_t site;
	uint8_t kind;  /* enum trace_full_kind */
	uint8_t event; /* enum raddle_event of an event, else 0 */
	uint8_t count; /* slots */
	bool unfinished;
	struct epa_name slots[EPA_SLOTS];
	/* Not part of what is compared: */
	uint32_t depth;		   /* scopes that the thread is in */
	const struct trace_op *op; /* of the layout: the types of its values; NULL: unknown */
	size_t place;		   /* of the thread in the walk */
	uint64_t address, size;	   /* of the access, in this run */
	uint64_t value;		   /* the first one, in this run; of a copy: the source */
};

/* Whether slot 0 is the address of an access. */
static inline bool epa_record_has_address(const struct epa_record *r)
{
	switch (r->kind) {
	case TRACE_FULL_LOAD:
	case TRACE_FULL_STORE:
	case TRACE_FULL_ALLOCA:
	case TRACE_FULL_COPY:
	case TRACE_FULL_FILL:
	case TRACE_FULL_RANGE:
	case TRACE_FULL_ATOMIC: return true;
	default: return false;
	}
}

struct epa_sanitizer;
/* Walk and names must outlive it. */
struct epa_sanitizer *epa_sanitizer_new(struct epa_walk *walk, struct epa_names *names);
void epa_sanitizer_free(struct epa_sanitizer *s); /* NULL is fine */
struct epa_objects *epa_sanitizer_objects(struct epa_sanitizer *s);

/* 1: *r is the next canonical record, in the order of the walk.  0: there are no more. */
int epa_sanitizer_next(struct epa_sanitizer *s, struct epa_record *r);

/* Faults that were injected into the part of the run that was read. */
#define EPA_FAULTS 16
struct epa_fault {
	uint32_t thread; /* number of its name */
	uint32_t site;
	uint64_t before, after; /* the value, or the result of a call that was not made */
};
const struct epa_fault *epa_sanitizer_faults(const struct epa_sanitizer *s, size_t *count);

/* --- as words, to be stored and compared --- */

#define EPA_WORDS (1 + 2 * EPA_SLOTS)
/* Returns the number of words. */
size_t epa_record_pack(const struct epa_record *r, uint64_t words[EPA_WORDS]);
/* How many words the record with that head has. */
static inline size_t epa_packed_size(uint64_t head)
{
	return 1 + (head >> 43 & 31) + (size_t)__builtin_popcountll(head >> 48);
}
/* Site, kind and event, which identify the instruction whether it was finished or not. */
uint64_t epa_packed_key(uint64_t head);
uint64_t epa_record_key(const struct epa_record *r);

/* Skips records of the last record's thread as long as they equal the packed records.  The effect
 * is that of epa_sanitizer_next() and epa_record_pack(), but no records are created.  This works
 * only for common loads, stores and branches; the function stops before any other record and leaves
 * it unread. */
struct epa_passed {
	uint64_t records;
	size_t words;  /* of all these records */
	uint32_t site; /* of the last one, if any */
	uint8_t kind;
};
void epa_sanitizer_pass(struct epa_sanitizer *s, const uint64_t *words, const uint64_t *end,
			struct epa_passed *passed);

/* The words must be complete; members that are not compared are not set. */
void epa_record_unpack(struct epa_record *r, const uint64_t *words);

#endif
