// SPDX-License-Identifier: Apache-2.0
/*
 * Translates operations of a trace into events of an execution (doc/design/order.md).
 *
 * A recursive lock is held from its outermost acquisition to its last release.  Each use of a
 * barrier is an instance.  An instance consists of as many arrivals as the barrier was initialised
 * for.  If that number is unknown, it consists of the arrivals before the first departure.
 *
 * In a whole execution each operation is one event.  An operation that orders nothing is EXEC_FREE,
 * a wake acquires its mutex itself, and a once control is not a lock.  In other executions,
 * operations that order nothing have no event.  Some operations have several events, and all of
 * these but the last are EXEC_PART.
 */
#include "order/fill.h"

#include "base/alloc.h"
#include "base/error.h"
#include "trace/event.h"

#include <errno.h>
#include <stdlib.h>

/* The bit that is set in a recursion depth while a wait has released the lock. */
#define WAITING (1ull << 32)

void order_filler_init(struct order_filler *f, struct exec *x)
{
	RD_ASSERT(x != NULL);
	*f = (struct order_filler){.x = x};
}

void order_filler_release(struct order_filler *f)
{
	for (size_t i = 0; i < f->object_count; i++)
		free(f->objects[i].messages);
	RD_FREE(f->objects, f->threads, f->robust);
	RD_UMAP_RELEASE(&f->depths, &f->passed, &f->received);
	*f = (struct order_filler){0};
}

struct order_object *order_fill_object(struct order_filler *f, uint32_t object)
{
	RD_GROW(f->objects, f->object_capacity, (size_t)object + 1);
	for (; f->object_count <= object; f->object_count++)
		f->objects[f->object_count] = (struct order_object){.number = EXEC_NONE,
								    .once_lock = EXEC_NONE,
								    .once_done = EXEC_NONE,
								    .instance = EXEC_NONE,
								    .gate = EXEC_NONE,
								    .first = EXEC_NONE};
	return &f->objects[object];
}

static struct order_thread *thread_of(struct order_filler *f, uint32_t thread)
{
	RD_GROW(f->threads, f->thread_capacity, (size_t)thread + 1);
	for (; f->thread_count <= thread; f->thread_count++)
		f->threads[f->thread_count] =
			(struct order_thread){.inside = EXEC_NONE, .wait = EXEC_NONE, .last = EXEC_NONE};
	return &f->threads[thread];
}

static uint64_t *depth_of(struct order_filler *f, uint32_t thread, uint32_t object)
{
	return rd_umap_put(&f->depths, (uint64_t)thread << 32 | object, NULL);
}

static uint32_t number_of(struct order_filler *f, uint32_t object, uint32_t *space)
{
	struct order_object *o = order_fill_object(f, object);

	if (o->number == EXEC_NONE)
		o->number = (*space)++;
	return o->number;
}

static uint32_t lock_of(struct order_filler *f, uint32_t object)
{
	RD_ASSERT(object != EXEC_NONE);
	return number_of(f, object, &f->x->locks);
}

void order_fill_robust(struct order_filler *f, uint32_t object)
{
	RD_GROW(f->robust, f->robust_capacity, f->robust_count + 1);
	f->robust[f->robust_count++] = object;
}

static bool is_robust(const struct order_filler *f, uint32_t object)
{
	for (size_t i = 0; i < f->robust_count; i++)
		if (f->robust[i] == object)
			return true;
	return false;
}

static struct exec_event *add(struct order_filler *f, const struct order_op *op, enum exec_kind kind,
			      uint32_t object)
{
	thread_of(f, op->thread)->last = (uint32_t)f->x->count;
	return exec_add(f->x, kind, op->thread, object);
}

/* ---- locks ---- */

int order_lock_change(uint32_t kind, uint64_t value, bool *shared)
{
	enum raddle_role role = raddle_role(kind);

	*shared = role == RADDLE_ROLE_SHARE;
	switch (raddle_class(kind)) {
	case RADDLE_CLASS_COND: return role == RADDLE_ROLE_WAKE ? 1 : role == RADDLE_ROLE_WAIT ? -1 : 0;
	case RADDLE_CLASS_ONCE: return role == RADDLE_ROLE_ACQUIRE ? 1 : role == RADDLE_ROLE_RELEASE ? -1 : 0;
	default: return trace_lock_effect(kind, value);
	}
}

