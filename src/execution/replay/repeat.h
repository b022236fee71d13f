/* SPDX-License-Identifier: Apache-2.0 */
/* Replays a finding once or several times, with the commands that the user runs beside the
 * program. */
#ifndef REPLAY_REPEAT_H
#define REPLAY_REPEAT_H

#include "base/buf.h"
#include "replay/gdb.h"
#include "replay/replay.h"
#include "run/companion.h"
#include "run/override.h"

#include <stdio.h>

struct replay_repeat {
	/* what is to be done; zero values are the defaults */
	struct finding_set *set;
	struct finding *finding;     /* of the set */
	const struct schedule *then; /* whose decisions come after those of the finding; NULL: none */
	uint64_t times;
	uint64_t patience_ms, limit_ms; /* as in struct replay_request */
	unsigned first;			/* likewise */
	bool no_detect, no_world;
	bool debug;	    /* gdb where the threads meet; `gdb` has its arguments */
	const char *setup;  /* a command before each run */
	const char *record; /* directory for a trace of the first run */
	bool export;	    /* keep the schedule of the last run, if its threads took turns */
	FILE *steps;	    /* where operations are named when they are done; NULL: nowhere */
	struct replay_gdb gdb;
	struct run_companion companion;
	struct run_override given; /* the input of the schedule, if it has one */

	/* results */
	uint64_t outcomes[REPLAY_OUTCOMES], runs, reproduced;
	double wall, cpu;
	int stop_signal;	       /* the user ended it; -1: by other means */
	struct replay_turns turns;     /* of the last run; its strings are gone */
	struct replay_outside outside; /* likewise */
	struct rd_buf strayed, lack;   /* how it left the schedule; which input was missing; or empty */
	struct rd_buf exported;	       /* its schedule, if requested */

	uint64_t named; /* operations named so far */
	bool handed_over;
	int streams[3];
};

#define REPLAY_REPEAT_INIT                                                                                   \
	{                                                                                                    \
		.times = 1, .given = {.input = -1}, .strayed = RD_BUF_INIT, .lack = RD_BUF_INIT,             \
		.exported = RD_BUF_INIT                                                                      \
	}

/* The schedule's input, if it has one, replaces that of the user; *given is set if it has one. */
int replay_repeat_input(struct replay_repeat *t, char **argv, const char *scratch, bool *given);

/* Runs the program; the finding keeps the verdict of the best run. */
int replay_repeat(struct replay_repeat *t, const struct run_program *program);

void replay_repeat_release(struct replay_repeat *t);

/* Whether a schedule only orders operations, as those of 'raddle reversible' do, and leads to
 * neither a race nor a deadlock. */
bool replay_is_order(const struct schedule *s);

/* The results in sentences, one per line, beside the report of the finding. */
void replay_say_order(const struct replay_repeat *t, FILE *out);
void replay_say_turns(const struct replay_repeat *t, FILE *out);
void replay_say_outside(const struct replay_repeat *t, FILE *out);
void replay_say_count(const struct replay_repeat *t, FILE *out);

#endif
