/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A failure of a program that sites help to explain: the plan (sketch/plan.h) and the runs that they sent, as
 * a fold over the records in the order in which they were stored.  σ begins at 2; one failing run that no
 * predicate tells from ten passing ones doubles it, and three failing and thirty passing runs with a
 * predicate that does end the tracking.  doc/design/hive.md has the rules.
 */
#ifndef HIVE_SKETCH_H
#define HIVE_SKETCH_H

#include "sketch/plan.h"
#include "sketch/sketch.h"

#include <stdio.h>

enum hive_sketch_state {
	HIVE_TRACKING,
	HIVE_EXPLAINED, /* something tells failing from passing runs */
	HIVE_EXHAUSTED, /* the whole slice was tracked, and nothing does */
	HIVE_SKETCH_STATES
};
extern const char *const hive_sketch_state_names[HIVE_SKETCH_STATES];

enum { HIVE_SKETCHES_MAX = 8 }; /* of a program */

struct hive_sketch {
	struct sketch_plan plan;
	int64_t added; /* Unix milliseconds */
	enum hive_sketch_state state;
	uint32_t sigma;		   /* that is asked for now */
	uint64_t failing, passing; /* runs that were stored */
	size_t first; /* run of the plan with which this σ began; those before it had the last */
};

/* Reads a plan as it came or was stored. */
int hive_sketch_open(struct hive_sketch *s, const char *document, size_t length);
void hive_sketch_release(struct hive_sketch *s);

/* One record more. */
int hive_sketch_apply(struct hive_sketch *s, const char *record, size_t length);

/* Whether a record like that is still wanted. */
bool hive_sketch_wants(const struct hive_sketch *s, uint32_t sigma, bool failed);

/* What the runs show: the sketch of doc/format/sketch.md, a page, or text, as one of report/sketch.h writes
 * it. */
struct sketch_report;
typedef int hive_sketch_fn(const struct sketch_report *r, FILE *out);
int hive_sketch_write(const struct hive_sketch *s, const char *program, hive_sketch_fn *write, FILE *out);

#endif
