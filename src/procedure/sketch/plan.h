/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sketches of programs in production: what a hive (the server that collects runs) and the sites
 * (the machines that run the program) agree on.
 *
 * A plan lists the statements of a sketch.  Hive and sites derive the same plan, with the same id,
 * from the program.  So a site only needs the failing place and σ (how many statements are
 * tracked), and sends the numbers of statements.  A record is what a site sends about a tracked
 * run: how it ended, and its events.  Addresses are renumbered in each record, and values are left
 * out unless the site allows them.  So only this leaves a site: which statements ran, in which
 * order, which of them accessed the same memory, and which way branches went.  doc/format/hive.md
 * describes both documents.
 */
#ifndef SKETCH_PLAN_H
#define SKETCH_PLAN_H

#include "base/buf.h"
#include "base/json-read.h"
#include "sketch/gates.h"
#include "sketch/outcome.h"

enum {
	SKETCH_PLAN_ID = 17,	     /* 16 hex digits and NUL */
	SKETCH_PLAN_MAX = 1 << 16,   /* statements; a judgement: bounds what a hive keeps */
	SKETCH_RECORD_EVENTS = 1500, /* of a run, the last ones; so a record has less than 64 KiB */
};

struct sketch_plan {
	char id[SKETCH_PLAN_ID];       /* of the place and the statements */
	struct sketch_failure failure; /* the place is always known */
	uint32_t sigma;		       /* number of statements of the slice: more are never tracked */
	struct sketch_runs runs;       /* the statements, and the runs that are collected */
	char **sources;		       /* lines of the source, by statement; NULL: unknown */
	char *signature;	       /* of the failure */
};

/* Makes the plan of a slice with these gates.  Takes over `failure`, whose place becomes the
 * slice's. */
void sketch_plan_make(struct sketch_plan *p, struct slice *s, const struct sketch_gates *g,
		      struct sketch_failure *failure);
void sketch_plan_release(struct sketch_plan *p);

/* Write the plan into a JSON object, and read it.  What is read is checked, and its id is computed
 * again. */
void sketch_plan_json(const struct sketch_plan *p, struct rd_json *j);
int sketch_plan_read(struct sketch_plan *p, struct rd_json_read *r, const json_t *root);

/* Writes a run as one line of JSON, without a newline. */
struct sketch_record {
	const char *plan, *run; /* ids */
	uint32_t sigma;
	size_t statements; /* number of statements of the plan; events of others are left out */
	bool values;	   /* the site allows values to be sent */
};
void sketch_record_write(const struct sketch_record *what, const struct sketch_runs *runs,
			 const struct sketch_run *run, struct rd_buf *out);

/* Adds the run of a record to those of the plan.  *sigma: how many statements it tracked. */
int sketch_record_read(struct sketch_plan *p, struct rd_json_read *r, const json_t *root, uint32_t *sigma);

#endif
