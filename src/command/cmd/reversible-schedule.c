// SPDX-License-Identifier: Apache-2.0
/*
 * From a reversal to a schedule that `raddle replay` enforces.  In: the beginning of a run in which the later
 * event comes first.  Out: its operations in order; either both threads held at their accesses, or the
 * first thread kept before its segment until the second one is past its own.
 *
 * Sites of the full flavour are not those of the record flavour, which is replayed, so accesses are
 * named by their place.
 */
#include "cmd/reversible.h"

#include "base/alloc.h"
#include "reversible/describe.h"

#include <stdlib.h>
#include <string.h>

struct trace_frame reversible_frame(const struct cmd_reversible *c, uint32_t site)
{
	struct trace_frame f = {"", "", 0, 0};

	if (site && trace_sites_frames(c->sites, site, &f, 1))
		return f;
	return (struct trace_frame){"", "", 0, 0};
}

static struct schedule_place place_of(const struct cmd_reversible *c, struct schedule *s, uint32_t site)
{
	struct trace_frame f = reversible_frame(c, site);
	struct schedule_place place = {0};

	if (*f.file) {
		place.file = schedule_text(s, f.file);
		place.function = *f.function ? schedule_text(s, f.function) : NULL;
		place.line = f.line;
		place.column = f.column;
	}
	return place;
}

static void add_op(const struct cmd_reversible *c, struct schedule *s, const struct rev_op *op, uint32_t at)
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
	to->place = place_of(c, s, op->site);
}

static void add_goal(const struct cmd_reversible *c, struct schedule *s, const struct rev_reversal *v,
		     int which)
{
	const struct rev_side *side = &v->side[which];
	struct schedule_goal *h = schedule_add_goal(s);

	h->thread = schedule_text(s, side->thread);
	h->after = which ? rev_counted(&c->result->run, v->pair.u, v->pair.r)
			 : rev_counted(&c->result->run, v->pair.t, v->pair.s);
	h->occurrence = side->instance;
	h->write = side->access == REV_WRITE || side->access == REV_ATOMIC_WRITE;
	h->object = schedule_text(s, v->object);
	h->place = place_of(c, s, side->site);
}

/* Threads that were created do no more than the witness has, until its end. */
static void add_limits(const struct cmd_reversible *c, struct schedule *s, const struct rev_reversal *v)
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

bool reversible_schedule(const struct cmd_reversible *c, const struct rev_reversal *v, struct schedule *s)
{
	schedule_init(s);
	if (!v->replay.count)
		return false;
	s->program = schedule_text(s, c->program);
	s->trace = schedule_text(s, c->trace);
	for (size_t i = 0; i < v->replay.count; i++)
		add_op(c, s, &c->result->run.ops[v->replay.order[i]], v->replay.order[i]);
	/* Who comes to a once first runs its routine. */
	if (v->pair.ops & 4 && s->op_count && !strcmp(s->ops[s->op_count - 1].kind, "once-pass"))
		s->ops[s->op_count - 1].kind = "once-run";
	add_limits(c, s, v);
	if (v->meet) {
		/* The one that came second goes first. */
		add_goal(c, s, v, 1);
		add_goal(c, s, v, 0);
	}
	return !schedule_check(s);
}
