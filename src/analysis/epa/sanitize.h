/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Canonical records describe what a thread did, in a form that is the same in every run of a
 * pseudo-deterministic program.
 *
 * 	struct epa_sanitizer *s = epa_sanitizer_new(walk, &names);
 * 	while (epa_sanitizer_next(s, &r) > 0) ...
 *
 * Addresses and pointers are replaced by canonical names (epa/name.h).  A thread is named by its
 * creator and a number that counts the creator's threads.  Whatever depends only on the schedule
 * is left out: positions in the order, times, waits, allocations inside libraries.
 *
 * The schedule decides how often a loop around a condition wait iterates.  Iterations that end in a
 * wait are left out, and only the iteration that found the condition true remains.  For this
 * purpose, records are delayed while a thread holds a mutex, provided that the program has
 * condition waits (epa/delay-int.h).  The records of a thread stay in order.
 *
 * A record consists of a head and up to EPA_SLOTS slots.  Each slot is a number or a name:
 *
 * 	load, store, alloca      address, value or size
 * 	copy, fill               address, source or byte, length
 * 	call, entry, return, ... callee if it is indirect, values
 * 	range                    address, length; where bytes enter or leave the program: hash, pointers
 * 	atomic                   address, whether it stored, values
 * 	event                    its objects and results
 * 	fault                    no slots; has a record only if it prevented a call or changed a
 * 	                         byte of an address
 *
 * Values of more than 8 bytes occupy several slots.  Whatever does not fit is folded into the last
 * slot.
 */
#ifndef EPA_SANITIZE_H
#define EPA_SANITIZE_H

#include "epa/object.h"

/* The largest number of slots, each of which holds a value of a record.  It was set by hand.  Few
 * calls have more values, and a larger number would take more memory, because many records are
 * stored. */
#define EPA_SLOTS 16

struct epa_record {
	uint32_t site;
	uint8_t kind;  /* enum trace_full_kind */
	uint8_t event; /* enum raddle_event, if the record is an event; else 0 */
	uint8_t count; /* number of slots */
	bool unfinished;
	struct epa_name slots[EPA_SLOTS];
	/* Comparisons ignore the following members. */
	uint32_t depth; /* number of scopes that the thread is in */
	/* The instruction in the layout, with the types of its values, or NULL if it is unknown. */
	const struct trace_op *op;
	size_t place;		/* place of the thread in the walk */
	uint64_t address, size; /* address and size of the access, in this run */
	/* The first value in this run.  For a copy, this is the source address. */
	uint64_t value;
};

/* Returns true if slot 0 is the address of an access. */
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
/* Makes a sanitizer.  Walk and names must outlive it. */
struct epa_sanitizer *epa_sanitizer_new(struct epa_walk *walk, struct epa_names *names);
void epa_sanitizer_free(struct epa_sanitizer *s); /* `s` may be NULL */
struct epa_objects *epa_sanitizer_objects(struct epa_sanitizer *s);

/* Stores the next canonical record, in the order of the walk, in *r and returns 1.  Returns 0 if
 * there are no more. */
int epa_sanitizer_next(struct epa_sanitizer *s, struct epa_record *r);

#define EPA_FAULTS 16 /* the largest number of faults that are kept */
/* A fault that was injected into the part of the run that was read. */
struct epa_fault {
	uint32_t thread; /* number of the thread's name */
	uint32_t site;
	/* The value before and after the fault, or the result of a call that was not made. */
	uint64_t before, after;
};
const struct epa_fault *epa_sanitizer_faults(const struct epa_sanitizer *s, size_t *count);

/* --- records packed into words, to be stored and compared --- */

#define EPA_WORDS (1 + 2 * EPA_SLOTS)
/* Packs a record into words.  Returns their number. */
size_t epa_record_pack(const struct epa_record *r, uint64_t words[EPA_WORDS]);
/* Returns the number of words of the record with that head. */
static inline size_t epa_packed_size(uint64_t head)
{
	return 1 + (head >> 43 & 31) + (size_t)__builtin_popcountll(head >> 48);
}
/* These functions return the site, kind and event of a record as one number.  The number identifies
 * the instruction, whether or not it was finished. */
uint64_t epa_packed_key(uint64_t head);
uint64_t epa_record_key(const struct epa_record *r);

/* The records that epa_sanitizer_pass() skipped. */
struct epa_passed {
	uint64_t records;
	size_t words;  /* number of words of all skipped records */
	uint32_t site; /* site of the last skipped record; unchanged if no record was skipped */
	uint8_t kind;
};
/* Skips records of the same thread as the last record, as long as they equal the packed records.
 * The effect is that of epa_sanitizer_next() and epa_record_pack(), but no records are created.
 * Only common loads, stores and branches can be skipped.  The function stops before any other
 * record. */
void epa_sanitizer_pass(struct epa_sanitizer *s, const uint64_t *words, const uint64_t *end,
			struct epa_passed *passed);

/* Unpacks a complete record.  Members that are not compared are not set. */
void epa_record_unpack(struct epa_record *r, const uint64_t *words);

#endif
