/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts executions that are too large to be searched as a whole into windows.
 *
 * The execution is cut into pieces of N events.  Each piece is searched as a separate execution.
 * Its threads first acquire the locks that they held at the cut, and begin the waits and enter the
 * barriers that they were in.  Semaphores start with the value that they had at the cut.
 * Everything before the cut is assumed to run in recorded order.  Errors that span a cut are lost.
 *
 * Events of a piece are mapped back to the execution.  The events that represent the state at the
 * cut are mapped to the operations that caused it.  They are left out of witnesses, which begin
 * with the recorded prefix.
 */
#include "predict/window-int.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/deadline.h"
#include "base/error.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

struct predict_windows {
	const struct exec *x;
	uint32_t width; /* number of events in a window; 0 for all */
	struct exec part;
	uint32_t *origin; /* the event in the execution of each event of `part` */
	size_t capacity;
	uint32_t begin, end;
	/* Maps each event of the execution to its event in `part`.  It is valid only for the
	 * current window. */
	uint32_t *to_part;
};

static struct exec_event *add(struct predict_windows *w, uint32_t origin)
{
	const struct exec_event *e = &w->x->events[origin];
	struct exec_event *copy = exec_add(&w->part, e->kind, e->thread, e->object);

	*copy = *e;
	RD_GROW(w->origin, w->capacity, w->part.count);
	w->origin[w->part.count - 1] = origin;
	w->to_part[origin] = w->part.count - 1;
	return copy;
}

/* Marks the operations before the cut whose effect lasts beyond it. */
static uint8_t *find_open(const struct exec *x, uint32_t cut)
{
	RD_ASSERT(cut <= x->count);
	uint8_t *open = rd_xcalloc((size_t)cut + 1, 1);
	uint32_t *stack = NULL, n = 0;
	size_t capacity = 0;

	for (uint32_t i = 0; i < cut; i++) {
		const struct exec_event *e = &x->events[i];
		if (e->flags & EXEC_PENDING)
			continue;
		if (exec_acquires(e->kind)) {
			RD_GROW(stack, capacity, (size_t)n + 1);
			stack[n++] = i;
			open[i] = 1;
		} else if (e->kind == EXEC_UNLOCK || e->kind == EXEC_WAIT) {
			uint32_t lock = e->kind == EXEC_WAIT ? e->aux : e->object, k = n;
			while (k && !(x->events[stack[k - 1]].thread == e->thread &&
				      x->events[stack[k - 1]].object == lock))
				k--;
			if (!k)
				continue;
			open[stack[k - 1]] = 0;
			memmove(stack + k - 1, stack + k, (n - k) * sizeof *stack);
			n--;
		}
	}
	free(stack);
	return open;
}

/* Marks the waits and barrier entries that are not finished at the cut. */
static void find_waits(const struct exec *x, uint32_t cut, uint8_t *open)
{
	uint32_t *latest = rd_xmalloc(((size_t)x->threads + 1) * sizeof *latest);

	memset(latest, 0xff, ((size_t)x->threads + 1) * sizeof *latest);
	for (uint32_t i = 0; i < cut; i++) {
		const struct exec_event *e = &x->events[i];
		if (e->kind == EXEC_WAIT || e->kind == EXEC_ENTER)
			latest[e->thread] = i;
		else if ((e->kind == EXEC_WAKE || e->kind == EXEC_EXIT) && !(e->flags & EXEC_PENDING))
			latest[e->thread] = EXEC_NONE;
	}
	for (uint32_t t = 0; t < x->threads; t++)
		if (latest[t] != EXEC_NONE)
			open[latest[t]] = 1;
	free(latest);
}

static void add_sems(struct predict_windows *w)
{
	const struct exec *x = w->x;
	int64_t *value = rd_xcalloc((size_t)x->sems + 1, sizeof *value);

	for (uint32_t s = 0; s < x->sems; s++)
		value[s] = exec_sem_initial(x, s);
	for (uint32_t i = 0; i < w->begin; i++) {
		if (x->events[i].kind == EXEC_POST)
			value[x->events[i].object]++;
		else if (x->events[i].kind == EXEC_TAKE && !(x->events[i].flags & EXEC_PENDING))
			value[x->events[i].object]--;
	}
	for (uint32_t s = 0; s < x->sems; s++)
		exec_sem_init(&w->part, s, value[s]);
	free(value);
}

/* Adds events that represent the state at the cut, that is, at the beginning of the window.  A
 * wait requires that its mutex is held, so the mutex is acquired first. */
static void add_state(struct predict_windows *w)
{
	uint8_t *open = find_open(w->x, w->begin);

	find_waits(w->x, w->begin, open);
	for (uint32_t i = 0; i < w->begin; i++) {
		const struct exec_event *e = &w->x->events[i];
		if (!open[i])
			continue;
		if (e->kind == EXEC_WAIT) {
			struct exec_event *lock = exec_add(&w->part, EXEC_LOCK, e->thread, e->aux);
			lock->flags = EXEC_INITIAL;
			RD_GROW(w->origin, w->capacity, w->part.count);
			w->origin[w->part.count - 1] = i;
		}
		add(w, i)->flags |= EXEC_INITIAL;
	}
	free(open);
	add_sems(w);
}

/* Adds the events of the window.  Drops edges from events before the window, because those events
 * have already happened. */
