// SPDX-License-Identifier: Apache-2.0
/* Writes the end of the report of a check.  In: a completed check.  Out: lines about its runs, and
 * about the work that was left out. */
#include "report/check.h"

#include "report/classes.h"
#include "report/prediction.h"
#include "report/report.h"

#include <inttypes.h>

static void print_late(const struct replay_settled *r, FILE *out)
{
	const char *why = r->interrupted ? "before the interrupt" : "in the time given (--time raises it)";

	if (r->untried)
		fprintf(out, "Not replayed %s: %" PRIu64 ".\n", why, r->untried);
	if (r->unfinished)
		fprintf(out, "Replayed, but not in every way %s: %" PRIu64 ".\n", why, r->unfinished);
}

static void print_ending(const struct check *c, FILE *out)
{
	struct rd_buf words = RD_BUF_INIT;

	check_ending_words(&c->recorded.runs[0].ending, &words);
	fprintf(out, "The recorded program %s.\n", words.data);
	rd_buf_release(&words);
}

static void print_further(const struct check *c, FILE *out)
{
	const struct explore_result *r = &c->explored;

	if (!c->further.runs)
		return;
	fprintf(out, "Further runs: %" PRIu64 " recorded, with %" PRIu64 " new findings.\n", c->further.runs,
		c->further.fresh);
	if (!r->schedules) {
		fprintf(out, "No schedule could be explored: %s.\n", r->why ? r->why : "there was no time");
		return;
	}
	fprintf(out, "Schedules explored: %" PRIu64 ", %" PRIu64 " different%s.\n", r->schedules,
		r->different,
		r->stop == EXPLORE_SETTLED ? ", the last ones without anything new"
		: r->stop == EXPLORE_TIME  ? ", until their time was up"
					   : "");
	report_coverage_line(c->set, out);
}

void report_check_rest(const struct check *c, FILE *out)
{
	print_ending(c, out);
	print_further(c, out);
	print_late(&c->settled, out);
	report_classes(c->set, &c->classes, out);
	report_prediction_rest(&c->predicted.batch, out, "tried");
	if (c->input.typed && finding_set_count(c->set, FINDING_CONFIRMED, false) < c->set->count)
		fputs("The replays had no input, because it came from a terminal; use a file.\n", out);
	fprintf(out, "The trace, findings.json and schedules are in %s.\n", c->claim.path);
}
