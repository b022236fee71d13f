/* SPDX-License-Identifier: Apache-2.0 */
/* Maps addresses in the code of a program to places in its source, using its debug information (by
 * addr2line of LLVM or binutils). */
#ifndef SKETCH_PLACE_H
#define SKETCH_PLACE_H

#include "base/map.h"
#include "raddle/crash.h"

#include <stdbool.h>

/* A cache of places.  If all bytes are zero, the cache is empty. */
struct sketch_places {
	/* Maps the distance of an address from the start of the program, in bytes, to an index in
	 * `items`. */
	struct rd_umap known;
	struct sketch_place {
		char *function, *file; /* NULL if unknown */
		uint32_t line;
	} * items;
	size_t count, capacity;
};

/* Returns the place at a distance from the start of the program.  Members that cannot be determined
 * are NULL or 0.  The result is valid until the next call. */
const struct sketch_place *sketch_place(struct sketch_places *p, const char *executable, uint64_t distance);

/* Returns true if the file is a header of the system or of the compiler.  Code that was inlined
 * from there is attributed to the line of the program that calls it. */
bool sketch_is_system_file(const char *file);

typedef bool sketch_own_fn(const void *context, const char *file);
/* Returns the place of a crash (raddle/crash.h).  This is the first of `places` that belongs to the
 * program and is not in a system header or, if there is none, the first one that belongs to the
 * program.  `own` decides whether a file belongs to the program; if it is NULL, all files do.
 * Returns NULL if no place belongs to the program. */
const struct sketch_place *sketch_crash_place(struct sketch_places *p, const char *executable,
					      const uint64_t places[RADDLE_CRASH_PLACES], sketch_own_fn *own,
					      const void *context);
void sketch_places_release(struct sketch_places *p);

#endif
