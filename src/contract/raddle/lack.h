/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a steered run (raddle/steer.h) proves nothing: what the system refused the program, and what
 * one kernel thread cannot do for it.
 */
#ifndef RADDLE_LACK_H
#define RADDLE_LACK_H

/* Resources that the system refused the program.  Such a run proves nothing about its schedule. */
enum raddle_lack {
	RADDLE_LACK_MEMORY = 1,
	RADDLE_LACK_THREADS = 2,
	RADDLE_LACK_DESCRIPTORS = 4,
	RADDLE_LACK_SLOTS = 8, /* it has threads that could not be controlled */
};

/* Why the threads of a program cannot run on one kernel thread (rt/steer/context.c). */
enum raddle_unfit {
	RADDLE_UNFIT_NOT,
	RADDLE_UNFIT_PROCESSOR, /* a program may not set the base of its TLS */
	RADDLE_UNFIT_HANDLERS,	/* signal handlers belong to kernel threads */
	RADDLE_UNFIT_FOREIGN,	/* it has threads that it did not create by pthread_create() */
	RADDLE_UNFIT_ROBUST,	/* the kernel passes on robust mutexes of a thread that ends */
	RADDLE_UNFIT_THREADS,	/* the system refused a kernel thread */
	RADDLE_UNFITS,
};

#endif
