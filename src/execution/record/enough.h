/* SPDX-License-Identifier: Apache-2.0 */
/* When to end a run that is being recorded, because more of its trace would be of no use. */
#ifndef RECORD_ENOUGH_H
#define RECORD_ENOUGH_H

#include <stdbool.h>
#include <stdint.h>

/* When an analysis has enough of a run; zero: never. */
struct record_enough {
	int64_t end_ns;	  /* when the analysis has to end (base/clock.h) */
	int64_t event_ns; /* its time for an event; a trace that it could not finish in time is full */
	int64_t quiet_ns; /* how long the program may run without an event */
};

/* Whether the run is to be ended at `now_ns`, after `events` events, the last of them at
 * `last_ns`. */
bool record_has_enough(const struct record_enough *e, int64_t now_ns, uint64_t events, int64_t last_ns,
		       bool *full, bool *quiet);

#endif
