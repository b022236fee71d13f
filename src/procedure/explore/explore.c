// SPDX-License-Identifier: Apache-2.0
/*
 * The loop of an exploration.  In: a program.  Out: findings, and numbers about the exploration.
 *
 * explore/state-int.h decides what comes next.  This file gives tasks to worker processes, passes
 * on their notes, and ends the exploration.  While a worker does a task, it knows only what was
 * known when it got the task.  At the end, failures are repeated (explore/repeat-int.h).
 */
#include "explore/explore.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/pool.h"
#include "explore/journal-int.h"
#include "explore/known.h"
#include "explore/repeat-int.h"
#include "explore/worker-int.h"
#include "run/orphan.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define GRACE_NS RD_NS_PER_S /* when the time is up, the last runs may take this much longer */

/* A task is a number.  Its low bits are the number of schedules in the task; the other bits are the
 * index of the first one, as in explore_number(). */
#define TASK_COUNT_BITS 8
#define TASK_COUNT_MASK ((UINT64_C(1) << TASK_COUNT_BITS) - 1)

struct exploring {
	struct explore_state state;
	struct journal journal;
	struct rd_pool *pool;
	/* `answers` contains the answers of tasks, from which workers learn.  told[slot] is the
	 * number of bytes of `answers` that the worker in that slot has received. */
	struct rd_buf answers;
	size_t *told;
	unsigned workers;
	int64_t start_ns;
	struct rd_interrupt signals;
	/* in a worker: the bench on which it runs the program, and the result of opening the
	 * bench */
	struct trial_bench bench;
	int err;
};

bool explore_is_strategy(const char *name)
{
	return strategies_find(name) >= 0;
}

bool explore_is_points(const char *name)
{
	return strategies_find_points(name) >= 0;
}

static int64_t elapsed_ns(const struct exploring *x)
{
	return rd_now_ns() - x->start_ns;
}

/* Returns true if the time limit was reached at least `ns` ago. */
static bool is_later(const struct exploring *x, int64_t ns)
{
	int64_t time_ns = x->state.how->time_ns;

	return time_ns && elapsed_ns(x) >= time_ns + ns;
}

/* ---- in a worker process ---- */

static void enter(void *context, unsigned slot)
{
	struct exploring *x = context;

	(void)slot;
	run_orphans_adopt();
	x->err = trial_open(&x->bench, &x->state.how->runs, NULL);
	x->bench.copies = true;
}

static void leave(void *context)
{
	trial_close(&((struct exploring *)context)->bench);
}

static void learn(void *context, const char *text, size_t length)
{
	struct exploring *x = context;

	journal_learn(&x->journal, text, length);
}

static int work(void *context, uint64_t task, struct rd_buf *answer)
{
	struct exploring *x = context;
	struct explore_state *s = &x->state;
	struct explore_worker w = {.state = s, .arena = rd_arena_new()};
	uint64_t first = task >> TASK_COUNT_BITS, count = task & TASK_COUNT_MASK;
	int err = x->err;

	for (uint64_t i = 0; i < count && !err && !is_later(x, 0); i++)
		if (!rd_umap_get(&s->done, explore_number(s, first + i)))
			err = worker_run_number(&w, &x->bench, explore_number(s, first + i), answer);
	trial_forget(&x->bench);
	worker_release(&w);
	rd_arena_free(w.arena);
	return err ? 2 : 0;
}

/* ---- in the leading process ---- */

/* Removes the answers that all workers have. */
static void trim_answers(struct exploring *x)
{
	size_t least = x->answers.length;

	for (unsigned i = 0; i < x->workers; i++)
		least = x->told[i] < least ? x->told[i] : least;
	if (least < x->answers.length / 2 || !least)
		return;
	memmove(x->answers.data, x->answers.data + least, x->answers.length - least);
	x->answers.length -= least;
	for (unsigned i = 0; i < x->workers; i++)
		x->told[i] -= least;
}

/* Gives a worker the answers that came since its last task. */
static void brief(void *context, unsigned slot, bool started, struct rd_buf *text)
{
	struct exploring *x = context;

	RD_ASSERT(slot < x->workers && x->told[slot] <= x->answers.length);
	if (!started)
		rd_buf_add(text, x->answers.data + x->told[slot], x->answers.length - x->told[slot]);
	x->told[slot] = x->answers.length;
	trim_answers(x);
}

static int take(void *context, const struct rd_pool_event *event)
{
	struct exploring *x = context;

	if (event->what == RD_POOL_DONE) {
		rd_buf_add(&x->answers, event->answer, event->length);
		return journal_take(&x->journal, event->answer, event->length);
	}
	if (x->state.how->fail_if)
		return rd_fail(RD_ESYSTEM, "explore: runs could not be judged");
	if (x->state.result->schedules == 0)
		return rd_fail(RD_ESYSTEM, "explore: the program could not be run");
	explore_learn_lost(&x->state, event->task & TASK_COUNT_MASK);
	return RD_OK;
}

