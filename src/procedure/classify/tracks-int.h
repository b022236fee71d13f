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
	bool point_only;    /* it is a point, but does not make the accessed bytes tracked */
	const char *object; /* what the race is about that it belongs to; NULL: unknown */
};

/* A published store belongs to every race that publishes it. */
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

/* Collects the accesses of all races of the set, as far as the program has them.  The caller
 * releases the result. */
void tracks_gather(struct tracks *t, const struct finding_set *set, const struct trace_sites *sites);
void tracks_copy(struct tracks *t, const struct tracks *from);
void tracks_release(struct tracks *t);

/* Adds what runs have shown to be published. */
void tracks_add_published(struct tracks *t, const struct raddle_published *pairs, size_t count);

/* Adds the records of these accesses to a schedule that owns nothing but these lists.  Accesses
 * that belong to `except` are left out; it may be NULL. */
void tracks_fill(const struct tracks *t, const char *except, struct schedule *lists);

/* Whether tracks_fill() with this `except` adds any tracked access. */
bool tracks_has_others(const struct tracks *t, const char *except);

#endif
