// SPDX-License-Identifier: Apache-2.0
/*
 * Turns a witness into a line of events and operations.
 *
 * Before a join, the joined thread is run to its end, because the witness leaves out events that no
 * other thread depends on.  An access represents the following accesses of the same thread to the
 * same variable, until another thread touches the variable or the thread does an operation.  All of
 * them lie between the same two operations, so whatever separates one of them from another thread's
 * access separates all of them.
 */
#include "predict/line-int.h"

#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

uint32_t *predict_unset(size_t n)
{
	uint32_t *p = rd_xmalloc((n + 1) * sizeof *p);

	memset(p, 0xff, (n + 1) * sizeof *p);
	return p;
}

/* ---- data that all lines of an execution share ---- */

/* SHARED is set if several threads use the variable, and WRITTEN if it is written.  Its accesses
 * matter if both are set. */
enum { SHARED = 1, WRITTEN = 2, MATTERS = SHARED | WRITTEN };

static uint8_t *find_mattering(const struct exec *x)
{
	uint8_t *state = rd_xcalloc((size_t)x->variables + 1, 1);
	uint32_t *user = predict_unset(x->variables);

	for (size_t i = 0; i < x->count; i++) {
		const struct exec_event *e = &x->events[i];
		if (!exec_is_access(e->kind))
			continue;
		state[e->object] |= (uint8_t)(exec_writes(e->kind) ? WRITTEN : 0);
		if (user[e->object] == NO_OP)
			user[e->object] = e->thread;
		else if (user[e->object] != e->thread)
			state[e->object] |= SHARED;
	}
	free(user);
	return state;
}

static void keep_mattering(struct lines *s)
{
	const struct exec *x = s->x;
	uint8_t *state = find_mattering(x);
	size_t capacity = 0;

	for (uint32_t i = 0; i < x->count; i++) {
		const struct exec_event *e = &x->events[i];
		if (exec_is_access(e->kind) && state[e->object] != MATTERS)
			continue;
		if (s->kept_count == capacity)
			RD_GROW(s->kept, capacity, (size_t)s->kept_count + 1);
		s->kept[s->kept_count++] = i;
		if (e->kind != EXEC_FORK)
			continue;
		RD_GROW(s->forks, s->fork_capacity, s->fork_count + 1);
		s->forks[s->fork_count++] = i;
	}
	free(state);
}

void predict_lines_init(struct lines *s, const struct exec *x)
{
	*s = (struct lines){.x = x};
	keep_mattering(s);
	s->next = predict_unset(s->kept_count);
	s->op_at = predict_unset(s->kept_count);
	s->begin = predict_unset(x->threads);
	s->number = predict_unset(x->variables);
	for (uint32_t i = s->kept_count; i-- > 0;) {
		uint32_t *begin = &s->begin[x->events[s->kept[i]].thread];
		s->next[i] = *begin;
		*begin = i;
	}
}

void predict_lines_release(struct lines *s)
{
	RD_FREE(s->kept, s->next, s->begin, s->forks, s->op_at, s->number);
	*s = (struct lines){0};
}

/* Returns the number of kept events before event `e`. */
static uint32_t place_of(const struct lines *s, uint32_t e)
{
	RD_ASSERT(e <= s->x->count);
	return (uint32_t)rd_lower_bound(s->kept, 0, s->kept_count, e);
}

/* ---- the events of a line ---- */

static void run_to(struct event_line *l, uint32_t thread, uint32_t last);

static void run_event(struct event_line *l, uint32_t place)
{
	RD_ASSERT(place < l->of->kept_count);
	uint32_t i = l->of->kept[place];
	const struct exec_event *e = &l->x->events[i];

	if (e->kind == EXEC_JOIN && i)
		run_to(l, e->object, i - 1);
	l->at[e->thread] = l->of->next[place];
	if (l->count == l->capacity)
		RD_GROW(l->events, l->capacity, l->count + 1);
	l->events[l->count++] = i;
}

