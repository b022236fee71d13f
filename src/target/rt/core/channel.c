// SPDX-License-Identifier: Apache-2.0
/*
 * Order through descriptors.  In: calls that write to, read from, wait for or close a descriptor.  Out:
 * events `channel-send` and `channel-receive`, so that what a thread did before it wrote comes before what
 * another does that has read.
 *
 * A channel is what the bytes go through: a pipe, the way to one end of a pair of sockets, an eventfd, a
 * connection of the process with itself.  The kernel's inode tells it, which is asked for at every call,
 * because descriptors are closed and duplicated by code that nobody sees.  Bytes are not counted: who
 * receives has received all that was sent so far, which can hide a race and invents none.  Files and
 * sockets whose other end is elsewhere are no channels: what the world makes of what it is told nobody knows.
 * They leave `outside-tell` and `outside-hear` for those who want to be sure that nothing ordered two
 * accesses. While there is one thread, nothing has to be ordered.
 *
 * A send is told before it takes effect, a receipt after it.
 */
#include "rt/core/channel.h"

#include "rt/core/layer.h"
#include "rt/core/outside.h"
#include "rt/core/real.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>

enum { SLOTS = RADDLE_CHANNEL_COUNT, PROBES = 64, NO_SLOT = -1 };

/* Keys are never removed.  A place in the table is also the number of a channel; where there is no room, keys
 * share one. */
struct rt_channels {
	_Atomic uint64_t keys[SLOTS], values[SLOTS];
	_Atomic bool loops; /* the process has connected to itself */
};

void rt_member_channel(void);
void rt_member_channel(void)
{
}

/* ---- the table ---- */

static uint64_t key(enum rt_subject subject, uint64_t value)
{
	return rt_channel_key(subject, value);
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	return rt_channel_mix(a, b);
}

static struct rt_channels *channels(void)
{
	struct rt_channels *c = atomic_load_explicit(&rt.channels, memory_order_acquire), *none = NULL;

	if (c)
		return c;
	c = rt_map(sizeof *c);
	if (c && !atomic_compare_exchange_strong(&rt.channels, &none, c)) {
		rt_unmap(c, sizeof *c);
		c = none;
	}
	return c;
}

/* The place of the key; NO_SLOT: it has none, and none is made. */
static int slot_of(struct rt_channels *c, uint64_t wanted, bool make)
{
	uint64_t at = mix(wanted, 1);

	for (int i = 0; i < PROBES; i++, at++) {
		_Atomic uint64_t *place = &c->keys[at % SLOTS];
		uint64_t found = atomic_load_explicit(place, memory_order_acquire);

		if (!found && !make)
			return NO_SLOT;
		if (!found)
			atomic_compare_exchange_strong(place, &found, wanted);
		if (!found || found == wanted)
			return (int)(at % SLOTS);
	}
	return NO_SLOT;
}

static void put(uint64_t wanted, uint64_t value)
{
	struct rt_channels *c = channels();
	int slot = c ? slot_of(c, wanted, true) : NO_SLOT;

	if (slot != NO_SLOT)
		atomic_store_explicit(&c->values[slot], value, memory_order_release);
}

/* 0: it is not known. */
static uint64_t get(uint64_t wanted)
{
	struct rt_channels *c = channels();
	int slot = c ? slot_of(c, wanted, false) : NO_SLOT;

	return slot == NO_SLOT ? 0 : atomic_load_explicit(&c->values[slot], memory_order_acquire);
}

/* ---- which channel ---- */

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
};

struct end {
	union address address;
	socklen_t size;
};

static struct end end_of(int fd, long which)
{
	struct end e = {.size = sizeof e.address};

	if (syscall(which, fd, &e.address, &e.size) || e.size > sizeof e.address)
		e.size = 0;
	return e;
}

static struct end given(const struct sockaddr *address, socklen_t size)
{
	struct end e = {.size = size <= sizeof e.address && address ? size : 0};

