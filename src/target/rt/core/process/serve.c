// SPDX-License-Identifier: Apache-2.0
/*
 * Clones a loaded process instead of starting it anew.  In: the descriptor that the process
 * inherited.  Out: the descriptor of a session.
 *
 * Loading a small program costs more than running it.  A tool that runs the program many times
 * passes it a socket instead of a session.  The process then waits here, loaded but before any code
 * of the program has run.  It clones itself for each session that arrives through the socket.  The
 * clone is a child of the tool, not of this process.  It continues as if it had just been started:
 * it runs the constructors, and has its own threads and input.
 *
 * fork() is not used, because its handlers expect a running program.  So this file has to do what
 * fork() does for libc: it tells the kernel where libc keeps the thread's ID and its list of robust
 * mutexes.
 */
#include "rt/core/layer.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

/* The addresses that libc registered with the kernel for the initial thread. */
struct thread_words {
	void *id;
	void *robust;
	size_t robust_size;
};

static bool find_words(struct thread_words *w)
{
	return !prctl(PR_GET_TID_ADDRESS, &w->id) && w->id &&
	       !syscall(SYS_get_robust_list, 0L, &w->robust, &w->robust_size);
}

/* Receives the descriptors of a request: the session, then those that become stdin, stdout and
 * stderr.  Returns 0 if the other side has closed the socket, and a negative value on an error. */
static long take_request(int socket, int fds[RADDLE_SERVE_FDS], int *count)
{
	char byte;
	struct iovec part = {&byte, 1};
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(RADDLE_SERVE_FDS * sizeof(int))];
	} control;
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
	long r = syscall(SYS_recvmsg, socket, &message, 0L);

	*count = 0;
	if (r > 0 && message.msg_controllen >= CMSG_LEN(sizeof(int)) &&
	    control.header.cmsg_type == SCM_RIGHTS) {
		*count = (int)((control.header.cmsg_len - CMSG_LEN(0)) / sizeof(int));
		__builtin_memcpy(fds, CMSG_DATA(&control.header), (size_t)*count * sizeof(int));
	}
	return r;
}

/* Runs in the clone.  From now on the kernel kills the clone when its parent, the tool, dies. */
static int begin_copy(int socket, const int *fds, int count, const struct thread_words *w)
{
	syscall(SYS_set_robust_list, w->robust, w->robust_size);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	syscall(SYS_close, socket);
	for (int i = 1; i < count; i++) { /* no fds[i] is 0, 1 or 2, since these are open */
		syscall(SYS_dup2, fds[i], i - 1);
		syscall(SYS_close, fds[i]);
	}
	return fds[0];
}

int rt_serve(int fd)
{
	struct thread_words words;
	int fds[RADDLE_SERVE_FDS], count, saved = errno;
	int32_t pid;
	long r;

	while ((r = take_request(fd, fds, &count)) > 0) {
		if (!count)
			continue;
		pid = find_words(&words) ? (int32_t)syscall(SYS_clone,
							    CLONE_PARENT | CLONE_CHILD_SETTID |
								    CLONE_CHILD_CLEARTID | SIGCHLD,
							    0L, NULL, words.id, 0L)
					 : -1;
		if (pid == 0)
			return begin_copy(fd, fds, count, &words);
		for (int i = 0; i < count; i++)
			syscall(SYS_close, fds[i]);
		syscall(SYS_write, fd, &pid, sizeof pid);
	}
	if (r == 0 || errno != ENOTSOCK)
		syscall(SYS_exit_group, 0L);
	errno = saved;
	return fd;
}