static void show(void *context)
{
	const struct exploring *x = context;
	const struct explore *how = x->state.how;
	int64_t left_ns = how->time_ns - elapsed_ns(x);
	struct explore_progress so_far = {.schedules = x->state.result->schedules,
					  .different = x->state.result->different,
					  .failures = x->state.failure_count,
					  .seconds_left =
						  left_ns > 0 ? (double)left_ns / (double)RD_NS_PER_S : 0};

	if (how->progress)
		how->progress(how->context, &so_far);
}

static int give(void *context)
{
	struct exploring *x = context;
	struct explore_state *s = &x->state;
	int err = RD_OK;

	while (!err && rd_pool_has_room(x->pool) && explore_next_stop(s, elapsed_ns(x)) == EXPLORE_GOES_ON) {
		uint64_t count = explore_next_batch(s);

		if (explore_next_waits(s) && rd_pool_busy(x->pool))
			break;
		RD_ASSERT(count > 0 && count <= TASK_COUNT_MASK);
		err = rd_pool_submit(x->pool, s->given << TASK_COUNT_BITS | count);
		s->given += count;
	}
	return err;
}

/* Returns true if the exploration has to stop at once, because of a failure, or because runs in
 * progress exceed the time limit by GRACE_NS. */
static bool is_over(void *context)
{
	const struct exploring *x = context;

	return explore_next_stop(&x->state, elapsed_ns(x)) == EXPLORE_FAILED || is_later(x, GRACE_NS);
}

static int run_tasks(struct exploring *x)
{
	struct rd_pool_loop loop = {give, take, is_over, show, &x->signals, x};
	struct explore_state *s = &x->state;
	bool interrupted = false;
	int err;

	rd_interrupt_begin(&x->signals);
	err = rd_pool_run(x->pool, &loop, &interrupted);
	rd_pool_stop(x->pool);
	rd_interrupt_end(&x->signals);
	s->result->stop = interrupted ? EXPLORE_INTERRUPTED : explore_next_stop(s, elapsed_ns(x));
	s->result->extent = explore_extent(s, 0, POINTS_OPERATIONS);
	return err;
}

/* ---- the exploration from beginning to end ---- */

static void copy_seen(const struct explore_state *s)
{
	struct explore_result *r = s->result;

	r->seen_count = s->race_count;
	r->seen = rd_arena_alloc(r->arena, (s->race_count + 1) * sizeof *r->seen);
	for (size_t i = 0; i < s->race_count; i++)
		memcpy(r->seen[i], s->races[i].site, sizeof *r->seen);
}

static int run_pool(struct exploring *x, unsigned jobs)
{
	struct rd_pool_opts pool = {.workers = jobs ? jobs : 1,
				    .group = true,
				    .enter = enter,
				    .work = work,
				    .leave = leave,
				    .brief = brief,
				    .learn = learn,
				    .context = x,
				    .signals = &x->signals};
	int err;

	signal(SIGCHLD, SIG_DFL);
	x->workers = pool.workers;
	x->told = rd_xcalloc(x->workers, sizeof *x->told);
	x->answers = (struct rd_buf)RD_BUF_INIT;
	rd_pool_open(&x->pool, &pool);
	err = run_tasks(x);
	rd_pool_close(x->pool);
	rd_buf_release(&x->answers);
	free(x->told);
	return err;
}

/* Explores until the exploration ends, and repeats failures.  A failure that cannot be repeated
 * does not end the exploration. */
static int explore_and_repeat(struct exploring *x, struct finding_set *set)
{
	struct explore_state *s = &x->state;
	int err;

	do {
		err = run_pool(x, s->how->jobs);
		if (!err && !s->how->shards)
			err = repeat_failures(s, set, s->result->arena);
	} while (!err && s->result->stop == EXPLORE_FAILED &&
		 explore_next_stop(s, elapsed_ns(x)) == EXPLORE_GOES_ON);
	return err;
}

int explore_run(const struct explore *how, struct finding_set *set, struct explore_result *result)
{
	struct exploring x = {.start_ns = rd_now_ns()};
	struct explore_state *s = &x.state;
	struct explore own = *how;
	int err, closed;

	result->arena = rd_arena_new();
	if (!how->runs.shared)
		own.runs.shared = trial_shared_new();
	explore_state_init(s, &own, result);
	if (how->suggested)
		s->suggested_count = explore_suggested(how->suggested, how->runs.program->sites, s->suggested,
						       EXPLORE_SUGGESTED);
	err = journal_open(&x.journal, s, result->arena);
	if (!err)
		err = explore_and_repeat(&x, set);
	closed = journal_close(&x.journal);
	copy_seen(s);
	cover_describe(&result->cover, how->runs.program->sites, set);
	explore_state_release(s);
	if (!how->runs.shared)
		trial_shared_free(own.runs.shared);
	return err ? err : closed;
}

void explore_result_release(struct explore_result *result)
{
	if (result->arena)
		rd_arena_free(result->arena);
	cover_release(&result->cover);
	*result = (struct explore_result){0};
}
