// SPDX-License-Identifier: Apache-2.0
/*
 * Classifies many races with a pool of processes; each race has a process of its own.  In: a set of
 * findings.  Out: the same findings with their classes, which are read from the documents that the
 * processes return.
 */
#include "classify/classify.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/deadline.h"
#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/pool.h"
#include "classify/tracks-int.h"
#include "classify/work-int.h"

#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* Maximum number of unconfirmed races that are tried if the caller wants the classes of confirmed ones.
 * Chosen by hand: they take as long as others, and most of them get no class. */
#define OPTIONAL_MOST 16

struct classifying {
	const struct classify *how;
	struct finding_set *set;
	struct classify_result *result;
	struct rd_pool *pool;
	/* index of the next race: first the confirmed ones of the set, then the others */
	size_t next;
	uint64_t total, done;
	uint64_t optional; /* how many unconfirmed races may still be tried if they are optional */
	int64_t start_ns;
	struct rd_interrupt signals;
};

/* Returns true if the finding is a race that can be classified. */
static bool is_race(const struct finding *f)
{
	return f->kind == FINDING_RACE && !f->suppressed && f->schedule && f->schedule->goal_count == 2 &&
	       f->status != FINDING_DROPPED;
}

/* Returns true if the caller does not expect a class for this race. */
static bool is_optional(const struct classifying *c, const struct finding *f)
{
	return c->how->confirmed && f->status != FINDING_CONFIRMED;
}

/* ---- in a worker process ---- */

static char *directory_of(const struct classifying *c, uint64_t task)
{
	return rd_xasprintf("%s/%" PRIu64, c->how->directory, task);
}

static int work(void *context, uint64_t task, struct rd_buf *answer)
{
	const struct classifying *c = context;
	char *directory = directory_of(c, task);
	int r = work_classify(c->how, c->set->items[task], directory, answer);

	free(directory);
	return r;
}

/* ---- taking results ---- */

/* Replaces the finding in the set by the finding that the worker returned, which has the class.
 * Copies the data that only the finding in the set has. */
static void take_answer(struct classifying *c, const struct rd_pool_event *e)
{
	struct classify_result *r = c->result;
	struct finding *old = c->set->items[e->task], *now;
	struct finding_set *answer = NULL;

	if (finding_parse(&answer, e->answer, e->length, "the result of a classification") ||
	    answer->count != 1) {
		finding_set_free(answer);
		finding_note(c->set, old, "not classified: its runs gave no result");
		r->undecided++;
		return;
	}
	now = answer->items[0];
	r->runs += finding_stat_value(answer, WORK_RUNS);
	r->edits |= (uint32_t)finding_stat_value(answer, WORK_EDITS);
	if (is_optional(c, now) && now->class == FINDING_NO_CLASS) {
		finding_set_free(answer);
		return;
	}
	RD_GROW(r->sets, r->set_capacity, r->set_count + 1);
	r->sets[r->set_count++] = answer;
	now->announced = old->announced;
	c->set->items[e->task] = now;
	r->misfits += finding_stat_value(answer, WORK_MISFITS);
	r->classified += now->class != FINDING_NO_CLASS;
	r->undecided += now->class == FINDING_NO_CLASS;
	if (c->how->classified)
		c->how->classified(c->how->context, now);
}

static void take_loss(struct classifying *c, const struct rd_pool_event *e)
{
	if (is_optional(c, c->set->items[e->task]))
		return;
	finding_note(c->set, c->set->items[e->task],
		     WIFSIGNALED(e->status)
			     ? finding_textf(c->set, "not classified: its process was ended by signal %d",
					     WTERMSIG(e->status))
			     : "not classified: its runs gave no result");
	c->result->undecided++;
}

static int take(void *context, const struct rd_pool_event *event)
{
	struct classifying *c = context;
	char *directory = directory_of(c, event->task);
	bool counts = !is_optional(c, c->set->items[event->task]);

	RD_ASSERT(event->task < c->set->count && c->done + counts <= c->total);
	rd_remove_tree(directory);
	free(directory);
	if (event->what == RD_POOL_DONE)
		take_answer(c, event);
	else
		take_loss(c, event);
	c->done += counts;
	return RD_OK;
}

/* ---- the pool of worker processes ---- */

static bool is_late(void *context)
{
	const struct classifying *c = context;

	return rd_deadline_passed(rd_deadline(c->start_ns, c->how->time_ns));
}

/* Returns true if the race is to be tried now. */
static bool is_next(struct classifying *c, const struct finding *f, bool confirmed)
{
	if (!is_race(f) || (f->status == FINDING_CONFIRMED) != confirmed)
		return false;
	if (!is_optional(c, f))
		return true;
	if (!c->optional)
		return false;
	c->optional--;
	return true;
}

static int give(void *context)
{
	struct classifying *c = context;
	int err = RD_OK;

	for (; c->next < 2 * c->set->count && !err && rd_pool_has_room(c->pool); c->next++) {
		size_t task = c->next % c->set->count;
		char *directory;

		if (!is_next(c, c->set->items[task], c->next < c->set->count))
			continue;
		directory = directory_of(c, task);
		err = rd_mkdirs(directory);
		free(directory);
		if (!err)
			err = rd_pool_submit(c->pool, task);
	}
	return err;
}

static void show(void *context)
{
	const struct classifying *c = context;
	struct classify_progress so_far = {
		.total = c->total,
		.done = c->done,
		.seconds_left = rd_deadline_left_s(rd_deadline(c->start_ns, c->how->time_ns))};

	if (c->how->progress)
		c->how->progress(c->how->context, &so_far);
}

/* Continues until all races were tried, the time is up, or a signal ends the work. */
static int run_tasks(struct classifying *c)
{
	struct rd_pool_loop loop = {give, take, is_late, show, &c->signals, c};
	int err;

	rd_interrupt_begin(&c->signals);
	err = rd_pool_run(c->pool, &loop, &c->result->interrupted);
	rd_pool_stop(c->pool);
	rd_interrupt_end(&c->signals);
	RD_ASSERT(c->done <= c->total);
	c->result->untried = c->total - c->done;
	return err;
}

int classify_races(const struct classify *how, struct finding_set *set, struct classify_result *result)
{
	struct tracks tracks = {0};
	struct classify own = *how;
	struct classifying c = {.how = &own,
				.set = set,
				.result = result,
				.start_ns = rd_now_ns(),
				.optional = OPTIONAL_MOST};
	struct rd_pool_opts pool = {.workers = how->jobs ? how->jobs : 1,
				    .fresh = true,
				    .work = work,
				    .context = &c,
				    .signals = &c.signals};
	int err;

	for (size_t i = 0; i < set->count; i++)
		c.total += is_race(set->items[i]) && !is_optional(&c, set->items[i]);
	if (how->models) {
		tracks_gather(&tracks, set, how->runs.program->sites);
		own.tracks = &tracks;
	}
	signal(SIGCHLD, SIG_DFL);
	if (!how->runs.shared)
		own.runs.shared = trial_shared_new();
	rd_pool_open(&c.pool, &pool);
	err = run_tasks(&c);
	rd_pool_close(c.pool);
	if (!how->runs.shared)
		trial_shared_free(own.runs.shared);
	rd_remove_tree(how->directory);
	tracks_release(&tracks);
	return err;
}

void classify_result_release(struct classify_result *result)
{
	for (size_t i = 0; i < result->set_count; i++)
		finding_set_free(result->sets[i]);
	free(result->sets);
	*result = (struct classify_result){0};
}
