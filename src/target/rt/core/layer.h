/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface of layers.  It defines what the core and the writer notify layers of, and what
 * layers may request.
 *
 * A flavour consists of the core, one layer that writes records (rt/core/buffer/writer.h) and
 * others, as listed in its row in raddle/flavour.inc.  Each layer is a table of callbacks,
 * `rt_layer_NAME`; a callback that is NULL is not called.  Interposed functions and hooks call the
 * functions of this header, whichever layers there are.  A new layer needs a table, a number in
 * enum rt_layer_number, and its name in the rows of its flavours.
 *
 *   present    layers whose setup() returned true: they have something to do in this process.
 *              They are notified when the process and its threads begin and end.
 *   listening  present layers with `listens`: they are also notified of operations, orders,
 *              accesses and memory.  If there is one, threads are RT_LISTENED instead of RT_PLAIN,
 *              and interposed functions take their slower path.  Layers that do not listen are not
 *              notified of these.
 *
 * Layers are notified in the order of the row.  Callbacks run in the thread that they concern, and
 * the caller saves errno.  `atomic`, `refused`, `states` and `buffers` may be called while a lock
 * of the runtime is held, so they must not wait.  The others may wait, unless the encoder is taken
 * (t->busy), which can happen in a signal handler.  In the child of a fork, no layer listens.
 *
 * rt.layer[number] and t->layer[number] point to the state of a layer.
 */
#ifndef RT_LAYER_H
#define RT_LAYER_H

#include "rt/core/buffer/gather.h"
#include "rt/core/call.h"
#include "rt/core/rt.h"

#include <time.h>

/* How memory is accessed. */
enum rt_access {
	RT_ACCESS_READ = 0,
	RT_ACCESS_WRITE = 1,
	RT_ACCESS_ATOMIC = 2,
	RT_ACCESS_ACQUIRES_NOT = 4, /* an atomic access whose memory order does not acquire */
	RT_ACCESS_RELEASES_NOT = 8, /* an atomic access whose memory order does not release */
	RT_ACCESS_SAME_CALL = 16,   /* made by the same call as the access reported before it */
	RT_ACCESS_COMPUTED = 32,    /* the program computed how many bytes are accessed */
	RT_ACCESS_IDLE = 64,	    /* only values in memory depend on it */
};

/* How long an operation may wait.  A null pointer to this means that there is no time limit. */
struct rt_until {
	clockid_t clock;
	const struct timespec *time;
};
#define RT_UNTIL(clock, time) (&(struct rt_until){clock, time})

/*
 * An operation that layers are notified of.  It begins, passes the gate (where the thread may have
 * to wait for its turn), takes effect, and ends when its record is written.  An operation that
 * ends by cancellation or an exception is ignored, since it is not recorded.  For example:
 *
 * 	RT_OP(op, RADDLE_THREAD_JOIN, number);
 * 	... rt_op_end(&op);
 *
 * If no layer listens to the thread, op.t is NULL and all calls do nothing.
 */
struct rt_op {
	struct rt_thread *t;
	uint64_t object;
	uint32_t kind; /* a row of event.inc */
	bool shared;   /* true if it releases a lock held for reading; set by releasing() */
	struct rt_op_state {
		uint64_t word[8];
	} state[RT_LAYER_COUNT]; /* the state of each layer, which its op_begin() fills */
};

/* A thread that has arrived at a barrier that a layer handles. */
struct rt_arrival {
	void *barrier; /* NULL if the layer leaves the barrier to libc */
	uint32_t round;
	bool last;
};

/* Functions of a layer that replace those of libc, for objects that are not shared with other
 * processes.  cond_wait() performs the whole wait, like rt_listened_wait().  A thread calls
 * barrier_arrive() when it arrives at a barrier, and then barrier_await() to wait for the other
 * threads. */
struct rt_instead {
	int (*cond_wait)(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct rt_until *until);
	void (*cond_notify)(pthread_cond_t *cond, bool all);
	struct rt_arrival (*barrier_arrive)(const pthread_barrier_t *barrier);
	int (*barrier_await)(struct rt_op *op, const struct rt_arrival *arrival);
};

struct rt_layer {
	enum rt_layer_number number;
	bool listens;
	/* Returns true if the layer does not listen in this process although `listens` is set; or NULL */
	bool (*is_deaf)(void);
	/* The size of *t->layer[number] in bytes, or 0 if the layer sets this pointer itself.  The
	 * memory is zeroed in a new thread. */
	size_t thread_size;

	/* setup() is called before the first thread begins, and returns false if the layer has
	 * nothing to do in this process.  forked() is called in the child of a fork; without it, a
	 * layer that listened has no state there.  stopped() is called when recording ends. */
	bool (*setup)(void);
	void (*forked)(void);
	void (*stopped)(void);

