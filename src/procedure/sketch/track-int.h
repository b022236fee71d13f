/* SPDX-License-Identifier: Apache-2.0 */
/* Inside sketch/: reads what a tracked program left in shared memory (raddle/track.h).  The content
 * is not trusted. */
#ifndef SKETCH_TRACK_INT_H
#define SKETCH_TRACK_INT_H

#include "raddle/track.h"

#include <stdbool.h>
#include <stddef.h>

/* An event that was checked: `gate` is the number of an existing gate, or RADDLE_TRACK_HARDWARE. */
struct track_raw {
	uint64_t number, address, value, more;
	uint32_t gate, thread;
	uint8_t size, what, state;
	bool unsure;
};

struct track_left {
	struct track_raw *items; /* in the order in which they happened */
	size_t count;
	uint64_t seen; /* number of events, including those that were overwritten */
	uint32_t watched, hits, spent;
	bool no_hardware, started;
	bool failed; /* true if the program failed; the following members describe how */
	int signal;
	uint32_t thread, line;
	uint64_t address, places[RADDLE_TRACK_PLACES];
	char text[RADDLE_TRACK_TEXT], file[RADDLE_TRACK_TEXT], function[RADDLE_TRACK_TEXT];
};

/* Reads the events in the shared memory of a tracked program that has `gates` gates (statements
 * that can be observed).  `size` is the size of the memory in bytes. */
void track_read(struct track_left *left, const void *memory, size_t size, uint32_t gates);
void track_left_release(struct track_left *left);

struct sketch_runs;
struct track;
/* Adds the events to the last run of `runs`, in which the first `sigma` statements were tracked. */
void track_events(struct track *t, const struct track_left *left, struct sketch_runs *runs, uint32_t sigma);

#endif
