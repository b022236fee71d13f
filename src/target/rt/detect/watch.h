/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The detector's own structures.
 *
 * Each thread has a lane, which is an index into vector clocks.  The epoch of a lane counts the
 * releases of its thread.  Each release publishes the thread's clock and begins the next epoch.  So
 * a thread that knows an epoch knows everything that the thread of that lane knew when the epoch
 * ended.  A new thread reuses the lane of an ended thread if the creator of the new thread knows
 * the last epoch of that lane.  So the length of a clock is about the number of threads that exist
 * at the same time.
 *
 * Forgiveness: `floor` of a lane is an epoch that every thread is assumed to know.  An edge may be
 * lost if a signal handler synchronises while it interrupts the detector, or if a thread of unknown
 * origin appears.  Then all floors are raised to the current epochs.  So everything that happened
 * before is treated as ordered before everything that happens later.  This can hide a race, but
 * never reports a false one.
 */
#ifndef RT_WATCH_H
#define RT_WATCH_H

#include "rt/detect/clock.h"
#include "rt/detect/detect.h"
#include "rt/detect/shadow.h"

#define RT_LANES 65536 /* the maximum number of threads at a time: a cell has 16 bits for a lane */
#define RT_LANE_NONE UINT32_MAX
#define RT_STRIPES 1024	      /* the number of locks of objects; threads seldom share one */
#define RT_REPORTED 16384     /* maximum number of reported pairs of sites; others are dropped */
#define RT_THREADS (1u << 20) /* threads with higher numbers are not examined */

_Static_assert(RT_LANES == 1u << 16, "RT_WHO() has 16 bits for a lane");
_Static_assert((RT_STRIPES & (RT_STRIPES - 1)) == 0, "stripes are chosen by a mask");

/* The detector's state of a thread. */
struct rt_watch {
	/* The frame of the function that entered the detector, as in rt_thread.busy.  It is 0 while
	 * the thread is outside the detector. */
	volatile uintptr_t busy;
	volatile uint64_t changes; /* odd while the thread is inside the detector */
	bool ticked;		   /* true if its epoch has changed since its segment began */
	struct rt_gather gather;   /* plain accesses that were not compared with others yet */
	uint32_t lane, round;	   /* its lane, and the round of the barrier that it is in */
	uint64_t who;		   /* RT_WHO of its lane and epoch */
	uint64_t epoch;		   /* clock.at[lane] */
	uint64_t version;	   /* how often its clock took a new epoch of another lane */
	struct rt_clock clock;
	struct rt_clock found;		   /* what its next fence acquires from relaxed reads */
	bool fenced;			   /* true after a fence: its relaxed stores release */
	uint64_t barrier;		   /* the ID of the barrier that it is in */
	_Atomic uint32_t *volatile locked; /* the head of the line that it has locked */
	struct rt_cache cache;
};

/* A thread that uses or has used a lane, and its first epoch there. */
struct rt_tenant {
	struct rt_tenant *before;
	uint64_t first;
	uint32_t number;
};

struct rt_lane {
	_Atomic uint64_t epoch, floor;
	uint64_t version;
	struct rt_tenant *tenant; /* the latest thread that used the lane */
	struct rt_watch *watch;	  /* the state of the lane's thread; protected by lane_lock */
	uint32_t next;		  /* if the lane is idle, the next idle lane plus 1; or 0 */
	uint32_t unused[5];
};

struct rt_stripe {
	_Alignas(64) _Atomic uint32_t lock;
};

struct rt_detect {
	struct raddle_steer *steer;
	_Atomic uint32_t dead; /* 1 if the detector has stopped, for lack of memory */
	struct rt_arena arena;
	_Atomic uint64_t barriers;	      /* the number of barriers made so far */
	struct rt_stripe stripes[RT_STRIPES]; /* locks of synchronisation objects, by address */

	_Atomic uint32_t report_lock;
	/* A hash table of pairs of sites; unused entries are 0. */
	uint64_t reported[2 * RT_REPORTED];
	uint32_t reported_count;

	_Atomic uint32_t lane_lock;
	_Atomic uint32_t lane_count;
	uint32_t idle_lane; /* the first idle lane plus 1; or 0 */
	struct rt_lane lanes[RT_LANES];
	struct rt_clock *_Atomic ended[RT_THREADS]; /* clocks of ended threads, by number */

	struct rt_detect_shadow shadow;
};

/* rt/detect/detect.c */
__attribute__((noinline, cold)) bool rt_watch_recover(struct rt_watch *w); /* false if there was no longjmp */
void rt_watch_forgive(void);
void rt_watch_over(void);		/* stops the detector, for lack of memory */
void rt_watch_tick(struct rt_watch *w); /* begins the next epoch, after a release */

/* rt/detect/access.c */

/* Compares the gathered accesses.  The caller has entered the detector. */
void rt_watch_flush(struct rt_watch *w);
/* Returns the chunk of the address, which is made if necessary, or NULL if it cannot be made. */
struct rt_chunk *rt_watch_chunk(struct rt_watch *w, uintptr_t address);

/* rt/detect/object.c */
/* The range must be within the chunk. */
void rt_objects_forget(struct rt_chunk *chunk, uintptr_t address, uint64_t size);

static inline struct rt_detect *rt_detect(void)
{
	return rt.layer[RT_LAYER_DETECT];
}

static inline struct rt_watch *rt_watch(const struct rt_thread *t)
{
	return t->layer[RT_LAYER_DETECT];
}

static inline bool rt_detect_is_on(void)
{
	return rt_detect() && !atomic_load_explicit(&rt_detect()->dead, memory_order_relaxed);
}

#define RT_BARRIER() atomic_signal_fence(memory_order_seq_cst)

/* Enters the detector.  Returns false in a handler that interrupted the detector. */
static inline bool rt_watch_enter(struct rt_watch *w)
{
	if (RT_UNLIKELY(w->busy) && !rt_watch_recover(w))
		return false;
	w->busy = (uintptr_t)__builtin_frame_address(0);
	w->changes |= 1;
	RT_BARRIER();
	return true;
}

static inline void rt_watch_leave(struct rt_watch *w)
{
	RT_BARRIER();
	w->changes++;
	w->busy = 0;
}

#endif
