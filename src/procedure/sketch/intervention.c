// SPDX-License-Identifier: Apache-2.0
/*
 * Interventions choose the thread that runs next, so that an order of statements happens or does
 * not happen.
 *
 * An order of two statements means that one thread executes `a` before another thread executes `b`.
 * To force this order, a thread that is about to execute `a` is stopped until another thread has
 * reached `b`.  A thread that is about to execute `b` is stopped until another thread has executed
 * `a`; then it runs next.  To prevent the order, a thread that is about to execute `a` is stopped
 * until another thread has executed `b`.
 *
 * In an order of three statements, one thread executes the first and the last statement, and
 * another thread executes the middle one in between.  To force this order, a thread that is about
 * to execute the middle statement is stopped until another thread has executed the first.  That
 * other thread is then stopped before the last statement until the middle one has been executed.
 * To prevent the order, a thread that is about to execute the middle statement is stopped while
 * another thread is between the first and the last.
 *
 * A thread is never stopped if no other thread could run.  So an intervention cannot make a program
 * hang, but it may fail to produce the order.
 */
#include "sketch/turns-parts-int.h"

#include "base/error.h"
#include "base/file.h"

#include <string.h>

static uint64_t draw(struct turns_now *now)
{
	now->seed ^= now->seed << 13;
	now->seed ^= now->seed >> 7;
	now->seed ^= now->seed << 17;
	return now->seed;
}

/* Returns true if the statement is statement number `which` of the order, judging by its line and
 * role. */
static bool is_at(const struct turns_now *now, uint32_t statement, size_t which)
{
	const struct turns_order *o = &now->order;
	const struct slice_statement *a, *b;

	if (statement == TURNS_NONE || which >= o->order->count)
		return false;
	a = &now->turns->runs->statements[statement];
	b = &o->of->statements[o->order->statements[which]];
	return a->line == b->line && a->role == b->role &&
	       !strcmp(rd_base_name(a->file), rd_base_name(b->file));
}

/* Returns true if the thread is about to execute statement number `which` of the order. */
static bool is_due_at(const struct turns_now *now, uint32_t thread, size_t which)
{
	return is_at(now, now->threads[thread].statement, which) ||
	       is_at(now, now->threads[thread].second, which);
}

static bool did_by_other(const struct turns_now *now, uint32_t thread, bool second)
{
	for (uint32_t i = 0; i < TURNS_THREADS; i++)
		if (i != thread && (second ? now->threads[i].did_second : now->threads[i].did_first))
			return true;
	return false;
}

static bool is_inside(const struct turns_now *now, uint32_t but)
{
	for (uint32_t i = 0; i < TURNS_THREADS; i++)
		if (i != but && now->threads[i].inside)
			return true;
	return false;
}

/* Returns true if some thread other than `but` is about to execute the second statement. */
static bool is_awaited(const struct turns_now *now, uint32_t but)
{
	for (uint32_t i = 0; i < TURNS_THREADS; i++)
		if (i != but && is_due_at(now, i, 1))
			return true;
	return false;
}

static bool is_held_in_pair(const struct turns_now *now, uint32_t thread)
{
	if (now->order.intervention == TURNS_PREVENT)
		return is_due_at(now, thread, 0) && !did_by_other(now, thread, true);
	return is_due_at(now, thread, 1) ? !did_by_other(now, thread, false)
					 : is_due_at(now, thread, 0) && !is_awaited(now, thread);
}

static bool is_held_in_three(const struct turns_now *now, uint32_t thread)
{
	if (now->order.intervention == TURNS_PREVENT)
		return is_due_at(now, thread, 1) && is_inside(now, thread);
	if (is_due_at(now, thread, 2) && now->threads[thread].inside)
		return !did_by_other(now, thread, true);
	if (is_due_at(now, thread, 0) && !now->threads[thread].inside && !is_due_at(now, thread, 1))
		return !is_awaited(now, thread);
	return is_due_at(now, thread, 1) && !is_inside(now, thread);
}

/* Returns true if the thread must stay stopped before its next statement. */
static bool is_held(const struct turns_now *now, uint32_t thread)
{
	RD_ASSERT(now->order.order->count == 2 || now->order.order->count == 3);
	return now->order.order->count == 3 ? is_held_in_three(now, thread) : is_held_in_pair(now, thread);
}

/* Returns true if the thread is at the statement that comes next in a forced order. */
static bool is_due(const struct turns_now *now, uint32_t thread)
{
	const struct sketch_predictor *o = now->order.order;

	RD_ASSERT(thread < TURNS_THREADS);
	if (now->order.intervention != TURNS_FORCE)
		return false;
	if (o->count == 2)
		return is_due_at(now, thread, 1) && did_by_other(now, thread, false);
	return (is_due_at(now, thread, 2) && now->threads[thread].inside &&
		did_by_other(now, thread, true)) ||
	       (is_due_at(now, thread, 1) && is_inside(now, thread));
}

const char *turns_choose(struct turns_now *now, const struct replay_stand *stand)
{
	uint32_t free[TURNS_THREADS], any[TURNS_THREADS];
	size_t free_count = 0, any_count = 0;

	if (now->order.intervention == TURNS_WATCH)
		return NULL;
	for (uint32_t i = 0; i < stand->thread_count && i < TURNS_THREADS; i++) {
		if (!stand->threads[i].thread || !stand->threads[i].ready)
			continue;
		if (is_due(now, i))
			return stand->threads[i].thread;
		any[any_count++] = i;
		if (!is_held(now, i))
			free[free_count++] = i;
	}
	if (free_count)
		return stand->threads[free[draw(now) % free_count]].thread;
	for (size_t i = 0; i < any_count; i++)
		if (is_due_at(now, any[i], 0))
			return stand->threads[any[i]].thread;
	return any_count ? stand->threads[any[draw(now) % any_count]].thread : NULL;
}

void turns_did(struct turns_now *now, uint32_t thread, uint32_t statement)
{
	const struct sketch_predictor *o = now->order.order;
	struct turns_pending *p = &now->threads[thread];

	RD_ASSERT(thread < TURNS_THREADS);
	if (now->order.intervention == TURNS_WATCH)
		return;
	if (is_at(now, statement, 0)) {
		p->did_first = true;
		p->inside = o->count == 3;
	}
	if (is_at(now, statement, 1))
		p->did_second = true;
	if (o->count == 3 && is_at(now, statement, 2) && !is_at(now, statement, 0))
		p->inside = false;
}
