/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The session is the memory that a recorded program shares with the `raddle` process that writes
 * its trace (the collector).  The program never writes a file itself, so recording works even if a
 * daemon closes every descriptor, the disk is full or the program calls chroot.  SIGKILL cannot
 * lose an event, because the memory with the encoded events is still mapped by the collector.
 *
 *   0                             struct raddle_session
 *   RADDLE_SESSION_HEADER_SIZE    buffer_count buffers of RADDLE_BUFFER_SIZE bytes each
 *   then, where they are used     struct raddle_steer (steer.h), raddle_faults (full.h),
 *                                 raddle_shadow (shadow.h) and raddle_world (world.h)
 *
 * A buffer changes its state as follows: FREE -> OPEN (a thread encodes into it; `used` grows only
 * when a whole record has been written) -> SEALED (the thread passed it to the collector) -> FREE
 * (its bytes were copied).  When a process dies, the collector takes its OPEN buffers as they are.
 * Used buffers that are free again form a lock-free stack.  Sealed buffers form a second stack,
 * which the collector takes as a whole and reverses.  The head of a stack is (tag << 32 | index +
 * 1); the tag changes at every operation, so that a recycled index is noticed.  A thread that finds
 * no free buffer sleeps on `free_futex`.  It gives up when `heartbeat` has not changed for
 * RADDLE_HEARTBEAT_LIMIT_MS, or for RADDLE_HEARTBEAT_DEAD_MS if the process `collector_pid` does
 * not exist.  Then it sets `state` to STOPPED, and the program continues without being recorded.
 * So a dead collector never blocks the program.  The collector sets STOPPED when it can no longer
 * write.  Both sides are built from the same header; `version` detects a mismatch.
 */
#ifndef RADDLE_SESSION_H
#define RADDLE_SESSION_H

#include <stdatomic.h>
#include <stdint.h>

#define RADDLE_SESSION_MAGIC 0x4e4f495353455244ull /* "DRESSION" */
#define RADDLE_SESSION_VERSION 9

/* The environment variable that names the inherited descriptor of the session memory.  The runtime
 * removes it before main() runs. */
#define RADDLE_SESSION_ENV "RADDLE_SESSION_FD"

/* The maximum number of file descriptors in a request.  If the descriptor of the session is a
 * socket, the process waits for requests on that socket.  A request is one byte and some
 * descriptors: a session, and optionally stdin, stdout and stderr.  For each request, the process
 * clones itself; the clone is a child of the same parent and uses the session of the request.  The
 * answer is the clone's process ID (int32_t), or a negative number if cloning failed. */
#define RADDLE_SERVE_FDS 4

/* All of these values were chosen by hand. */
/* the size of a buffer in bytes, a power of two; smaller buffers would be handed over more often */
#define RADDLE_BUFFER_SIZE 32768
#define RADDLE_BACKLOG 24 /* the number of sealed buffers that may wait for the collector */
/* The number of sealed buffers that wakes the collector; with fewer, it polls. */
#define RADDLE_WAKE 8
/* the maximum number of processes of a session, including forked ones */
#define RADDLE_MAX_PROCESSES 1024
/* the room for the path `successor` in bytes; it is for messages only, and a longer path is cut */
#define RADDLE_SUCCESSOR_SIZE 256
/* After this many milliseconds without a heartbeat, the collector is treated as dead.  The
 * collector sends a heartbeat every 100 ms, but on a busy machine it may not run for seconds.  If
 * its process no longer exists, RADDLE_HEARTBEAT_DEAD_MS is enough. */
#define RADDLE_HEARTBEAT_LIMIT_MS 10000
#define RADDLE_HEARTBEAT_DEAD_MS 500

enum raddle_state { RADDLE_RECORDING = 0, RADDLE_STOPPED = 1 };

enum raddle_stop_reason {
	RADDLE_STOP_NONE = 0,
	RADDLE_STOP_WRITE = 1,	   /* the collector could not write (disk full, ...) */
	RADDLE_STOP_COLLECTOR = 2, /* the collector ended */
	RADDLE_STOP_BUFFERS = 3,   /* there are more threads than buffers */
	RADDLE_STOP_PROCESSES = 4, /* there are more processes than RADDLE_MAX_PROCESSES */
	RADDLE_STOP_MEMORY = 5,	   /* the runtime could not map memory */
	RADDLE_STOP_LIMIT = 6,	   /* the user's size limit is reached */
};