/* Returns true if a read-write lock prefers writers.  Such a lock is modelled as two locks: the
 * lock itself and a gate.  A writer holds the gate from the moment when it requests the lock, and a
 * reader must pass the gate.  So if a reader requests the lock again while a writer waits for that
 * reader, the reader waits for the writer. */
static bool has_gate(struct order_filler *f, const struct order_op *op)
{
	struct order_object *o = order_fill_object(f, op->object);

	if (!o->writers || f->x->whole)
		return false;
	if (o->gate == EXEC_NONE)
		o->gate = f->x->locks++;
	return true;
}

static void pass_gate(struct order_filler *f, const struct order_op *op, bool nested)
{
	uint32_t gate = order_fill_object(f, op->object)->gate;

	add(f, op, EXEC_RDLOCK, gate)->flags |= EXEC_PART;
	add(f, op, EXEC_UNLOCK, gate)->flags |= nested ? 0 : EXEC_PART;
}

static void take_gate(struct order_filler *f, const struct order_op *op)
{
	struct order_object *o = order_fill_object(f, op->object);

	o->writer = op->thread + 1;
	add(f, op, EXEC_WRLOCK, o->gate)->flags |= EXEC_PART | (raddle_is_limited(op->kind) ? EXEC_TRY : 0);
}

static void leave_gate(struct order_filler *f, const struct order_op *op)
{
	struct order_object *o = order_fill_object(f, op->object);

	if (o->writer != op->thread + 1)
		return;
	o->writer = 0;
	add(f, op, EXEC_UNLOCK, o->gate)->flags |= EXEC_PART;
}

static void acquire(struct order_filler *f, const struct order_op *op, bool shared)
{
	uint64_t *depth = depth_of(f, op->thread, op->object);
	enum exec_kind kind = op->class != RADDLE_CLASS_RWLOCK ? EXEC_LOCK
			      : shared			       ? EXEC_RDLOCK
							       : EXEC_WRLOCK;

	bool nested = (*depth)++ > 0;

	if (has_gate(f, op) && !shared && !nested)
		take_gate(f, op);
	else if (has_gate(f, op) && shared && !raddle_is_limited(op->kind))
		pass_gate(f, op, nested);
	if (nested)
		return;
	add(f, op, kind, lock_of(f, op->object))->flags |= raddle_is_limited(op->kind) ? EXEC_TRY : 0;
}

static void release(struct order_filler *f, const struct order_op *op)
{
	uint64_t *depth = depth_of(f, op->thread, op->object);

	f->odd += *depth == 0;
	if (*depth == 0 || --*depth > 0)
		return;
	leave_gate(f, op);
	add(f, op, EXEC_UNLOCK, lock_of(f, op->object));
}

static void refuse(struct order_filler *f, const struct order_op *op, bool shared)
{
	if (!raddle_is_limited(op->kind) || (op->value != EBUSY && op->value != ETIMEDOUT) || f->x->whole)
		return;
	add(f, op, EXEC_BUSY, lock_of(f, op->object))->aux = shared ? EXEC_RDLOCK : EXEC_LOCK;
}

/* ---- locks that another thread releases ---- */

/* Notes the locks that a thread holds when it ends.  They stay locked, except for robust
 * mutexes. */
static void note_locks_left(struct order_filler *f, uint32_t thread)
{
	for (uint32_t i = 0; i < f->object_count && !f->hung; i++)
		f->objects[i].left |= f->objects[i].holder == thread + 1 && !is_robust(f, i);
}

