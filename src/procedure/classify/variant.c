// SPDX-License-Identifier: Apache-2.0
/*
 * Makes schedules for both orders of a race from the race's schedule.  In: two goals and the
 * operations that lead to them.  Out: schedules that continue after the race.
 *
 * As a rule, the two accesses follow each other directly.  When the first thread has made its
 * access, the second thread runs.  When the second thread has made its access, the variant decides
 * which thread runs next.  So if twins behave differently, the cause is the order of the two
 * accesses, not anything else that the first thread did.
 *
 * In every fourth variant the first thread continues after its access, while the second thread
 * stays stopped before its own.  Only these variants show what happens if a thread reads a value
 * and acts on it before the other thread writes.  This effect is possible in only one order of the
 * two accesses.  Effects that occur merely because one thread runs alone appear in both orders,
 * because in the earlier variants each of the two threads has run first.
 */
#include "classify/variant-int.h"

#include "base/error.h"
#include "classify/classify.h"

#include <string.h>

/* number of the first variant in which the second thread lags; it has no seed */
enum { LAG = 2 };

bool variant_lags(size_t number)
{
	return number % 4 == LAG;
}

static struct schedule_decision back(const struct schedule_goal *from, const struct schedule_goal *to)
{
	return (struct schedule_decision){
		.thread = from->thread, .n = from->after, .point = "back", .count = 1, .next = to->thread};
}

/* Makes a schedule of the control group, which has the order of operations but no goals. */
static void lead_nowhere(struct schedule *s)
{
	s->goals = NULL;
	s->goal_count = 0;
	s->nowhere = false;
	s->front = NULL;
	if (!s->op_count)
		s->limit_count = 0;
}

/* Sets everything that all variants have in common. */
static void begin(struct variant *v, const struct schedule *race, unsigned number)
{
	RD_ASSERT(race->goal_count == 2);
	v->schedule = *race;
	v->schedule.turns = true;
	v->schedule.seed = number <= LAG ? 0 : number - 1;
	v->schedule.watch_count = v->schedule.decision_count = 0;
	v->schedule.first = NULL;
	v->schedule.flavour = CLASSIFY_FLAVOUR;
	if (number > LAG && number % 3 == 2)
		/* The limits come from the prediction.  Some variants run without them. */
		v->schedule.limit_count = 0;
}

void variant_make(struct variant *v, const struct schedule *race, enum variant_group group, unsigned number)
{
	RD_ASSERT(race->goal_count == 2 && group < VARIANT_GROUPS);
	const struct schedule_goal *first = &race->goals[group == VARIANT_SECOND],
				   *second = &race->goals[group != VARIANT_SECOND];
	bool lags = variant_lags(number);

	begin(v, race, number);
	if (group == VARIANT_CONTROL) {
		lead_nowhere(&v->schedule);
		return;
	}
	v->schedule.first = first->thread;
	v->decisions[0] = back(first, lags ? first : second);
	/* If the first thread has continued, it may have ended in the meantime.  So the second
	 * thread runs next. */
	v->decisions[1] = back(second, lags ? second : &race->goals[number % 2]);
	v->schedule.decisions = v->decisions;
	v->schedule.decision_count = 2;
}

static bool is_back(const struct schedule_decision *d, const char *thread)
{
	return !strcmp(d->point, "back") && !strcmp(d->thread, thread);
}

/* Returns the goal of the thread that continues after both accesses of a run.  If no decision lets
 * the second thread make its access directly after the first one, the second thread lagged, and the
 * first thread continued. */
static const struct schedule_goal *continues(const struct schedule *made, const struct schedule_goal *first,
					     const struct schedule_goal *second)
{
	const struct schedule_goal *next = first;

	for (size_t i = 0; i < made->decision_count; i++) {
		const struct schedule_decision *d = &made->decisions[i];

		if (is_back(d, first->thread) && !strcmp(d->next, second->thread))
			next = second;
		else if (is_back(d, second->thread) && !strcmp(d->next, first->thread))
			next = first;
	}
	return next;
}

/* Copies the decisions of a run to the schedule of its counterpart, except those at the points
 * after its two accesses. */
static void copy_later(const struct schedule *made, struct schedule *s)
{
	for (size_t i = 0; i < made->decision_count; i++)
		if (!is_back(&made->decisions[i], made->goals[0].thread) &&
		    !is_back(&made->decisions[i], made->goals[1].thread))
			s->decisions[s->decision_count++] = made->decisions[i];
	RD_ASSERT(s->decision_count <= made->decision_count + VARIANT_ROOM);
}

/* The decisions at the points after the two accesses (`back`) depend on the order of the accesses,
 * so they are replaced.  If the second thread lagged in the run, it makes its access first in the
 * counterpart, and then stays stopped until the point at which it made its access in the run. */
struct schedule variant_counterpart(const struct schedule *made, struct schedule_decision *decisions)
{
	bool swapped = made->first && !strcmp(made->first, made->goals[1].thread);
	const struct schedule_goal *first = &made->goals[swapped], *second = &made->goals[!swapped];
	struct schedule s = *made;

	RD_ASSERT(made->goal_count == 2 && !made->seed);
	s.first = second->thread;
	s.decisions = decisions;
	s.decision_count = 2;
	decisions[0] = back(second, first);
	decisions[1] = back(first, continues(made, first, second));
	copy_later(made, &s);
	return s;
}

/* ---- one access between accesses of the other thread ---- */

static void put_first(struct variant *v, const struct schedule_goal *moved, const struct schedule_goal *other)
{
	v->schedule.first = moved->thread;
	v->decisions[0] = back(moved, other);
	v->decisions[1] = back(other, other);
}

/* `front` makes the first thread come to its access before the other thread begins to run.  So the
 * run and its counterpart do not differ up to this point. */
void variant_make_between(struct variant *v, const struct schedule *race, unsigned moved, unsigned number)
{
	RD_ASSERT(moved < 2);
	begin(v, race, number);
	v->schedule.front = race->goals[moved].thread;
	put_first(v, &race->goals[moved], &race->goals[1 - moved]);
	v->schedule.decisions = v->decisions;
	v->schedule.decision_count = 2;
}

void variant_counterpart_before(struct variant *v, const struct schedule *made, unsigned moved,
				struct schedule_decision *decisions)
{
	const struct schedule_goal *other = &made->goals[1 - moved];

	RD_ASSERT(moved < 2 && made->goal_count == 2 && !made->seed);
	v->schedule = *made;
	v->goals[moved] = made->goals[moved];
	v->goals[1 - moved] =
		(struct schedule_goal){.thread = other->thread, .after = other->after, .occurrence = 1};
	v->schedule.goals = v->goals;
	put_first(v, &made->goals[moved], other);
	memcpy(decisions, v->decisions, sizeof v->decisions);
	v->schedule.decisions = decisions;
	v->schedule.decision_count = 2;
	copy_later(made, &v->schedule);
}

void variant_keep_turn(struct variant *v, unsigned moved)
{
	struct schedule *s = &v->schedule;
	const struct schedule_goal *other = &s->goals[1 - moved];

	RD_ASSERT(moved < 2 && s->goal_count == 2 && s->decision_count >= 2);
	memmove(s->decisions + 3, s->decisions + 2, (s->decision_count - 2) * sizeof *s->decisions);
	s->decisions[2] = (struct schedule_decision){.thread = other->thread,
						     .n = other->after,
						     .point = "yield",
						     .count = 1,
						     .next = other->thread};
	s->decision_count++;
}
