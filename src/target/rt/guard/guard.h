/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime of the flavour `guard`.  It checks race candidates in a production program when an
 * agent requests it (raddle/guard.h), and does nothing else.
 *
 * It does not use rt/core/, which gives every thread a state and a buffer and decides at the start
 * of an operation whether the operation is recorded.  Here, a program that is not observed must not
 * pay for any state, and tracking may begin or end in the middle of an operation.  So each
 * interposed function tests one byte, which is set while an access is tracked.  It does so at these
 * points:
 *
 * 	releasing   before the operation, so that its masks are stored before another thread can
 * 	            acquire the object
 * 	acquiring   after the operation, so that a thread that already waited when tracking began
 * 	            gets the masks too
 *
 * Rules: no allocation, no stdio, errno is preserved; memory comes from guard_map().  No call that
 * can wait is made while the lock is held.  If a signal handler finds the lock held by the thread
 * that it interrupted, tracking ends without a verdict.
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
#define GUARD_HIDDEN __attribute__((visibility("hidden"))) /* accessed without the global offset table */
/* An attribute for functions that are called only in rare cases.  With this attribute, the calling
 * code need not save most registers, so the common case stays fast. */
#ifdef __clang__
#define GUARD_RARE __attribute__((preserve_most))
#else
#define GUARD_RARE
#endif

/* The set of tracked accesses that are ordered before the current point of a thread, with one bit
 * for each task.  `sure` considers only operations that certainly order threads.  `maybe` also
 * considers operations that may do so, and therefore includes `sure`.  No vector clock is needed,
 * because only its component for the tracked access matters. */
struct guard_mask {
	uint32_t sure, maybe;
};

struct guard_thread {
	struct guard_thread *next; /* the next thread in the list, or the next free state */
	uint32_t number;	   /* its number, from 1 */
	struct guard_mask mask;
	struct guard_mask fence;   /* the mask at the last release fence, for relaxed stores */
	struct guard_mask pending; /* the masks that the next acquire fence adds, for relaxed loads */
	pthread_t handle;
	bool ended, detached, adopted;
	uint32_t rounds; /* the number of rounds of key destructors that are left */
	void *(*start)(void *);
	int (*start_c11)(void *);
	void *argument;
	uintptr_t stack_low, stack_high;
};

/* The state of the process.  `guard_alive` has a page of its own, which the kernel clears in the
 * child of a fork. */
struct guard {
	struct raddle_guard *session; /* NULL if there is no agent */
	struct raddle_guard_seen *seen;
	uint8_t *left;
	const uint32_t *starts, *lists;
	struct raddle_guard_pair *pairs;
	const uint32_t *first;
	const struct raddle_guard_place *places;
	uint32_t pair_count, guard_count, place_count; /* as checked when the memory was mapped */
	pthread_key_t key;
	struct guard_thread *threads, *idle; /* protected by the lock */
	uint32_t live, numbers;
	_Atomic uint32_t lock;
	_Atomic uint32_t lost;	      /* 1 if an operation could not be recorded, so that tracking must end */
	int watchpoint;		      /* watch.c: the descriptor plus 1; or 0 */
	_Atomic uint32_t armed, hits; /* 1 if the watchpoint is set; the number of its hits */
	/* The function that free() calls: the real one while nothing is tracked. */
	void (*free)(void *);
};
extern GUARD_HIDDEN struct guard guard;
struct guard_alive {
	_Alignas(4096) volatile uint32_t value;
	char rest[4092];
};
extern GUARD_HIDDEN struct guard_alive guard_alive;

enum {
	/* The number of entries in the table of synchronisation objects.  At most half of them are
	 * used, which is enough for some milliseconds of tracking. */
	GUARD_OBJECTS = 8192,
	/* The number of entries of the table of recent accesses; new ones displace old ones. */
	GUARD_RECENT = 4096,
};

/* The state that is needed to track accesses, protected by the lock.  It is separate from `guard`,
 * which is initialised data.  Therefore it takes no memory in the many runs that track nothing. */
