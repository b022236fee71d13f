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

/* number of the first variant in which the second thread stays stopped; it has no seed */
enum { LAG = 2 };

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
	bool lags = number % 4 == LAG;

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

/* The first thread keeps the turn until its next operation, the second one until the operation
 * after its own access.  By default a thread keeps the turn, so only two decisions are needed. */
void variant_make_apart(struct variant *v, const struct schedule *race, unsigned number)
{
	const struct schedule_goal *first = &race->goals[number % 2], *second = &race->goals[1 - number % 2];

	begin(v, race, number / 2);
	v->schedule.apart = true;
	v->schedule.nowhere = false;
	v->schedule.front = NULL;
	v->schedule.first = first->thread;
	v->decisions[0] = (struct schedule_decision){.thread = first->thread,
						     .n = first->after + 1,
						     .point = "op",
						     .count = 1,
						     .next = second->thread};
	v->decisions[1] = back(second, second);
	v->schedule.decisions = v->decisions;
	v->schedule.decision_count = 2;
}
