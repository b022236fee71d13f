// SPDX-License-Identifier: Apache-2.0
/*
 * Calls that wait in the kernel for something other than a descriptor, such as a lock on a file, a
 * message, a System V semaphore, a signal or the end of a child process.  In: such a call, in the
 * form that does not wait.  Out: its result.  If a layer lets threads run one at a time on one
 * kernel thread, the call is repeated until it succeeds, and other threads run meanwhile.
 */
#include "rt/core/layer.h"
#include "rt/core/io/outside.h"
#include "rt/core/io/retry.h"

#include <errno.h>

struct attempt {
	const struct rt_retry *call;
	long result;
};

static int look(void *context)
{
	struct attempt *a = context;

	a->result = rt_bare_call(a->call->number, a->call->arguments);
	return a->result != -a->call->busy;
}

bool rt_retries(const struct rt_retry *call, int64_t limit_ns, long *result)
{
	struct rt_thread *t = rt.callbacks.waits ? rt_self() : NULL;
	struct attempt attempt = {call, 0};
	struct rt_look wanted = {.look = look, .context = &attempt, .retries = true};
	int saved = errno;

	if (!t)
		return false;
	RT_NOTIFY(waits, t, &wanted, limit_ns);
	if (!wanted.handled)
		return false;
	*result = attempt.result;
	if (wanted.result < 0) {
		*result = -1;
		errno = EINTR;
	} else if (attempt.result < 0 && attempt.result >= -4095) {
		*result = -1;
		errno = (int)-attempt.result;
	} else {
		errno = saved;
	}
	return true;
}
