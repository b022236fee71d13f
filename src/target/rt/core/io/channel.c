// SPDX-License-Identifier: Apache-2.0
/*
 * Records how descriptors order threads.  In: calls that write to, read from, wait for or close a
 * descriptor.  Out: events `channel-send` and `channel-receive`.  Whatever a thread did before a
 * send is ordered before whatever another thread does after the receipt.
 *
 * A channel is what the bytes pass through: a pipe, one direction of a socket pair, an eventfd, or
 * a connection of the process with itself.  It is identified by an inode, a pair of ports or a
 * path; an eventfd is identified by its descriptor.  The kernel is queried at every call because
 * uninstrumented code may close and duplicate descriptors.  Bytes are not counted: a receiver is
 * assumed to have received everything sent so far.  That can hide a race but never invents one.
 * Files, and sockets whose other end is outside the process, are not channels, because it is
 * unknown what happens to the data there.  They cause the events `outside-tell` and `outside-hear`,
 * for analyses that must be sure that nothing ordered two accesses.  While there is only one
 * thread, nothing is recorded.
 *
 * A send is reported before it takes effect, a receipt after it.
 */
#include "rt/core/io/channel-int.h"

#include <sys/stat.h>
#include <sys/syscall.h>

enum { SLOTS = RADDLE_CHANNEL_COUNT, PROBES = 64, NO_SLOT = -1 };

/* Keys are never removed.  The position of a key in the table is also the number of its channel.
 * If the table is full, several keys share a position. */
struct rt_channels {
	_Atomic uint64_t keys[SLOTS], values[SLOTS];
	_Atomic bool loops; /* true if the process has connected to itself */
};

void rt_member_channel(void);
void rt_member_descriptor(void);
void rt_member_socket(void);
void rt_member_poll(void);
void rt_member_datagram(void);
void rt_member_channel(void)
{
	rt_member_descriptor();
	rt_member_socket();
	rt_member_poll();
	rt_member_datagram();
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

/* Returns the position of the key, or NO_SLOT if the key is absent and was not added. */
static int slot_of(struct rt_channels *c, uint64_t wanted, bool make)
{
	uint64_t at = rt_channel_mix(wanted, 1);

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

void rt_channel_put(uint64_t wanted, uint64_t value)
{
	struct rt_channels *c = channels();
	int slot = c ? slot_of(c, wanted, true) : NO_SLOT;

	if (slot != NO_SLOT)
		atomic_store_explicit(&c->values[slot], value, memory_order_release);
}

uint64_t rt_channel_get(uint64_t wanted)
{
	struct rt_channels *c = channels();
	int slot = c ? slot_of(c, wanted, false) : NO_SLOT;

	return slot == NO_SLOT ? 0 : atomic_load_explicit(&c->values[slot], memory_order_acquire);
}

void rt_channel_loops(void)
{
	struct rt_channels *c = channels();

	if (c)
		atomic_store(&c->loops, true);
}

bool rt_channel_has_looped(void)
{
	struct rt_channels *c = atomic_load_explicit(&rt.channels, memory_order_acquire);

	return c && atomic_load(&c->loops);
}

struct rt_end rt_end_of(int fd, long which)
{
	struct rt_end e = {.size = sizeof e.address};

	if (syscall(which, fd, &e.address, &e.size) || e.size > sizeof e.address)
		e.size = 0;
	return e;
}

struct rt_end rt_end_from(const struct sockaddr *address, socklen_t size)
{
	struct rt_end e = {.size = size <= sizeof e.address && address ? size : 0};

	__builtin_memcpy(&e.address, address, e.size);
	return e;
}

static uint64_t port_of(const struct rt_end *e)
{
	if (e->size >= sizeof e->address.in && e->address.any.sa_family == AF_INET)
		return e->address.in.sin_port;
	return e->size >= sizeof e->address.in6 && e->address.any.sa_family == AF_INET6
		       ? e->address.in6.sin6_port
		       : 0;
}

/* Returns a hash of the address's path, or 0 if the address has no path.  A path ends at its NUL,
 * whatever length the program passed.  But a path that begins with NUL is abstract and uses the
 * whole length. */
static uint64_t path_of(const struct rt_end *e)
{
	const char *path = e->address.un.sun_path;
	size_t length = e->size > offsetof(struct sockaddr_un, sun_path)
				? e->size - offsetof(struct sockaddr_un, sun_path)
				: 0;
	uint64_t hash = 0;

	if (!length || e->address.any.sa_family != AF_UNIX)
		return 0;
	for (size_t i = 0; i < length && (path[i] || !path[0]); i++)
		hash = rt_channel_mix(hash + 1, (uint8_t)path[i]);
	return hash;
}

uint64_t rt_end_name(const struct rt_end *e, enum rt_subject subject)
{
	uint64_t port = port_of(e), path = port ? 0 : path_of(e);

	return port ? rt_channel_key(subject, port) : path ? rt_channel_key(subject, path | 1ull << 32) : 0;
}

/* Returns the key of a connection with a socket of this process.  `to` is the destination of a
 * datagram that carries its own address. */
static uint64_t connection(int fd, bool sending, const struct rt_end *to)
{
	struct rt_end local = rt_end_of(fd, SYS_getsockname), peer = rt_end_of(fd, SYS_getpeername);
	uint64_t path = path_of(&local) ? path_of(&local) : path_of(to->size ? to : &peer);
	uint64_t from_port = port_of(sending ? &local : &peer);
	uint64_t to_port = port_of(!sending ? &local : to->size ? to : &peer);
	socklen_t size = sizeof(int);
	int type = 0;

	if (path)
		return rt_channel_key(RT_LOCAL, path);
	syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &size);
	return to_port ? rt_channel_key(RT_NETWORK, (type == SOCK_STREAM ? from_port << 16 : 0) | to_port)
		       : 0;
}

static uint64_t key_of(int fd, bool sending, const struct rt_end *to)
{
	struct stat s;
	uint64_t peer;

	if (syscall(SYS_fstat, fd, &s))
		return 0;
	switch (s.st_mode & S_IFMT) {
	case S_IFIFO: return rt_channel_key(RT_PIPE, s.st_ino);
	case 0: return rt_channel_key(RT_ANONYMOUS, (uint64_t)fd);
	case S_IFSOCK:
		peer = atomic_load_explicit(&rt.channels, memory_order_acquire)
			       ? rt_channel_get(rt_channel_key(RT_PEER, s.st_ino))
			       : 0;
		if (peer)
			return rt_channel_key(RT_INBOX, sending ? peer : s.st_ino);
		return rt_channel_has_looped() ? connection(fd, sending, to) : 0;
	default: return 0;
	}
}

struct rt_thread *rt_one_of_many(void)
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
		slot = (int)(rt_channel_mix(wanted, 1) % SLOTS);
	return RADDLE_CHANNELS + (uintptr_t)slot * RADDLE_CHANNEL_BYTES;
}

