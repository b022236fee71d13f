/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Part of the memory that a replayer shares with the program (raddle/steer.h): what kept a thread
 * from its goal.
 */
#ifndef RADDLE_OBSTACLE_H
#define RADDLE_OBSTACLE_H

#include <stdatomic.h>
#include <stdint.h>

/* A thread that waits in a loop while the threads that could end the wait are stopped
 * (RADDLE_CAUSE_SPINS).  These threads are then released.  If a location that the waiting thread
 * has read repeatedly changes after that, the thread was waiting for that location. */
struct raddle_steer_spin {
	uint32_t slot, site;
	uint64_t looks;		  /* accesses that read nothing new */
	uint64_t address, size;	  /* the location it waited for, if `changed` */
	_Atomic uint32_t changed; /* it left the loop because the location changed */
	uint32_t unused;
};

/* A thread that did not reach its goal (RADDLE_CAUSE_PAST, RADDLE_CAUSE_ENDED) after a failed
 * trylock: the lock was held by a thread that is stopped at a goal. */
struct raddle_steer_refusal {
	uint32_t slot, owner;
	uint32_t kind, site; /* of the attempt; kind 0: no attempt failed */
	uint64_t object;
	_Atomic uint32_t known; /* a futex: the replayer has read the object's name, so the program may end */
	uint32_t unused;
};

#endif
