/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses that the recorded run itself shows unordered.  They are found by one walk over the whole
 * trace with vector clocks, in linear time, as a detector does during a run.  The walk shows where
 * in a long run to look for races first, and which pairs are firmly unordered: these are races that
 * happened.
 */
#ifndef PREDICT_UNORDERED_INT_H
#define PREDICT_UNORDERED_INT_H

#include "model/model.h"

/* Two sites whose accesses to the same bytes by two threads conflict and are not ordered.  `part`
 * is the shortest part of the run with such a pair, firm pairs first. */
struct predict_unordered {
	uint32_t sites[2]; /* the smaller number first */
	struct model_part part;
	uint64_t address;    /* the first byte that both access in that part, */
	uint32_t threads[2]; /* the threads, in the order of the sites, */
	bool writes[2], atomic[2];
	uint8_t before[2]; /* and how many bytes before `address` each access begins, within its eight bytes
			    */
	bool firm;	   /* nothing in the run could have ordered these two, see unordered.c */
};

struct predict_unordered_list {
	struct predict_unordered *items; /* one for each pair of sites */
	size_t count, capacity;
	bool cut; /* the run has too many threads, or the memory did not suffice for all of it */
};

/* Walks over the trace of the model, within about so many bytes (0: no limit), until its deadline
 * (trace/reader.h). */
void predict_find_unordered(const struct model *m, uint64_t memory, struct predict_unordered_list *out);
void predict_unordered_release(struct predict_unordered_list *list);

#endif
