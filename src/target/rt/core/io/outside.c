// SPDX-License-Identifier: Apache-2.0
/*
 * Interposed functions whose results differ from run to run, such as the time, random numbers and
 * process IDs.  In: calls.  Out: the system's result, which is reported to a layer, or a recorded
 * result that a layer supplies (rt/core/io/outside.h).
 */
#include "rt/core/io/outside.h"
#include "rt/core/real.h"

#include <signal.h>
#include <sys/random.h>
#include <sys/time.h>
#include <time.h>

#define NS_PER_S 1000000000ull

void rt_member_outside(void);
void rt_member_outside(void)
{
}

/* ---- time ---- */

static bool is_clock(clockid_t clock)
{
	return clock >= 0 && clock < RADDLE_CLOCKS;
}

INTERPOSE(int, clock_gettime, (clockid_t clock, struct timespec *time))
{
	uint64_t ns;
	int r;

	if (is_clock(clock) && rt_outside_gives((enum raddle_source)clock, &ns)) {
		*time = (struct timespec){(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
		return 0;
	}
	r = REAL(clock_gettime)(clock, time);
	if (!r && is_clock(clock))
		RT_OUTSIDE(says, (enum raddle_source)clock,
			   (uint64_t)time->tv_sec * NS_PER_S + (uint64_t)time->tv_nsec);
	return r;
}

/* The header declares the pointer to be non-null, but the kernel accepts NULL. */
INTERPOSE(int, gettimeofday, (struct timeval *restrict time, void *restrict zone))
{
	const struct timeval *volatile place = time;
	bool plain = place && !zone;
	uint64_t ns;
	int r;

	if (plain && rt_outside_gives(RADDLE_SOURCE_TIMEOFDAY, &ns)) {
		*time = (struct timeval){(time_t)(ns / NS_PER_S), (suseconds_t)(ns % NS_PER_S / 1000)};
		return 0;
	}
	r = REAL(gettimeofday)(time, zone);
	if (!r && plain)
		RT_OUTSIDE(says, RADDLE_SOURCE_TIMEOFDAY,
			   (uint64_t)time->tv_sec * NS_PER_S + (uint64_t)time->tv_usec * 1000);
	return r;
}

INTERPOSE(time_t, time, (time_t * time))
{
	uint64_t value;
	time_t now;

	if (rt_outside_gives(RADDLE_SOURCE_TIME, &value)) {
		if (time)
			*time = (time_t)value;
		return (time_t)value;
	}
	now = REAL(time)(time);
	RT_OUTSIDE(says, RADDLE_SOURCE_TIME, (uint64_t)now);
	return now;
}

INTERPOSE(int, timespec_get, (struct timespec * time, int base))
{
	uint64_t ns;
	int r;

	if (base == TIME_UTC && rt_outside_gives(RADDLE_SOURCE_REALTIME, &ns)) {
		*time = (struct timespec){(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
		return base;
	}
	r = REAL(timespec_get)(time, base);
	if (r == TIME_UTC)
		RT_OUTSIDE(says, RADDLE_SOURCE_REALTIME,
			   (uint64_t)time->tv_sec * NS_PER_S + (uint64_t)time->tv_nsec);
	return r;
}

/* Defines a function without arguments whose result is a number. */
#define ASK(type, name, source)                                                                              \
	INTERPOSE(type, name, (void))                                                                        \
	{                                                                                                    \
		uint64_t value;                                                                              \
		type r;                                                                                      \
                                                                                                             \
		if (rt_outside_gives(source, &value))                                                        \
			return (type)value;                                                                  \
		r = REAL(name)();                                                                            \
		RT_OUTSIDE(says, source, (uint64_t)r);                                                       \
		return r;                                                                                    \
	}
ASK(clock_t, clock, RADDLE_SOURCE_CLOCK)
ASK(pid_t, getppid, RADDLE_SOURCE_PARENT_PID)
#undef ASK

/* The bounds of the executable's code, which includes the runtime. */
extern const char __executable_start[] __attribute__((weak)), etext[] __attribute__((weak));

/* Libraries get the real process ID, since they use it in names that other processes can see.
 * libomp, for example, uses it to name its shared memory, which must differ in each run. */
static bool is_of_program(const void *caller)
{
	return (const char *)caller >= __executable_start && (const char *)caller < etext;
}

/* Returns the ID of this process.  In a copy of a frozen process, returns the ID that the program
 * already knows.  (`alive` is 0 in the child of a bare fork.) */
static pid_t own_process(void)
{
	rt.asked_pid = true;
	return rt.copied_pid && rt_guard.alive ? rt.copied_pid : REAL(getpid)();
}

/* The program may later use this ID to send itself a signal.  Then rt/core/io/kernel.c replaces it
 * by the real ID. */
INTERPOSE(pid_t, getpid, (void))
{
	uint64_t value;
	pid_t r;

	if (!is_of_program(__builtin_return_address(0)))
		return own_process();
	if (rt_outside_gives(RADDLE_SOURCE_PID, &value)) {
		rt.replayed_pid = (pid_t)value;
		return (pid_t)value;
	}
	r = own_process();
	RT_OUTSIDE(says, RADDLE_SOURCE_PID, (uint64_t)r);
	return r;
}

/* ---- random numbers ---- */

INTERPOSE(ssize_t, getrandom, (void *to, size_t size, unsigned flags))
{
	ssize_t r;

	if (rt_outside_gives_random(to, size))
		return (ssize_t)size;
	r = REAL(getrandom)(to, size, flags);
	if (r > 0)
		RT_OUTSIDE(says_random, to, (size_t)r);
	return r;
}

INTERPOSE(int, getentropy, (void *to, size_t size))
{
	int r;

	if (rt_outside_gives_random(to, size))
		return 0;
	r = REAL(getentropy)(to, size);
	if (!r)
		RT_OUTSIDE(says_random, to, size);
	return r;
}

/* ---- sockets ---- */

INTERPOSE(int, getsockname, (int fd, __SOCKADDR_ARG address, socklen_t *restrict length))
{
	return rt_outside_names(fd, false, address.__sockaddr__, length)
		       ? 0
		       : REAL(getsockname)(fd, address, length);
}

INTERPOSE(int, getpeername, (int fd, __SOCKADDR_ARG address, socklen_t *restrict length))
{
	return rt_outside_names(fd, true, address.__sockaddr__, length)
		       ? 0
		       : REAL(getpeername)(fd, address, length);
}

INTERPOSE(int, getsockopt, (int fd, int level, int name, void *restrict value, socklen_t *restrict length))
{
	struct rt_thread *t = rt_outside_self();
	struct iovec place = {value, length ? *length : 0};

	if (t && rt.outside->has_option && value && length &&
	    rt.outside->has_option(t, fd, (const int[]){level, name}, &place)) {
		*length = (socklen_t)place.iov_len;
		return 0;
	}
	return REAL(getsockopt)(fd, level, name, value, length);
}

INTERPOSE(int, setsockopt, (int fd, int level, int name, const void *value, socklen_t length))
{
	struct rt_thread *t = rt_outside_self();

	if (t && rt.outside->has_option && rt.outside->has_option(t, fd, (const int[]){level, name}, NULL))
		return 0;
	return REAL(setsockopt)(fd, level, name, value, length);
}
