// SPDX-License-Identifier: Apache-2.0
/*
 * Settles findings.  In: findings without a verdict.  Out: the same findings with verdicts, and
 * findings that diverged runs showed. strategy.c decides what is tried next; this file runs the
 * attempts in a pool of processes.  Each attempt runs in its own process (settle-work.c), process
 * group and scratch directory, and returns a finding document.  So a replay that crashes affects
 * nothing else, and all replays can be killed at once.
 */
#include "replay/settle.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/name.h"
#include "base/pool.h"
#include "replay/settle-work-int.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* The longest wait for a worker, in ms, before signals and the time are checked again.  Chosen by
 * hand: a user who interrupts Raddle notices no delay. */
#define WORKER_WAIT_MS 100

/* Shares of the time limit, as divisors, chosen by hand.  At most 1/LAST_LOOK_SHARE of the time is
 * reserved for a last run under the detector.  Attempts in progress may exceed the time by
 * 1/OVERTIME_SHARE of it, plus the time limit of one run. */
#define LAST_LOOK_SHARE 8
#define OVERTIME_SHARE 10

/* An estimate of how long a run under the detector takes, as a multiple of the recorded run. */
#define LOOK_COST 4

struct job {
	bool busy;
	struct strategy_attempt attempt;
	char *directory;
	int64_t start_ns;
};

struct replay_settling {
	const struct replay_settle *how;
	struct replay_settled *result;
	struct strategy strategy;
	struct rd_pool *pool;
	struct job *jobs; /* `count` entries; the task of a worker is the number of its job */
	unsigned count;
	size_t serial;	    /* the number of the next scratch directory */
	uint8_t *announced; /* by finding of the set: its confirmation has been announced */
	size_t told_count, told_capacity;
	int64_t start_ns;
	struct rd_interrupt signals;
	bool heard; /* something may have changed since the last REPLAY_NEWS_PROGRESS */
	bool over;
	int err;
};

static double seconds_since(int64_t ns)
{
	return (double)(rd_now_ns() - ns) / 1e9;
}

/* ---- in a worker process ---- */

static int work(void *context, uint64_t task, struct rd_buf *answer)
{
	const struct replay_settling *s = context;
	const struct job *job = &s->jobs[task];
	struct settle_work w = {.how = s->how,
				.strategy = &s->strategy,
				.attempt = &job->attempt,
				.directory = job->directory};

	return settle_work(&w, answer);
}

/* ---- starting ---- */

static struct job *free_job(struct replay_settling *s)
{
	for (unsigned i = 0; i < s->count; i++)
		if (!s->jobs[i].busy)
			return &s->jobs[i];
	RD_BUG("more tasks than jobs");
}

static void end_job(struct job *job)
{
	rd_remove_tree(job->directory);
	free(job->directory);
	strategy_attempt_release(&job->attempt);
	*job = (struct job){0};
}

static int start(struct replay_settling *s, const struct strategy_attempt *attempt)
{
	struct job *job = free_job(s);
	int err;

	*job = (struct job){.busy = true,
			    .attempt = *attempt,
			    .directory = rd_xasprintf("%s/%zu", s->how->directory, s->serial++),
			    .start_ns = rd_now_ns()};
	err = rd_mkdirs(job->directory);
	if (!err)
		err = rd_pool_submit(s->pool, (uint64_t)(job - s->jobs));
	if (err)
		end_job(job);
	s->result->replays += !err;
	return err;
}

static int fill_jobs(struct replay_settling *s)
{
	struct strategy_attempt attempt;
	int err = RD_OK;

	while (!err && rd_pool_has_room(s->pool) &&
	       strategy_next(&s->strategy, rd_pool_busy(s->pool), &attempt))
		err = start(s, &attempt);
	return err;
}

/* ---- taking results ---- */

static char *place_of(const struct finding *f, size_t side)
{
	const struct finding_stack none = {0};
	const struct finding_stack *stack = side < f->access_count  ? &f->accesses[side].stack
					    : side < f->cycle_count ? &f->cycle[side].stack
								    : &none;
	const struct finding_frame *top = finding_top(stack);

	return rd_xasprintf("%s:%" PRIu32, top->file ? rd_base_name(top->file) : RD_UNKNOWN, top->line);
}

