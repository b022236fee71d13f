// SPDX-License-Identifier: Apache-2.0
/*
 * Turns a reversal into a schedule that a replay can enforce.  The schedule is the beginning of a
 * run in which the later event of a pair comes first, as a list of operations.  Either both threads
 * are stopped at their accesses, or the first thread is stopped before its segment until the second
 * thread has passed its own segment.
 *
 * The replay uses the flavour `record`, whose sites differ from those of the flavour `full`, so
 * accesses are identified by their place in the source.
 */
#include "reversible/schedule.h"

#include "base/alloc.h"
#include "base/error.h"
#include "finding/place.h"
#include "reversible/describe.h"

#include <stdlib.h>
#include <string.h>

/* The verdict, and the sites of the trace. */
struct rev_in {
	const struct rev_result *result;
	const struct trace_sites *sites;
};

static void add_op(const struct rev_in *c, struct schedule *s, const struct rev_op *op, uint32_t at)
{
	struct schedule_op *to;

	if (!raddle_is_counted(op->event))
		return;
	to = schedule_add_op(s);
	to->thread = schedule_text(s, c->result->names[op->thread]);
	to->n = op->counted;
	to->kind = trace_kind(op->event)->name;
	to->object = schedule_text(s, rev_object_name(c->result, op));
	to->seen = at + 1;
	to->place = schedule_place_of(s, c->sites, op->site);
}

static void add_goal(const struct rev_in *c, struct schedule *s, const struct rev_reversal *v, int which)
{
	const struct rev_side *side = &v->side[which];
	struct schedule_goal *h = schedule_add_goal(s);

	h->thread = schedule_text(s, side->thread);
	h->after = which ? rev_counted(&c->result->run, v->pair.u, v->pair.r)
			 : rev_counted(&c->result->run, v->pair.t, v->pair.s);
	h->occurrence = side->instance;
	h->write = side->access == REV_WRITE || side->access == REV_ATOMIC_WRITE;
	h->object = schedule_text(s, v->object);
	h->place = schedule_place_of(s, c->sites, side->site);
}

/* Adds limits to the schedule.  Until the end of the witness, threads that were created must not do
 * any operations that the witness does not contain. */
static void add_limits(const struct rev_in *c, struct schedule *s, const struct rev_reversal *v)
{
	const struct rev_run *run = &c->result->run;
	uint32_t *done = rd_xcalloc(run->thread_count + 1, sizeof *done);

	for (size_t i = 0; i < v->replay.count; i++) {
		const struct rev_op *op = &run->ops[v->replay.order[i]];

		done[op->thread] = op->counted + 1;
		if (op->kind == EXEC_FORK && !done[op->object])
			done[op->object] = 1;
	}
	for (uint32_t t = 0; t < run->thread_count; t++) {
		struct schedule_limit *limit;

		if (!done[t] || t == v->pair.u || (v->meet && t == v->pair.t))
			continue;
		limit = schedule_add_limit(s);
		limit->thread = schedule_text(s, c->result->names[t]);
		limit->n = done[t] - 1;
	}
	free(done);
}

bool rev_schedule(const struct rev_result *x, const struct trace_sites *sites, const struct rev_reversal *v,
		  struct schedule *s)
{
	const struct rev_in in = {x, sites}, *c = &in;

	schedule_init(s);
	if (!v->replay.count)
		return false;
	for (size_t i = 0; i < v->replay.count; i++) {
		RD_ASSERT(v->replay.order[i] < x->run.op_count);
		add_op(c, s, &x->run.ops[v->replay.order[i]], v->replay.order[i]);
	}
	/* The first thread that reaches a once control runs its routine. */
	if (v->pair.ops & 4 && s->op_count && !strcmp(s->ops[s->op_count - 1].kind, "once-pass"))
		s->ops[s->op_count - 1].kind = "once-run";
	add_limits(c, s, v);
	if (v->meet) {
		/* The event that came second in the run now goes first. */
		add_goal(c, s, v, 1);
		add_goal(c, s, v, 0);
	}
	return !schedule_check(s);
}
