// SPDX-License-Identifier: Apache-2.0
/*
 * The skeleton of a run.  In: the events of all threads in the order of q.  Out: operations with
 * their kinds and partners: who created a thread, which release ends a section, which notification ended
 * a wait, who used a barrier together.
 *
 * An event that contradicts its primitive (the trace may be cut, or the program wrong) is counted and
 * orders nothing.
 */
#include "reversible/run.h"

#include "base/alloc.h"

#include <stdlib.h>

void rev_run_init(struct rev_run *run)
{
	*run = (struct rev_run){0};
}

static void release_lists(struct rev_list *lists, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(lists[i].at);
	free(lists);
}

void rev_run_release(struct rev_run *run)
{
	for (size_t i = 0; i < run->thread_count; i++)
		free(run->threads[i].ops);
	for (size_t i = 0; i < run->object_count; i++) {
		release_lists(run->objects[i].first, run->objects[i].first_count);
		release_lists(run->objects[i].second, run->objects[i].second_count);
	}
	for (size_t i = 0; i < run->use_count; i++)
		free(run->uses[i].enters);
	free(run->ops);
	free(run->threads);
	free(run->objects);
	free(run->uses);
	rd_umap_release(&run->numbers);
	rd_umap_release(&run->at);
	rd_umap_release(&run->depth);
	rd_umap_release(&run->waits);
	rd_umap_release(&run->inside);
	*run = (struct rev_run){0};
}

uint32_t rev_run_thread(struct rev_run *run, uint32_t number)
{
	bool is_new;
	uint64_t *at = rd_umap_put(&run->numbers, number, &is_new);

	if (is_new) {
		*at = run->thread_count;
		RD_GROW(run->threads, run->thread_capacity, run->thread_count + 1);
		run->threads[run->thread_count++] =
			(struct rev_thread){.number = number, .create = REV_NONE, .end = REV_NONE};
	}
	return (uint32_t)*at;
}

/* ---- objects ---- */

static uint32_t new_object(struct rev_run *run, uint64_t address, enum rev_class class, uint64_t value)
{
	RD_GROW(run->objects, run->object_capacity, run->object_count + 1);
	run->objects[run->object_count] = (struct rev_object){
		.address = address, .class = class, .value = value, .done = REV_NONE, .current = REV_NONE};
	*rd_umap_put(&run->at, address, NULL) = run->object_count;
	return (uint32_t)run->object_count++;
}

uint32_t rev_run_find(const struct rev_run *run, uint64_t address)
{
	const uint64_t *at = rd_umap_get(&run->at, address);

	return at ? (uint32_t)*at : REV_NONE;
}

static uint32_t object_at(struct rev_run *run, uint64_t address, enum rev_class class)
{
	uint32_t found = rev_run_find(run, address);

	/* A semaphore whose beginning was not seen may have any value. */
	return found != REV_NONE && run->objects[found].class == class ? found
								       : new_object(run, address, class,
										    class == REV_SEM
											    ? REV_ENDLESS
											    : 0);
}

/* A key for something of a thread and an object. */
static uint64_t both(uint32_t object, uint32_t thread)
{
	return (uint64_t)object << 32 | thread;
}

static void list_add(struct rev_list **lists, size_t *count, size_t *capacity, uint32_t thread, uint32_t at)
{
	struct rev_list *list = NULL;

	for (size_t i = 0; i < *count && !list; i++)
		if ((*lists)[i].thread == thread)
			list = &(*lists)[i];
	if (!list) {
		RD_GROW(*lists, *capacity, *count + 1);
		list = &(*lists)[(*count)++];
		*list = (struct rev_list){.thread = thread};
	}
	RD_GROW(list->at, list->capacity, list->count + 1);
	list->at[list->count++] = at;
}

static void add_first(struct rev_run *run, const struct rev_op *op, uint32_t object)
{
	struct rev_object *o = &run->objects[object];

	list_add(&o->first, &o->first_count, &o->first_capacity, op->thread, (uint32_t)(op - run->ops));
}

static void add_second(struct rev_run *run, const struct rev_op *op, uint32_t object)
{
	struct rev_object *o = &run->objects[object];

	list_add(&o->second, &o->second_count, &o->second_capacity, op->thread, (uint32_t)(op - run->ops));
}

