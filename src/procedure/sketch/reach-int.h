/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the sites that a slice covers in a flavour.  These are the sites on its lines, and other
 * accesses to anything with the same name in the source, which a watchpoint would find.
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

/* Makes the slice of a place.  It is not an error if the program has no such place: there is then
 * no slice. */
int reach_open(struct reach *r, const struct facts *facts, const char *file, uint32_t line);
void reach_close(struct reach *r);

/* Finds the sites that the first `sigma` statements cover.  They replace the sites found before. */
void reach_sites(struct reach *r, const struct trace_sites *sites, uint32_t sigma);

/* The distance of the statement from the failure; UINT32_MAX if it is not in the slice. */
uint32_t reach_distance(const struct reach *r, const struct slice_statement *s);

#endif