enum raddle_buffer_state { RADDLE_BUFFER_FREE = 0, RADDLE_BUFFER_OPEN = 1, RADDLE_BUFFER_SEALED = 2 };

struct raddle_process {
	_Atomic int32_t pid;	  /* 0 while the entry is being made */
	int32_t parent;		  /* the parent's position in this table, or -1 for the first process */
	_Atomic uint32_t threads; /* the number of threads that have been numbered so far */
	uint32_t fork_index;	  /* the number of this process among the parent's forks, from 0 */
	/* 0 until the process is about to exit or abort; then the wait status plus 1 */
	_Atomic uint32_t exited;
	/* the q from which accesses may be left out, or 0 if none are left out */
	_Atomic uint64_t thin_q;
};

struct raddle_session {
	uint64_t magic;
	uint32_t version;
	uint32_t buffer_count;
	_Atomic uint32_t state;	      /* enum raddle_state */
	_Atomic uint32_t stop_reason; /* enum raddle_stop_reason */
	_Atomic uint32_t heartbeat;   /* the collector increments it about every 100 ms */
	_Atomic uint32_t process_count;
	/* The process ID of the collector, used to detect that it is dead. */
	_Atomic int32_t collector_pid;
	/* the next q: the position in the global order of events */
	_Alignas(64) _Atomic uint64_t sequence;
	_Alignas(64) _Atomic uint64_t free_head;
	/* the number of buffers that were ever used; the others occupy no memory yet */
	_Atomic uint32_t touched;
	_Alignas(64) _Atomic uint64_t sealed_head;
	_Alignas(64) _Atomic uint32_t sealed_futex; /* incremented after each push of a sealed buffer */
	_Atomic uint32_t sealed_count;		    /* number of sealed buffers that are not free again */
	_Atomic uint32_t collector_waits;	    /* 1 while the collector sleeps on sealed_futex */
	_Alignas(64) _Atomic uint32_t free_futex;   /* incremented after buffers were freed */
	_Atomic uint32_t free_waiters;		    /* the number of threads asleep on free_futex */
	uint64_t steer_offset, steer_size;	    /* struct raddle_steer; 0 if the run is only recorded */
	/* struct raddle_faults (full.h); 0 if the run has no faults */
	uint64_t fault_offset, fault_size;
	uint64_t shadow_offset, shadow_size; /* struct raddle_shadow; 0 if it is not used */
	uint64_t world_offset, world_size;   /* struct raddle_world; 0 if input is not replayed */
	/* 1 if full buffers become free again at once, so that no events are kept. */
	uint32_t discard;
	uint32_t world;	       /* 1 if input from outside is recorded too */
	uint32_t all_accesses; /* 1 if no access is left out, however long the run is */
	_Alignas(64) struct raddle_process processes[RADDLE_MAX_PROCESSES];
	/* The path of the program that the user named, which is what /proc/self/exe would be
	 * without Raddle. */
	char program[4096];
	/* the path of the program that the first process is about to exec, or empty */
	char successor[RADDLE_SUCCESSOR_SIZE];
};

struct raddle_buffer {
	_Atomic uint32_t state; /* enum raddle_buffer_state */
	uint32_t next;		/* index + 1 of the next buffer of its stack, or 0 at the end */
	uint32_t process;
	uint32_t thread;
	uint32_t number;       /* the number of this buffer among the thread's buffers, from 0 */
	uint32_t events;       /* the number of events, except RESET and STACK; valid when sealed */
	_Atomic uint32_t used; /* the number of bytes of `data` that contain whole records */
	uint32_t open;	       /* the number of pieces that are being written (full.h) */
	uint64_t left_out;     /* the number of accesses that were left out (rt/record/thin.h) */
	uint8_t data[RADDLE_BUFFER_SIZE - 40];
};

#define RADDLE_SESSION_HEADER_SIZE (2 * RADDLE_BUFFER_SIZE) /* room for struct raddle_session */

