// SPDX-License-Identifier: Apache-2.0
/*
 * Builds the skeleton of a run.  It reads the events of all threads, ordered by q (the position in
 * the total order).  It creates a complete execution (order/exec.h) and links each operation with
 * its partners.  A partner is the creation of a thread, the release that ends a section, or the
 * notification that ended a wait.  The threads that used a barrier together are partners, too.
 *
 * An event that contradicts the rules of its primitive is counted, but orders nothing.  Either the
 * trace is incomplete, or the program is wrong.
 */
#include "reversible/run.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>

void rev_run_init(struct rev_run *run)
{
	*run = (struct rev_run){0};
	exec_init(&run->x);
	run->x.whole = true;
	order_filler_init(&run->filler, &run->x);
	sections_init(&run->sections, 0);
}

void rev_run_release(struct rev_run *run)
{
	struct slots *slots[] = {&run->acquires, &run->exclusive, &run->notes,
				 &run->posts,	 &run->takes,	  &run->enters};

	for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
		slots_release(slots[i]);
	RD_FREE_EACH(run->threads, run->thread_count, .ops);
	RD_FREE_EACH(run->uses, run->use_count, .enters);
	RD_FREE(run->ops, run->threads, run->objects, run->uses, run->held);
	RD_UMAP_RELEASE(&run->numbers, &run->at);
	order_filler_release(&run->filler);
	sections_release(&run->sections);
	exec_release(&run->x);
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
			(struct rev_thread){.number = number, .create = REV_NONE, .wait = REV_NONE};
		sections_reserve(&run->sections, run->thread_count);
	}
	return (uint32_t)*at;
}

/* ---- objects ---- */

static uint32_t new_object(struct rev_run *run, uint64_t address, enum rev_class class, uint64_t value)
{
	RD_GROW(run->objects, run->object_capacity, run->object_count + 1);
	run->objects[run->object_count] =
		(struct rev_object){.address = address, .class = class, .value = value};
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

	return found != REV_NONE && run->objects[found].class == class ? found
								       : new_object(run, address, class, 0);
}

static enum rev_class class_of(uint32_t kind)
{
	switch (raddle_class(kind)) {
	case RADDLE_CLASS_COND: return REV_COND;
	case RADDLE_CLASS_BARRIER: return REV_BARRIER;
	case RADDLE_CLASS_CHANNEL:
	case RADDLE_CLASS_SEM: return REV_SEM;
	case RADDLE_CLASS_ONCE: return REV_ONCE;
	default: return REV_LOCK;
	}
}

void rev_run_endless(struct rev_run *run, uint32_t object)
{
	RD_ASSERT(object < run->object_count);
	uint32_t sem = order_fill_object(&run->filler, object)->number;

	if (sem != EXEC_NONE)
		exec_sem_init(&run->x, sem, EXEC_ENDLESS);
}

const struct rev_op *rev_section(const struct rev_run *run, uint32_t lock, uint32_t thread, uint32_t n)
{
	RD_ASSERT(lock < run->object_count);
	const struct slots *s = &run->acquires;
	const struct rev_op *last = NULL;

	for (uint32_t i = s->first[lock]; i < s->first[lock + 1] && !last; i++) {
		uint32_t at = s->slot[i].thread == thread ? slots_last(s, &s->slot[i], n) : NONE;

		last = at == NONE ? NULL : &run->ops[at];
	}
	return last && (last->link == REV_NONE || run->ops[last->link].n > n) ? last : NULL;
}

/* ---- partners ---- */

/* Returns the lock of a section that begins or ends at the operation, or REV_NONE if there is
 * none. */
static uint32_t lock_of(const struct rev_run *run, const struct rev_op *op, const struct exec_event *e,
			uint32_t second)
{
	if (e->kind == EXEC_WAIT)
		return e->aux == EXEC_NONE ? REV_NONE : second;
	if (e->kind == EXEC_WAKE)
		return op->pair == REV_NONE ? REV_NONE : run->ops[op->pair].lock;
	if (exec_acquires(e->kind) || e->kind == EXEC_UNLOCK)
		return run->objects[op->object].class == REV_COND ? second : op->object;
	return REV_NONE;
}

static void tie_section(struct rev_run *run, struct rev_op *op)
{
	uint32_t at = (uint32_t)(op - run->ops), section;

	if (op->lock == REV_NONE)
		return;
	if (rev_begins(op)) {
		sections_begin(&run->sections, op->thread, op->lock, at, op->flags & REV_SHARED);
		return;
	}
	section = sections_end(&run->sections, op->thread, op->lock, at);
	if (section == NONE)
		return;
	op->link = run->sections.list[section].acquire;
	run->ops[op->link].link = at;
}

