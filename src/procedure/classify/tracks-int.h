/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside classify/: which accesses are executed under a weaker memory model.  These are the
 * accesses of the race, those of the other races of the set, and stores that these accesses
 * publish: what their thread stored before and another thread read afterwards.
 */
#ifndef CLASSIFY_TRACKS_INT_H
#define CLASSIFY_TRACKS_INT_H

#include "finding/finding.h"
#include "finding/schedule.h"
#include "raddle/memory.h"
#include "trace/sites.h"

struct model_track {
	uint32_t site;
	bool write;
	bool point_only;    /* threads can be stopped there, but what is accessed is not tracked for it */
	const char *object; /* of the race that it belongs to; NULL: unknown */
};

/* A store that a race publishes belongs to it too. */
struct track_edge {
	uint32_t site;
	const char *object;
};

struct tracks {
	const struct trace_sites *sites;
	struct track_edge *edges;
	size_t edge_count, edge_capacity;
	struct model_track *items;
	size_t count, capacity;
};

/* The accesses of all races of the set that the program has.  To be released. */
void tracks_gather(struct tracks *t, const struct finding_set *set, const struct trace_sites *sites);
void tracks_copy(struct tracks *t, const struct tracks *from);
void tracks_release(struct tracks *t);

/* What runs have shown to be published. */
void tracks_add_published(struct tracks *t, const struct raddle_published *pairs, size_t count);

/* Adds the records of these accesses to a schedule that owns nothing but these lists.  Accesses
 * that belong to `except` are left out; it may be NULL. */
void tracks_fill(const struct tracks *t, const char *except, struct schedule *lists);

/* Whether tracks_fill() leaves some over. */
bool tracks_has_others(const struct tracks *t, const char *except);

#endif
