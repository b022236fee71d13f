/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime inside the recorded program: what its files share.
 *
 * Rules of this folder (STYLE.md section 5): no malloc, no stdio, no libc lock
 * on a hot path; errno is the program's and survives every entry; memory comes
 * from rt_map(); state is in `rt` or in the thread's struct, nowhere else;
 * everything is hidden but the hooks and the interposed functions.
 *
 * What happens on
 *   a signal     rt/core/thread.h: records of a handler that interrupts the encoder wait
 *   fork         rt/core/process.c: the child becomes a process of its own in the session
 *   exec         the open buffers stay with the collector, which has them already
 *   thread exit  rt/core/thread.c: a key destructor in its last round
 *   dlopen       nothing; code built by `raddle cc` finds __raddle_self
 *   a dead collector, no memory   rt_stop(): the program runs on unrecorded
 */
#ifndef RT_RT_H
#define RT_RT_H

#include "rt/core/thread.h"

#include <pthread.h>
#include <sys/types.h>

#define RT_LIKELY(x) __builtin_expect(!!(x), 1)
#define RT_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define RT_ATOMIC_LOCKS 1024

/* A thread that can be joined: which number its pthread_t has. */
struct rt_handle {
	uint64_t handle;
	uint32_t number;
};

/* The runtime's one global. */
struct rt {
	struct raddle_session *session; /* NULL: nothing is recorded */
	_Atomic uint32_t ready;		/* the constructor is through */
	uint32_t process;		/* our number in the session */
	uint32_t forks;			/* of this process so far */
	pid_t pid;
	pthread_key_t key;	 /* its destructor ends a thread */
	uint32_t exited;	 /* the EXIT record is written */
	_Atomic uint32_t others; /* threads that were started and not joined, but for the first */
	size_t page;
	uint64_t clock_tick, clock_ns; /* at the start; tick is 0 where ticks are no measure of time */

	/* Protects what follows it.  Nests within nothing, is held with all signals
	 * blocked and over no call that can wait. */
	_Atomic uint32_t lock;
	struct rt_thread *live, *idle;
	struct rt_handle *handles;
	size_t handle_count, handle_capacity;

	struct raddle_steer *steer;    /* NULL: nobody steers this process */
	struct rt_steering *steering;  /* what rt/steer/steer.c needs to do so */
	pthread_mutex_t waiters_mutex; /* rt/steer/steer-cond.c; zero is unlocked */
	struct rt_waiter *waiters;
	struct rt_barrier *barriers; /* rt/steer/steer-barrier.c */
	struct rt_detect *detect;    /* rt/detect/detect.h; NULL: nobody looks for races */

	char program[4096];
	_Atomic uint32_t atomic_locks[RT_ATOMIC_LOCKS]; /* rt/core/atomic.c */
};
extern struct rt rt;

/* A page that a fork leaves empty in the child.  The child of a fork that went
 * past us (a bare system call) finds `alive` 0 and knows that the buffers are not its.
 * It is RT_STEERED in a steered process and RT_PLAIN in others, so that the hooks' slow path
 * learns of both with one look. */
struct rt_guard {
	_Alignas(4096) volatile uint32_t alive;
};
extern struct rt_guard rt_guard __attribute__((visibility("hidden")));

/* The state of threads that have none (abi.h).  Its stack pointer moves in a
 * scratch area. */
extern struct raddle_self rt_placeholder;
void rt_placeholder_setup(void);

/* rt/core/system.c: memory, locks, time, futex, by system calls of its own. */
void *rt_map(size_t size); /* zeroed, never dumped, no huge pages; NULL if there is none */
void rt_unmap(void *p, size_t size);
uint64_t rt_now(void);
uint64_t rt_now_soon(struct rt_thread *t); /* the same, cheaper; with the encoder taken only */
void rt_clock_setup(void);
int rt_futex_wait(_Atomic uint32_t *word, uint32_t value, uint32_t milliseconds);
void rt_futex_wake(_Atomic uint32_t *word, uint32_t count);
void rt_lock(uint64_t *saved_signals);
void rt_unlock(const uint64_t *saved_signals);

/* Locks that are held for a moment with signals on: their holder may be away in a handler or gone
 * from it by longjmp, so who waits gives up after RT_PATIENCE rounds (false).  recover() opens one that
 * the calling thread has left closed. */
#define RT_PATIENCE 100000
bool rt_spin(_Atomic uint32_t *lock);
void rt_spin_leave(_Atomic uint32_t *lock);
void rt_spin_recover(_Atomic uint32_t *lock);
void rt_pause(uint32_t round); /* between two looks */

/* rt/core/buffer.c: the session's buffers. */
bool rt_buffer_switch(struct rt_thread *t); /* false: recording is over */
void rt_buffer_seal(struct rt_thread *t);   /* hands the buffer over */
void rt_stop(enum raddle_stop_reason reason);