/* Runs the thread up to and including event `last`. */
static void run_to(struct event_line *l, uint32_t thread, uint32_t last)
{
	while (l->at[thread] != NO_OP && l->of->kept[l->at[thread]] <= last)
		run_event(l, l->at[thread]);
}

static void lay_out(struct event_line *l, const struct predict_witness *w)
{
	const struct exec *x = l->x;
	uint32_t end = 0;

	for (size_t i = 0; w->order && i < w->length; i++)
		run_to(l, x->events[w->order[i]].thread, w->order[i]);
	for (uint32_t t = 0; t < x->threads && !w->order; t++)
		if (w->done[t] != EXEC_NONE && w->done[t] >= end)
			end = w->done[t] + 1;
	end = end ? place_of(l->of, end) : 0;
	for (uint32_t i = 0; i < end; i++) {
		uint32_t e = l->of->kept[i], thread = x->events[e].thread;
		if (w->done[thread] != EXEC_NONE && e <= w->done[thread] && l->at[thread] == i)
			run_event(l, i);
	}
}

/* ---- the operations of a line ---- */

/* Returns true if the event is an operation of the line.  Operations are the synchronisation
 * events, except wakes and events that are parts of another operation.  A wake and the acquisition
 * after it are one operation. */
static bool is_op(const struct exec_event *e)
{
	return !exec_is_access(e->kind) && e->kind != EXEC_WAKE && !(e->flags & EXEC_PART);
}

static void number_ops(struct event_line *l)
{
	const struct exec *x = l->x;
	uint32_t *wake = predict_unset(x->threads),
		 *length = rd_xcalloc((size_t)x->threads + 1, sizeof *length);

	for (size_t i = 0; i < l->count; i++) {
		const struct exec_event *e = &x->events[l->events[i]];
		uint32_t *number = &l->thread_of[e->thread];
		*number = *number == NO_OP ? l->threads++ : *number;
		if (e->kind == EXEC_WAKE)
			wake[e->thread] = l->events[i];
		if (!is_op(e))
			continue;
		l->ops[l->op_count] = l->events[i];
		l->op_thread[l->op_count] = *number;
		l->index[l->op_count] = ++length[*number];
		l->wake[l->op_count++] = wake[e->thread];
		wake[e->thread] = NO_OP;
	}
	l->first = rd_xcalloc((size_t)l->threads + 1, sizeof *l->first);
	for (uint32_t t = 0; t < l->threads; t++)
		l->first[t + 1] = l->first[t] + length[t];
	l->by_thread = rd_xmalloc(((size_t)l->op_count + 1) * sizeof *l->by_thread);
	for (uint32_t i = 0; i < l->op_count; i++)
		l->by_thread[l->first[l->op_thread[i]] + l->index[i] - 1] = i;
	free(wake);
	free(length);
}

static void find_notes(struct event_line *l, struct lines *s)
{
	l->note = predict_unset(l->op_count);
	for (uint32_t i = 0; i < l->op_count; i++) {
		const struct exec_event *wake = l->wake[i] != NO_OP ? &l->x->events[l->wake[i]] : NULL;
		if (wake && wake->aux < EXEC_MATCH)
			l->note[i] = s->op_at[place_of(s, wake->aux)];
		uint8_t kind = l->x->events[l->ops[i]].kind;
		if (kind == EXEC_SIGNAL || kind == EXEC_BROADCAST)
			s->op_at[place_of(s, l->ops[i])] = i;
	}
	for (uint32_t i = 0; i < l->op_count; i++) {
		uint8_t kind = l->x->events[l->ops[i]].kind;
		if (kind == EXEC_SIGNAL || kind == EXEC_BROADCAST)
			s->op_at[place_of(s, l->ops[i])] = NO_OP;
	}
}

/* ---- the variables of a line ---- */

