/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Represents shared memory as variables.
 *
 * An object's bytes are cut wherever an access begins or ends.  The pieces are called granules.
 * Two accesses share a granule if and only if they overlap.  A segment is what a thread does
 * between two synchronisation operations.  If the same sites access several granules of an object
 * in the same segments, prediction treats these granules as one variable.  For instance, a buffer
 * that one thread fills and another thread reads is one variable.
 */
#ifndef PREDICT_GRANULE_INT_H
#define PREDICT_GRANULE_INT_H

#include "model/model.h"

struct granules;

/* Cuts the accesses of all histories of the model into granules. */
struct granules *granules_new(const struct model *m);
void granules_free(struct granules *g);

uint32_t granules_variables(const struct granules *g);

/* Iterates over the shared granules of one access. */
struct granule_walk {
	struct granules *g;
	const struct model_access *access;
	uint64_t at;	       /* offset at which the remaining bytes begin */
	uint32_t next;	       /* number of the granule at `at` */
	uint64_t offset, size; /* offset of the current granule within the object, and its size */
	uint32_t variable;
};

struct granule_walk granules_of(struct granules *g, const struct model_access *a);

/* Advances to the next granule; returns false if there are no more. */
bool granule_next(struct granule_walk *w);

#endif
