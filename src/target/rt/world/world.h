/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The world around the program.  The program's input is recorded (rt/world/note.c) or replayed
 * (rt/world/give.c, arrive.c, socket.c).  This header is for the files of the layer.
 */
#ifndef RT_WORLD_H
#define RT_WORLD_H

#include "raddle/world.h"
#include "rt/core/io/outside.h"

#define RT_WORLD_FDS 65536 /* higher descriptors are ignored */

/* The layer's state of a thread that is recorded. */
struct rt_noted {
	struct raddle_buffer *buffer; /* NULL before the first record */
	uint8_t *cursor;
	uint32_t buffers, events, lost;
	/* the stack frame of the function that is writing a record, or 0 */
	volatile uintptr_t busy;
	/* the previous values in this buffer; values are encoded as differences from them */
	uint64_t order, values[RADDLE_SOURCES];
};

#define RT_LINEAGE 4096 /* number of threads whose creators are stored */
/* maximum length of the chain of creations that leads from the initial thread to a thread */
#define RT_DESCENT 64

struct rt_lineage {
	uint32_t parent, index;
};

/* The state of a process that is recorded. */
struct rt_world {
	struct rt_lineage lineage[RT_LINEAGE];
	_Atomic uint32_t numbers; /* how many connections and listeners have numbers so far */
	_Atomic uint64_t bytes;	  /* how many received bytes were recorded */
	/* by descriptor: its kind | the number of its listener or connection */
	_Atomic uint32_t fds[RT_WORLD_FDS];
	_Atomic uint64_t sums[RT_WORLD_FDS]; /* checksums of sent bytes, by connection */
};

/* The kind of a descriptor.  It is stored in the upper bits of the descriptor's entry in `fds`.
 * The lower bits contain the number of its listener or connection. */
enum rt_world_fd {
	RT_FD_NONE,
	RT_FD_LISTENER = 1 << 28,
	RT_FD_CONNECTION = 2 << 28,
	RT_FD_INPUT = 3 << 28,	/* a connection that no record mentions yet */
	RT_FD_SOCKET = 4 << 28, /* in a replay, a socket that is neither bound nor connected yet; its
				 * number is the domain that the program requested */
	RT_FD_KINDS = 7 << 28,
};

_Static_assert((RT_FD_LISTENER & (RT_WORLD_FDS - 1)) == 0, "a kind leaves room for numbers of descriptors");

/* The layer's state of a thread whose input is replayed. */
struct rt_replayed {
	uint32_t position; /* its index in the table of raddle_world_threads(), or NONE */
	/* number of polls in a row that found nothing and did not wait */
	uint32_t looks;
	uint64_t next[RADDLE_SOURCES]; /* how many recorded values of each source it has received */
	/* how many random bytes it has received that were recorded, and how many that were made
	 * up */
	uint64_t next_random, made_up;
	uint64_t known[RADDLE_SOURCES]; /* the latest time that it, or a thread ordered before it, has read */
};

/* The runtime's end of a connection. */
struct rt_peer {
	int32_t fd;		/* the descriptor of the runtime's end; or -1 */
	_Atomic uint32_t users; /* how many descriptors of the program refer to the connection */
	uint64_t offset;	/* how many bytes of the current arrival were delivered */
};

