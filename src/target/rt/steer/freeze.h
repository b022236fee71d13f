/* SPDX-License-Identifier: Apache-2.0 */
/* What is known about a program that is frozen (rt/steer/freeze.c). */
#ifndef RT_STEER_FREEZE_H
#define RT_STEER_FREEZE_H

#include <stddef.h>
#include <stdint.h>

#define RT_FROZEN_FILES 64 /* maximum number of files whose positions are kept; chosen by hand */

/* A program that is frozen (rt/steer/freeze.c). */
struct rt_frozen {
	/* its open files that have a position, and the positions */
	struct rt_position {
		int fd;
		long at;
	} files[RT_FROZEN_FILES];
	size_t count;
	/* files that were open before the program began, which runs share anyway */
	struct rt_inherited {
		int fd;
		uint64_t device, inode;
	} inherited[RT_FROZEN_FILES];
	size_t inherited_count;
	void *robust; /* the list of robust mutexes of the kernel thread */
	size_t robust_size;
	uint32_t alive; /* rt_guard.alive, which the kernel clears in a child */
};

#endif