	/* reset() resets the layer's state of a thread, so that a new thread can use it.  Every
	 * thread, even one that the program did not create, calls begins() first.  It calls
	 * started() when its first record has been written, ends() within its last operation, and
	 * ended() after that operation. */
	void (*reset)(struct rt_thread *t);
	void (*begins)(struct rt_thread *t);
	void (*started)(struct rt_thread *t);
	void (*ends)(struct rt_thread *t);
	void (*ended)(struct rt_thread *t);

	/* For layers that listen. */
	struct rt_callbacks callbacks;	  /* rt/core/callback.inc */
	const struct rt_instead *instead; /* at most one layer has it; NULL in the others */
};

/* The layers of this flavour, in order, terminated by NULL. */
extern const struct rt_layer *const rt_layers[];
void rt_layers_setup(void);
void rt_layers_forked(void); /* called in the child, where no layer listens */

/* RT_NOTIFY_ALL notifies all present layers when the process or a thread begins or ends.
 * RT_NOTIFY is for all other events, and notifies only the layers that listen. */
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

/* Begins an operation of the calling thread, and passes its gate. */
static inline void rt_op(struct rt_op *op, uint32_t kind, uint64_t object)
{
	struct rt_thread *t = rt_self();

	op->t = NULL;
	if (!t || t->recording != RT_LISTENED)
		return;
	rt_op_fill_(op, t, kind, object);
	RT_NOTIFY(op_enter, op);
}

/* Corrects the kind of the operation, when it becomes known. */
static inline void rt_op_is(struct rt_op *op, uint32_t kind)
{
	if (!op->t)
		return;
	RT_NOTIFY(op_is, op, kind);
	op->kind = kind;
}

/* A thread that begins to wait for `object` within an operation calls rt_op_waits().  When the
 * wait is over, it calls rt_op_waited().  If the thread runs a signal handler or the unwinder in
 * between, the operations made there precede this operation in the thread's trace. */
static inline void rt_op_waits(struct rt_op *op, uint64_t object, bool timed)
{
	if (op->t)
		RT_NOTIFY(op_waits, op, object, timed);
}

/* Returns true if the thread must not wait in the kernel, because a layer lets threads run one at
 * a time.  The thread then calls rt_op_wait() repeatedly.  It stops when it has what it waits for,
 * or when rt_op_wait() returns false because the time is up. */
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

/* Call releasing() before the release of `object` takes effect, and released() after it.  `kind`
 * and `object` may differ from those of the operation, because waiting on a condition variable also
 * releases a mutex. */
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

/* Sets whether this layer must be notified of each access of the thread, before it happens. */
static inline void rt_heed(struct rt_thread *t, enum rt_layer_number number, bool each)
{
	t->each = (t->each & ~(1u << number)) | (uint32_t)each << number;
}

/* Returns true if all threads run on one kernel thread. */
static inline bool rt_shares_kernel_thread(void)
{
	bool one = false;

	RT_NOTIFY(shares, &one);
	return one;
}

/* Returns the site of the thread's innermost call, or 0 if it is in no call of the program. */
static inline uint32_t rt_call_site(const struct rt_thread *t)
{
	return t->self.stack_top[-1] & ~RT_STACK_EMITTED;
}

/* Notifies layers that the calling thread is about to do an operation of this kind on the object.
 * Returns the thread, or NULL if the runtime keeps no data about it. */
struct rt_thread *rt_handling(uint32_t kind, const volatile void *object);

/* These functions notify layers of accesses.  An update is a read followed by a write of the same
 * bytes.  The lower half of `sites` is the site of the read, and the upper half is that of the
 * write.  A stride consists of accesses at equal distances. */
void rt_notify_update(struct rt_thread *t, uintptr_t address, uint32_t size, uint64_t sites);
void rt_notify_stride(struct rt_thread *t, const struct rt_record *stride, uint32_t size, uint32_t how);
bool rt_notify_segment_ends(struct rt_thread *t);

/* Returns true if the lock admits no further readers while a writer waits. */
static inline bool rt_prefers_writers(const pthread_rwlock_t *rwlock)
{
	return rwlock->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
}

/* rt/core/memory/allocate.c: the usable size of a block.  Layers are not notified (`sized`). */
size_t rt_usable_size(void *p);

/* rt/core/sync/listened.c: whole operations, for threads that are not recorded and for threads
 * whose operations layers are notified of.  All return errno values. */
int rt_listened_acquire(uint32_t code, volatile void *object, const struct rt_until *until);
int rt_listened_release(uint32_t code, volatile void *object);
int rt_listened_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct rt_until *until);
int rt_listened_notify(uint32_t code, pthread_cond_t *cond);
int rt_listened_barrier(pthread_barrier_t *barrier);

#endif
