/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces a call that would wait in the kernel by repeated calls that do not wait
 * (rt/core/io/retry.c). */
#ifndef RT_CORE_IO_RETRY_H
#define RT_CORE_IO_RETRY_H

#include <stdbool.h>
#include <stdint.h>

/* A system call that does not wait.  It returns -busy if the thread would have to wait. */
struct rt_retry {
	long number;
	long arguments[6];
	int busy; /* an errno value, or 0 */
};

/* Repeats the call until it returns something other than -busy or the time limit has passed.  A
 * negative limit means that there is no limit.  Returns false if the caller must make the real
 * call.  Otherwise *result and errno are set as libc would set them. */
bool rt_retries(const struct rt_retry *call, int64_t limit_ns, long *result);

#endif
