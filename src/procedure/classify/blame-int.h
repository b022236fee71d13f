/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside classify/: decides whether one of several parts is a cause of an effect.  Here the parts are
 * the objects of races, and the question is whether the effect occurs if only the memory of some of
 * them obeys a memory model.
 *
 * A part is a cause if it is in a smallest set that shows the effect: some set of parts does not show
 * it, but does together with this part.  So each of two parts that suffice alone is a cause, each of
 * two that are needed together is one, and a part that changes nothing is none.
 */
#ifndef CLASSIFY_BLAME_INT_H
#define CLASSIFY_BLAME_INT_H

#include <stdbool.h>
#include <stdint.h>

#define BLAME_PARTS 32 /* maximum number of parts */

/* A set of parts has bit i for part i. */
struct blame {
	unsigned parts; /* number of parts; all of them together show the effect */
	unsigned own;	/* the part in question */
	unsigned most;	/* maximum number of questions */
	/* Asks whether these parts show the effect.  More parts never show less. */
	int (*shows)(void *context, uint32_t parts, bool *shows);
	void *context;
};

/* Stores in *cause whether the part is known to be a cause.  It is not if `most` questions do not
 * decide.  Returns an error of `shows`. */
int blame_find(const struct blame *b, bool *cause);

#endif
