/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger of a thread: the locations that it has accessed since its last operation, with their
 * values.  The ledger shows whether a thread merely waits in a loop (rt/steer/spin.c).
 *
 * Invariant: each pair of address and site has at most one entry.
 */
#ifndef RT_STEER_SPIN_INT_H
#define RT_STEER_SPIN_INT_H

#include <stdbool.h>
#include <stdint.h>

/* maximum number of accesses in an iteration; a loop with longer iterations is never certified as a
 * spin */
#define RT_SPIN_ENTRIES 32

/* So many accesses of a thread after each of its operations are not entered in the ledger.  Most threads
 * do their next operation before that, and a loop that waits makes many more accesses or yields.  Chosen
 * by hand. */
#define RT_SPIN_FRESH 16

/* What a thread has accessed since its last operation (rt/steer/spin.c). */
struct rt_spin {
	struct rt_spin_entry {
		uintptr_t address;
		uint64_t value; /* the value at the last access, if `visited` */
		uint32_t site, size;
		bool visited;
		/* the position of the entry that was looked up after this one last time */
		uint8_t after;
	} entries[RT_SPIN_ENTRIES];
	uint32_t count;
	uint32_t last; /* the position of the entry that was looked up last */
	/* a Bloom filter: each entry sets a bit that depends on its address and site */
	uint64_t filter;
	uint32_t steady; /* number of accesses in a row that read nothing new */
	uint32_t yields; /* number of yields during the accesses that `steady` counts */
	bool notified;	 /* the certificate has been begun but is not complete */
	uint32_t fresh;	 /* number of accesses that count as new without a look at the ledger */
};

#endif
