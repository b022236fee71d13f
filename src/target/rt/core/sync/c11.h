/* SPDX-License-Identifier: Apache-2.0 */
/* Converts results of C11's thread functions to errno values, which records contain, and back. */
#ifndef RT_C11_H
#define RT_C11_H

#include <errno.h>
#include <threads.h>

static inline int rt_errno_of(int result)
{
	switch (result) {
	case thrd_success: return 0;
	case thrd_busy: return EBUSY;
	case thrd_timedout: return ETIMEDOUT;
	case thrd_nomem: return ENOMEM;
	default: return EINVAL;
	}
}

static inline int rt_thrd_of(int error)
{
	switch (error) {
	case 0: return thrd_success;
	case EBUSY: return thrd_busy;
	case ETIMEDOUT: return thrd_timedout;
	case ENOMEM: return thrd_nomem;
	default: return thrd_error;
	}
}

#endif
