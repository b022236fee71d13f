// SPDX-License-Identifier: Apache-2.0
/*
 * `raddle campaign`: shows the results of campaigns of `raddle inject`.  It reads the directories
 * of finished or unfinished campaigns.  It writes statistics of one or more campaigns as text,
 * JSON, CSV or HTML, or compares two campaigns.
 */
#include "cmd/cmd-int.h"

#include "base/error.h"
#include "cmd/output-int.h"
#include "inject/counted.h"
#include "report/campaign.h"
#include "report/report.h"

static const struct cmd_usage usage = {
	"raddle campaign [--json[=FILE]] [--html FILE] [--against OTHER] DIR...",
	"Shows the results of campaigns of 'raddle inject': for each kind of fault the number of\n"
	"runs with each outcome, the fault coverage and the maximal possible false negative rate\n"
	"(MPFNR) with 95 % confidence intervals, and the vulnerability of functions, lines and\n"
	"variables.  --against compares a campaign with another one, with a test of significance;\n"
	"the exit status is 1 if they differ.  A campaign need not be finished.",
	"json html csv places shown_faults against",
	"  raddle inject --fault all -n 5000 -o faults -- ./pca 10 8\n"
	"  raddle campaign faults\n"
	"  raddle campaign --html faults.html --csv faults.csv faults\n"
	"  raddle campaign --against faults hardened\n",
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

static int write_csv(const void *what, FILE *out)
{
	return report_campaign_csv(what, out);
}

static int write_all(struct report_campaigns *c)
{
	int err = cmd_document(opt.html, write_html, c);

	if (!err)
		err = cmd_document(opt.csv, write_csv, c);

	c->colour = report_wants_colour(stdout);
	if (!err)
		err = cmd_document(opt.json, write_json, c);
	if (!err && !cmd_output_is_stdout())
		err = report_campaign_text(c, stdout);
	return err;
}

static int show(char **directories, size_t count, bool *differ)
{
	RD_ASSERT(count > 0 && (!opt.against || count == 1));
	struct campaign_counted all;
	struct report_campaigns c = {.count = count, .places = cmd_limit(opt.places, SIZE_MAX)};
	int err = campaign_count(&all, directories, count, opt.shown_faults, opt.against);

	c.items = all.statistics;
	c.against = opt.against ? &all.against : NULL;
	*differ = all.against.differ;
	if (!err)
		err = write_all(&c);
	campaign_counted_release(&all);
	return err;
}

int cmd_campaign(int argc, char **argv)
{
	size_t count;
	bool differ = false;
	int status = cmd_operands(argc, argv, &usage, &count);

	if (status != CMD_GO_ON)
		return status;
	if (!count)
		return cmd_which("campaign", "directory");
	if (opt.against && count != 1) {
		rd_fail(RD_EUSAGE, "campaign: --against needs exactly one other campaign");
		return CMD_FAILED;
	}
	if (show(argv + 1, count, &differ))
		return CMD_FAILED;
	return differ ? CMD_FOUND : CMD_OK;
}
