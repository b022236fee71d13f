/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside classify/: decides whether a part is a cause of an effect, such as a failure.  The parts
 * are the objects of races.  A set of parts shows the effect if the effect occurs when only the
 * memory of these objects obeys a memory model.
 *
 * A part is a cause if some set of other parts does not show the effect, but shows it together
 * with this part.  So if each of two parts suffices alone, both are causes.  If two parts are
 * needed together, both are causes as well.  A part that changes nothing is not a cause.
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
	/* Finds out whether these parts show the effect.  If a set shows it, all larger sets that
	 * contain it must show it, too. */
	int (*shows)(void *context, uint32_t parts, bool *shows);
	void *context;
};

/* Stores in *cause whether the part is known to be a cause; false if `most` questions were not
 * enough to decide.  Returns an error of `shows`. */
int blame_find(const struct blame *b, bool *cause);

#endif
