// SPDX-License-Identifier: Apache-2.0
/*
 * Interposed functions of pthread and C11 that create, join, detach, cancel and name threads.
 *
 * The creating thread allocates the state of the new thread and passes it to the runtime's start
 * routine.  It does so even if nothing is recorded, because instrumented code needs a shadow stack.
 */
#include "rt/core/layer.h"
#include "rt/core/real.h"

#include <signal.h>
#include <sys/syscall.h>

void rt_member_create(void);
void rt_member_create(void)
{
}

/* The stack of a thread ends with its control block, which pthread_self()
 * points to. */
static void find_stack(struct rt_thread *t, uintptr_t size)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	uintptr_t control = (uintptr_t)pthread_self();
	uintptr_t high = (frame < control && control - frame < size ? control : frame) | (rt.page - 1);

	t->stack_high = high + 1;
	t->stack_low = t->stack_high - size;
}

static void begin(struct rt_thread *t)
{
	int saved = errno;

	t->tid = (uint32_t)syscall(SYS_gettid);
	RT_NOTIFY(arrives, t);
	find_stack(t, t->stack_high);
	rt_handle_add((uint64_t)pthread_self(), t->number);
	rt_thread_begin(t);
	rt_allow_signals(&t->signals);
	errno = saved;
}

/* The start routine is read after begin(), because a thread that was made in advance learns only
 * then what to run.  It is called by a tail call, so that a debugger shows no frame of the runtime
 * below it. */
static void *run(void *state)
{
	struct rt_thread *t = state;

	begin(t);
	return t->start(t->argument);
}

static int run_c11(void *state)
{
	struct rt_thread *t = state;

	begin(t);
	return t->start_c11(t->argument);
}

/* These functions work like run() and run_c11(), but also store the thread's result.  Joins need
 * the result if all threads run on one kernel thread. */
static void *run_for_result(void *state)
{
	struct rt_thread *t = state;

	begin(t);
	return t->result = t->start(t->argument);
}

static int run_c11_for_result(void *state)
{
	struct rt_thread *t = state;
	int r;

	begin(t);
	r = t->start_c11(t->argument);
	t->result = (void *)(intptr_t)r;
	return r;
}

static void note_result(void *result)
{
	struct rt_thread *t;

	if (rt_has_state(&t))
		t->result = result;
}

INTERPOSE(void, pthread_exit, (void *result))
{
	note_result(result);
	REAL(pthread_exit)(result);
	__builtin_unreachable();
}

INTERPOSE(void, thrd_exit, (int result))
{
	note_result((void *)(intptr_t)result);
	REAL(thrd_exit)(result);
	__builtin_unreachable();
}

static uintptr_t stack_size(const pthread_attr_t *attributes)
{
	pthread_attr_t standard;
	size_t size = 0;

	if (attributes) {
		pthread_attr_getstacksize(attributes, &size);
		return size;
	}
	if (!pthread_attr_init(&standard)) {
		pthread_attr_getstacksize(&standard, &size);
		pthread_attr_destroy(&standard);
	}
	return size;
}

/* The creation of a thread, from the parent's point of view. */
struct creation {
	struct rt_thread *parent; /* NULL if the creation is not recorded */
	struct rt_thread *child;
	uint32_t number, index, taken;
	uint64_t q, time, signals;
	struct rt_op op;
};

static bool is_detached(const pthread_attr_t *attributes)
{
	int state;

	return attributes && !pthread_attr_getdetachstate(attributes, &state) &&
	       state == PTHREAD_CREATE_DETACHED;
}

/* Takes a thread that was made in advance, if there is one with this stack size. */
static void take_prepared(struct creation *c, const pthread_attr_t *attributes, uintptr_t size)
{
	struct rt_thread *ready = NULL;

	if (!c->parent || attributes || (c->child && c->child->prepared))
		return;
	RT_NOTIFY(prepared, &ready);
	if (!ready)
		return;
	if (ready->stack_high != size) {
		RT_NOTIFY(prepares, ready); /* gives the thread back, for another creation */
		return;
	}
	if (c->child)
		rt_thread_idle(c->child);
	c->child = ready;
}