struct guard_tables {
	/* order.c: a hash table of synchronisation objects by address, the indexes of its used
	 * entries, and the union of the masks for which the table had no room. */
	struct guard_object {
		uintptr_t address; /* 0 if the entry is unused */
		struct guard_mask any, writers;
	} objects[GUARD_OBJECTS];
	uint32_t used[GUARD_OBJECTS], used_count;
	struct guard_mask overflow;
	/* recent.c */
	struct guard_visit {
		uintptr_t address;
		uint32_t guard, thread;
	} recent[GUARD_RECENT];
	/* validate.c: this process's copy of a task, and its state.  Bit k of every mask belongs to
	 * the task in slot k. */
	struct guard_watch {
		uint32_t generation; /* the generation of the task; 0 if there is none */
		uint32_t order, tau_us, skip;
		uint32_t guard[2];
		bool active; /* true while an access is tracked */
		/* True if enough accesses were tracked.  From then on, the task only tries to stop
		 * a thread. */
		bool settled;
		bool aliases; /* true if two threads have reached the same bytes */
		/* True if a thread has ended that was not ordered after the access. */
		bool unsettled;
		bool done;    /* true if the task is complete */
		bool steered; /* true if a thread was stopped */
		struct guard_thread *thread;
		uint32_t side;
		uintptr_t low, high;
		uint64_t since, rest; /* when tracking began, and when it may begin again */
		uint32_t ordered;
		/* The thread that is stopped, or NULL, and its bytes. */
		struct guard_thread *held;
		uintptr_t held_low, held_high;
		_Atomic uint32_t met; /* a futex: 1 if another thread has reached the other access */
	} watches[RADDLE_GUARD_TASKS];
};
extern GUARD_HIDDEN struct guard_tables guard_tables;

/* What instrumented code tests. */
extern GUARD_HIDDEN volatile uint8_t __raddle_guard_flags[RADDLE_GUARDS];
extern GUARD_HIDDEN uint8_t __raddle_guard_regions[RADDLE_GUARDS];
extern GUARD_HIDDEN volatile uint8_t __raddle_guard_tracking;
void guard_track(bool any); /* direct.c: sets whether any access is tracked */

/* start.c */
void *guard_map(size_t size); /* returns zeroed memory, or NULL */
uint64_t guard_now(void);     /* the time of CLOCK_MONOTONIC in ns */
void guard_dormant(void);     /* clears all flags, because the agent has ended */

/* thread.c.  Returns the state of the calling thread; NULL if it has none and cannot get one. */
struct guard_thread *guard_self(void);

/* Thread-local variables, which a thread has even without a state. */
struct guard_local {
	struct guard_thread *self; /* NULL before it has a state, and after its end */
	struct guard_once *once;   /* sync.c: the innermost initialisation that it runs */
	uint32_t busy;		   /* 1 while it holds the lock */
	bool finished;		   /* true if it has ended, so that it gets no other state */
};
extern GUARD_HIDDEN __thread struct guard_local guard_local;

/* Takes the lock.  Returns false if this thread already holds it, or another thread holds it for
 * too long. */
bool guard_lock(void);
void guard_unlock(void);

/* order.c: determines which threads are ordered after which tracked accesses.  Call these functions
 * with the lock held. */
enum guard_way { GUARD_EXCLUSIVE, GUARD_SHARED, GUARD_WEAK };
void guard_track_acquire(struct guard_thread *t, uintptr_t object, enum guard_way way);
void guard_track_release(struct guard_thread *t, uintptr_t object, enum guard_way way);
void guard_track_publish(const struct guard_mask *mask, uintptr_t object);
struct guard_mask guard_track_of(uintptr_t object);
void guard_track_forget(uint32_t bits); /* removes these bits from all masks */
static inline void guard_mask_add(struct guard_mask *to, struct guard_mask from)
{
	to->sure |= from.sure;
	to->maybe |= from.maybe | from.sure;
}

/* note.c: these functions report operations.  Call them without the lock.  They do nothing if
 * nothing is tracked. */
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

/* validate.c: tells the tasks what happened. guard_learnt(): a thread has been ordered after
 * tracked accesses, so tracking may end. guard_gone(): memory was freed. guard_ends(): a thread
 * ends. guard_lost(): an operation was not recorded.  Call these functions with the lock held, but
 * guard_access() without it. */
void guard_learnt(uint32_t bits);
void guard_gone(uintptr_t low, uintptr_t high);
void guard_ends(const struct guard_thread *t);
void guard_lost(void);
void guard_access(const void *address, uint64_t size, uint32_t guard_number);

/* recent.c. guard_was_recently() returns true if another thread recently accessed these bytes at
 * this guard. guard_was_at() records an access by the thread.  Call both functions with the lock
 * held. */
bool guard_was_recently(const struct guard_thread *t, uintptr_t address, uint32_t guard_number);
void guard_was_at(const struct guard_thread *t, uintptr_t address, uint32_t guard_number);

/* settle.c: called when the flag of a guard has been cleared.  Disables each region (function or
 * loop) of this guard, unless another guard in the region still has a flag. */
void guard_settle(uint32_t guard_number);

/* watch.c: a watchpoint on the address of a stopped thread. */
bool guard_watch_open(void);
void guard_watch_arm(const void *address, uint64_t size, bool writes_only);
uint32_t guard_watch_disarm(void); /* returns the number of hits */

#endif
