/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches: accesses of a steered program that the replayer wants to be points, or to know about
 * (raddle/steer.h).  The replayer writes the watches, and the runtime notes the accesses.
 */
#ifndef RADDLE_WATCH_H
#define RADDLE_WATCH_H

#include <stdatomic.h>
#include <stdint.h>

/* Both values were chosen by hand: they bound the shared memory. */
#define RADDLE_STEER_WATCHES 4096 /* the maximum number of watches of a plan */
#define RADDLE_STEER_SEEN 4000	  /* the run is ended after so many noted accesses */

/* A watch: an access that matches all of these fields is a point. */
struct raddle_steer_watch {
	uint32_t thread;	/* the position in the table, or NONE for any thread */
	uint32_t site;		/* 0 for any site */
	uint64_t address, size; /* size is 0 for any address */
	uint64_t after;		/* number of operations begun by the thread; UINT64_MAX for any */
	uint64_t occurrence;	/* which of the matching accesses, from 1, or 0 for all */
	uint32_t how;		/* bits: 1 for reads, 2 for writes */
	/* 1: the program stops at a matching access and asks; 2: the same, but only at the thread's
	 * first matching access after each of its operations; the others are not points */
	uint32_t stand;
	uint32_t note;	       /* with `stand`: the access is noted in `seen`, and the program goes on */
	_Atomic uint64_t seen; /* the number of matching accesses; written by the runtime */
};

/* A noted access of the thread in `slot`, which had begun `n` operations. */
struct raddle_steer_seen {
	uint32_t slot, site;
	uint64_t address, size, n;
	uint32_t write, unused;
};

#endif