/* The thread is created with all signals blocked, so that no handler enters the runtime before the
 * thread has its state.  A thread that was made in advance already exists and begins when it gets
 * the turn, so here it suffices to block signals if the program has handlers at all. */
static void block_signals(struct creation *c)
{
	if (c->child->prepared)
		rt_defer_signals(&c->signals);
	else
		rt_block_signals(&c->signals);
}

static bool creation_begin(struct creation *c, const pthread_attr_t *attributes)
{
	uintptr_t size = stack_size(attributes);
	sigset_t mask;

	*c = (struct creation){.parent = rt_self()};
	if (!atomic_load_explicit(&rt.ready, memory_order_acquire))
		return false;
	take_prepared(c, attributes, size);
	if (!c->child)
		c->child = rt_thread_new(size);
	if (!c->child)
		return false;
	rt_op(&c->op, RADDLE_THREAD_CREATE, 0);
	take_prepared(c, attributes, size); /* rt_op() may have made threads in advance */
	/* Until the new thread computes the bounds of its stack, stack_high holds the size of the
	 * stack. */
	c->child->stack_high = size;
	c->child->detached = is_detached(attributes);
	atomic_fetch_add(&rt.others, 1);
	block_signals(c);
	c->child->signals = c->signals;
	if (attributes && !pthread_attr_getsigmask_np(attributes, &mask))
		__builtin_memcpy(&c->child->signals, &mask, sizeof c->child->signals);
	if (!c->parent)
		return true;
	c->number = atomic_fetch_add(&rt.session->processes[rt.process].threads, 1);
	c->index = c->parent->children++;
	c->child->number = c->number;
	c->child->parent = c->parent->number;
	c->child->index = c->index;
	RT_NOTIFY(created, c->parent, c->child);
	c->parent->internal++;
	c->taken = rt_encoder_take(c->parent);
	c->q = rt_q();
	c->time = rt_now();
	return true;
}

static void creation_end(struct creation *c, const pthread_t *thread, int error)
{
	uint32_t count = c->number + 1;

	rt_allow_signals(&c->signals);
	if (error) {
		atomic_fetch_sub(&rt.others, 1);
		RT_NOTIFY(uncreated, c->child);
		rt_refused(error);
		rt_thread_idle(c->child);
	}
	if (!c->parent)
		return;
	c->parent->internal--;
	if (error) {
		atomic_compare_exchange_strong(&rt.session->processes[rt.process].threads, &count, c->number);
		c->parent->children--;
	} else if (c->child->number == c->number && c->child->handle != (uint64_t)*thread) {
		rt_handle_add((uint64_t)*thread, c->number);
	}
	RT_EVENT(c->parent, RADDLE_THREAD_CREATE | c->taken, c->q, c->time, c->number, c->index,
		 (uint64_t)error);
	if (!error)
		rt_created(c->parent, (uint64_t)*thread);
	rt_op_end(&c->op);
}

INTERPOSE(int, pthread_create,
	  (pthread_t *restrict thread, const pthread_attr_t *restrict attributes, void *(*start)(void *),
	   void *restrict argument))
{
	struct creation c;
	pthread_t id = 0;
	int r;

	if (!creation_begin(&c, attributes))
		return REAL(pthread_create)(thread, attributes, start, argument);
	c.child->start = start;
	c.child->argument = argument;
	if (c.child->prepared) {
		*thread = (pthread_t)c.child->prepared;
		r = 0;
	} else {
		r = REAL(pthread_create)(thread, attributes, rt.one ? run_for_result : run, c.child);
	}
	if (!r)
		id = *thread;
	creation_end(&c, &id, r);
	return r;
}

bool rt_thread_prepare(void)
{
	uintptr_t size = stack_size(NULL);
	struct rt_thread *t = rt_thread_new(size);
	uint64_t signals;
	pthread_t id = 0;
	int r;

	if (!t)
		return false;
	t->stack_high = size;
	RT_NOTIFY(prepares, t);
	rt_block_signals(&signals);
	r = REAL(pthread_create)(&id, NULL, run_for_result, t);
	rt_restore_signals(&signals);
	if (r) {
		rt_thread_idle(t);
		return false;
	}
	t->prepared = (uint64_t)id;
	RT_NOTIFY(prepares, t);
	return true;
}

