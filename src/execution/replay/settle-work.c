// SPDX-License-Identifier: Apache-2.0
/*
 * One attempt to settle a finding, in its own process.  In: a finding and the kind of attempt.  The
 * attempt is a replay, or a run in which any two threads may meet.  It may also be a replay that is
 * recorded and used for a new prediction, or a run of many findings under the detector.  Out: a
 * finding document.  It contains the finding with its verdict, then findings that a diverged run
 * showed.  The document's statistics guide the strategy.
 */
#include "replay/settle-work-int.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "finding/schedule.h"
#include "run/companion.h"
#include "run/orphan.h"
#include "run/streams.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct worker {
	const struct settle_work *work;
	struct finding_set *set; /* the set of the result */
	struct run_companion companion;
	struct run_streams streams;
	char *message; /* the message of the first error */
};

/* ---- before and after each run ---- */

/* Every run starts with the same input and empty output. */
static int begin_run(void *context)
{
	struct worker *w = context;
	int err = run_setup(w->work->how->runs.setup, w->streams.fds[STDOUT_FILENO]);

	run_streams_rewind(&w->streams);
	return err;
}

static void started_run(void *context, pid_t pid)
{
	struct worker *w = context;

	run_companion_start(&w->companion, pid, w->streams.fds[STDOUT_FILENO]);
}

static void ended_run(void *context)
{
	struct worker *w = context;

	run_companion_stop(&w->companion);
	run_orphans_end(NULL, 0);
}

static struct replay_policy policy_of(struct worker *w)
{
	const struct replay_settle *r = w->work->how;
	struct replay_policy policy = {0};
	struct replay_request *q = &policy.request;

	q->program = r->runs.program;
	q->streams = w->streams.fds;
	q->recorded_ms = rd_ns_to_ms_up(r->runs.recorded_ns);
	q->recorded_signal = r->recorded_signal;
	q->limit_ms = rd_ns_to_ms(r->runs.limit_ns);
	q->no_world = r->runs.no_world;
	q->begin = begin_run;
	q->started = started_run;
	q->ended = ended_run;
	q->context = w;
	return policy;
}

/* ---- a diverged run ---- */

static struct finding *find_same(const struct finding_set *set, const struct finding *f)
{
	struct finding *same = finding_at(set, f->fingerprint);

	for (size_t i = 0; i < set->count && !same; i++)
		if (strcmp(set->items[i]->id, f->id) == 0)
			same = set->items[i];
	return same;
}

/* Returns true if the strategy can use the finding: it is new, or is another way to a finding
 * without a verdict. */
static bool is_wanted(const struct worker *w, const struct finding *f)
{
	const struct finding *known = finding_at(w->work->strategy->set, f->fingerprint);

	return f->schedule && (!known || known->status == FINDING_UNCONFIRMED);
}

/* Adds a finding that a diverged run showed.  The trace of this run is removed at the end.  Its
 * input from outside is the same as that of the recorded run, so the finding names the recorded
 * trace. */
static void put_found(struct worker *w, struct finding *found, const struct finding *f)
{
	found->schedule->trace = schedule_text(found->schedule, f->schedule->trace);
	finding_set_put(w->set, found);
}

/* Predicts from the diverged run.  The findings live as long as this process. */
static void predict_again(struct worker *w, struct finding *f, const char *trace)
{
	struct finding_set *again = finding_set_new();
	struct finding *same;

	if (w->work->how->predict(w->work->how->predict_context, trace, again))
		return;
	same = find_same(again, f);
	if (same && same->schedule) {
		memcpy(same->fingerprint, f->fingerprint, sizeof f->fingerprint);
		put_found(w, same, f);
	}
	for (size_t i = 0; i < again->count; i++)
		if (again->items[i] != same && is_wanted(w, again->items[i]))
			put_found(w, again->items[i], f);
}

/* ---- the attempts ---- */

