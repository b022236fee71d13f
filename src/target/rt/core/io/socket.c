// SPDX-License-Identifier: Apache-2.0
/*
 * Interposed functions of sockets.  In: calls that make, connect and use sockets.  Out: events of
 * the channel (rt/core/io/channel.c), what was received and sent (rt/core/io/outside.h), and which
 * sockets of this process are connected with each other.
 */
#include "rt/core/io/channel-int.h"

#include <sys/stat.h>
#include <sys/syscall.h>

void rt_member_socket(void);
void rt_member_socket(void)
{
}

INTERPOSE(ssize_t, recv, (int fd, void *to, size_t size, int flags))
{
	ssize_t r = rt_awaits(fd, flags) ? REAL(recv)(fd, to, size, flags) : -1;

	return flags & MSG_PEEK ? rt_peeked(fd, r) : rt_received(fd, to, r);
}

INTERPOSE(ssize_t, __recv_chk, (int fd, void *to, size_t size, size_t room, int flags))
{
	ssize_t r = rt_awaits(fd, flags) ? REAL(__recv_chk)(fd, to, size, room, flags) : -1;

	return flags & MSG_PEEK ? rt_peeked(fd, r) : rt_received(fd, to, r);
}

INTERPOSE(ssize_t, recvfrom,
	  (int fd, void *restrict to, size_t size, int flags, __SOCKADDR_ARG from,
	   socklen_t *restrict length))
{
	ssize_t r = rt_awaits(fd, flags) ? REAL(recvfrom)(fd, to, size, flags, from, length) : -1;

	return flags & MSG_PEEK ? rt_peeked(fd, r) : rt_received(fd, to, r);
}

INTERPOSE(ssize_t, __recvfrom_chk,
	  (int fd, void *restrict to, size_t size, size_t room, int flags, __SOCKADDR_ARG from,
	   socklen_t *restrict length))
{
	ssize_t r = rt_awaits(fd, flags) ? REAL(__recvfrom_chk)(fd, to, size, room, flags, from, length) : -1;

	return flags & MSG_PEEK ? rt_peeked(fd, r) : rt_received(fd, to, r);
}

INTERPOSE(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags))
{
	ssize_t r = rt_awaits(fd, flags) ? REAL(recvmsg)(fd, message, flags) : -1;

	return flags & MSG_PEEK ? rt_peeked(fd, r) : rt_received_parts(fd, message->msg_iov, r);
}

INTERPOSE(ssize_t, send, (int fd, const void *from, size_t size, int flags))
{
	struct rt_sending sending;
	ssize_t r;

	if (!rt_sends(fd, &(struct iovec){(void *)from, size}, &sending, &r))
		return r;
	return rt_moved(rt_sent(sending, from, REAL(send)(fd, from, size, flags)));
}

INTERPOSE(ssize_t, sendto,
	  (int fd, const void *from, size_t size, int flags, __CONST_SOCKADDR_ARG to, socklen_t length))
{
	struct iovec part = {(void *)from, size};
	struct msghdr message = {.msg_name = (void *)to.__sockaddr__,
				 .msg_namelen = length,
				 .msg_iov = &part,
				 .msg_iovlen = 1};
	struct rt_sending sending;
	ssize_t r;

	rt_channel_sends_to(fd, to.__sockaddr__, length);
	if (rt_outside_sends(fd, &message, &r))
		return r;
	sending = rt_outside_sending(fd);
	return rt_moved(rt_sent(sending, from, REAL(sendto)(fd, from, size, flags, to, length)));
}

INTERPOSE(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags))
{
	struct rt_sending sending;
	ssize_t r;

	rt_channel_sends_to(fd, message->msg_name, message->msg_name ? message->msg_namelen : 0);
	if (rt_outside_sends(fd, message, &r))
		return r;
	sending = rt_outside_sending(fd);
	return rt_moved(rt_sent_parts(sending, message->msg_iov, REAL(sendmsg)(fd, message, flags)));
}

/* Sends the messages one by one, as the kernel does. */
INTERPOSE(int, sendmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags))
{
	unsigned done = 0;

	for (; done < count; done++) {
		ssize_t length = sendmsg(fd, &messages[done].msg_hdr, flags);

		if (length < 0)
			return done ? (int)done : -1;
		messages[done].msg_len = (unsigned)length;
	}
	return (int)done;
}

