// SPDX-License-Identifier: Apache-2.0
/* The statistics of an exploration.  In: its counts.  Out: a summary for people, and statistics in
 * the set of findings. */
#include "report/explore.h"

#include "finding/pair.h"
#include "report/report.h"

#include <inttypes.h>

static const char *stop_words(enum explore_stop stop)
{
	switch (stop) {
	case EXPLORE_SETTLED: return "the last ones brought nothing new";
	case EXPLORE_ENOUGH: return "that was the number requested (--schedules)";
	case EXPLORE_TIME: return "the time was up (--time)";
	case EXPLORE_FAILED: return "a failure was found (--all continues)";
	case EXPLORE_INTERRUPTED: return "interrupted";
	default: return "unfinished";
	}
}

void report_explore_text(const struct finding_set *set, const struct explore_result *r, FILE *out)
{
	fprintf(out, "Raddle: %zu failure%s in %" PRIu64 " schedules, %" PRIu64 " of them different; %s\n",
		set->count, set->count == 1 ? "" : "s", r->schedules, r->different, stop_words(r->stop));
	report_coverage_line(set, out);
	if (r->discarded)
		fprintf(out, "%" PRIu64 " runs could not be judged: %s\n", r->discarded,
			r->why ? r->why : "");
	if (r->unrepeated)
		fprintf(out, "%" PRIu64 " failures could not be repeated and are not reported.\n",
			r->unrepeated);
}

void report_explore_numbers(struct finding_set *set, const struct explore_result *r)
{
	finding_stat(set, "schedules", (double)r->schedules);
	finding_stat(set, "different_schedules", (double)r->different);
	finding_stat(set, "pairs", (double)set->pair_count);
	finding_stat(set, "pairs_both", (double)finding_pairs_both(set));
	finding_stat(set, "first_failure", (double)r->first_failure);
	finding_stat(set, "strayed", (double)r->discarded);
	finding_stat(set, "unrepeated", (double)r->unrepeated);
}
