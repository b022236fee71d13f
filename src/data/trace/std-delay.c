/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles lines of STD text that come too early.
 *
 * If a program logs each operation after performing it, another thread may log the next operation
 * first.  For example, the log may show the acquisition of a lock before the release that made it
 * possible.  With --force, the import delays the thread of such a line until its event is
 * possible.  It also delays events of other threads that depend on this event.
 */
#include "trace/std-int.h"

#include "base/alloc.h"
#include "base/error.h"

static bool is_delayed(const struct std_thread *t)
{
	return t->delayed_first < t->delayed_count;
}

/* Returns the thread that an event forks or joins.  The pointer is valid until the next name is
 * interned. */
static struct std_thread *other_thread(struct std_import *in, const struct std_event *e)
{
	uint32_t number = std_operand_thread(in, e);
	return &in->threads[number];
}

static bool is_lock_taken(struct std_import *in, const struct std_event *e)
{
	uint32_t number = rd_names_put(&in->names[STD_LOCKS], e->operand.p, e->operand.n);
	const struct std_lock *l = std_lock_of(in, number);
	if (l->owner != STD_NO_OWNER)
		return l->owner != e->thread + 1;
	return l->readers > 0 && e->operation->action == STD_ACQUIRE;
}

static bool is_too_early(struct std_import *in, const struct std_event *e)
{
	if (in->threads[e->thread].fork_delayed)
		return true;
	switch (e->operation->action) {
	case STD_ACQUIRE:
	case STD_SHARE: return is_lock_taken(in, e);
	case STD_JOIN: return is_delayed(other_thread(in, e));
	default: return false;
	}
}

static void delay(struct std_import *in, const struct std_event *e)
{
	RD_ASSERT(in->opts->force);
	struct std_thread *t = &in->threads[e->thread];
	if (!is_delayed(t)) {
		t->delayed_first = t->delayed_count = 0;
		in->delayed++;
		std_warn(in, "an event comes before what it needs and is moved after it, in thread",
			 in->thread_names.items[e->thread]);
	}
	if (e->operation->action == STD_FORK)
		other_thread(in, e)->fork_delayed = true;
	t = &in->threads[e->thread];
	RD_GROW(t->delayed, t->delayed_capacity, t->delayed_count + 1);
	t->delayed[t->delayed_count++] = *e;
}

/* Writes the delayed events of a thread until one is not possible yet.  If `any` is true, writes
 * at least one event. */
static int resume_thread(struct std_import *in, uint32_t thread, bool any, bool *moved)
{
	int err = RD_OK;
	while (!err && is_delayed(&in->threads[thread])) {
		struct std_event e = in->threads[thread].delayed[in->threads[thread].delayed_first];
		if (!any && is_too_early(in, &e))
			break;
		any = false;
		*moved = true;
		in->line = e.line;
		in->threads[thread].delayed_first++;
		in->delayed -= !is_delayed(&in->threads[thread]);
		if (e.operation->action == STD_FORK)
			other_thread(in, &e)->fork_delayed = false;
		err = std_put_event(in, &e);
	}
	return err;
}

int std_resume_all(struct std_import *in, bool is_end)
{
	uint64_t line = in->line;
	bool moved = true;
	int err = RD_OK;
	RD_ASSERT(in->delayed <= in->thread_names.count);
	while (in->delayed > 0 && moved && !err) {
		moved = false;
		for (uint32_t i = 0; i < in->thread_names.count && !err; i++)
			err = resume_thread(in, i, false, &moved);
		for (uint32_t i = 0; i < in->thread_names.count && !err && is_end && !moved; i++)
			err = resume_thread(in, i, true, &moved);
	}
	in->line = line;
	return err;
}

int std_put_in_time(struct std_import *in, const struct std_event *e)
{
	if (!in->opts->force)
		return std_put_event(in, e);
	if (is_delayed(&in->threads[e->thread]) || is_too_early(in, e)) {
		delay(in, e);
		return RD_OK;
	}
	int err = std_put_event(in, e);
	enum std_action action = e->operation->action;
	if (!err && in->delayed > 0 && (action == STD_RELEASE || action == STD_WAIT))
		err = std_resume_all(in, false);
	return err;
}
