/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations that the files of the runtime share.
 *
 * Rules of this folder (doc/style.md): no malloc, no stdio, and no libc lock on a hot path.
 * Every entry preserves the program's errno.  Memory comes from rt_map().  All state is in `rt`
 * or in the thread's struct.  Everything is hidden except the hooks and the interposed functions.
 *
 * What happens on
 *   a signal         rt/core/thread/thread.h: records of a handler that interrupts the encoder wait
 *   fork             rt/core/process/process.c: the child becomes another process of the session
 *   exec             the collector keeps the open buffers, which it has already mapped
 *   thread exit      rt/core/thread/thread.c: handled by a key destructor in its last round
 *   dlopen           rt/core/process/module.c: loads the instrumented copy of a plug-in, if any
 *   dead collector   rt_stop(): the program continues unrecorded
 *   lack of memory   rt_stop(), too
 */
#ifndef RT_RT_H
#define RT_RT_H

#include "raddle/lack.h"
#include "rt/core/thread/thread.h"

#include <pthread.h>
#include <sys/types.h>

#define RT_LIKELY(x) __builtin_expect(!!(x), 1)
#define RT_UNLIKELY(x) __builtin_expect(!!(x), 0)
/* An attribute for code that a frequently called function seldom needs.  The compiler keeps this
 * code out of line, so that it does not slow down the rest of the function. */
#define RT_SELDOM __attribute__((noinline, cold))
/* The number of locks for atomic operations: a power of two, chosen by hand so that unrelated
 * atomics rarely share a lock. */
#define RT_ATOMIC_LOCKS 1024
_Static_assert((RT_ATOMIC_LOCKS & (RT_ATOMIC_LOCKS - 1)) == 0, "locks are chosen by a mask");

struct rt_layer;
struct rt_channels;
struct rt_outside;
struct rt_op;
struct rt_futex_call;
struct rt_look;
struct rt_signal;
struct msghdr;
union sigval;
struct rt_until;

/* The result of a wait for outside input: RT_IS_NOT_IDLE if no layer let other threads run,
 * RT_LOOK_AGAIN if input may have arrived, or RT_TIME_UP if the time limit has passed. */
enum rt_idle { RT_IS_NOT_IDLE, RT_LOOK_AGAIN, RT_TIME_UP };

/* The callbacks of the listening layers (rt/core/layer.h). */
struct rt_callbacks {
#define RT_CALLBACK(name, parameters, arguments) void(*name) parameters;
#include "rt/core/callback.inc"
#undef RT_CALLBACK
};

/* For each callback, the functions of the listening layers, terminated by NULL. */
struct rt_callback_lists {
#define RT_CALLBACK(name, parameters, arguments) void(*name[RT_LAYER_COUNT + 1]) parameters;
#include "rt/core/callback.inc"
#undef RT_CALLBACK
};

/* The pthread_t of a thread that can be joined, and the thread's number. */
struct rt_handle {
	uint64_t handle;
	uint32_t number;
};

/* A memory limit that the program has set, in bytes. */
struct rt_limit {
	bool is_set;
	uint64_t soft, hard;
};

/* The state of the process; rt/core/tables.h has its tables. */
struct rt {
	struct raddle_session *session; /* NULL if nothing is recorded */
	_Atomic uint32_t ready;		/* 1 if the runtime has started */
	uint32_t process;		/* the number of this process in the session */
	uint32_t forks;			/* the number of forks of this process so far */
	_Atomic pid_t replayed_pid;	/* the recorded process ID that getpid() returned; or 0 */
	/* The ID of the frozen process that this process was forked from (rt/steer/freeze.c), if
	 * the program had asked for an ID before the fork.  Otherwise 0. */
	pid_t copied_pid;
	bool asked_pid; /* true if the program has asked for the ID of the process or of a thread */
	/* True if the program has changed the file system, or started a process. */
	bool changed_outside;
	pid_t pid;
	pthread_key_t key; /* its destructor runs when a thread ends */
	uint32_t exited;   /* 1 if the EXIT record is written */
	/* The number of threads, other than the first, that were started and not yet joined. */
	_Atomic uint32_t others;
	_Atomic uint32_t adopted; /* the number of threads adopted so far */
	size_t page;
	/* The address of argv[]; the kernel filled the stack from this address upwards. */
	uintptr_t arguments;
	/* The tick counter and the clock when the runtime started.  The tick is 0 if it is
	 * unused. */
	uint64_t clock_tick, clock_ns;

	/* Protects the following members.  It is never taken while another lock is held.  While a
	 * thread holds it, all signals are blocked and the thread makes no call that can wait. */
	_Atomic uint32_t lock;
	struct rt_thread *live, *idle;
	struct rt_handle *handles;
	size_t handle_count, handle_capacity;
	uint64_t fork_signals; /* the signal mask that fork() restores when it releases the lock */

