/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds accesses that are unordered in the recorded run itself.  This code walks once over the
 * whole trace and uses vector clocks, as a detector does during a run.  The walk takes linear
 * time.  Its result shows where in a long run to look for races first.  It also shows which pairs
 * are firm, that is, races that actually happened.
 */
#ifndef PREDICT_UNORDERED_INT_H
#define PREDICT_UNORDERED_INT_H

#include "model/model.h"

/* Two sites at which two threads made conflicting accesses to the same bytes, without any order
 * between the accesses.  `part` is the shortest part of the run that contains such a pair of
 * accesses.  If some of the pairs are firm, `part` contains a firm one. */
struct predict_unordered {
	uint32_t sites[2]; /* the sites; the smaller number comes first */
	struct model_part part;
	uint64_t address;    /* the first byte that both accesses in that part touch */
	uint32_t threads[2]; /* the threads of the accesses, in the order of the sites */
	bool writes[2], atomic[2];
	/* How many bytes before `address` each access begins, within an aligned unit of eight
	 * bytes. */
	uint8_t before[2];
	/* True if nothing in the run could have ordered the two accesses (unordered.c). */
	bool firm;
};

struct predict_unordered_list {
	struct predict_unordered *items; /* at most one for each pair of sites */
	size_t count, capacity;
	bool cut; /* the run has too many threads, or the memory was not enough for the whole run */
};

/* Walks over the trace of the model until its deadline (trace/reader.h).  The walk uses about
 * `memory` bytes; 0 means no limit. */
void predict_find_unordered(const struct model *m, uint64_t memory, struct predict_unordered_list *out);
void predict_unordered_release(struct predict_unordered_list *list);

#endif
