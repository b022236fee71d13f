/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds which records of a thread correspond to which records of the golden (fault-free) run, even
 * after the two runs have diverged.
 *
 * As long as both runs execute the same instructions, each record has a partner.  Where the runs
 * diverge, the aligner searches the records of both for the nearest place where they agree again.
 * Such a place is a sequence of equal instructions at the same call depth, with the fewest
 * unmatched records before it.  The number of records that a search examines is bounded.  If the
 * search fails, the records of both runs are skipped up to the end of the scope in which they
 * diverged.  The total time is therefore linear in the length of the two sequences.
 */
#ifndef EPA_ALIGN_H
#define EPA_ALIGN_H

#include "epa/reference.h"

/* The number of records that a search examines.  Set by hand: the time of a search grows with the
 * square of this number. */
#define EPA_ALIGN_WINDOW 1024

struct epa_align_sink {
	void *context;
	/* Called for each pair of records of the same instruction, one from each run.  `number` is
	 * the number of the golden record. */
	void (*pair)(void *context, const struct epa_record *golden, const struct epa_record *run,
		     uint64_t number);
	/* Called where the runs diverge, with the next record of each run.  A record is NULL if its
	 * run has no further records. */
	void (*part)(void *context, size_t place, const struct epa_record *golden,
		     const struct epa_record *run, uint64_t number);
	/* Called for a record that only the golden run or only this run has. */
	void (*only)(void *context, size_t place, const struct epa_record *r, bool golden);
};

struct epa_aligner;
/* Makes an aligner for a thread that has done the same in both runs so far.  The cursor points to
 * the thread's next golden record and belongs to the caller; it is NULL if there are no golden
 * records.  `last` is the thread's most recent record.  If the thread has no records yet, the
 * depth of `last` is 0. */
struct epa_aligner *epa_aligner_new(const struct epa_align_sink *sink, const struct epa_record *last,
				    struct epa_cursor *cursor);
void epa_aligner_free(struct epa_aligner *a); /* `a` may be NULL */

/* Passes the thread's next record to the aligner. */
void epa_aligner_feed(struct epa_aligner *a, const struct epa_record *r);

/* Matches the records that are still in the queue.  Call this after the last record.  The cursor
 * then points to the golden record at which the thread ended. */
void epa_aligner_end(struct epa_aligner *a);

#endif
