/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics over a campaign: for each kind of fault how many runs ended how, the fault
 * coverage, the maximal possible false negative rate (MPFNR) of each outcome, and where
 * the faults that did harm were.  In: results.  Out: counts and rates with 95 %
 * confidence intervals (Clopper-Pearson).
 *
 * Rates are over the runs whose fault was activated.  Where the sampling was stratified
 * (runs have a stratum and its population) each run counts with its weight, the
 * population of its stratum by the runs there, and intervals are those of the effective
 * sample size of Kish, (sum w)^2 / sum w^2, which never makes them narrower than they
 * would be without strata.
 */
#ifndef INJECT_STATISTICS_H
#define INJECT_STATISTICS_H

#include "inject/results.h"

/* A share of runs; there is no value without runs. */
struct campaign_rate {
	uint64_t hits, runs;
	double value, low, high; /* 0 to 1 */
};

/* The runs of one kind of fault; the first group has those of all kinds. */
struct campaign_group {
	const char *fault; /* NULL: all */
	uint64_t runs, activated;
	uint64_t count[RUNLOG_OUTCOMES][RUNLOG_DEVIATIONS];
	struct campaign_rate outcome[RUNLOG_OUTCOMES]; /* share of the activated runs; inactive: of all */
	struct campaign_rate
		mpfnr[RUNLOG_OUTCOMES]; /* of the runs with this outcome, those without a deviation */
	struct campaign_rate
		shown[RUNLOG_OUTCOMES]; /* of the activated runs, those with this outcome and a deviation */
	struct campaign_rate coverage;	/* of the activated runs, those with a deviation */
	bool weighted;
};

/* What happened to faults at one place. */
struct campaign_place {
	const char *name;
	uint64_t runs, outcome[RUNLOG_OUTCOMES], deviated;
};
enum campaign_by { CAMPAIGN_BY_FUNCTION, CAMPAIGN_BY_LINE, CAMPAIGN_BY_OPCODE, CAMPAIGN_BYS };

struct campaign_statistics {
	const struct campaign_results *results;
	struct campaign_group
		*groups; /* groups[0]: all; then by fault in order of the paper's table II, then others */
	size_t group_count;
	struct campaign_place *places[CAMPAIGN_BYS]; /* most harm (crash, hang, SDC) first */
	size_t place_count[CAMPAIGN_BYS];
	struct rd_names texts;
	double cpu_ms, wall_ms;
};

/* `results` must outlive *s. */
void campaign_statistics(struct campaign_statistics *s, const struct campaign_results *results);
void campaign_statistics_release(struct campaign_statistics *s);

/* Runs of this outcome, whatever the deviation. */
uint64_t campaign_group_count(const struct campaign_group *g, enum runlog_outcome outcome);

#endif
