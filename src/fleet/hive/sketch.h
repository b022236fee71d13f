/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A failure of a program that production sites help to explain.  It consists of a plan
 * (sketch/plan.h) and the runs that the sites have sent, which are applied in the order in which
 * they were stored.  Sites track the σ statements that are nearest to the failure. σ begins at 2.
 * It doubles if no predictor (such as an order of accesses) distinguishes one failing run from ten
 * passing runs.  Tracking ends when a predictor distinguishes three failing runs from thirty
 * passing runs. doc/design/hive.md has the rules.
 */
#ifndef HIVE_SKETCH_H
#define HIVE_SKETCH_H

#include "sketch/plan.h"
#include "sketch/sketch.h"

#include <stdio.h>

enum hive_sketch_state {
	HIVE_TRACKING,
	HIVE_EXPLAINED, /* a predictor distinguishes failing from passing runs */
	HIVE_EXHAUSTED, /* the whole slice was tracked, but no predictor distinguishes the runs */
	HIVE_SKETCH_STATES
};
extern const char *const hive_sketch_state_names[HIVE_SKETCH_STATES];

/* The maximum number of failures of a program that sites track.  The number is small because the
 * sites are divided among the failures, and each failure needs its own failing runs. */
enum { HIVE_SKETCHES_MAX = 8 };

struct hive_sketch {
	struct sketch_plan plan;
	int64_t added; /* in Unix milliseconds */
	enum hive_sketch_state state;
	uint32_t sigma;		   /* the number of statements that sites track now */
	uint64_t failing, passing; /* the numbers of stored runs */
	/* The index of the first run with the current σ; earlier runs had the previous σ. */
	size_t first;
};

/* Reads a plan, as received or stored. */
int hive_sketch_open(struct hive_sketch *s, const char *document, size_t length);
void hive_sketch_release(struct hive_sketch *s);

/* Applies one more record. */
int hive_sketch_apply(struct hive_sketch *s, const char *record, size_t length);

/* Returns true if a record with this σ and result is still needed. */
bool hive_sketch_wants(const struct hive_sketch *s, uint32_t sigma, bool failed);

struct sketch_report;
typedef int hive_sketch_fn(const struct sketch_report *r, FILE *out);
/* Writes the result of the runs by calling `write`, a function of report/sketch.h that writes JSON
 * (doc/format/sketch.md), a page, or text. */
int hive_sketch_write(const struct hive_sketch *s, const char *program, hive_sketch_fn *write, FILE *out);

#endif
