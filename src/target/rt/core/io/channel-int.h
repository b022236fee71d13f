/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The internal interface of channels, for the files whose functions send and receive:
 * rt/core/io/descriptor.c, socket.c and poll.c.
 */
#ifndef RT_CORE_IO_CHANNEL_INT_H
#define RT_CORE_IO_CHANNEL_INT_H

#include "rt/core/io/channel.h"
#include "rt/core/layer.h"
#include "rt/core/io/outside.h"
#include "rt/core/real.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

union rt_address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
};

/* The address of one end of a socket; its size is 0 if the address is unknown. */
struct rt_end {
	union rt_address address;
	socklen_t size;
};

struct rt_end rt_end_of(int fd, long which); /* `which` is SYS_getsockname or SYS_getpeername */
struct rt_end rt_end_from(const struct sockaddr *address, socklen_t size);
uint64_t rt_end_name(const struct rt_end *e, enum rt_subject subject); /* the key, or 0 */

/* put() stores a value for a key; get() returns it, or 0 if there is none. */
void rt_channel_put(uint64_t key, uint64_t value);
uint64_t rt_channel_get(uint64_t key);

/* Called when the process has connected to itself. */
void rt_channel_loops(void);
bool rt_channel_has_looped(void);

/* Returns the calling thread.  Returns NULL if it is the only thread, so that its sends and
 * receipts need not be recorded. */
struct rt_thread *rt_one_of_many(void);
void rt_channel_send_by(struct rt_thread *t, uint64_t key);
void rt_channel_receive_by(struct rt_thread *t, uint64_t key);

/* Called before bytes are sent to an address. */
void rt_channel_sends_to(int fd, const struct sockaddr *address, socklen_t size);

/* Reports the bytes that a call has received, and returns `length`, the result of the call.  An
 * end of file is also reported. */
static inline ssize_t rt_received_parts(int fd, const struct iovec *parts, ssize_t length)
{
	if (length >= 0) {
		rt_channel_receives(fd);
		RT_OUTSIDE(received, fd, parts, length);
		RT_NOTIFY(moved);
	}
	return length;
}

static inline ssize_t rt_received(int fd, void *to, ssize_t length)
{
	return rt_received_parts(fd, &(struct iovec){to, (size_t)(length > 0 ? length : 0)}, length);
}

/* Reports that bytes were received that also stay in the kernel, for example with MSG_PEEK. */
static inline ssize_t rt_peeked(int fd, ssize_t length)
{
	if (length >= 0)
		rt_channel_receives(fd);
	return length;
}

static inline ssize_t rt_sent_parts(struct rt_sending sending, const struct iovec *parts, ssize_t length)
{
	if (length > 0)
		RT_OUTSIDE(sent, sending, parts, length);
	return length;
}

static inline ssize_t rt_sent(struct rt_sending sending, const void *from, ssize_t length)
{
	return rt_sent_parts(sending, &(struct iovec){(void *)from, (size_t)(length > 0 ? length : 0)},
			     length);
}

/* Returns true if a layer takes the bytes instead of the kernel, because input is replayed.
 * *length is then the result of the call. */
static inline bool rt_gives_parts(int fd, const struct iovec *parts, size_t count, ssize_t *length)
{
	return rt_outside_sends(fd, &(struct msghdr){.msg_iov = (struct iovec *)parts, .msg_iovlen = count},
				length);
}

/* Call this when a thread is about to send these bytes.  Returns false if a layer has taken them;
 * the caller then skips the real call and returns *r. */
static inline bool rt_sends(int fd, const struct iovec *part, struct rt_sending *sending, ssize_t *r)
{
	rt_channel_sends(fd);
	if (rt_gives_parts(fd, part, 1, r))
		return false;
	*sending = rt_outside_sending(fd);
	return true;
}

/* Reports a call whose effect another thread may wait for. */
static inline ssize_t rt_moved(ssize_t r)
{
	int saved = errno;

	RT_OUTSIDE(moves);
	RT_NOTIFY(moved);
	errno = saved;
	return r;
}

/* In a replay of input, waits until there is input.  Returns false if a signal interrupted the
 * wait, so that the receiving call fails. */
static inline bool rt_awaits(int fd, int flags)
{
	return rt_outside_awaits(fd, flags & MSG_DONTWAIT);
}

#endif