/* The state of a process whose input is replayed. */
struct rt_giving {
	struct raddle_world *memory;
	struct rt_peer *peers;		       /* one for each connection */
	_Atomic int32_t *bound;		       /* the program's descriptor of each listener; or -1 */
	uint32_t position_of[RT_LINEAGE];      /* `position` of each thread, by its number */
	_Atomic uint64_t last[RADDLE_SOURCES]; /* the latest time of each clock that was read, in ns */
	uint64_t passed_by[RADDLE_SOURCES];    /* how much of `passed` the clock's time includes */
	_Atomic uint64_t passed;	       /* the total time that threads slept, in nanoseconds */
	/* number of queries in a row for which no time was recorded */
	_Atomic uint32_t in_a_row;
	_Atomic uint64_t *left; /* rt/world/time.c: the times of releases, by object */
	/* by descriptor: its kind | the number of its listener or connection */
	_Atomic uint32_t fds[RT_WORLD_FDS];
	/* a futex that counts changes, and the number of threads that sleep on it */
	_Atomic uint32_t pulse, sleepers;
	_Atomic uint32_t lock, interrupts, quiet;
	/* number of bytes that were never sent, but for which arrivals no longer wait */
	_Atomic uint64_t debt;
	/* the runtime's listener to which the program's own connections are made, or -1 */
	int32_t hidden;
	int32_t high; /* the lowest descriptor of the runtime */
};

static inline struct rt_giving *rt_giving(void)
{
	return rt.layer[RT_LAYER_WORLD];
}

static inline struct rt_replayed *rt_replayed(const struct rt_thread *t)
{
	return t->layer[RT_LAYER_WORLD];
}

/* rt/world/give.c: the table for a process whose input is replayed. */
bool rt_world_give_setup(void);
void rt_world_give_begin(struct rt_thread *t);
void rt_world_misses(enum raddle_world_lack lack);
void rt_world_passes(uint64_t ns); /* advances the clocks by a sleep of this length */

/* rt/world/time.c: the times that a thread may know. */
bool rt_time_setup(void);
void rt_time_ends(struct rt_thread *t);
void rt_time_created(struct rt_thread *parent, struct rt_thread *child);
void rt_time_joined(struct rt_thread *t, uint32_t number);
void rt_time_releasing(struct rt_op *op, uint32_t kind, uintptr_t object);
void rt_time_acquired(struct rt_thread *t, uint32_t kind, uintptr_t object, uint64_t result);
void rt_time_atomic(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site, uint32_t how);

/* rt/world/arrive.c: delivers recorded input.  rt_world_arrive() delivers all arrivals that are
 * due.  If `anyway` is set, it delivers the first one even if that is not due.  It returns true if
 * something arrived. */
bool rt_world_arrive(bool anyway);
bool rt_world_idle(bool timed);
void rt_world_moves(struct rt_thread *t);
bool rt_world_awaits(struct rt_thread *t, int fd, bool never_waits);
int rt_world_polls(struct rt_thread *t, const struct rt_look *look, int64_t limit_ns);

/* rt/world/socket.c: the sockets that replace those of the program. */
bool rt_world_sockets_setup(void);
bool rt_world_opens(struct rt_thread *t, int *domain, int *type, int *protocol);
void rt_world_opened(struct rt_thread *t, int fd, int domain);
bool rt_world_binds(struct rt_thread *t, int fd, const struct iovec *address, int *result);
bool rt_world_connects(struct rt_thread *t, int fd, const struct iovec *address, int *result);
void rt_world_accepted(struct rt_thread *t, int listener, int fd);
bool rt_world_sends(struct rt_thread *t, int fd, const struct msghdr *message, ssize_t *length);
void rt_world_received(struct rt_thread *t, int fd, const struct iovec *parts, ssize_t length);
void rt_world_closing(struct rt_thread *t, int fd);
void rt_world_duplicated(int fd, int copy);
bool rt_world_names(struct rt_thread *t, int fd, bool peer, struct iovec *address);
bool rt_world_has_option(struct rt_thread *t, int fd, const int option[2], struct iovec *value);
/* connects to the program's listener; returns false if the program is not listening yet */
bool rt_world_reach(uint32_t connection);
void rt_world_drain(uint32_t connection); /* reads bytes sent by calls that are not interposed */

/* rt/world/note.c: the table for a process that is recorded. */
extern const struct rt_outside rt_world_notes;
bool rt_world_note_setup(void);
void rt_world_note_begin(struct rt_thread *t);
void rt_world_note_end(struct rt_thread *t);

#endif
