// SPDX-License-Identifier: Apache-2.0
/*
 * Interposed functions that wait for descriptors: poll, select and epoll.  In: calls that wait.
 * Out: for each descriptor that is ready to be read, a receipt from its channel
 * (rt/core/io/channel.c).
 */
#include "rt/core/io/channel-int.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>

/* If the sets of a select() contain more descriptors than this, which is rare, the system waits and
 * not a layer. */
#define SELECTED 128

void rt_member_poll(void);
void rt_member_poll(void)
{
}

/* A wait for descriptors.  If a layer performs the wait (rt/core/io/outside.h), the call is
 * repeated with a time limit of 0. */
struct wait {
	struct pollfd *fds;
	nfds_t count;
	int instance, most, limit; /* `limit` of select(): one more than the highest descriptor */
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

/* Waits for the descriptors if a layer performs the wait.  Returns false if the system must
 * wait. */
static bool waits(int (*look)(void *), struct wait *w, int64_t limit_ns, int *r)
{
	struct rt_thread *t = rt_outside_self();
	struct rt_look wanted = {.look = look, .context = w, .fds = w->fds, .count = w->count};

	if (t && rt.outside->polls) {
		*r = rt.outside->polls(t, &wanted, limit_ns);
		return true;
	}
	t = rt.callbacks.waits ? rt_self() : NULL;
	if (t)
		RT_NOTIFY(waits, t, &wanted, limit_ns);
	*r = wanted.result;
	return wanted.handled;
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
	struct wait w = {.fds = fds, .count = count};
	int r;

	if (!waits(look_poll, &w, ns_of_ms(time), &r))
		r = REAL(poll)(fds, count, time);
	return polled(fds, count, r);
}

INTERPOSE(int, __poll_chk, (struct pollfd * fds, nfds_t count, int time, size_t room))
{
	struct wait w = {.fds = fds, .count = count};
	int r;

	if (room / sizeof *fds < count || !waits(look_poll, &w, ns_of_ms(time), &r))
		r = REAL(__poll_chk)(fds, count, time, room);
	return polled(fds, count, r);
}

INTERPOSE(int, ppoll, (struct pollfd * fds, nfds_t count, const struct timespec *time, const sigset_t *mask))
{
	struct wait w = {.fds = fds, .count = count, .mask = mask};
	int r;

	if (!waits(look_poll, &w, ns_of(time), &r))
		r = REAL(ppoll)(fds, count, time, mask);
	return polled(fds, count, r);
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
	return REAL(pselect)(w->limit, w->sets[0], w->sets[1], w->sets[2], &none, w->mask);
}

/* Fills `fds` with the descriptors of all sets, for a layer that waits for them.  Returns false if
 * there are too many. */
static bool list_selected(struct wait *w, struct pollfd *fds)
{
	static const short events[3] = {POLLIN, POLLOUT, POLLPRI};

	w->fds = fds;
	for (int fd = 0; fd < w->limit; fd++) {
		short wanted = 0;

		for (int i = 0; i < 3; i++)
			if (w->sets[i] && w->asked[i].fds_bits[fd / NFDBITS] & 1l << fd % NFDBITS)
				wanted |= events[i];
		if (wanted && w->count == SELECTED)
			return false;
		if (wanted)
			fds[w->count++] = (struct pollfd){fd, wanted, 0};
	}
	return true;
}

/* Waits if a layer performs the wait.  Returns false if the system must wait, which is also the
 * case for sets larger than FD_SETSIZE and, unless input is replayed, for more than SELECTED
 * descriptors. */
static bool select_waits(struct wait *w, int64_t limit_ns, int *r)
{
	struct pollfd fds[SELECTED];

	if (w->limit > FD_SETSIZE || (!rt.outside && !rt.callbacks.waits))
		return false;
	for (int i = 0; i < 3; i++)
		if (w->sets[i])
			w->asked[i] = *w->sets[i];
	if (list_selected(w, fds) || (rt.outside && rt.outside->polls)) {
		if (waits(look_select, w, limit_ns, r))
			return true;
	}
	for (int i = 0; i < 3; i++)
		if (w->sets[i])
			*w->sets[i] = w->asked[i];
	return false;
}

INTERPOSE(int, select,
	  (int count, fd_set *restrict readable, fd_set *restrict writable, fd_set *restrict other,
	   struct timeval *restrict time))
{
	struct wait w = {.sets = {readable, writable, other}, .limit = count};
	struct timespec limit = {time ? time->tv_sec : 0, time ? time->tv_usec * 1000 : 0};
	int r;

	if (!select_waits(&w, ns_of(time ? &limit : NULL), &r))
		r = REAL(select)(count, readable, writable, other, time);
	return selected(count, readable, r);
}

INTERPOSE(int, pselect,
	  (int count, fd_set *restrict readable, fd_set *restrict writable, fd_set *restrict other,
	   const struct timespec *restrict time, const sigset_t *restrict mask))
{
	struct wait w = {.sets = {readable, writable, other}, .limit = count, .mask = mask};
	int r;

	if (!select_waits(&w, ns_of(time), &r))
		r = REAL(pselect)(count, readable, writable, other, time, mask);
	return selected(count, readable, r);
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

static bool epoll_waits(struct wait *w, int time, int *r)
{
	struct pollfd set = {w->instance, POLLIN, 0};

	w->fds = &set;
	w->count = 1;
	return waits(look_epoll, w, ns_of_ms(time), r);
}

INTERPOSE(int, epoll_wait, (int instance, struct epoll_event *events, int most, int time))
{
	struct wait w = {.instance = instance, .events = events, .most = most};
	int r;

	if (!epoll_waits(&w, time, &r))
		r = REAL(epoll_wait)(instance, events, most, time);
	return awaited(instance, events, r);
}

INTERPOSE(int, epoll_pwait,
	  (int instance, struct epoll_event *events, int most, int time, const sigset_t *mask))
{
	struct wait w = {.instance = instance, .events = events, .most = most, .mask = mask};
	int r;

	if (!epoll_waits(&w, time, &r))
		r = REAL(epoll_pwait)(instance, events, most, time, mask);
	return awaited(instance, events, r);
}

/* ---- single descriptors ---- */

static int look_descriptor(void *context)
{
	struct wait *w = context;

	return (int)rt_bare(SYS_poll, (long)w->fds, 1);
}

bool rt_awaits_descriptor(int fd, short events, bool never_waits)
{
	struct pollfd one = {fd, events, 0};
	struct wait w = {.fds = &one, .count = 1};
	int saved = errno, r;
	bool ready = true;

	never_waits |= (rt_bare(SYS_fcntl, fd, F_GETFL) & O_NONBLOCK) != 0;
	if (waits(look_descriptor, &w, never_waits ? 0 : -1, &r) && !never_waits)
		ready = r >= 0 || errno != EINTR;
	if (ready)
		errno = saved;
	return ready;
}
