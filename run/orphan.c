// SPDX-License-Identifier: Apache-2.0
/*
 * What a program leaves behind.  In: our children, by /proc.  Out: none but one is left.
 *
 * A daemon leaves its process group and session, and its parent ends: what it cannot leave is the line of its
 * ancestors.  Who has adopted orphans (PR_SET_CHILD_SUBREAPER) gets them as children, so killing children
 * until there are none ends all.
 */
#include "run/orphan.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 1000 /* a program that forks faster than it is killed is left alone */

void run_orphans_adopt(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* Whether there were any. */
static bool end_children(pid_t but)
{
	char *path = rd_xasprintf("/proc/self/task/%d/children", (int)getpid());
	struct rd_buf list = RD_BUF_INIT;
	bool any = false;

	if (rd_file_exists(path) && rd_file_read(path, &list) == 0) {
		char *at = list.data;
		for (long pid; at && (pid = strtol(at, &at, 10)) > 0;) {
			if (pid == but)
				continue;
			kill((pid_t)pid, SIGKILL);
			any |= waitpid((pid_t)pid, NULL, 0) == pid;
		}
	}
	rd_buf_release(&list);
	free(path);
	return any;
}

void run_orphans_end(pid_t but)
{
	for (int i = 0; i < ROUNDS && end_children(but); i++)
		;
}
