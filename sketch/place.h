/* SPDX-License-Identifier: Apache-2.0 */
/* Places in the code of a program: where its source has them, as its debug information tells (by addr2line of
 * binutils). */
#ifndef SKETCH_PLACE_H
#define SKETCH_PLACE_H

#include "base/map.h"

/* Places that were asked for; zero is empty. */
struct sketch_places {
	struct rd_umap known; /* distance from where the program is loaded to a number of `items` */
	struct sketch_place {
		char *function, *file; /* NULL: unknown */
		uint32_t line;
	} * items;
	size_t count, capacity;
};

/* Valid until the next one.  What cannot be found out is unknown. */
const struct sketch_place *sketch_place(struct sketch_places *p, const char *executable, uint64_t distance);
void sketch_places_release(struct sketch_places *p);

#endif
