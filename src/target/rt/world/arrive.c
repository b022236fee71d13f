// SPDX-License-Identifier: Apache-2.0
/*
 * Delivers recorded input: what arrives, when it arrives, and how a thread waits for it.  In:
 * arrivals (raddle/world.h) and threads that read, accept or poll.  Out: connections and bytes at
 * the sockets that replace those of the program (rt/world/socket.c).
 *
 * Invariants:
 * 1. Arrivals are delivered in recorded order.  An arrival is delivered when the program has sent
 *    as many bytes as it had in the recorded run before that arrival, and has read all earlier
 *    bytes of that connection.  It is also delivered when no thread can continue otherwise.
 * 2. No thread waits in the kernel for a descriptor: it polls, and waits here until something has
 *    changed.  If threads take turns, others run meanwhile, so nothing depends on time.
 * 3. When everything has arrived and no thread can continue, the runtime raises the signal with
 *    which the user would end the program.
 */
#include "rt/core/layer.h"
#include "rt/world/world.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLICE_MS 2 /* the length of one sleep, if threads do not take turns */
/* If no thread has sent or received anything for this long, and threads do not take turns, no
 * thread is expected to continue.  Then the next input arrives. */
#define QUIET_NS 200000000u
/* The signal end_signal is raised when no thread has sent or received anything for END_NS.  If the
 * program has not yet sent everything, this takes END_LATER_NS. */
#define END_NS 1000000000u
#define END_LATER_NS 10000000000u
/* If threads take turns, this many waits in a row may time out before input arrives anyway: TIMED
 * if the program has sent everything, else TIMED_MORE. */
#define TIMED 64
#define TIMED_MORE 4096
/* After LOOKS polls in a row that found nothing, other threads may run.  After LOOKS_MOST such
 * polls, input arrives anyway. */
#define LOOKS 64
#define LOOKS_MOST 1024

static struct raddle_world *memory(void)
{
	return rt_giving()->memory;
}

/* ---- arriving ---- */

static bool has_read_all(uint32_t connection)
{
	int fd = rt_giving()->peers[connection].fd, left = 0;

	return fd < 0 || syscall(SYS_ioctl, fd, SIOCOUTQ, &left) || !left;
}

static struct raddle_world_connection *connection_of(const struct raddle_world_arrival *a)
{
	return &raddle_world_connections(memory())[a->connection];
}

static bool is_due(const struct raddle_world_arrival *a)
{
	return atomic_load(&memory()->sent) + atomic_load(&rt_giving()->debt) >= a->sent_before &&
	       (a->kind == RADDLE_ARRIVES_CONNECTION || has_read_all(a->connection));
}

/* Sends the bytes of an arrival to the program.  Returns false if the socket's buffer is full; the
 * next call sends the rest. */
static bool put_bytes(const struct raddle_world_arrival *a)
{
	struct rt_peer *peer = &rt_giving()->peers[a->connection];
	long n;

	while (peer->offset < a->length) {
		n = syscall(SYS_sendto, peer->fd, (char *)memory() + a->bytes_at + peer->offset,
			    a->length - peer->offset, MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0);
		if (n < 0 && errno == EAGAIN)
			return false;
		if (n < 0) {
			atomic_fetch_add(&memory()->refused, 1);
			break;
		}
		peer->offset += (uint64_t)n;
	}
	peer->offset = 0;
	return true;
}

/* Delivers an arrival.  Returns false if it cannot be delivered yet, for instance because the
 * program has not opened the connection. */
static bool let_in(const struct raddle_world_arrival *a)
{
	struct rt_peer *peer = &rt_giving()->peers[a->connection];

	if (atomic_load(&connection_of(a)->closed))
		return true;
	if (a->kind == RADDLE_ARRIVES_CONNECTION)
		return rt_world_reach(a->connection);
	if (peer->fd < 0)
		return false;
	if (a->kind == RADDLE_ARRIVES_BYTES)
		return put_bytes(a);
	syscall(SYS_shutdown, peer->fd, SHUT_WR);
	return true;
}

/* Closes the runtime's end of each connection that the program has closed.  Also reads bytes that
 * the program sent with calls that are not interposed. */
static void tidy_up(void)
{
	for (uint32_t i = 0; i < memory()->connection_count; i++) {
		struct rt_peer *peer = &rt_giving()->peers[i];

		if (peer->fd < 0)
			continue;
		rt_world_drain(i);
		if (!atomic_load(&raddle_world_connections(memory())[i].closed))
			continue;
		syscall(SYS_close, peer->fd);
		peer->fd = -1;
	}
}