	__builtin_memcpy(&e.address, address, e.size);
	return e;
}

static uint64_t port_of(const struct end *e)
{
	if (e->size >= sizeof e->address.in && e->address.any.sa_family == AF_INET)
		return e->address.in.sin_port;
	return e->size >= sizeof e->address.in6 && e->address.any.sa_family == AF_INET6
		       ? e->address.in6.sin6_port
		       : 0;
}

/* 0: it has no path.  A path ends at its zero, however long the program says that the address is; one that
 * begins with it is abstract, and is all of that. */
static uint64_t path_of(const struct end *e)
{
	const char *path = e->address.un.sun_path;
	size_t length = e->size > offsetof(struct sockaddr_un, sun_path)
				? e->size - offsetof(struct sockaddr_un, sun_path)
				: 0;
	uint64_t hash = 0;

	if (!length || e->address.any.sa_family != AF_UNIX)
		return 0;
	for (size_t i = 0; i < length && (path[i] || !path[0]); i++)
		hash = mix(hash + 1, (uint8_t)path[i]);
	return hash;
}

static uint64_t name_of(const struct end *e, enum rt_subject subject)
{
	uint64_t port = port_of(e), path = port ? 0 : path_of(e);

	return port ? key(subject, port) : path ? key(subject, path | 1ull << 32) : 0;
}

static bool has_looped(void)
{
	struct rt_channels *c = atomic_load_explicit(&rt.channels, memory_order_acquire);

	return c && atomic_load(&c->loops);
}

/* A connection with a socket of this process.  `to`: where a datagram goes that says so itself. */
static uint64_t connection(int fd, bool sending, const struct end *to)
{
	struct end local = end_of(fd, SYS_getsockname), peer = end_of(fd, SYS_getpeername);
	uint64_t path = path_of(&local) ? path_of(&local) : path_of(to->size ? to : &peer);
	uint64_t from_port = port_of(sending ? &local : &peer);
	uint64_t to_port = port_of(!sending ? &local : to->size ? to : &peer);
	socklen_t size = sizeof(int);
	int type = 0;

	if (path)
		return key(RT_LOCAL, path);
	syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &size);
	return to_port ? key(RT_NETWORK, (type == SOCK_STREAM ? from_port << 16 : 0) | to_port) : 0;
}

static uint64_t key_of(int fd, bool sending, const struct end *to)
{
	struct stat s;
	uint64_t peer;

	if (syscall(SYS_fstat, fd, &s))
		return 0;
	switch (s.st_mode & S_IFMT) {
	case S_IFIFO: return key(RT_PIPE, s.st_ino);
	case 0: return key(RT_ANONYMOUS, (uint64_t)fd);
	case S_IFSOCK:
		peer = atomic_load_explicit(&rt.channels, memory_order_acquire) ? get(key(RT_PEER, s.st_ino))
										: 0;
		if (peer)
			return key(RT_INBOX, sending ? peer : s.st_ino);
		return has_looped() ? connection(fd, sending, to) : 0;
	default: return 0;
	}
}

/* ---- events ---- */

/* The thread if there are others that it could be ordered with. */
static struct rt_thread *one_of_many(void)
{
	return atomic_load_explicit(&rt.others, memory_order_relaxed) ? rt_self() : NULL;
}

static uintptr_t address_of(uint64_t wanted)
{
	struct rt_channels *c = wanted ? channels() : NULL;
	int slot = c ? slot_of(c, wanted, true) : NO_SLOT;

	if (!c)
		return 0;
	if (slot == NO_SLOT)
		slot = (int)(mix(wanted, 1) % SLOTS);
	return RADDLE_CHANNELS + (uintptr_t)slot * RADDLE_CHANNEL_BYTES;
}

/* The world outside is one place to those who listen.  It leaves no event of a channel. */
#define OUTSIDE (RADDLE_CHANNELS + (uintptr_t)RADDLE_CHANNEL_COUNT * RADDLE_CHANNEL_BYTES)

