// SPDX-License-Identifier: Apache-2.0
/*
 * The functions that an edited program calls (base/edit.h), to leave out synchronisation or to
 * check that a predicate is true.  In: the number of the edit.  Out: `edits` of raddle/steer.h,
 * which has a bit for each edit that was reached.  If a predicate is false, `fault` is set and the
 * process ends.
 *
 * A lock that was not taken must not be released anywhere.  So the thread lists the locks that it
 * did not take (t->left_out), and rt/core/sync/sync.c checks this list before it releases a lock.
 * A thread that would wait on a condition variable with such a lock yields instead, as in a
 * spurious wake-up.
 */
#include "rt/common/signal.h"
#include "raddle/steer.h"
#include "rt/core/layer.h"
#include "rt/core/real.h"

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>

#define EXPORT __attribute__((visibility("default")))

struct raddle_steer *rt_steer_memory(void)
{
	struct raddle_session *session = rt.session;
	struct raddle_steer *s;

	if (!session || !session->steer_offset || session->steer_size < sizeof *s)
		return NULL;
	s = (struct raddle_steer *)((char *)session + session->steer_offset);
	return s->version == RADDLE_STEER_VERSION ? s : NULL;
}

_Noreturn void rt_end_process(void)
{
	uint64_t none = 0;

	rt_signal_default(SIGABRT);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none);
	for (;;) {
		rt_signal_self(SIGABRT);
		syscall(SYS_exit_group, 134);
	}
}

/* Records that the thread has reached an edit.  Returns the steering memory, or NULL if the process
 * is not steered or is the child of a fork. */
static struct raddle_steer *come_to(uint32_t number)
{
	struct raddle_steer *s = rt_guard.alive ? rt_steer_memory() : NULL;

	if (s)
		atomic_fetch_or_explicit(&s->edits, 1u << number, memory_order_relaxed);
	return s;
}

/* ---- synchronisation ---- */

EXPORT int __raddle_leave_out(uint32_t number, const void *lock)
{
	struct rt_thread *t;

	come_to(number);
	if (lock && rt_has_state(&t) && t->left_out_count < RT_LEFT_OUT) {
		t->left_out[t->left_out_count++] = lock;
		rt.leaves_out = true;
	}
	return 0;
}

static bool is_left_out(const void *lock, bool give_back)
{
	struct rt_thread *t;

	if (!rt_has_state(&t))
		return false;
	for (uint32_t i = t->left_out_count; i-- > 0;) {
		if (t->left_out[i] != lock)
			continue;
		if (give_back)
			t->left_out[i] = t->left_out[--t->left_out_count];
		return true;
	}
	return false;
}

bool rt_was_left_out(const void *lock)
{
	return is_left_out(lock, true);
}

bool rt_wakes_at_once(const void *lock)
{
	if (!is_left_out(lock, false))
		return false;
	sched_yield();
	return true;
}

/* ---- predicates ---- */

static void violate(struct raddle_steer *s, uint32_t number, uint32_t kind, uintptr_t address)
{
	struct rt_thread *t = rt_self();

	s->fault.slot = t ? t->number : RADDLE_STEER_NONE;
	s->fault.site = t ? rt_call_site(t) : 0;
	s->fault.edit = number;
	s->fault.address = address;
	atomic_store(&s->fault.kind, kind);
	rt_end_process();
}

EXPORT void __raddle_require(uint32_t number, uint32_t holds)
{
	struct raddle_steer *s = come_to(number);

	if (s && !holds)
		violate(s, number, RADDLE_MISUSE_PREDICATE, 0);
}

EXPORT void __raddle_peek(uint32_t number, void *to, const void *from, uint64_t size)
{
	struct raddle_steer *s;

	if (__raddle_readable(from, 0, size) == size) {
		__builtin_memcpy(to, from, size);
		return;
	}
	s = come_to(number);
	__builtin_memset(to, 0, size);
	if (s)
		violate(s, number, RADDLE_MISUSE_UNDEFINED, (uintptr_t)from);
}

/* Checks the divisor of a division, since C does not define a division by 0. */
EXPORT uint64_t __raddle_divisor(uint32_t number, uint64_t value)
{
	struct raddle_steer *s = value ? NULL : come_to(number);

	if (s)
		violate(s, number, RADDLE_MISUSE_UNDEFINED, 0);
	return value ? value : 1;
}
