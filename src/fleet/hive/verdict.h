/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes verdicts from reports by the state machine of figure 5 of Kasikci's thesis.  The state
 * depends only on the reports, so it can be recomputed from the store.  The verdicts are defined
 * in doc/design/hive.md.
 */
#ifndef HIVE_VERDICT_H
#define HIVE_VERDICT_H

#include "hive/report.h"

enum hive_verdict { HIVE_UNKNOWN, HIVE_TRUE_RACE, HIVE_LIKELY_FALSE, HIVE_VERDICTS };
extern const char *const hive_verdict_names[HIVE_VERDICTS];

enum hive_reason {
	HIVE_NO_REPORT,
	HIVE_NOT_EXECUTED,    /* unknown: the two accesses were not both executed */
	HIVE_BEING_VALIDATED, /* unknown: two threads made both accesses to the same address */
	HIVE_BOTH_ORDERS,     /* true race: both orders were seen */
	HIVE_SINGLE_ORDER,
	/* Likely false: both accesses were executed, but never at the same address. */
	HIVE_NOT_ALIASING,
	/* Likely false: both accesses had the same address, but one thread made both. */
	HIVE_ONE_THREAD,
	HIVE_SYNCHRONISED,	/* likely false: synchronisation ordered the two accesses */
	HIVE_ORDER_NOT_REACHED, /* likely false: even the longest pause did not make the threads meet */
	HIVE_UNGUARDED,		/* unknown: sites cannot validate the candidate, so a developer must */
	HIVE_REASONS
};
extern const char *const hive_reason_names[HIVE_REASONS];

/* A change of the verdict or its reason. */
struct hive_change {
	int64_t at;
	enum hive_verdict verdict;
	enum hive_reason reason;
};

/* The number of verdict changes that are kept.  Set by hand: a candidate changes its verdict a few
 * times at most, and every candidate needs the memory. */
enum { HIVE_CHANGES = 8 };

struct hive_tally {
	uint64_t reports[HIVE_RESULTS]; /* the number of reports of each result, with their weights */
	uint64_t races[HIVE_ORDERS];
	uint64_t proofs[HIVE_PROOFS];
	/* The number of time-outs in which the pause was the longest that the site allows. */
	uint64_t last_timeouts;
	uint64_t consequences[HIVE_CONSEQUENCES], suspected[HIVE_CONSEQUENCES];
	/* The number of reports in which both accesses were executed, and of those in which they
	 * had the same address. */
	uint64_t executed, aliased;
	uint32_t context; /* the union of the contexts that sites reported */
	/* When the first and the last report were received; 0 if there is none. */
	int64_t first_at, last_at;
	struct hive_change changes[HIVE_CHANGES]; /* the first changes and the latest ones */
	unsigned change_count;
};

/* The number of runs in which a candidate was validated, and how many of them failed without
 * having shown the race. */
struct hive_canary {
	uint64_t validated, failed;
};
void hive_canary_add(struct hive_canary *c, const struct hive_report *report);
/* Returns true if validation must stop because too many validating runs failed.  Then validation
 * is probably the cause, or the program is too unstable for it. */
bool hive_canary_stops(const struct hive_canary *c);

void hive_tally_add(struct hive_tally *t, const struct hive_report *report);

enum hive_verdict hive_tally_verdict(const struct hive_tally *t, enum hive_reason *reason);

/* Returns an upper bound, with 95 % confidence, for the share of runs that show the race.  It is
 * computed by the rule of three, and is 1 if there are no reports. */
double hive_tally_bound(const struct hive_tally *t);

#endif
