// SPDX-License-Identifier: Apache-2.0
/* The reversibility check of a golden run, and its consequence for a campaign. */
#include "inject/determinism-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "inject/verdict-int.h"
#include "reversible/reversible.h"

#include <stdio.h>
#include <stdlib.h>

#define SOLVER_MS 2000 /* time limit of one question to the solver; set by hand */
#define WHERE_MAX 512  /* bytes for a place in a message */
#define REVERSALS 64   /* number of reversals that are checked; set by hand, bounds time */

/* Returns the first reversal that does more than decide whether a thread waits, or NULL if there is
 * none. */
static const struct rev_reversal *find_real(const struct rev_result *x)
{
	for (size_t i = 0; i < x->reversal_count; i++)
		if (!rev_decided_wait(&x->run, &x->reversals[i].pair))
			return &x->reversals[i];
	return NULL;
}

static int report_reversal(const struct rev_reversal *v, const struct trace_sites *sites, bool allow)
{
	char first[WHERE_MAX], second[WHERE_MAX];

	inject_where(sites, v->side[0].site, first, sizeof first);
	inject_where(sites, v->side[1].site, second, sizeof second);
	if (allow) {
		rd_warn("inject: the schedule can change what the program does with %s (%s, %s): runs may "
			"deviate "
			"without a fault",
			v->object ? v->object : "an object", first, second);
		return 0;
	}
	return rd_fail(
		RD_EUSAGE,
		"inject: the schedule can change what the program does with %s (%s, %s), so a deviation need "
		"not "
		"come from a fault (`raddle reversible` on a full trace shows how; use "
		"--allow-nondeterminism to continue anyway)",
		v->object ? v->object : "an object", first, second);
}

/* Returns true if the source makes runs differ.  An address is such a source only if addresses
 * differ from run to run. */
static bool matters(const struct inject_setup *s, const struct rev_source *source)
{
	return s->aslr || (source->kind != REV_OF_ADDRESS && source->kind != REV_OF_NUMBER);
}

static void report_sources(const struct inject_setup *s, const struct rev_result *x,
			   const struct trace_sites *sites)
{
	const struct rev_source *first = NULL;
	size_t count = 0;
	char where[WHERE_MAX];

	for (size_t i = 0; i < x->source_count; i++) {
		if (!matters(s, &x->sources[i]))
			continue;
		first = first ? first : &x->sources[i];
		count++;
	}
	if (!first)
		return;
	inject_where(sites, first->site, where, sizeof where);
	rd_warn("inject: the program may depend on something outside of it in %zu place%s, "
		"first %s at %s: "
		"%s; runs may deviate without a fault",
		count, count == 1 ? "" : "s", first->what, where,
		rev_source_kind_text((enum rev_source_kind)first->kind));
}

static int judge(struct inject_setup *s, const struct rev_result *x, struct epa_source *source, bool allow)
{
	static const char *const words[] = {[REV_YES] = "yes", [REV_NO] = "no", [REV_OPEN] = "unknown"};
	const struct trace_sites *sites = epa_source_sites(source);

	free(s->reversible);
	s->reversible = rd_xstrdup(words[x->verdict]);
	if (find_real(x))
		return report_reversal(find_real(x), sites, allow);
	if (x->verdict == REV_NO)
		rd_info("inject: the schedule decides whether threads wait; iterations that end in a wait "
			"are not compared");
	if (x->verdict == REV_OPEN)
		rd_warn("inject: whether the schedule can change what the program does is not known: %s",
			x->reason);
	report_sources(s, x, sites);
	return 0;
}

int inject_determinism_check(const char *directory, struct inject_setup *setup, bool allow)
{
	char *path = rd_xasprintf("%s/golden/trace", directory);
	struct rev_options options = {.solver_ms = SOLVER_MS, .limit = REVERSALS};
	struct epa_source *source = NULL;
	struct rev_result *x = NULL;
	int r = epa_source_open(&source, path);

	if (!r)
		r = rev_check(&x, source, &options);
	if (!r)
		r = judge(setup, x, source, allow);
	rev_result_free(x);
	epa_source_close(source);
	free(path);
	return r;
}
