/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Part of the memory that a replayer shares with the program (raddle/steer.h): what kept a thread from its
 * goal.
 */
#ifndef RADDLE_OBSTACLE_H
#define RADDLE_OBSTACLE_H

#include <stdatomic.h>
#include <stdint.h>

/* A thread that waits in a loop while the threads stand that could end that (RADDLE_CAUSE_SPINS).  When they
 * are let go and something changes that it has read again and again, that is what it waited for. */
struct raddle_steer_spin {
	uint32_t slot, site;
	uint64_t looks;		  /* accesses that showed nothing new */
	uint64_t address, size;	  /* what it waited for, if `changed` */
	_Atomic uint32_t changed; /* it went on because that had changed */
	uint32_t unused;
};

/* A thread that came no way to its goal (RADDLE_CAUSE_PAST, RADDLE_CAUSE_ENDED) and had been refused a lock
 * that it tried to take, which somebody has who stands at a goal. */
struct raddle_steer_refusal {
	uint32_t slot, owner;
	uint32_t kind, site; /* of the attempt; kind 0: nobody was refused anything */
	uint64_t object;
	_Atomic uint32_t known; /* a futex: the replayer knows the name of the object, the program may end */
	uint32_t unused;
};

#endif
