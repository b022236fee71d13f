/* SPDX-License-Identifier: Apache-2.0 */
/* Decides when to end a run that is being recorded, because a longer trace would not help the
 * analysis. */
#ifndef RECORD_ENOUGH_H
#define RECORD_ENOUGH_H

#include <stdbool.h>
#include <stdint.h>

/* The conditions under which the trace of a run is long enough for its analysis.  A condition
 * whose members are 0 is never met. */
struct record_enough {
	int64_t end_ns; /* when the analysis has to end (base/clock.h) */
	/* The time that the analysis needs for one event.  The trace is full when the analysis
	 * could not process more events in the time that is left. */
	int64_t event_ns;
	int64_t quiet_ns; /* how long the program may run without an event */
};

/* Returns true if the run should end now. `now_ns` is the current time, `events` is the number of
 * recorded events, and `last_ns` is the time of the last event. */
bool record_has_enough(const struct record_enough *e, int64_t now_ns, uint64_t events, int64_t last_ns,
		       bool *full, bool *quiet);

#endif
