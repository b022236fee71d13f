// SPDX-License-Identifier: Apache-2.0
/*
 * Decides whether a program that makes no progress is stuck forever.
 *
 * It uses the trace so far, and the state of the threads in the kernel.  The result is a set of
 * confirmed deadlocks, or nothing.  A wrong answer would end a healthy program, so in doubt the
 * program counts as healthy.  A thread counts as waiting only if trace and kernel agree.  To
 * conclude that no thread is left to wake a waiter, two conditions must hold.  First, every thread
 * waits in an operation of the trace, for an object that no other process can reach.  Second, no
 * signal has a handler, and there are no child processes.
 *
 * Threads may wait for something that is not in the trace: a futex of the program, or a lock of a
 * library.  Then it is unknown which thread they wait for.  But if all threads wait without a time
 * limit, and nothing outside can wake any of them, the run hangs.  This is reported as a failure,
 * with the positions of the threads.
 */
#include "predict/hang.h"

#include "base/alloc.h"
#include "base/error.h"
#include "predict/describe-int.h"
#include "predict/failure.h"
#include "predict/stuck-int.h"

#include <stdlib.h>

static bool is_private(const struct model *m, uint32_t sync)
{
	RD_ASSERT(sync == MODEL_NONE || sync < m->sync_count);
	const struct model_object *o;

	if (sync == MODEL_NONE)
		return true; /* the operation is a join */
	if (m->syncs[sync].object == MODEL_NONE)
		return false;
	o = &m->objects[m->syncs[sync].object];
	return o->kind != MODEL_PAGE && !(o->kind == MODEL_HEAP && o->alloc == RADDLE_ALLOC_MMAP);
}

static const struct model_operation *operation_of(const struct predict_trace *t, uint32_t event)
{
	return &t->model->histories[t->x.events[event].thread].operations[t->origins[event].index];
}

static uint32_t thread_of_tid(const struct model *m, pid_t tid)
{
	for (uint32_t i = 0; i < m->thread_count; i++)
		if (m->threads[i].tid == (uint32_t)tid && !m->threads[i].end_q)
			return i;
	return MODEL_NONE;
}

/* Sets waits[] for each thread that waits according to both the trace and the kernel.  Returns the
 * number of these threads. */
static size_t match_threads(const struct predict_trace *t, const struct predict_sleepers *sleepers,
			    uint8_t *waits)
{
	RD_ASSERT(waits != NULL);
	uint8_t *asleep = rd_xcalloc(t->x.threads + 1u, 1);
	size_t matched = 0;

	for (size_t i = 0; i < sleepers->count; i++) {
		uint32_t thread = thread_of_tid(t->model, sleepers->tids[i]);
		if (thread != MODEL_NONE)
			asleep[thread] = 1;
	}
	for (size_t i = 0; i < t->x.count; i++) {
		const struct exec_event *e = &t->x.events[i];
		if (!(e->flags & EXEC_PENDING))
			continue;
		matched += asleep[e->thread];
		waits[e->thread] =
			asleep[e->thread] || operation_of(t, (uint32_t)i)->kind == RADDLE_SPIN_REQUEST;
	}
	free(asleep);
	return matched;
}

static bool no_helper_left(const struct predict_trace *t, const struct predict_sleepers *sleepers,
			   size_t matched)
{
	if (!sleepers->forever || matched != sleepers->count)
		return false;
	for (size_t i = 0; i < t->x.count; i++)
		if (t->x.events[i].flags & EXEC_PENDING &&
		    !is_private(t->model, operation_of(t, (uint32_t)i)->sync))
			return false;
	return true;
}

static bool is_stop(const struct predict_result *r, uint32_t event)
{
	for (size_t i = 0; i < r->deadlock_count; i++)
		for (uint32_t k = 0; k < r->deadlocks[i].count; k++)
			if (r->deadlocks[i].stops[k] == event)
				return true;
	return false;
}

