// SPDX-License-Identifier: Apache-2.0
/*
 * Interposed functions that ask the kernel about a thread: its ID, its name and its processors.
 * In: calls.  Out: the system's result, or an ID that a layer supplies.  Layers are notified of
 * calls that address a kernel thread.
 */
#include "rt/core/layer.h"
#include "rt/core/real.h"

void rt_member_identity(void);
void rt_member_identity(void)
{
}

INTERPOSE(pid_t, gettid, (void))
{
	struct rt_thread *t = rt_self();
	pid_t id = 0;

	if (t && t->recording == RT_LISTENED)
		RT_NOTIFY(identifies, t, &id);
	return id ? id : REAL(gettid)();
}

INTERPOSE(int, pthread_getname_np, (pthread_t thread, char *name, size_t size))
{
	RT_NOTIFY(addresses);
	return REAL(pthread_getname_np)(thread, name, size);
}

INTERPOSE(int, pthread_setaffinity_np, (pthread_t thread, size_t size, const cpu_set_t *set))
{
	RT_NOTIFY(addresses);
	return REAL(pthread_setaffinity_np)(thread, size, set);
}

INTERPOSE(int, pthread_getaffinity_np, (pthread_t thread, size_t size, cpu_set_t *set))
{
	RT_NOTIFY(addresses);
	return REAL(pthread_getaffinity_np)(thread, size, set);
}
