// SPDX-License-Identifier: Apache-2.0
/*
 * Interposed one-time initialisation: pthread_once and call_once.
 *
 * The real function runs a routine of ours in place of the program's, which
 * finds the program's one in t->once.  Routines may nest (one once inside
 * another), hence the list.  An exception or a cancellation that leaves the
 * routine is ONCE_DONE with result 1, and the control is free again.
 */
#include "rt/real.h"

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
};

static void done(struct rt_once **o)
{
	int saved = errno;

	RT_EVENT((*o)->t, RADDLE_ONCE_DONE, RT_Q, RT_T, A((*o)->control), (*o)->result);
	errno = saved;
}

static void run(void)
{
	struct rt_thread *t = (struct rt_thread *)__raddle_self;
	struct rt_once *o __attribute__((cleanup(done))) = t->once;

	o->ran = true;
	o->result = 1;
	RT_EVENT(t, RADDLE_ONCE_RUN, RT_Q, RT_T, A(o->control));
	o->routine();
	o->result = 0;
}

static void leave(struct rt_once *o)
{
	o->t->once = o->outer;
}

static int once(struct rt_thread *t, pthread_once_t *control, void (*routine)(void))
{
	struct rt_once o __attribute__((cleanup(leave))) = {
		.control = control, .routine = routine, .outer = t->once, .t = t};
	int r;

	t->once = &o;
	r = REAL(pthread_once)(control, run);
	if (!o.ran && !r)
		RT_EVENT(t, RADDLE_ONCE_PASS, RT_Q, RT_T, A(control));
	return r;
}

INTERPOSE(int, pthread_once, (pthread_once_t * control, void (*routine)(void)))
{
	struct rt_thread *t = rt_self();

	return t ? once(t, control, routine) : REAL(pthread_once)(control, routine);
}

/* In glibc a once_flag is a pthread_once_t and call_once is pthread_once. */
_Static_assert(sizeof(once_flag) == sizeof(pthread_once_t), "one kind of control");

INTERPOSE(void, call_once, (once_flag * control, void (*routine)(void)))
{
	struct rt_thread *t = rt_self();

	if (t)
		once(t, (pthread_once_t *)control, routine);
	else
		REAL(call_once)(control, routine);
}
