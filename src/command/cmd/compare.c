// SPDX-License-Identifier: Apache-2.0
/*
 * `raddle compare`: shows where runs deviate from a golden run, and how the error spread.  The
 * golden run is read once, and then each other run is read once.
 */
#include "cmd/cmd-int.h"

#include "base/error.h"
#include "cmd/output-int.h"
#include "report/comparison.h"

static const struct cmd_usage usage = {
	"raddle compare [--json[=FILE]] [--first] [--html FILE] GOLDEN RUN...",
	"Compares runs of a program with a golden run, thread by thread, independently of\n"
	"schedules and addresses. Shows the first deviation, then the instructions, variables\n"
	"and threads that the error reached, in which order and by which way, and where it was\n"
	"masked. The traces must be full traces. Forked processes are compared too. The exit\n"
	"status is 1 if a run deviates.",
	"json first_only limit_places html",
	"  raddle record --flavour full -o golden -- ./prog\n"
	"  raddle record --flavour full -o run -- ./prog\n"
	"  raddle compare golden run\n",
	false,
};

struct all {
	const char *golden;
	char **runs;
	struct epa_reference *reference;
	struct rd_json json;
	bool deviated;
};

/* The data that write_page() needs to write the HTML page of a comparison. */
struct page {
	const struct epa_process *process;
	const struct epa_comparison *result;
};

static int write_page(const void *what, FILE *out)
{
	const struct page *p = what;
	return report_comparison_html(p->process, p->result, out);
}

static int show(void *context, const struct epa_process *p, const struct epa_comparison *c)
{
	struct all *all = context;
	all->deviated |= c->deviated;
	if (opt.json)
		report_comparison_json(&all->json, p, c);
	if (!cmd_output_is_stdout())
		report_comparison_text(p, c, opt.limit_places ? opt.limit_places : UINT64_MAX, stdout);
	return p->forked ? RD_OK : cmd_document(opt.html, write_page, &(struct page){p, c});
}

/* Compares the runs.  Each result is written as soon as it is known.  `out` is NULL if --json is
 * not given. */
static int compare_runs(const void *what, FILE *out)
{
	struct all *all = *(struct all *const *)what;
	RD_ASSERT(all->reference && all->runs && all->runs[0]);
	const struct epa_compare_options how = {.propagation = !opt.first_only};
	int err = RD_OK;
	if (out)
		report_comparison_json_begin(&all->json, all->golden, all->reference, out);
	for (char **run = all->runs; *run; run++) {
		int one = epa_compare_processes(all->golden, all->reference, *run, &how, show, all);
		err = err ? err : one;
	}
	if (out)
		report_comparison_json_end(&all->json);
	return err;
}

static int check(int runs)
{
	if (runs < 1)
		return rd_fail(RD_EUSAGE, "compare: needs a golden run and another one");
	if (opt.html && (runs > 1 || opt.first_only))
		return rd_fail(RD_EUSAGE, "compare: --html needs exactly one run, and not --first");
	return RD_OK;
}

int cmd_compare(int argc, char **argv)
{
	struct all all = {0}, *whole = &all;
	struct epa_source *golden;
	size_t count;
	int status = cmd_operands(argc, argv, &usage, &count), err;
	if (status != CMD_GO_ON)
		return status;
	if (check((int)count - 1))
		return CMD_FAILED;
	all.golden = argv[1];
	if (epa_source_open(&golden, all.golden))
		return CMD_FAILED;
	err = epa_reference_open(&all.reference, golden);
	all.runs = argv + 2;
	if (!err)
		err = opt.json ? cmd_document(opt.json, compare_runs, &whole) : compare_runs(&whole, NULL);
	epa_reference_close(all.reference);
	epa_source_close(golden);
	if (err)
		return CMD_FAILED;
	return all.deviated ? CMD_FOUND : CMD_OK;
}
