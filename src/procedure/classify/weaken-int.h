/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside classify/: finds effects that a race has only under a weaker memory model
 * (doc/design/memory.md), not under sequential consistency.  Each execution under sequential
 * consistency is also possible under the weaker model, so the class of a race can only get worse.
 * An effect makes the class worse only if no run under sequential consistency showed that effect.
 */
#ifndef CLASSIFY_WEAKEN_INT_H
#define CLASSIFY_WEAKEN_INT_H

#include "classify/decide-int.h"
#include "classify/tracks-int.h"

struct weaken {
	struct trial_bench *bench;
	const struct schedule *race;
	const char *object;		 /* the object of the race; may be NULL */
	const struct decide_runs *usual; /* runs under sequential consistency, with the same points */
	const struct tracks *tracks;
	const char *memory; /* the name of the model, as schedules spell it */
	size_t most;	    /* number of runs with seeds, for each group */
	int replays;	    /* how often a new effect is repeated before it is accepted */
};

struct weakened {
	enum finding_class class; /* FINDING_NO_CLASS if nothing is new */
	struct trial shows;
	enum variant_group group;
	struct schedule schedule; /* the schedule of that run; the caller releases it */
	bool sorted;		  /* outputs were compared without regard to the order of their lines */
	/* there was a new effect, but the memory of other races causes it */
	bool elsewhere;
	bool lost;	  /* a new effect could not be reproduced */
	uint64_t k;	  /* number of executions that sequential consistency does not allow */
	const char *over; /* why the model was abandoned in some runs, or NULL if it was not */
};

/* Maximum number of runs of an exploration, set by hand.  WEAKEN_EXPLORED_LED is for runs in which
 * the threads are led to the race.  WEAKEN_EXPLORED is for the control group, in which threads are
 * not led, so that more schedules are possible.  In that group, 250 runs missed store buffering by
 * three threads under tso. */
#define WEAKEN_EXPLORED_LED 250
#define WEAKEN_EXPLORED 2000

/* Returns true if the exploration has made enough runs.  This depends on what the program did, not
 * on how long it took. */
bool weaken_has_explored(const struct replay_search *s, enum variant_group group);

/* The caller releases `result` even after a failure. */
int weaken(const struct weaken *w, struct weakened *result);

/* Changes a variant so that it runs under a memory model.  `lists` contains the accesses that obey
 * the model. */
void weaken_variant(struct variant *v, const struct schedule *lists, const char *memory, uint64_t seed);

#endif
