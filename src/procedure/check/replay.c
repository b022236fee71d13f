// SPDX-License-Identifier: Apache-2.0
/*
 * Replays for a check.  In: a set of findings, and until when.  Out: the same with verdicts.  Which finding
 * is tried next, and how, is decided in replay/strategy.c.
 */
#include "check/act-int.h"

#include "base/error.h"
#include "run/orphan.h"

#include <stdlib.h>

/* Findings that runs which went another way may add, at most: measured, more are seldom worth their replays.
 */
#define EXTRA_FINDINGS 50

/* Whose findings are replayed. */
struct attempt {
	struct check *c;
	struct finding_set *set;
};

static void show_progress(void *context, const struct replay_progress *so_far)
{
	const struct attempt *t = context;

	check_tell(t->c, &(struct check_event){.kind = CHECK_REPLAY_PROGRESS, .replays = so_far});
}

static void show_confirmed(void *context, struct finding *f)
{
	const struct attempt *t = context;

	check_tell_confirmed(t->c, t->set, f);
}

static int settle(struct attempt *t, const struct trace_sites *sites, bool once, int64_t end_ns)
{
	struct check *c = t->c;
	const struct check_opts *o = c->opts;
	struct replay_program program = {.program = &c->program, .argv = o->argv, .sites = sites};
	char *directory = check_path(c, "replays");
	struct replay_settle how = {.program = &program,
				    .input = &c->input,
				    .companion = o->with,
				    .setup = o->setup,
				    .directory = directory,
				    .jobs = check_jobs(c),
				    .timeout_ms = o->timeout_ms,
				    .time = check_seconds_left(end_ns),
				    .once = once,
				    .recorded_ms = c->known.recorded_ms,
				    .recorded_signal = c->signal,
				    .no_world = o->no_world,
				    .all = c->all,
				    .all_count = c->all_count,
				    .extra = EXTRA_FINDINGS,
				    .predict = predict_batch_again,
				    .predict_context = &c->prediction,
				    .progress = o->quiet ? NULL : show_progress,
				    .confirmed = o->quiet ? NULL : show_confirmed,
				    .context = t};
	int err;

	check_tell(c, &(struct check_event){.kind = CHECK_REPLAYING});
	err = replay_settle(&how, t->set, &c->settled);
	run_orphans_end(0); /* of replays that were stopped */
	check_tell(c, &(struct check_event){.kind = CHECK_REPLAYED});
	free(directory);
	return err;
}

int check_replay(struct check *c, struct finding_set *set, bool once, int64_t end_ns)
{
	struct attempt t = {c, set};
	struct trace_sites *sites = NULL;
	int err = run_program_renew(&c->program);

	if (!err)
		err = trace_sites_read(&sites, c->program.flavour.sites);
	if (!err)
		err = settle(&t, sites, once, end_ns);
	trace_sites_free(sites);
	return err;
}

int check_do_settle(struct check *c, const struct check_action *a)
{
	RD_ASSERT(!c->pass);
	c->prediction.deadline_ns = c->known.end_ns;
	return check_replay(c, c->set, false, a->end_ns);
}
