/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classification: what a race does to the program.  In: a race and the program.  Out: a class, the
 * consequence, and runs that show it.  doc/design/classify.md defines the classes and explains what
 * counts as evidence.
 *
 * The program is used in its flavour `led`, in which threads take turns and can be stopped before
 * each access and each output.  So a run is determined by its schedule.
 */
#ifndef CLASSIFY_CLASSIFY_H
#define CLASSIFY_CLASSIFY_H

#include "replay/conditions.h"
#include "replay/replay.h"
#include "run/input.h"
#include "symbolic/choose.h"

struct tracks; /* classify/tracks-int.h */

#define CLASSIFY_FLAVOUR "led"
#define CLASSIFY_PATHS 5       /* most inputs with which a race is tried, including the recorded one */
#define CLASSIFY_ALTERNATES 24 /* most schedules after the race that are tried */

/* Techniques on which a class may be based.  Each can be left out, to see what it contributes. */
struct classify_techniques {
	bool adhoc; /* synchronisation that fixes the order: handmade flags, locks that a detector missed */
	bool schedules; /* other schedules after the race */
	bool control;	/* runs that show what the program does without this race */
	bool paths;	/* other inputs that lead to the race */
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
	const char *directory;		 /* for files of the runs: it is made, and removed at the end */
	unsigned jobs;			 /* races at a time; 0: one */
	unsigned alternates;		 /* 0: CLASSIFY_ALTERNATES */
	unsigned paths;			 /* 0: CLASSIFY_PATHS; 1: the recorded input only */
	const struct sym_selection *sym; /* inputs that may change; NULL: those that branches depend on */
	int64_t time_ns;		 /* time limit for all races; 0: none */
	bool confirmed;			 /* only races that are confirmed */
	enum finding_model model;	 /* the memory model of the runs */
	unsigned models; /* a bit for each model under which to classify; 0: `model`, with plain memory */
	bool coherent;	 /* in the weak model, all threads see the writes of a location in one order */
	const struct tracks *tracks; /* set by classify_races() */
	struct classify_techniques techniques;

	/* The first is called about ten times a second, the second when a race was tried.  Both may
	 * be NULL. */
	void (*progress)(void *context, const struct classify_progress *so_far);
	void (*classified)(void *context, struct finding *f);
	void *context;
};

struct classify_result {
	uint64_t classified, undecided; /* races with a class, and those without that were tried */
	uint64_t untried;		/* races that were not tried: the time was up, or a signal came */
	uint64_t runs;			/* of the program */
	uint32_t edits;			/* bits of edits of the program that some run reached */
	bool interrupted;
	struct finding_set **sets; /* the sets that own the findings with classes */
	size_t set_count, set_capacity;
};

/* Classifies the races of the set, several at the same time, and replaces each finding by one with
 * a class.  SIGINT, SIGTERM, SIGHUP and the time limit end it early.  `result` must be zero before
 * the call.  The caller releases it even after a failure, but only after the set. */
int classify_races(const struct classify *how, struct finding_set *set, struct classify_result *result);
void classify_result_release(struct classify_result *result);

#endif