static void send_by(struct rt_thread *t, uint64_t wanted)
{
	uintptr_t channel = address_of(wanted);
	struct rt_op op;

	if (!wanted && t->recording)
		rt_outside_event(t, RADDLE_OUTSIDE_TELL);
	rt_op_fill_(&op, t, RADDLE_CHANNEL_SEND, channel);
	RT_TELL(releasing, &op, RADDLE_CHANNEL_SEND, channel ? channel : OUTSIDE);
	if (channel)
		rt_sync(t, RADDLE_CHANNEL_SEND, channel, RT_NONE);
}

static void receive_by(struct rt_thread *t, uint64_t wanted)
{
	uintptr_t channel = address_of(wanted);

	if (!wanted && t->recording)
		rt_outside_event(t, RADDLE_OUTSIDE_HEAR);
	RT_TELL(acquired, t, RADDLE_CHANNEL_RECEIVE, channel ? channel : OUTSIDE, 0);
	if (channel)
		rt_sync(t, RADDLE_CHANNEL_RECEIVE, channel, RT_NONE);
}

static void sends_to(int fd, const struct sockaddr *address, socklen_t size)
{
	struct rt_thread *t = one_of_many();
	int saved = errno;
	struct end to;

	if (!t)
		return;
	to = given(address, size);
	if (to.size && get(name_of(&to, RT_NAME)))
		atomic_store(&channels()->loops, true);
	send_by(t, key_of(fd, true, &to));
	errno = saved;
}

static void sends(int fd)
{
	sends_to(fd, NULL, 0);
}

void rt_channel_sends(int fd)
{
	sends(fd);
}

static void receives(int fd)
{
	struct rt_thread *t = one_of_many();
	int saved = errno;
	struct end none = {.size = 0};

	if (t)
		receive_by(t, key_of(fd, false, &none));
	errno = saved;
}

void rt_channel_receives(int fd)
{
	receives(fd);
}

bool rt_channel_is(int fd)
{
	struct end none = {.size = 0};

	return key_of(fd, true, &none) != 0;
}

void rt_channel_send(uint64_t wanted)
{
	struct rt_thread *t = one_of_many();
	int saved = errno;

	if (t)
		send_by(t, wanted);
	errno = saved;
}

void rt_channel_receive(uint64_t wanted)
{
	struct rt_thread *t = one_of_many();
	int saved = errno;

	if (t)
		receive_by(t, wanted);
	errno = saved;
}

/* What a call that returns a length has received: the end of the bytes is a message too. */
static ssize_t received_parts(int fd, const struct iovec *parts, ssize_t length)
{
	if (length >= 0) {
		receives(fd);
		RT_OUTSIDE(received, fd, parts, length);
	}
	return length;
}

static ssize_t received(int fd, void *to, ssize_t length)
{
	return received_parts(fd, &(struct iovec){to, (size_t)(length > 0 ? length : 0)}, length);
}

/* Bytes that stay where they are. */
static ssize_t peeked(int fd, ssize_t length)
{
	if (length >= 0)
		receives(fd);
	return length;
}

/* What has been sent is reported. */
static ssize_t sent_parts(struct rt_sending sending, const struct iovec *parts, ssize_t length)
{
	if (length > 0)
		RT_OUTSIDE(sent, sending, parts, length);
	return length;
}

static ssize_t sent(struct rt_sending sending, const void *from, ssize_t length)
{
	return sent_parts(sending, &(struct iovec){(void *)from, (size_t)(length > 0 ? length : 0)}, length);
}

/* Where the world is given back, what is sent stays here. */
static bool gives_parts(int fd, const struct iovec *parts, size_t count, ssize_t *length)
{
	return rt_outside_sends(fd, &(struct msghdr){.msg_iov = (struct iovec *)parts, .msg_iovlen = count},
				length);
}

/* Somebody may wait for what a call has done. */
static ssize_t moved(ssize_t r)
{
	int saved = errno;

	RT_OUTSIDE(moves);
	errno = saved;
	return r;
}

