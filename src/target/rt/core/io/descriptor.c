// SPDX-License-Identifier: Apache-2.0
/*
 * Transfer of bytes through descriptors.  In: calls that read from, write to or close a descriptor
 * of any kind.  Out: events of the channel (rt/core/io/channel.c), and what was received and sent
 * (rt/core/io/outside.h).
 */
#include "rt/core/io/channel-int.h"

#include <sys/eventfd.h>
#include <sys/uio.h>

void rt_member_descriptor(void);
void rt_member_descriptor(void)
{
}

INTERPOSE(ssize_t, read, (int fd, void *to, size_t size))
{
	if (!rt_awaits(fd, 0))
		return -1;
	return rt_received(fd, to, REAL(read)(fd, to, size));
}

INTERPOSE(ssize_t, __read_chk, (int fd, void *to, size_t size, size_t room))
{
	if (!rt_awaits(fd, 0))
		return -1;
	return rt_received(fd, to, REAL(__read_chk)(fd, to, size, room));
}

INTERPOSE(ssize_t, readv, (int fd, const struct iovec *parts, int count))
{
	if (!rt_awaits(fd, 0))
		return -1;
	return rt_received_parts(fd, parts, REAL(readv)(fd, parts, count));
}

INTERPOSE(ssize_t, write, (int fd, const void *from, size_t size))
{
	struct rt_sending sending;
	ssize_t r;

	if (!rt_sends(fd, &(struct iovec){(void *)from, size}, &sending, &r))
		return r;
	return rt_moved(rt_sent(sending, from, REAL(write)(fd, from, size)));
}

INTERPOSE(ssize_t, writev, (int fd, const struct iovec *parts, int count))
{
	struct rt_sending sending;
	ssize_t r;

	rt_channel_sends(fd);
	if (count >= 0 && rt_gives_parts(fd, parts, (size_t)count, &r))
		return r;
	sending = rt_outside_sending(fd);
	return rt_moved(rt_sent_parts(sending, parts, REAL(writev)(fd, parts, count)));
}

static bool takes(int in, int out)
{
	rt_channel_sends(out);
	return rt_awaits(in, 0);
}

static ssize_t taken(int in, ssize_t length)
{
	return rt_moved(rt_peeked(in, length));
}

INTERPOSE(ssize_t, sendfile, (int out, int in, off_t *offset, size_t count))
{
	return taken(in, takes(in, out) ? REAL(sendfile)(out, in, offset, count) : -1);
}

INTERPOSE(ssize_t, sendfile64, (int out, int in, off64_t *offset, size_t count))
{
	return taken(in, takes(in, out) ? REAL(sendfile64)(out, in, offset, count) : -1);
}

INTERPOSE(ssize_t, splice,
	  (int in, off64_t *in_offset, int out, off64_t *out_offset, size_t size, unsigned flags))
{
	return taken(in, takes(in, out) ? REAL(splice)(in, in_offset, out, out_offset, size, flags) : -1);
}

INTERPOSE(ssize_t, tee, (int in, int out, size_t size, unsigned flags))
{
	return taken(in, takes(in, out) ? REAL(tee)(in, out, size, flags) : -1);
}

/* vmsplice() moves data from memory to a pipe or from a pipe to memory.  The descriptor determines
 * which. */
INTERPOSE(ssize_t, vmsplice, (int fd, const struct iovec *parts, size_t count, unsigned flags))
{
	rt_channel_sends(fd);
	return taken(fd, REAL(vmsplice)(fd, parts, count, flags));
}

INTERPOSE(int, eventfd_read, (int fd, eventfd_t *value))
{
	int r = rt_awaits(fd, 0) ? REAL(eventfd_read)(fd, value) : -1;

	if (!r)
		rt_channel_receives(fd);
	return r;
}

INTERPOSE(int, eventfd_write, (int fd, eventfd_t value))
{
	rt_channel_sends(fd);
	return (int)rt_moved(REAL(eventfd_write)(fd, value));
}

INTERPOSE(int, close, (int fd))
{
	rt_channel_sends(fd);
	RT_OUTSIDE(closing, fd);
	rt_file_unlocks(fd);
	return (int)rt_moved(REAL(close)(fd));
}
