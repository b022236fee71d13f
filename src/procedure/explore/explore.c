// SPDX-License-Identifier: Apache-2.0
/*
 * The loop of an exploration.  In: a program.  Out: findings, and numbers about the exploration.
 *
 * explore/state-int.h decides what comes next.  This file gives tasks to worker processes, passes
 * on their notes, and ends the exploration.  A worker has only the knowledge from the time when it
 * was forked.  At the end, failures are repeated (explore/repeat-int.h).
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
	int64_t start_ns;
	struct rd_interrupt signals;
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

/* Whether the time limit was reached at least `ns` ago. */
static bool is_later(const struct exploring *x, int64_t ns)
{
	int64_t time_ns = x->state.how->time_ns;

	return time_ns && elapsed_ns(x) >= time_ns + ns;
}

/* ---- in a worker process ---- */

static int work(void *context, uint64_t task, struct rd_buf *answer)
{
	const struct exploring *x = context;
	const struct explore_state *s = &x->state;
	struct explore_worker w = {.state = s, .arena = rd_arena_new()};
	struct trial_bench b;
	uint64_t first = task >> TASK_COUNT_BITS, count = task & TASK_COUNT_MASK;
	int err;

	run_orphans_adopt();
	err = trial_open(&b, &s->how->runs, NULL);
	b.copies = true;
	for (uint64_t i = 0; i < count && !err && !is_later(x, 0); i++)
		if (!rd_umap_get(&s->done, explore_number(s, first + i)))
			err = worker_run_number(&w, &b, explore_number(s, first + i), answer);
	trial_close(&b);
	worker_release(&w);
	rd_arena_free(w.arena);
	return err ? 2 : 0;
}

/* ---- in the leading process ---- */

static int take(void *context, const struct rd_pool_event *event)
{
	struct exploring *x = context;

	if (event->what == RD_POOL_DONE)
		return journal_take(&x->journal, event->answer, event->length);
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

/* Whether to stop at once: after a failure, or when runs in progress exceed the time by
 * GRACE_NS. */
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
				    .fresh = true,
				    .work = work,
				    .context = x,
				    .signals = &x->signals};
	int err;

	signal(SIGCHLD, SIG_DFL);
	rd_pool_open(&x->pool, &pool);
	err = run_tasks(x);
	rd_pool_close(x->pool);
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
		err = run_pool(&x, how->jobs);
	if (!err && !how->shards)
		err = repeat_failures(s, set, result->arena);
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