/* Logs the result of an attempt, for --verbose. */
static void log_result(const struct replay_settling *s, const struct job *job)
{
	const struct strategy_attempt *a = &job->attempt;
	const struct finding *f = s->strategy.set->items[a->item];
	bool confirmed = f->status == FINDING_CONFIRMED;
	char *first = place_of(f, 0), *second = place_of(f, 1);

	if (a->step == STRATEGY_OBSERVE)
		rd_info("the detector checked %zu findings; %" PRIu64 " are confirmed now (%.1f s)", a->count,
			s->strategy.confirmed, seconds_since(job->start_ns));
	else
		rd_info("%s %s / %s: %s (%.1f s%s)", f->id, first, second,
			confirmed   ? "confirmed"
			: f->reason ? f->reason
				    : "not confirmed",
			seconds_since(job->start_ns),
			a->step == STRATEGY_AGAIN ? ", and its trace was used for a new prediction" : "");
	free(first);
	free(second);
}

static void take_answer(struct replay_settling *s, const struct strategy_attempt *a,
			const struct rd_pool_event *e)
{
	struct replay_settled *r = s->result;
	struct finding_set *set = NULL;

	if (finding_parse(&set, e->answer, e->length, "the result of a replay") == RD_OK && set->count) {
		RD_GROW(r->sets, r->set_capacity, r->set_count + 1);
		r->sets[r->set_count++] = set;
		strategy_take(&s->strategy, a, set);
		return;
	}
	finding_set_free(set);
	strategy_lose(&s->strategy, a, "its replay gave no result");
}

static void take_loss(struct replay_settling *s, const struct strategy_attempt *a, int status)
{
	strategy_lose(&s->strategy, a,
		      WIFSIGNALED(status)
			      ? finding_textf(s->strategy.set, "its replay was ended by signal %d",
					      WTERMSIG(status))
			      : "its replay gave no result");
}

/* Returns the next confirmed finding that has not been announced yet, or NULL. */
static struct finding *next_confirmed(struct replay_settling *s)
{
	struct finding_set *set = s->strategy.set;

	RD_GROW(s->announced, s->told_capacity, set->count + 1);
	while (s->told_count < set->count)
		s->announced[s->told_count++] = 0;
	for (size_t i = 0; i < set->count; i++) {
		if (s->announced[i] || set->items[i]->status != FINDING_CONFIRMED)
			continue;
		s->announced[i] = 1;
		return set->items[i];
	}
	return NULL;
}

static void hear(struct replay_settling *s)
{
	struct rd_pool_event event;
	struct job *job;

	rd_pool_next(s->pool, WORKER_WAIT_MS, &event);
	if (event.what == RD_POOL_IDLE)
		return;
	job = &s->jobs[event.task];
	if (event.what == RD_POOL_DONE)
		take_answer(s, &job->attempt, &event);
	else
		take_loss(s, &job->attempt, event.status);
	log_result(s, job);
	end_job(job);
}

/* ---- settling all findings ---- */

static void stop_all(struct replay_settling *s)
{
	rd_pool_stop(s->pool);
	for (unsigned i = 0; i < s->count; i++)
		if (s->jobs[i].busy)
			end_job(&s->jobs[i]);
}

static struct replay_progress progress_of(const struct replay_settling *s)
{
	int64_t left_ns = s->how->time_ns - (rd_now_ns() - s->start_ns);

	return (struct replay_progress){.confirmed = s->strategy.confirmed,
					.done = s->strategy.confirmed + strategy_exhausted(&s->strategy),
					.total = s->strategy.confirmed + strategy_waiting(&s->strategy),
					.seconds_left = left_ns > 0 ? (double)left_ns / 1e9 : 0};
}

/* Returns the time in nanoseconds that is reserved for the last run under the detector. */
static int64_t look_ns(const struct replay_settle *how)
{
	int64_t most = how->time_ns / LAST_LOOK_SHARE, need = LOOK_COST * how->runs.recorded_ns;

	return need < most ? need : most;
}

/* Returns true if the time limit is exceeded by so much that even attempts in progress are
 * ended. */
static bool is_over(const struct replay_settling *s)
{
	const struct replay_settle *how = s->how;
	int64_t most = how->time_ns + how->time_ns / OVERTIME_SHARE + how->runs.limit_ns;

	return how->time_ns && rd_now_ns() - s->start_ns >= most;
}

