// SPDX-License-Identifier: Apache-2.0
/*
 * Replaces the sockets of a program whose input is replayed.  In: calls that create, bind, connect,
 * accept and name sockets, and the bytes that are sent.  Out: sockets inside this process, whose
 * other ends belong to the runtime, and the sent bytes, in the memory shared with the replayer.
 *
 * A network socket becomes a socket of AF_UNIX, which other machines cannot reach.  So the kernel
 * still handles readiness, epoll, blocking and duplicated descriptors.  Functions that return
 * addresses return the recorded ones.
 *
 * Invariants:
 * 1. No byte leaves the process through these sockets, and only recorded bytes come in.
 * 2. The runtime's ends have high descriptor numbers, so the program's descriptors have their
 *    usual numbers.
 * 3. Sent bytes are always accepted completely and at once.
 */
#include "rt/core/layer.h"
#include "rt/world/world.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

/* stands for the number of a listener that was not recorded */
#define NUMBER_NONE ((uint32_t)RT_FD_LISTENER - 1)
#define HIGH_MOST 4096 /* upper limit for the runtime's lowest descriptor */
#define BACKLOG 4096   /* maximum number of waiting connections: the kernel's default */

/* ---- descriptors ---- */

static uint32_t kind_of(int fd)
{
	return fd >= 0 && fd < RT_WORLD_FDS
		       ? atomic_load_explicit(&rt_giving()->fds[fd], memory_order_relaxed)
		       : 0;
}

static void set_kind(int fd, uint32_t what)
{
	if (fd >= 0 && fd < RT_WORLD_FDS)
		atomic_store_explicit(&rt_giving()->fds[fd], what, memory_order_relaxed);
}

static bool is_kind(uint32_t what, enum rt_world_fd kind)
{
	return (what & RT_FD_KINDS) == (uint32_t)kind;
}

static uint32_t number_of(uint32_t what)
{
	return what & ~(uint32_t)RT_FD_KINDS;
}

static struct raddle_world_connection *connection_at(uint32_t number)
{
	return &raddle_world_connections(rt_giving()->memory)[number];
}

/* Moves a descriptor of the runtime to a number that the program does not use. */
static int move_high(int fd)
{
	int high = fd < 0 ? -1 : (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, rt_giving()->high);

	if (high < 0)
		return fd;
	syscall(SYS_close, fd);
	return high;
}

/* The address of a socket of the runtime, which only this process knows. */
struct name {
	struct sockaddr_un address;
	socklen_t size;
};

struct tag {
	char zero, word[7];
	int32_t pid;
	uint32_t number;
};

static struct name name_of(uint32_t number)
{
	struct name n = {.address = {.sun_family = AF_UNIX},
			 .size = offsetof(struct sockaddr_un, sun_path) + sizeof(struct tag)};
	struct tag tag = {0, {'r', 'a', 'd', 'd', 'l', 'e', '.'}, (int32_t)rt.pid, number};

	__builtin_memcpy(n.address.sun_path, &tag, sizeof tag);
	return n;
}

/* ---- setup ---- */

/* Replaces a descriptor that the program was started with. */
static void give_input(uint32_t number)
{
	struct rt_peer *peer = &rt_giving()->peers[number];
	int descriptor = connection_at(number)->descriptor, ends[2];

	if (descriptor < 0 || syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, ends))
		return;
	syscall(SYS_dup3, ends[0], descriptor, 0);
	syscall(SYS_close, ends[0]);
	peer->fd = move_high(ends[1]);
	peer->users = 1;
	set_kind(descriptor, RT_FD_CONNECTION | number);
	atomic_store(&connection_at(number)->begun, 1);
}

bool rt_world_sockets_setup(void)
{
	struct rt_giving *g = rt_giving();
	const struct raddle_world *w = g->memory;
	struct rlimit limit = {HIGH_MOST, HIGH_MOST};

	g->peers = rt_map((w->connection_count + 1) * sizeof *g->peers);
	g->bound = rt_map((w->listener_count + 1) * sizeof *g->bound);
	if (!g->peers || !g->bound)
		return false;
	syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit);
	g->high = limit.rlim_cur > HIGH_MOST ? HIGH_MOST : (int32_t)(limit.rlim_cur / 2);
	g->hidden = -1;
	for (uint32_t i = 0; i < w->connection_count; i++)
		g->peers[i].fd = -1;
	for (uint32_t i = 0; i < w->listener_count; i++)
		g->bound[i] = -1;
	for (uint32_t i = 0; i < w->connection_count; i++)
		give_input(i);
	return true;
}

/* ---- creating and binding ---- */