void order_fill_look_ahead(struct order_filler *f, const struct order_op *op)
{
	bool shared = false, waits = raddle_is_cond_wait(op->kind);
	int change = raddle_is_lock_class(op->class) ? order_lock_change(op->kind, op->value, &shared) : 0;
	uint32_t object = waits ? op->second : op->object, own = op->thread + 1;
	struct order_object *o = object != EXEC_NONE ? order_fill_object(f, object) : NULL;

	if (op->kind == RADDLE_THREAD_END)
		note_locks_left(f, op->thread);
	if (!o)
		return;
	o->writers |= op->kind == RADDLE_RWLOCK_WRITERS;
	o->shared |= shared || waits;
	if (change > 0) {
		o->depth = o->holder == own ? o->depth + 1 : 1;
		o->holder = own;
	} else if (change < 0 && o->holder) {
		o->handed |= o->holder != own;
		o->depth -= o->depth > 0;
		o->holder = o->depth ? o->holder : 0;
	}
	f->handed |= o->handed;
}

static bool is_handed(struct order_filler *f, uint32_t object)
{
	const struct order_object *o = order_fill_object(f, object);

	return (o->handed || o->left) && !o->shared;
}

/* Adds an event for a lock that any thread may release.  Which thread took the lock does not
 * matter, because the lock is either available or not. */
static void fill_handed(struct order_filler *f, const struct order_op *op, int change)
{
	bool is_new = order_fill_object(f, op->object)->number == EXEC_NONE;
	uint32_t sem = number_of(f, op->object, &f->x->sems);

	if (is_new)
		exec_sem_init(f->x, sem, 1);
	if (change > 0)
		add(f, op, EXEC_TAKE, sem)->flags |= raddle_is_limited(op->kind) ? EXEC_TRY : 0;
	else if (change < 0)
		add(f, op, EXEC_POST, sem);
}

static void fill_lock(struct order_filler *f, const struct order_op *op)
{
	bool shared;
	int change = order_lock_change(op->kind, op->value, &shared);

	if (is_handed(f, op->object))
		fill_handed(f, op, change);
	else if (change > 0)
		acquire(f, op, shared);
	else if (change < 0)
		release(f, op);
	else
		refuse(f, op, shared);
}

/* ---- condition variables ---- */

/* Adds the events of a wait.  A thread that waits without holding the mutex releases nothing. */
static void fill_wait(struct order_filler *f, const struct order_op *op, uint32_t cond)
{
	uint64_t *depth = depth_of(f, op->thread, op->second);
	bool held = *depth && !(*depth & WAITING);
	uint32_t mutex = lock_of(f, op->second);

	f->odd += !held;
	add(f, op, EXEC_WAIT, cond)->aux = f->x->whole && !held ? EXEC_NONE : mutex;
	*depth |= WAITING;
	thread_of(f, op->thread)->wait = op->second;
	thread_of(f, op->thread)->timed = op->value != 0;
}

/* Adds a wake to a whole execution.  If its wait was not recorded, the wake only acquires its
 * mutex. */
static void fill_whole_wake(struct order_filler *f, const struct order_op *op, uint32_t cond)
{
	uint32_t mutex = thread_of(f, op->thread)->wait;

	if (mutex == EXEC_NONE) {
		if ((*depth_of(f, op->thread, op->second))++ == 0)
			add(f, op, EXEC_LOCK, lock_of(f, op->second));
		return;
	}
	add(f, op, EXEC_WAKE, cond)->aux = op->value == 0 ? EXEC_MATCH : EXEC_NONE;
	*depth_of(f, op->thread, mutex) &= ~WAITING;
	thread_of(f, op->thread)->wait = EXEC_NONE;
}

static void fill_wake(struct order_filler *f, const struct order_op *op, uint32_t cond)
{
	struct exec_event *wake = add(f, op, EXEC_WAKE, cond);

	wake->aux = op->value == 0 ? EXEC_MATCH : EXEC_NONE;
	wake->flags |= thread_of(f, op->thread)->timed ? EXEC_TRY : 0;
	*depth_of(f, op->thread, op->second) &= ~WAITING;
	add(f, op, EXEC_LOCK, lock_of(f, op->second));
}

