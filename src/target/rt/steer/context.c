// SPDX-License-Identifier: Apache-2.0
/*
 * Runs all threads on one kernel thread (RADDLE_STEER_ONE).  In: threads that are created, wait for
 * their turn, and end.  Out: a switch of stacks instead of a wake-up and a sleep in the kernel.
 *
 * Glibc creates each thread as usual, with its stack and its TLS.  The new kernel thread saves its
 * registers and ends.  A context remains: a stack pointer and the base of the TLS.  The kernel
 * thread of the initial thread, the runner, runs all contexts.  A thread that ends stays a context
 * and never runs again (rt/steer/park.c).  Some threads have to return to libc, however, and glibc
 * ends the kernel thread on which a thread returns.  Such a thread gets a new kernel thread, on
 * which it leaves.
 *
 * Invariants:
 * 1. No two kernel threads run on one stack.  The runner enters a new context only when its kernel
 *    thread has ended, and a context leaves only after the runner has left its stack.
 * 2. The kernel thread of a leaving context makes no step and takes no lock of steering.
 * 3. After the run has diverged from the plan, threads still take turns, by the default choice.
 *
 * A context saves the registers that a call preserves, and the control words of floating point.
 */
#include "rt/common/bug.h"
#include "rt/steer/turn-int.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HWCAP2_FSGSBASE 2    /* the program may set the base of the TLS itself */
#define IDLE_STACK 16384     /* bytes; idle() needs a few hundred */
#define SIGNATURE 0x53053053 /* the signature with which glibc registers rseq */

/* Leaves `from` and continues in `to`.  Control words are loaded only if they differ, since each
 * load takes as long as the rest of the switch. */
__attribute__((naked, noinline)) static void swap(struct rt_context *from, const struct rt_context *to)
{
	__asm__ volatile("push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15\n\t"
			 "sub $8, %rsp; stmxcsr (%rsp); fnstcw 4(%rsp)\n\t"
			 "mov (%rsp), %ecx; movzwl 4(%rsp), %edx\n\t"
			 "rdfsbase %rax; mov %rax, 8(%rdi); mov %rsp, (%rdi)\n\t"
			 "mov (%rsi), %rsp; mov 8(%rsi), %rax; wrfsbase %rax\n\t"
			 "cmp %ecx, (%rsp); je 1f; ldmxcsr (%rsp)\n"
			 "1: cmp %dx, 4(%rsp); je 2f; fldcw 4(%rsp)\n"
			 "2: add $8, %rsp\n\t"
			 "pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp; ret");
}

/* Saves the context and ends the kernel thread without using the stack again. */
__attribute__((naked, noinline)) static void save_and_end(struct rt_context *c)
{
	__asm__ volatile("push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15\n\t"
			 "sub $8, %rsp; stmxcsr (%rsp); fnstcw 4(%rsp)\n\t"
			 "rdfsbase %rax; mov %rax, 8(%rdi); mov %rsp, (%rdi)\n\t"
			 "xor %edi, %edi; mov $60, %eax; syscall; ud2");
}

/* Starts a kernel thread that continues in the context.  The kernel clears `tid` when the new
 * kernel thread ends. */
__attribute__((naked, noinline)) static long clone_into(long flags, const struct rt_context *c, void *tid)
{
	__asm__ volatile("mov %rdx, %r10; mov 8(%rsi), %r8; mov (%rsi), %rsi; xor %edx, %edx\n\t"
			 "mov $56, %eax; syscall; test %rax, %rax; jz 1f; ret\n"
			 "1: ldmxcsr (%rsp); fldcw 4(%rsp); add $8, %rsp\n\t"
			 "pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp; ret");
}

void rt_context_refuse(enum raddle_unfit why)
{
	if (!(rt_steer()->flags & (RADDLE_STEER_ONE | RADDLE_STEER_TRAP)))
		return;
	atomic_store(&rt_steer()->unfit, why);
	syscall(SYS_exit_group, 0);
}

/* ---- signals ---- */

/* The kernel has one set of blocked signals for the runner.  If the program has handlers or blocks
 * signals itself, the set changes with each switch.  Otherwise it changes only at a switch to or
 * from a thread that begins or ends, for which the runtime has blocked all signals.  It has to
 * change there because child processes would inherit the blocked signals. */
static bool has_masks(void)
{
	return RT_UNLIKELY(atomic_load_explicit(&rt.interruptible, memory_order_relaxed));
}

static void change_mask(const uint64_t *mask, uint64_t *old)
{
	int saved = errno;

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, mask, old, sizeof *mask);
	errno = saved;
}

static const uint64_t all_signals = RT_ALL_SIGNALS;

/* keep_mask() is called before a switch, restore_mask() after the switch back.  No handler may run
 * on one context's stack with the TLS of another. */
static void keep_mask(struct rt_context *c)
{
	change_mask(&all_signals, &c->mask);
	c->masked = true;
}

