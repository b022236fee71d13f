/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that a layer may handle in place of the kernel (rt/core/callback.inc).  These are futex
 * calls, and calls that send a signal to a thread.
 */
#ifndef RT_CALL_H
#define RT_CALL_H

#include <stdbool.h>
#include <stdint.h>

union sigval;

/* A call of futex(): its arguments, and its result if a layer handles it. */
struct rt_futex_call {
	long arguments[6];
	long result; /* as the kernel returns it: negative errno values */
	bool handled;
};

/* A signal that the program sends to one of its threads. */
struct rt_signal {
	uint32_t thread; /* the number of the receiving thread, or UINT32_MAX if it is unknown */
	int number;
	const union sigval *value; /* NULL if the signal carries no value */
	int result;		   /* the errno value to return, if a layer handles it */
	bool handled;
};

#endif
