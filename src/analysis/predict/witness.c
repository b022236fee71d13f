/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes witnesses: orders of events that lead to an error.  The search works on the reduced
 * execution, and this code maps its results to events of the full execution. plan.c turns a
 * witness into a plan, which a replay enforces.
 */
#include "predict/internal-int.h"

#include "base/alloc.h"

void predict_witness_of_ideal(const struct core *c, const uint32_t *p, struct predict_witness *w)
{
	w->done = rd_xmalloc(((size_t)c->x->threads + 1) * sizeof *w->done);
	for (uint32_t t = 0; t < c->x->threads; t++) {
		uint32_t at = p[c->lane_of[t]], end = at < c->lane_to[t] ? at : c->lane_to[t];
		bool runs = c->lane_from[t] < end; /* NONE is larger than any position */
		w->done[t] = runs ? c->events[core_event(c, c->lane_of[t], end - 1)].source : EXEC_NONE;
	}
	w->order = NULL;
	w->length = 0;
}

void predict_witness_of_search(const struct predict_search *s, struct predict_witness *w)
{
	predict_witness_of_ideal(s->c, s->ideal, w);
	w->length = s->schedule_length;
	w->order = rd_xmalloc((w->length + 1) * sizeof *w->order);
	for (size_t i = 0; i < w->length; i++)
		w->order[i] = s->c->events[s->schedule[i]].source;
}
