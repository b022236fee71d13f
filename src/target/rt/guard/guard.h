/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime of the flavour `guard`: it checks race candidates in a production program when an
 * agent requests it (raddle/guard.h), and does nothing else.
 *
 * It does not use rt/core/, which gives every thread a state and a buffer and decides at the start
 * of an operation whether it is recorded.  Here, nothing may be kept for a program that is not
 * observed, and tracking may begin or end in the middle of an operation.  So every function here
 * tests one byte:
 *
 * 	releasing   before the operation, so that a released thread finds the note
 * 	acquiring   after it, so that a thread that already waited when tracking began finds the
 * 	            note, too
 *
 * Rules: no allocation, no stdio, errno is preserved; memory comes from guard_map().  No call that
 * can wait is made with the lock held.  A signal handler that finds the lock held by the thread it
 * interrupted gives up: tracking ends without a verdict.
 *
 * The child of a fork is dormant.
 */
#ifndef RT_GUARD_H
#define RT_GUARD_H

#include "raddle/guard.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define GUARD_LIKELY(x) __builtin_expect(!!(x), 1)
#define GUARD_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define GUARD_HIDDEN __attribute__((visibility("hidden"))) /* reached without the global offset table */
/* For functions that are called only if a test succeeds, which is rare.  The code around the test
 * saves no registers for the call. */
#ifdef __clang__
#define GUARD_RARE __attribute__((preserve_most))
#else
#define GUARD_RARE
#endif

/* Which tracked accesses a thread is ordered after, one bit for each task.  `sure` covers
 * operations that certainly order threads; `maybe` also covers those that may.  So `sure` is a
 * subset of `maybe`.  Of the vector clocks of DJIT+, this is the column of the tracked access; the
 * other columns are not needed. */
struct guard_mask {
	uint32_t sure, maybe;
};

struct guard_thread {
	struct guard_thread *next; /* of all, or of the free ones */
	uint32_t number;	   /* from 1 */
	struct guard_mask mask;
	struct guard_mask fence;   /* at the last release fence: what relaxed stores publish */
	struct guard_mask pending; /* what relaxed loads have found: for the next acquire fence */
	pthread_t handle;
	bool ended, detached, adopted;
	uint32_t rounds; /* of key destructors that are still to come */
	void *(*start)(void *);
	int (*start_c11)(void *);
	void *argument;
	uintptr_t stack_low, stack_high;
};

/* The state of the process.  `guard_alive` has a page of its own, which the kernel clears in the
 * child of a fork. */
struct guard {
	struct raddle_guard *session; /* NULL: there is no agent */
	struct raddle_guard_seen *seen;
	uint8_t *left;
	const uint32_t *starts, *lists;
	struct raddle_guard_pair *pairs;
	const uint32_t *first;
	const struct raddle_guard_place *places;
	uint32_t pair_count, guard_count, place_count; /* as the program knows them */
	pthread_key_t key;
	struct guard_thread *threads, *idle; /* under the lock */
	uint32_t live, numbers;
	_Atomic uint32_t lock;
	_Atomic uint32_t lost;	      /* a thread could not get the lock: what is tracked is worthless */
	int watchpoint;		      /* watch.c */
	_Atomic uint32_t armed, hits; /* of the watchpoint */
	void (*free)(void *);	      /* what free() is: the real one while nothing is tracked */
};
extern GUARD_HIDDEN struct guard guard;
struct guard_alive {
	_Alignas(4096) volatile uint32_t value;
	char rest[4092];
};
extern GUARD_HIDDEN struct guard_alive guard_alive;

enum {
	GUARD_OBJECTS = 8192, /* as many as a few milliseconds of synchronisation use */
	GUARD_RECENT = 4096,  /* entries of a table that may forget some */
};

/* The state of tracking, protected by the lock.  It is separate from `guard`, which is initialised
 * data, so it takes no memory in most runs. */
struct guard_tables {
	/* order.c: objects by address, the list of those in use, and whether some were lost for
	 * lack of room. */
	struct guard_object {
		uintptr_t address; /* 0: free */
		struct guard_mask any, writers;
	} objects[GUARD_OBJECTS];
	uint32_t used[GUARD_OBJECTS], used_count;
	struct guard_mask overflow;
	/* recent.c */
	struct guard_visit {
		uintptr_t address;
		uint32_t guard, thread;
	} recent[GUARD_RECENT];
	/* validate.c: a task as this process sees it.  Bit k of every mask belongs to the task in
	 * slot k. */
	struct guard_watch {
		uint32_t generation; /* of the task this is about */
		uint32_t order, tau_us, skip;
		uint32_t guard[2];
		bool active;	/* an access is tracked */
		bool settled;	/* enough were tracked: only a thread is still to be stopped */
		bool aliases;	/* two threads reached the same bytes */
		bool unsettled; /* a thread ended that is not ordered after the tracked access */
		bool done;	/* there is nothing more to find out */
		bool steered;
		struct guard_thread *thread;
		uint32_t side;
		uintptr_t low, high;
		uint64_t since, rest; /* when tracking began; when it may begin again */
		uint32_t ordered;
		/* A thread that is stopped. */
		struct guard_thread *held;
		uintptr_t held_low, held_high;
		_Atomic uint32_t met; /* the futex */
	} watches[RADDLE_GUARD_TASKS];
};
extern GUARD_HIDDEN struct guard_tables guard_tables;