/* Replays under the detector, because what the detector sees can keep a finding from being dropped.
 * If a thread spun in the run, nothing is predicted from the run, since a new run would only spin
 * again until the patience is used up. */
static int try_finding(struct worker *w, struct finding *f)
{
	struct replay_policy policy = policy_of(w);
	struct replay_result result = {0};
	bool again = w->work->attempt->step == STRATEGY_AGAIN && w->work->how->predict;
	char *trace = rd_xasprintf("%s/%s", w->work->directory, f->id);
	int err;

	if (w->work->attempt->step == STRATEGY_KEEP)
		memcpy(f->schedule->keep, w->work->attempt->keep, sizeof f->schedule->keep);
	policy.request.record_into = again ? trace : NULL;
	policy.request.detect = true;
	policy.request.patient = w->work->attempt->patient;
	err = replay_once(&policy, w->set, f, w->work->attempt->runs, &result);
	if (!err && again && f->status != FINDING_CONFIRMED && result.outcome != REPLAY_STOPPED &&
	    result.outcome != REPLAY_LIVELOCK)
		predict_again(w, f, trace);
	if (!err) {
		finding_stat(w->set, STRATEGY_DIVERGED, replay_has_diverged(&result));
		finding_stat(w->set, STRATEGY_UNORDERED, result.unordered);
		finding_stat(w->set, STRATEGY_READ, result.chance_read);
		finding_stat(w->set, STRATEGY_WRITE, result.chance_write);
		finding_stat(w->set, STRATEGY_OBSERVABLE, replay_is_observable(f, &result));
	}
	replay_result_release(&result);
	free(trace);
	return err;
}

/* Removes the order from the finding's schedule.  If a program's operations differ from run to run,
 * its threads cannot be led.  But if any two threads are stopped at the two accesses at the same
 * time, that proves the race. */
static void forget_order(struct worker *w, struct finding *f)
{
	const struct schedule *given = f->schedule;
	struct schedule *s = finding_schedule_add(w->set, f);

	s->program = schedule_text(s, given->program);
	s->trace = schedule_text(s, given->trace);
	s->speculative = given->speculative;
	s->anywhere = true;
	s->handed = given->handed;
	for (size_t i = 0; i < given->goal_count; i++) {
		struct schedule_goal *h = schedule_add_goal(s);

		/* a later attempt that leads a thread to this goal needs the original position */
		*h = given->goals[i];
	}
}

static int observe(struct worker *w)
{
	const struct strategy_attempt *a = w->work->attempt;
	struct finding **list = rd_xcalloc(a->count + 1, sizeof *list);
	struct replay_policy policy = policy_of(w);

	for (size_t i = 0; i < a->count; i++) {
		list[i] = w->work->strategy->set->items[a->items[i]];
		finding_set_put(w->set, list[i]);
	}
	return replay_observe(&policy, w->set, list, a->count);
}

int settle_work(const struct settle_work *work, struct rd_buf *answer)
{
	RD_ASSERT(work->attempt->count > 0 || work->attempt->step != STRATEGY_OBSERVE);
	struct worker w = {
		.work = work, .set = finding_set_new(), .companion = {.command = work->how->runs.companion}};
	struct finding f;
	int err;

	rd_log_set(rd_log_first, &w.message);
	run_orphans_adopt();
	err = run_streams_open(&w.streams, work->how->runs.input, work->directory);
	if (work->attempt->step == STRATEGY_OBSERVE) {
		err = err ? err : observe(&w);
	} else {
		f = strategy_finding(work->strategy, work->attempt);
		finding_set_put(w.set, &f);
		if (work->attempt->step == STRATEGY_MEET)
			forget_order(&w, &f);
		err = err ? err : try_finding(&w, &f);
		if (err) {
			f.status = FINDING_UNCONFIRMED;
			f.reason = finding_textf(w.set, REPLAY_IMPOSSIBLE "%s",
						 w.message ? w.message : "for an unknown reason");
		}
	}
	return finding_format(w.set, answer) ? 2 : 0;
}
