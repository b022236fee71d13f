/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Describes what kept a thread from its goal, the access before which a replay wants to stop it.
 * The program writes these structures into the memory that it shares with the replayer
 * (raddle/steer.h).
 */
#ifndef RADDLE_OBSTACLE_H
#define RADDLE_OBSTACLE_H

#include <stdatomic.h>
#include <stdint.h>

/* A thread that waits in a loop while the threads that could end the wait are stopped
 * (RADDLE_CAUSE_SPINS).  The runtime then lets the stopped threads continue.  If this changes a
 * location that the waiting thread has read repeatedly, the thread was waiting for it. */
struct raddle_steer_spin {
	uint32_t slot, site;
	uint64_t looks;		  /* the number of accesses that read the same value as before */
	uint64_t address, size;	  /* the location that the thread waited for, if `changed` */
	_Atomic uint32_t changed; /* 1 if the thread left the loop because the location changed */
	uint32_t unused;
};

/* A thread that did not reach its goal because its trylock failed (RADDLE_CAUSE_PAST,
 * RADDLE_CAUSE_ENDED).  The lock was held by another thread, which is stopped at a goal. */
struct raddle_steer_refusal {
	uint32_t slot, owner; /* the slots of the thread and of the lock's owner */
	uint32_t kind, site;  /* the kind and site of the trylock; kind is 0 if no trylock failed */
	uint64_t object;      /* the address of the lock */
	/* A futex: 1 if the replayer has read the lock's name, so that the program may end. */
	_Atomic uint32_t known;
	uint32_t unused;
};

/* What a thread waits for, apart from the operations of the program: a descriptor or a futex that
 * only another thread of the same process can make ready. */
enum raddle_inside { RADDLE_INSIDE_NOT, RADDLE_INSIDE_DESCRIPTOR, RADDLE_INSIDE_FUTEX };

#endif
