/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the recorded run itself shows unordered: one walk over the whole trace with vector clocks, linear in
 * its events, as a detector would have made it while the program ran.  It says where in a long run it is
 * worth looking for races first, and which pairs are firmly unordered: races that happened.
 */
#ifndef MODEL_UNORDERED_H
#define MODEL_UNORDERED_H

#include "model/model.h"

/* Two sites whose accesses of the same bytes by two threads conflict and were not ordered by what happened
 * between them; `part` is the shortest part of the run that has such two, firm ones before others. */
struct model_unordered {
	uint32_t sites[2]; /* the smaller number first */
	struct model_part part;
	uint64_t address;    /* the first byte that both access in that part, */
	uint32_t threads[2]; /* the threads, in the order of the sites, */
	bool writes[2], atomic[2];
	uint8_t before[2]; /* and how many bytes of `address`'s eight each accesses before it */
	bool firm;	   /* nothing that the run had could have ordered these two, see unordered.c */
};

struct model_unordered_list {
	struct model_unordered *items; /* one for each pair of sites */
	size_t count, capacity;
	bool cut; /* the memory did not suffice for the whole run */
};

/* Walks over the trace of the model, within about so many bytes (0: any), up to its deadline
 * (trace/reader.h). */
void model_find_unordered(const struct model *m, uint64_t memory, struct model_unordered_list *out);
void model_unordered_release(struct model_unordered_list *list);

#endif
