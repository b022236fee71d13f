/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a steered run (raddle/steer.h) proves nothing: resources that the system refused, and
 * reasons why its threads could not share one kernel thread.
 */
#ifndef RADDLE_LACK_H
#define RADDLE_LACK_H

/* Resources that the program did not get.  Such a run proves nothing about its schedule. */
enum raddle_lack {
	RADDLE_LACK_MEMORY = 1,
	RADDLE_LACK_THREADS = 2,
	RADDLE_LACK_DESCRIPTORS = 4,
	RADDLE_LACK_SLOTS = 8, /* slots for threads: the runtime does not control all threads */
};

/* Why the threads of a program cannot run on one kernel thread (rt/steer/context.c). */
enum raddle_unfit {
	RADDLE_UNFIT_NOT,
	RADDLE_UNFIT_PROCESSOR, /* the processor or kernel does not let a program set its TLS base */
	RADDLE_UNFIT_HANDLERS,	/* a handler might run while no thread has the turn */
	RADDLE_UNFIT_FOREIGN,	/* some threads were not created by pthread_create() */
	RADDLE_UNFIT_ROBUST,	/* there are robust mutexes, which the kernel releases per kernel thread */
	RADDLE_UNFIT_THREADS,	/* the system refused a kernel thread */
	RADDLE_UNFIT_ADDRESSED, /* the program signals a thread, or asks the kernel about a thread */
	RADDLE_UNFITS,
};

#endif
