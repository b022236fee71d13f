/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From reports to a verdict: the state machine of figure 5 of the thesis, as a fold.  The state after some
 * reports depends on them alone, so that it can be computed again from what is stored, and is then the same.
 * doc/design/hive.md says what the verdicts mean.
 */
#ifndef HIVE_VERDICT_H
#define HIVE_VERDICT_H

#include "hive/report.h"

enum hive_verdict { HIVE_UNKNOWN, HIVE_TRUE_RACE, HIVE_LIKELY_FALSE, HIVE_VERDICTS };
extern const char *const hive_verdict_names[HIVE_VERDICTS];

/* Why it has that verdict. */
enum hive_reason {
	HIVE_NO_REPORT,
	HIVE_NOT_EXECUTED,    /* unknown: not both accesses were executed */
	HIVE_BEING_VALIDATED, /* unknown: two threads made both accesses to the same address */
	HIVE_BOTH_ORDERS,     /* true race */
	HIVE_SINGLE_ORDER,
	HIVE_NOT_ALIASING,	/* likely false: both were executed, never on the same address */
	HIVE_ONE_THREAD,	/* ... on the same address, but by one thread */
	HIVE_SYNCHRONISED,	/* ... ordered by synchronisation */
	HIVE_ORDER_NOT_REACHED, /* ... the longest time-out did not bring them together */
	HIVE_UNGUARDED,		/* unknown: it is not validated, somebody must look at it */
	HIVE_REASONS
};
extern const char *const hive_reason_names[HIVE_REASONS];

/* When a verdict or its reason became another one. */
struct hive_change {
	int64_t at;
	enum hive_verdict verdict;
	enum hive_reason reason;
};

enum { HIVE_CHANGES = 8 };

struct hive_tally {
	uint64_t reports[HIVE_RESULTS]; /* with their weights */
	uint64_t races[HIVE_ORDERS];
	uint64_t proofs[HIVE_PROOFS];
	uint64_t last_timeouts; /* at the longest time-out that the site allows */
	uint64_t consequences[HIVE_CONSEQUENCES], suspected[HIVE_CONSEQUENCES];
	uint64_t executed, aliased;		  /* reports of both accesses; of the same address */
	uint32_t context;			  /* all that any site saw */
	int64_t first_at, last_at;		  /* of reports; 0: none */
	struct hive_change changes[HIVE_CHANGES]; /* the first and the latest ones */
	unsigned change_count;
};

/* Runs in which something was validated, and those of them that failed without having shown the race. */
struct hive_canary {
	uint64_t validated, failed;
};
void hive_canary_add(struct hive_canary *c, const struct hive_report *report);
/* So many failed that validating is the likely cause, or not worth it: it stops. */
bool hive_canary_stops(const struct hive_canary *c);

void hive_tally_add(struct hive_tally *t, const struct hive_report *report);

enum hive_verdict hive_tally_verdict(const struct hive_tally *t, enum hive_reason *reason);

/* By the rule of three: what the reports say at most, with 95 % confidence, about how often a run shows the
 * race.  1 if they say nothing. */
double hive_tally_bound(const struct hive_tally *t);

#endif
