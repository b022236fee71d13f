/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which records of a thread of the run belong to which golden ones, also behind a place where the two went
 * different ways.
 *
 * As long as both execute the same instructions each record has its partner.  Where they part, both are
 * searched for the nearest place where they do the same again: the same instructions in a row at the same
 * depth of calls, the fewest records left over.  The search is bounded; if it finds nothing, both are taken
 * to where the scope in which they parted has been left.  So the work is linear in the length of both.
 */
#ifndef EPA_ALIGN_H
#define EPA_ALIGN_H

#include "epa/reference.h"

#define EPA_ALIGN_WINDOW 1024

struct epa_align_sink {
	void *context;
	/* Both executed the same instruction; `number` is the golden record's. */
	void (*pair)(void *context, const struct epa_record *golden, const struct epa_record *run,
		     uint64_t number);
	/* They part: what each does next, NULL: nothing. */
	void (*part)(void *context, size_t place, const struct epa_record *golden,
		     const struct epa_record *run, uint64_t number);
	/* Only the golden run or only this one has the record. */
	void (*only)(void *context, size_t place, const struct epa_record *r, bool golden);
};

struct epa_aligner;
/* The cursor is the caller's and stands at the thread's next golden record; NULL: there are none.  So far
 * both did the same; `last` is the thread's last record, or has depth 0. */
struct epa_aligner *epa_aligner_new(const struct epa_align_sink *sink, const struct epa_record *last,
				    struct epa_cursor *cursor);
void epa_aligner_free(struct epa_aligner *a); /* NULL is fine */

/* The thread's next record. */
void epa_aligner_feed(struct epa_aligner *a, const struct epa_record *r);

/* There are no more: decides about those that wait.  The cursor then stands where the thread ended. */
void epa_aligner_end(struct epa_aligner *a);

#endif