bool rt_world_opens(struct rt_thread *t, int *domain, int *type, int *protocol)
{
	(void)t;
	if ((*type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) != SOCK_STREAM ||
	    (*domain != AF_INET && *domain != AF_INET6 && *domain != AF_UNIX))
		return false;
	*domain = AF_UNIX;
	*protocol = 0;
	return true;
}

void rt_world_opened(struct rt_thread *t, int fd, int domain)
{
	(void)t;
	set_kind(fd, RT_FD_SOCKET | (uint32_t)domain);
}

static bool is_network(sa_family_t family)
{
	return family == AF_INET || family == AF_INET6;
}

/* Counts the use of a real network socket of a kind that is not replayed.  Datagram sockets count only
 * when they receive (rt_world_received()). */
static void strange(int fd, const struct iovec *address)
{
	const struct sockaddr *a = address->iov_base;

	if (a && address->iov_len >= sizeof(sa_family_t) && is_network(a->sa_family) && !rt_datagram_is(fd))
		rt_world_misses(RADDLE_WORLD_LACK_SOCKET);
}

/* Counts datagrams from other processes, because they are not replayed. */
void rt_world_received(struct rt_thread *t, int fd, const struct iovec *parts, ssize_t length)
{
	struct sockaddr_storage own;
	socklen_t size = sizeof own;

	(void)t;
	(void)parts;
	(void)length;
	if (kind_of(fd) == RT_FD_NONE && rt_datagram_is(fd) && !rt_datagram_is_own(fd) &&
	    !rt_bare(SYS_getsockname, fd, (long)&own, (long)&size) && is_network(own.ss_family))
		rt_world_misses(RADDLE_WORLD_LACK_SOCKET);
}

/* Returns the port of a network address, or 0 for any port or an address without a port. */
static uint32_t port_of(const void *address, size_t size)
{
	struct sockaddr_in in;

	if (size < sizeof in)
		return 0;
	__builtin_memcpy(&in, address, sizeof in); /* the port of IPv6 has the same offset */
	return in.sin_family == AF_INET || in.sin_family == AF_INET6 ? in.sin_port : 0;
}

static sa_family_t family_of(const void *address, size_t size)
{
	sa_family_t family = AF_UNSPEC;

	if (size >= sizeof family)
		__builtin_memcpy(&family, address, sizeof family);
	return family;
}

/* Returns true if the recorded socket had this address.  If the program lets the system choose the
 * port, any port matches. */
static bool is_address(const struct raddle_world_address *a, const struct iovec *address)
{
	if (family_of(a->bytes, a->size) != family_of(address->iov_base, address->iov_len))
		return false;
	if (family_of(a->bytes, a->size) != AF_UNIX) {
		uint32_t port = port_of(address->iov_base, address->iov_len);

		return !port || port == port_of(a->bytes, a->size);
	}
	return a->size <= address->iov_len && !__builtin_memcmp(a->bytes, address->iov_base, a->size);
}

/* Creates the socket file that bind() would create.  No process listens there, but the program may
 * rename the file or change its mode. */
static void leave_name(const struct iovec *address)
{
	struct sockaddr_un un = {0};
	size_t size = address->iov_len < sizeof un - 1 ? address->iov_len : sizeof un - 1;

	__builtin_memcpy(&un, address->iov_base, size);
	if (un.sun_family == AF_UNIX && un.sun_path[0])
		syscall(SYS_mknodat, AT_FDCWD, un.sun_path, S_IFSOCK | 0777, 0);
}

bool rt_world_binds(struct rt_thread *t, int fd, const struct iovec *address, int *result)
{
	struct rt_giving *g = rt_giving();
	const struct raddle_world_listener *listeners = raddle_world_listeners(g->memory);
	struct sockaddr_un any = {.sun_family = AF_UNIX};
	uint32_t number = NUMBER_NONE;

	(void)t;
	if (!is_kind(kind_of(fd), RT_FD_SOCKET)) {
		strange(fd, address);
		return false;
	}
	for (uint32_t i = g->memory->listener_count; i-- > 0;)
		if (atomic_load(&g->bound[i]) < 0 && is_address(&listeners[i].address, address))
			number = i;
	*result = (int)syscall(SYS_bind, fd, &any, sizeof any.sun_family);
	if (*result)
		return true;
	leave_name(address);
	set_kind(fd, RT_FD_LISTENER | number);
	if (number != NUMBER_NONE)
		atomic_store(&g->bound[number], fd);
	return true;
}

/* ---- connections of the program ---- */

