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

/* Maximum number of accesses in an iteration; a loop with longer iterations is never certified as a
 * spin.  Without optimisation, an iteration with std::this_thread::sleep_for() makes some 100. */
#define RT_SPIN_ENTRIES 240
#define RT_SPIN_TABLE 512 /* size of the hash table of the entries */

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
		bool write, atomic;
		bool idle;     /* only values in memory depend on the access */
		bool restless; /* the access is idle, and its location has changed */
		/* the position of the entry that was looked up after this one last time */
		uint8_t after;
	} entries[RT_SPIN_ENTRIES];
	uint32_t count;
	uint32_t last; /* the position of the entry that was looked up last */
	/* 1 plus the position of an entry, or 0; a hash table with linear probing.  Valid if `count` is
	 * not 0. */
	uint8_t table[RT_SPIN_TABLE];
	uint32_t steady; /* number of accesses in a row that read nothing new */
	uint32_t yields; /* number of yields during the accesses that `steady` counts */
	bool notified;	 /* the certificate has been begun but is not complete */
	uint32_t fresh;	 /* number of accesses that count as new without a look at the ledger */
};

#endif
