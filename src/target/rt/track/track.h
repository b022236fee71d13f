/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime of the flavour `track`: notes what happens at gates that are open (raddle/track.h), and
 * where the program fails.  Like that of `guard` it stands alone: rt/core/ stands in front of everything that
 * orders threads, and this only looks at a few statements of a program that runs as always.
 *
 * Rules: no allocation, no stdio, errno is the program's.  Nothing waits for long: who finds an address taken
 * for too long goes on, and says in the event that its place in the order is not sure.  The child of a fork
 * notes nothing.
 */
#ifndef RT_TRACK_H
#define RT_TRACK_H

#include "raddle/track.h"

#include <stdbool.h>
#include <stddef.h>

struct track {
	struct raddle_track *shared; /* NULL: nobody wants to know */
	struct raddle_track_event *events;
	uint32_t event_count;
	const uint32_t *groups; /* by gate */
	uint32_t gate_count, budget;
};
extern struct track track;

extern volatile uint8_t __raddle_track_flags[RADDLE_TRACK_GATES];

/* thread.c */
uint32_t track_thread(void); /* number of this thread */

/* note.c */
struct raddle_track_event *track_event(uint32_t gate, uint64_t *token); /* a new one, to be completed: */
void track_complete(struct raddle_track_event *e, uint64_t token);

/* fail.c */
void track_fail_open(void);
uint64_t
track_place(uint64_t pc); /* its distance from where the program is loaded; 0: it is not the program's */

/* watch.c */
void track_watch_open(void);
void track_watch(const void *address, uint32_t size); /* a statement of the slice is about to access it */

/* The function behind ours of that name, in a dynamic program. */
#ifdef RADDLE_STATIC
#define TRACK_REAL(name) __real_##name
#define TRACK_INTERPOSE(type, name, parameters)                                                              \
	extern __typeof__(name) __real_##name;                                                               \
	type __wrap_##name parameters;                                                                       \
	type __wrap_##name parameters
#else
void *track_find(const char *name);
#define TRACK_REAL(name) ((__typeof__(&name))track_find(#name))
#define TRACK_INTERPOSE(type, name, parameters)                                                              \
	__attribute__((weak, visibility("default"))) type name parameters
#endif

#endif
