// SPDX-License-Identifier: Apache-2.0
/*
 * Finds what kept a thread of a replay from its goal.  In: boards and the steering memory.  Out: in
 * the result, the obstacle, which is a blocking operation, a failed attempt to lock, or a spin; and
 * the thread that went past its goal.
 */
#include "replay/explain-int.h"
#include "base/error.h"
#include "replay/graph-int.h"
#include "replay/run-int.h"
#include "trace/event.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Returns true if the wait can be ended only by threads that are stopped at their goals. */
static bool is_for_goals(const struct board *b, const struct board_row *waits)
{
	if (waits->timed || b->strangers || b->others || b->catches ||
	    raddle_class(waits->kind) == RADDLE_CLASS_CHANNEL)
		return false;
	for (size_t i = 0; i < b->count; i++)
		if (board_is_alive(&b->rows[i]) && b->rows[i].state != RADDLE_SLOT_GOAL &&
		    (b->rows[i].state != RADDLE_SLOT_BLOCKED || b->rows[i].timed))
			return false;
	return true;
}

/* If the thread that the plan waits for is blocked in an operation, stores the object and its
 * owner. */
void obstacle_note_block(struct replay *r, const struct board *b)
{
	struct explainer e = {&r->plan, b, r->request->program->sites, r->watch.pid};
	struct replay_obstacle *o = &r->result->obstacle;
	uint32_t position = explain_awaited(&e), owner;
	const struct board_row *row = position == RADDLE_STEER_NONE ? NULL : board_of_plan(b, position);
	struct rd_buf name = RD_BUF_INIT;

	if (!row || row->state != RADDLE_SLOT_BLOCKED)
		return;
	explain_object(&e, row, &name);
	owner = graph_owner(b, NULL, (uint32_t)(row - b->rows));
	*o = (struct replay_obstacle){.thread = replay_thread_name(r, b, (uint32_t)(row - b->rows)),
				      .kind = trace_kind(row->kind)->name,
				      .name = replay_keep(r, &name),
				      .owner = owner == RADDLE_STEER_NONE ? NULL
									  : replay_thread_name(r, b, owner),
				      .site = row->site};
	if (is_for_goals(b, row)) {
		r->waiter = (uint32_t)(row - b->rows);
		r->waiter_n = row->n;
	}
}

/* Stores whether the blocked thread continued when the stopped threads were released. */
void obstacle_note_lifted(struct replay *r, const struct board *b)
{
	const struct board_row *row = r->waiter < b->count ? &b->rows[r->waiter] : NULL;

	if (row && r->result->end == REPLAY_EXITED)
		r->result->obstacle.lifted = row->state != RADDLE_SLOT_BLOCKED || row->n > r->waiter_n;
}

/* Stores the name of the lock that a thread failed to take, which is known only while the program
 * is alive. */
void obstacle_name_refused(struct replay *r, const struct board *b)
{
	struct raddle_steer_refusal *f = &r->steer->refusal;
	struct explainer e = {&r->plan, b, r->request->program->sites, r->watch.pid};
	struct rd_buf name = RD_BUF_INIT;
	struct board_row row;

	if (r->refused || b->phase != RADDLE_DIVERGED || !f->kind || f->slot >= b->count)
		return;
	row = b->rows[f->slot];
	row.n = 0; /* the failed attempt is not the thread's current operation */
	row.kind = f->kind;
	row.object = f->object;
	explain_object(&e, &row, &name);
	r->refused = replay_keep(r, &name);
	atomic_store(&f->known, 1);
	syscall(SYS_futex, &f->known, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* Stores a failed trylock as the obstacle: the thread took another path or tried again. */
void obstacle_note_refusal(struct replay *r, const struct board *b)
{
	const struct raddle_steer_refusal *f = &r->steer->refusal;

	if (b->phase != RADDLE_DIVERGED || !f->kind || f->slot != r->steer->difference.slot)
		return;
	r->result->obstacle = (struct replay_obstacle){.thread = replay_thread_name(r, b, f->slot),
						       .kind = trace_kind(f->kind)->name,
						       .name = r->refused,
						       .owner = replay_thread_name(r, b, f->owner),
						       .site = f->site};
}

/* Returns the goal whose thread is stopped before an access to this memory, or -1. */
static int goal_at(const struct replay *r, uint64_t address, uint64_t size)
{
	RD_ASSERT(r->plan.goal_count <= RADDLE_STEER_GOALS);
	for (uint32_t i = 0; i < r->plan.goal_count; i++) {
		const struct raddle_steer_spot *s = &r->steer->spots[i];

		if (size && s->address < address + size && address < s->address + s->size)
			return (int)i;
	}
	return -1;
}

void obstacle_note_spin(struct replay *r, const struct board *b)
{
	const struct raddle_steer_spin *spin = &r->steer->spin;
	const struct trace_site *site;

	if (b->phase != RADDLE_DIVERGED || r->steer->difference.cause != RADDLE_CAUSE_SPINS)
		return;
	site = trace_sites_find(r->request->program->sites, spin->site);
	r->result->obstacle =
		(struct replay_obstacle){.thread = replay_thread_name(r, b, spin->slot),
					 .name = site && site->what && *site->what ? site->what : NULL,
					 .site = spin->site,
					 .address = spin->address,
					 .size = spin->size,
					 .goal = goal_at(r, spin->address, spin->size),
					 .lifted = atomic_load(&r->steer->spin.changed) == 1};
}

/* Stores the name of the thread that went past its goal before the other thread had made its
 * access. */
void obstacle_note_passed(struct replay *r, const struct board *b)
{
	const struct raddle_steer_difference *d = &r->steer->difference;

	if (b->phase != RADDLE_DIVERGED || r->plan.goal_count != 2 || d->slot >= b->count ||
	    (d->cause != RADDLE_CAUSE_PAST && d->cause != RADDLE_CAUSE_ENDED &&
	     d->cause != RADDLE_CAUSE_APART))
		return;
	for (uint32_t i = 0; i < 2; i++)
		if (r->plan.goals[i].thread == b->rows[d->slot].thread)
			r->result->passed = replay_thread_name(r, b, d->slot);
}
