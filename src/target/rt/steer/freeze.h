/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a frozen program (rt/steer/freeze.c). */
#ifndef RT_STEER_FREEZE_H
#define RT_STEER_FREEZE_H

#include "rt/steer/reset.h"

#include <stddef.h>
#include <stdint.h>

#define RT_FROZEN_FILES 64 /* maximum number of files whose positions are kept; chosen by hand */

struct rt_context;

struct rt_frozen {
	/* open regular files and their file positions when the program was frozen */
	struct rt_position {
		int fd;
		long at;
	} files[RT_FROZEN_FILES];
	size_t count;
	/* files that were already open when the program began, which all runs share anyway */
	struct rt_inherited {
		int fd;
		uint64_t device, inode;
	} inherited[RT_FROZEN_FILES];
	size_t inherited_count;
	void *robust; /* the kernel thread's list of robust mutexes */
	size_t robust_size;
	uint32_t alive;		/* rt_guard.alive, which the kernel clears in a child */
	struct rt_reset *reset; /* rt/steer/reset.h; NULL if the program was not frozen */
};

void rt_freeze_seek(void); /* rt/steer/freeze.c: resets the positions of open files */

/* rt/steer/context.c. rt_context_make() makes a context that calls `start`, which must not return.
 * rt_context_jump() saves the current context in `from` and continues in `to`.  It does not handle
 * signals, or threads that leave (rt_context_leave()). */
void rt_context_make(struct rt_context *c, char *stack, size_t size, void (*start)(void));
void rt_context_jump(struct rt_context *from, const struct rt_context *to);

#endif