/* ---- bytes ---- */

/* False: the call that was to receive is interrupted. */
static bool awaits(int fd, int flags)
{
	return rt_outside_awaits(fd, flags & MSG_DONTWAIT);
}

INTERPOSE(ssize_t, read, (int fd, void *to, size_t size))
{
	if (!awaits(fd, 0))
		return -1;
	return received(fd, to, REAL(read)(fd, to, size));
}

INTERPOSE(ssize_t, __read_chk, (int fd, void *to, size_t size, size_t room))
{
	if (!awaits(fd, 0))
		return -1;
	return received(fd, to, REAL(__read_chk)(fd, to, size, room));
}

INTERPOSE(ssize_t, readv, (int fd, const struct iovec *parts, int count))
{
	if (!awaits(fd, 0))
		return -1;
	return received_parts(fd, parts, REAL(readv)(fd, parts, count));
}

INTERPOSE(ssize_t, write, (int fd, const void *from, size_t size))
{
	struct iovec part = {(void *)from, size};
	struct rt_sending sending;
	ssize_t r;

	sends(fd);
	if (gives_parts(fd, &part, 1, &r))
		return r;
	sending = rt_outside_sending(fd);
	return moved(sent(sending, from, REAL(write)(fd, from, size)));
}

INTERPOSE(ssize_t, writev, (int fd, const struct iovec *parts, int count))
{
	struct rt_sending sending;
	ssize_t r;

	sends(fd);
	if (count >= 0 && gives_parts(fd, parts, (size_t)count, &r))
		return r;
	sending = rt_outside_sending(fd);
	return moved(sent_parts(sending, parts, REAL(writev)(fd, parts, count)));
}

/* Bytes that the kernel takes from one descriptor to another, unseen. */

static bool takes(int in, int out)
{
	sends(out);
	return awaits(in, 0);
}

static ssize_t taken(int in, ssize_t length)
{
	return moved(peeked(in, length));
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

/* From memory to a pipe or from a pipe to memory: which of them is the descriptor's business. */
INTERPOSE(ssize_t, vmsplice, (int fd, const struct iovec *parts, size_t count, unsigned flags))
{
	sends(fd);
	return taken(fd, REAL(vmsplice)(fd, parts, count, flags));
}

INTERPOSE(int, eventfd_read, (int fd, eventfd_t *value))
{
	int r = awaits(fd, 0) ? REAL(eventfd_read)(fd, value) : -1;

	if (!r)
		receives(fd);
	return r;
}

INTERPOSE(int, eventfd_write, (int fd, eventfd_t value))
{
	sends(fd);
	return (int)moved(REAL(eventfd_write)(fd, value));
}

INTERPOSE(int, close, (int fd))
{
	sends(fd);
	RT_OUTSIDE(closing, fd);
	rt_file_unlocks(fd);
	return (int)moved(REAL(close)(fd));
}

/* ---- sockets ---- */

INTERPOSE(ssize_t, recv, (int fd, void *to, size_t size, int flags))
{
	ssize_t r = awaits(fd, flags) ? REAL(recv)(fd, to, size, flags) : -1;

	return flags & MSG_PEEK ? peeked(fd, r) : received(fd, to, r);
}

INTERPOSE(ssize_t, __recv_chk, (int fd, void *to, size_t size, size_t room, int flags))
{
	ssize_t r = awaits(fd, flags) ? REAL(__recv_chk)(fd, to, size, room, flags) : -1;

	return flags & MSG_PEEK ? peeked(fd, r) : received(fd, to, r);
}

INTERPOSE(ssize_t, recvfrom,
	  (int fd, void *restrict to, size_t size, int flags, __SOCKADDR_ARG from,
	   socklen_t *restrict length))
{
	ssize_t r = awaits(fd, flags) ? REAL(recvfrom)(fd, to, size, flags, from, length) : -1;

	return flags & MSG_PEEK ? peeked(fd, r) : received(fd, to, r);
}

INTERPOSE(ssize_t, __recvfrom_chk,
	  (int fd, void *restrict to, size_t size, size_t room, int flags, __SOCKADDR_ARG from,
	   socklen_t *restrict length))
{
	ssize_t r = awaits(fd, flags) ? REAL(__recvfrom_chk)(fd, to, size, room, flags, from, length) : -1;

	return flags & MSG_PEEK ? peeked(fd, r) : received(fd, to, r);
}

INTERPOSE(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags))
{
	ssize_t r = awaits(fd, flags) ? REAL(recvmsg)(fd, message, flags) : -1;

	return flags & MSG_PEEK ? peeked(fd, r) : received_parts(fd, message->msg_iov, r);
}

