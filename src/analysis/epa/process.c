// SPDX-License-Identifier: Apache-2.0
/*
 * Compares the processes of two runs, which are given as directories: the golden run and another
 * one.  Makes a comparison for each process that both runs have, parents before their children.
 */
#include "epa/process.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"

#include <stdlib.h>

struct walk {
	const struct epa_compare_options *how;
	epa_process_fn *each;
	void *context;
};

static int compare_process(const struct walk *w, const struct epa_process *p)
{
	struct epa_source *run;
	struct epa_comparison c;
	int err = epa_source_open(&run, p->run);
	if (err)
		return err;
	err = epa_compare(p->reference, run, w->how, &c);
	if (!err) {
		int shown = w->each(w->context, p, &c);
		err = c.damage ? c.damage : shown;
		epa_comparison_release(&c);
	}
	epa_source_close(run);
	return err;
}

static int compare_children(const struct walk *w, const struct epa_process *p);

static int compare_both(const struct walk *w, const struct epa_process *p)
{
	struct epa_process with = *p;
	struct epa_reference *reference = NULL;
	struct epa_source *source = NULL;
	int err = epa_source_open(&source, p->golden);
	if (!err)
		err = epa_reference_open(&reference, source);
	with.reference = reference;
	if (!err)
		err = compare_process(w, &with);
	if (!err)
		err = compare_children(w, &with);
	epa_reference_close(reference);
	epa_source_close(source);
	return err;
}

/* Compares a child.  Returns false if neither run has a child with that number. */
static bool compare_child(const struct walk *w, const struct epa_process *parent, unsigned number, int *err)
{
	char *golden = rd_xasprintf("%s/fork-%u", parent->golden, number);
	char *run = rd_xasprintf("%s/fork-%u", parent->run, number);
	char *name = rd_xasprintf("%s_%u", parent->name, number);
	bool before = rd_file_exists(golden), now = rd_file_exists(run);
	if (before != now)
		rd_warn("compare: only %s has the process %s", before ? parent->golden : parent->run, name);
	if (before && now)
		*err = compare_both(w, &(struct epa_process){name, golden, run, NULL, true});
	RD_FREE(golden, run, name);
	return before || now;
}

/* Compares the forked processes, whose traces are inside that of their parent. */
static int compare_children(const struct walk *w, const struct epa_process *p)
{
	int err = RD_OK;
	for (unsigned i = 0; !err && compare_child(w, p, i, &err); i++)
		;
	return err;
}

int epa_compare_processes(const char *golden, const struct epa_reference *reference, const char *run,
			  const struct epa_compare_options *how, epa_process_fn *each, void *context)
{
	const struct walk w = {how, each, context};
	const struct epa_process p = {"P_0", golden, run, reference, false};
	int err;
	RD_ASSERT(reference && each);
	err = compare_process(&w, &p);
	return err ? err : compare_children(&w, &p);
}
