/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Input from outside the program.  Interposed functions report such input while it is recorded, and
 * get recorded input back in a replay.
 *
 * A layer that records or replays this input puts its table into rt.outside (rt/world/).  If
 * rt.outside is NULL, no layer records or replays, and every call here only tests a pointer.  A
 * callback that is NULL is not called.  Callbacks keep errno and take no lock that a caller may
 * hold.  No callback is called for a thread that has no state.
 */
#ifndef RT_OUTSIDE_H
#define RT_OUTSIDE_H

#include "raddle/world.h"
#include "rt/core/io/channel.h"
#include "rt/core/rt.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

/* Bytes that are about to be sent.  `what` identifies the connection.  The caller determines
 * `what` before the bytes are sent, because a thread that receives them may close the
 * connection. */
struct rt_sending {
	uint64_t order; /* the position in the order of q */
	uint32_t what;	/* for the layer's own use; 0 if the layer ignores these bytes */
};

/* What a thread waits for.  look() does the same as the call that waits, but returns at once.  The
 * wait ends when poll() would report that one of the descriptors `fds` is ready.  A layer that
 * performs the wait sets `handled` and `result`. */
struct rt_look {
	int (*look)(void *context);
	void *context;
	const struct pollfd *fds;
	nfds_t count;
	/* True if there are no descriptors, and look() is to be called again whenever anything has
	 * changed. */
	bool retries;
	bool handled;
	int result;
};

struct rt_outside {
	/* Values that the system gives to the program:
	 *   gives  stores the recorded result in *value; returns false if the system must be called
	 *   says   reports the system's result */
	bool (*gives)(struct rt_thread *t, enum raddle_source source, uint64_t *value);
	void (*says)(struct rt_thread *t, enum raddle_source source, uint64_t value);
	bool (*gives_random)(struct rt_thread *t, void *bytes, size_t length);
	void (*says_random)(struct rt_thread *t, const void *bytes, size_t length);

	/* Sockets.  bound(), accepted(), connected() and received() report what has happened.
	 *   sending  bytes are about to be sent; the result is passed to `sent`
	 *   loops    the program connects to itself */
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

	/* System calls in a replay of input.  A callback that returns true has replaced the call.
	 *   opens       a socket is about to be created; the callback may change its kind
	 *   opened      the socket was created
	 *   names       stores the address of a socket or of its peer, and the size of the address
	 *   has_option  an option of a socket is read, or set if the value is NULL */
	bool (*opens)(struct rt_thread *t, int *domain, int *type, int *protocol);
	void (*opened)(struct rt_thread *t, int fd, int domain);
	bool (*binds)(struct rt_thread *t, int fd, const struct iovec *address, int *result);
	bool (*connects)(struct rt_thread *t, int fd, const struct iovec *address, int *result);
	bool (*sends)(struct rt_thread *t, int fd, const struct msghdr *message, ssize_t *length);
	bool (*names)(struct rt_thread *t, int fd, bool peer, struct iovec *address);
	bool (*has_option)(struct rt_thread *t, int fd, const int option[2], struct iovec *value);

	/* Waiting in a replay of input:
	 *   awaits  called before a call that may wait for input; waits until there is input, or
	 *           returns false if a signal arrived
	 *   polls   waits until look() returns non-zero or the time limit has passed; a negative
	 *           limit means that there is no limit
	 *   moves   the thread has sent something
	 *   idle    all threads wait, perhaps with a time limit, so the next input may arrive
	 *   passes  time passes although no thread waits for it */
	bool (*awaits)(struct rt_thread *t, int fd, bool never_waits);
	int (*polls)(struct rt_thread *t, const struct rt_look *look, int64_t limit_ns);
	void (*moves)(struct rt_thread *t);
	bool (*idle)(bool timed);
	void (*passes)(uint64_t ns);
	/* The time until a deadline by the program's clock, in nanoseconds; 0 if it has passed. */
	uint64_t (*left)(clockid_t clock, const struct timespec *end);

	/* Converts a deadline that the program computed from replayed times to a deadline in real
	 * time. */
	void (*real_end)(clockid_t clock, struct timespec *end);
};

/* These values state what a thread waits for if that is neither an object nor a thread, but input
 * or the end of a sleep.  No object has these addresses, and no thread has these numbers. */
#define RT_OUTSIDE_OBJECT (UINT64_MAX - 1)
#define RT_SLEEP_OBJECT (UINT64_MAX - 2)
#define RT_INSIDE_OBJECT (UINT64_MAX - 3) /* a descriptor that only this process has */

/* Returns the calling thread if a layer records or replays its input; otherwise NULL. */
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

/* Defined in rt/core/io/poll.c.  If a layer performs waits instead of the system, waits until the
 * descriptor is ready.  If `never_waits` is set, only notifies the layer that the thread tests the
 * descriptor.  Returns false if a signal interrupted the wait. */
bool rt_awaits_descriptor(int fd, short events, bool never_waits);

/* Waits for input, if a layer performs waits.  Returns false if a signal interrupted the wait. */
static inline bool rt_outside_awaits(int fd, bool never_waits)
{
	struct rt_thread *t = rt_outside_self();

	if (t && rt.outside->awaits)
		return rt.outside->awaits(t, fd, never_waits);
	return !rt.callbacks.waits || rt_awaits_descriptor(fd, POLLIN, never_waits);
}

static inline bool rt_outside_sends(int fd, const struct msghdr *message, ssize_t *length)
{
	struct rt_thread *t = rt_outside_self();

	if (rt.callbacks.sends)
		rt_datagram_sends(fd, message);
	return t && rt.outside->sends && rt.outside->sends(t, fd, message, length);
}

static inline bool rt_outside_names(int fd, bool peer, void *address, socklen_t *size)
{
	struct rt_thread *t = rt_outside_self();
	struct iovec place = {address, address && size ? *size : 0};

	if (!t || !rt.outside->names || !rt.outside->names(t, fd, peer, &place))
		return false;
	if (address && size)
		*size = (socklen_t)place.iov_len;
	return true;
}

#endif
