// SPDX-License-Identifier: Apache-2.0
/*
 * Interposed functions that ask the kernel about a thread: its ID, its name and its processors.
 * In: calls.  Out: the system's result, or an ID that a layer supplies.  Layers are notified of
 * calls that address a kernel thread.
 */
#include "rt/core/layer.h"
#include "rt/core/real.h"

#include <unistd.h>

void rt_member_identity(void);
void rt_member_identity(void)
{
}

/* Notifies layers that the child of vfork() will run on the memory and the stack of the calling
 * thread, and returns the real function. */
pid_t (*rt_vforks(void))(void);
__attribute__((used)) pid_t (*rt_vforks(void))(void)
{
	RT_NOTIFY(addresses);
	return REAL(vfork);
}

/* A frame of ours would be gone when vfork() returns for the second time. */
__attribute__((naked)) INTERPOSE(pid_t, vfork, (void))
{
	__asm__ volatile("sub $8, %rsp; call rt_vforks; add $8, %rsp; jmp *%rax");
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
