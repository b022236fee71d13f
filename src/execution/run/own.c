// SPDX-License-Identifier: Apache-2.0
/*
 * Decides what can wake a thread that waits on descriptors.  It examines the thread's system call
 * and its arguments, the names and properties of descriptors in /proc, and copies of sockets
 * (pidfd_getfd()), to tell whether only the process itself can wake the thread.  The process is
 * neither stopped nor changed.
 *
 * Descriptors that are not known to be private may become ready from outside: terminals, files,
 * timers, signalfd, listening sockets, named datagram sockets, and sockets with peers elsewhere.
 * The kernel itself can advance an event counter, for asynchronous requests, so processes with
 * such requests are not examined.
 */
#include "run/own.h"

#include "run/proc.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

/* Sizes in bytes, including the terminating zero. */
enum {
	PATH_SIZE = 64,	 /* a path in /proc: two numbers and two words */
	NAME_SIZE = 64,	 /* the kernel's name of a descriptor that is not a file */
	TEXT_SIZE = 512, /* the first lines of a file in /proc; more is not needed */
};

enum {
	/* Maximum number of descriptors of a poll() that is examined.  A call with more descriptors
	 * is treated as unknown.  Chosen by hand. */
	POLL_MAX = 4096,
	EPOLL_DEPTH = 4 /* maximum depth of nested epoll sets, as EP_MAX_NESTS in the kernel */
};

/* ---- names and properties of descriptors ---- */

/* Reads the name of a descriptor.  Returns false if it does not exist or may not be read. */
static bool name_of(pid_t pid, int fd, char name[NAME_SIZE])
{
	char path[PATH_SIZE];
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, fd);
	n = readlink(path, name, NAME_SIZE - 1);
	name[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static FILE *open_facts(pid_t pid, int fd)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", (int)pid, fd);
	return fopen(path, "re");
}

/* Returns the number of an event counter, or -1 if the descriptor is not one.  All event counters
 * have the same name, so only their numbers identify them. */
static long counter_of(pid_t pid, int fd)
{
	FILE *in = open_facts(pid, fd);
	char line[TEXT_SIZE];
	long id = -1;

	while (in && fgets(line, sizeof line, in))
		if (sscanf(line, "eventfd-id: %ld", &id) == 1)
			break;
	if (in)
		fclose(in);
	return id;
}

/* A descriptor to look for among those of all processes. */
struct wanted {
	const char *name;
	/* The number of an event counter; -1 for other descriptors, whose names are unique. */
	long counter;
};

static bool is_wanted(pid_t pid, int fd, const struct wanted *w)
{
	char name[NAME_SIZE];

	return name_of(pid, fd, name) && strcmp(name, w->name) == 0 &&
	       (w->counter < 0 || counter_of(pid, fd) == w->counter);
}

/* Returns true if a process has the wanted descriptor.  If we may not inspect the process, returns
 * true if it is an ancestor or a descendant of `looked_at`, the process under examination, because
 * one of the two could then have inherited the descriptor from the other. */
static bool has(pid_t pid, pid_t looked_at, const struct wanted *w)
{
	const struct dirent *entry;
	char path[PATH_SIZE];
	bool found = false;
	DIR *d;

	snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
	d = opendir(path);
	if (!d)
		return errno != ENOENT &&
		       (run_process_descends(pid, looked_at) || run_process_descends(looked_at, pid));
	while (!found && (entry = readdir(d)))
		found = entry->d_name[0] != '.' && is_wanted(pid, atoi(entry->d_name), w);
	closedir(d);
	return found;
}

static bool others_have(pid_t pid, const struct wanted *w)
{
	const struct dirent *entry;
	DIR *d = opendir("/proc");
	bool found = !d;

	while (!found && (entry = readdir(d))) {
		pid_t other = (pid_t)atoi(entry->d_name);
		found = other > 0 && other != pid && has(other, pid, w);
	}
	if (d)
		closedir(d);
	return found;
}

static bool is_aio(void *context, const struct run_mapping *mapping)
{
	(void)context;
	return strncmp(mapping->name, "/[aio]", 6) == 0;
}

