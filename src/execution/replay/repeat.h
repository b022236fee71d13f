/* SPDX-License-Identifier: Apache-2.0 */
/* Replays a finding once or several times, together with the commands that the user wants to run
 * beside the program. */
#ifndef REPLAY_REPEAT_H
#define REPLAY_REPEAT_H

#include "base/buf.h"
#include "replay/gdb.h"
#include "replay/replay.h"
#include "run/companion.h"
#include "run/override.h"

#include <stdio.h>

struct replay_repeat {
	/* The first members are options; zero values are the defaults. */
	struct finding_set *set;
	struct finding *finding; /* the finding to replay, which belongs to `set` */
	/* a schedule whose decisions follow those of the finding, or NULL */
	const struct schedule *then;
	uint64_t times;
	uint64_t patience_ms, limit_ms; /* as in struct replay_request */
	unsigned first; /* the goal whose thread continues first, as in struct replay_request */
	bool no_detect, no_world;
	bool debug;	    /* start gdb when the threads meet; `gdb` has its arguments */
	const char *setup;  /* a command that runs before each run, or NULL */
	const char *record; /* directory for a trace of the first run, or NULL */
	bool export;	    /* keep the schedule of the last run, if its threads took turns */
	FILE *steps;	    /* the stream to which operations are printed when they are done, or NULL */
	struct replay_gdb gdb;
	struct run_companion companion;
	struct run_override given; /* the input of the schedule, if it has one */

	/* The following members are results. */
	uint64_t outcomes[REPLAY_OUTCOMES], runs, reproduced;
	double wall, cpu;
	int stop_signal;	   /* the signal by which the user ended the replays; -1 for other means */
	struct replay_turns turns; /* those of the last run; their strings are no longer valid */
	/* those of the last run; their strings are no longer valid */
	struct replay_outside outside;
	/* how the last run left the schedule, and which input was missing; or empty */
	struct rd_buf strayed, lack;
	struct rd_buf exported; /* the schedule of the last run, if `export` */

	uint64_t named; /* number of operations printed so far */
	bool handed_over;
	int streams[3];
};

#define REPLAY_REPEAT_INIT                                                                                   \
	{                                                                                                    \
		.times = 1, .given = {.input = -1}, .strayed = RD_BUF_INIT, .lack = RD_BUF_INIT,             \
		.exported = RD_BUF_INIT                                                                      \
	}

/* If the schedule has an input, it replaces that of the user, and *given is set to true. */
int replay_repeat_input(struct replay_repeat *t, char **argv, const char *scratch, bool *given);

/* Runs the program `times` times.  The finding keeps the verdict of the best run. */
int replay_repeat(struct replay_repeat *t, const struct run_program *program);

void replay_repeat_release(struct replay_repeat *t);

/* Returns true if a schedule only orders operations, and leads to neither a race nor a deadlock.
 * 'raddle reversible' writes such schedules. */
bool replay_is_order(const struct schedule *s);

/* Prints the results as sentences, one per line, in addition to the report of the finding. */
void replay_say_order(const struct replay_repeat *t, FILE *out);
void replay_say_turns(const struct replay_repeat *t, FILE *out);
void replay_say_outside(const struct replay_repeat *t, FILE *out);
void replay_say_count(const struct replay_repeat *t, FILE *out);

#endif