INTERPOSE(int, thrd_create, (thrd_t * thread, thrd_start_t start, void *argument))
{
	struct creation c;
	pthread_t id = 0;
	int r;

	if (!creation_begin(&c, NULL))
		return REAL(thrd_create)(thread, start, argument);
	c.child->start_c11 = start;
	c.child->argument = argument;
	r = REAL(thrd_create)(thread, rt.one ? run_c11_for_result : run_c11, c.child);
	if (r == thrd_success)
		id = (pthread_t)*thread;
	creation_end(&c, &id, r == thrd_success ? 0 : r == thrd_nomem ? ENOMEM : EAGAIN);
	return r;
}

/* The caller must look up the number before the join; afterwards the pthread_t may belong to
 * another thread. */
static void joined(struct rt_thread *t, uint64_t handle, uint32_t number, int error)
{
	if (!error)
		rt_handle_remove(handle, number);
	if (t && !error)
		RT_NOTIFY(joined, t, number);
	if (t)
		RT_EVENT(t, RADDLE_THREAD_JOIN, RT_Q, RT_T, number, (uint64_t)error);
	if (!error && number != UINT32_MAX)
		atomic_fetch_sub(&rt.others, 1);
}

/* While a thread joins, its allocations are not recorded.  A join may be left by cancellation, so
 * outside() is registered as a cleanup function. */
static struct rt_thread *inside(struct rt_thread *t)
{
	if (t)
		t->internal++;
	return t;
}

static void outside(struct rt_thread **t)
{
	if (*t)
		(*t)->internal--;
}

/* Joins a thread that has ended but is kept by a layer, so that libc does not know yet that it has
 * ended.  Returns EBUSY if the thread is not in that state. */
static int join_ended(uint32_t number, void **result)
{
	void *value = NULL;
	bool known = false;

	if (number != UINT32_MAX)
		RT_NOTIFY(result, number, &value, &known);
	if (known && result)
		*result = value;
	return known ? 0 : EBUSY;
}

/* Tries to join without waiting, and writes a JOIN_REQUEST if the thread has not ended.  Returns
 * EBUSY if the real function must be called, and otherwise the result that it would return. */
static int try_join(struct rt_thread *t, pthread_t thread, void **result, uint32_t number)
{
	int r = EBUSY;

	if (!t || pthread_equal(thread, pthread_self()))
		return EBUSY;
	r = join_ended(number, result);
	if (r == EBUSY)
		r = REAL(pthread_tryjoin_np)(thread, result);
	if (r == EBUSY)
		RT_EVENT(t, RADDLE_JOIN_REQUEST, RT_Q, RT_T, number);
	return r;
}

/* If threads take turns, lets other threads run until the other thread has ended or the time is up.
 * Returns ETIMEDOUT if the time is up.  Otherwise returns EBUSY, and the caller must join the
 * thread. */
static int wait_in_join(struct rt_op *op, uint32_t number, const struct rt_until *until, bool timed)
{
	bool goes_on = true;

	rt_op_waits(op, number, timed);
	if (!rt_op_turns(op))
		return EBUSY;
	if (!timed || until)
		goes_on = rt_op_wait(op, until);
	rt_op_waited(op);
	return goes_on ? EBUSY : ETIMEDOUT;
}

/* Joins a thread.  `first` is an expression that tries to join without waiting, `ended` is a call
 * of join_ended() or its C11 counterpart, and `call` calls the real function.  `timed` is true if
 * the wait has a time limit; `until` is that limit, or NULL for a call that does not wait. */
#define JOIN(thread, first, timed, until, ended, call)                                                       \
	do {                                                                                                 \
		uint32_t number_ = rt_handle_find((uint64_t)(thread));                                       \
		struct rt_thread *inside_ __attribute__((cleanup(outside))) = inside(rt_self());             \
		RT_OP(op_, RADDLE_THREAD_JOIN, number_);                                                     \
		int r_ = first;                                                                              \
		if (r_ == EBUSY) {                                                                           \
			r_ = wait_in_join(&op_, number_, until, timed);                                      \
			if (r_ == EBUSY)                                                                     \
				r_ = ended;                                                                  \
		}                                                                                            \
		if (r_ == EBUSY)                                                                             \
			r_ = call;                                                                           \
		joined(inside_, (uint64_t)(thread), number_, r_);                                            \
		rt_op_end(&op_);                                                                             \
		return r_;                                                                                   \
	} while (0)