	/* Layers (rt/core/layer.h).  `present` and `listening` are lists terminated by NULL, and
	 * `layer` points to the state of each layer. */
	const struct rt_layer *present[RT_LAYER_COUNT + 1], *listening[RT_LAYER_COUNT + 1];
	void *layer[RT_LAYER_COUNT];
	struct rt_callbacks callbacks; /* the callbacks of all listening layers */
	struct rt_callback_lists lists;

	const struct rt_outside *outside; /* rt/core/io/outside.h; NULL if no layer needs it */

	struct rt_channels *_Atomic channels; /* rt/core/io/channel.c; NULL before the first channel */
	_Atomic uint64_t mapped;	/* the bytes that the runtime has mapped, including the session */
	struct rt_limit limits[2];	/* rt/core/process/limit.c: the limits of address space and data */
	_Atomic uint32_t interruptible; /* rt/core/process/handler.c: 1 if handlers may run */
	/* rt/core/process/handler.c: 1 if a thread may be cancelled at any instruction. */
	_Atomic uint32_t asynchronous;
	pid_t trapped;	 /* the process whose futex calls are trapped (rt/steer/trap.c), or 0 */
	bool leaves_out; /* rt/core/control/edit.c: true if an edit has left out a lock */
	bool one;	 /* true if one kernel thread runs all threads (rt/core/one.h) */
	char program[4096];
	_Atomic uint32_t atomic_locks[RT_ATOMIC_LOCKS]; /* rt/core/sync/atomic.c */
};
extern struct rt rt;

/* A page that the kernel clears in the child of a fork.  The runtime does not notice a fork by a
 * bare system call.  In such a child `alive` is 0, which shows that the buffers belong to the
 * parent.  Otherwise `alive` is RT_LISTENED if layers listen, RT_THIN if accesses are left out, or
 * RT_PLAIN.  So the slow path of the hooks needs only one test for all these cases. */
struct rt_guard {
	_Alignas(4096) volatile uint32_t alive;
};
extern struct rt_guard rt_guard __attribute__((visibility("hidden")));

/* Threads that have no state yet use this placeholder instead (abi.h).  Its stack pointer points to
 * a scratch area. */
extern struct raddle_self rt_placeholder;
void rt_placeholder_setup(void);

/* Functions of rt/core/process/system.c, which make system calls.  rt_map() returns zeroed memory
 * that is excluded from core dumps and uses no huge pages.  It returns NULL if no memory is
 * available. */
void *rt_map(size_t size);
void rt_unmap(void *p, size_t size);
/* Raises limits that the program has set; returns false if it raised none. */
bool rt_make_room(size_t size);
uint64_t rt_now(void);
uint64_t rt_now_soon(struct rt_thread *t); /* cheaper; call it only with the encoder taken */
void rt_clock_setup(void);
int rt_futex_wait(_Atomic uint32_t *word, uint32_t value, uint32_t milliseconds);
void rt_futex_wake(_Atomic uint32_t *word, uint32_t count);
/* The first function blocks all signals, and the second restores the mask; both keep errno.  The
 * third blocks signals only if a handler could run, and the fourth restores the mask. */
void rt_block_signals(uint64_t *old);
void rt_restore_signals(const uint64_t *old);
void rt_defer_signals(uint64_t *old);
void rt_allow_signals(const uint64_t *old);
void rt_lock(uint64_t *saved_signals);

/* Makes a system call without libc (rt/core/process/bare.c).  A failure is a negative errno value.
 * rt_bare_end is the address after the instruction that makes the system call. */
long rt_bare_call(long number, const long arguments[6]);
#define rt_bare(number, ...) rt_bare_call(number, (const long[6]){__VA_ARGS__})
extern const char rt_bare_end[] __attribute__((visibility("hidden")));
pid_t rt_kernel_tid(void); /* the ID of the kernel thread, whatever thread runs on it */

/* The set of signals that the runtime blocks.  It lacks SIGSYS, which a trapped system call
 * (rt/steer/trap.c) raises, and which kills the process if it is blocked. */
#define RT_ALL_SIGNALS (~(1ull << (31 - 1)))
void rt_unlock(const uint64_t *saved_signals);

/* Locks that are held briefly while signals are not blocked.  A signal handler may interrupt the
 * holder and leave by longjmp, so the lock may never be released.  Therefore rt_spin() returns
 * false after RT_PATIENCE rounds.  rt_spin_recover() releases a lock that the calling thread left
 * locked.  A lock is held for less than RT_SPINS pauses, unless its holder is preempted.  After
 * that many pauses, a waiter yields the processor.  A holder that is merely slow releases the lock
 * within RT_PATIENCE yields.  RT_SPINS and RT_PATIENCE were chosen by hand. */
#define RT_SPINS 200
#define RT_PATIENCE 100000
bool rt_spin(_Atomic uint32_t *lock);
void rt_spin_leave(_Atomic uint32_t *lock);
void rt_spin_recover(_Atomic uint32_t *lock);
void rt_pause(uint32_t round); /* called between two checks of a lock */