static void restore_mask(const struct rt_context *c)
{
	change_mask(c->masked ? &c->mask : &rt_steering()->common_mask, NULL);
}

/* Called before the program first installs a signal handler or changes a signal mask.  Until then,
 * all of its threads have had the same mask, which is stored here. */
void rt_context_disturbs(void)
{
	if (rt_steer_has_one())
		syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &rt_steering()->common_mask,
			sizeof rt_steering()->common_mask);
}

static void switch_blocked(struct rt_context *from, const struct rt_context *to)
{
	static const uint64_t never = 1ull << (SIGKILL - 1) | 1ull << (SIGSTOP - 1);
	struct rt_steering *g = rt_steering();
	uint64_t old;

	change_mask(to->blocked ? &all_signals : NULL, &old);
	from->blocked = (old | never) == (all_signals | never);
	if (!from->blocked)
		g->common_mask = old;
	else if (!to->blocked)
		change_mask(&g->common_mask, NULL);
}

/* ---- leaving ---- */

static long clone_to_leave(struct rt_context *c)
{
	const long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
			   CLONE_SETTLS | CLONE_CHILD_CLEARTID;

	return clone_into(flags, c, c->tid);
}

/* Called when the runner no longer uses the stack of a thread that ends.  Lets the thread leave on
 * a new kernel thread, which takes no signals. */
static __attribute__((noinline)) void leave_now(struct rt_context *c)
{
	uint64_t old;
	long r;

	rt_steering()->leaving = NULL;
	change_mask(&all_signals, &old);
	r = clone_to_leave(c);
	change_mask(&old, NULL);
	rt_futex_leaves((pid_t)r);
	if (r < 0)
		rt_context_refuse(RADDLE_UNFIT_THREADS);
}

static inline void let_leave(void)
{
	if (RT_UNLIKELY(rt_steering()->leaving))
		leave_now(rt_steering()->leaving);
}

/* Called when a thread is about to be created. */
void rt_context_created(struct rt_thread *parent, struct rt_thread *child)
{
	struct rt_context *c = &rt_steered(child)->context;

	(void)parent;
	if (!rt_steer_has_one() || child->number >= RADDLE_SLOTS)
		return;
	if (!child->prepared) {
		rt_context_addresses(RADDLE_UNFIT_RESET);
		atomic_store(&c->alive, 1);
	}
	rt_steering()->contexts[child->number] = c;
}

/* Called when the system refused to create the thread.  Forgets its context, because the kernel
 * thread that would have used it does not exist. */
void rt_context_uncreated(struct rt_thread *child)
{
	if (rt_steer_has_one() && child->number < RADDLE_SLOTS)
		rt_steering()->contexts[child->number] = NULL;
}

/* Called on the kernel thread of a new thread, with all signals blocked.  Returns on the runner. */
void rt_context_arrives(struct rt_thread *t)
{
	static struct {
		void *next;
		long offset;
		void *pending;
	} no_locks = {&no_locks, 0, NULL};
	struct rt_context *c = &rt_steered(t)->context;

	if (!rt_steer_has_one() || !atomic_load(&c->alive))
		return;
	c->mask = all_signals;
	c->masked = c->blocked = true;
	prctl(PR_GET_TID_ADDRESS, &c->tid);
	syscall(SYS_set_tid_address, &c->alive);
	syscall(SYS_set_robust_list, &no_locks, sizeof no_locks);
	if (__rseq_size)
		syscall(SYS_rseq, (char *)__builtin_thread_pointer() + __rseq_offset, 32, 1 /* unregister */,
			SIGNATURE);
	save_and_end(c);
	let_leave();
}

/* Returns the context of the thread with this number, or NULL if the runner cannot switch to it. */
static struct rt_context *find(uint32_t number)
{
	return number < RADDLE_SLOTS ? rt_steering()->contexts[number] : NULL;
}

/* Waits until the kernel thread of a new context has ended.  The kernel then clears `alive`. */
static __attribute__((noinline, cold)) void await_end(struct rt_context *c)
{
	int saved = errno;

	while (atomic_load_explicit(&c->alive, memory_order_acquire))
		rt_bare(SYS_futex, (long)&c->alive, FUTEX_WAIT, 1);
	errno = saved;
}

/* Leaves `from` and continues in `to`. */
static inline __attribute__((always_inline)) void enter(struct rt_context *from, struct rt_context *to)
{
	if (RT_UNLIKELY(atomic_load_explicit(&to->alive, memory_order_acquire)))
		await_end(to);
	from->masked = false;
	if (has_masks())
		keep_mask(from);
	else if (from->blocked || to->blocked)
		switch_blocked(from, to);
	swap(from, to);
	if (has_masks())
		restore_mask(from);
}