INTERPOSE(int, pthread_join, (pthread_t thread, void **result))
{
	JOIN(thread, try_join(inside_, thread, result, number_), false, NULL, join_ended(number_, result),
	     REAL(pthread_join)(thread, result));
}

INTERPOSE(int, pthread_tryjoin_np, (pthread_t thread, void **result))
{
	JOIN(thread, EBUSY, true, NULL, join_ended(number_, result),
	     REAL(pthread_tryjoin_np)(thread, result));
}

INTERPOSE(int, pthread_timedjoin_np, (pthread_t thread, void **result, const struct timespec *time))
{
	JOIN(thread, try_join(inside_, thread, result, number_), true, RT_UNTIL(CLOCK_REALTIME, time),
	     join_ended(number_, result), REAL(pthread_timedjoin_np)(thread, result, time));
}

INTERPOSE(int, pthread_clockjoin_np,
	  (pthread_t thread, void **result, clockid_t clock, const struct timespec *time))
{
	JOIN(thread, try_join(inside_, thread, result, number_), true, RT_UNTIL(clock, time),
	     join_ended(number_, result), REAL(pthread_clockjoin_np)(thread, result, clock, time));
}

/* Converts the result of a join to that of C11. */
static int to_c11(int r, void *value, int *result)
{
	if (r == 0 && result)
		*result = (int)(intptr_t)value;
	return r == EBUSY ? EBUSY : r == 0 ? thrd_success : thrd_error;
}

static int try_thrd_join(struct rt_thread *t, thrd_t thread, int *result, uint32_t number)
{
	void *value = NULL;
	int r = try_join(t, thread, &value, number);

	return to_c11(r, value, result);
}

static int thrd_join_ended(uint32_t number, int *result)
{
	void *value = NULL;
	int r = join_ended(number, &value);

	return to_c11(r, value, result);
}

INTERPOSE(int, thrd_join, (thrd_t thread, int *result))
{
	JOIN(thread, try_thrd_join(inside_, thread, result, number_), false, NULL,
	     thrd_join_ended(number_, result), REAL(thrd_join)(thread, result));
}

/* A thrd_t is a pthread_t, so this function serves pthread_detach() and thrd_detach(). */
static int detach(pthread_t thread, int (*real)(pthread_t))
{
	uint32_t number = rt_handle_find((uint64_t)thread);
	RT_OP(op, RADDLE_THREAD_DETACH, number);
	int r = real(thread);
	struct rt_thread *t = rt_self();

	if (!r)
		rt_handle_remove((uint64_t)thread, number);
	if (t)
		RT_EVENT(t, RADDLE_THREAD_DETACH, RT_Q, RT_T, number, (uint64_t)r);
	rt_op_end(&op);
	return r;
}

INTERPOSE(int, pthread_detach, (pthread_t thread))
{
	return detach(thread, REAL(pthread_detach));
}

INTERPOSE(int, pthread_cancel, (pthread_t thread))
{
	uint32_t number = rt_handle_find((uint64_t)thread);
	int r;

	if (atomic_load(&rt.asynchronous))
		RT_NOTIFY(addresses, RADDLE_UNFIT_CANCEL); /* libc sends the thread a signal */
	r = REAL(pthread_cancel)(thread);

	if (!r && number != UINT32_MAX)
		RT_NOTIFY(cancelled, number);
	return r;
}

INTERPOSE(int, thrd_detach, (thrd_t thread))
{
	return detach(thread, REAL(thrd_detach));
}

/* A thread writes only to its own stream, so a name that it gives to another thread is not
 * recorded. */
INTERPOSE(int, pthread_setname_np, (pthread_t thread, const char *name))
{
	struct rt_thread *t = rt_self();
	bool own = pthread_equal(thread, pthread_self());
	int r;

	if (!own)
		RT_NOTIFY(addresses, RADDLE_UNFIT_ADDRESSED);
	r = REAL(pthread_setname_np)(thread, name);
	if (t && !r && own)
		rt_text(t, RADDLE_THREAD_NAME, name);
	return r;
}
