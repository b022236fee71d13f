/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds an order in which the events of an ideal (core-int.h) can run.
 *
 * This is a depth-first search over position vectors.  An event may run if everything that must
 * precede it has run, its lock is free, and its semaphore is not zero.  If it is a write, all
 * readers of the overwritten value must have run.
 *
 * Only acquisitions, takes and writes can disable an event of another thread.  Every other event
 * runs as soon as it can, without a choice.  Choices are tried in trace order.  A position vector
 * from which the search has failed is not entered again.
 */
#include "predict/search-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/random.h"

#include <stdlib.h>
#include <string.h>

struct frame {
	size_t steps;	/* the number of steps that remain when the frame fails */
	size_t choices; /* index in `choices` at which its candidates begin */
	size_t next;	/* index of the candidate to try next */
	size_t end;
};

#define EXCLUSIVE UINT32_MAX

void sched_init(struct predict_search *s)
{
	const struct core *c = s->c;
	struct sched *d = &s->sched;

	d->at = rd_xcalloc((size_t)c->threads + 1, sizeof *d->at);
	d->readers = rd_xcalloc((size_t)c->locks + 1, sizeof *d->readers);
	d->stock = rd_xcalloc((size_t)c->sems + 1, sizeof *d->stock);
	d->pending = rd_xcalloc((size_t)c->variables + 1, sizeof *d->pending);
	d->known = rd_xcalloc((size_t)c->variables + 1, 1);
	for (uint32_t i = 0; i < c->sems; i++)
		d->stock[i] = exec_sem_initial(c->x, i);
}

void sched_release(struct predict_search *s)
{
	struct sched *d = &s->sched;

	RD_FREE(d->at, d->readers, d->stock, d->pending, d->known, d->touched, d->steps, d->frames,
		d->choices);
	rd_tuples_release(&d->seen);
}

static uint32_t readers_in(const struct core *c, const struct core_list *l, uint32_t of, const uint32_t *p)
{
	uint32_t n = 0;

	for (uint32_t i = l->first[of]; i < l->first[of + 1]; i++)
		n += core_keeps(c, l->item[i]) && core_in(c, p, l->item[i]);
	return n;
}

/* Counts the readers of the initial value when the variable is first used. */
static void meet_variable(struct predict_search *s, const uint32_t *p, uint32_t variable)
{
	struct sched *d = &s->sched;

	if (d->known[variable])
		return;
	d->known[variable] = 1;
	RD_GROW(d->touched, d->touched_capacity, d->touched_count + 1);
	d->touched[d->touched_count++] = variable;
	d->pending[variable] = readers_in(s->c, &s->c->initial_readers, variable, p);
}

static bool may_write(struct predict_search *s, const uint32_t *p, uint32_t e)
{
	const struct event *v = &s->c->events[e];

	meet_variable(s, p, v->object);
	return s->sched.pending[v->object] == (v->kind == EXEC_UPDATE && core_keeps(s->c, e));
}

static bool enabled(struct predict_search *s, const uint32_t *p, uint32_t e)
{
	const struct core *c = s->c;
	const struct event *v = &c->events[e];
	const uint32_t *row = order_row(s, e);

	for (uint32_t t = 0; t < c->threads; t++)
		if (row[t] > s->sched.at[t] && t != v->thread)
			return false;
	switch (v->kind) {
	case EXEC_LOCK:
	case EXEC_WRLOCK: return !s->sched.readers[v->object];
	case EXEC_RDLOCK: return s->sched.readers[v->object] != EXCLUSIVE;
	case EXEC_TAKE: return s->sched.stock[v->object] > 0;
	case EXEC_WRITE:
	case EXEC_UPDATE: return !(c->rf || c->loops) || may_write(s, p, e);
	default: return true;
	}
}

static bool decides(const struct core *c, uint32_t e)
{
	uint8_t kind = c->events[e].kind;
	return exec_acquires(kind) || kind == EXEC_TAKE || ((c->rf || c->loops) && exec_writes(kind));
}

static void release_lock(struct predict_search *s, const struct event *v, bool undo)
{
	const struct section *o = &s->c->sections.list[v->section];
	uint32_t *readers = &s->sched.readers[o->lock];

	if (o->shared)
		*readers += undo ? 1 : -1;
	else
		*readers = undo ? EXCLUSIVE : 0;
}

static uint64_t hash_position(uint32_t thread, uint32_t position)
{
	return rd_mixed((thread + 1) * 0xd1342543de82ef95ull + position * RD_RANDOM_STEP);
}

/* Moves a thread.  The hash of a position vector is the exclusive or of the hashes of its
 * positions, so the hash of the old position is removed and that of the new one is added. */
static void move(struct predict_search *s, const struct event *v, int by)
{
	RD_ASSERT(by == 1 || by == -1);
	uint32_t *at = &s->sched.at[v->thread];

	s->sched.hash ^= hash_position(v->thread, *at);
	*at += by;
	s->sched.hash ^= hash_position(v->thread, *at);
}

