/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics of a campaign.  For each kind of fault they contain the outcomes, the fault coverage,
 * and the maximal possible false negative rate (MPFNR) of each outcome.  They also show where the
 * harmful faults struck.  In: results.  Out: counts and rates with 95 % confidence intervals.
 * Usually these are Clopper-Pearson intervals.  If the campaign stops when an interval is narrow
 * enough, they are intervals that are valid at every number of runs (inject/interval-int.h).
 *
 * Most rates are over the runs whose fault was activated.  If the sampling was stratified, runs
 * have a stratum and its population.  The weight of a run is then the population of its stratum
 * divided by the number of runs in the stratum.  Intervals then use Kish's effective sample size,
 * (sum w)^2 / sum w^2, so they are never narrower than without strata.
 */
#ifndef INJECT_STATISTICS_H
#define INJECT_STATISTICS_H

#include "inject/results.h"

/* A share of runs.  If `runs` is 0, `value` is meaningless. */
struct campaign_rate {
	uint64_t hits, runs;
	double value, low, high; /* from 0 to 1 */
	/* Effective size: the number of runs of equal weight that would give the same
	 * information. */
	double size;
};

/* What a share may refer to: an outcome, or one of these measures. */
enum campaign_measure {
	CAMPAIGN_HARM = RUNLOG_OUTCOMES, /* crash, hang or silent data corruption */
	CAMPAIGN_COVERAGE,		 /* runs with a deviation */
	CAMPAIGN_MEASURES
};
const char *campaign_measure_name(unsigned measure);

/* The runs of one kind of fault.  The first group has the runs of all kinds. */
struct campaign_group {
	const char *fault; /* kind of fault; NULL for all kinds */
	uint64_t runs, activated;
	uint64_t count[RUNLOG_OUTCOMES][RUNLOG_DEVIATIONS];
	/* For each outcome, its share of the activated runs; for RUNLOG_INACTIVE, its share of all
	 * runs. */
	struct campaign_rate outcome[RUNLOG_OUTCOMES];
	/* For each outcome, the share of its runs that have no deviation. */
	struct campaign_rate mpfnr[RUNLOG_OUTCOMES];
	/* For each outcome, the share of the activated runs that have this outcome and a
	 * deviation. */
	struct campaign_rate shown[RUNLOG_OUTCOMES];
	struct campaign_rate coverage; /* share of activated runs with a deviation */
	struct campaign_rate harm;     /* share of activated runs that did harm */
	bool weighted;
};

/* The results of activated faults of one kind at one place. */
struct campaign_cell {
	size_t group; /* index of the group; 0 for all kinds */
	uint64_t runs, hits[CAMPAIGN_MEASURES];
	double weight, square, hit_weight[CAMPAIGN_MEASURES];
};

/* A place. cells[0] has all kinds; the other cells are in the order of groups. */
struct campaign_place {
	const char *name;
	const char *file; /* for a line: its file; NULL if unknown */
	uint32_t line;
	struct campaign_cell *cells;
	size_t cell_count, cell_capacity;
};
enum campaign_by {
	CAMPAIGN_BY_FUNCTION,
	CAMPAIGN_BY_LINE,
	CAMPAIGN_BY_VARIABLE,
	CAMPAIGN_BY_OPCODE,
	CAMPAIGN_BYS
};
const char *campaign_by_name(enum campaign_by by); /* such as "function" */

struct campaign_statistics {
	const struct campaign_results *results;
	/* groups[0] contains the runs of all kinds.  It is followed by the kinds of table II of the
	 * TraceSanitizer paper, and then by the other kinds. */
	struct campaign_group *groups;
	size_t group_count;
	/* Sorted by harm (crash, hang, SDC), the most harmful first. */
	struct campaign_place *places[CAMPAIGN_BYS];
	size_t place_count[CAMPAIGN_BYS];
	struct rd_names texts;
	double cpu_ms, wall_ms;
};

/* Computes the statistics.  `results` must outlive *s. */
void campaign_statistics(struct campaign_statistics *s, const struct campaign_results *results);
void campaign_statistics_release(struct campaign_statistics *s);

/* These functions return shares with their intervals.  The shares of cells are computed on demand,
 * because there may be very many cells. */
struct campaign_rate campaign_cell_rate(const struct campaign_statistics *s, const struct campaign_cell *c,
					unsigned measure);
const struct campaign_rate *campaign_group_rate(const struct campaign_group *g, unsigned measure);

/* Returns true if the interval to which the option --until applies is narrow enough. */
bool campaign_is_precise(const struct campaign_statistics *s, const struct campaign_group *g);

/* Returns the cell of a place and group, or NULL if there is none. */
const struct campaign_cell *campaign_cell(const struct campaign_place *p, size_t group);

/* Returns the number of runs with this outcome, whatever their deviation. */
uint64_t campaign_group_count(const struct campaign_group *g, enum runlog_outcome outcome);

#endif