_Static_assert(sizeof(struct raddle_buffer) == RADDLE_BUFFER_SIZE, "buffers tile the session");
_Static_assert(sizeof(struct raddle_session) <= RADDLE_SESSION_HEADER_SIZE, "the header fits");
_Static_assert(RADDLE_SESSION_HEADER_SIZE % RADDLE_BUFFER_SIZE == 0,
	       "buffers lie at multiples of their size (full.h)");

/* Returns the buffer with this index.  The caller must have checked the index. */
static inline struct raddle_buffer *raddle_buffer_at(struct raddle_session *s, uint32_t index)
{
	return (struct raddle_buffer *)((char *)s + RADDLE_SESSION_HEADER_SIZE) + index;
}

static inline void raddle_stack_push(struct raddle_session *s, _Atomic uint64_t *head, uint32_t index)
{
	uint64_t old = atomic_load_explicit(head, memory_order_relaxed), new;

	do {
		__atomic_store_n(&raddle_buffer_at(s, index)->next, (uint32_t)old, __ATOMIC_RELAXED);
		new = ((old >> 32) + 1) << 32 | (index + 1);
	} while (!atomic_compare_exchange_weak_explicit(head, &old, new, memory_order_acq_rel,
							memory_order_relaxed));
}

/* Takes the top buffer.  Returns its index, or -1 if the stack is empty. */
static inline int64_t raddle_stack_pop(struct raddle_session *s, _Atomic uint64_t *head)
{
	uint64_t old = atomic_load_explicit(head, memory_order_acquire), new;

	do {
		if ((uint32_t)old == 0 || (uint32_t)old > s->buffer_count)
			return -1;
		new = ((old >> 32) + 1) << 32 |
		      __atomic_load_n(&raddle_buffer_at(s, (uint32_t)old - 1)->next, __ATOMIC_RELAXED);
	} while (!atomic_compare_exchange_weak_explicit(head, &old, new, memory_order_acq_rel,
							memory_order_acquire));
	return (int64_t)(uint32_t)old - 1;
}

/* Returns the index of a buffer to write into, or -1.  Prefers a buffer that was used before,
 * because its memory is in the cache.  While RADDLE_BACKLOG buffers wait for the collector, the
 * function returns no unused buffer: some buffers will soon be free, and waiting is cheaper than
 * using more memory. */
static inline int64_t raddle_buffer_take(struct raddle_session *s)
{
	int64_t index = raddle_stack_pop(s, &s->free_head);
	uint32_t touched = atomic_load_explicit(&s->touched, memory_order_relaxed);

	while (index < 0 && touched < s->buffer_count &&
	       atomic_load_explicit(&s->sealed_count, memory_order_relaxed) < RADDLE_BACKLOG)
		if (atomic_compare_exchange_weak(&s->touched, &touched, touched + 1))
			index = touched;
	return index;
}

/* Takes the whole stack.  Returns the index of its top plus 1, or 0 if it was empty. */
static inline uint32_t raddle_stack_take(_Atomic uint64_t *head)
{
	uint64_t old = atomic_load_explicit(head, memory_order_relaxed);

	while (!atomic_compare_exchange_weak_explicit(head, &old, ((old >> 32) + 1) << 32,
						      memory_order_acq_rel, memory_order_relaxed))
		;
	return (uint32_t)old;
}

#define RADDLE_SESSION_SIZE(buffers) (RADDLE_SESSION_HEADER_SIZE + (uint64_t)(buffers)*RADDLE_BUFFER_SIZE)

/* Returns non-zero if the forks in `forks` lead from the first process to process n of the table.
 * Each entry of `forks` is the index of a fork among the forks of the parent.  The table is not
 * trusted. */
static inline int raddle_process_is(const struct raddle_session *s, uint32_t n, const uint32_t *forks,
				    uint32_t count)
{
	while (count-- > 0) {
		if (n == 0 || n >= RADDLE_MAX_PROCESSES || s->processes[n].fork_index != forks[count] ||
		    s->processes[n].parent < 0)
			return 0;
		n = (uint32_t)s->processes[n].parent;
	}
	return n == 0;
}

#endif
