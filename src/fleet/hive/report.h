/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report that a site sends about a candidate, as in the body of POST /api/v1/reports
 * (doc/format/hive-api.json).  The same struct is stored, and verdicts are computed from it.
 */
#ifndef HIVE_REPORT_H
#define HIVE_REPORT_H

#include "base/json-read.h"
#include "raddle/guard.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sizes of texts in bytes, with the terminating NUL. */
enum { HIVE_BUILD = 65, HIVE_SITE = 33, HIVE_RUN_ID = 17, HIVE_CANDIDATE = 17 };

/* Limits for what sites send, which is not trusted.  All were set by hand. */
enum {
	HIVE_DEPTH_MAX = 8, /* the maximum nesting depth of JSON; reports nest less deeply */
	/* The longest pause that a task requests, in microseconds.  Users would notice longer
	 * ones. */
	HIVE_TAU_MAX_US = 200000,
	HIVE_WEIGHT_MAX = 1000, /* maximum number of occurrences that one report may represent */
};

enum hive_result { HIVE_RACE, HIVE_NO_RACE, HIVE_TIMEOUT, HIVE_NOT_SEEN, HIVE_CONTEXT, HIVE_RESULTS };
enum hive_order { HIVE_NO_ORDER, HIVE_PRIMARY, HIVE_ALTERNATE, HIVE_ORDERS };
enum hive_proof { HIVE_NO_PROOF, HIVE_HAPPENS_BEFORE, HIVE_COLLISION, HIVE_PROOFS };
enum hive_consequence {
	HIVE_NO_CONSEQUENCE,
	HIVE_CRASH,
	HIVE_HANG,
	HIVE_DEADLOCK,
	HIVE_ASSERTION,
	HIVE_MEMORY_ERROR,
	HIVE_USER, /* a user reported that the program misbehaved */
	HIVE_CONSEQUENCES
};

/* What a run showed about the two accesses of a candidate (dynamic context inference,
 * doc/design/hive.md). */
enum {
	HIVE_FIRST = RADDLE_GUARD_FIRST,
	HIVE_SECOND = RADDLE_GUARD_SECOND,
	HIVE_BOTH = HIVE_FIRST | HIVE_SECOND,
	HIVE_SAME_ADDRESS = RADDLE_GUARD_SAME_ADDRESS,
	HIVE_TWO_THREADS = RADDLE_GUARD_TWO_THREADS,
	HIVE_MET = HIVE_BOTH | HIVE_SAME_ADDRESS | HIVE_TWO_THREADS,
};

/* The names of results, orders, proofs and consequences in messages and documents.  If a value is
 * never written, its name is NULL. */
extern const char *const hive_result_names[HIVE_RESULTS];
extern const char *const hive_order_names[HIVE_ORDERS];
extern const char *const hive_proof_names[HIVE_PROOFS];
extern const char *const hive_consequence_names[HIVE_CONSEQUENCES];

struct hive_report {
	char run[HIVE_RUN_ID];
	char candidate[HIVE_CANDIDATE];
	uint32_t seq;
	enum hive_result result;
	enum hive_order order;
	enum hive_proof proof;
	enum hive_consequence consequence;
	uint32_t tau_us;
	/* True if the site's own limit was below the pause that the task requests. */
	bool tau_capped;
	uint32_t context; /* a set of HIVE_FIRST and so on */
	uint32_t signal;
	uint32_t pause_us, busy_us;
	uint32_t weight;  /* the number of equal reports that this one replaces */
	int64_t received; /* in Unix milliseconds, by the hive's clock */
};

struct hive_rejected {
	size_t index;
	const char *error; /* a constant text */
};

struct hive_reports {
	char build[HIVE_BUILD], site[HIVE_SITE];
	struct hive_report *items;
	size_t *index; /* the index of each report in the body */
	size_t count;
	struct hive_rejected *rejected;
	size_t rejected_count;
};

/* Reads a body.  A malformed document is an error.  A bad report in it is rejected. */
int hive_reports_read(struct hive_reports *r, const char *body, size_t length);
void hive_reports_release(struct hive_reports *r);

/* Rejects item i, although it was well-formed. */
void hive_reports_reject(struct hive_reports *r, size_t i, const char *error);

/* Loads a body as rd_json_load() does, but refuses one that nests deeper than `max`. */
json_t *hive_json_load(struct rd_json_read *j, const char *body, size_t length, unsigned max);

/* The body of a request, as text.  hive_json_read() loads a body as hive_json_load() does, and
 * passes the tree to `get`, which returns 0 or an error. */
struct hive_body {
	const char *text;
	size_t length;
	unsigned depth_max;
};
int hive_json_read(struct rd_json_read *j, const struct hive_body *body,
		   int (*get)(struct rd_json_read *j, void *into, const json_t *root), void *into);

/* Returns true if the brackets outside strings are nested at most `max` deep.  A recursive parser
 * is then safe. */
bool hive_json_is_shallow(const char *body, size_t length, unsigned max);

bool hive_is_build(const char *text);

#endif