static void tie_use(struct rev_run *run, struct rev_op *op, uint32_t instance)
{
	struct rev_use *use;

	op->link = instance;
	if (instance >= run->use_count) {
		RD_GROW(run->uses, run->use_capacity, (size_t)instance + 1);
		while (run->use_count <= instance)
			run->uses[run->use_count++] = (struct rev_use){0};
	}
	use = &run->uses[instance];
	if (op->kind != EXEC_ENTER)
		return;
	RD_GROW(use->enters, use->capacity, use->count + 1);
	use->enters[use->count++] = (uint32_t)(op - run->ops);
}

/* Returns true if the result of the operation depends on when it is done. */
static bool is_attempt(uint32_t kind)
{
	return raddle_is_limited(kind) ||
	       (raddle_class(kind) == RADDLE_CLASS_ONCE && raddle_role(kind) != RADDLE_ROLE_RELEASE);
}

static void tie(struct rev_run *run, struct rev_op *op, uint32_t second)
{
	uint32_t at = (uint32_t)(op - run->ops);
	const struct exec_event *e = &run->x.events[at];
	struct rev_thread *t = &run->threads[op->thread];

	op->kind = e->kind;
	op->flags |= (e->kind == EXEC_RDLOCK ? REV_SHARED : 0) | (is_attempt(op->event) ? REV_TRY : 0);
	if (e->kind == EXEC_BEGIN)
		op->pair = t->create;
	else if (e->kind == EXEC_WAKE)
		op->pair = t->wait;
	else if (rev_follows_pair(op))
		op->pair = e->aux;
	if (e->kind == EXEC_FORK)
		run->threads[e->object].create = at;
	if (e->kind == EXEC_WAIT || e->kind == EXEC_WAKE)
		t->wait = e->kind == EXEC_WAIT ? at : REV_NONE;
	if (e->kind == EXEC_ENTER || e->kind == EXEC_EXIT)
		tie_use(run, op, e->object);
	op->lock = lock_of(run, op, e, second);
	tie_section(run, op);
	RD_GROW(run->held, run->held_capacity, run->op_count);
	run->held[at] = run->sections.head[op->thread];
}

/* ---- events ---- */

static struct rev_op *new_op(struct rev_run *run, uint32_t thread, uint8_t event, uint32_t site)
{
	struct rev_thread *t = &run->threads[thread];
	struct rev_op *op;

	RD_GROW(run->ops, run->op_capacity, run->op_count + 1);
	RD_GROW(t->ops, t->capacity, t->count + 1);
	op = &run->ops[run->op_count];
	uint32_t counted = t->count ? run->ops[t->ops[t->count - 1]].counted : 0;
	t->ops[t->count++] = (uint32_t)run->op_count++;
	*op = (struct rev_op){.event = event,
			      .thread = thread,
			      .n = (uint32_t)t->count,
			      .object = REV_NONE,
			      .lock = REV_NONE,
			      .link = REV_NONE,
			      .pair = REV_NONE,
			      .cause = REV_NONE,
			      .counted = counted + raddle_is_counted(event),
			      .site = site};
	return op;
}

/* Adds the object of a channel, which is treated as a semaphore that starts with 0. */
static void begin_channel(struct rev_run *run, uint32_t thread, const struct trace_event *e)
{
	struct order_op op = {.thread = thread,
			      .kind = RADDLE_SEM_INIT,
			      .class = RADDLE_CLASS_SEM,
			      .object = object_at(run, e->address, REV_SEM),
			      .second = EXEC_NONE};

	if (run->objects[op.object].channel)
		return;
	run->objects[op.object].channel = true;
	order_fill(&run->filler, &op);
}

static void translate_channel(struct order_op *op)
{
	op->kind = op->kind == RADDLE_CHANNEL_SEND ? RADDLE_SEM_POST : RADDLE_SEM_WAIT;
	op->class = RADDLE_CLASS_SEM;
	op->value = 0;
}

/* Translates an event into an operation.  The operation refers to its thread and objects by their
 * numbers in `run`, not by addresses. */
static struct order_op translate(struct rev_run *run, uint32_t thread, const struct trace_event *e)
{
	enum raddle_role role = raddle_role(e->kind);
	struct order_op op = {.thread = thread,
			      .kind = e->kind,
			      .class = raddle_class(e->kind),
			      .object = EXEC_NONE,
			      .second = EXEC_NONE,
			      .value = trace_result(e)};

	if (role == RADDLE_ROLE_CREATE || role == RADDLE_ROLE_JOIN)
		op.second = op.value ? EXEC_NONE : rev_run_thread(run, (uint32_t)e->values[2]);
	else if (raddle_is_sync(e->kind))
		op.object = object_at(run, e->address, class_of(e->kind));
	if (raddle_is_cond_wait(e->kind))
		op.second = object_at(run, e->values[3], REV_LOCK);
	if (op.class == RADDLE_CLASS_CHANNEL)
		translate_channel(&op);
	return op;
}

/* Begins the lifetime of an object. */
static void initialise(struct rev_run *run, uint32_t thread, const struct trace_event *e)
{
	struct order_op op;

	if (raddle_role(e->kind) != RADDLE_ROLE_INIT)
		return;
	new_object(run, e->address, class_of(e->kind), e->kind == RADDLE_BARRIER_INIT ? e->values[3] : 0);
	op = translate(run, thread, e);
	order_fill(&run->filler, &op);
}