INTERPOSE(ssize_t, send, (int fd, const void *from, size_t size, int flags))
{
	struct iovec part = {(void *)from, size};
	struct rt_sending sending;
	ssize_t r;

	sends(fd);
	if (gives_parts(fd, &part, 1, &r))
		return r;
	sending = rt_outside_sending(fd);
	return moved(sent(sending, from, REAL(send)(fd, from, size, flags)));
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

	sends_to(fd, to.__sockaddr__, length);
	if (rt_outside_sends(fd, &message, &r))
		return r;
	sending = rt_outside_sending(fd);
	return moved(sent(sending, from, REAL(sendto)(fd, from, size, flags, to, length)));
}

INTERPOSE(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags))
{
	struct rt_sending sending;
	ssize_t r;

	sends_to(fd, message->msg_name, message->msg_name ? message->msg_namelen : 0);
	if (rt_outside_sends(fd, message, &r))
		return r;
	sending = rt_outside_sending(fd);
	return moved(sent_parts(sending, message->msg_iov, REAL(sendmsg)(fd, message, flags)));
}

/* One by one, as the kernel does it. */
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
	int r = awaits(fd, flags) ? REAL(recvmmsg)(fd, messages, count, flags, time) : -1;

	for (int i = 0; i < r; i++)
		if (flags & MSG_PEEK)
			peeked(fd, messages[i].msg_len);
		else
			received_parts(fd, messages[i].msg_hdr.msg_iov, messages[i].msg_len);
	return r;
}

INTERPOSE(int, shutdown, (int fd, int how))
{
	sends(fd);
	return (int)moved(REAL(shutdown)(fd, how));
}

/* Each end is told of the other. */
INTERPOSE(int, socketpair, (int domain, int type, int protocol, int fds[2]))
{
	int r = rt_opened(REAL(socketpair)(domain, type, protocol, fds)), saved = errno;
	struct stat a, b;

	if (!r && !syscall(SYS_fstat, fds[0], &a) && !syscall(SYS_fstat, fds[1], &b)) {
		put(key(RT_PEER, a.st_ino), b.st_ino);
		put(key(RT_PEER, b.st_ino), a.st_ino);
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
		struct end e = end_of(fd, SYS_getsockname);
		uint64_t name = name_of(&e, RT_NAME);

		if (name)
			put(name, 1);
		RT_OUTSIDE(bound, fd);
	}
	errno = saved;
	return r;
}

/* Whether somebody answers in place of the other side. */
static bool connects(int fd, const struct sockaddr *address, socklen_t length, int *r)
{
	struct rt_thread *t = rt_outside_self();
	struct iovec to = {(void *)address, length};

	return t && rt.outside->connects && rt.outside->connects(t, fd, &to, r);
}

