/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime inside the recorded program: what its files share.
 *
 * Rules of this folder (doc/style.md): no malloc, no stdio, and no libc lock on a hot path.
 * Every entry preserves the program's errno.  Memory comes from rt_map().  All state is in `rt`
 * or in the thread's struct.  Everything is hidden except the hooks and the interposed functions.
 *
 * What happens on
 *   a signal         rt/core/thread/thread.h: if a handler interrupts the encoder, its records wait
 *   fork             rt/core/process/process.c: the child becomes another process of the session
 *   exec             the open buffers stay with the collector, which has mapped them already
 *   thread exit      rt/core/thread/thread.c: handled by a key destructor in its last round
 *   dlopen           rt/core/process/module.c: loads the instrumented copy of a plug-in, if any
 *   dead collector   rt_stop(): the program continues unrecorded
 *   lack of memory   the same
 */
#ifndef RT_RT_H
#define RT_RT_H

#include "rt/core/thread/thread.h"

#include <pthread.h>
#include <sys/types.h>

#define RT_LIKELY(x) __builtin_expect(!!(x), 1)
#define RT_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define RT_ATOMIC_LOCKS 1024 /* a power of two; a judgement: threads rarely share one by chance */
_Static_assert((RT_ATOMIC_LOCKS & (RT_ATOMIC_LOCKS - 1)) == 0, "locks are chosen by a mask");

struct rt_layer;
struct rt_channels;
struct rt_outside;
struct rt_op;
struct rt_until;

/* The result of a wait for something from outside: no layer let other threads run; what is awaited
 * may have arrived; the time is up. */
enum rt_idle { RT_IS_NOT_IDLE, RT_LOOK_AGAIN, RT_TIME_UP };

/* The callbacks of the listening layers (rt/core/layer.h). */
struct rt_callbacks {
#define RT_CALLBACK(name, parameters, arguments) void(*name) parameters;
#include "rt/core/callback.inc"
#undef RT_CALLBACK
};

/* The pthread_t of a thread that can be joined, and the thread's number. */
struct rt_handle {
	uint64_t handle;
	uint32_t number;
};

/* A limit of memory as the program set it. */
struct rt_limit {
	bool is_set;
	uint64_t soft, hard;
};

/* The state of the process; rt/core/tables.h has its tables. */
struct rt {
	struct raddle_session *session; /* NULL: nothing is recorded */
	_Atomic uint32_t ready;		/* the runtime has started */
	uint32_t process;		/* our number in the session */
	uint32_t forks;			/* of this process so far */
	_Atomic pid_t replayed_pid;	/* process ID of the recorded run that getpid() returned; 0: none */
	pid_t pid;
	pthread_key_t key;	  /* its destructor ends a thread */
	uint32_t exited;	  /* the EXIT record is written */
	_Atomic uint32_t others;  /* threads that were started and not joined, without the first */
	_Atomic uint32_t adopted; /* threads that the program did not create, so far */
	size_t page;
	uintptr_t arguments;	       /* above them lies what the kernel put on the stack */
	uint64_t clock_tick, clock_ns; /* at the start; the tick is 0 if ticks do not measure time */

	/* Protects the members after it.  It is never taken while another lock is held.  All
	 * signals are blocked while it is held, and no call that can wait is made. */
	_Atomic uint32_t lock;
	struct rt_thread *live, *idle;
	struct rt_handle *handles;
	size_t handle_count, handle_capacity;
	uint64_t fork_signals; /* the signal mask that fork() restores when it releases the lock */

	/* Layers (rt/core/layer.h): those that are present and those of them that listen, each
	 * list ended by NULL; then the state of each layer. */
	const struct rt_layer *present[RT_LAYER_COUNT + 1], *listening[RT_LAYER_COUNT + 1];
	void *layer[RT_LAYER_COUNT];
	struct rt_callbacks callbacks; /* of all that listen */

	const struct rt_outside *outside; /* rt/core/io/outside.h; NULL: no layer needs it */

	struct rt_channels *_Atomic channels; /* rt/core/io/channel.c; NULL: none yet */
	_Atomic uint64_t mapped;	      /* bytes that the runtime has mapped, with the session */
	struct rt_limit limits[2];	      /* rt/core/process/limit.c: of the address space, of data */
	_Atomic uint32_t interruptible;	      /* rt/core/process/handler.c: handlers may run */
	bool leaves_out;		      /* rt/core/control/edit.c: an edit has left out taking a lock */
	char program[4096];
	_Atomic uint32_t atomic_locks[RT_ATOMIC_LOCKS]; /* rt/core/sync/atomic.c */
};
extern struct rt rt;

/* A page that the kernel clears in the child of a fork.  If the fork was a bare system call,
 * which the runtime did not see, the child finds `alive` 0, so the buffers are not its own.
 * Otherwise the value is RT_LISTENED if layers listen, RT_THIN if accesses are left out, or
 * RT_PLAIN.  So the slow path of the hooks needs one test for all cases. */
struct rt_guard {
	_Alignas(4096) volatile uint32_t alive;
};
extern struct rt_guard rt_guard __attribute__((visibility("hidden")));

/* The state of threads that have none (abi.h).  Its stack pointer moves in a
 * scratch area. */