bool rev_run_event(struct rev_run *run, uint32_t thread, const struct trace_event *e, uint32_t site)
{
	RD_ASSERT(thread < run->thread_count);
	struct order_op order;
	struct rev_op *op;

	if (!rev_is_operation(e->kind)) {
		initialise(run, thread, e);
		return false;
	}
	if (raddle_class(e->kind) == RADDLE_CLASS_CHANNEL)
		begin_channel(run, thread, e);
	order = translate(run, thread, e);
	order_fill(&run->filler, &order);
	op = new_op(run, thread, (uint8_t)e->kind, site);
	op->object = order.object;
	tie(run, op, order.second);
	if (op->kind == EXEC_FORK || op->kind == EXEC_JOIN)
		op->object = order.second;
	if (order.object != EXEC_NONE) {
		run->objects[order.object].tried |= raddle_is_limited(e->kind);
		run->objects[order.object].signalled |= op->kind == EXEC_SIGNAL;
	}
	return true;
}

/* ---- after the last event ---- */

/* Corrects the initial values of semaphores.  If more was taken from a semaphore than its initial
 * value and its posts allow, its initial value must have been larger than recorded. */
static void check_semaphores(struct rev_run *run)
{
	int64_t *value = rd_xcalloc(run->x.sems + 1u, sizeof *value);

	for (size_t i = 0; i < run->x.count; i++) {
		const struct exec_event *e = &run->x.events[i];

		if (e->kind != EXEC_POST && e->kind != EXEC_TAKE)
			continue;
		value[e->object] += e->kind == EXEC_POST ? 1 : -1;
		if (value[e->object] + (int64_t)exec_sem_initial(&run->x, e->object) < 0)
			exec_sem_init(&run->x, e->object, EXEC_ENDLESS);
	}
	free(value);
	for (uint32_t i = 0; i < run->object_count; i++) {
		uint32_t sem = run->objects[i].class == REV_SEM ? order_fill_object(&run->filler, i)->number
								: EXEC_NONE;

		if (sem != EXEC_NONE)
			run->objects[i].value = exec_sem_initial(&run->x, sem);
	}
}

/* Stores which notification ended each wait.  A wake without a notification was spurious or timed
 * out, and does not need one. */
static void take_causes(struct rev_run *run)
{
	exec_match_signals(&run->x);
	for (size_t i = 0; i < run->op_count; i++) {
		struct rev_op *op = &run->ops[i];

		if (op->kind != EXEC_WAKE)
			continue;
		op->cause = run->x.events[i].aux;
		op->flags |= op->cause == EXEC_NONE ? REV_ALONE : 0;
	}
}

typedef bool member_fn(const struct rev_op *op);
struct rev_index_filter {
	const struct rev_run *run;
	const uint32_t *by_thread;
	member_fn *member;
};

static bool is_acquire(const struct rev_op *op)
{
	return rev_begins(op) && op->lock != REV_NONE;
}
static bool is_exclusive(const struct rev_op *op)
{
	return is_acquire(op) && !(op->flags & REV_SHARED);
}
static bool is_post(const struct rev_op *op)
{
	return op->kind == EXEC_POST;
}
static bool is_take(const struct rev_op *op)
{
	return op->kind == EXEC_TAKE;
}
static bool is_enter(const struct rev_op *op)
{
	return op->kind == EXEC_ENTER;
}

static bool take_member(const void *context, uint32_t i, struct slot_item *item)
{
	const struct rev_index_filter *filter = context;
	uint32_t at = filter->by_thread[i];
	const struct rev_op *op = &filter->run->ops[at];

	if (!filter->member(op))
		return false;
	*item = (struct slot_item){at, is_acquire(op) ? op->lock : op->object, op->thread, op->n - 1};
	return true;
}

static void build_slots(struct rev_run *run)
{
	uint32_t *by_thread = rd_xcalloc(run->op_count + 1, sizeof *by_thread);
	const struct {
		struct slots *slots;
		member_fn *member;
	} all[] = {{&run->acquires, is_acquire}, {&run->exclusive, is_exclusive}, {&run->notes, rev_notifies},
		   {&run->posts, is_post},	 {&run->takes, is_take},	  {&run->enters, is_enter}};
	size_t n = 0;

	for (size_t t = 0; t < run->thread_count; t++)
		for (size_t i = 0; i < run->threads[t].count; i++)
			by_thread[n++] = run->threads[t].ops[i];
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		slots_build(all[i].slots, (uint32_t)run->object_count, (uint32_t)run->op_count, take_member,
			    &(struct rev_index_filter){run, by_thread, all[i].member});
	free(by_thread);
}

void rev_run_finish(struct rev_run *run)
{
	run->odd = run->filler.odd;
	run->x.threads = (uint32_t)run->thread_count;
	take_causes(run);
	check_semaphores(run);
	build_slots(run);
}
