// SPDX-License-Identifier: Apache-2.0
/*
 * `raddle compare`: where runs deviate from a golden run, and how the error spread.  The golden run is read
 * once; each run is then walked once.
 */
#include "cmd/cmd.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "cmd/compare.h"
#include "cmd/output.h"

#include <stdio.h>
#include <stdlib.h>

static const struct cmd_usage usage = {
	"raddle compare [--json[=FILE]] [--first] [--html FILE] GOLDEN RUN...",
	"Compares runs of a program with a golden run, thread by thread, independently of\n"
	"schedules and addresses. Shows the first deviation, then the instructions, variables\n"
	"and threads that the error reached, in which order and through what, and where it was\n"
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

/* A process of both runs.  The name of a process is that of the one that forked it, and which fork it was. */
struct process {
	const char *name, *golden, *run;
	struct epa_reference *reference;
};

static int show(struct all *all, const struct process *p, const struct epa_comparison *c)
{
	struct compare_view v = {.golden = p->golden,
				 .run = p->run,
				 .process = p->name,
				 .reference = p->reference,
				 .result = c,
				 .show = {&c->names, epa_source_sites(epa_reference_source(p->reference))},
				 .words = rd_arena_new()};
	int err = RD_OK;
	if (opt.json)
		compare_json(&all->json, &v);
	if (!cmd_output_is_stdout())
		compare_text(&v, opt.limit_places ? opt.limit_places : UINT64_MAX);
	if (opt.html && p->reference == all->reference)
		err = compare_html(&v, opt.html);
	rd_arena_free(v.words);
	return err;
}

static int compare_process(struct all *all, const struct process *p)
{
	struct epa_compare_options how = {.propagation = !opt.first_only};
	struct epa_source *run;
	struct epa_comparison c;
	int err = epa_source_open(&run, p->run);
	if (err)
		return err;
	err = epa_compare(p->reference, run, &how, &c);
	if (!err) {
		err = c.damage;
		all->deviated |= c.deviated;
		int shown = show(all, p, &c);
		err = err ? err : shown;
		epa_comparison_release(&c);
	}
	epa_source_close(run);
	return err;
}

static int compare_children(struct all *all, const struct process *p);

/* False: neither run has a child of that number. */
static bool compare_child(struct all *all, const struct process *parent, unsigned number, int *err)
{
	char *golden = rd_xasprintf("%s/fork-%u", parent->golden, number);
	char *run = rd_xasprintf("%s/fork-%u", parent->run, number);
	char *name = rd_xasprintf("%s_%u", parent->name, number);
	struct process p = {name, golden, run, NULL};
	struct epa_source *source = NULL;
	bool before = rd_file_exists(golden), now = rd_file_exists(run), both = before && now;
	if (before != now)
		rd_warn("compare: only %s has the process %s", before ? parent->golden : parent->run, name);
	if (both)
		*err = epa_source_open(&source, golden);
	if (both && !*err)
		*err = epa_reference_open(&p.reference, source);
	if (both && !*err)
		*err = compare_process(all, &p);
	if (both && !*err)
		*err = compare_children(all, &p);
	epa_reference_close(p.reference);
	epa_source_close(source);
	RD_FREE(golden, run, name);
	return before || now;
}

/* Processes that this one forked have traces inside of its own. */
static int compare_children(struct all *all, const struct process *p)
{
	int err = RD_OK;
	for (unsigned i = 0; !err && compare_child(all, p, i, &err); i++)
		;
	return err;
}

static int compare_run(struct all *all, const char *path)
{
	struct process p = {"P_0", all->golden, path, all->reference};
	int err = compare_process(all, &p);
	return err ? err : compare_children(all, &p);
}

static void begin_json(struct all *all, FILE *out)
{
	rd_json_begin(&all->json, out);
	rd_json_object(&all->json, NULL);
	rd_json_number(&all->json, "version", 1);
	rd_json_object(&all->json, "golden");
	RD_JSON(&all->json, RD_JS("path", all->golden),
		RD_JU("records", epa_reference_records(all->reference)),
		RD_JU("threads", epa_reference_threads(all->reference)));
	rd_json_end(&all->json);
	rd_json_array(&all->json, "runs");
}

/* Each run is written when it was compared; `out` is NULL without --json. */
static int compare_runs(const void *what, FILE *out)
{
	struct all *all = *(struct all *const *)what;
	int err = RD_OK;
	if (out)
		begin_json(all, out);
	for (char **run = all->runs; *run; run++) {
		int one = compare_run(all, *run);
		err = err ? err : one;
	}
	if (out) {
		rd_json_end(&all->json);
		rd_json_end(&all->json);
	}
	return err;
}

static int check(int runs)
{
	if (runs < 1)
		return rd_fail(RD_EUSAGE, "compare: needs a golden run and another one");
	if (opt.html && (runs > 1 || opt.first_only))
		return rd_fail(RD_EUSAGE, "compare: --html needs exactly one run");
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
