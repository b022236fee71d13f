/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a thread.  Each thread's state is a mapping that is made before the thread starts
 * and is reused by later threads.  While the thread is alive, only the thread itself touches its
 * state, except for the list links (rt.lock).
 *
 * `busy` guards against signal handlers: it is set while the encoder works.  A handler that finds
 * it set leaves its records in `pending`, and the encoder appends them when its own record is
 * complete.  The value of `busy` is the stack pointer of the function that took the encoder.  It
 * distinguishes a handler that interrupted the encoder from code that runs after an earlier handler
 * left the encoder by longjmp.
 */
#ifndef RT_THREAD_H
#define RT_THREAD_H

#include "raddle/abi.h"
#include "raddle/session.h"
#include "rt/core/buffer/encode.h"

#include <stdbool.h>
#include <stddef.h>

/* The maximum number of records that a signal handler may leave while its thread is busy, and the
 * number of innermost call sites that are kept for each.  Both were chosen by hand.  Further
 * records are counted as lost. */
#define RT_PENDING 32
#define RT_PENDING_FRAMES 12

struct rt_pending {
	struct rt_record record;
	uint32_t frames;
	uint32_t frame[RT_PENDING_FRAMES];
};

struct rt_once;	  /* rt/core/sync/once.c */
struct rt_place;  /* rt/record/thin.h */
struct rt_gather; /* rt/core/buffer/gather.h */

/* The numbers of the layers above the core, which are indexes of rt.layer[] and rt_thread.layer[]
 * (rt/core/layer.h). */
enum rt_layer_number {
	RT_LAYER_RECORD,
	RT_LAYER_FULL,
	RT_LAYER_INJECT,
	RT_LAYER_LED,
	RT_LAYER_STEER,
	RT_LAYER_MEMORY,
	RT_LAYER_DETECT,
	RT_LAYER_HEAP,
	RT_LAYER_COVER,
	RT_LAYER_WORLD,
	RT_LAYER_SHADOW,
	RT_LAYER_COUNT,
};

enum rt_recording {
	RT_OFF,
	RT_PLAIN,    /* the thread is recorded */
	RT_LISTENED, /* the thread is recorded, and layers are notified of its events */
	/* only in rt_guard.alive: threads are RT_PLAIN, but accesses may be left out
	 * (rt/record/thin.h) */
	RT_THIN,
};

#define RT_LEFT_OUT 16 /* the maximum number of nested locks that are left out; chosen by hand */

struct rt_thread {
	struct raddle_self self; /* must be first, because hooks know only this part */

	/* Where records go.  Without a buffer, `cursor` is above `limit`. */
	uint8_t *cursor;
	uint8_t *limit;
	struct raddle_buffer *buffer;
	uint32_t buffers; /* the number of buffers opened so far */
	uint32_t events;  /* the number of events in the buffer */
	volatile uintptr_t busy;
	uint32_t *volatile busy_top; /* the top of the shadow stack when the encoder was taken */
	_Atomic uint32_t pending_count;
	uint32_t pending_done; /* the number of pending records that are in the buffer already */
	uint32_t pending_lost;
	uint8_t recording; /* enum rt_recording */
	bool fenced;	   /* true if the thread has executed a fence */
	/* in `led`: true if layers are notified of all its accesses, not only of the first in a
	 * segment */
	bool every;
	uint32_t steps; /* the number of operations so far, as schedules count them */

	/* For thinning (rt/record/thin.h). */
	/* the table of the sites that the thread executes; NULL before thinning begins */
	struct rt_place *places;
	uint32_t hand;
	/* 1 plus the number of operations since its segment began; 0 if each operation begins a
	 * segment */
	uint32_t lazy;
	uint32_t thin_changes; /* the value of rt_thin.changes when its segment began */

	struct rt_encoder encoder;
	struct rt_pending pending[RT_PENDING];

	/* A point in time, both in ticks of the processor's counter and in nanoseconds.  Also the
	 * length of a tick, in nanoseconds times 2^32 (rt/core/process/system.c). */
	uint64_t clock_tick, clock_ns, clock_scale;

	/* Its identity. */
	uint32_t number, parent, index; /* as in the event THREAD_START */
	uint32_t children;		/* the number of threads that it has created */
	uint64_t handle;		/* its pthread_t */
	uint32_t tid; /* its kernel thread ID, which mutexes store to identify their owner */
	uintptr_t stack_low, stack_high;

	/* What it runs. */
	void *(*start)(void *);
	int (*start_c11)(void *);
	void *argument;
	uint64_t signals;    /* the signal mask with which it starts */
	uint32_t end_rounds; /* the number of rounds of key destructors that have run */
	void *result;	     /* what it returns; PTHREAD_CANCELED until that is known */
	bool detached;	     /* true if it was created detached */
	uint64_t prepared;   /* the pthread_t of a thread that was made in advance; else 0 */

	/* Memory that belongs to this state and is kept when the state is reused. */
	uint32_t *shadow;
	size_t shadow_size;

	/* Marks of calls in progress. */
	uint32_t new_kind; /* inside operator new: enum raddle_alloc_kind plus 1; otherwise 0 */
	uint32_t internal; /* not 0 inside a libc function whose allocations are not recorded */
	uint32_t forking;  /* 1 inside the fork() wrapper */
	/* 1 between the pthread_atfork() handler before a fork and the one after it */
	uint32_t fork_prepared;
	uint32_t fork_child; /* the number of the child process in the session */
	_Atomic uint32_t *atomic_lock;
	uintptr_t atomic_frame;
	uint64_t atomic_what; /* the argument of __raddle_atomic_begin(), if layers listen */
	struct rt_once *once;
	/* the locks that it has not taken because of an edit (rt/core/control/edit.c) */
	const void *left_out[RT_LEFT_OUT];
	uint32_t left_out_count;

	/* The state of layers (rt/core/layer.h). */
	void *layer[RT_LAYER_COUNT];
	/* A bit for each layer that must be notified of each access before it happens. */
	uint32_t each;
	/* accesses that layers are notified of later; NULL if no layer wants them */
	struct rt_gather *gather;
	/* counter of the accesses that layers were notified of; NULL if they are not counted */
	_Atomic uint64_t *notified;

	struct rt_thread *next, **link;
};

_Static_assert(offsetof(struct rt_thread, self) == 0, "__raddle_self is the state of the thread");
_Static_assert(RT_LAYER_COUNT <= 32, "`each` has a bit for each layer");

/* Data of a thread that exists even if the thread has no state. */
struct rt_local {
	/* the result and errno of a call that an injected fault replaced (rt/inject/inject.c) */
	uint64_t result, error;
	bool ended;    /* the thread's state has ended, so it is not adopted */
	bool adopting; /* an adoption of this thread is under way */
	/* true while the thread tries to take a nestable lock of libomp (rt/core/library/ompt.c) */
	bool tries;
};
extern __thread struct rt_local rt_local __attribute__((tls_model("initial-exec"), visibility("hidden")));

#endif
