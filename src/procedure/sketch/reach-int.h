/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the sites of an instrumented program that a slice covers: all sites on the lines of the
 * slice, and other accesses to variables and members of the same name.  The latter stand for
 * accesses that a watchpoint would find.
 */
#ifndef SKETCH_REACH_INT_H
#define SKETCH_REACH_INT_H

#include "base/map.h"
#include "slice/slice.h"
#include "trace/sites.h"

struct reach {
	uint32_t *sites; /* the sites at which runs are stopped */
	size_t count, capacity;
	struct slice slice;
	bool sliced;
	struct rd_names keys; /* numbers the lines, variables and members of the slice */
	uint32_t *nearest;    /* by key: the smallest distance of a statement that has it */
	size_t nearest_capacity;
};

/* Makes the slice of a place in the source.  If the program has no such place, makes no slice;
 * this is not an error. */
int reach_open(struct reach *r, const struct facts *facts, const char *file, uint32_t line);
void reach_close(struct reach *r);

/* Finds the sites that the first `sigma` statements cover.  They replace the sites that were found
 * before. */
void reach_sites(struct reach *r, const struct trace_sites *sites, uint32_t sigma);

/* Returns the distance of the statement from the failure, or UINT32_MAX if it is not in the
 * slice. */
uint32_t reach_distance(const struct reach *r, const struct slice_statement *s);

#endif
