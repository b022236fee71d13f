/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resets and sends signals by system calls, for code that ends the program.  Such code cannot call
 * libc, because libc's functions may be interposed or replaced by the program.
 */
#ifndef RT_COMMON_SIGNAL_H
#define RT_COMMON_SIGNAL_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Gives a signal its default action, as if the program had no handler. */
static inline void rt_signal_default(int number)
{
	struct {
		void (*handler)(int);
		uint64_t flags;
		void (*restorer)(void);
		uint64_t mask;
	} usual = {SIG_DFL, 0, NULL, 0}; /* the kernel's struct sigaction */

	syscall(SYS_rt_sigaction, number, &usual, NULL, sizeof usual.mask);
}

static inline void rt_signal_self(int number)
{
	long thread;

	/* gettid() may be interposed, and return an ID that the kernel does not know */
	__asm__ volatile("syscall" : "=a"(thread) : "a"(SYS_gettid) : "rcx", "r11", "memory");
	syscall(SYS_tgkill, syscall(SYS_getpid), thread, number);
}

#endif