INTERPOSE(int, recvmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *time))
{
	int r = rt_awaits(fd, flags) ? REAL(recvmmsg)(fd, messages, count, flags, time) : -1;

	for (int i = 0; i < r; i++)
		if (flags & MSG_PEEK)
			rt_peeked(fd, messages[i].msg_len);
		else
			rt_received_parts(fd, messages[i].msg_hdr.msg_iov, messages[i].msg_len);
	return r;
}

INTERPOSE(int, shutdown, (int fd, int how))
{
	rt_channel_sends(fd);
	return (int)rt_moved(REAL(shutdown)(fd, how));
}

/* For each socket of the pair, stores which socket is the other end. */
INTERPOSE(int, socketpair, (int domain, int type, int protocol, int fds[2]))
{
	int r = rt_opened(REAL(socketpair)(domain, type, protocol, fds)), saved = errno;
	struct stat a, b;

	if (!r && !syscall(SYS_fstat, fds[0], &a) && !syscall(SYS_fstat, fds[1], &b)) {
		rt_channel_put(rt_channel_key(RT_PEER, a.st_ino), b.st_ino);
		rt_channel_put(rt_channel_key(RT_PEER, b.st_ino), a.st_ino);
	}
	errno = saved;
	return r;
}

INTERPOSE(int, bind, (int fd, __CONST_SOCKADDR_ARG address, socklen_t length))
{
	struct rt_thread *t = rt_outside_self();
	struct iovec name_given = {(void *)address.__sockaddr__, length};
	int r, saved;

	if (t && rt.outside->binds && rt.outside->binds(t, fd, &name_given, &r))
		return r;
	r = REAL(bind)(fd, address, length);
	saved = errno;
	if (!r) {
		struct rt_end e = rt_end_of(fd, SYS_getsockname);
		uint64_t name = rt_end_name(&e, RT_NAME);

		if (name)
			rt_channel_put(name, 1);
		RT_OUTSIDE(bound, fd);
	}
	errno = saved;
	return r;
}

/* Returns true if a layer takes the part of the other side and has handled the call; *r is then the
 * result of the call. */
static bool connects(int fd, const struct sockaddr *address, socklen_t length, int *r)
{
	struct rt_thread *t = rt_outside_self();
	struct iovec to = {(void *)address, length};

	return t && rt.outside->connects && rt.outside->connects(t, fd, &to, r);
}

INTERPOSE(int, connect, (int fd, __CONST_SOCKADDR_ARG address, socklen_t length))
{
	int saved = errno;
	struct rt_end to = rt_end_from(address.__sockaddr__, length);
	struct rt_thread *t = rt_one_of_many();
	uint64_t name = rt_end_name(&to, RT_NAME);
	bool looped = name && rt_channel_get(name);
	int r;

	if (looped)
		rt_channel_loops();
	if (t)
		rt_channel_send_by(t, rt_channel_has_looped() ? rt_end_name(&to, RT_ARRIVALS) : 0);
	errno = saved;
	if (connects(fd, address.__sockaddr__, length, &r))
		return r;
	r = REAL(connect)(fd, address, length);
	if (looped)
		RT_OUTSIDE(loops);
	else
		RT_OUTSIDE(connected, fd, (&(struct iovec){(void *)address.__sockaddr__, length}),
			   r ? errno : 0);
	return r;
}

static int accepted(int fd, int r, struct sockaddr *address, socklen_t *length, socklen_t room)
{
	struct rt_thread *t = r >= 0 ? rt_one_of_many() : NULL;
	int saved = errno;

	if (r >= 0)
		RT_OUTSIDE(accepted, fd, r);
	if (t) {
		struct rt_end e = {.size = 0};

		if (rt_channel_has_looped())
			e = rt_end_of(fd, SYS_getsockname);
		rt_channel_receive_by(t, rt_end_name(&e, RT_ARRIVALS));
	}
	if (r >= 0 && address && length && rt_outside_names(r, true, address, &room))
		*length = room;
	errno = saved;
	return r;
}

INTERPOSE(int, accept, (int fd, __SOCKADDR_ARG address, socklen_t *restrict length))
{
	socklen_t room = length ? *length : 0;

	if (!rt_awaits(fd, 0))
		return -1;
	return accepted(fd, rt_opened(REAL(accept)(fd, address, length)), address.__sockaddr__, length, room);
}

INTERPOSE(int, accept4, (int fd, __SOCKADDR_ARG address, socklen_t *restrict length, int flags))
{
	socklen_t room = length ? *length : 0;

	if (!rt_awaits(fd, 0))
		return -1;
	return accepted(fd, rt_opened(REAL(accept4)(fd, address, length, flags)), address.__sockaddr__,
			length, room);
}
