/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run of a program, as failure sketches need it.  It states how the run ended, and what its
 * threads did at tracked statements, in the order of time.  Tracking fills this structure;
 * predictors and sketches read it.
 */
#ifndef SKETCH_RUN_H
#define SKETCH_RUN_H

#include "slice/statement.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sketch_event {
	uint32_t thread;    /* number of the thread: 0 for main, then in the order of creation */
	uint32_t statement; /* index in the table of statements */
	uint64_t address, value;
	uint8_t size; /* bytes of the access; 0 if its value is not known */
};

enum sketch_outcome {
	SKETCH_PASSED,
	SKETCH_CRASH,
	SKETCH_ASSERTION,
	SKETCH_HANG,
	SKETCH_EXIT,
	SKETCH_OUTPUT,
};

struct sketch_run {
	enum sketch_outcome outcome;
	/* Identifies the failure; failures with the same signature are explained together.  NULL if
	 * the run passed. */
	char *signature;
	struct sketch_event *events;
	size_t count, capacity;
	bool perturbed; /* Raddle influenced the schedule: the threads took turns or were delayed */
	bool cut;	/* the run had more events than were kept */
	uint32_t failed_thread;
	char *schedule; /* its schedule, as text; NULL if its threads ran freely */
};

struct sketch_runs {
	struct slice_statement *statements;
	size_t statement_count, statement_capacity;
	struct sketch_run *items;
	size_t count, capacity;
};

void sketch_runs_release(struct sketch_runs *r);

/* Adds a zeroed run.  The pointer is valid until the next run is added. */
struct sketch_run *sketch_run_add(struct sketch_runs *r);

/* Returns the number of a statement.  If the statement is new, adds it, with copies of its strings.
 * Two statements are the same if their place, kind, variable and operation are the same. */
uint32_t sketch_statement(struct sketch_runs *r, const struct slice_statement *s);

void sketch_event_add(struct sketch_run *run, const struct sketch_event *e);

/* Returns the name of an outcome in documents, such as "crash" or "assertion". */
const char *sketch_outcome_name(enum sketch_outcome o);

#endif