static void run(struct predict_search *s, const uint32_t *p, uint32_t e)
{
	const struct core *c = s->c;
	struct sched *d = &s->sched;
	const struct event *v = &c->events[e];
	struct step step = {.event = e};

	move(s, v, 1);
	if (v->section != NONE) {
		if (!exec_acquires(v->kind))
			release_lock(s, v, false);
		else if (v->kind == EXEC_RDLOCK)
			d->readers[v->object]++;
		else
			d->readers[v->object] = EXCLUSIVE;
	} else if (v->kind == EXEC_POST || v->kind == EXEC_TAKE) {
		d->stock[v->object] += v->kind == EXEC_POST ? 1 : -1;
	} else if ((c->rf || c->loops) && exec_is_access(v->kind)) {
		meet_variable(s, p, v->object);
		step.pending = d->pending[v->object];
		if (exec_reads(v->kind) && core_keeps(c, e))
			d->pending[v->object]--;
		if (exec_writes(v->kind))
			d->pending[v->object] = readers_in(c, &c->readers, e, p);
	}
	RD_GROW(d->steps, d->step_capacity, d->step_count + 1);
	d->steps[d->step_count++] = step;
}

static void undo(struct predict_search *s)
{
	RD_ASSERT(s->sched.step_count > 0);
	struct sched *d = &s->sched;
	struct step *step = &d->steps[--d->step_count];
	const struct event *v = &s->c->events[step->event];

	move(s, v, -1);
	if (v->section != NONE) {
		if (!exec_acquires(v->kind))
			release_lock(s, v, true);
		else if (v->kind == EXEC_RDLOCK)
			d->readers[v->object]--;
		else
			d->readers[v->object] = 0;
	} else if (v->kind == EXEC_POST || v->kind == EXEC_TAKE) {
		d->stock[v->object] -= v->kind == EXEC_POST ? 1 : -1;
	} else if ((s->c->rf || s->c->loops) && exec_is_access(v->kind)) {
		d->pending[v->object] = step->pending;
	}
}

void sched_reset(struct predict_search *s)
{
	struct sched *d = &s->sched;

	while (d->step_count)
		undo(s);
	for (size_t i = 0; i < d->touched_count; i++)
		d->known[d->touched[i]] = 0;
	d->touched_count = d->frame_count = d->choice_count = 0;
	rd_tuples_clear(&d->seen);
	d->hash = 0;
}

/* Runs all events that cannot disable others. */
static void run_free(struct predict_search *s, const uint32_t *p)
{
	const struct core *c = s->c;
	bool again = true;

	while (again) {
		again = false;
		for (uint32_t t = 0; t < c->threads; t++) {
			while (s->sched.at[t] < p[t]) {
				uint32_t e = core_event(c, t, s->sched.at[t]);
				if (decides(c, e) || !enabled(s, p, e))
					break;
				run(s, p, e);
				s->work -= s->cost;
				again = true;
			}
		}
	}
}

/* Collects the events that can run and can disable others, in trace order.  Returns false if the
 * ideal is complete. */
static bool collect(struct predict_search *s, const uint32_t *p)
{
	const struct core *c = s->c;
	struct sched *d = &s->sched;
	size_t begin = d->choice_count;
	bool left = false;

	for (uint32_t t = 0; t < c->threads; t++) {
		if (d->at[t] >= p[t])
			continue;
		left = true;
		uint32_t e = core_event(c, t, d->at[t]);
		if (!enabled(s, p, e))
			continue;
		RD_GROW(d->choices, d->choice_capacity, d->choice_count + 1);
		size_t i = d->choice_count++;
		for (; i > begin && d->choices[i - 1] > e; i--)
			d->choices[i] = d->choices[i - 1];
		d->choices[i] = e;
	}
	return left;
}

static bool back(struct predict_search *s, const uint32_t *p)
{
	struct sched *d = &s->sched;

	while (d->frame_count) {
		struct frame *f = &d->frames[d->frame_count - 1];
		while (d->step_count > f->steps)
			undo(s);
		if (f->next < f->end) {
			run(s, p, d->choices[f->next++]);
			d->choice_count = f->end;
			return true;
		}
		d->choice_count = f->choices;
		d->frame_count--;
	}
	return false;
}

static bool was_here(struct predict_search *s)
{
	bool is_new;

	rd_tuples_put(&s->sched.seen, s->sched.at, s->c->threads, s->sched.hash, &is_new);
	return !is_new;
}

/* Takes the first of the collected events.  If there is none, returns to an earlier choice that
 * has another alternative.  Returns false if no alternative is left. */
static bool choose(struct predict_search *s, const uint32_t *p, size_t begin, bool greedy)
{
	RD_ASSERT(begin <= s->sched.choice_count);
	struct sched *d = &s->sched;
	size_t n = d->choice_count - begin;

	if (!n || (n > 1 && !greedy && was_here(s))) {
		d->choice_count = begin;
		return !greedy && back(s, p);
	}
	uint32_t e = d->choices[begin];
	if (n == 1 || greedy) {
		d->choice_count = begin;
	} else {
		RD_GROW(d->frames, d->frame_capacity, d->frame_count + 1);
		d->frames[d->frame_count++] = (struct frame){d->step_count, begin, begin + 1, begin + n};
	}
	run(s, p, e);
	return true;
}

enum answer sched_run(struct predict_search *s, const uint32_t *p, bool greedy)
{
	struct sched *d = &s->sched;

	for (;;) {
		run_free(s, p);
		size_t begin = d->choice_count;
		if (!collect(s, p))
			return ANSWER_YES;
		s->work -= s->cost;
		if (s->work < 0)
			return ANSWER_UNKNOWN;
		if (!choose(s, p, begin, greedy))
			return ANSWER_NO;
	}
}
