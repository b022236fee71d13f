// SPDX-License-Identifier: Apache-2.0
/*
 * Adapts memory limits that the program sets for itself.  In: calls of setrlimit(), getrlimit() and
 * prlimit() for its address space and its data.  Out: limits that leave room for the runtime's own
 * mappings.  A program that queries a limit gets the value that it set.
 *
 * The kernel counts the runtime's mappings as the program's.  Without this file, a program that
 * limits itself to 200 MB could start no thread, and a replay would be useless.  When the limit is
 * set, the size of the runtime's mappings so far is added to it.  Later mappings of the runtime
 * increase the limit.  If the hard limit may not be raised, the new limits do not exceed it.
 */
#include "rt/core/real.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	/* Bytes: about the size of the code of the runtime and the instrumentation. */
	CODE = 16 << 20
};
#define GROWTH (1ull << 40) /* bytes added to a hard limit, because it could not be raised later */

void rt_member_limit(void);
void rt_member_limit(void)
{
}

/* Returns the stored memory limit, or NULL if `which` is not a memory limit. */
static struct rt_limit *find(int which)
{
	return which == RLIMIT_AS ? &rt.limits[0] : which == RLIMIT_DATA ? &rt.limits[1] : NULL;
}

static uint64_t add(uint64_t value, uint64_t more)
{
	return value > RLIM_INFINITY - more ? RLIM_INFINITY : value + more;
}

static int change(int which, const struct rlimit *new, struct rlimit *old)
{
	return (int)syscall(SYS_prlimit64, 0, which, new, old);
}

/* Sets the limit that the program wants, plus room for the runtime. */
static int set(struct rt_limit *limit, int which, const struct rlimit *wanted)
{
	struct rlimit now,
		more = {add(wanted->rlim_cur, atomic_load(&rt.mapped) + CODE), add(wanted->rlim_max, GROWTH)};

	if (wanted->rlim_cur > wanted->rlim_max) {
		errno = EINVAL;
		return -1;
	}
	if (change(which, NULL, &now))
		return -1;
	if (more.rlim_max > now.rlim_max && wanted->rlim_max <= now.rlim_max)
		more.rlim_max = now.rlim_max; /* exceeding it takes a privilege */
	if (more.rlim_cur > more.rlim_max)
		more.rlim_cur = more.rlim_max;
	if (change(which, &more, NULL))
		return -1;
	*limit = (struct rt_limit){true, wanted->rlim_cur, wanted->rlim_max};
	return 0;
}

/* Returns true if the process has the privilege to raise its hard limit.  To find out, it raises
 * the kernel's limit, which is higher than the one that the program knows. */
static bool may_raise(int which)
{
	struct rlimit now, more;

	if (change(which, NULL, &now))
		return false;
	more = (struct rlimit){now.rlim_cur, add(now.rlim_max, 1)};
	return !change(which, &more, NULL);
}

static int use(int which, const struct rlimit *new, struct rlimit *old)
{
	struct rt_limit *limit = find(which);

	if (!limit || !rt.session)
		return change(which, new, old);
	if (old && limit->is_set)
		*old = (struct rlimit){limit->soft, limit->hard};
	else if (old && change(which, NULL, old))
		return -1;
	if (new && limit->is_set &&new->rlim_max > limit->hard && !may_raise(which))
		return -1;
	return new ? set(limit, which, new) : 0;
}

bool rt_make_room(size_t size)
{
	static const int which[] = {RLIMIT_AS, RLIMIT_DATA};
	bool made = false;

	for (int i = 0; i < 2; i++) {
		struct rlimit now;

		if (!rt.limits[i].is_set || change(which[i], NULL, &now) || now.rlim_cur == RLIM_INFINITY)
			continue;
		now.rlim_cur = add(now.rlim_cur, size);
		made |= now.rlim_cur <= now.rlim_max && !change(which[i], &now, NULL);
	}
	return made;
}

INTERPOSE(int, setrlimit, (__rlimit_resource_t which, const struct rlimit *new))
{
	return use((int)which, new, NULL);
}

INTERPOSE(int, setrlimit64, (__rlimit_resource_t which, const struct rlimit64 *new))
{
	return use((int)which, (const struct rlimit *)new, NULL);
}

INTERPOSE(int, getrlimit, (__rlimit_resource_t which, struct rlimit *old))
{
	return use((int)which, NULL, old);
}

INTERPOSE(int, getrlimit64, (__rlimit_resource_t which, struct rlimit64 *old))
{
	return use((int)which, NULL, (struct rlimit *)old);
}

static int use_of(pid_t pid, int which, const struct rlimit *new, struct rlimit *old)
{
	if (pid == 0 || pid == (pid_t)syscall(SYS_getpid))
		return use(which, new, old);
	return (int)syscall(SYS_prlimit64, pid, which, new, old);
}

INTERPOSE(int, prlimit,
	  (pid_t pid, enum __rlimit_resource which, const struct rlimit *new, struct rlimit *old))
{
	return use_of(pid, (int)which, new, old);
}

INTERPOSE(int, prlimit64,
	  (pid_t pid, enum __rlimit_resource which, const struct rlimit64 *new, struct rlimit64 *old))
{
	return use_of(pid, (int)which, (const struct rlimit *)new, (struct rlimit *)old);
}
