// SPDX-License-Identifier: Apache-2.0
/*
 * Examines further runs of a large program.  In: a program whose trace takes long to search.  Out:
 * accesses that are unordered in these runs, found without a search.  One run shows only some of
 * the races, and looking at another run takes less time than a search or a replay of each
 * prediction.
 */
#include "check/act-int.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "record/prepare.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* Adds a finding.  Returns the finding of `to` that was added or became firm, or NULL if `f` adds
 * nothing. */
static struct finding *add_one(struct finding_set *to, struct finding *f)
{
	struct finding *before = finding_at(to, f->fingerprint);

	if (!before) {
		finding_set_put(to, f);
		return f;
	}
	before->announced |= f->announced;
	if (before->status == FINDING_CONFIRMED || !f->firm)
		return NULL;
	before->firm = f->firm;
	return before;
}

size_t check_add_seen(struct check *c, struct finding_set *to, struct finding_set *seen)
{
	size_t fresh = 0;

	for (size_t i = 0; i < seen->count; i++) {
		struct finding *f = add_one(to, seen->items[i]);

		if (!f)
			continue;
		if (!c->opts->no_replay)
			replay_trust_recorded(&c->program.flavour, to, f);
		if (f->status == FINDING_CONFIRMED)
			check_notify_confirmed(c, seen, f);
		fresh++;
	}
	return fresh;
}

static int record(struct check *c, const struct check_action *a, struct check_run *run, const char *path)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int streams[] = {run_input_again(&c->input), null, null};
	int err = streams[0] < 0 ? RD_ESYSTEM : record_prepare_directory(path, true);

	if (!err)
		err = run_setup(c->opts->setup, STDERR_FILENO);
	run->all = a->all;
	run->ending.limit_ms = a->limit_ms;
	run->work_ms = a->work_ms;
	if (!err)
		err = check_record_into(c, run, path, streams);
	if (streams[0] >= 0)
		close(streams[0]);
	close(null);
	return err;
}

/* Records another run and looks at its trace.  After a failure, findings may be missing, but none
 * is wrong. */
static int see(struct check *c, const struct check_action *a, const char *path, struct finding_set *seen)
{
	struct predict_batch *p = &c->predicted.batch;
	bool failures = p->failures;
	struct check_run run = {0};
	int err = record(c, a, &run, path);

	p->failures = !run.ending.stopped && !check_ending_pinched(&run.ending);
	p->deadline_ns = a->end_ns;
	if (!err)
		err = predict_batch_look(p, path, seen);
	p->failures = failures;
	if (!err && run.deadlock)
		check_add_deadlock(seen, run.deadlock);
	if (run.deadlock)
		check_keep(c, run.deadlock);
	check_ending_release(&run.ending);
	return err;
}

/* Returns the set to which looks add their findings.  While prediction is in progress, this is a
 * separate set. */
static struct finding_set *target(const struct check *c)
{
	return c->predicted.seen ? c->predicted.seen : c->set;
}

void check_do_look(struct check *c, const struct check_action *a, struct check_outcome *o)
{
	char *path = check_trace_path(c, c->recorded.run_count);
	struct finding_set *seen = finding_set_new();

	check_keep(c, seen);
	check_make_part(c, seen);
	o->failed = see(c, a, path, seen) || check_filter(c, seen);
	if (!o->failed) {
		o->fresh = check_add_seen(c, target(c), seen) > 0;
		c->recorded.looks++;
		rd_info("a further run of %.1f s was looked at", (double)(rd_now_ns() - a->begin_ns) / 1e9);
	}
	free(path);
}

void check_end_looks(struct check *c)
{
	char *path = check_trace_path(c, c->recorded.run_count);

	rd_remove_tree(path);
	free(path);
	finding_set_finish(target(c));
}

/* Reports the findings that the first run shows, before further runs are looked at. */
int check_do_show_walk(struct check *c)
{
	struct finding_set *first = predict_pass_unordered(c->predicted.pass);

	RD_ASSERT(!c->predicted.seen);
	check_keep(c, first);
	check_note_loaded(c);
	check_make_part(c, first);
	c->predicted.seen = finding_set_new();
	check_keep(c, c->predicted.seen);
	check_make_part(c, c->predicted.seen);
	if (!check_filter(c, first))
		check_add_seen(c, c->predicted.seen, first);
	return RD_OK;
}