bool rt_context_switch(struct rt_thread *t, uint32_t next)
{
	struct rt_context *to = find(next);

	if (next == t->number || !to)
		return false;
	enter(&rt_steered(t)->context, to);
	let_leave();
	if (RT_UNLIKELY(rt_steering()->entries.signals_pending))
		rt_signal_deliver(t);
	return true;
}

/* The runner waits here when a thread has left and no other thread has the turn. */
static __attribute__((noreturn)) void idle(void)
{
	struct rt_steering *g = rt_steering();
	struct rt_context *next;

	for (uint32_t round = 0;; round++) {
		let_leave();
		next = find(rt_turn_running());
		if (next) {
			round = 0;
			enter(&g->idle, next);
			continue;
		}
		/* Otherwise a handler could run on this stack, with the TLS of the initial
		 * thread. */
		if (has_masks())
			rt_context_refuse(RADDLE_UNFIT_HANDLERS);
		rt_steer_look_at_command(round);
		rt_reset_obey();
		rt_futex_check();
		if (!rt_blocking_nap(NULL))
			rt_futex_wait(&rt_steer()->freezing.quits, 0, RT_NAP_MS);
	}
}

/* Fills the stack so that swap() to this context returns to `start`, with the stack as after a call. */
void rt_context_make(struct rt_context *c, char *stack, size_t size, void (*start)(void))
{
	uint64_t *top = (uint64_t *)(void *)(stack + size) - 2;

	*top = (uint64_t)(uintptr_t)start;
	top -= 7; /* room for the saved registers and the control words */
	__asm__ volatile("stmxcsr %0; fnstcw %1" : "=m"(*(uint32_t *)top), "=m"(*((uint16_t *)top + 2)));
	c->sp = top;
	c->fs = (uint64_t)(uintptr_t)__builtin_thread_pointer();
}

void rt_context_jump(struct rt_context *from, const struct rt_context *to)
{
	swap(from, to);
}

void rt_context_setup(void)
{
	struct rt_steering *g = rt_steering();
	char *stack;

	if (!rt_steer_has_one())
		return;
	if (!(getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE))
		rt_context_refuse(RADDLE_UNFIT_PROCESSOR);
	stack = rt_map(IDLE_STACK);
	if (!stack)
		rt_context_refuse(RADDLE_UNFIT_THREADS);
	rt_context_make(&g->idle, stack, IDLE_STACK, idle);
	g->idle.mask = all_signals;
	g->idle.masked = g->idle.blocked = true;
}

/* Called when the thread has made its last step.  Returns, if at all, on a kernel thread of its
 * own. */
void rt_context_leave(struct rt_thread *t)
{
	struct rt_steering *g = rt_steering();
	struct rt_context *c = &rt_steered(t)->context, *next;

	if (!rt_steer_has_one() || find(t->number) != c)
		return;
	g->contexts[t->number] = NULL;
	if (t->number == 0)
		rt_park_end();
	next = find(rt_turn_running());
	if (!rt_park(t))
		g->leaving = c;
	enter(c, next ? next : &g->idle);
}

void rt_context_let_go(struct rt_context *c)
{
	leave_now(c);
}

/* Called when a thread begins.  The initial thread runs on the runner from the start. */
void rt_context_begin(struct rt_thread *t)
{
	struct rt_context *c = &rt_steered(t)->context;

	if (t->number != 0 && t->parent == UINT32_MAX)
		rt_context_refuse(RADDLE_UNFIT_FOREIGN);
	if (!rt_steer_has_one() || t->number != 0)
		return;
	prctl(PR_GET_TID_ADDRESS, &c->tid);
	rt_steering()->contexts[0] = c;
}

/* Stores in *id the ID that glibc still has for the thread.  The kernel thread with this ID has
 * ended, but no other thread of the process gets the same ID here.  The ID of the initial thread is
 * that of the process. */
void rt_context_identifies(const struct rt_thread *t, pid_t *id)
{
	const struct rt_context *c = &rt_steered(t)->context;

	if (!rt_steer_has_one() || t->number >= RADDLE_SLOTS || !c->tid)
		return;
	rt.asked_pid = true;
	if (t->number == 0)
		*id = rt.copied_pid ? rt.copied_pid : rt.pid;
	else
		*id = *(const pid_t *)c->tid;
}

void rt_context_tids(uint32_t number, pid_t **word)
{
	const struct rt_context *c = rt_steer_has_one() ? find(number) : NULL;

	if (c && number)
		*word = c->tid;
}

/* Called when the thread ends and the runtime has therefore blocked all signals. */
void rt_context_ends(struct rt_thread *t)
{
	rt_steered(t)->context.blocked |= has_masks();
}

void rt_context_addresses(enum raddle_unfit why)
{
	bool refuses = why == RADDLE_UNFIT_TRAPPED ? rt.trapped != 0
		       : why == RADDLE_UNFIT_RESET ? rt_reset_is_on()
						   : rt_steer_has_one();

	if (refuses)
		rt_context_refuse(why);
}
