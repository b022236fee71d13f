/* SPDX-License-Identifier: Apache-2.0 */
/* Decides when to end a run that is being recorded, because more of its trace would be of no
 * use. */
#ifndef RECORD_ENOUGH_H
#define RECORD_ENOUGH_H

#include <stdbool.h>
#include <stdint.h>

/* The conditions under which an analysis has enough of a run.  A condition whose members are 0 is
 * never met. */
struct record_enough {
	int64_t end_ns; /* when the analysis has to end (base/clock.h) */
	/* How long the analysis takes for one event.  The trace is full when the analysis could
	 * not handle more events in the time that is left. */
	int64_t event_ns;
	int64_t quiet_ns; /* how long the program may run without an event */
};

/* Returns true if the run should end at time `now_ns`, after `events` events.  The last of them
 * happened at `last_ns`. */
bool record_has_enough(const struct record_enough *e, int64_t now_ns, uint64_t events, int64_t last_ns,
		       bool *full, bool *quiet);

#endif