/* Called when input arrived although the program had sent less than in the recorded run.  Later
 * arrivals do not wait for the missing bytes. */
static void forgive(const struct raddle_world_arrival *a)
{
	uint64_t sent = atomic_load(&memory()->sent) + atomic_load(&rt_giving()->debt);

	atomic_fetch_add(&memory()->hurried, 1);
	if (sent < a->sent_before)
		atomic_fetch_add(&rt_giving()->debt, a->sent_before - sent);
}

static bool arrive(bool anyway)
{
	struct raddle_world *w = memory();
	const struct raddle_world_arrival *arrivals = raddle_world_arrivals(w);
	bool came = false;

	for (uint32_t n; (n = atomic_load(&w->arrived)) < w->arrival_count; anyway = false) {
		bool due = is_due(&arrivals[n]);

		if ((!due && !anyway) || !let_in(&arrivals[n]))
			break;
		if (!due)
			forgive(&arrivals[n]);
		atomic_store(&w->arrived, n + 1);
		came = true;
	}
	return came;
}

/* Does nothing if another thread is already in this function, or if the caller is a signal handler
 * that interrupted this function. */
bool rt_world_arrive(bool anyway)
{
	struct rt_giving *g = rt_giving();
	int saved = errno;
	bool came;

	if (atomic_exchange(&g->lock, 1))
		return false;
	came = arrive(anyway);
	if (!came && anyway)
		tidy_up();
	atomic_store(&g->lock, 0);
	errno = saved;
	return came;
}

/* ---- progress ---- */

static void pulse(void)
{
	struct rt_giving *g = rt_giving();

	atomic_fetch_add(&g->pulse, 1);
	if (atomic_load(&g->sleepers))
		rt_futex_wake(&g->pulse, INT32_MAX);
}

void rt_world_moves(struct rt_thread *t)
{
	(void)t;
	atomic_store(&rt_giving()->quiet, 0);
	pulse();
	RT_NOTIFY(came);
}

/* Returns the signals that the initial thread blocks.  The runtime may have blocked all signals
 * there for a moment. */
static uint64_t blocked_by_first(void)
{
	static const char word[] = "SigBlk:\t";
	char text[4096];
	uint64_t mask = 0;
	long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/status", O_RDONLY | O_CLOEXEC, 0), n, at = 0;

	n = fd < 0 ? 0 : syscall(SYS_read, fd, text, sizeof text);
	if (fd >= 0)
		syscall(SYS_close, fd);
	while (at + 25 < n && __builtin_memcmp(text + at, word, sizeof word - 1))
		at++;
	for (long i = at + (long)sizeof word - 1; at + 25 < n && i < at + 24; i++)
		mask = mask << 4 | (uint64_t)(text[i] <= '9' ? text[i] - '0' : text[i] - 'a' + 10);
	return mask;
}

/* Sends the signal to the thread that the kernel would choose.  That is the initial thread, unless
 * the program has blocked the signal there.  No program can block signal 32, which belongs to libc.
 * So if signal 32 is blocked, the runtime has blocked all signals for a moment. */
static void send_signal(uint32_t number)
{
	uint64_t blocked = blocked_by_first();

	if (blocked >> (number - 1) & 1 && !(blocked >> 31 & 1))
		syscall(SYS_kill, rt.pid, number);
	else
		syscall(SYS_tgkill, rt.pid, rt.pid, number);
}

static bool end_program(void)
{
	struct raddle_world *w = memory();

	if (!w->end_signal || atomic_exchange(&w->ended, 1))
		return false;
	atomic_fetch_add(&rt_giving()->interrupts, 1);
	send_signal(w->end_signal);
	return true;
}

static bool has_sent_all(void)
{
	return atomic_load(&memory()->sent) + atomic_load(&rt_giving()->debt) >= memory()->all_sent;
}

/* If a thread waits with a time limit, input is delayed at first, because the thread may send the
 * bytes that the next arrival waits for when its time limit expires. */
bool rt_world_idle(bool timed)
{
	struct rt_giving *g = rt_giving();

	if (rt_world_arrive(false))
		return true;
	if (timed && atomic_fetch_add(&g->quiet, 1) < (has_sent_all() ? TIMED : TIMED_MORE))
		return false;
	if (!rt_world_arrive(true))
		return end_program();
	atomic_store(&g->quiet, 0);
	return true;
}

/* ---- waiting ---- */