/* rt/core/buffer/buffer.c: the session's buffers. */
bool rt_buffer_switch(struct rt_thread *t);				/* false if recording is over */
void rt_buffer_seal(struct rt_thread *t);				/* hands the buffer over */
struct raddle_buffer *rt_buffer_open(uint32_t thread, uint32_t number); /* NULL if recording is over */
void rt_buffer_hand_over(struct raddle_buffer *b);
void rt_stop(enum raddle_stop_reason reason);

#include "rt/core/buffer/writer.h"

/* Returns the next q.  If all threads run on one kernel thread, only a signal handler can interrupt
 * this, so one instruction without a bus lock is enough (rt/core/one.h). */
static inline uint64_t rt_q(void)
{
#if defined(__x86_64__)
	uint64_t q = 1;

	if (rt.one) {
		__asm__ volatile("xaddq %0, %1" : "+r"(q), "+m"(rt.session->sequence) : : "cc", "memory");
		return q;
	}
#endif
	return atomic_fetch_add_explicit(&rt.session->sequence, 1, memory_order_acq_rel);
}

/* Returns true if nothing reads the records, as in a replay.  In that case layers are notified of
 * accesses, but no records of accesses are written. */
static inline bool rt_unread(void)
{
	return RT_UNLIKELY(rt.session->discard);
}

/* Makes a thread in advance, which a layer keeps until the program creates a thread (`prepares`,
 * `prepared` in callback.inc).  Returns false if the system refuses to make a thread. */
bool rt_thread_prepare(void);

/* rt/core/thread/thread.c */
struct rt_thread *rt_thread_new(uintptr_t stack_size); /* NULL if there is no memory */
void rt_thread_idle(struct rt_thread *t);	       /* keeps a state for reuse */
/* Called in the new thread: takes its state and writes THREAD_START. */
void rt_thread_begin(struct rt_thread *t);
struct rt_thread *rt_thread_adopt(void);   /* adopts the calling thread; NULL if that fails */
void rt_clear_blocks(struct rt_thread *t); /* removes all marks and frees their memory */
void rt_thread_after_fork(struct rt_thread *t);
void rt_thread_end_key(void *value); /* the key's destructor */
void rt_handle_add(uint64_t handle, uint32_t number);
uint32_t rt_handle_find(uint64_t handle); /* UINT32_MAX if unknown */
void rt_handle_remove(uint64_t handle, uint32_t number);

/* Stores the state of the calling thread in *t.  If the thread has no state, makes one.  Returns
 * false if that fails. */
static inline bool rt_has_state(struct rt_thread **t)
{
	*t = (struct rt_thread *)__raddle_self;
	if (RT_LIKELY(__raddle_self != &rt_placeholder))
		return true;
	*t = rt_thread_adopt();
	return *t != NULL;
}

/* Functions of rt/core/control/edit.c.  The first returns true if an edit of the program made the
 * thread skip the acquisition of this lock, so that it must not release the lock now.  The second
 * returns true if a wait on a condition variable with this lock must end at once. */
bool rt_was_left_out(const void *lock);
bool rt_wakes_at_once(const void *lock);
struct raddle_steer *rt_steer_memory(void); /* NULL if the run is not steered */
_Noreturn void rt_end_process(void);	    /* by SIGABRT, without calling a handler */

/* rt/core/process/refused.c: Reports that a call has failed with this errno value. */
void rt_refused(int error);
/* Reports the failure of a call that opens a descriptor.  Returns the call's result. */
int rt_opened(int result);

/* Returns the calling thread's state if the thread is recorded now, otherwise NULL. */
static inline struct rt_thread *rt_self(void)
{
	struct rt_thread *t;

	return rt_has_state(&t) && t->recording ? t : NULL;
}

/* Does the same as rt_self(), but also returns NULL if layers listen.  So a single test of the
 * result shows whether the thread is recorded and no layer listens. */
static inline struct rt_thread *rt_plain(void)
{
	struct rt_thread *t;

	return rt_has_state(&t) && t->recording == RT_PLAIN ? t : NULL;
}

/* rt/core/process/module.c */
void rt_modules(struct rt_thread *t); /* reports the loaded objects that were not reported yet */
void rt_modules_forget(void);

/* rt/core/process/process.c */
void rt_layout(struct rt_thread *t);
void rt_process_setup(void);	/* installs fork handlers and the exit hook */
void rt_protect_redzones(void); /* rt/core/memory/redzone.c */

/* Returns the descriptor of the session (rt/core/process/serve.c).  The result is fd or, in a
 * clone, the descriptor that came with the request. */
int rt_serve(int fd);

/* Called when this process or a child is about to execute another program.  If futex calls are
 * trapped, the run ends, because the other program could not make them. */
void rt_trap_leaves(void);

#endif
