/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internal to steering: instructions of the kernel filters (seccomp) that trap system calls
 * (rt/steer/trap.c, rt/steer/changes.c).
 */
#ifndef RT_STEER_FILTER_INT_H
#define RT_STEER_FILTER_INT_H

#include "rt/core/rt.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define RT_FIELD(name) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name))
#define RT_HALF(name, half)                                                                                  \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name) + 4 * (half))
#define RT_IF_EQUAL(value, then, otherwise) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, then, otherwise)
#define RT_IF_LEAST(value, then, otherwise) BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, value, then, otherwise)

/* The last instructions of a filter.  They allow system calls that rt_bare() makes, and trap all
 * others.  A jump to the last instruction traps the call, and a jump to the one before it allows
 * the call. */
#define RT_FILTER_END                                                                                        \
	RT_HALF(instruction_pointer, 0), RT_IF_EQUAL((uint32_t)(uintptr_t)rt_bare_end, 0, 3),                \
		RT_HALF(instruction_pointer, 1),                                                             \
		RT_IF_EQUAL((uint32_t)((uintptr_t)rt_bare_end >> 32), 0, 1),                                 \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP)
enum { RT_FILTER_END_LENGTH = 6 };

bool rt_trap_install(void); /* rt/steer/trap.c: installs the handler for trapped calls */

/* Installs the filter for the calling thread.  It cannot be removed. */
static inline bool rt_filter_install(struct sock_filter *filter, size_t length)
{
	struct sock_fprog program = {(unsigned short)length, filter};

	return !rt_bare(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1) &&
	       !rt_bare(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (long)&program);
}

#endif