INTERPOSE(int, connect, (int fd, __CONST_SOCKADDR_ARG address, socklen_t length))
{
	int saved = errno;
	struct end to = given(address.__sockaddr__, length);
	struct rt_thread *t = one_of_many();
	uint64_t name = name_of(&to, RT_NAME);
	bool looped = name && get(name);
	int r;

	if (looped)
		atomic_store(&channels()->loops, true);
	if (t)
		send_by(t, has_looped() ? name_of(&to, RT_ARRIVALS) : 0);
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
	struct rt_thread *t = r >= 0 ? one_of_many() : NULL;
	int saved = errno;

	if (r >= 0)
		RT_OUTSIDE(accepted, fd, r);
	if (t) {
		struct end e = {.size = 0};

		if (has_looped())
			e = end_of(fd, SYS_getsockname);
		receive_by(t, name_of(&e, RT_ARRIVALS));
	}
	if (r >= 0 && address && length && rt_outside_names(r, true, address, &room))
		*length = room;
	errno = saved;
	return r;
}

INTERPOSE(int, accept, (int fd, __SOCKADDR_ARG address, socklen_t *restrict length))
{
	socklen_t room = length ? *length : 0;

	if (!awaits(fd, 0))
		return -1;
	return accepted(fd, rt_opened(REAL(accept)(fd, address, length)), address.__sockaddr__, length, room);
}

INTERPOSE(int, accept4, (int fd, __SOCKADDR_ARG address, socklen_t *restrict length, int flags))
{
	socklen_t room = length ? *length : 0;

	if (!awaits(fd, 0))
		return -1;
	return accepted(fd, rt_opened(REAL(accept4)(fd, address, length, flags)), address.__sockaddr__,
			length, room);
}

/* ---- waiting ---- */

/* A wait for descriptors.  Where waiting is not left to the system (rt/core/outside.h), the call is made
 * again and again without waiting. */
struct wait {
	struct pollfd *fds;
	nfds_t count;
	int instance, most;
	struct epoll_event *events;
	fd_set *sets[3], asked[3];
	const sigset_t *mask;
};

static int64_t ns_of_ms(int ms)
{
	return ms < 0 ? -1 : ms * (int64_t)1000000;
}

static int64_t ns_of(const struct timespec *time)
{
	return time ? time->tv_sec * (int64_t)1000000000 + time->tv_nsec : -1;
}

static int waits(struct rt_thread *t, int (*look)(void *), struct wait *w, int64_t limit_ns)
{
	return rt.outside->polls(t, &(struct rt_look){look, w}, limit_ns);
}

static int polled(const struct pollfd *fds, nfds_t count, int r)
{
	for (nfds_t i = 0; r > 0 && i < count; i++)
		if (fds[i].fd >= 0 && fds[i].revents & (POLLIN | POLLPRI | POLLHUP | POLLRDHUP | POLLERR))
			receives(fds[i].fd);
	return r;
}

static int look_poll(void *context)
{
	struct wait *w = context;
	struct timespec none = {0, 0};

	return REAL(ppoll)(w->fds, w->count, &none, w->mask);
}

INTERPOSE(int, poll, (struct pollfd * fds, nfds_t count, int time))
{
	struct rt_thread *t = rt_outside_poller();
	struct wait w = {.fds = fds, .count = count};

	return polled(fds, count, t ? waits(t, look_poll, &w, ns_of_ms(time)) : REAL(poll)(fds, count, time));
}

INTERPOSE(int, __poll_chk, (struct pollfd * fds, nfds_t count, int time, size_t room))
{
	struct rt_thread *t = room / sizeof *fds >= count ? rt_outside_poller() : NULL;
	struct wait w = {.fds = fds, .count = count};

	return polled(fds, count,
		      t ? waits(t, look_poll, &w, ns_of_ms(time)) : REAL(__poll_chk)(fds, count, time, room));
}

INTERPOSE(int, ppoll, (struct pollfd * fds, nfds_t count, const struct timespec *time, const sigset_t *mask))
{
	struct rt_thread *t = rt_outside_poller();
	struct wait w = {.fds = fds, .count = count, .mask = mask};

	return polled(fds, count,
		      t ? waits(t, look_poll, &w, ns_of(time)) : REAL(ppoll)(fds, count, time, mask));
}

