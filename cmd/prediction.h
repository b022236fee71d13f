/* SPDX-License-Identifier: Apache-2.0 */
/* From a trace to findings or numbers: what `predict` and `check` do alike. */
#ifndef CMD_PREDICTION_H
#define CMD_PREDICTION_H

#include "finding/finding.h"
#include "predict/count.h"

#include <stdbool.h>
#include <stdint.h>

struct cmd_prediction {
	bool sound_only, no_races, no_deadlocks;
	bool sync_preserving; /* critical sections of a lock keep their order: fast */
	bool force;	      /* without meta.json or site table, if need be */
	uint64_t window;      /* events; 0: the whole */
	uint64_t limit;	      /* findings to describe */
	uint64_t work;	      /* millions of search steps */

	/* Results, summed up. */
	uint64_t left_out; /* findings beyond the limit */
	uint64_t unknown;  /* candidates that were not decided */
	uint64_t events, considered, searched, dropped;
	uint64_t threads; /* of the trace with most of them */
	struct predict_count counts[PREDICT_COUNT_MODELS];
	double reading_seconds; /* CPU time until the search began; with counts */
};

#define CMD_PREDICTION_DEFAULT                                                                               \
	{                                                                                                    \
		.limit = 200, .work = 200                                                                    \
	}

/* Whether the options make sense; `name` is the command's, for the message. */
int cmd_prediction_check(const struct cmd_prediction *p, const char *name);

/* Adds the findings of a trace, a directory or an STD text, to the set, which is not finished, and the
 * arguments of its program.  Of a damaged trace what could be read is looked at, and the error returned. */
int cmd_prediction_run(struct cmd_prediction *p, const char *trace, struct finding_set *set);

/* Counts instead of describing; the set gets the numbers as statistics, `counts` those of the models
 * that the options leave, the others stay zero. */
int cmd_prediction_count(struct cmd_prediction *p, const char *trace, struct finding_set *set, bool pairs);

/* The models that are counted are the first so many. */
unsigned cmd_prediction_models(const struct cmd_prediction *p);

/* Puts the sums into the statistics of the set. */
void cmd_prediction_stats(const struct cmd_prediction *p, struct finding_set *set);

/* Writes DIR/ID.schedule for each finding that is not dropped. */
int cmd_write_schedules(struct finding_set *set, const char *directory);

#endif
