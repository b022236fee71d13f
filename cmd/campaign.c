// SPDX-License-Identifier: Apache-2.0
/*
 * `raddle campaign`: what came of campaigns of `raddle inject`.  In: their directories,
 * finished or not.  Out: statistics as text, JSON or a page.
 */
#include "cmd/cmd.h"

#include "base/alloc.h"
#include "cmd/output.h"
#include "report/campaign.h"
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>

static const struct cmd_usage usage = {
	"raddle campaign [--json[=FILE]] [--html FILE] DIR...",
	"Shows the results of campaigns of 'raddle inject': for each kind of fault the number of\n"
	"runs with each outcome, the fault coverage and the maximal possible false negative rate\n"
	"(MPFNR) with 95 % confidence intervals, and the places of the harmful faults.  A campaign\n"
	"need not be finished.",
	"json html places",
	"  raddle inject --fault all -n 5000 -o faults -- ./pca 10 8\n"
	"  raddle campaign faults\n"
	"  raddle campaign --html faults.html faults\n",
	false,
};

static int write_json(const void *what, FILE *out)
{
	return report_campaign_json(what, out);
}

static int write_html(const void *what, FILE *out)
{
	return report_campaign_html(what, out);
}

static int write_all(struct report_campaigns *c)
{
	int err = cmd_document(opt.html, write_html, c);

	c->colour = report_wants_colour(stdout);
	if (!err)
		err = cmd_document(opt.json, write_json, c);
	if (!err && !cmd_output_is_stdout())
		err = report_campaign_text(c, stdout);
	return err;
}

static int show(char **directories, size_t count)
{
	struct campaign_results *results = rd_xcalloc(count, sizeof *results);
	struct campaign_statistics *statistics = rd_xcalloc(count, sizeof *statistics);
	struct report_campaigns c = {.items = statistics, .places = cmd_limit(opt.places, SIZE_MAX)};
	int err = 0;

	for (; c.count < count && !err; c.count += !err) {
		err = campaign_results_read(&results[c.count], directories[c.count]);
		if (!err)
			campaign_statistics(&statistics[c.count], &results[c.count]);
	}
	if (!err)
		err = write_all(&c);
	for (size_t i = 0; i < c.count; i++) {
		campaign_statistics_release(&statistics[i]);
		campaign_results_release(&results[i]);
	}
	free(statistics);
	free(results);
	return err;
}

int cmd_campaign(int argc, char **argv)
{
	size_t count;
	int status = cmd_operands(argc, argv, &usage, &count);

	if (status != CMD_GO_ON)
		return status;
	if (!count)
		return cmd_which("campaign", "directory");
	return show(argv + 1, count) ? CMD_FAILED : CMD_OK;
}
