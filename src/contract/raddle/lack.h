/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What may go wrong in a steered run, in which the runtime decides which thread continues
 * (raddle/steer.h): resources that the system refused, reasons why threads could not share one
 * kernel thread, and reasons why threads were stopped for good.
 */
#ifndef RADDLE_LACK_H
#define RADDLE_LACK_H

/* Resources that the program did not get.  A run in which one of them is lacking proves nothing
 * about its schedule. */
enum raddle_lack {
	RADDLE_LACK_MEMORY = 1,
	RADDLE_LACK_THREADS = 2,
	RADDLE_LACK_DESCRIPTORS = 4,
	/* There were not enough slots for threads, so the runtime did not control all threads. */
	RADDLE_LACK_SLOTS = 8,
};

/* Why the threads of a program cannot run on one kernel thread (rt/steer/context.c). */
enum raddle_unfit {
	RADDLE_UNFIT_NOT,
	RADDLE_UNFIT_PROCESSOR, /* the processor or kernel does not let a program set its TLS base */
	RADDLE_UNFIT_HANDLERS,	/* a handler might run while no thread has the turn */
	RADDLE_UNFIT_FOREIGN,	/* some threads were not created by pthread_create() */
	RADDLE_UNFIT_ROBUST,	/* there are robust mutexes, which the kernel releases per kernel thread */
	RADDLE_UNFIT_THREADS,	/* the system refused a kernel thread */
	RADDLE_UNFIT_ADDRESSED, /* the program asks the kernel about a thread */
	RADDLE_UNFIT_SIGNALLED, /* the program signals a thread */
	RADDLE_UNFIT_VFORK,	/* the program calls vfork() */
	RADDLE_UNFIT_STACK,	/* a thread has an alternate stack for signals */
	RADDLE_UNFIT_CANCEL,	/* a thread may be cancelled at any instruction */
	RADDLE_UNFIT_FUTEX,	/* a library makes futex calls that only the kernel can handle */
	RADDLE_UNFIT_FILTER,	/* the kernel refused the filter for futex calls */
	RADDLE_UNFIT_TRAPPED,	/* futex calls are trapped, and the program handles SIGSYS */
	RADDLE_UNFIT_EXEC,	/* futex calls are trapped, and another program is started */
	RADDLE_UNFIT_RESET,	/* the copy makes several runs, which this run does not allow */
	RADDLE_UNFITS,
};

/* Why the runtime stopped the threads of a run for good. */
enum raddle_limit {
	RADDLE_LIMIT_NONE,
	RADDLE_LIMIT_POINTS,  /* the maximum number of points was reached (raddle/steer.h) */
	RADDLE_LIMIT_OUTSIDE, /* all threads wait for a signal that no known process will send */
};

#endif
