// SPDX-License-Identifier: Apache-2.0
/*
 * Repeats failures.  In: failures with their schedules.  Out: findings.
 *
 * First, decisions that the failure does not need are removed.  Then the schedule must fail in the
 * same way every time, in processes that are started as the user will start them.
 */
#include "explore/repeat-int.h"

#include "base/clock.h"
#include "base/error.h"
#include "explore/known.h"
#include "explore/minimise-int.h"
#include "explore/worker-int.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* number of runs in which a failure has to happen again; README and reports state it */
#define REPEATS 3
/* maximum number of runs to minimise one failure; for a quick program they take seconds */
#define MINIMISE_RUNS 200
/* minimising one failure may take at most 1/MINIMISE_TIME_SHARE of the exploration's time limit;
 * chosen by hand */
#define MINIMISE_TIME_SHARE 5

struct repeat {
	struct explore_worker worker;
	struct trial_bench *bench;
	const struct note *failure;
	const struct schedule *whole;
	struct schedule_decision *decisions; /* room for the decisions of `whole` */
	int64_t until_ns;		     /* the time at which minimising ends, or 0 for no limit */
	int err;
};

/* Returns true if the program fails in the same way under schedule `s`. */
static bool fails_by(struct repeat *r, const struct schedule *s)
{
	if (r->err)
		return false;
	r->err = worker_run(&r->worker, r->bench, s, NULL);
	return !r->err && failure_is_same(&r->worker.note.failure, &r->failure->failure);
}

static struct schedule with_decisions(struct repeat *r, const size_t *kept, size_t count)
{
	struct schedule s = *r->whole;

	RD_ASSERT(count <= r->whole->decision_count);
	for (size_t i = 0; i < count; i++)
		r->decisions[i] = r->whole->decisions[kept[i]];
	s.decisions = r->decisions;
	s.decision_count = count;
	return s;
}

static bool fails(void *context, const size_t *kept, size_t count)
{
	struct repeat *r = context;
	struct schedule s = with_decisions(r, kept, count);

	return (!r->until_ns || rd_now_ns() < r->until_ns) && fails_by(r, &s);
}

/* Adds the failure to the set.  The loops in which threads hang may differ from run to run, so the
 * report shows those of the last run. */
static int add_finding(struct repeat *r, struct finding_set *set, const struct schedule *s)
{
	struct failure failure = r->failure->failure;
	char seen[200];

	snprintf(seen, sizeof seen,
		 "first seen in schedule %" PRIu64 "; with %zu decision%s it happened again in %d of %d runs",
		 r->failure->number + 1, s->decision_count, s->decision_count == 1 ? "" : "s", REPEATS,
		 REPEATS);
	failure.loops = r->worker.note.failure.loops;
	return failure_add(set, &failure, s, seen);
}

static int report(struct repeat *r, struct finding_set *set, const size_t *kept, size_t count)
{
	struct schedule s = with_decisions(r, kept, count);
	bool again = true;

	r->bench->evidence = true;
	for (int i = 0; i < REPEATS && again; i++)
		again = fails_by(r, &s);
	if (r->err)
		return r->err;
	r->worker.state->result->unrepeated += !again;
	return again ? add_finding(r, set, &s) : RD_OK;
}

static int repeat_failure(struct repeat *r, struct finding_set *set, int64_t time_ns)
{
	size_t count = r->whole->decision_count, *kept = rd_xcalloc(count + 1, sizeof *kept);
	int err;

	r->bench->copies = true;
	r->bench->evidence = false;
	r->bench->most = r->failure->most;
	if (time_ns)
		r->until_ns = rd_now_ns() + time_ns / MINIMISE_TIME_SHARE;
	r->decisions = rd_xcalloc(count + 1, sizeof *r->decisions);
	for (size_t i = 0; i < count; i++)
		kept[i] = i;
	if (fails(r, kept, count))
		count = minimise(kept, count, fails, r, MINIMISE_RUNS);
	err = report(r, set, kept, count);
	RD_FREE(kept, r->decisions);
	worker_release(&r->worker);
	return err;
}

/* Returns true if a check knows the failure already, by a method that gives more information. */
static bool is_known(const struct explore_state *s, const struct note *failure, const struct schedule *whole)
{
	struct finding_set *alone = finding_set_new();
	bool known;

	known = s->how->suggested && !failure_add(alone, &failure->failure, whole, "") && alone->count &&
		explore_is_part(s->how->suggested, alone->items[0]);
	finding_set_free(alone);
	return known;
}

int repeat_failures(struct explore_state *s, struct finding_set *set, struct rd_arena *arena)
{
	struct trial_bench b;
	int err = trial_open(&b, &s->how->runs, NULL);

	for (; s->repeated < s->failure_count && !err; s->repeated++) {
		const struct note *failure = &s->failures[s->repeated];
		struct schedule whole = {0};
		struct repeat r = {.worker = {.state = s, .arena = arena},
				   .bench = &b,
				   .failure = failure,
				   .whole = &whole};

		RD_ASSERT(failure->made);
		err = schedule_parse(&whole, failure->made, strlen(failure->made), "the run");
		if (!err && !is_known(s, failure, &whole))
			err = repeat_failure(&r, set, s->how->time_ns);
		schedule_release(&whole);
	}
	trial_close(&b);
	return err;
}
