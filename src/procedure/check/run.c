// SPDX-License-Identifier: Apache-2.0
/*
 * A check (check.h).  In: a program and the user's options.  Out: findings.  Each round of the loop
 * asks the budget (budget.c) for the next action and carries it out.  Nothing calls back into this
 * file.
 */
#include "check/act-int.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "explore/known.h"
#include "finding/rank.h"
#include "run/orphan.h"
#include "trial/trial.h"

#include <stdlib.h>

/* ---- opening ---- */

static int find_edits(struct check *c)
{
	struct trace_sites *sites = NULL;
	int err = trace_sites_read(&sites, c->program.flavour.sites);

	if (!err)
		err = check_edits_find(&c->edits, sites, false);
	trace_sites_free(sites);
	return err;
}

static void know_wishes(struct check *c)
{
	const struct check_opts *o = c->opts;
	int64_t start_ns = rd_now_ns();

	c->known = (struct check_known){.start_ns = start_ns,
					.now_ns = start_ns,
					.end_ns = o->time_ms ? start_ns + (int64_t)o->time_ms * 1000000 : 0,
					.runs = o->runs,
					.timeout_ms = o->timeout_ms,
					.no_replay = o->no_replay,
					.no_explore = o->no_explore,
					.no_classify = o->no_classify,
					.has_company = o->with || o->setup};
}

/* Instruments the program.  The time that this takes is part of the check's time. */
static int build(struct check *c)
{
	struct run_build how = c->opts->build;
	int err;

	how.end_ns = c->known.end_ns;
	err = check_edits_open(&c->edits, c->opts->require, c->opts->without_sync);
	how.edits = c->edits.lines;
	c->known.is_edited = how.edits != NULL;
	if (!err)
		err = run_program_open(&c->program, c->opts->argv[0], &how);
	if (!err && how.edits)
		err = find_edits(c);
	c->known.build_ns = rd_now_ns() - c->known.start_ns;
	c->seconds.build = (double)c->known.build_ns / 1e9;
	if (!err && check_is_slow_build(&c->known))
		rd_warn("instrumenting the program took %.0f of the %g s of --time; the next check need not "
			"repeat that",
			c->seconds.build, (double)c->opts->time_ms / 1e3);
	return err;
}

int check_open(struct check *c, const struct check_opts *opts)
{
	RD_ASSERT(opts->runs && opts->argv[0]);
	*c = (struct check){.opts = opts,
			    .companion = {.command = opts->with},
			    .predicted.batch = opts->prediction,
			    .recorded.run_count = opts->runs,
			    .shared = trial_shared_new(),
			    .set = finding_set_new()};
	c->recorded.runs = rd_xcalloc(opts->runs, sizeof *c->recorded.runs);
	know_wishes(c);
	return build(c);
}

void check_close(struct check *c)
{
	predict_pass_close(c->predicted.pass);
	finding_set_free(c->set);
	replay_settled_release(&c->settled);
	classify_result_release(&c->classes);
	explore_result_release(&c->explored);
	for (size_t i = 0; i < c->kept_count; i++)
		finding_set_free(c->kept[i]);
	for (size_t i = 0; i < c->opts->runs; i++) {
		finding_set_free(c->recorded.runs[i].deadlock);
		check_ending_release(&c->recorded.runs[i].ending);
	}
	RD_FREE(c->kept, c->recorded.runs, c->predicted.all);
	further_release(&c->further);
	trial_shared_free(c->shared);
	run_input_close(&c->input);
	run_program_close(&c->program);
	check_edits_close(&c->edits);
	rd_argv_release(&c->predicted.batch.modules);
	rd_claim_release(&c->claim);
}

/* ---- the loop ---- */

static int act(struct check *c, const struct check_action *a, struct check_outcome *o)
{
	switch (a->what) {
	case CHECK_RECORD: return check_do_record(c, a);
	case CHECK_PREDICT: return check_do_predict(c, a, o);
	case CHECK_SHOW_WALK: return check_do_show_walk(c);
	case CHECK_LOOK: check_do_look(c, a, o); return RD_OK;
	case CHECK_TRY_EARLY: check_do_try_early(c, a, o); return RD_OK;
	case CHECK_SETTLE: return check_do_settle(c, a);
	case CHECK_EXPLORE: o->failed = check_do_explore(c, a) != RD_OK; return RD_OK;
	case CHECK_FURTHER: o->failed = check_do_further(c, a) != RD_OK; return RD_OK;
	case CHECK_END_FURTHER: check_do_end_further(c); return RD_OK;
	case CHECK_CLASSIFY: check_edits_mark(&c->edits, c->set); return check_do_classify(c);
	case CHECK_END: break;
	}
	RD_BUG("an action of a check");
}

/* Returns the member of struct check_seconds to which the time of an action is added. */
static double *seconds_of(struct check *c, enum check_what what)
{
	struct check_seconds *s = &c->seconds;

	if (what == CHECK_RECORD)
		return &s->record;
	if (what == CHECK_SETTLE)
		return &s->replay;
	return c->known.predicted < c->recorded.run_count || what == CHECK_LOOK || what == CHECK_TRY_EARLY
		       ? &s->predict
		       : &s->classify;
}

static bool is_look(enum check_what what)
{
	return what == CHECK_SHOW_WALK || what == CHECK_LOOK;
}

static int do_one(struct check *c, const struct check_action *a)
{
	struct check_outcome outcome = {0};
	double *seconds = seconds_of(c, a->what);
	int err;

	rd_debug("check: %s", check_what_name(a->what));
	err = act(c, a, &outcome);
	c->known.now_ns = rd_now_ns();
	*seconds += (double)(c->known.now_ns - a->begin_ns) / 1e9;
	if (!err)
		check_done(&c->known, a, &outcome);
	return err;
}

static int run_actions(struct check *c)
{
	enum check_what before = CHECK_RECORD;
	int err = RD_OK;

	while (!err) {
		struct check_action a;

		check_refresh(c);
		a = check_next(&c->known);
		if (is_look(before) && a.what != CHECK_LOOK)
			check_end_looks(c);
		before = a.what;
		if (a.what == CHECK_END)
			break;
		err = do_one(c, &a);
	}
	return err;
}

/* Called when no action is left. */
static void finish(struct check *c)
{
	if (!c->known.classified) {
		check_edits_mark(&c->edits, c->set);
		c->classes.untried = check_unclassified(&c->known);
	}
	explore_join_failures(c->set);
	if (!c->opts->no_classify && !c->known.interrupted)
		check_do_stories(c);
	finding_sort_by_class(c->set);
}

int check_run(struct check *c)
{
	char *spool = check_path(c, "stdin");
	int err = run_input_open(&c->input, spool);

	free(spool);
	run_orphans_adopt();
	c->known.record_ns = rd_now_ns();
	if (!err)
		err = run_actions(c);
	if (!err)
		finish(c);
	return err;
}