static int selected(int count, const fd_set *readable, int r)
{
	for (int fd = 0; r > 0 && readable && fd < count; fd++)
		if (readable->fds_bits[fd / NFDBITS] & 1l << fd % NFDBITS)
			receives(fd);
	return r;
}

/* What is asked for is overwritten by the answer. */
static int look_select(void *context)
{
	struct wait *w = context;
	struct timespec none = {0, 0};

	for (int i = 0; i < 3; i++)
		if (w->sets[i])
			*w->sets[i] = w->asked[i];
	return REAL(pselect)(w->most, w->sets[0], w->sets[1], w->sets[2], &none, w->mask);
}

/* The thread if it waits by looking; larger sets than the type has are left to the system. */
static struct rt_thread *select_waits(struct wait *w)
{
	struct rt_thread *t = w->most <= FD_SETSIZE ? rt_outside_poller() : NULL;

	for (int i = 0; i < 3 && t; i++)
		if (w->sets[i])
			w->asked[i] = *w->sets[i];
	return t;
}

INTERPOSE(int, select,
	  (int count, fd_set *restrict readable, fd_set *restrict writable, fd_set *restrict other,
	   struct timeval *restrict time))
{
	struct wait w = {.sets = {readable, writable, other}, .most = count};
	struct rt_thread *t = select_waits(&w);
	struct timespec limit = {time ? time->tv_sec : 0, time ? time->tv_usec * 1000 : 0};

	return selected(count, readable,
			t ? waits(t, look_select, &w, ns_of(time ? &limit : NULL))
			  : REAL(select)(count, readable, writable, other, time));
}

INTERPOSE(int, pselect,
	  (int count, fd_set *restrict readable, fd_set *restrict writable, fd_set *restrict other,
	   const struct timespec *restrict time, const sigset_t *restrict mask))
{
	struct wait w = {.sets = {readable, writable, other}, .most = count, .mask = mask};
	struct rt_thread *t = select_waits(&w);

	return selected(count, readable,
			t ? waits(t, look_select, &w, ns_of(time))
			  : REAL(pselect)(count, readable, writable, other, time, mask));
}

INTERPOSE(int, epoll_ctl, (int instance, int what, int fd, struct epoll_event *event))
{
	if (event && (what == EPOLL_CTL_ADD || what == EPOLL_CTL_MOD))
		put(key(RT_AWAITED, mix((uint64_t)instance, event->data.u64)), (uint64_t)fd + 1);
	return (int)moved(REAL(epoll_ctl)(instance, what, fd, event));
}

static int awaited(int instance, const struct epoll_event *events, int r)
{
	for (int i = 0; i < r; i++) {
		uint64_t fd = events[i].events & (EPOLLIN | EPOLLHUP | EPOLLRDHUP | EPOLLERR)
				      ? get(key(RT_AWAITED, mix((uint64_t)instance, events[i].data.u64)))
				      : 0;

		if (fd)
			receives((int)fd - 1);
	}
	return r;
}

static int look_epoll(void *context)
{
	struct wait *w = context;

	return REAL(epoll_pwait)(w->instance, w->events, w->most, 0, w->mask);
}

INTERPOSE(int, epoll_wait, (int instance, struct epoll_event *events, int most, int time))
{
	struct rt_thread *t = rt_outside_poller();
	struct wait w = {.instance = instance, .events = events, .most = most};

	return awaited(instance, events,
		       t ? waits(t, look_epoll, &w, ns_of_ms(time))
			 : REAL(epoll_wait)(instance, events, most, time));
}

INTERPOSE(int, epoll_pwait,
	  (int instance, struct epoll_event *events, int most, int time, const sigset_t *mask))
{
	struct rt_thread *t = rt_outside_poller();
	struct wait w = {.instance = instance, .events = events, .most = most, .mask = mask};

	return awaited(instance, events,
		       t ? waits(t, look_epoll, &w, ns_of_ms(time))
			 : REAL(epoll_pwait)(instance, events, most, time, mask));
}
