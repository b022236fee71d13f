/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layers: what the core and the writer report to them, and what layers may ask for.
 *
 * A flavour has the core, one layer that writes records (rt/core/buffer/writer.h) and others, by
 * its row in raddle/flavour.inc.  Each layer is a table of callbacks, `rt_layer_NAME`; a callback
 * that is NULL is not called.  No interposed function and no hook knows which layers listen: it
 * reports here, and another layer is another table, a number in enum rt_layer_number and a word in
 * the row.
 *
 *   present    layers whose setup() said that they have something to do in this process.  They are notified
 *              of the life of the process and its threads.
 *   listening  those of them with `listens`: they are notified of operations, orders, accesses and memory
 *              as well.  If there is one, threads are RT_LISTENED instead of RT_PLAIN, and
 *              interposed functions take their slower path.  Layers that do not listen cost
 *              nothing.
 *
 * All are notified in the order of the row.  Callbacks run in the thread that they are about, with
 * errno saved by the caller and no lock of the runtime held; they may wait, but not with the
 * encoder taken (t->busy), as it may be in a signal handler.  The child of a fork reports nothing.
 *
 * The state of a layer is behind rt.layer[number] and t->layer[number].
 */
#ifndef RT_LAYER_H
#define RT_LAYER_H

#include "rt/core/buffer/gather.h"
#include "rt/core/rt.h"

#include <time.h>

/* How memory is accessed. */
enum rt_access {
	RT_ACCESS_READ = 0,
	RT_ACCESS_WRITE = 1,
	RT_ACCESS_ATOMIC = 2,
	RT_ACCESS_ACQUIRES_NOT = 4, /* an atomic one, by its memory order, */
	RT_ACCESS_RELEASES_NOT = 8,
	RT_ACCESS_SAME_CALL = 16, /* the one before it is of the same call, which has not begun */
};

/* How long an operation may wait; NULL: forever. */
struct rt_until {
	clockid_t clock;
	const struct timespec *time;
};
#define RT_UNTIL(clock, time) (&(struct rt_until){clock, time})

/*
 * An operation that layers are notified of.  It begins, passes the gate before it takes effect, and
 * ends when it has taken effect and its record is written.  An operation that is left by
 * cancellation or an exception does not count, since it has no record either:
 *
 *	RT_OP(op, RADDLE_THREAD_JOIN, number);
 *	... rt_op_end(&op);
 *
 * Where layers do not listen to the thread, op.t is NULL and all calls do nothing.
 */
struct rt_op {
	struct rt_thread *t;
	uint64_t object;
	uint32_t kind; /* a row of event.inc */
	bool shared;   /* it releases a lock that is held for reading: a layer that knows reports it in
			* releasing()
			*/
	struct rt_op_state {
		uint64_t word[8];
	} state[RT_LAYER_COUNT]; /* each layer's own, to be filled by its op_begin() */
};

/* A thread that has arrived at a barrier of a layer's. */
struct rt_arrival {
	void *barrier; /* NULL: the layer leaves it to libc */
	uint32_t round;
	bool last;
};

/* What a layer does in place of libc.  Condition variables are those that no other process sees.
 * cond_wait(): the whole of it, as rt_listened_wait().  barrier_arrive(): the calling thread has
 * arrived; barrier_await(): it waits for the others. */
struct rt_instead {
	int (*cond_wait)(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct rt_until *until);
	void (*cond_notify)(pthread_cond_t *cond, bool all);
	struct rt_arrival (*barrier_arrive)(const pthread_barrier_t *barrier);
	int (*barrier_await)(struct rt_op *op, const struct rt_arrival *arrival);
};

struct rt_layer {
	enum rt_layer_number number;
	bool listens;
	bool (*is_deaf)(void); /* it does not listen in this process after all; NULL: it does */
	size_t thread_size;    /* of t->layer[number], zero in a new thread; 0: the layer sets the pointer */

	/* The process.  setup(): before the first thread, false: nothing to do here.  forked(): in the child;
	 * without it, a layer that listened has no state there.  stopped(): recording is over. */
	bool (*setup)(void);
	void (*forked)(void);
	void (*stopped)(void);

	/* Threads.  reset(): a state is to be as new.  begins(): called first in the thread, also
	 * if it was adopted; started(): its first record is written.  ends(): within its last
	 * operation; ended(): after it. */
	void (*reset)(struct rt_thread *t);
	void (*begins)(struct rt_thread *t);
	void (*started)(struct rt_thread *t);
	void (*ends)(struct rt_thread *t);
	void (*ended)(struct rt_thread *t);

	/* Of layers that listen. */
	struct rt_callbacks callbacks;	  /* rt/core/callback.inc */
	const struct rt_instead *instead; /* NULL: what libc does is right; one layer at most has it */
};

/* The layers of this flavour, in order; NULL after the last. */
extern const struct rt_layer *const rt_layers[];
void rt_layers_setup(void);
void rt_layers_forked(void); /* in the child: no layer listens any more */

/* Notifies all layers that are present of the life of the process and its threads; those that listen, of all
 * else. */
#define RT_NOTIFY_ALL(callback, ...)                                                                         \
	do {                                                                                                 \
		for (const struct rt_layer *const *layer_ = rt.present; *layer_; layer_++)                   \
			if ((*layer_)->callback)                                                             \
				(*layer_)->callback(__VA_ARGS__);                                            \
	} while (0)