static void fill_condition(struct order_filler *f, const struct order_op *op)
{
	uint32_t cond = number_of(f, op->object, &f->x->conds);

	if (raddle_role(op->kind) == RADDLE_ROLE_NOTIFY) {
		bool all = raddle_manner(op->kind) == RADDLE_MANNER_ALL;

		add(f, op, all ? EXEC_BROADCAST : EXEC_SIGNAL, cond);
	} else if (op->second == EXEC_NONE) {
		return;
	} else if (op->kind == RADDLE_COND_WAIT) {
		fill_wait(f, op, cond);
	} else if (op->kind == RADDLE_COND_WAKE) {
		(f->x->whole ? fill_whole_wake : fill_wake)(f, op, cond);
	}
}

/* --- barriers, semaphores and once controls --- */

static void fill_barrier(struct order_filler *f, const struct order_op *op)
{
	struct order_object *o = order_fill_object(f, op->object);
	struct order_thread *t = thread_of(f, op->thread);

	if (op->kind == RADDLE_BARRIER_INIT) {
		o->size = (uint32_t)op->value;
		o->first = o->instance = EXEC_NONE;
	} else if (op->kind == RADDLE_BARRIER_ENTER) {
		if (o->instance == EXEC_NONE || (o->size && o->entered == o->size)) {
			o->instance = f->x->barriers++;
			o->entered = 0;
			o->first = o->first == EXEC_NONE ? o->instance : o->first;
		}
		o->entered++;
		t->inside = o->instance;
		add(f, op, EXEC_ENTER, o->instance)->aux = o->first;
	} else if (op->kind == RADDLE_BARRIER_EXIT && t->inside == EXEC_NONE) {
		f->odd++;
	} else if (op->kind == RADDLE_BARRIER_EXIT) {
		add(f, op, EXEC_EXIT, t->inside);
		if ((!o->size || f->x->whole) && o->instance == t->inside)
			o->instance = EXEC_NONE;
		t->inside = EXEC_NONE;
	}
}

/* Adds an event on a semaphore.  In a whole execution, a semaphore whose initialisation was not
 * recorded may have any value. */
static void fill_semaphore(struct order_filler *f, const struct order_op *op)
{
	bool is_new = order_fill_object(f, op->object)->number == EXEC_NONE;
	uint32_t sem;

	if (op->kind == RADDLE_SEM_DESTROY) {
		if (!f->x->whole)
			order_fill_object(f, op->object)->number = EXEC_NONE;
		return;
	}
	sem = number_of(f, op->object, &f->x->sems);
	if (op->kind == RADDLE_SEM_INIT && is_new)
		exec_sem_init(f->x, sem, op->value < EXEC_ENDLESS ? (uint32_t)op->value : EXEC_ENDLESS);
	else if (is_new && f->x->whole)
		exec_sem_init(f->x, sem, EXEC_ENDLESS);
	if (op->value != 0)
		return;
	if (op->kind == RADDLE_SEM_POST)
		add(f, op, EXEC_POST, sem);
	else if (raddle_takes(op->kind))
		add(f, op, EXEC_TAKE, sem)->flags |= raddle_is_limited(op->kind) ? EXEC_TRY : 0;
}

static uint32_t once_lock(struct order_filler *f, uint32_t object)
{
	struct order_object *o = order_fill_object(f, object);

	if (o->once_lock == EXEC_NONE)
		o->once_lock = f->x->locks++;
	return o->once_lock;
}

/* Handles a thread that passes a once control.  Only the first pass of a thread may have to wait.
 * Once the initialiser's return has been recorded, a load of the guard is assumed to find it open,
 * although the guard is opened just after that event.  This hides nothing, because a load that
 * still found the guard closed is followed by a pass. */
static void pass_once(struct order_filler *f, const struct order_op *op)
{
	uint64_t *passed = rd_umap_put(&f->passed, (uint64_t)op->thread << 32 | op->object, NULL);
	bool load = op->kind == RADDLE_ATOMIC;

	if (load && order_fill_object(f, op->object)->number == EXEC_NONE)
		return;
	if (!load && !*passed) {
		add(f, op, EXEC_RDLOCK, once_lock(f, op->object))->flags |= EXEC_PART;
		add(f, op, EXEC_UNLOCK, once_lock(f, op->object))->flags |= EXEC_PART;
	}
	*passed = 1;
	add(f, op, EXEC_ONCE_PASS, number_of(f, op->object, &f->x->onces))->flags |= load ? EXEC_PART : 0;
}