size_t rev_list_until(const struct rev_run *run, const struct rev_list *list, uint32_t n)
{
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (run->ops[list->at[middle]].n <= n)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct rev_list *rev_list_of(const struct rev_list *lists, size_t count, uint32_t thread)
{
	for (size_t i = 0; i < count; i++)
		if (lists[i].thread == thread)
			return &lists[i];
	return NULL;
}

const struct rev_op *rev_section(const struct rev_run *run, uint32_t lock, uint32_t thread, uint32_t n)
{
	const struct rev_object *o = &run->objects[lock];
	const struct rev_list *list = rev_list_of(o->first, o->first_count, thread);
	size_t k = list ? rev_list_until(run, list, n) : 0;
	const struct rev_op *last = k ? &run->ops[list->at[k - 1]] : NULL;

	return last && (last->link == REV_NONE || run->ops[last->link].n > n) ? last : NULL;
}

/* ---- locks ---- */

/* A section begins.  A lock that the thread holds already (a recursive one) begins none. */
static void acquire(struct rev_run *run, struct rev_op *op, uint32_t lock)
{
	uint64_t *depth = rd_umap_put(&run->depth, both(lock, op->thread), NULL);

	if (*depth & 0xffffffff) {
		++*depth;
		return;
	}
	*depth = (uint64_t)(op - run->ops) << 32 | 1;
	op->kind = op->kind == REV_FREE ? REV_ACQUIRE : op->kind;
	op->lock = lock;
	op->flags |= REV_PENDING;
	add_first(run, op, lock);
	if (!(op->flags & REV_SHARED))
		add_second(run, op, lock);
}

static void release(struct rev_run *run, struct rev_op *op, uint32_t lock, bool whole)
{
	uint64_t *depth = rd_umap_get(&run->depth, both(lock, op->thread));
	struct rev_op *from;

	if (!depth || !(*depth & 0xffffffff)) {
		run->odd++;
		return;
	}
	if (!whole && (*depth & 0xffffffff) > 1) {
		--*depth;
		return;
	}
	from = &run->ops[*depth >> 32];
	*depth = 0;
	from->flags &= (uint8_t)~REV_PENDING;
	from->link = (uint32_t)(op - run->ops);
	op->kind = op->kind == REV_FREE ? REV_RELEASE : op->kind;
	op->lock = lock;
	op->link = (uint32_t)(from - run->ops);
}

static void lock_op(struct rev_run *run, struct rev_op *op, const struct trace_event *e)
{
	uint32_t lock = object_at(run, e->address, REV_LOCK);
	int change = trace_lock_change(e);

	op->object = lock;
	op->flags |= raddle_role(e->kind) == RADDLE_ROLE_SHARE ? REV_SHARED : 0;
	op->flags |= raddle_is_limited(e->kind) ? REV_TRY : 0;
	run->objects[lock].tried |= (op->flags & REV_TRY) != 0;
	if (change > 0)
		acquire(run, op, lock);
	else if (change < 0)
		release(run, op, lock, false);
}

/* ---- condition variables ---- */

static void wait_op(struct rev_run *run, struct rev_op *op, const struct trace_event *e)
{
	uint32_t lock = object_at(run, e->values[3], REV_LOCK);

	op->object = object_at(run, e->address, REV_COND);
	op->kind = REV_WAIT;
	release(run, op, lock, true);
	*rd_umap_put(&run->waits, op->thread, NULL) = (uint64_t)(op - run->ops) + 1;
}

static void wake_op(struct rev_run *run, struct rev_op *op, const struct trace_event *e)
{
	uint64_t *wait = rd_umap_put(&run->waits, op->thread, NULL);
	uint32_t lock = object_at(run, e->values[3], REV_LOCK);

	op->object = object_at(run, e->address, REV_COND);
	op->kind = REV_WAKE;
	op->pair = *wait ? (uint32_t)(*wait - 1) : REV_NONE;
	*wait = 0;
	if (e->values[4] || op->pair == REV_NONE)
		op->flags |= REV_ALONE;
	acquire(run, op, lock);
}

static void notify_op(struct rev_run *run, struct rev_op *op, const struct trace_event *e)
{
	bool all = raddle_manner(e->kind) == RADDLE_MANNER_ALL;

	op->object = object_at(run, e->address, REV_COND);
	op->kind = REV_NOTIFY;
	op->flags |= all ? REV_ALL : 0;
	run->objects[op->object].signalled |= !all;
	add_first(run, op, op->object);
}

/* Which notification ended which wait: the first one that can have, in the order of the wakes.  A wake
 * without one was spurious and needs none. */
static void match_notifications(struct rev_run *run)
{
	struct rd_umap used = RD_UMAP_INIT;

	for (size_t i = 0; i < run->op_count; i++) {
		struct rev_op *wake = &run->ops[i];

		if (wake->kind != REV_WAKE || wake->flags & REV_ALONE)
			continue;
		for (size_t k = wake->pair + 1; k < i && wake->cause == REV_NONE; k++) {
			struct rev_op *s = &run->ops[k];

			if (s->kind == REV_NOTIFY && s->object == wake->object &&
			    (s->flags & REV_ALL || !rd_umap_get(&used, k)))
				wake->cause = (uint32_t)k;
		}
		if (wake->cause == REV_NONE)
			wake->flags |= REV_ALONE;
		else
			*rd_umap_put(&used, wake->cause, NULL) = 1;
	}
	rd_umap_release(&used);
}

/* ---- barriers, semaphores, once ---- */

static void enter_op(struct rev_run *run, struct rev_op *op, const struct trace_event *e)
{
	uint32_t object = object_at(run, e->address, REV_BARRIER);
	struct rev_object *o = &run->objects[object];
	struct rev_use *use;

	if (o->current == REV_NONE || (o->value && run->uses[o->current].count >= o->value)) {
		o->current = (uint32_t)run->use_count;
		RD_GROW(run->uses, run->use_capacity, run->use_count + 1);
		run->uses[run->use_count++] = (struct rev_use){.object = object};
	}
	use = &run->uses[o->current];
	RD_GROW(use->enters, use->capacity, use->count + 1);
	use->enters[use->count++] = (uint32_t)(op - run->ops);
	op->kind = REV_ENTER;
	op->object = object;
	op->link = o->current;
	add_first(run, op, object);
	*rd_umap_put(&run->inside, both(object, op->thread), NULL) = o->current + 1;
}

static void exit_op(struct rev_run *run, struct rev_op *op, const struct trace_event *e)
{
	uint32_t object = object_at(run, e->address, REV_BARRIER);
	uint64_t *use = rd_umap_put(&run->inside, both(object, op->thread), NULL);

	op->object = object;
	if (!*use) {
		run->odd++;
		return;
	}
	op->kind = REV_EXIT;
	op->link = (uint32_t)(*use - 1);
	*use = 0;
	run->uses[op->link].left++;
	/* Without a count from an initialisation, who leaves first tells that it is full. */
	if (run->objects[object].current == op->link)
		run->objects[object].current = REV_NONE;
}

static void sem_op(struct rev_run *run, struct rev_op *op, const struct trace_event *e)
{
	bool post = e->kind == RADDLE_SEM_POST;

	op->object = object_at(run, e->address, REV_SEM);
	if (raddle_is_limited(e->kind)) {
		op->flags |= REV_TRY;
		run->objects[op->object].tried = true;
	}
	if (e->values[3])
		return;
	op->kind = post ? REV_POST : REV_TAKE;
	if (post)
		add_first(run, op, op->object);
	else
		add_second(run, op, op->object);
}

static void once_op(struct rev_run *run, struct rev_op *op, const struct trace_event *e)
{
	struct rev_object *o;

	op->object = object_at(run, e->address, REV_ONCE);
	o = &run->objects[op->object];
	op->pair = o->done;
	op->kind = e->kind == RADDLE_ONCE_RUN	 ? REV_ONCE_RUN
		   : e->kind == RADDLE_ONCE_DONE ? REV_ONCE_DONE
						 : REV_ONCE_PASS;
	if (op->kind == REV_ONCE_DONE)
		o->done = (uint32_t)(op - run->ops);
	else
		op->flags |= REV_TRY;
}

/* ---- threads ---- */

static void thread_op(struct rev_run *run, struct rev_op *op, const struct trace_event *e)
{
	uint32_t position = (uint32_t)(op - run->ops);

	switch (e->kind) {
	case RADDLE_THREAD_START:
		op->kind = REV_START;
		op->pair = run->threads[op->thread].create;
		break;
	case RADDLE_THREAD_END:
		op->kind = REV_END;
		run->threads[op->thread].ended = true;
		break;
	case RADDLE_THREAD_CREATE:
		op->object = e->values[4] ? REV_NONE : rev_run_thread(run, (uint32_t)e->values[2]);
		if (op->object == REV_NONE)
			break;
		op->kind = REV_CREATE;
		run->threads[op->object].create = position;
		if (run->threads[op->object].count)
			run->ops[run->threads[op->object].ops[0]].pair = REV_NONE;
		break;
	case RADDLE_THREAD_JOIN:
		op->object = e->values[3] ? REV_NONE : rev_run_thread(run, (uint32_t)e->values[2]);
		if (op->object != REV_NONE) {
			op->kind = REV_JOIN;
			op->pair = run->threads[op->object].end;
		}
		break;
	default:
		break;
	}
}

/* ---- events ---- */

static struct rev_op *new_op(struct rev_run *run, uint32_t thread, uint8_t event, uint32_t site)
{
	struct rev_thread *t = &run->threads[thread];
	struct rev_op *op;

	RD_GROW(run->ops, run->op_capacity, run->op_count + 1);
	RD_GROW(t->ops, t->capacity, t->count + 1);
	op = &run->ops[run->op_count];
	t->ops[t->count++] = t->end = (uint32_t)run->op_count++;
	*op = (struct rev_op){.event = event,
			      .thread = thread,
			      .n = (uint32_t)t->count,
			      .object = REV_NONE,
			      .lock = REV_NONE,
			      .link = REV_NONE,
			      .pair = REV_NONE,
			      .cause = REV_NONE,
			      .site = site};
	return op;
}

static void cond_op(struct rev_run *run, struct rev_op *op, const struct trace_event *e)
{
	if (e->kind == RADDLE_COND_WAIT)
		wait_op(run, op, e);
	else if (e->kind == RADDLE_COND_WAKE)
		wake_op(run, op, e);
	else
		notify_op(run, op, e);
}

static void fill(struct rev_run *run, struct rev_op *op, const struct trace_event *e)
{
	switch (raddle_class(e->kind)) {
	case RADDLE_CLASS_COND:
		cond_op(run, op, e);
		break;
	case RADDLE_CLASS_BARRIER:
		(e->kind == RADDLE_BARRIER_ENTER ? enter_op : exit_op)(run, op, e);
		break;
	case RADDLE_CLASS_SEM:
		sem_op(run, op, e);
		break;
	case RADDLE_CLASS_ONCE:
		once_op(run, op, e);
		break;
	case RADDLE_CLASS_THREAD:
		thread_op(run, op, e);
		break;
	default:
		lock_op(run, op, e);
	}
}

/* A life of an object begins. */
static void initialise(struct rev_run *run, const struct trace_event *e)
{
	if (raddle_role(e->kind) != RADDLE_ROLE_INIT)
		return;
	if (raddle_is_lock(e->kind))
		new_object(run, e->address, REV_LOCK, 0);
	else if (e->kind == RADDLE_COND_INIT)
		new_object(run, e->address, REV_COND, 0);
	else
		new_object(run, e->address, e->kind == RADDLE_SEM_INIT ? REV_SEM : REV_BARRIER, e->values[3]);
}

bool rev_run_event(struct rev_run *run, uint32_t thread, const struct trace_event *e, uint32_t site)
{
	if (!raddle_is_counted(e->kind)) {
		initialise(run, e);
		return false;
	}
	fill(run, new_op(run, thread, (uint8_t)e->kind, site), e);
	return true;
}

/* A semaphore that gave more than it can have had began with more than the trace says. */
static void check_semaphores(struct rev_run *run)
{
	int64_t *value = rd_xcalloc(run->object_count + 1, sizeof *value);

	for (size_t i = 0; i < run->op_count; i++) {
		const struct rev_op *op = &run->ops[i];

		if (op->kind != REV_POST && op->kind != REV_TAKE)
			continue;
		value[op->object] += op->kind == REV_POST ? 1 : -1;
		if (value[op->object] + (int64_t)run->objects[op->object].value < 0)
			run->objects[op->object].value = REV_ENDLESS;
	}
	free(value);
}

void rev_run_finish(struct rev_run *run)
{
	/* Joins of threads whose last record came later in the order than the join: cut traces. */
	for (size_t i = 0; i < run->op_count; i++)
		if (run->ops[i].kind == REV_JOIN && run->ops[i].pair == REV_NONE)
			run->odd++;
	match_notifications(run);
	check_semaphores(run);
}