/* Checks whether the time is up.  From then on, no further replays start, except one run under the
 * detector. */
static void look_at_clock(struct replay_settling *s)
{
	if (s->strategy.late || !s->how->time_ns ||
	    rd_now_ns() - s->start_ns < s->how->time_ns - look_ns(s->how))
		return;
	for (unsigned i = 0; i < s->count; i++)
		if (s->jobs[i].busy && s->jobs[i].attempt.step == STRATEGY_OBSERVE)
			return;
	stop_all(s);
	strategy_be_late(&s->strategy);
}

static void note_result(const struct strategy *s, struct replay_settled *result)
{
	result->replayed += s->replayed;
	result->added += s->added;
	result->confirmed += s->confirmed;
	result->untried += s->untried;
	result->unfinished += s->unfinished;
}

/* Ends the settling, because all findings have a verdict, the time is up, or a signal asks to
 * end. */
static void finish(struct replay_settling *s)
{
	struct replay_settled *r = s->result;

	RD_ASSERT(!s->over);
	s->over = true;
	stop_all(s);
	rd_interrupt_end(&s->signals);
	rd_pool_close(s->pool);
	s->strategy.trusts &= !r->interrupted;
	if (!s->how->once)
		strategy_conclude(&s->strategy,
				  r->interrupted ? "the check was interrupted" : "the time was up");
	note_result(&s->strategy, r);
	strategy_close(&s->strategy);
	rd_remove_tree(s->how->directory);
}

/* Starts attempts and takes results.  Returns false if there is nothing to wait for. */
static bool work_on(struct replay_settling *s)
{
	if (s->err || s->result->interrupted || is_over(s))
		return false;
	s->err = fill_jobs(s);
	if (s->err || !rd_pool_busy(s->pool))
		return false;
	hear(s);
	s->result->interrupted = rd_interrupt_wait(&s->signals, 0) != 0;
	look_at_clock(s);
	return true;
}

int replay_settle_next(struct replay_settling *s, struct replay_news *news)
{
	RD_ASSERT(!s->over);
	for (;;) {
		*news = (struct replay_news){.kind = REPLAY_NEWS_CONFIRMED, .finding = next_confirmed(s)};
		if (news->finding)
			return RD_OK;
		if (s->heard) {
			s->heard = false;
			*news = (struct replay_news){.kind = REPLAY_NEWS_PROGRESS,
						     .progress = progress_of(s)};
			return RD_OK;
		}
		if (!work_on(s))
			break;
		s->heard = true;
	}
	finish(s);
	*news = (struct replay_news){.kind = REPLAY_NEWS_OVER};
	return s->err;
}

struct replay_settling *replay_settle_open(const struct replay_settle *how, struct finding_set *set,
					   struct replay_settled *result)
{
	struct replay_settling *s = rd_xcalloc(1, sizeof *s);
	struct rd_pool_opts pool = {.fresh = true, .work = work, .context = s, .signals = &s->signals};
	char *foreign = rd_flavour_foreign(&how->runs.program->program->flavour);

	RD_ASSERT(how->directory && set);
	*s = (struct replay_settling){.how = how,
				      .result = result,
				      .strategy = {.set = set,
						   .all = how->all,
						   .all_count = how->all_count,
						   .extra = how->extra,
						   .once = how->once,
						   .trusts = !foreign},
				      .count = how->jobs ? how->jobs : 1,
				      .start_ns = rd_now_ns()};
	free(foreign);
	strategy_open(&s->strategy);
	s->jobs = rd_xcalloc(s->count, sizeof *s->jobs);
	signal(SIGCHLD, SIG_DFL);
	pool.workers = s->count;
	rd_pool_open(&s->pool, &pool);
	rd_interrupt_begin(&s->signals);
	return s;
}

void replay_settle_close(struct replay_settling *s)
{
	if (!s->over)
		finish(s);
	RD_FREE(s->jobs, s->announced);
	free(s);
}

void replay_settled_release(struct replay_settled *result)
{
	for (size_t i = 0; i < result->set_count; i++)
		finding_set_free(result->sets[i]);
	free(result->sets);
	*result = (struct replay_settled){0};
}
