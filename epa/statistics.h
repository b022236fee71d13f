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
#ifndef EPA_STATISTICS_H
#define EPA_STATISTICS_H

#include "epa/results.h"

/* A share of runs; there is no value without runs. */
struct epa_rate {
	uint64_t hits, runs;
	double value, low, high; /* 0 to 1 */
};

/* The runs of one kind of fault; the first group has those of all kinds. */
struct epa_group {
	const char *fault; /* NULL: all */
	uint64_t runs, activated;
	uint64_t count[EPA_RUN_OUTCOMES][EPA_RUN_DEVIATIONS];
	struct epa_rate outcome[EPA_RUN_OUTCOMES]; /* share of the activated runs; inactive: of all */
	struct epa_rate
		mpfnr[EPA_RUN_OUTCOMES]; /* of the runs with this outcome, those without a deviation */
	struct epa_rate
		shown[EPA_RUN_OUTCOMES]; /* of the activated runs, those with this outcome and a deviation */
	struct epa_rate coverage;	 /* of the activated runs, those with a deviation */
	bool weighted;
};

/* What happened to faults at one place. */
struct epa_place {
	const char *name;
	uint64_t runs, outcome[EPA_RUN_OUTCOMES], deviated;
};
enum epa_by { EPA_BY_FUNCTION, EPA_BY_LINE, EPA_BY_OPCODE, EPA_BYS };

struct epa_statistics {
	const struct epa_results *results;
	struct epa_group
		*groups; /* groups[0]: all; then by fault in order of the paper's table II, then others */
	size_t group_count;
	struct epa_place *places[EPA_BYS]; /* most harm (crash, hang, SDC) first */
	size_t place_count[EPA_BYS];
	struct rd_names texts;
	double cpu_ms, wall_ms;
};

/* `results` must outlive *s. */
void epa_statistics(struct epa_statistics *s, const struct epa_results *results);
void epa_statistics_release(struct epa_statistics *s);

/* Runs of this outcome, whatever the deviation. */
uint64_t epa_group_count(const struct epa_group *g, enum epa_run_outcome outcome);

#endif