#define RT_NOTIFY(callback, ...)                                                                             \
	do {                                                                                                 \
		if (rt.callbacks.callback)                                                                   \
			rt.callbacks.callback(__VA_ARGS__);                                                  \
	} while (0)

static inline void rt_op_fill_(struct rt_op *op, struct rt_thread *t, uint32_t kind, uint64_t object)
{
	op->t = t;
	op->kind = kind;
	op->object = object;
	op->shared = false;
}

static inline void rt_op_begin(struct rt_op *op, struct rt_thread *t, uint32_t kind, uint64_t object)
{
	rt_op_fill_(op, t, kind, object);
	RT_NOTIFY(op_begin, op);
}

static inline void rt_op_gate(struct rt_op *op)
{
	if (op->t)
		RT_NOTIFY(op_gate, op);
}

/* Both, of the calling thread. */
static inline void rt_op(struct rt_op *op, uint32_t kind, uint64_t object)
{
	struct rt_thread *t = rt_self();

	op->t = NULL;
	if (!t || t->recording != RT_LISTENED)
		return;
	rt_op_fill_(op, t, kind, object);
	RT_NOTIFY(op_enter, op);
}

/* It turned out to be of this kind. */
static inline void rt_op_is(struct rt_op *op, uint32_t kind)
{
	if (!op->t)
		return;
	RT_NOTIFY(op_is, op, kind);
	op->kind = kind;
}

/* The thread waits in the operation, for `object`; and it has what it waited for.  What it does meanwhile, in
 * a handler or the unwinder, comes before the operation in its trace. */
static inline void rt_op_waits(struct rt_op *op, uint64_t object, bool timed)
{
	if (op->t)
		RT_NOTIFY(op_waits, op, object, timed);
}

/* Whether the thread must not wait in the kernel, since a layer lets threads run one at a time.  Then it
 * calls rt_op_wait() instead, and looks again for what it waits for; false: the time is up. */
static inline bool rt_op_turns(struct rt_op *op)
{
	bool turns = false;

	if (op->t)
		RT_NOTIFY(op_turns, op, &turns);
	return turns;
}

static inline bool rt_op_wait(struct rt_op *op, const struct rt_until *until)
{
	bool goes_on = true;

	RT_NOTIFY(op_wait, op, until, &goes_on);
	return goes_on;
}

static inline void rt_op_waited(struct rt_op *op)
{
	if (op->t)
		RT_NOTIFY(op_waited, op);
}

/* It releases `object`, before that takes effect and after.  A wait releases a mutex too, so kind and object
 * may be others than the operation's. */
static inline void rt_op_releasing(struct rt_op *op, uint32_t kind, uintptr_t object)
{
	if (op->t)
		RT_NOTIFY(releasing, op, kind, object);
}

static inline void rt_op_released(struct rt_op *op, uint32_t kind, uintptr_t object, uint64_t result)
{
	if (op->t)
		RT_NOTIFY(released, op, kind, object, result);
}

static inline void rt_op_end(struct rt_op *op)
{
	if (op->t)
		RT_NOTIFY(op_end, op);
	op->t = NULL;
}

static inline void rt_op_left(struct rt_op *op)
{
	if (op->t)
		RT_NOTIFY(op_left, op);
	op->t = NULL;
}

#define RT_OP(name, kind, object)                                                                            \
	struct rt_op name __attribute__((cleanup(rt_op_left)));                                              \
	rt_op(&name, kind, (uint64_t)(object))

/* A layer has to see each access of the thread before it happens, or need not any more. */
static inline void rt_heed(struct rt_thread *t, enum rt_layer_number number, bool each)
{
	t->each = (t->each & ~(1u << number)) | (uint32_t)each << number;
}

/* The call that the thread is in, as far as it is the program's; 0: none. */
static inline uint32_t rt_call_site(const struct rt_thread *t)
{
	return t->self.stack_top[-1] & ~RT_STACK_EMITTED;
}

/* The calling thread, after layers were notified what it is about to do with an object; NULL: it has no
 * state. */
struct rt_thread *rt_handling(uint32_t kind, const volatile void *object);

/* A read and then a write of the same bytes (the upper half of `sites` is the write's); accesses at equal
 * distances. */
void rt_notify_update(struct rt_thread *t, uintptr_t address, uint32_t size, uint64_t sites);
void rt_notify_stride(struct rt_thread *t, const struct rt_record *stride, uint32_t size, uint32_t how);
bool rt_notify_segment_ends(struct rt_thread *t);

/* Whether a read-write lock lets no reader in while a writer waits. */
static inline bool rt_prefers_writers(const pthread_rwlock_t *rwlock)
{
	return rwlock->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
}

/* rt/core/sync/listened.c: the whole of an operation, for a thread that is notified or not recorded.  All
 * return errno values. */
int rt_listened_acquire(uint32_t code, volatile void *object, const struct rt_until *until);
int rt_listened_release(uint32_t code, volatile void *object);
int rt_listened_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct rt_until *until);
int rt_listened_notify(uint32_t code, pthread_cond_t *cond);
int rt_listened_barrier(pthread_barrier_t *barrier);

#endif
