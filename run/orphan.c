// SPDX-License-Identifier: Apache-2.0
/*
 * What a program leaves behind.  In: our children, by /proc.  Out: none but one is left.
 *
 * A daemon leaves its process group and session, and its parent ends: what it cannot leave is the line of its
 * ancestors.  Who has adopted orphans (PR_SET_CHILD_SUBREAPER) gets them as children, so killing children
 * until there are none ends all.  A signal handler may come here: there are system calls and nothing else.
 */
#include "run/orphan.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 1000 /* a program that forks faster than it is killed is left alone */

void run_orphans_adopt(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* "/proc/self/task/PID/children" */
static int open_children(void)
{
	char path[64] = "/proc/self/task/", digits[16];
	static const char end[] = "/children";
	size_t n = 0, at = 16;

	for (unsigned rest = (unsigned)getpid(); rest; rest /= 10)
		digits[n++] = (char)('0' + rest % 10);
	while (n)
		path[at++] = digits[--n];
	for (size_t i = 0; i < sizeof end; i++)
		path[at++] = end[i];
	return open(path, O_RDONLY | O_CLOEXEC);
}

static bool end_child(pid_t pid, pid_t but)
{
	if (!pid || pid == but)
		return false;
	kill(pid, SIGKILL);
	return waitpid(pid, NULL, 0) == pid;
}

/* Whether there were any.  A number at the end of what was read may go on; the next round reads it whole. */
static bool end_children(pid_t but)
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
		any |= end_child(pid, but);
		pid = 0;
	}
	return any;
}

void run_orphans_end(pid_t but)
{
	for (int i = 0; i < ROUNDS && end_children(but); i++)
		;
}