static void fill_once(struct order_filler *f, const struct order_op *op)
{
	if (op->kind == RADDLE_ONCE_RUN) {
		add(f, op, EXEC_WRLOCK, once_lock(f, op->object));
	} else if (op->kind == RADDLE_ONCE_DONE) {
		add(f, op, EXEC_UNLOCK, once_lock(f, op->object))->flags |= op->value ? 0 : EXEC_PART;
		if (op->value != 0)
			return;
		add(f, op, EXEC_ONCE_RUN, number_of(f, op->object, &f->x->onces));
		*rd_umap_put(&f->passed, (uint64_t)op->thread << 32 | op->object, NULL) = 1;
	} else if (op->kind == RADDLE_ONCE_PASS || op->kind == RADDLE_ATOMIC) {
		pass_once(f, op);
	}
}

/* Adds an event on a once control in a whole execution.  Passes and further runs refer to the
 * return of the routine that they follow. */
static void fill_whole_once(struct order_filler *f, const struct order_op *op)
{
	enum exec_kind kind = op->kind == RADDLE_ONCE_RUN    ? EXEC_ONCE_BEGIN
			      : op->kind == RADDLE_ONCE_DONE ? EXEC_ONCE_RUN
							     : EXEC_ONCE_PASS;
	struct exec_event *e = add(f, op, kind, number_of(f, op->object, &f->x->onces));
	struct order_object *o = order_fill_object(f, op->object);

	if (kind == EXEC_ONCE_RUN)
		o->once_done = (uint32_t)f->x->count - 1;
	else
		e->aux = o->once_done;
}

/* ---- channels ---- */

/* Adds a send to a channel.  It is recorded at a point where nothing can stop the thread. */
static void send_message(struct order_filler *f, const struct order_op *op)
{
	uint32_t once = f->x->onces;
	struct order_object *o = order_fill_object(f, op->object);
	size_t i = 0;

	add(f, op, EXEC_ONCE_RUN, once)->flags |= EXEC_PART;
	while (i < o->message_count && o->messages[i].thread != op->thread)
		i++;
	if (i == o->message_count) {
		RD_GROW(o->messages, o->message_capacity, o->message_count + 1);
		o->message_count++;
	}
	o->messages[i] = (struct order_message){op->thread, once};
}

/* Adds a receive from a channel, which may receive any message sent so far. */
static void receive_messages(struct order_filler *f, const struct order_op *op)
{
	const struct order_object *o = order_fill_object(f, op->object);

	for (size_t i = 0; i < o->message_count; i++) {
		const struct order_message *m = &o->messages[i];
		bool is_new = m->thread != op->thread;

		if (is_new)
			rd_umap_put(&f->received, (uint64_t)op->thread << 32 | m->once, &is_new);
		if (is_new)
			add(f, op, EXEC_ONCE_PASS, m->once)->flags |= EXEC_PART;
	}
}

/* Adds a channel operation.  A whole execution has no such events: reversible/channel.c adds
 * channels to it as semaphores. */
static void fill_channel(struct order_filler *f, const struct order_op *op)
{
	if (f->x->whole)
		return;
	if (raddle_role(op->kind) == RADDLE_ROLE_RELEASE)
		send_message(f, op);
	else
		receive_messages(f, op);
}

/* ---- threads ---- */

/* Ends a thread, which releases the robust mutexes that it holds. */
static void end_thread(struct order_filler *f, const struct order_op *op)
{
	for (size_t i = 0; i < f->robust_count; i++) {
		uint64_t *depth = rd_umap_get(&f->depths, (uint64_t)op->thread << 32 | f->robust[i]);

		if (depth && *depth > 0)
			add(f, op, EXEC_UNLOCK, lock_of(f, f->robust[i]));
		if (depth)
			*depth = 0;
	}
	add(f, op, EXEC_END, 0);
}

