/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that wait in the kernel, made by repeated calls that do not wait (rt/core/io/retry.c). */
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

/* Repeats the call until it does not return -busy, or the time limit has passed; a negative limit
 * means no limit.  Returns false if the caller shall make the real call.  Otherwise *result and
 * errno are those of libc. */
bool rt_retries(const struct rt_retry *call, int64_t limit_ns, long *result);

#endif
