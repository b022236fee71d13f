/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared memory as variables.
 *
 * An object's bytes are cut wherever an access begins or ends: these are granules,
 * and two accesses meet in one exactly if they overlap.  Granules of an object that
 * the same sites access in the same segments cannot be told apart by a prediction;
 * they are one variable.  So a buffer that is filled, handed over and read is one.
 */
#ifndef PREDICT_GRANULE_H
#define PREDICT_GRANULE_H

#include "model/model.h"

struct granules;

/* Cuts all accesses of the histories. */
struct granules *granules_new(const struct model *m);
void granules_free(struct granules *g);

/* How many variables there are. */
uint32_t granules_variables(const struct granules *g);

/* The shared granules of one access. */
struct granule_walk {
	struct granules *g;
	const struct model_access *access;
	uint64_t at;	       /* what is still to come */
	uint32_t next;	       /* and its granule */
	uint64_t offset, size; /* of the granule, within the object */
	uint32_t variable;
};

struct granule_walk granules_of(struct granules *g, const struct model_access *a);

/* Goes to the next one; false: there are no more. */
bool granule_next(struct granule_walk *w);

#endif
