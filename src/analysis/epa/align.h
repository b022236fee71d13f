/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds which records of a thread correspond to which golden records, even after the two have
 * diverged.
 *
 * As long as both execute the same instructions, each record has a partner.  Where they diverge,
 * both are searched for the nearest place where they agree again.  That is a sequence of equal
 * instructions at the same call depth, with the fewest unmatched records before it.  The search is
 * bounded.  If it fails, both are skipped to the end of the scope in which they diverged.  So the
 * time is linear in the length of the two sequences.
 */
#ifndef EPA_ALIGN_H
#define EPA_ALIGN_H

#include "epa/reference.h"

#define EPA_ALIGN_WINDOW 1024 /* records that a search looks at; set by hand, bounds its quadratic time */

struct epa_align_sink {
	void *context;
	/* Both executed the same instruction; `number` is the golden record's. */
	void (*pair)(void *context, const struct epa_record *golden, const struct epa_record *run,
		     uint64_t number);
	/* They diverge: what each does next, NULL: nothing. */
	void (*part)(void *context, size_t place, const struct epa_record *golden,
		     const struct epa_record *run, uint64_t number);
	/* Only the golden run or only this one has the record. */
	void (*only)(void *context, size_t place, const struct epa_record *r, bool golden);
};

struct epa_aligner;
/* The caller owns the cursor, which is at the thread's next golden record; NULL: there are no
 * golden records.  So far both did the same; `last` is the thread's last record, or has depth 0. */
struct epa_aligner *epa_aligner_new(const struct epa_align_sink *sink, const struct epa_record *last,
				    struct epa_cursor *cursor);
void epa_aligner_free(struct epa_aligner *a); /* NULL is fine */

/* The thread's next record. */
void epa_aligner_feed(struct epa_aligner *a, const struct epa_record *r);

/* After the last record: decides about those in the queue.  The cursor is then where the thread
 * ended. */
void epa_aligner_end(struct epa_aligner *a);

#endif
