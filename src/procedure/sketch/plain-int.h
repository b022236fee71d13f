/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracked runs (sketch/track.h) in which Raddle does not control the schedule.  If the program
 * fails often enough, such runs are preferred, because they behave as the program does for the
 * user.
 */
#ifndef SKETCH_PLAIN_INT_H
#define SKETCH_PLAIN_INT_H

#include "run/streams.h"
#include "sketch/outcome.h"
#include "sketch/track.h"
#include "sketch/verdict-int.h"

struct plain {
	struct track track;
	const struct run_streams *streams;
	char *const *argv;
	const struct sketch_failure *failure; /* the failure that is being explained */
	const char *signature;		      /* signature of `failure` */
	struct judge *judge;
	int64_t limit_ns; /* limit of one run, in program time (run/clock.h) */
	uint64_t work_us; /* program time of all runs so far */
};

/* Builds the program.  The caller must call plain_close() even after a failure. */
int plain_open(struct plain *p, const char *program, struct slice *slice);
void plain_close(struct plain *p);

/* Makes one run and adds it to `runs`, unless the run has to be ignored.  Sets *said if the run was
 * added.  A failure at the place of p->failure gets the signature p->signature.  `perturb` is the
 * seed of random delays, or 0 for no delays. */
int plain_run(struct plain *p, uint32_t sigma, uint64_t perturb, struct sketch_runs *runs, bool *said);

#endif
