// SPDX-License-Identifier: Apache-2.0
/*
 * Interposed functions of C++ programs: guards of static locals, captured exceptions, operator new
 * and delete.  This archive member is linked only if the program uses one of them.
 *
 * operator new calls malloc, and the interposed malloc writes the event.  This file only sets the
 * kind of allocation, and resets it by a cleanup, since the real operator may throw.
 */
#include "rt/core/layer.h"
#include "rt/core/real.h"

#define A(p) ((uintptr_t)(p))

/* Returns true if a thread is initialising the object of this guard.  In libstdc++ and libc++, the
 * first byte of a guard is set once the object exists, and the second byte while it is being
 * constructed. */
static bool in_progress(const void *guard)
{
	const uint8_t *byte = guard;

	return __atomic_load_n(&byte[1], __ATOMIC_RELAXED) && !__atomic_load_n(byte, __ATOMIC_ACQUIRE);
}

INTERPOSE(int, __cxa_guard_acquire, (void *guard))
{
	struct rt_thread *t = rt_self();
	RT_OP(op, RADDLE_ONCE_RUN, guard);
	uint32_t code;
	int r;

	if (!t)
		return REAL(__cxa_guard_acquire)(guard);
	if (in_progress(guard)) {
		RT_EVENT(t, RADDLE_ONCE_REQUEST, RT_Q, RT_T, A(guard));
		rt_op_waits(&op, A(guard), false);
		while (rt_op_turns(&op) && in_progress(guard))
			rt_op_wait(&op, NULL);
	}
	r = REAL(__cxa_guard_acquire)(guard);
	code = r ? RADDLE_ONCE_RUN : RADDLE_ONCE_PASS;
	rt_op_is(&op, code);
	/* The guard is acquired even if this thread runs the initialiser (ONCE_RUN), because an
	 * earlier attempt of another thread may have thrown an exception. */
	RT_NOTIFY(acquired, t, code, A(guard), 0);
	RT_EVENT(t, code, RT_Q, RT_T, A(guard));
	rt_op_end(&op);
	return r;
}

static void guard_done(void *guard, uint64_t result, __typeof__(__cxa_guard_release) *real)
{
	struct rt_thread *t = rt_self();
	RT_OP(op, RADDLE_ONCE_DONE, guard);

	rt_op_releasing(&op, RADDLE_ONCE_DONE, A(guard));
	if (t)
		RT_EVENT(t, RADDLE_ONCE_DONE, RT_Q, RT_T, A(guard), result);
	real(guard);
	rt_op_released(&op, RADDLE_ONCE_DONE, A(guard), 0);
	rt_op_end(&op);
}

INTERPOSE(void, __cxa_guard_release, (void *guard))
{
	guard_done(guard, 0, REAL(__cxa_guard_release));
}

INTERPOSE(void, __cxa_guard_abort, (void *guard))
{
	guard_done(guard, 1, REAL(__cxa_guard_abort));
}

/* The C++ library counts the owners of a captured exception, and the last owner destroys the
 * object, which other threads may have read.  This event shows that threads may be ordered in a way
 * that no other event records.  It is written even if there is only one thread, since others may
 * begin later. */
static void captured(void)
{
	struct rt_thread *t = rt_self();

	if (t && t->recording)
		rt_outside_event(t, RADDLE_OUTSIDE_HIDDEN);
}

INTERPOSE(void *, _ZSt17current_exceptionv, (void *result))
{
	captured();
	return REAL(_ZSt17current_exceptionv)(result);
}

INTERPOSE(void, _ZNSt15__exception_ptr13exception_ptrC1EPv, (void *self, void *exception))
{
	captured();
	REAL(_ZNSt15__exception_ptr13exception_ptrC1EPv)(self, exception);
}

/* The outermost operator determines the kind, since operator new[] calls operator new. */
struct kind {
	struct rt_thread *t;
	uint32_t outer;
};

static struct kind kind_begin(enum raddle_alloc_kind kind)
{
	struct kind k = {rt_self(), 0};

	if (k.t) {
		k.outer = k.t->new_kind;
		k.t->new_kind = k.outer ? k.outer : kind + 1;
	}
	return k;
}

static void kind_end(struct kind *k)
{
	if (k->t)
		k->t->new_kind = k->outer;
}

#define KIND(value) struct kind k_ __attribute__((cleanup(kind_end), unused)) = kind_begin(value)
#define ONE RADDLE_ALLOC_NEW
#define MANY RADDLE_ALLOC_NEW_ARRAY

#define OPERATOR_NEW(name, value, parameters, arguments)                                                     \
	INTERPOSE(void *, name, parameters)                                                                  \
	{                                                                                                    \
		KIND(value);                                                                                 \
		return REAL(name) arguments;                                                                 \
	}

#define OPERATOR_DELETE(name, value, parameters, arguments)                                                  \
	INTERPOSE(void, name, parameters)                                                                    \
	{                                                                                                    \
		KIND(value);                                                                                 \
		REAL(name) arguments;                                                                        \
	}

#define NOTHROW const struct nothrow *n

OPERATOR_NEW(_Znwm, ONE, (size_t size), (size))
OPERATOR_NEW(_Znam, MANY, (size_t size), (size))
OPERATOR_NEW(_ZnwmRKSt9nothrow_t, ONE, (size_t size, NOTHROW), (size, n))
OPERATOR_NEW(_ZnamRKSt9nothrow_t, MANY, (size_t size, NOTHROW), (size, n))
OPERATOR_NEW(_ZnwmSt11align_val_t, ONE, (size_t size, size_t align), (size, align))
OPERATOR_NEW(_ZnamSt11align_val_t, MANY, (size_t size, size_t align), (size, align))
OPERATOR_NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, ONE, (size_t size, size_t align, NOTHROW), (size, align, n))
OPERATOR_NEW(_ZnamSt11align_val_tRKSt9nothrow_t, MANY, (size_t size, size_t align, NOTHROW), (size, align, n))
OPERATOR_DELETE(_ZdlPv, ONE, (void *p), (p))
OPERATOR_DELETE(_ZdaPv, MANY, (void *p), (p))
OPERATOR_DELETE(_ZdlPvm, ONE, (void *p, size_t size), (p, size))
OPERATOR_DELETE(_ZdaPvm, MANY, (void *p, size_t size), (p, size))
OPERATOR_DELETE(_ZdlPvRKSt9nothrow_t, ONE, (void *p, NOTHROW), (p, n))
OPERATOR_DELETE(_ZdaPvRKSt9nothrow_t, MANY, (void *p, NOTHROW), (p, n))
OPERATOR_DELETE(_ZdlPvSt11align_val_t, ONE, (void *p, size_t align), (p, align))
OPERATOR_DELETE(_ZdaPvSt11align_val_t, MANY, (void *p, size_t align), (p, align))
OPERATOR_DELETE(_ZdlPvmSt11align_val_t, ONE, (void *p, size_t size, size_t align), (p, size, align))
OPERATOR_DELETE(_ZdaPvmSt11align_val_t, MANY, (void *p, size_t size, size_t align), (p, size, align))
OPERATOR_DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, ONE, (void *p, size_t align, NOTHROW), (p, align, n))
OPERATOR_DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, MANY, (void *p, size_t align, NOTHROW), (p, align, n))
