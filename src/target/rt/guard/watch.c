// SPDX-License-Identifier: Apache-2.0
/*
 * Obtains evidence for a race from the processor.  While a thread is stopped, a watchpoint is set
 * on the address that it is about to access.  So the processor reports when another thread accesses
 * that address.  This is a second proof of the race, besides the guard of the other access.  If the
 * system refuses watchpoints, the second proof is missing.
 */
#include "rt/common/watchpoint.h"
#include "rt/guard/real.h"

enum {
	MARK = 0x52616464, /* "Radd": distinguishes these watchpoints from others */
	/* the number of hits after which the watchpoint is disabled; a trap costs microseconds, and
	 * one hit is enough */
	MAX_HITS = 8,
};

/* Returns the descriptor, or -1 if there is no watchpoint. */
static int watchpoint(void)
{
	return guard.watchpoint - 1;
}

static bool hit(uint64_t data, const void *context)
{
	(void)context;
	if (data != MARK)
		return false;
	if (atomic_fetch_add(&guard.hits, 1) + 1 >= MAX_HITS)
		rt_watchpoint_disable(watchpoint());
	return true;
}

bool guard_watch_open(void)
{
	int opened = rt_watchpoint_open(MARK);

	if (opened >= 0 && !rt_watchpoint_catch(hit)) {
		rt_watchpoint_close(opened);
		opened = -1;
	}
	guard.watchpoint = opened + 1;
	return opened >= 0;
}

void guard_watch_arm(const void *address, uint64_t size, bool writes_only)
{
	struct rt_watched watched = {.address = (uintptr_t)address, .data = MARK, .writes_only = writes_only};
	uint32_t free_now = 0;
	int saved = errno;

	if (watchpoint() < 0 || !atomic_compare_exchange_strong(&guard.armed, &free_now, 1))
		return;
	watched.length = rt_watchpoint_length(watched.address, size);
	atomic_store(&guard.hits, 0);
	if (!rt_watchpoint_move(watchpoint(), &watched))
		atomic_store(&guard.armed, 0);
	errno = saved;
}

uint32_t guard_watch_disarm(void)
{
	int saved = errno;
	uint32_t count = 0;

	if (watchpoint() >= 0 && atomic_load(&guard.armed)) {
		rt_watchpoint_disable(watchpoint());
		count = atomic_load(&guard.hits);
		atomic_fetch_add_explicit(&guard.session->hits, count, memory_order_relaxed);
		atomic_store(&guard.armed, 0);
	}
	errno = saved;
	return count;
}
