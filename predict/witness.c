/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Witnesses: from positions and orders of the reduced execution to events of the
 * execution, and from those to the schedule a replayer enforces.
 */
#include "predict/internal.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

void predict_witness_of_ideal(const struct core *c, const uint32_t *p, struct predict_witness *w)
{
	w->done = rd_xmalloc(((size_t)c->threads + 1) * sizeof *w->done);
	for (uint32_t t = 0; t < c->threads; t++)
		w->done[t] = p[t] ? c->events[core_event(c, t, p[t] - 1)].source : EXEC_NONE;
	w->order = NULL;
	w->length = 0;
}

void predict_witness_of_search(const struct search *s, struct predict_witness *w)
{
	predict_witness_of_ideal(s->c, s->ideal, w);
	w->length = s->schedule_length;
	w->order = rd_xmalloc((w->length + 1) * sizeof *w->order);
	for (size_t i = 0; i < w->length; i++)
		w->order[i] = s->c->events[s->schedule[i]].source;
}

/* Objects that only one thread of the schedule touches constrain nothing. */
struct users {
	uint16_t *lock, *cond, *sem; /* the only thread; UINT16_MAX none, UINT16_MAX - 1 several */
};

static void note(uint16_t *user, uint16_t thread)
{
	*user = *user == UINT16_MAX || *user == thread ? thread : UINT16_MAX - 1;
}

static uint16_t *user_of(const struct users *u, const struct exec_event *e)
{
	switch (e->kind) {
	case EXEC_LOCK:
	case EXEC_RDLOCK:
	case EXEC_WRLOCK:
	case EXEC_UNLOCK:
	case EXEC_BUSY:
		return &u->lock[e->object];
	case EXEC_SIGNAL:
	case EXEC_BROADCAST:
		return &u->cond[e->object];
	case EXEC_POST:
	case EXEC_TAKE:
		return &u->sem[e->object];
	default:
		return NULL;
	}
}

static uint16_t *no_users(size_t n)
{
	uint16_t *p = rd_xmalloc((n + 1) * sizeof *p);
	memset(p, 0xff, (n + 1) * sizeof *p);
	return p;
}

static size_t collect(const struct exec *x, const struct predict_witness *w, uint32_t *events)
{
	size_t n = 0;

	if (w->order) {
		for (size_t i = 0; i < w->length; i++)
			if (!exec_is_access(x->events[w->order[i]].kind))
				events[n++] = w->order[i];
		return n;
	}
	for (uint32_t i = 0; i < x->count; i++) {
		uint32_t done = w->done[x->events[i].thread];
		if (done != EXEC_NONE && i <= done && !exec_is_access(x->events[i].kind))
			events[n++] = i;
	}
	return n;
}

size_t predict_schedule(const struct exec *x, const struct predict_witness *w, uint32_t **events)
{
	struct users u = {no_users(x->locks), no_users(x->conds), no_users(x->sems)};
	uint32_t *list = rd_xmalloc(((w->order ? w->length : x->count) + 1) * sizeof *list);
	size_t n = collect(x, w, list), kept = 0;

	for (size_t i = 0; i < n; i++) {
		const struct exec_event *e = &x->events[list[i]];
		uint16_t *user = user_of(&u, e);
		if (user)
			note(user, e->thread);
		if (e->kind == EXEC_WAIT) {
			note(&u.lock[e->aux], e->thread);
			note(&u.cond[e->object], e->thread);
		}
	}
	for (size_t i = 0; i < n; i++) {
		uint16_t *user = user_of(&u, &x->events[list[i]]);
		if (!user || *user == UINT16_MAX - 1)
			list[kept++] = list[i];
	}
	free(u.lock);
	free(u.cond);
	free(u.sem);
	*events = list;
	return kept;
}

size_t predict_reversals(const struct exec *x, const struct predict_witness *w)
{
	uint32_t latest = 0;
	size_t n = 0;

	for (size_t i = 0; w->order && i < w->length; i++) {
		uint32_t e = w->order[i];
		if (exec_is_access(x->events[e].kind))
			continue;
		n += e < latest;
		latest = e > latest ? e : latest;
	}
	return n;
}