static void add_window(struct predict_windows *w)
{
	for (uint32_t i = w->begin; i < w->end; i++) {
		struct exec_event *e = add(w, i);
		if (e->kind == EXEC_WAKE && e->aux < EXEC_MATCH)
			e->aux = e->aux < w->begin ? EXEC_NONE : w->to_part[e->aux];
	}
}

/* Finds the calls of pthread_once() and the like that did not run the routine, because it ran
 * before the cut.  Replaces them by events that order nothing. */
static void drop_passes(struct predict_windows *w)
{
	uint8_t *runs = rd_xcalloc((size_t)w->x->onces + 1, 1);

	for (size_t i = 0; i < w->part.count; i++) {
		struct exec_event *e = &w->part.events[i];
		if (e->kind == EXEC_ONCE_RUN)
			runs[e->object] = 1;
		if (e->kind == EXEC_ONCE_PASS && !runs[e->object])
			*e = (struct exec_event){
				.kind = EXEC_BEGIN, .thread = e->thread, .site = e->site, .aux = EXEC_NONE};
	}
	free(runs);
}

static void map_witness(const struct predict_windows *w, struct predict_witness *v)
{
	uint32_t *order, n = 0;
	size_t length = v->order ? v->length : w->part.count;

	order = rd_xmalloc(((size_t)w->begin + length + 1) * sizeof *order);
	for (uint32_t i = 0; i < w->begin; i++)
		if (!(w->x->events[i].flags & EXEC_PENDING))
			order[n++] = i;
	for (size_t i = 0; i < length; i++) {
		uint32_t e = v->order ? v->order[i] : i, done = v->done[w->part.events[e].thread];
		if ((v->order || (done != EXEC_NONE && e <= done)) && w->origin[e] >= w->begin)
			order[n++] = w->origin[e];
	}
	free(v->order);
	v->order = order;
	v->length = n;
	for (uint32_t i = 0; i < n; i++)
		v->done[w->x->events[order[i]].thread] = order[i];
}

void predict_windows_gather(struct predict_windows *w, struct predict_result *from,
			    struct predict_result *out)
{
	for (size_t i = 0; i < from->race_count; i++) {
		struct predict_race *r = &from->races[i];
		r->first = w->origin[r->first];
		r->second = w->origin[r->second];
		map_witness(w, &r->witness);
		RD_GROW(out->races, out->race_capacity, out->race_count + 1);
		out->races[out->race_count++] = *r;
	}
	for (size_t i = 0; i < from->deadlock_count; i++) {
		struct predict_deadlock *d = &from->deadlocks[i];
		for (uint32_t k = 0; k < d->count; k++)
			d->stops[k] = w->origin[d->stops[k]];
		map_witness(w, &d->witness);
		RD_GROW(out->deadlocks, out->deadlock_capacity, out->deadlock_count + 1);
		out->deadlocks[out->deadlock_count++] = *d;
	}
	from->race_count = from->deadlock_count = 0;
}

void predict_windows_end(struct predict_windows *w, struct predict_result *from, struct predict_result *out)
{
	predict_windows_gather(w, from, out);
	for (int c = 0; c < 2; c++) {
		out->stats[c].candidates += from->stats[c].candidates;
		out->stats[c].searches += from->stats[c].searches;
		out->stats[c].unknown += from->stats[c].unknown;
	}
	if (from->racy && !out->racy)
		out->racy = rd_xcalloc(w->x->count + 1, 1);
	for (size_t i = 0; from->racy && i < w->part.count; i++)
		out->racy[w->origin[i]] |= from->racy[i];
	out->kept += from->kept;
	out->late |= from->late;
	out->looked |= from->looked;
	RD_FREE(from->races, from->deadlocks, from->racy);
	*from = (struct predict_result){0};
	exec_release(&w->part);
	out->pieces++;
}

static bool has_unsure(const struct exec *x, uint32_t end)
{
	for (uint32_t i = 0; i < end; i++)
		if (x->events[i].flags & EXEC_UNSURE)
			return true;
	return false;
}

int64_t predict_windows_deadline(const struct predict_windows *w, int64_t deadline_ns)
{
	return rd_deadline_share(deadline_ns, (double)(w->end - w->begin) / (double)(w->x->count - w->begin));
}

struct predict_windows *predict_windows_open(const struct exec *x, const struct predict_opts *o)
{
	struct predict_windows *w = rd_xcalloc(1, sizeof *w);

	*w = (struct predict_windows){.x = x, .width = o->window, .end = o->begin};
	w->to_part = rd_xcalloc(x->count + 1, sizeof *w->to_part);
	return w;
}

const struct exec *predict_windows_next(struct predict_windows *w)
{
	const struct exec *x = w->x;

	if (w->end >= x->count)
		return NULL;
	w->begin = w->end;
	w->end = w->width && x->count - w->begin > w->width ? w->begin + w->width : (uint32_t)x->count;
	exec_init(&w->part);
	add_state(w);
	add_window(w);
	drop_passes(w);
	w->part.unsure = has_unsure(x, w->begin);
	w->part.threads = x->threads;
	w->part.locks = x->locks;
	w->part.variables = x->variables;
	return &w->part;
}

void predict_windows_close(struct predict_windows *w)
{
	if (!w)
		return;
	RD_FREE(w->origin, w->to_part);
	free(w);
}