static void number_variables(struct event_line *l, struct lines *s)
{
	l->variable = predict_unset(l->count);
	for (size_t i = 0; i < l->count; i++) {
		const struct exec_event *e = &l->x->events[l->events[i]];
		if (!exec_is_access(e->kind))
			continue;
		if (s->number[e->object] == NO_OP)
			s->number[e->object] = l->variables++;
		l->variable[i] = s->number[e->object];
	}
	for (size_t i = 0; i < l->count; i++)
		if (l->variable[i] != NO_OP)
			s->number[l->x->events[l->events[i]].object] = NO_OP;
}

/* The latest access to a variable, and the kinds of all accesses to it. */
struct last_access {
	uint32_t thread, segment;
	bool wrote;
	uint8_t state;
};

static struct last_access *use_variables(const struct event_line *l)
{
	struct last_access *uses = rd_xmalloc(((size_t)l->variables + 1) * sizeof *uses);

	for (uint32_t v = 0; v < l->variables; v++)
		uses[v] = (struct last_access){.thread = NO_OP};
	for (size_t i = 0; i < l->count; i++) {
		const struct exec_event *e = &l->x->events[l->events[i]];
		struct last_access *u = l->variable[i] != NO_OP ? &uses[l->variable[i]] : NULL;
		if (!u)
			continue;
		u->state |= (uint8_t)((exec_writes(e->kind) ? WRITTEN : 0) |
				      (u->thread != NO_OP && u->thread != e->thread ? SHARED : 0));
		u->thread = e->thread;
	}
	for (uint32_t v = 0; v < l->variables; v++)
		uses[v].thread = NO_OP;
	return uses;
}

static void find_steps(struct event_line *l)
{
	struct last_access *uses = use_variables(l);
	uint32_t *segment = rd_xcalloc((size_t)l->x->threads + 1, sizeof *segment);

	l->steps = rd_xmalloc((l->count + 1) * sizeof *l->steps);
	for (size_t i = 0; i < l->count; i++) {
		const struct exec_event *e = &l->x->events[l->events[i]];
		struct last_access *u = l->variable[i] != NO_OP ? &uses[l->variable[i]] : NULL;
		bool writes = exec_writes(e->kind);
		segment[e->thread] += !u;
		if (u && u->state != MATTERS)
			continue;
		if (u && u->thread == e->thread && u->segment == segment[e->thread] && (u->wrote || !writes))
			continue;
		if (u)
			*u = (struct last_access){e->thread, segment[e->thread], writes, u->state};
		l->steps[l->step_count++] = (uint32_t)i;
	}
	free(segment);
	free(uses);
}

void predict_line_make(struct event_line *l, struct lines *of, const struct predict_witness *w,
		       const uint32_t *targets, uint32_t count)
{
	RD_ASSERT(w->done != NULL);
	const struct exec *x = of->x;

	*l = (struct event_line){.x = x, .of = of};
	l->at = rd_xmalloc(((size_t)x->threads + 1) * sizeof *l->at);
	memcpy(l->at, of->begin, ((size_t)x->threads + 1) * sizeof *l->at);
	lay_out(l, w);
	for (uint32_t i = 0; i < count; i++)
		if (targets[i])
			run_to(l, x->events[targets[i]].thread, targets[i] - 1);
	l->thread_of = predict_unset(x->threads);
	l->ops = rd_xmalloc((l->count + 1) * sizeof *l->ops);
	l->index = rd_xmalloc((l->count + 1) * sizeof *l->index);
	l->op_thread = rd_xmalloc((l->count + 1) * sizeof *l->op_thread);
	l->wake = rd_xmalloc((l->count + 1) * sizeof *l->wake);
	number_ops(l);
	find_notes(l, of);
	number_variables(l, of);
	find_steps(l);
}

void predict_line_release(struct event_line *l)
{
	RD_FREE(l->events, l->variable, l->steps, l->ops, l->index, l->op_thread, l->wake, l->note,
		l->thread_of, l->first, l->by_thread, l->at);
	*l = (struct event_line){0};
}
