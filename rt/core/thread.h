/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a thread.  One mapping per thread, made before it starts and
 * reused by later threads; only its own thread touches it while it is alive,
 * with the exception of the list links (rt.lock).
 *
 * `busy` guards against signal handlers: it is set while the encoder works. A
 * handler that finds it set leaves its records in `pending`, and the encoder
 * appends them when its own record is complete.  Its value, the stack pointer of
 * the one who took the encoder, tells a handler that interrupted the encoder from
 * a handler that left it by longjmp.
 */
#ifndef RT_THREAD_H
#define RT_THREAD_H

#include "raddle/abi.h"
#include "raddle/session.h"
#include "raddle/steer.h"
#include "rt/core/encode.h"

#include <stdbool.h>

#define RT_PENDING 32
#define RT_PENDING_FRAMES 12

struct rt_pending {
	struct rt_record record;
	uint32_t frames;
	uint32_t frame[RT_PENDING_FRAMES];
};

struct rt_once;	 /* rt/core/once.c */
struct rt_place; /* rt/steer/steer.c */
struct rt_watch; /* rt/detect/detect.c */

enum rt_recording {
	RT_OFF,
	RT_PLAIN,   /* it is recorded */
	RT_STEERED, /* and the process is steered: rt/steer/steer.h */
};

/* A thread of a steered process, rt/steer/steer.c. */
struct rt_steered {
	struct raddle_slot *slot;		/* NULL: it has none */
	const struct raddle_steer_thread *plan; /* NULL: the plan does not name it, or is over */
	const struct raddle_steer_hold *hold;	/* NULL: none, or it has been there */
	struct rt_place *place;			/* where it sleeps */
	uint64_t n;				/* operations begun */
	uint64_t seen;				/* records of the hold's site */
	uint32_t op;				/* the next one of the plan */
	uint32_t listed;			/* entries of slot->held in use */
	bool stopped;				/* it has reached its stop */
	bool leads;				/* it goes first out of a race */
	bool anywhere;				/* nobody is led: it may stand at any hold */
	bool sees_all;				/* each of its accesses is looked at */
	uint32_t looks;				/* accesses since its last point */
	uint64_t point_n;			/* the operation that its last point was behind */
	uint32_t points[RADDLE_POINTS];		/* behind that operation, by kind */
	uint32_t atomic_size;			/* of the operation between begin and end */
	uint32_t atomic_relaxed;		/* its site, if it is relaxed */
	uint32_t depth[RADDLE_SLOT_HELD];	/* how often each lock is held */
};

/* The flavour full (rt/full/full-buffer.c). */
#define RT_WAITING 16

struct rt_full {
	/* The head of a buffer that never has room: what self.full is while there is no other. */
	struct rt_no_buffer {
		uint32_t head[6];
		uint32_t used, open; /* as in struct raddle_buffer */
	} none;
	/* Full buffers with a piece that a handler interrupted, and the frame of the handler. */
	struct rt_waiting {
		struct raddle_buffer *buffer;
		uintptr_t frame;
	} waiting[RT_WAITING];
	uint32_t waiting_count;
	uint32_t fault, fault_end; /* the fault that is due, and the end of this thread's */
};

struct rt_thread {
	struct raddle_self self; /* first: hooks know only this part */

	/* Where records go.  Without a buffer, `cursor` is above `limit`. */
	uint8_t *cursor;
	uint8_t *limit;
	struct raddle_buffer *buffer;
	uint32_t buffers; /* opened so far */
	uint32_t events;  /* in the buffer */
	volatile uintptr_t busy;
	uint32_t *volatile busy_top; /* the call stack of the one who took the encoder */
	_Atomic uint32_t pending_count;
	uint32_t pending_done; /* of them, in the buffer already */
	uint32_t pending_lost;
	uint8_t recording; /* enum rt_recording */
	struct rt_encoder encoder;
	struct rt_pending pending[RT_PENDING];

	/* A moment by both clocks, and nanoseconds of a tick times 2^32 (rt/core/system.c). */
	uint64_t clock_tick, clock_ns, clock_scale;

	/* Who it is. */
	uint32_t number, parent, index; /* as in THREAD_START */
	uint32_t children;		/* creations so far */
	uint64_t handle;		/* its pthread_t */
	uintptr_t stack_low, stack_high;

	/* What it runs. */
	void *(*start)(void *);
	int (*start_c11)(void *);
	void *argument;
	uint64_t signals;    /* mask it starts with */
	uint32_t end_rounds; /* rounds of key destructors seen */

	/* Memory of its own, kept when the state is reused. */
	uint32_t *shadow;
	size_t shadow_size;

	/* Marks of calls in progress. */
	uint32_t new_kind;	/* enum raddle_alloc_kind + 1 inside operator new */
	uint32_t internal;	/* inside a libc function whose allocations are its own affair */
	uint32_t forking;	/* inside the fork() wrapper */
	uint32_t fork_prepared; /* the handler before fork has run, those behind it not yet */
	uint32_t fork_child;	/* number of the child process in the session */
	_Atomic uint32_t *atomic_lock;
	uintptr_t atomic_frame;
	struct rt_once *once;
	struct rt_full full;

	struct rt_steered steered;
	struct rt_watch *watch; /* what the detector knows of it (rt/detect/detect.c) */

	struct rt_thread *next, **link;
};

#endif
