// SPDX-License-Identifier: Apache-2.0
/*
 * `raddle campaign`: what came of campaigns of `raddle inject`.  In: their directories,
 * finished or not.  Out: statistics as text, JSON or a page.
 */
#include "cmd/cmd.h"

#include "base/alloc.h"
#include "base/error.h"
#include "report/campaign.h"
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	bool json;
	const char *html; /* file for the page, "-": standard output */
	uint64_t places;
} opt;

static const struct rd_option options[] = {
	RD_FLAG('j', "json", &opt.json, "write a JSON document"),
	RD_STRING(0, "html", &opt.html, "FILE", "write an HTML page to FILE (-: standard output)"),
	RD_NUMBER('n', "places", &opt.places, "COUNT", "list COUNT functions, lines and opcodes"),
	RD_END,
};

static const struct rd_usage usage = {
	"raddle campaign [--json] [--html FILE] DIR...",
	"Shows the results of campaigns of 'raddle inject': for each kind of fault the number of\n"
	"runs with each outcome, the fault coverage and the maximal possible false negative rate\n"
	"(MPFNR) with 95 % confidence intervals, and the places of the harmful faults.  A campaign\n"
	"need not be finished.",
	options,
	"  raddle inject --fault all -n 5000 -o faults -- ./pca 10 8\n"
	"  raddle campaign faults\n"
	"  raddle campaign --html faults.html faults\n",
};

static int write_page(const struct report_campaigns *c)
{
	bool to_stdout = !strcmp(opt.html, "-");
	FILE *out = to_stdout ? stdout : fopen(opt.html, "w");
	int err;

	if (!out)
		return rd_fail_errno("%s: cannot write it", opt.html);
	err = report_campaign_html(c, out);
	if (!to_stdout && fclose(out) != 0 && !err)
		err = rd_fail_errno("%s: cannot write it", opt.html);
	return err;
}

static int write_all(struct report_campaigns *c)
{
	bool page_is_stdout = opt.html && !strcmp(opt.html, "-");
	int err = opt.html ? write_page(c) : 0;

	c->colour = report_wants_colour(stdout);
	if (!err && opt.json)
		err = report_campaign_json(c, stdout);
	else if (!err && !page_is_stdout)
		err = report_campaign_text(c, stdout);
	return err;
}

static int show(char **directories, size_t count)
{
	struct campaign_results *results = rd_xcalloc(count, sizeof *results);
	struct campaign_statistics *statistics = rd_xcalloc(count, sizeof *statistics);
	struct report_campaigns c = {.items = statistics, .places = opt.places};
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
	if (!count) {
		rd_fail(RD_EUSAGE, "campaign: which directory? 'raddle help campaign' shows the usage");
		return CMD_FAILED;
	}
	if (opt.json && opt.html && !strcmp(opt.html, "-")) {
		rd_fail(RD_EUSAGE, "campaign: only one document can go to standard output");
		return CMD_FAILED;
	}
	return show(argv + 1, count) ? CMD_FAILED : CMD_OK;
}
