/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that a layer may handle in place of the kernel (rt/core/callback.inc): of futexes, and of
 * functions that send a signal to a thread.
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
	uint32_t thread; /* its number, or UINT32_MAX if it is unknown */
	int number;
	const union sigval *value; /* NULL if it has none */
	int result;		   /* if a layer handles it: an errno value */
	bool handled;
};

#endif
