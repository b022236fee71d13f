// SPDX-License-Identifier: Apache-2.0
/*
 * Kills the processes that a program left running.  It reads our children from /proc and kills all
 * except those that the caller keeps.
 *
 * A daemon leaves its process group and session, and its parent exits, but it cannot leave its
 * ancestors.  Orphans become children of an ancestor that has set PR_SET_CHILD_SUBREAPER.  So, by
 * killing our children until none are left, we kill all of them.  This code also runs in signal
 * handlers, so it uses only system calls.
 */
#include "run/orphan.h"

#include "base/error.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The largest number of rounds of killing.  It is limited because a program may fork faster than it
 * is killed. */
#define ROUNDS 1000

void run_orphans_adopt(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static size_t add_number(char *path, size_t at, unsigned number)
{
	char digits[16];
	size_t n = 0;

	do
		digits[n++] = (char)('0' + number % 10);
	while (number /= 10);
	while (n)
		path[at++] = digits[--n];
	return at;
}

static size_t add_text(char *path, size_t at, const char *text)
{
	while (*text)
		path[at++] = *text++;
	return at;
}

/* Opens "/proc/self/task/PID/children". */
static int open_children(void)
{
	char path[64] = "";
	size_t at = add_text(path, 0, "/proc/self/task/");

	add_text(path, add_number(path, at, (unsigned)getpid()), "/children");
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Removes the shared memory by which libomp announces itself to other copies of libomp in the
 * process.  libomp removes it at exit, but a killed process cannot. */
void run_left_remove(pid_t pid)
{
	char path[64] = "";
	size_t at = add_text(path, 0, "/dev/shm/__KMP_REGISTERED_LIB_");

	at = add_text(path, add_number(path, at, (unsigned)pid), "_");
	add_number(path, at, (unsigned)getuid());
	unlink(path);
}

static bool end_child(pid_t pid, const pid_t *keep, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (pid == keep[i])
			return false;
	if (!pid)
		return false;
	kill(pid, SIGKILL);
	if (waitpid(pid, NULL, 0) != pid)
		return false;
	run_left_remove(pid);
	return true;
}

/* Kills our children, except those in `keep`.  Returns true if there were any.  The last number in
 * the buffer may be cut off; the next round reads it in full. */
static bool end_children(const pid_t *keep, size_t count)
{
	char list[4096];
	int fd = open_children();
	ssize_t length = fd < 0 ? 0 : read(fd, list, sizeof list);
	bool any = false;
	pid_t pid = 0;

	if (fd >= 0)
		close(fd);
	for (ssize_t i = 0; i < length; i++) {
		if (list[i] >= '0' && list[i] <= '9') {
			pid = pid * 10 + (list[i] - '0');
			continue;
		}
		any |= end_child(pid, keep, count);
		pid = 0;
	}
	return any;
}

void run_orphans_end(const pid_t *keep, size_t count)
{
	RD_ASSERT(keep || !count);
	for (int i = 0; i < ROUNDS && end_children(keep, count); i++)
		;
}
