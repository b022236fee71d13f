// SPDX-License-Identifier: Apache-2.0
/*
 * Interposed functions that ask the kernel about a thread's ID, name, processors or scheduling.
 * In: calls.  Out: the system's result, or an ID that a layer supplies.  Layers are notified of
 * calls that address a kernel thread.
 */
#include "rt/core/layer.h"
#include "rt/core/real.h"

#include <sched.h>
#include <unistd.h>

void rt_member_identity(void);
void rt_member_identity(void)
{
}

/* Notifies layers that the child of vfork() is going to use the memory and the stack of the calling
 * thread.  Returns the real function. */
pid_t (*rt_vforks(void))(void);
__attribute__((used)) pid_t (*rt_vforks(void))(void)
{
	RT_NOTIFY(addresses, RADDLE_UNFIT_VFORK);
	return REAL(vfork);
}

/* This function must not have a frame, because the frame would be gone when vfork() returns for the
 * second time. */
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

/* libc asks the kernel about a thread by the thread's ID.  If all threads run on one kernel thread,
 * lend() stores that kernel thread's ID in libc's data for the duration of the call, since all
 * threads have its attributes.  The ID is never 0: otherwise another thread that gets the turn
 * meanwhile would assume that the thread has ended. */
struct lent {
	pid_t *word, id;
};

static struct lent lend(pthread_t thread)
{
	struct lent lent = {NULL, 0};
	uint32_t number = rt.callbacks.tids ? rt_handle_find((uint64_t)thread) : UINT32_MAX;

	if (number != UINT32_MAX || pthread_equal(thread, pthread_self()))
		RT_NOTIFY(tids, number == UINT32_MAX ? 0 : number, &lent.word);
	if (lent.word) {
		lent.id = *lent.word;
		*lent.word = rt_kernel_tid();
	}
	return lent;
}

static int returned(const struct lent *lent, int r)
{
	if (lent->word)
		*lent->word = lent->id;
	return r;
}

INTERPOSE(int, pthread_getattr_np, (pthread_t thread, pthread_attr_t *attributes))
{
	struct lent lent = lend(thread);

	return returned(&lent, REAL(pthread_getattr_np)(thread, attributes));
}

INTERPOSE(int, pthread_getschedparam,
	  (pthread_t thread, int *restrict policy, struct sched_param *restrict parameter))
{
	struct lent lent = lend(thread);

	return returned(&lent, REAL(pthread_getschedparam)(thread, policy, parameter));
}

INTERPOSE(int, pthread_setschedparam, (pthread_t thread, int policy, const struct sched_param *parameter))
{
	RT_NOTIFY(addresses, RADDLE_UNFIT_ADDRESSED);
	return REAL(pthread_setschedparam)(thread, policy, parameter);
}

INTERPOSE(int, pthread_getcpuclockid, (pthread_t thread, clockid_t *clock))
{
	RT_NOTIFY(addresses, RADDLE_UNFIT_ADDRESSED);
	return REAL(pthread_getcpuclockid)(thread, clock);
}

INTERPOSE(int, pthread_getname_np, (pthread_t thread, char *name, size_t size))
{
	RT_NOTIFY(addresses, RADDLE_UNFIT_ADDRESSED);
	return REAL(pthread_getname_np)(thread, name, size);
}

INTERPOSE(int, pthread_setaffinity_np, (pthread_t thread, size_t size, const cpu_set_t *set))
{
	RT_NOTIFY(addresses, RADDLE_UNFIT_ADDRESSED);
	return REAL(pthread_setaffinity_np)(thread, size, set);
}

INTERPOSE(int, pthread_getaffinity_np, (pthread_t thread, size_t size, cpu_set_t *set))
{
	/* A run ends when the program sets an affinity, so all threads still have the affinity of
	 * the kernel thread. */
	if (rt_shares_kernel_thread())
		return sched_getaffinity(0, size, set) ? errno : 0;
	return REAL(pthread_getaffinity_np)(thread, size, set);
}
