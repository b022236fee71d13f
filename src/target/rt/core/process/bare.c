// SPDX-License-Identifier: Apache-2.0
/*
 * System calls without libc, and the interposed syscall().  In: futex and gettid calls that
 * libstdc++ and programs make by number.  Out: the result of a layer that handles the call, or the
 * kernel's result.  All other calls by number go to the kernel unchanged.
 *
 * Invariant: the runtime waits for a futex only through rt_bare().  So a kernel filter
 * (rt/steer/trap.c) can distinguish the runtime's futex calls from all others by the address of the
 * instruction.
 */
#include "rt/core/layer.h"
#include "rt/core/real.h"

#include <sys/syscall.h>

void rt_member_bare(void);
void rt_member_bare(void)
{
}

__attribute__((naked, noinline)) long rt_bare_call(long number, const long arguments[6])
{
	__asm__ volatile("mov %rdi, %rax; mov (%rsi), %rdi; mov 16(%rsi), %rdx; mov 24(%rsi), %r10\n\t"
			 "mov 32(%rsi), %r8; mov 40(%rsi), %r9; mov 8(%rsi), %rsi; syscall\n"
			 ".globl rt_bare_end\n.hidden rt_bare_end\nrt_bare_end: ret");
}

pid_t rt_kernel_tid(void)
{
	return (pid_t)rt_bare(SYS_gettid, 0);
}

/* Converts the result of a system call to libc's convention: returns -1 and sets errno on
 * failure. */
long rt_as_libc(long result);
__attribute__((used)) long rt_as_libc(long result)
{
	if (result >= 0 || result < -4095)
		return result;
	errno = (int)-result;
	return -1;
}

long rt_futex_by_number(const long arguments[6]);
__attribute__((used)) long rt_futex_by_number(const long arguments[6])
{
	struct rt_futex_call call = {.handled = false};
	int saved = errno;

	__builtin_memcpy(call.arguments, arguments, sizeof call.arguments);
	RT_NOTIFY(futexes, &call);
	errno = saved;
	return rt_as_libc(call.handled ? call.result : rt_bare_call(SYS_futex, arguments));
}

/* Returns the ID of the calling thread.  No layer is asked if the thread has no state, which means
 * that it is just beginning, that it has ended, or that the runtime itself asks. */
long rt_gettid_by_number(void);
__attribute__((used)) long rt_gettid_by_number(void)
{
	struct rt_thread *t = __raddle_self == &rt_placeholder ? NULL : (struct rt_thread *)__raddle_self;
	pid_t id = 0;

	if (t && t->recording == RT_LISTENED)
		RT_NOTIFY(identifies, t, &id);
	return id ? id : rt_kernel_tid();
}

/* After syscall(SYS_vfork), the child returns from this function first, on its parent's stack.  So,
 * like libc's syscall(), this function keeps nothing on the stack. */
__attribute__((naked)) INTERPOSE(long, syscall, (long number, ...))
{
	__asm__ volatile(
		"cmp %0, %%rdi; je 2f; cmp %1, %%rdi; je rt_gettid_by_number\n\t"
		"mov %%rdi, %%rax; mov %%rsi, %%rdi; mov %%rdx, %%rsi; mov %%rcx, %%rdx\n\t"
		"mov %%r8, %%r10; mov %%r9, %%r8; mov 8(%%rsp), %%r9; syscall\n\t"
		"cmp $-4095, %%rax; jae 1f; ret\n"
		"1: mov %%rax, %%rdi; jmp rt_as_libc\n"
		"2: sub $8, %%rsp; push 16(%%rsp); push %%r9; push %%r8; push %%rcx; push %%rdx\n\t"
		"push %%rsi; .cfi_adjust_cfa_offset 56; mov %%rsp, %%rdi; call rt_futex_by_number\n\t"
		"add $56, %%rsp; .cfi_adjust_cfa_offset -56; ret"
		:
		: "i"(SYS_futex), "i"(SYS_gettid));
}