/* Lists the other waiting threads, because the user may be looking for one of them. */
static void add_victims(const struct predict_trace *t, const struct predict_result *r, const uint8_t *waits,
			struct finding_set *set)
{
	const struct model *m = t->model;
	struct rd_buf text = RD_BUF_INIT;

	for (uint32_t i = 0; i < t->x.count; i++) {
		const struct exec_event *e = &t->x.events[i];
		const struct model_operation *op = operation_of(t, i);
		if (!(e->flags & EXEC_PENDING) || !waits[e->thread] || is_stop(r, i))
			continue;
		rd_buf_addf(&text, "Thread %s waits for ", m->threads[e->thread].name);
		if (op->sync != MODEL_NONE)
			model_name_sync(m, op->sync, &text);
		else if (op->second != MODEL_NONE)
			rd_buf_addf(&text, "the end of %s", m->threads[op->second].name);
		rd_buf_adds(&text, " meanwhile.");
		for (size_t k = 0; k < set->count; k++)
			finding_note(set, set->items[k], text.data);
		rd_buf_clear(&text);
	}
	rd_buf_release(&text);
}

/* Adds the threads that ended while they held a lock.  They are not among the waiting threads. */
static void add_dead_owners(const struct predict_trace *t, const struct predict_deadlock *l,
			    struct finding_set *set, struct finding *f)
{
	for (uint32_t i = 0; i < l->count; i++) {
		const struct exec_event *e = &t->x.events[l->stops[i]];
		uint32_t owner = exec_acquires(e->kind) ? exec_holder(&t->x, e->object) : EXEC_NONE;
		struct rd_buf name = RD_BUF_INIT;
		if (owner == EXEC_NONE || !t->model->threads[owner].end_q)
			continue;
		model_name_sync(t->model, operation_of(t, l->stops[i])->sync, &name);
		finding_note(set, f,
			     finding_textf(set, "Thread %s ended without releasing %s.",
					   t->model->threads[owner].name, name.data));
		rd_buf_release(&name);
	}
}

static void describe(const struct predict_trace *t, const struct predict_result *r, const uint8_t *waits,
		     struct finding_set *set)
{
	predict_describe(t, r, set, (struct predict_limit){.findings = SIZE_MAX});
	for (size_t i = 0; i < set->count; i++) {
		set->items[i]->status = FINDING_CONFIRMED;
		set->items[i]->recorded = true;
		set->items[i]->reason = NULL;
		set->items[i]->consequence = "hang";
		set->items[i]->note_count = 0; /* the verdict already states that the run hung */
		add_dead_owners(t, &r->deadlocks[i], set, set->items[i]);
	}
	add_victims(t, r, waits, set);
	finding_set_finish(set);
}

static bool look(const struct model *model, const struct predict_sleepers *sleepers, struct finding_set *set)
{
	uint8_t *waits = rd_xcalloc(model->thread_count + 1, 1);
	struct predict_waiters waiters = {.waits = waits};
	struct predict_result r = {0};
	struct predict_trace t;
	bool filled = predict_fill_stuck(&t, model) == RD_OK;

	if (filled) {
		waiters.all = no_helper_left(&t, sleepers, match_threads(&t, sleepers, waits));
		predict_find_stuck(&t.x, &waiters, &r);
		describe(&t, &r, waits, set);
		predict_trace_release(&t);
	}
	predict_result_release(&r);
	free(waits);
	return filled && set->count;
}

static bool hangs(const struct model *model, struct finding_set *set)
{
	if (!predict_failure(model, 0, set))
		return false;
	set->items[0]->status = FINDING_CONFIRMED;
	set->items[0]->reason = NULL;
	finding_set_finish(set);
	return true;
}

bool predict_hang(const struct model *model, const struct predict_sleepers *sleepers, struct finding_set *set)
{
	if (model->err != RD_OK)
		return false;
	return look(model, sleepers, set) || (sleepers->forever && sleepers->apart && hangs(model, set));
}
