/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sketches of programs in production: the documents that a hive (the server that collects runs) and
 * the sites (the machines that run the program) exchange.
 *
 * A plan lists the statements of a sketch.  The hive and the sites derive the same plan, with the
 * same id, from the program.  So the hive only has to send a site the failing place and σ (the
 * number of tracked statements), and the site can refer to statements by their numbers.  A record
 * is what a site sends about a tracked run: how the run ended, and its events.  Addresses are
 * renumbered in each record, and values are left out unless the site allows them.  So a record
 * reveals only which statements were executed, in which order, which of them accessed the same
 * memory, and which direction branches took. doc/format/hive.md describes both documents.
 */
#ifndef SKETCH_PLAN_H
#define SKETCH_PLAN_H

#include "base/buf.h"
#include "base/json-read.h"
#include "sketch/gates.h"
#include "sketch/outcome.h"

enum {
	SKETCH_PLAN_ID = 17, /* 16 hex digits and NUL */
	/* Largest number of statements; chosen by hand to bound what a hive keeps. */
	SKETCH_PLAN_MAX = 1 << 16,
	/* A record contains at most this many events, the last ones of the run.  This keeps it
	 * below 64 KiB. */
	SKETCH_RECORD_EVENTS = 1500,
};

struct sketch_plan {
	char id[SKETCH_PLAN_ID];       /* derived from the place and the statements */
	struct sketch_failure failure; /* its place is always known */
	/* Number of statements of the slice, which is the largest σ. */
	uint32_t sigma;
	struct sketch_runs runs; /* the statements, and the runs that are collected */
	char **sources;		 /* by statement: its line of the source; NULL if unknown */
	char *signature;	 /* signature of the failure */
};

/* Makes the plan of a slice with these gates.  Takes ownership of the contents of `failure`.  The
 * place of the plan's failure is that of the slice. */
void sketch_plan_make(struct sketch_plan *p, struct slice *s, const struct sketch_gates *g,
		      struct sketch_failure *failure);
void sketch_plan_release(struct sketch_plan *p);

/* Writes the plan into a JSON object. */
void sketch_plan_json(const struct sketch_plan *p, struct rd_json *j);
/* Reads a plan from a JSON object, checks it, and computes its id again. */
int sketch_plan_read(struct sketch_plan *p, struct rd_json_read *r, const json_t *root);

/* The contents of a record, apart from the run itself. */
struct sketch_record {
	const char *plan, *run; /* ids of the plan and of the run */
	uint32_t sigma;
	/* Number of statements of the plan; events of other statements are left out. */
	size_t statements;
	bool values; /* the site allows values to be sent */
};
/* Writes a run as one line of JSON, without a newline. */
void sketch_record_write(const struct sketch_record *what, const struct sketch_runs *runs,
			 const struct sketch_run *run, struct rd_buf *out);

/* Adds the run of a record to the runs of the plan.  Stores in *sigma the number of statements that
 * the run tracked. */
int sketch_record_read(struct sketch_plan *p, struct rd_json_read *r, const json_t *root, uint32_t *sigma);

#endif