/* rt/record/record.c: appending records. */
#define RT_HELD 0x100u /* with a code: the caller holds the encoder, rt_hold() */
void rt_emit(struct rt_thread *t, const struct rt_record *record);
void rt_event(struct rt_thread *t, uint32_t code, uint32_t count, const uint64_t *operands);

/* The same for the frequent rows, straight on: `q t a` (last is RT_NONE) and `q t a u`; `q a u` (size
 * is RT_NONE) and `q a u u`. */
#define RT_NONE UINT64_MAX
void rt_sync(struct rt_thread *t, uint32_t code, uintptr_t object, uint64_t last);
void rt_heap(struct rt_thread *t, uint32_t code, uintptr_t address, uint64_t size, uint64_t kind);
uint32_t rt_hold(struct rt_thread *t); /* keeps handlers out until the event; returns RT_HELD or 0 */

void rt_let_go(struct rt_thread *t); /* after rt_hold() where there is no event after all */

/* A releasing operation `q t a result`: the record is written before it, the
 * result is put in after it.  In between the encoder is held. */
struct rt_release {
	uint8_t *byte;	   /* the result in the buffer, or */
	uint64_t *operand; /* the result of a record that waits */
};
struct rt_release rt_release_begin(struct rt_thread *t, uint32_t code, uintptr_t object);
void rt_release_end(struct rt_thread *t, const struct rt_release *release, uint64_t result);
void rt_text(struct rt_thread *t, uint32_t code, const char *text);
void rt_forget(struct rt_thread *t, uintptr_t address, size_t size); /* clears marks */
void rt_see_again(struct rt_thread *t);				     /* clears all: a new segment */

/* New memory, of which the program knows the first `known` bytes; returns p. */
void *rt_fresh(void *p, size_t known);

/* Each flavour has its own (rt/record/record.c, rt/record/linger.c, rt/full/full-buffer.c): before the first
 * thread gets its state; a state is as new; the process is about to end. */
void rt_flavour_setup(void);
void rt_flavour_reset(struct rt_thread *t);
void rt_flavour_exit(void);

/* As first and second operand: taken when the encoder is, so that no handler can
 * come between and the stream is in the order of q. */
#define RT_Q UINT64_MAX
#define RT_T (UINT64_MAX - 1)

#define RT_EVENT(t, code, ...)                                                                               \
	rt_event(t, code, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), (uint64_t[]){__VA_ARGS__})

/* The next position in the global order. */
static inline uint64_t rt_q(void)
{
	return atomic_fetch_add_explicit(&rt.session->sequence, 1, memory_order_acq_rel);
}

/* Nobody reads the records of a replay; what an access leaves behind besides is steering's. */
static inline bool rt_unread(void)
{
	return RT_UNLIKELY(rt.session->discard);
}

/* rt/core/create.c */
void rt_block_signals(uint64_t *old); /* all of them; errno is kept */
void rt_restore_signals(const uint64_t *old);

/* rt/core/thread.c */
struct rt_thread *rt_thread_new(uintptr_t stack_size); /* NULL: no memory */
void rt_thread_idle(struct rt_thread *t);	       /* a state that was not used */
void rt_thread_begin(struct rt_thread *t);	       /* in the thread: adopts the state, THREAD_START */
struct rt_thread *rt_thread_adopt(void);	       /* state for a thread we did not start; NULL: none */
void rt_clear_blocks(struct rt_thread *t);	       /* marks nothing any more, gives the memory back */
void rt_thread_after_fork(struct rt_thread *t);
void rt_thread_end_key(void *value); /* the key's destructor */
void rt_handle_add(uint64_t handle, uint32_t number);
uint32_t rt_handle_find(uint64_t handle); /* UINT32_MAX: unknown */
void rt_handle_remove(uint64_t handle, uint32_t number);

/* The calling thread's state if it is recorded now, else NULL. */
static inline struct rt_thread *rt_self(void)
{
	struct raddle_self *self = __raddle_self;
	struct rt_thread *t = (struct rt_thread *)self;

	if (RT_UNLIKELY(self == &rt_placeholder)) {
		t = rt_thread_adopt();
		if (!t)
			return NULL;
	}
	return t->recording ? t : NULL;
}

/* The same, but NULL in a steered process too: for those who look for steering where they
 * would look for being recorded, so that it costs nothing to record. */
static inline struct rt_thread *rt_plain(void)
{
	struct raddle_self *self = __raddle_self;
	struct rt_thread *t = (struct rt_thread *)self;

	if (RT_UNLIKELY(self == &rt_placeholder)) {
		t = rt_thread_adopt();
		if (!t)
			return NULL;
	}
	return t->recording == RT_PLAIN ? t : NULL;
}

/* rt/core/process.c */
void rt_modules(struct rt_thread *t);
void rt_process_setup(void); /* fork handlers, exit hook */

#endif
