// SPDX-License-Identifier: Apache-2.0
/*
 * Interposed one-time initialisation: pthread_once and call_once.
 *
 * The real function runs a routine of ours in place of the program's, which
 * finds the program's one in t->once.  Routines may nest (one once inside
 * another), hence the list.  An exception or a cancellation that leaves the
 * routine is ONCE_DONE with result 1, and the control is free again.  A control that another
 * thread is busy with is a ONCE_REQUEST before the wait.
 */
#include "rt/core/real.h"
#include "rt/steer/steer.h"

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
	struct steps *steps; /* of a steered process, else NULL */
};

struct steps {
	struct rt_step begin, done;
	const void *control;
};

/* glibc's control: 1 while a thread runs the routine, 2 when it has been run; above that it counts
 * forks. */
static bool in_progress(const pthread_once_t *control)
{
	return (__atomic_load_n(control, __ATOMIC_RELAXED) & 3) == 1;
}

static void done(struct rt_once **o)
{
	int saved = errno;

	if ((*o)->steps) {
		(*o)->steps->done = rt_step(RADDLE_ONCE_DONE, A((*o)->control));
		RT_TELL(release, (*o)->t, A((*o)->control));
	}
	RT_EVENT((*o)->t, RADDLE_ONCE_DONE, RT_Q, RT_T, A((*o)->control), (*o)->result);
	errno = saved;
}

static void run(void)
{
	struct rt_thread *t = (struct rt_thread *)__raddle_self;
	struct rt_once *o __attribute__((cleanup(done))) = t->once;

	o->ran = true;
	o->result = 1;
	if (o->steps) {
		rt_step_is(&o->steps->begin, RADDLE_ONCE_RUN);
		RT_TELL(acquire, t, A(o->control)); /* another thread may have given up before */
	}
	RT_EVENT(t, RADDLE_ONCE_RUN, RT_Q, RT_T, A(o->control));
	if (o->steps)
		rt_step_end(&o->steps->begin);
	o->routine();
	o->result = 0;
}

static void leave(struct rt_once *o)
{
	o->t->once = o->outer;
}

/* The routine's end takes effect when the real function has returned, or has been left. */
static void leave_steps(struct steps *steps)
{
	rt_turn_released(A(steps->control));
	rt_step_end(&steps->done);
	rt_step_leave(&steps->begin);
}

static int once(struct rt_thread *t, pthread_once_t *control, void (*routine)(void))
{
	struct rt_once o __attribute__((cleanup(leave))) = {
		.control = control, .routine = routine, .outer = t->once, .t = t};
	int r;

	t->once = &o;
	if (in_progress(control))
		RT_EVENT(t, RADDLE_ONCE_REQUEST, RT_Q, RT_T, A(control));
	r = REAL(pthread_once)(control, run);
	if (!o.ran && !r)
		RT_EVENT(t, RADDLE_ONCE_PASS, RT_Q, RT_T, A(control));
	return r;
}

/* Which of the two kinds it is becomes known when it happens. */
static int steered_once(struct rt_thread *t, pthread_once_t *control, void (*routine)(void))
{
	struct steps steps __attribute__((cleanup(leave_steps))) = {
		.begin = rt_step(RADDLE_ONCE_RUN, A(control)), .control = control};
	struct rt_once o __attribute__((cleanup(leave))) = {
		.control = control, .routine = routine, .outer = t->once, .t = t, .steps = &steps};
	int r;

	t->once = &o;
	if (in_progress(control)) {
		RT_EVENT(t, RADDLE_ONCE_REQUEST, RT_Q, RT_T, A(control));
		rt_step_block(&steps.begin, A(control), false);
		while (rt_step_takes_turns(&steps.begin) && in_progress(control))
			rt_turn_wait(&steps.begin, NULL);
	}
	r = REAL(pthread_once)(control, run);
	if (!o.ran && !r) {
		rt_step_is(&steps.begin, RADDLE_ONCE_PASS);
		RT_TELL(acquire, t, A(control));
		RT_EVENT(t, RADDLE_ONCE_PASS, RT_Q, RT_T, A(control));
		rt_step_end(&steps.begin);
	}
	return r;
}

static int odd_once(pthread_once_t *control, void (*routine)(void))
{
	struct rt_thread *t = rt_self();

	return t ? steered_once(t, control, routine) : REAL(pthread_once)(control, routine);
}

INTERPOSE(int, pthread_once, (pthread_once_t * control, void (*routine)(void)))
{
	struct rt_thread *t = rt_plain();

	return t ? once(t, control, routine) : odd_once(control, routine);
}

/* In glibc a once_flag is a pthread_once_t and call_once is pthread_once. */
_Static_assert(sizeof(once_flag) == sizeof(pthread_once_t), "one kind of control");

INTERPOSE(void, call_once, (once_flag * control, void (*routine)(void)))
{
	struct rt_thread *t = rt_plain();

	if (t)
		once(t, (pthread_once_t *)control, routine);
	else
		odd_once((pthread_once_t *)control, routine);
}
