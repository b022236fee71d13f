// SPDX-License-Identifier: Apache-2.0
/*
 * Prediction for a check, one step at a time.  In: the traces of the first runs and of the
 * processes that they forked.  Out: findings in the set of the check, and the list of all
 * predictions (c->predicted.all), in which predictions of the same places are not merged.
 */
#include "check/act-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

void check_note_loaded(struct check *c)
{
	const struct rd_argv *modules = &c->predicted.batch.modules;

	for (size_t i = 0; i < modules->count; i++)
		if (strcmp(modules->items[i], c->program.path) != 0)
			rd_flavour_loaded(&c->program.flavour, modules->items[i]);
	c->program.flavour.loads_more = false;
}

/* ---- forked processes ---- */

/* Marks findings of a forked process.  Replays lead only the first process, so such a finding is
 * confirmed only if it happened in the recorded run itself. */
static void mark_forked(struct check *c, size_t from, const char *name)
{
	check_note_loaded(c);
	for (size_t i = from; i < c->set->count; i++) {
		struct finding *f = c->set->items[i];

		f->schedule = NULL;
		if (f->status == FINDING_UNCONFIRMED)
			f->reason =
				finding_textf(c->set,
					      "it is in the forked process %s, and replays lead the first "
					      "process only",
					      name);
		finding_note(c->set, f, finding_textf(c->set, "Seen in the forked process %s.", name));
		if (!c->opts->no_replay)
			replay_trust_recorded(&c->program.flavour, c->set, f);
	}
}

/* Predicts from the traces of all descendants of the recorded process. */
static void predict_forked(struct check *c, const char *trace, const char *name)
{
	for (uint64_t n = 0;; n++) {
		char *path = rd_xasprintf("%s/fork-%" PRIu64, trace, n);
		char *full = rd_xasprintf("%s%sfork-%" PRIu64, name, *name ? "/" : "", n);
		size_t before = c->set->count;
		bool there = rd_file_exists(path);

		if (there && predict_batch_run(&c->predicted.batch, path, c->set) == RD_OK)
			c->recorded.forked++;
		if (there) {
			mark_forked(c, before, full);
			predict_forked(c, path, full);
		}
		free(path);
		free(full);
		if (!there)
			break;
	}
}

/* ---- deadlocks for which a run was killed ---- */

/* Removes predictions of the deadlock in which the recorded run ended, because the findings of the
 * watchdog describe it better.  These predictions are the deadlocks that have notes. */
static void leave_out_deadlocks(struct finding_set *set)
{
	size_t kept = 0;

	for (size_t i = 0; i < set->count; i++) {
		const struct finding *f = set->items[i];

		if (f->kind != FINDING_DEADLOCK || !f->note_count)
			set->items[kept++] = set->items[i];
	}
	set->count = kept;
}

void check_add_deadlock(struct finding_set *set, const struct finding_set *deadlock)
{
	leave_out_deadlocks(set);
	for (size_t i = 0; i < deadlock->count; i++)
		finding_set_put(set, deadlock->items[i]);
}

/* ---- prediction from one trace ---- */

static int open_trace(struct check *c, const struct check_run *run)
{
	const struct check_ending *e = &run->ending;
	char *path = check_trace_path(c, c->known.predicted);
	int err;

	c->predicted.batch.ended = check_ending_late(e) && WIFSIGNALED(e->end.status) && !run->deadlock;
	/* A trace that ends before the failure does not show where it happened.  And if the program
	 * failed because Raddle used its address space, this is not an error of the program. */
	c->predicted.batch.failures = !e->stopped && !check_ending_pinched(e);
	err = predict_pass_open(&c->predicted.pass, &c->predicted.batch, path, c->set);
	free(path);
	return err;
}

/* Ends the prediction from a trace.  A damaged trace is not an error here, because a message was
 * printed and the readable part was analysed. */
static int close_trace(struct check *c, const struct check_run *run, int err)
{
	char *path = check_trace_path(c, c->known.predicted);

	predict_pass_close(c->predicted.pass);
	c->predicted.pass = NULL;
	if (err && c->set->tool)
		err = RD_OK;
	if (!err && run->deadlock)
		check_add_deadlock(c->set, run->deadlock);
	c->predicted.batch.ended = false;
	if (!err)
		predict_forked(c, path, "");
	free(path);
	return err;
}

/* ---- after the last trace ---- */

/* Warns if there may be nothing to find, and states why. */
static void warn_of_scope(const struct check *c)
{
	if (c->recorded.forked)
		rd_info("%" PRIu64 " forked processes were analysed", c->recorded.forked);
	if (c->predicted.batch.threads <= 1 && !c->opts->quiet)
		rd_warn(c->recorded.forked
				? "each process ran with one thread: races between processes are not looked "
				  "for"
				: "the program ran with one thread: no other schedule is possible");
}

static void keep_all(struct check *c)
{
	c->predicted.all_count = c->set->count;
	c->predicted.all = rd_xcalloc(c->predicted.all_count + 1, sizeof *c->predicted.all);
	for (size_t i = 0; i < c->predicted.all_count; i++)
		c->predicted.all[i] = c->set->items[i];
}

static int end_prediction(struct check *c)
{
	check_notify(c, &(struct check_event){.kind = CHECK_PREDICTED});
	check_note_loaded(c);
	/* A large run takes long to search and to replay.  Pairs of accesses that are firm in it
	 * need neither. */
	for (size_t i = 0; i < c->set->count && c->predicted.batch.walked; i++)
		replay_trust_recorded(&c->program.flavour, c->set, c->set->items[i]);
	warn_of_scope(c);
	keep_all(c);
	finding_set_finish(c->set);
	if (c->predicted.seen) {
		check_add_seen(c, c->set, c->predicted.seen);
		finding_set_finish(c->set);
	}
	check_mark_means(c, c->set);
	return check_filter(c, c->set);
}

/* ---- one step of prediction ---- */

int check_do_predict(struct check *c, const struct check_action *a, struct check_outcome *o)
{
	const struct check_run *run = &c->recorded.runs[c->known.predicted];
	enum predict_event event = PREDICT_OVER;
	int err = RD_OK;

	if (!c->predicted.pass && !c->known.predicted)
		check_notify(c, &(struct check_event){.kind = CHECK_PREDICTING});
	if (a->is_first) {
		c->predicted.batch.deadline_ns = a->end_ns;
		c->predicted.batch.latest_ns = a->latest_ns;
	}
	if (!c->predicted.pass)
		err = open_trace(c, run);
	if (!err)
		err = predict_pass_next(c->predicted.pass, &event);
	if (err || event == PREDICT_OVER)
		err = close_trace(c, run, err);
	o->walked = event == PREDICT_WALKED;
	o->found = event == PREDICT_FOUND;
	o->over = event == PREDICT_OVER;
	RD_ASSERT(err || o->over == !c->predicted.pass);
	if (!err && o->over && c->known.predicted + 1 == c->recorded.run_count)
		err = end_prediction(c);
	return err;
}
