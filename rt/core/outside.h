/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What comes from outside: the calls by which interposed functions report it, or get it back.
 *
 * A layer that records the world or gives it back puts its table into rt.outside (rt/world/); NULL: nobody
 * wants to know, and every call here is one look at a pointer.  A callback that is NULL is not wanted.
 * Callbacks keep errno and take no lock that a caller may hold.  No callback is called for a thread that has
 * no state.
 */
#ifndef RT_OUTSIDE_H
#define RT_OUTSIDE_H

#include "raddle/world.h"
#include "rt/core/rt.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

/* Bytes that are about to be sent: their place in the order, and which connection it was before somebody
 * who has received them had it closed. */
struct rt_sending {
	uint64_t order;
	uint32_t what; /* the layer's; 0: nothing that it wants to know of */
};

struct rt_outside {
	/* Values.  gives: *value is the answer; false: ask the system.  says: that was its answer. */
	bool (*gives)(struct rt_thread *t, enum raddle_source source, uint64_t *value);
	void (*says)(struct rt_thread *t, enum raddle_source source, uint64_t value);
	bool (*gives_random)(struct rt_thread *t, void *bytes, size_t length);
	void (*says_random)(struct rt_thread *t, const void *bytes, size_t length);

	/* Sockets.  bound, accepted, connected, received: it has happened.  sending: it is about to, and
	 * returns what `sent` wants.  loops: the program connects to itself. */
	void (*bound)(struct rt_thread *t, int fd);
	void (*accepted)(struct rt_thread *t, int listener, int fd);
	void (*connected)(struct rt_thread *t, int fd, const struct iovec *address, int error);
	void (*received)(struct rt_thread *t, int fd, const struct iovec *parts, ssize_t length);
	struct rt_sending (*sending)(struct rt_thread *t, int fd);
	void (*sent)(struct rt_thread *t, struct rt_sending sending, const struct iovec *parts,
		     ssize_t length);
	void (*closing)(struct rt_thread *t, int fd);
	void (*duplicated)(int fd, int copy);
	void (*loops)(struct rt_thread *t);
};

/* The thread that a callback is about; NULL: nobody wants to know. */
static inline struct rt_thread *rt_outside_self(void)
{
	return rt.outside ? rt_self() : NULL;
}

#define RT_OUTSIDE(callback, ...)                                                                            \
	do {                                                                                                 \
		struct rt_thread *outside_ = rt_outside_self();                                              \
		if (RT_UNLIKELY(outside_ != NULL) && rt.outside->callback)                                   \
			rt.outside->callback(outside_ __VA_OPT__(, ) __VA_ARGS__);                           \
	} while (0)

static inline bool rt_outside_gives(enum raddle_source source, uint64_t *value)
{
	struct rt_thread *t = rt_outside_self();

	return t && rt.outside->gives && rt.outside->gives(t, source, value);
}

static inline bool rt_outside_gives_random(void *bytes, size_t length)
{
	struct rt_thread *t = rt_outside_self();

	return t && rt.outside->gives_random && rt.outside->gives_random(t, bytes, length);
}

static inline struct rt_sending rt_outside_sending(int fd)
{
	struct rt_thread *t = rt_outside_self();

	return t && rt.outside->sending ? rt.outside->sending(t, fd) : (struct rt_sending){0};
}

#endif
