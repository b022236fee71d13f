/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classification: determines the effect of a race on the program.  In: a race and the program.
 * Out: a class, the consequence, and runs that show it. doc/design/classify.md defines the classes
 * and explains what counts as evidence.
 *
 * Classification runs the flavour `led` of the program.  In this flavour, threads take turns and
 * can be stopped before each access and each output, so the schedule determines the run.
 */
#ifndef CLASSIFY_CLASSIFY_H
#define CLASSIFY_CLASSIFY_H

#include "replay/conditions.h"
#include "replay/replay.h"
#include "run/input.h"
#include "symbolic/choose.h"

struct tracks; /* classify/tracks-int.h */

#define CLASSIFY_FLAVOUR "led"
/* maximum number of inputs with which a race is tried, including the recorded one */
#define CLASSIFY_PATHS 5
#define CLASSIFY_ALTERNATES 24 /* maximum number of schedules after the race that are tried */

/* The techniques on which a class may be based.  A user can switch off each technique to see what
 * it contributes. */
struct classify_techniques {
	/* search for synchronisation that fixes the order: flags, and locks that a detector
	 * missed */
	bool adhoc;
	bool schedules; /* runs with other schedules after the race */
	bool control;	/* control runs, which show what the program does without this race */
	bool paths;	/* runs with other inputs that lead to the race */
};
#define CLASSIFY_TECHNIQUES                                                                                  \
	{                                                                                                    \
		true, true, true, true                                                                       \
	}

struct classify_progress {
	uint64_t total, done;
	double seconds_left; /* until the time limit; 0 if there is no limit */
};

struct classify { /* zero values are the defaults */
	struct replay_conditions runs;
	/* directory for files of the runs; it is created, and removed at the end */
	const char *directory;
	unsigned jobs; /* number of races that are classified concurrently; 0 means one */
	/* maximum number of schedules after the race; 0 means CLASSIFY_ALTERNATES */
	unsigned alternates;
	/* maximum number of inputs; 0 means CLASSIFY_PATHS, 1 the recorded input only */
	unsigned paths;
	/* inputs that may change, or NULL for those that branches depend on */
	const struct sym_selection *sym;
	int64_t time_ns; /* time limit for all races, or 0 for none */
	/* Classify mainly the confirmed races.  If there is time, some unconfirmed races are also
	 * tried.  An unconfirmed race remains unchanged unless it gets a class, for example
	 * because a flag orders its accesses. */
	bool confirmed;
	enum finding_model model; /* the memory model of the runs */
	/* a bit for each memory model under which to classify.  If 0, races are classified only
	 * under `model`, and the runs access memory directly, without simulating a model. */
	unsigned models;
	/* in the weak model, all threads see the writes to a location in the same order */
	bool coherent;
	const struct tracks *tracks; /* set by classify_races() */
	struct classify_techniques techniques;

	/* progress() is called about ten times a second, and classified() after each race that was
	 * tried.  Both may be NULL. */
	void (*progress)(void *context, const struct classify_progress *so_far);
	void (*classified)(void *context, struct finding *f);
	void *context;
};

struct classify_result {
	/* number of races that got a class, and of races that were tried but got no class */
	uint64_t classified, undecided;
	/* number of races that were not tried, because the time was up or a signal arrived */
	uint64_t untried;
	uint64_t misfits; /* number of races whose schedules were made for another program */
	uint64_t runs;	  /* number of runs of the program */
	uint32_t edits;	  /* one bit for each edit of the program that some run reached */
	bool interrupted;
	struct finding_set **sets; /* the sets that own the findings with classes */
	size_t set_count, set_capacity;
};

/* Classifies the races of the set, several at the same time, and replaces each finding by one with
 * a class.  SIGINT, SIGTERM, SIGHUP and the time limit end the work early.  `result` must be all
 * zero before the call.  The caller must release it even after a failure, but must free the set
 * first. */
int classify_races(const struct classify *how, struct finding_set *set, struct classify_result *result);
void classify_result_release(struct classify_result *result);

#endif