struct waiting {
	struct rt_thread *t;
	int64_t limit_ns; /* negative if there is no time limit */
	uint64_t begin, still_since;
	uint32_t pulse, interrupts;
};

enum waited { GOES_ON, OVER, INTERRUPTED };

static struct waiting begin_waiting(struct rt_thread *t, int64_t limit_ns)
{
	uint64_t now = rt_now();

	return (struct waiting){t,
				limit_ns,
				now,
				now,
				atomic_load(&rt_giving()->pulse),
				atomic_load(&rt_giving()->interrupts)};
}

/* Waits, if threads do not take turns, until something has changed or SLICE_MS have passed. */
static enum waited sleep_on(struct waiting *w)
{
	struct rt_giving *g = rt_giving();
	uint64_t now, still;

	atomic_fetch_add(&g->sleepers, 1);
	rt_futex_wait(&g->pulse, w->pulse, SLICE_MS);
	atomic_fetch_sub(&g->sleepers, 1);
	now = rt_now();
	if (w->pulse != atomic_load(&g->pulse))
		w->still_since = now;
	w->pulse = atomic_load(&g->pulse);
	still = now - w->still_since;
	if (still > QUIET_NS &&
	    (rt_world_arrive(true) || (still > (has_sent_all() ? END_NS : END_LATER_NS) && end_program()))) {
		w->still_since = now;
		pulse();
	}
	return w->limit_ns >= 0 && now - w->begin >= (uint64_t)w->limit_ns ? OVER : GOES_ON;
}

/* Returns true if a signal has interrupted the wait.  The initial thread handles signals that are
 * sent to the process, unless it blocks them. */
static bool is_interrupted(const struct waiting *w)
{
	return w->t->number == 0 && atomic_load(&rt_giving()->interrupts) != w->interrupts;
}

static enum waited wait_more(struct waiting *w)
{
	enum rt_idle how = RT_IS_NOT_IDLE;
	enum waited waited = GOES_ON;

	RT_NOTIFY(idles, w->t, w->limit_ns >= 0, &how);
	if (how == RT_IS_NOT_IDLE)
		waited = sleep_on(w);
	else if (how == RT_TIME_UP)
		waited = OVER;
	if (is_interrupted(w))
		return INTERRUPTED;
	if (waited == OVER)
		rt_world_passes((uint64_t)w->limit_ns);
	return waited;
}

/* Called when a poll found nothing and may not wait.  A thread that only polls lets others run now
 * and then, so that input arrives eventually. */
static void looks(struct rt_thread *t)
{
	uint32_t count = ++rt_replayed(t)->looks;
	bool others_ran = false;

	if (count % LOOKS == 0)
		RT_NOTIFY(yields, t, 0, &others_ran);
	if (count % LOOKS_MOST == 0)
		rt_world_idle(false);
}

int rt_world_polls(struct rt_thread *t, const struct rt_look *look, int64_t limit_ns)
{
	struct waiting w = begin_waiting(t, limit_ns);
	enum waited waited = GOES_ON;
	int r = 0;

	for (;;) {
		rt_world_arrive(false);
		r = look->look(look->context);
		if (r || waited == OVER)
			break;
		if (!limit_ns) {
			looks(t);
			return 0;
		}
		waited = wait_more(&w);
		if (waited == INTERRUPTED) {
			errno = EINTR;
			return -1;
		}
	}
	rt_replayed(t)->looks = 0;
	return r;
}

static int is_readable(void *context)
{
	struct pollfd fd = {*(const int *)context, POLLIN, 0};

	return (int)syscall(SYS_poll, &fd, 1, 0);
}

/* Returns true if the kernel would restart the call after the handler. */
static bool is_restarted(void)
{
	struct {
		void *handler;
		unsigned long flags;
		void *restorer;
		uint64_t mask;
	} action = {0};

	syscall(SYS_rt_sigaction, memory()->end_signal, NULL, &action, sizeof action.mask);
	return action.flags & SA_RESTART;
}

bool rt_world_awaits(struct rt_thread *t, int fd, bool never_waits)
{
	struct rt_look look = {.look = is_readable, .context = &fd};
	int saved = errno, r;

	never_waits |= (syscall(SYS_fcntl, fd, F_GETFL) & O_NONBLOCK) != 0;
	do
		r = rt_world_polls(t, &look, never_waits ? 0 : -1);
	while (r < 0 && errno == EINTR && is_restarted());
	if (r < 0 && errno == EINTR)
		return false;
	errno = saved;
	return true;
}