/* Returns true if the kernel may advance an event counter of the process. */
static bool has_requests(pid_t pid)
{
	return has(pid, pid, &(struct wanted){"anon_inode:[io_uring]", -1}) ||
	       run_process_mappings(pid, is_aio, NULL);
}

/* ---- sockets ---- */

static int copy_descriptor(pid_t pid, int fd)
{
	int process = (int)syscall(SYS_pidfd_open, pid, 0), copy = -1;

	if (process >= 0) {
		copy = (int)syscall(SYS_pidfd_getfd, process, fd, 0);
		close(process);
	}
	return copy;
}

static bool has_time_limit(int fd)
{
	static const int options[] = {SO_RCVTIMEO, SO_SNDTIMEO};

	for (int i = 0; i < 2; i++) {
		struct timeval limit = {0};
		socklen_t size = sizeof limit;

		if (getsockopt(fd, SOL_SOCKET, options[i], &limit, &size) || limit.tv_sec || limit.tv_usec)
			return true;
	}
	return false;
}

/* Returns true if the socket has no name, so that only its peer can send to it. */
static bool is_unnamed(int fd)
{
	struct sockaddr_un address = {0};
	socklen_t size = sizeof address;

	return !getsockname(fd, (struct sockaddr *)&address, &size) && address.sun_family == AF_UNIX &&
	       size <= offsetof(struct sockaddr_un, sun_path);
}

struct peer_request {
	struct nlmsghdr head;
	struct unix_diag_req body;
};

static uint32_t peer_in(const struct nlmsghdr *head, size_t size)
{
	const struct unix_diag_msg *body = NLMSG_DATA(head);
	struct rtattr *a = (struct rtattr *)((char *)body + NLMSG_ALIGN(sizeof *body));
	int left = (int)size - (int)NLMSG_LENGTH(sizeof *body);

	if (size < NLMSG_LENGTH(sizeof *body) || head->nlmsg_len > size ||
	    head->nlmsg_type != SOCK_DIAG_BY_FAMILY)
		return 0;
	for (; RTA_OK(a, left); a = RTA_NEXT(a, left))
		if (a->rta_type == UNIX_DIAG_PEER && RTA_PAYLOAD(a) >= sizeof(uint32_t))
			return *(uint32_t *)RTA_DATA(a);
	return 0;
}

/* Returns the inode number of a Unix socket's peer, or 0 if it is unknown. */
static uint32_t peer_of(uint32_t number)
{
	struct peer_request request = {.head = {.nlmsg_len = sizeof request,
						.nlmsg_type = SOCK_DIAG_BY_FAMILY,
						.nlmsg_flags = NLM_F_REQUEST},
				       .body = {.sdiag_family = AF_UNIX,
						.udiag_states = UINT32_MAX,
						.udiag_ino = number,
						.udiag_show = UDIAG_SHOW_PEER,
						.udiag_cookie = {UINT32_MAX, UINT32_MAX}}};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	_Alignas(struct nlmsghdr) char answer[TEXT_SIZE];
	uint32_t peer = 0;
	ssize_t n;

	if (fd < 0)
		return 0;
	if (send(fd, &request, sizeof request, 0) == (ssize_t)sizeof request) {
		n = recv(fd, answer, sizeof answer, 0);
		peer = n >= (ssize_t)sizeof(struct nlmsghdr) ? peer_in((struct nlmsghdr *)answer, (size_t)n)
							     : 0;
	}
	close(fd);
	return peer;
}

/* Returns true if the socket is one end of a socket pair, and no other process has either end. */
static bool is_own_socket(pid_t pid, int fd, const char *name)
{
	struct wanted this = {name, -1}, that = {NULL, -1};
	int copy = copy_descriptor(pid, fd);
	char other[NAME_SIZE];
	uint32_t number, peer = 0;

	if (copy < 0)
		return false;
	if (!has_time_limit(copy) && is_unnamed(copy) && sscanf(name, "socket:[%" SCNu32, &number) == 1)
		peer = peer_of(number);
	close(copy);
	if (!peer)
		return false;
	snprintf(other, sizeof other, "socket:[%" PRIu32 "]", peer);
	that.name = other;
	return has(pid, pid, &that) && !others_have(pid, &this) && !others_have(pid, &that);
}

