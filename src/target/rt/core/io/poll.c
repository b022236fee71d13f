// SPDX-License-Identifier: Apache-2.0
/*
 * Waiting for descriptors: poll, select and epoll.  In: calls that wait.  Out: a receipt from the
 * channel of each descriptor that is ready to be read (rt/core/io/channel.c).
 */
#include "rt/core/io/channel-int.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

void rt_member_poll(void);
void rt_member_poll(void)
{
}

/* A wait for descriptors.  If a layer handles the waiting (rt/core/io/outside.h), the call is
 * repeated with a time limit of 0. */
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
			rt_channel_receives(fds[i].fd);
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
			rt_channel_receives(fd);
	return r;
}

/* select() overwrites its sets with the result, so they are restored first. */
static int look_select(void *context)
{
	struct wait *w = context;
	struct timespec none = {0, 0};

	for (int i = 0; i < 3; i++)
		if (w->sets[i])
			*w->sets[i] = w->asked[i];
	return REAL(pselect)(w->most, w->sets[0], w->sets[1], w->sets[2], &none, w->mask);
}

/* Returns the thread if it waits by repeated calls, or NULL if the system waits.  The system waits
 * if a set has more than FD_SETSIZE descriptors. */
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
		rt_channel_put(
			rt_channel_key(RT_AWAITED, rt_channel_mix((uint64_t)instance, event->data.u64)),
			(uint64_t)fd + 1);
	return (int)rt_moved(REAL(epoll_ctl)(instance, what, fd, event));
}

static int awaited(int instance, const struct epoll_event *events, int r)
{
	for (int i = 0; i < r; i++) {
		uint64_t fd =
			events[i].events & (EPOLLIN | EPOLLHUP | EPOLLRDHUP | EPOLLERR)
				? rt_channel_get(rt_channel_key(
					  RT_AWAITED, rt_channel_mix((uint64_t)instance, events[i].data.u64)))
				: 0;

		if (fd)
			rt_channel_receives((int)fd - 1);
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
