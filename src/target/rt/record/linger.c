// SPDX-License-Identifier: Apache-2.0
/*
 * Delays the end of a process that still has threads.
 *
 * Threads that were not joined are killed when the process ends, often before they have done
 * anything.  So the process waits here while another thread runs.  In this way, more of what those
 * threads do is recorded.
 *
 * In: the state of the threads in /proc.  The process does not wait for sleeping threads, because a
 * thread that waits for work, or for the thread that ends the process, would never wake up.  If a
 * thread never sleeps, the wait ends after LONGEST_NS, or after MOST_OPERATIONS operations, since
 * more of them would hide the interesting part of the trace.
 */
#include "rt/core/rt.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STEP_NS 500000l		 /* the time between two checks */
#define LONGEST_NS 1000000000ull /* the maximum delay of the end of a process */
#define MOST_OPERATIONS 10000	 /* maximum number of operations of all threads during the wait */
/* the number of checks in a row that must find no running thread, since a thread may sleep for a
 * moment */
#define LOOKS 2

static void read_at(int directory, const char *name, char *text, size_t size)
{
	int fd = (int)syscall(SYS_openat, directory, name, O_RDONLY | O_CLOEXEC);
	long got = fd < 0 ? -1 : syscall(SYS_read, fd, text, size - 1);

	if (fd >= 0)
		syscall(SYS_close, fd);
	text[got > 0 ? got : 0] = 0;
}

/* Returns the state of a thread.  It follows the last closing parenthesis, since the name before it
 * may contain parentheses too. */
static char state_in(const char *stat)
{
	const char *name_end = NULL;

	for (; *stat; stat++)
		if (*stat == ')')
			name_end = stat;
	return name_end && name_end[1] ? name_end[2] : 0;
}

/* Returns true if the thread is running or runnable.  `number` is its ID as text. */
static bool runs(int tasks, const char *number)
{
	static const char file[] = "/stat";
	char name[32], text[256], state;
	size_t length = 0;

	for (; number[length] && length < sizeof name - sizeof file; length++)
		name[length] = number[length];
	for (size_t i = 0; i < sizeof file; i++)
		name[length + i] = file[i];
	read_at(tasks, name, text, sizeof text);
	state = state_in(text);
	return state == 'R' || state == 'D';
}

static bool is_self(const char *number, long self)
{
	long n = 0;

	for (; *number; number++)
		n = n * 10 + (*number - '0');
	return n == self;
}

static bool others_run(int tasks, long self)
{
	_Alignas(struct dirent64) char entries[2048];
	long size;

	syscall(SYS_lseek, tasks, 0l, SEEK_SET);
	while ((size = syscall(SYS_getdents64, tasks, entries, sizeof entries)) > 0) {
		for (long at = 0; at < size;) {
			struct dirent64 *entry = (struct dirent64 *)(void *)(entries + at);

			at += entry->d_reclen;
			if (entry->d_name[0] != '.' && !is_self(entry->d_name, self) &&
			    runs(tasks, entry->d_name))
				return true;
		}
	}
	return false;
}

static void wait_for(int tasks)
{
	const struct timespec step = {.tv_nsec = STEP_NS};
	long self = rt_kernel_tid();
	uint64_t start = rt_now(), sequence = atomic_load(&rt.session->sequence);

	for (int still = 0; still < LOOKS && rt_now() - start < LONGEST_NS;) {
		syscall(SYS_nanosleep, &step, NULL);
		still = others_run(tasks, self) ? 0 : still + 1;
		if (atomic_load(&rt.session->sequence) - sequence > MOST_OPERATIONS)
			return;
	}
}

void rt_linger(void)
{
	int saved = errno, tasks;

	if (!rt.session || atomic_load(&rt.others) == 0)
		return;
	tasks = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (tasks >= 0) {
		wait_for(tasks);
		syscall(SYS_close, tasks);
	}
	errno = saved;
}
