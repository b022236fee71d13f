/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside classify/: chooses the accesses that are executed under a weaker memory model.  These are
 * the accesses of the race, those of the other races of the set, and the stores that these
 * accesses publish.  An access publishes an earlier store by the same thread if another thread
 * read the stored value after the access.
 */
#ifndef CLASSIFY_TRACKS_INT_H
#define CLASSIFY_TRACKS_INT_H

#include "classify/blame-int.h"
#include "finding/finding.h"
#include "finding/schedule.h"
#include "raddle/memory.h"
#include "trace/sites.h"

struct model_track {
	uint32_t site;
	bool write;
	bool point_only; /* the access is a point, but does not make the accessed bytes tracked */
	/* The access belongs to a race; otherwise it is a published store, or the read of one. */
	bool racy;
	/* the object of the race to which the access belongs, or NULL if unknown */
	const char *object;
};

/* Connects a published store with the object of a race that publishes it.  A store may have several
 * edges. */
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

/* Collects the accesses of all races of the set that have a site in the program.  The caller
 * releases the result. */
void tracks_gather(struct tracks *t, const struct finding_set *set, const struct trace_sites *sites);
void tracks_copy(struct tracks *t, const struct tracks *from);
void tracks_release(struct tracks *t);

/* Adds stores that runs have shown to be published. */
void tracks_add_published(struct tracks *t, const struct raddle_published *pairs, size_t count);

/* Objects of races.  The strings belong to the tracks. */
struct track_objects {
	const char *names[BLAME_PARTS];
	size_t count;
};

/* Stores the objects of all races; returns false if there are too many. */
bool tracks_objects(const struct tracks *t, struct track_objects *objects);

/*
 * Adds all accesses to the watches of `lists`, a schedule that is used only for its lists.  Also
 * adds them to its tracked accesses, except those with `point_only`.  If `only` is not NULL, a
 * tracked access must also meet one of these conditions:
 *   - Its object is not known.
 *   - It belongs to a race about one of the objects `only`.
 *   - It belongs to no race, and a race about one of these objects publishes it.
 */
void tracks_fill(const struct tracks *t, const struct track_objects *only, struct schedule *lists);

#endif