extern struct raddle_self rt_placeholder;
void rt_placeholder_setup(void);

/* rt/core/process/system.c: memory, locks, time, futex, by system calls of its own. */
void *rt_map(size_t size); /* zeroed, never dumped, no huge pages; NULL: no memory */
void rt_unmap(void *p, size_t size);
bool rt_make_room(size_t size); /* raises limits that the program has set; false: none was raised */
uint64_t rt_now(void);
uint64_t rt_now_soon(struct rt_thread *t); /* the same, cheaper; only while the encoder is taken */
void rt_clock_setup(void);
int rt_futex_wait(_Atomic uint32_t *word, uint32_t value, uint32_t milliseconds);
void rt_futex_wake(_Atomic uint32_t *word, uint32_t count);
void rt_lock(uint64_t *saved_signals);
void rt_unlock(const uint64_t *saved_signals);

/* Locks that are held briefly while signals are not blocked.  A handler may interrupt the holder,
 * and may leave by longjmp, so a waiter gives up after RT_PATIENCE rounds and returns false.
 * recover() releases a lock that the calling thread left locked.  Both numbers are judgements.  A
 * lock is held for less than RT_SPINS pauses unless its holder was preempted; after that the
 * waiter yields the processor.  A holder that is merely slow is done within RT_PATIENCE yields. */
#define RT_SPINS 200
#define RT_PATIENCE 100000
bool rt_spin(_Atomic uint32_t *lock);
void rt_spin_leave(_Atomic uint32_t *lock);
void rt_spin_recover(_Atomic uint32_t *lock);
void rt_pause(uint32_t round); /* between two looks */

/* rt/core/buffer/buffer.c: the session's buffers. */
bool rt_buffer_switch(struct rt_thread *t);				/* false: recording is over */
void rt_buffer_seal(struct rt_thread *t);				/* hands the buffer over */
struct raddle_buffer *rt_buffer_open(uint32_t thread, uint32_t number); /* NULL: recording is over */
void rt_buffer_hand_over(struct raddle_buffer *b);
void rt_stop(enum raddle_stop_reason reason);

#include "rt/core/buffer/writer.h"

/* The next position in the global order. */
static inline uint64_t rt_q(void)
{
	return atomic_fetch_add_explicit(&rt.session->sequence, 1, memory_order_acq_rel);
}

/* Whether this is a replay, whose records are not read.  Then only layers need to know of an
 * access. */
static inline bool rt_unread(void)
{
	return RT_UNLIKELY(rt.session->discard);
}

/* rt/core/thread/create.c */
void rt_block_signals(uint64_t *old); /* all of them; errno is kept */
void rt_restore_signals(const uint64_t *old);

/* rt/core/thread/thread.c */
struct rt_thread *rt_thread_new(uintptr_t stack_size); /* NULL: no memory */
void rt_thread_idle(struct rt_thread *t);	       /* keeps a state for reuse */
void rt_thread_begin(struct rt_thread *t);	       /* in the thread: takes its state, THREAD_START */
struct rt_thread *rt_thread_adopt(void);	       /* state for a thread we did not start; NULL: none */
void rt_clear_blocks(struct rt_thread *t);	       /* removes all marks and returns the memory */
void rt_thread_after_fork(struct rt_thread *t);
void rt_thread_end_key(void *value); /* the key's destructor */
void rt_handle_add(uint64_t handle, uint32_t number);
uint32_t rt_handle_find(uint64_t handle); /* UINT32_MAX: unknown */
void rt_handle_remove(uint64_t handle, uint32_t number);

/* Whether the calling thread has a state, or gets one now; stores it in *t. */
static inline bool rt_has_state(struct rt_thread **t)
{
	*t = (struct rt_thread *)__raddle_self;
	if (RT_LIKELY(__raddle_self != &rt_placeholder))
		return true;
	*t = rt_thread_adopt();
	return *t != NULL;
}

/* rt/core/control/edit.c.  The first: whether an edit left out taking this lock, so that it must
 * not be released now.  The second: whether a thread that waits on a condition variable with this
 * lock is woken at once. */
bool rt_was_left_out(const void *lock);
bool rt_wakes_at_once(const void *lock);
struct raddle_steer *rt_steer_memory(void); /* NULL: this run is not steered */
_Noreturn void rt_end_process(void);	    /* by SIGABRT, whatever the program does about it */

/* rt/core/process/refused.c.  rt_refused(): a call has failed with this errno value.  rt_opened():
 * reports the failure of a call that opens a descriptor, and returns the call's result. */
void rt_refused(int error);
int rt_opened(int result);

/* The calling thread's state if it is recorded now, else NULL. */
static inline struct rt_thread *rt_self(void)
{
	struct rt_thread *t;

	return rt_has_state(&t) && t->recording ? t : NULL;
}

/* The same, but also NULL if layers listen.  Code that has to test whether the thread is recorded
 * anyway finds listeners by the same test, at no extra cost. */
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
void rt_process_setup(void);	/* fork handlers, exit hook */
void rt_protect_redzones(void); /* rt/core/memory/redzone.c: the program, from our variables */

/* rt/core/process/serve.c: the descriptor of the session: fd itself or, in a clone, the one that
 * came with the request. */
int rt_serve(int fd);

#endif
