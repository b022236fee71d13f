// SPDX-License-Identifier: Apache-2.0
/*
 * Datagrams.  In: messages that the program sends and receives.  Out: notifications of messages to
 * other processes, and whether a received message came from the program itself.
 *
 * In the table of channels, the value of an address of this process (RT_NAME) is 1 plus the number of
 * datagrams that the program has sent to this address and has not received yet.
 */
#include "rt/core/io/channel-int.h"

#include <sys/syscall.h>

void rt_member_datagram(void);
void rt_member_datagram(void)
{
}

bool rt_datagram_is(int fd)
{
	int type = 0;
	socklen_t size = sizeof type;

	return !rt_bare(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, (long)&type, (long)&size) &&
	       type == SOCK_DGRAM;
}

/* Returns true if this process may have the address.  The address of a network interface counts as
 * that of another process, because the runtime does not know the interfaces. */
static bool is_local(const struct rt_end *e)
{
	const struct in6_addr *in6 = &e->address.in6.sin6_addr;
	uint32_t in = ntohl(e->address.in.sin_addr.s_addr);

	switch (e->address.any.sa_family) {
	case AF_INET: return in >> 24 == IN_LOOPBACKNET || in == INADDR_ANY;
	case AF_INET6: return IN6_IS_ADDR_LOOPBACK(in6) || IN6_IS_ADDR_UNSPECIFIED(in6);
	default: return true;
	}
}

void rt_datagram_sends(int fd, const struct msghdr *message)
{
	struct msghdr sent = *message;
	struct rt_end to;
	uint64_t name, value;
	int saved = errno;

	if (!rt_datagram_is(fd))
		return;
	to = message->msg_name ? rt_end_from(message->msg_name, message->msg_namelen)
			       : rt_end_of(fd, SYS_getpeername);
	errno = saved;
	name = rt_end_name(&to, RT_NAME);
	if (!name)
		return; /* a socket of a pair */
	value = is_local(&to) ? rt_channel_get(name) : 0;
	if (value) {
		rt_channel_put(name, value + 1);
		return;
	}
	sent.msg_name = &to.address;
	sent.msg_namelen = to.size;
	RT_NOTIFY(sends, &sent);
}

bool rt_datagram_is_own(int fd)
{
	int saved = errno;
	struct rt_end local = rt_end_of(fd, SYS_getsockname);
	uint64_t name = rt_end_name(&local, RT_NAME), value = name ? rt_channel_get(name) : 0;

	errno = saved;
	if (value < 2)
		return false;
	rt_channel_put(name, value - 1);
	return true;
}