/* ---- descriptors ---- */

static bool is_own(pid_t pid, int fd, int depth);

/* Reads the kernel's description of an epoll set: the descriptors, and which files they referred to
 * when they were added. */
static bool is_own_set(pid_t pid, int fd, int depth)
{
	FILE *in = depth < EPOLL_DEPTH ? open_facts(pid, fd) : NULL;
	char line[TEXT_SIZE], path[PATH_SIZE];
	bool own = in, any = false;
	int member;
	uint64_t file;
	struct stat now;

	while (own && fgets(line, sizeof line, in)) {
		if (sscanf(line, "tfd: %d events: %*x data: %*x pos:%*d ino:%" SCNx64, &member, &file) != 2)
			continue;
		any = true;
		snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, member);
		own = !stat(path, &now) && now.st_ino == file && is_own(pid, member, depth + 1);
	}
	if (in)
		fclose(in);
	return own && any;
}

static bool is_own(pid_t pid, int fd, int depth)
{
	char name[NAME_SIZE];

	if (fd < 0 || !name_of(pid, fd, name))
		return false;
	if (strncmp(name, "pipe:[", 6) == 0)
		return !others_have(pid, &(struct wanted){name, -1});
	if (strncmp(name, "socket:[", 8) == 0)
		return is_own_socket(pid, fd, name);
	if (strcmp(name, "anon_inode:[eventpoll]") == 0)
		return is_own_set(pid, fd, depth);
	if (strcmp(name, "anon_inode:[eventfd]") == 0) {
		struct wanted w = {name, counter_of(pid, fd)};

		return w.counter >= 0 && !has_requests(pid) && !others_have(pid, &w);
	}
	return false;
}

/* ---- system calls ---- */

static bool polls_own(pid_t pid, uint64_t at, uint64_t count)
{
	struct pollfd p;
	bool any = false;

	for (uint64_t i = 0; i < count; i++) {
		if (count > POLL_MAX || !run_process_peek(pid, at + i * sizeof p, &p, sizeof p))
			return false;
		if (p.fd < 0)
			continue;
		if (!is_own(pid, p.fd, 0))
			return false;
		any = true;
	}
	return any;
}

static bool selects_own(pid_t pid, const struct run_call *c)
{
	uint64_t count = c->argument[0] < FD_SETSIZE ? c->argument[0] : FD_SETSIZE;
	bool any = false;
	fd_set set;

	for (int which = 1; which <= 3; which++) {
		if (!c->argument[which])
			continue;
		if (!run_process_peek(pid, c->argument[which], &set, (count + 63) / 64 * 8))
			return false;
		for (uint64_t fd = 0; fd < count; fd++) {
			if (!FD_ISSET((int)fd, &set))
				continue;
			if (!is_own(pid, (int)fd, 0))
				return false;
			any = true;
		}
	}
	return any;
}

bool run_waits_for_own(pid_t pid, pid_t tid)
{
	struct run_call c;

	if (!run_task_call(pid, tid, &c))
		return false;
	switch (c.number) {
	case SYS_read:
	case SYS_readv:
	case SYS_write:
	case SYS_writev:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_sendto:
	case SYS_sendmsg: return is_own(pid, (int)c.argument[0], 0);
#ifdef SYS_poll
	case SYS_poll: return (int)c.argument[2] < 0 && polls_own(pid, c.argument[0], c.argument[1]);
	case SYS_select: return !c.argument[4] && selects_own(pid, &c);
	case SYS_epoll_wait:
#endif
	case SYS_epoll_pwait: return (int)c.argument[3] < 0 && is_own(pid, (int)c.argument[0], 0);
	case SYS_ppoll: return !c.argument[2] && polls_own(pid, c.argument[0], c.argument[1]);
	case SYS_pselect6: return !c.argument[4] && selects_own(pid, &c);
	default: return false;
	}
}