static int hidden_listener(void)
{
	struct rt_giving *g = rt_giving();
	struct name n = name_of(UINT32_MAX);
	int fd;

	if (g->hidden >= 0)
		return g->hidden;
	fd = move_high((int)syscall(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (fd >= 0 && !syscall(SYS_bind, fd, &n.address, n.size) && !syscall(SYS_listen, fd, BACKLOG))
		g->hidden = fd;
	return g->hidden;
}

/* Returns the recorded connection to this address, or RADDLE_WORLD_NONE. */
static uint32_t find_connection(const struct iovec *address)
{
	const struct raddle_world *w = rt_giving()->memory;

	for (uint32_t i = 0; i < w->connection_count; i++) {
		struct raddle_world_connection *c = connection_at(i);
		uint32_t none = 0;

		if (c->listener == RADDLE_WORLD_NONE && c->descriptor < 0 &&
		    is_address(&c->address, address) && atomic_compare_exchange_strong(&c->begun, &none, 1))
			return i;
	}
	return RADDLE_WORLD_NONE;
}

/* Connects a socket of the program to a new socket of the runtime.  The accepted connection is the
 * right one, since no other process connects to the runtime's listener. */
static int tie(int fd, uint32_t number)
{
	struct rt_peer *peer = &rt_giving()->peers[number];
	struct name n = name_of(UINT32_MAX);
	int listener = hidden_listener(), r;

	r = listener < 0 ? -1 : (int)syscall(SYS_connect, fd, &n.address, n.size);
	if (r)
		return r;
	peer->fd = move_high((int)syscall(SYS_accept4, listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));
	peer->users = 1;
	set_kind(fd, RT_FD_CONNECTION | number);
	return 0;
}

bool rt_world_connects(struct rt_thread *t, int fd, const struct iovec *address, int *result)
{
	uint32_t number, what = kind_of(fd);
	int error;

	(void)t;
	if (!is_kind(what, RT_FD_SOCKET) && !is_kind(what, RT_FD_LISTENER)) {
		if (!is_kind(what, RT_FD_CONNECTION))
			strange(fd, address);
		return false;
	}
	number = find_connection(address);
	if (number == RADDLE_WORLD_NONE) {
		rt_world_misses(RADDLE_WORLD_LACK_CONNECT);
		errno = ECONNREFUSED;
		*result = -1;
		return true;
	}
	error = connection_at(number)->error;
	*result = error && error != EINPROGRESS ? -1 : tie(fd, number);
	if (error)
		*result = -1;
	if (error)
		errno = error;
	return true;
}

/* ---- connections to the program ---- */

bool rt_world_reach(uint32_t number)
{
	struct rt_giving *g = rt_giving();
	const struct raddle_world_connection *c = connection_at(number);
	struct name own = name_of(number), to = {.size = sizeof to.address};
	int bound = c->listener < g->memory->listener_count ? atomic_load(&g->bound[c->listener]) : -1, fd;

	if (bound < 0 || syscall(SYS_getsockname, bound, &to.address, &to.size))
		return false;
	fd = move_high((int)syscall(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (fd < 0)
		return false;
	if (syscall(SYS_bind, fd, &own.address, own.size) || syscall(SYS_connect, fd, &to.address, to.size)) {
		syscall(SYS_close, fd);
		return false;
	}
	g->peers[number].fd = fd;
	return true;
}

void rt_world_accepted(struct rt_thread *t, int listener, int fd)
{
	struct name n = {.size = sizeof n.address};
	int saved = errno;
	struct tag tag;

	(void)t;
	if (!is_kind(kind_of(listener), RT_FD_LISTENER))
		return;
	if (!syscall(SYS_getpeername, fd, &n.address, &n.size) &&
	    n.size == offsetof(struct sockaddr_un, sun_path) + sizeof tag) {
		__builtin_memcpy(&tag, n.address.sun_path, sizeof tag);
		if (tag.pid == (int32_t)rt.pid && tag.number < rt_giving()->memory->connection_count) {
			set_kind(fd, RT_FD_CONNECTION | tag.number);
			rt_giving()->peers[tag.number].users = 1;
			atomic_store(&connection_at(tag.number)->begun, 1);
		}
	}
	errno = saved;
}

void rt_world_duplicated(int fd, int copy)
{
	uint32_t what = kind_of(fd);

	set_kind(copy, what);
	if (is_kind(what, RT_FD_CONNECTION))
		atomic_fetch_add(&rt_giving()->peers[number_of(what)].users, 1);
}

/* The runtime's end is closed by the thread that handles arrivals, since that thread may be using
 * it. */
void rt_world_closing(struct rt_thread *t, int fd)
{
	uint32_t what = kind_of(fd), number = number_of(what);

	(void)t;
	set_kind(fd, RT_FD_NONE);
	if (is_kind(what, RT_FD_LISTENER) && number != NUMBER_NONE)
		atomic_store(&rt_giving()->bound[number], -1);
	if (is_kind(what, RT_FD_CONNECTION) && atomic_fetch_sub(&rt_giving()->peers[number].users, 1) == 1)
		atomic_store(&connection_at(number)->closed, 1);
}

/* ---- sent bytes ---- */

static void keep(uint32_t number, const void *bytes, uint64_t length)
{
	struct raddle_world *w = rt_giving()->memory;
	struct raddle_world_connection *c = connection_at(number);
	uint64_t at = atomic_fetch_add(&c->now_sent, length);

	atomic_fetch_add(&w->sent, length);
	if (at < c->kept_size)
		__builtin_memcpy((char *)w + c->kept_at + at, bytes,
				 length < c->kept_size - at ? length : c->kept_size - at);
}

bool rt_world_sends(struct rt_thread *t, int fd, const struct msghdr *message, ssize_t *length)
{
	uint32_t what = kind_of(fd);

	if (!is_kind(what, RT_FD_CONNECTION)) {
		if (message->msg_name && !what)
			strange(fd, &(struct iovec){message->msg_name, message->msg_namelen});
		return false;
	}
	*length = 0;
	for (size_t i = 0; i < message->msg_iovlen; i++) {
		keep(number_of(what), message->msg_iov[i].iov_base, message->msg_iov[i].iov_len);
		*length += (ssize_t)message->msg_iov[i].iov_len;
	}
	rt_world_moves(t);
	return true;
}

void rt_world_drain(uint32_t number)
{
	struct rt_peer *peer = &rt_giving()->peers[number];
	char bytes[4096];
	long n;

	while (peer->fd >= 0 &&
	       (n = syscall(SYS_recvfrom, peer->fd, bytes, sizeof bytes, MSG_DONTWAIT, NULL, NULL)) > 0)
		keep(number, bytes, (uint64_t)n);
}

/* ---- names and options ---- */

static void copy_name(const struct raddle_world_address *from, struct iovec *to)
{
	if (to->iov_base)
		__builtin_memcpy(to->iov_base, from->bytes,
				 from->size < to->iov_len ? from->size : to->iov_len);
	to->iov_len = from->size;
}

/* Returns the local address of a connection that the program opened.  It was not recorded, so only
 * its family is set. */
static struct raddle_world_address own_end(const struct raddle_world_address *peer)
{
	struct raddle_world_address own = {.size = peer->size};

	__builtin_memcpy(own.bytes, peer->bytes, sizeof(sa_family_t));
	return own;
}

bool rt_world_names(struct rt_thread *t, int fd, bool peer, struct iovec *address)
{
	struct raddle_world *w = rt_giving()->memory;
	const struct raddle_world_listener *listeners = raddle_world_listeners(w);
	uint32_t what = kind_of(fd), number = number_of(what);
	const struct raddle_world_connection *c = NULL;
	struct raddle_world_address own;

	(void)t;
	if (is_kind(what, RT_FD_LISTENER) && number != NUMBER_NONE && !peer) {
		copy_name(&listeners[number].address, address);
		return true;
	}
	if (!is_kind(what, RT_FD_CONNECTION) || connection_at(number)->descriptor >= 0)
		return false;
	c = connection_at(number);
	if (!peer && c->listener == RADDLE_WORLD_NONE) {
		own = own_end(&c->address);
		copy_name(&own, address);
	} else {
		copy_name(peer ? &c->address : &listeners[c->listener].address, address);
	}
	return true;
}

/* Returns true if the kernel can handle this option for the socket that replaces the program's
 * socket. */
static bool is_native(const int option[2])
{
	if (option[0] != SOL_SOCKET)
		return false;
	switch (option[1]) {
	case SO_ERROR:
	case SO_TYPE:
	case SO_ACCEPTCONN:
	case SO_RCVTIMEO:
	case SO_SNDTIMEO:
	case SO_RCVLOWAT:
	case SO_RCVBUF:
	case SO_SNDBUF: return true;
	default: return false;
	}
}

bool rt_world_has_option(struct rt_thread *t, int fd, const int option[2], struct iovec *value)
{
	uint32_t what = kind_of(fd);
	int number = 0;

	(void)t;
	if (!what || is_native(option))
		return false;
	if (!value)
		return true;
	if (option[0] == SOL_SOCKET && option[1] == SO_DOMAIN)
		number = is_kind(what, RT_FD_SOCKET) ? (int)number_of(what) : AF_INET;
	__builtin_memset(value->iov_base, 0, value->iov_len);
	__builtin_memcpy(value->iov_base, &number,
			 value->iov_len < sizeof number ? value->iov_len : sizeof number);
	return true;
}