void rt_channel_send_by(struct rt_thread *t, uint64_t wanted)
{
	uintptr_t channel = address_of(wanted);
	struct rt_op op;

	if (!wanted && t->recording)
		rt_outside_event(t, RADDLE_OUTSIDE_TELL);
	rt_op_fill_(&op, t, RADDLE_CHANNEL_SEND, channel);
	RT_NOTIFY(releasing, &op, RADDLE_CHANNEL_SEND, channel ? channel : RT_CHANNEL_OUTSIDE);
	if (channel)
		rt_sync(t, RADDLE_CHANNEL_SEND, channel, RT_NONE);
}

void rt_channel_receive_by(struct rt_thread *t, uint64_t wanted)
{
	uintptr_t channel = address_of(wanted);

	if (!wanted && t->recording)
		rt_outside_event(t, RADDLE_OUTSIDE_HEAR);
	RT_NOTIFY(acquired, t, RADDLE_CHANNEL_RECEIVE, channel ? channel : RT_CHANNEL_OUTSIDE, 0);
	if (channel)
		rt_sync(t, RADDLE_CHANNEL_RECEIVE, channel, RT_NONE);
}

void rt_channel_sends_to(int fd, const struct sockaddr *address, socklen_t size)
{
	struct rt_thread *t = rt_one_of_many();
	int saved = errno;
	struct rt_end to;

	if (!t)
		return;
	to = rt_end_from(address, size);
	if (to.size && rt_channel_get(rt_end_name(&to, RT_NAME)))
		rt_channel_loops();
	rt_channel_send_by(t, key_of(fd, true, &to));
	errno = saved;
}

void rt_channel_sends(int fd)
{
	rt_channel_sends_to(fd, NULL, 0);
}

void rt_channel_receives(int fd)
{
	struct rt_thread *t = rt_one_of_many();
	int saved = errno;
	struct rt_end none = {.size = 0};

	if (t)
		rt_channel_receive_by(t, key_of(fd, false, &none));
	errno = saved;
}

bool rt_channel_is_pair(uint64_t inode)
{
	return atomic_load_explicit(&rt.channels, memory_order_acquire) &&
	       rt_channel_get(rt_channel_key(RT_PEER, inode));
}

bool rt_channel_is(int fd)
{
	struct rt_end none = {.size = 0};

	return key_of(fd, true, &none) != 0;
}

/* Calls `move` for the calling thread, unless that is the only thread. */
static void move_by_caller(void (*move)(struct rt_thread *t, uint64_t wanted), uint64_t wanted)
{
	struct rt_thread *t = rt_one_of_many();
	int saved = errno;

	if (t)
		move(t, wanted);
	errno = saved;
}

void rt_channel_send(uint64_t wanted)
{
	move_by_caller(rt_channel_send_by, wanted);
}

void rt_channel_receive(uint64_t wanted)
{
	move_by_caller(rt_channel_receive_by, wanted);
}