/* Handles creations and joins.  In a damaged trace a thread may create or join itself, or be
 * created after it has begun. */
static void fill_thread(struct order_filler *f, const struct order_op *op)
{
	if (op->kind == RADDLE_THREAD_START) {
		add(f, op, EXEC_BEGIN, 0);
	} else if (op->kind == RADDLE_THREAD_END) {
		end_thread(f, op);
	} else if (op->second == EXEC_NONE || op->second == op->thread || op->value != 0) {
		return;
	} else if (op->kind == RADDLE_THREAD_CREATE) {
		struct order_thread *other = thread_of(f, op->second);

		if (!f->x->whole || (!other->created && other->last == EXEC_NONE))
			add(f, op, EXEC_FORK, op->second);
		thread_of(f, op->second)->created = true;
	} else if (op->kind == RADDLE_THREAD_JOIN) {
		uint32_t last = thread_of(f, op->second)->last;

		f->odd += last == EXEC_NONE;
		add(f, op, EXEC_JOIN, op->second)->aux = f->x->whole ? last : EXEC_NONE;
	}
}

/* ---- operations of all kinds ---- */

void order_fill(struct order_filler *f, const struct order_op *op)
{
	RD_ASSERT(op->thread != EXEC_NONE);
	size_t before = f->x->count;

	if (op->object != EXEC_NONE) {
		switch (op->class) {
		case RADDLE_CLASS_COND: fill_condition(f, op); break;
		case RADDLE_CLASS_BARRIER: fill_barrier(f, op); break;
		case RADDLE_CLASS_SEM: fill_semaphore(f, op); break;
		case RADDLE_CLASS_ONCE: (f->x->whole ? fill_whole_once : fill_once)(f, op); break;
		case RADDLE_CLASS_CHANNEL: fill_channel(f, op); break;
		default: fill_lock(f, op);
		}
	} else if (op->class == RADDLE_CLASS_THREAD) {
		fill_thread(f, op);
	}
	if (!f->x->whole || !raddle_is_counted(op->kind))
		return;
	if (f->x->count == before)
		add(f, op, EXEC_FREE, 0);
	RD_ASSERT(f->x->count == before + 1);
}

void order_fill_pending(struct order_filler *f, const struct order_op *op)
{
	RD_ASSERT(op->thread != EXEC_NONE);
	struct exec_event *e;

	if (op->object == EXEC_NONE && (op->kind != RADDLE_JOIN_REQUEST || op->second == EXEC_NONE))
		return;
	if (op->kind == RADDLE_JOIN_REQUEST && op->second == op->thread)
		return;
	switch (op->kind) {
	case RADDLE_RWLOCK_REQUEST:
		e = add(f, op, op->value ? EXEC_WRLOCK : EXEC_RDLOCK, lock_of(f, op->object));
		break;
	case RADDLE_JOIN_REQUEST: e = add(f, op, EXEC_JOIN, op->second); break;
	case RADDLE_ONCE_REQUEST: e = add(f, op, EXEC_RDLOCK, once_lock(f, op->object)); break;
	case RADDLE_SEM_REQUEST: e = add(f, op, EXEC_TAKE, number_of(f, op->object, &f->x->sems)); break;
	case RADDLE_COND_WAIT:
		if (op->second == EXEC_NONE || op->value != 0)
			return;
		e = add(f, op, EXEC_WAKE, number_of(f, op->object, &f->x->conds));
		break;
	case RADDLE_BARRIER_ENTER: e = add(f, op, EXEC_EXIT, thread_of(f, op->thread)->inside); break;
	default:
		if (raddle_role(op->kind) != RADDLE_ROLE_REQUEST)
			return;
		e = is_handed(f, op->object) ? add(f, op, EXEC_TAKE, number_of(f, op->object, &f->x->sems))
					     : add(f, op, EXEC_LOCK, lock_of(f, op->object));
	}
	e->flags |= EXEC_PENDING;
}
