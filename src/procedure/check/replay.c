// SPDX-License-Identifier: Apache-2.0
/*
 * Replays for a check.  In: a set of findings, and a deadline.  Out: the same findings with
 * verdicts.  Which finding is tried next, and how, is decided in replay/strategy.c.
 */
#include "check/act-int.h"

#include "base/clock.h"
#include "base/error.h"
#include "run/orphan.h"

#include <stdlib.h>

/* The maximum number of findings that diverged runs may add.  Without it, these could use up the
 * time for predicted findings.  Set by hand. */
#define EXTRA_FINDINGS 50

/* Waits for replays, and reports their progress and confirmations. */
static int watch(struct check *c, struct replay_settling *s, struct finding_set *set)
{
	struct replay_news news = {.kind = REPLAY_NEWS_PROGRESS};
	int err = RD_OK;

	while (!err && news.kind != REPLAY_NEWS_OVER) {
		err = replay_settle_next(s, &news);
		if (news.kind == REPLAY_NEWS_CONFIRMED)
			check_notify_confirmed(c, set, news.finding);
		else if (news.kind == REPLAY_NEWS_PROGRESS && !c->opts->quiet)
			check_notify(c, &(struct check_event){.kind = CHECK_REPLAY_PROGRESS,
							      .replays = &news.progress});
	}
	return err;
}

static int settle(struct check *c, struct finding_set *set, const struct trace_sites *sites, bool once,
		  int64_t end_ns)
{
	struct replay_program program = {.program = &c->program, .argv = c->opts->argv, .sites = sites};
	char *directory = check_path(c, "replays");
	struct replay_settle how = {.runs = check_conditions(c, &program),
				    .directory = directory,
				    .jobs = check_jobs(c),
				    .time_ns = check_left_ns(end_ns),
				    .once = once,
				    .recorded_signal = c->recorded.signal,
				    .all = c->predicted.all,
				    .all_count = c->predicted.all_count,
				    .extra = EXTRA_FINDINGS,
				    .predict = predict_batch_again,
				    .predict_context = &c->predicted.batch};
	struct replay_settling *s;
	int err;

	check_notify(c, &(struct check_event){.kind = CHECK_REPLAYING});
	s = replay_settle_open(&how, set, &c->settled);
	err = watch(c, s, set);
	replay_settle_close(s);
	run_orphans_end(NULL, 0); /* ends processes of replays that were stopped */
	check_notify(c, &(struct check_event){.kind = CHECK_REPLAYED});
	free(directory);
	return err;
}

int check_replay(struct check *c, struct finding_set *set, bool once, int64_t end_ns)
{
	struct trace_sites *sites = NULL;
	int err = run_program_renew(&c->program);

	if (!err)
		err = trace_sites_read(&sites, c->program.flavour.sites);
	if (!err)
		err = settle(c, set, sites, once, end_ns);
	trace_sites_free(sites);
	return err;
}

int check_do_settle(struct check *c, const struct check_action *a)
{
	RD_ASSERT(!c->predicted.pass);
	c->predicted.batch.deadline_ns = c->known.end_ns;
	return check_replay(c, c->set, false, a->end_ns);
}
