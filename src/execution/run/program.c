// SPDX-License-Identifier: Apache-2.0
/*
 * Finds the flavour of a program that is named on the command line, and stores absolute paths.  It
 * uses the name, PATH and the user's build options.
 */
#include "run/program.h"

#include "base/alloc.h"
#include "base/edit.h"
#include "base/error.h"
#include "base/file.h"
#include "raddle/flavour.h"
#include "run/launch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static int find_program(const char *name, char **result)
{
	char *found = rd_find_program(name);
	struct stat st;

	if (!found)
		return rd_fail(RD_ENOTFOUND, "%s: there is no such program in PATH", name);
	*result = realpath(found, NULL);
	free(found);
	if (!*result || stat(*result, &st))
		return rd_fail_errno("cannot find %s", name);
	if (S_ISREG(st.st_mode) && !access(*result, X_OK))
		return 0;
	free(*result);
	*result = NULL;
	return rd_fail(RD_EUSAGE, "%s: %s", name,
		       S_ISREG(st.st_mode) ? "it is not executable" : "it is not a program");
}

/* Returns the CPU seconds used by all programs that were started and have ended. */
static double used_by_programs(void)
{
	struct rusage all;

	getrusage(RUSAGE_CHILDREN, &all);
	return (double)(all.ru_utime.tv_sec + all.ru_stime.tv_sec) +
	       (double)(all.ru_utime.tv_usec + all.ru_stime.tv_usec) / 1e6;
}

const char *run_program_kind(const struct run_program *p)
{
	return p->kind ? p->kind : "record";
}

static int build(const struct run_program *p, struct rd_flavour *out)
{
	struct rd_flavour_opts how = {.name = run_program_kind(p),
				      .fast = p->how.fast,
				      .choose = !p->how.fast && !p->how.quick,
				      .expected = p->how.often ? RD_FLAVOUR_MANY_RUNS : RD_FLAVOUR_ONE_RUN,
				      .debug = p->how.debug,
				      .optimised = p->how.optimised,
				      .verbose = p->how.verbose,
				      .end_ns = p->how.end_ns,
				      .edits = p->edits,
				      .plugins = p->how.plugins};

	return rd_flavour_build(p->path, &how, out);
}

/* Chooses the edits of the flavour.  Predicates apply only to controlled runs.  Synchronisation
 * that is to be left out is left out in all runs. */
static int choose_edits(struct run_program *p)
{
	struct rd_edits edits = {0};
	struct rd_buf lines = RD_BUF_INIT;
	int r = rd_edits_parse(&edits, p->how.edits, p->path);

	rd_edits_format(&edits, !strcmp(run_program_kind(p), "led"), &lines);
	p->edits = lines.length ? rd_xstrdup(lines.data) : NULL;
	rd_buf_release(&lines);
	rd_edits_release(&edits);
	return r;
}

int run_program_open(struct run_program *p, const char *name, const struct run_build *how)
{
	RD_ASSERT(name != NULL && how != NULL);
	int r = find_program(name, &p->path);

	run_launch_prepare();
	if (r)
		return r;
	p->how = *how;
	if (how->as_is) {
		p->flavour.executable = rd_xstrdup(p->path);
		return 0;
	}
	r = choose_edits(p);
	if (!r)
		r = build(p, &p->flavour);
	if (r)
		return r;
	p->how.fast = p->flavour.fast; /* from now on the mode is fixed */
	p->how.quick = !p->flavour.fast;
	p->mode = p->flavour.fast ? "fast" : "quick";
	rd_flavour_spend(&p->flavour, 0);
	p->used_before = used_by_programs();
	return 0;
}

int run_program_renew(const struct run_program *p)
{
	struct rd_flavour again = {0};
	int r;

	if (rd_flavour_is_there(&p->flavour))
		return 0;
	rd_info("%s: its flavour was removed from the cache and is made again", p->path);
	r = build(p, &again);
	if (!r && strcmp(again.key, p->flavour.key) != 0)
		r = rd_fail(RD_EUSAGE, "%s: it has been rebuilt meanwhile; start again", p->path);
	rd_flavour_release(&again);
	return r;
}

void run_program_close(struct run_program *p)
{
	if (p->flavour.by_cost)
		rd_flavour_spend(&p->flavour, used_by_programs() - p->used_before);
	rd_flavour_release(&p->flavour);
	free(p->path);
	free(p->edits);
	*p = (struct run_program){0};
}

bool run_program_has_values(const char *kind)
{
	const struct raddle_flavour *flavour = kind ? raddle_flavour_find(kind) : NULL;

	return flavour && flavour->values;
}
