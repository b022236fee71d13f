// SPDX-License-Identifier: Apache-2.0
/*
 * Keeps threads that do not run, if all threads share one kernel thread: threads that have ended,
 * and threads that were created in advance.  In: threads that end, and the number of threads that a
 * run will create.  Out: results for joins, and ready-made threads for creations, both without
 * system calls.
 *
 * A thread has made its last step when its destructors have run.  Only libc's part is left, which
 * would free the thread's memory and end its kernel thread.  Such a thread is parked, that is, it
 * stays a context that never runs again.  A join gets its result from here.
 *
 * Invariants:
 * 1. At most PARKED_MAX threads are parked, since each keeps its stack; others leave.
 * 2. After the initial thread has ended, no thread is parked: libc counts the threads that leave,
 *    and ends the process after the last one.
 */
#include "rt/core/one.h"
#include "rt/steer/turn-int.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PARKED_MAX 1024 /* chosen by hand: their stacks take 8 GiB of address space, but little memory */

static bool may_park(const struct rt_thread *t)
{
	const struct rt_steering *g = rt_steering();

	return t->number != 0 && t->number < RADDLE_SLOTS && !t->detached && g->contexts[0] &&
	       g->parked_count < PARKED_MAX;
}

bool rt_park(struct rt_thread *t)
{
	struct rt_steering *g = rt_steering();

	if (!may_park(t))
		return false;
	g->parked[t->number] = t;
	g->parked_count++;
	return true;
}

/* Called when the initial thread ends.  All parked threads leave. */
void rt_park_end(void)
{
	struct rt_steering *g = rt_steering();

	for (uint32_t i = 0; i < rt_slot_count() && g->parked_count; i++) {
		struct rt_thread *t = g->parked[i];

		if (!t)
			continue;
		g->parked[i] = NULL;
		g->parked_count--;
		rt_context_let_go(&rt_steered(t)->context);
	}
}

void rt_park_result(uint32_t number, void **result, bool *known)
{
	const struct rt_thread *t = number < RADDLE_SLOTS ? rt_steering()->parked[number] : NULL;

	if (!t)
		return;
	*result = t->result;
	*known = true;
}

/* ---- threads that were made in advance ---- */

void rt_park_prepares(struct rt_thread *t)
{
	struct rt_steering *g = rt_steering();

	if (!t->prepared) {
		atomic_store(&rt_steered(t)->context.alive, 1);
		return;
	}
	t->next = g->ready_made;
	g->ready_made = t;
}

/* A new thread inherits the floating-point control words of the thread that creates it.  They are
 * at the top of its saved stack (rt/steer/context.c). */
static void set_control_words(struct rt_context *c)
{
	uint32_t *words = c->sp;

	__asm__ volatile("stmxcsr %0; fnstcw %1" : "=m"(words[0]), "=m"(words[1]));
}

void rt_park_prepared(struct rt_thread **child)
{
	struct rt_steering *g = rt_steering();

	if (!g->ready_made)
		return;
	*child = g->ready_made;
	g->ready_made = (*child)->next;
	(*child)->next = NULL;
	set_control_words(&rt_steered(*child)->context);
	/* Signals need not be blocked for it if no handler can run. */
	if (rt_is_alone())
		rt_steered(*child)->context.blocked = rt_steered(*child)->context.masked = false;
}

/* Returns true if the address space is unlimited, so that the stacks of these threads take nothing
 * away from the program. */
static bool has_room(void)
{
	struct rlimit limit;

	return !syscall(SYS_getrlimit, RLIMIT_AS, &limit) && limit.rlim_cur == RLIM_INFINITY;
}

void rt_park_fill(uint32_t count)
{
	while (count && has_room() && rt_thread_prepare())
		count--;
}
