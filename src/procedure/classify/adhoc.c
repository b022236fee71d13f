// SPDX-License-Identifier: Apache-2.0
/*
 * Ad-hoc synchronisation.  In: a race.  Out: the synchronisation that fixes the order of its
 * accesses, if there is any.
 *
 * One thread is stopped before its access, and the other thread tries to reach its own.  Instead of
 * reaching it, the other thread may wait: either in a loop until a value changes, or in an
 * operation for a lock that the stopped thread holds.  In that case its access comes second in
 * every run.  If the thread left the loop when the value changed, it certainly waited for that
 * value (rt/steer/spin.c).  The result does not depend on time.
 *
 * A thread may also make its access only if it sees something that the other thread does after its
 * own access.  For example, it tests a flag once.  Then, however the threads are scheduled, it goes
 * on without its access as long as the other thread has not made its own (adhoc_passes()).
 *
 * A semaphore, a condition or a barrier has no owner, so any thread may end the wait.  In these
 * cases the order is accepted only if three things hold: no other thread could run; the waiting
 * thread continued when the stopped one was released; and the same happens when all other threads
 * run as far as they can before each step of the stopped thread.
 */
#include "classify/adhoc-int.h"

#include "base/error.h"

#include <string.h>

#define AGAIN 2 /* number of further runs that have to show the order */

/* Returns true if, in this run, the thread of the other goal waits for the thread of goal number
 * `goal`. */
static bool shows(const struct trial *t, const struct schedule *race, unsigned goal)
{
	const struct trial_obstacle *o = &t->obstacle;

	if (!o->thread || strcmp(o->thread, race->goals[1 - goal].thread) != 0)
		return false;
	return o->owner ? !strcmp(o->owner, race->goals[goal].thread) : o->lifted;
}

static bool passes(const struct trial *t, const struct schedule *race, unsigned goal)
{
	return t->passed && !strcmp(t->passed, race->goals[1 - goal].thread);
}

/* Returns true if the run shows the order that `a` describes. */
static bool agrees(const struct trial *t, const struct schedule *race, const struct adhoc *a)
{
	return a->passes ? passes(t, race, a->goal) : shows(t, race, a->goal);
}

static void lead(struct adhoc *a, const struct schedule *race)
{
	a->schedule = *race;
	a->schedule.turns = true;
	a->schedule.flavour = CLASSIFY_FLAVOUR;
	memcpy(a->goals, race->goals, sizeof a->goals);
	a->schedule.goals = a->goals;
}

static int show_again(struct trial_bench *b, const struct schedule *race, struct adhoc *a)
{
	struct trial t;
	int err = RD_OK;

	b->evidence = true;
	for (int i = 0; i < AGAIN && a->found && !err; i++) {
		err = trial_run(b, &a->schedule, &t, NULL);
		a->found = !err && agrees(&t, race, a);
	}
	b->evidence = false;
	return err;
}

/* Makes a run in which the waiting thread runs whenever it can, and the stopped thread runs only if
 * no other thread can.  The order is accepted only if the threads are kept apart in this run,
 * too. */
static int show_in_front(struct trial_bench *b, const struct schedule *race, struct adhoc *a)
{
	struct schedule front = a->schedule;
	struct trial t;
	int err;

	if (!a->found || !a->obstacle.kind || a->obstacle.owner)
		return RD_OK;
	front.front = a->obstacle.thread;
	err = trial_run(b, &front, &t, NULL);
	a->found = !err && !t.counts && (shows(&t, race, 0) || shows(&t, race, 1));
	return err;
}

int adhoc_apart(struct trial_bench *b, const struct schedule *race, const struct trial *tried,
		struct adhoc *a)
{
	int err;

	*a = (struct adhoc){0};
	lead(a, race);
	for (unsigned goal = 0; goal < 2 && !a->found; goal++) {
		a->found = shows(tried, race, goal);
		a->goal = goal;
	}
	a->obstacle = tried->obstacle;
	err = show_again(b, race, a);
	return err ? err : show_in_front(b, race, a);
}

/* Makes a run in which only the thread of `a->goal` is stopped at its access.  The other goal is
 * set to an occurrence that is never reached. */
static int wait_for(struct trial_bench *b, const struct schedule *race, struct adhoc *a)
{
	struct trial t;
	int err;

	lead(a, race);
	a->goals[1 - a->goal].occurrence = INT64_MAX;
	err = trial_run(b, &a->schedule, &t, NULL);
	if (err)
		return err;
	a->found = shows(&t, race, a->goal) && !t.obstacle.kind && t.obstacle.goal == (int)a->goal;
	a->obstacle = t.obstacle;
	return show_again(b, race, a);
}

int adhoc_flag(struct trial_bench *b, const struct schedule *race, struct adhoc *a)
{
	int err = RD_OK;

	*a = (struct adhoc){0};
	for (unsigned goal = 0; goal < 2 && !a->found && !err; goal++) {
		a->goal = goal;
		if (race->goals[goal].write && !race->goals[1 - goal].write)
			err = wait_for(b, race, a);
	}
	return err;
}

/* ---- a thread that goes on without its access ---- */

/* Makes the schedule of run `number`.  Runs 0 to 2 keep the operations of the prediction, runs 3 to
 * 5 do not.  In each half, first no thread is preferred, then one of the two threads, then the
 * other. */
static void choose_way(struct adhoc *a, const struct schedule *race, unsigned number)
{
	lead(a, race);
	a->schedule.front = number % 3 ? race->goals[number % 3 - 1].thread : NULL;
	if (number < 3)
		return;
	a->schedule.op_count = a->schedule.limit_count = a->schedule.decision_count = 0;
	a->schedule.first = NULL;
}

/* Keeps `found` only if every run shows that the same thread goes on without its access. */
static int pass_again(struct trial_bench *b, const struct schedule *race, struct adhoc *a)
{
	struct trial t;
	int err = RD_OK;

	for (unsigned i = 0; i < ADHOC_WAYS && a->found && !err; i++) {
		choose_way(a, race, i);
		err = trial_run(b, &a->schedule, &t, NULL);
		a->found = !err && agrees(&t, race, a);
	}
	return err ? err : show_again(b, race, a);
}

int adhoc_passes(struct trial_bench *b, const struct schedule *race, struct adhoc *a)
{
	struct trial t;
	int err;

	*a = (struct adhoc){0};
	choose_way(a, race, 0);
	err = trial_run(b, &a->schedule, &t, NULL);
	if (err || !t.passed)
		return err;
	a->goal = passes(&t, race, 1);
	a->found = a->passes = passes(&t, race, a->goal);
	return pass_again(b, race, a);
}
