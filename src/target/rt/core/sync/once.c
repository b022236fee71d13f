// SPDX-License-Identifier: Apache-2.0
/*
 * Interposed one-time initialisation: pthread_once and call_once.
 *
 * The real function runs a routine of the runtime, which finds the program's routine in t->once.
 * Routines may nest, so t->once is a list.  If the routine is left by an exception or a
 * cancellation, ONCE_DONE is written with result 1, and the routine may run again.  If another
 * thread is running the routine, ONCE_REQUEST is written before the wait.
 */
#include "rt/core/layer.h"
#include "rt/core/real.h"

#define A(p) ((uintptr_t)(p))

void rt_member_once(void);
void rt_member_once(void)
{
}

struct rt_once {
	const void *control;
	void (*routine)(void);
	struct rt_once *outer;
	struct rt_thread *t;
	bool ran;
	uint64_t result;
	struct rt_op begin, done; /* the start and the end of the routine are separate operations */
};

/* Returns true if a thread is running the routine.  In glibc, the low bits of the control are 1
 * while a thread runs the routine and 2 afterwards; the higher bits count forks. */
static bool in_progress(const pthread_once_t *control)
{
	return (__atomic_load_n(control, __ATOMIC_RELAXED) & 3) == 1;
}

static void done(struct rt_once **o)
{
	int saved = errno;

	rt_op(&(*o)->done, RADDLE_ONCE_DONE, A((*o)->control));
	rt_op_releasing(&(*o)->done, RADDLE_ONCE_DONE, A((*o)->control));
	RT_EVENT((*o)->t, RADDLE_ONCE_DONE, RT_Q, RT_T, A((*o)->control), (*o)->result);
	errno = saved;
}

static void run(void)
{
	struct rt_thread *t = (struct rt_thread *)__raddle_self;
	struct rt_once *o __attribute__((cleanup(done))) = t->once;

	o->ran = true;
	o->result = 1;
	rt_op_is(&o->begin, RADDLE_ONCE_RUN);
	RT_NOTIFY(acquired, t, RADDLE_ONCE_RUN, A(o->control),
		  0); /* another thread may have left the routine by an exception before */
	RT_EVENT(t, RADDLE_ONCE_RUN, RT_Q, RT_T, A(o->control));
	rt_op_end(&o->begin);
	o->routine();
	o->result = 0;
}

/* The operation ONCE_DONE takes effect when the real function returns, or when it is left by an
 * exception or cancellation. */
static void leave(struct rt_once *o)
{
	o->t->once = o->outer;
	rt_op_released(&o->done, RADDLE_ONCE_DONE, A(o->control), 0);
	rt_op_end(&o->done);
	rt_op_left(&o->begin);
}

/* The operation begins as ONCE_RUN.  It becomes ONCE_PASS if this thread did not run the
 * routine. */
static int once(pthread_once_t *control, void (*routine)(void))
{
	struct rt_thread *t = rt_self();
	int r;

	if (!t)
		return REAL(pthread_once)(control, routine);
	struct rt_once o __attribute__((cleanup(leave)));
	o.control = control;
	o.routine = routine;
	o.outer = t->once;
	o.t = t;
	o.ran = false;
	o.done.t = NULL;
	rt_op(&o.begin, RADDLE_ONCE_RUN, A(control));
	t->once = &o;
	if (in_progress(control)) {
		RT_EVENT(t, RADDLE_ONCE_REQUEST, RT_Q, RT_T, A(control));
		rt_op_waits(&o.begin, A(control), false);
		while (rt_op_turns(&o.begin) && in_progress(control))
			rt_op_wait(&o.begin, NULL);
	}
	r = REAL(pthread_once)(control, run);
	if (!o.ran && !r) {
		rt_op_is(&o.begin, RADDLE_ONCE_PASS);
		RT_NOTIFY(acquired, t, RADDLE_ONCE_PASS, A(control), 0);
		RT_EVENT(t, RADDLE_ONCE_PASS, RT_Q, RT_T, A(control));
		rt_op_end(&o.begin);
	}
	return r;
}

INTERPOSE(int, pthread_once, (pthread_once_t * control, void (*routine)(void)))
{
	return once(control, routine);
}

/* In glibc, a once_flag is a pthread_once_t, and call_once is pthread_once. */
_Static_assert(sizeof(once_flag) == sizeof(pthread_once_t), "one kind of control");

INTERPOSE(void, call_once, (once_flag * control, void (*routine)(void)))
{
	once((pthread_once_t *)control, routine);
}
