// SPDX-License-Identifier: Apache-2.0
/*
 * Concludes a check.  In: a finished check.  Out: statistics and, if nothing was confirmed, whether
 * this result is reliable.
 */
#include "check/check.h"

#include "base/error.h"
#include "finding/pair.h"

#include <string.h>
#include <sys/wait.h>

/* Returns the reason why some finding could not be replayed at all, or NULL if every finding could
 * be replayed. */
static const char *find_impossible(const struct finding_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct finding *f = set->items[i];

		if (f->reason && !strncmp(f->reason, REPLAY_IMPOSSIBLE, strlen(REPLAY_IMPOSSIBLE)))
			return f->reason + strlen(REPLAY_IMPOSSIBLE);
	}
	return NULL;
}

int check_conclude(const struct check *c)
{
	const struct predict_batch *p = &c->predicted.batch;
	struct rd_buf why = RD_BUF_INIT;
	int err = RD_OK;

	if (c->settled.interrupted)
		err = rd_fail(RD_ESYSTEM, "check: interrupted");
	if (!err && p->late && !p->looked)
		err = rd_fail(RD_ELIMIT, "check: the time was up before any part of the run was looked at; "
					 "allow more time with --time");
	for (size_t i = 0; i < c->recorded.run_count && !err; i++)
		if (check_ending_doubt(&c->recorded.runs[i].ending, p->at_start > 0, &why))
			err = rd_fail(RD_ESYSTEM, "check: %s", why.data);
	rd_buf_release(&why);
	if (!err && find_impossible(c->set))
		err = rd_fail(RD_ESYSTEM, "check: a finding could not be replayed: %s",
			      find_impossible(c->set));
	return err;
}

/* ---- statistics ---- */

static void add_run(struct check *c)
{
	const struct check_ending *e = &c->recorded.runs[0].ending;

	finding_stat(c->set, "threads", (double)c->predicted.batch.threads);
	finding_stat(c->set, "runs", (double)c->recorded.run_count);
	finding_stat(c->set, "runs_more", (double)c->recorded.looks);
	finding_stat(c->set, "forked", (double)c->recorded.forked);
	finding_stat(c->set, "program_status", check_ending_status(e));
	if (WIFSIGNALED(e->end.status))
		finding_stat(c->set, "program_signal", WTERMSIG(e->end.status));
}

static void add_replays(struct check *c)
{
	const struct replay_settled *r = &c->settled;

	finding_stat(c->set, "replayed", (double)r->replayed);
	finding_stat(c->set, "replays", (double)r->replays);
	finding_stat(c->set, "untried", (double)r->untried);
	finding_stat(c->set, "unfinished", (double)r->unfinished);
	finding_stat(c->set, "added", (double)r->added);
}

static void add_further(struct check *c)
{
	finding_stat(c->set, "further_runs", (double)c->further.runs);
	finding_stat(c->set, "further_findings", (double)c->further.fresh);
	finding_stat(c->set, "schedules", (double)c->explored.schedules);
	finding_stat(c->set, "different_schedules", (double)c->explored.different);
	finding_stat(c->set, "pairs", (double)c->set->pair_count);
	finding_stat(c->set, "pairs_both", (double)finding_pairs_both(c->set));
}

static void add_seconds(struct check *c)
{
	finding_stat(c->set, "build_seconds", c->seconds.build);
	finding_stat(c->set, "record_seconds", c->seconds.record);
	finding_stat(c->set, "predict_seconds", c->seconds.predict);
	finding_stat(c->set, "replay_seconds", c->seconds.replay);
	finding_stat(c->set, "classify_seconds", c->seconds.classify);
}

void check_stats(struct check *c)
{
	predict_batch_stats(&c->predicted.batch, c->set);
	add_run(c);
	add_replays(c);
	add_further(c);
	add_seconds(c);
}