/* What instrumented code tests. */
extern GUARD_HIDDEN volatile uint8_t __raddle_guard_flags[RADDLE_GUARDS];
extern GUARD_HIDDEN uint8_t __raddle_guard_regions[RADDLE_GUARDS];
extern GUARD_HIDDEN volatile uint8_t __raddle_guard_tracking;
void guard_track(bool any); /* direct.c: from now on something is tracked, or nothing */

/* start.c */
void *guard_map(size_t size); /* zeroed; NULL: no memory */
uint64_t guard_now(void);     /* ns, CLOCK_MONOTONIC */
void guard_dormant(void);     /* the agent is gone: all flags are cleared */

/* thread.c.  NULL: the thread has no state and gets none. */
struct guard_thread *guard_self(void);

/* What a thread keeps even without a state. */
struct guard_local {
	struct guard_thread *self; /* NULL: it has no state yet, or no more */
	struct guard_once *once;   /* sync.c: the innermost initialisation that it runs */
	uint32_t busy;		   /* it holds the lock */
	bool finished;		   /* it has ended, and gets no other state */
};
extern GUARD_HIDDEN __thread struct guard_local guard_local;

/* Takes the lock.  Returns false if this thread already holds it, or another thread holds it for
 * too long. */
bool guard_lock(void);
void guard_unlock(void);

/* order.c: which threads are ordered after what.  Called with the lock held. */
enum guard_way { GUARD_EXCLUSIVE, GUARD_SHARED, GUARD_WEAK };
void guard_track_acquire(struct guard_thread *t, uintptr_t object, enum guard_way way);
void guard_track_release(struct guard_thread *t, uintptr_t object, enum guard_way way);
void guard_track_publish(const struct guard_mask *mask, uintptr_t object);
struct guard_mask guard_track_of(uintptr_t object);
void guard_track_forget(uint32_t bits); /* no thread is ordered after these any more */
static inline void guard_mask_add(struct guard_mask *to, struct guard_mask from)
{
	to->sure |= from.sure;
	to->maybe |= from.maybe | from.sure;
}

/* note.c: the same, called without the lock.  These do nothing if nothing is tracked. */
GUARD_RARE void guard_note_acquire(const volatile void *object, enum guard_way way);
GUARD_RARE void guard_note_release(const volatile void *object, enum guard_way way);
void guard_note_atomic(const volatile void *object, uint32_t what);
void guard_note_outside(bool leaving);
GUARD_RARE void guard_note_descriptor(int fd, bool leaving);
GUARD_RARE void guard_note_gone(const void *memory, size_t size);

GUARD_HIDDEN void guard_free_slowly(void *memory); /* memory.c */

static inline bool guard_tracks(void)
{
	return GUARD_UNLIKELY(__raddle_guard_tracking != 0);
}

static inline void guard_acquired(const volatile void *object)
{
	if (guard_tracks())
		guard_note_acquire(object, GUARD_EXCLUSIVE);
}

static inline void guard_releases(const volatile void *object)
{
	if (guard_tracks())
		guard_note_release(object, GUARD_EXCLUSIVE);
}

/* validate.c: tasks.  Called with the lock held: a thread has been ordered after tracked accesses,
 * so tracking may end; memory was released; a thread ends; the tracked state can no longer be
 * trusted.  guard_access() is called without the lock. */
void guard_learnt(uint32_t bits);
void guard_gone(uintptr_t low, uintptr_t high);
void guard_ends(const struct guard_thread *t);
void guard_lost(void);
void guard_access(const void *address, uint64_t size, uint32_t guard_number);

/* recent.c: whether another thread recently accessed these bytes at that guard; and notes an
 * access of the calling thread.  Called with the lock held. */
bool guard_was_recently(const struct guard_thread *t, uintptr_t address, uint32_t guard_number);
void guard_was_at(const struct guard_thread *t, uintptr_t address, uint32_t guard_number);

/* settle.c: the guard no longer has a flag.  Disables those of its regions in which no other guard
 * has one. */
void guard_settle(uint32_t guard_number);

/* watch.c: a watchpoint on the address of a stopped thread. */
bool guard_watch_open(void);
void guard_watch_arm(const void *address, uint64_t size, bool writes_only);
uint32_t guard_watch_disarm(void); /* how often it was touched by others */

#endif
