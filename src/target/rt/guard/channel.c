// SPDX-License-Identifier: Apache-2.0
/*
 * Records how the kernel orders threads, through pipes, sockets, eventfds and signals.  The runtime
 * does not determine which thread is at the other end.  A thread that has received something is
 * treated as possibly ordered after every thread that has sent something.
 */
#include "rt/guard/real.h"

#include <stdarg.h>
#include <sys/syscall.h>

#define TAKES(type, call, fd)                                                                                \
	do {                                                                                                 \
		type r = call;                                                                               \
		if (guard_tracks())                                                                          \
			guard_note_descriptor(fd, false);                                                    \
		return r;                                                                                    \
	} while (0)

#define GIVES(call, fd)                                                                                      \
	do {                                                                                                 \
		if (guard_tracks())                                                                          \
			guard_note_descriptor(fd, true);                                                     \
		return call;                                                                                 \
	} while (0)

enum { ANY = -1 };

INTERPOSE(ssize_t, read, (int fd, void *to, size_t size))
{
	TAKES(ssize_t, REAL(read)(fd, to, size), fd);
}

INTERPOSE(ssize_t, pread, (int fd, void *to, size_t size, off_t at))
{
	TAKES(ssize_t, REAL(pread)(fd, to, size, at), fd);
}

INTERPOSE(ssize_t, pread64, (int fd, void *to, size_t size, off64_t at))
{
	TAKES(ssize_t, REAL(pread64)(fd, to, size, at), fd);
}

INTERPOSE(ssize_t, readv, (int fd, const struct iovec *to, int count))
{
	TAKES(ssize_t, REAL(readv)(fd, to, count), fd);
}

INTERPOSE(ssize_t, recv, (int fd, void *to, size_t size, int flags))
{
	TAKES(ssize_t, REAL(recv)(fd, to, size, flags), fd);
}

INTERPOSE(ssize_t, recvfrom,
	  (int fd, void *to, size_t size, int flags, __SOCKADDR_ARG from, socklen_t *length))
{
	TAKES(ssize_t, REAL(recvfrom)(fd, to, size, flags, from, length), fd);
}

INTERPOSE(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags))
{
	TAKES(ssize_t, REAL(recvmsg)(fd, message, flags), fd);
}

INTERPOSE(int, accept, (int fd, __SOCKADDR_ARG address, socklen_t *length))
{
	TAKES(int, REAL(accept)(fd, address, length), fd);
}

INTERPOSE(int, accept4, (int fd, __SOCKADDR_ARG address, socklen_t *length, int flags))
{
	TAKES(int, REAL(accept4)(fd, address, length, flags), fd);
}

INTERPOSE(int, poll, (struct pollfd * fds, nfds_t count, int time))
{
	TAKES(int, REAL(poll)(fds, count, time), ANY);
}

INTERPOSE(int, ppoll, (struct pollfd * fds, nfds_t count, const struct timespec *time, const sigset_t *mask))
{
	TAKES(int, REAL(ppoll)(fds, count, time, mask), ANY);
}

INTERPOSE(int, select, (int count, fd_set *in, fd_set *out, fd_set *other, struct timeval *time))
{
	TAKES(int, REAL(select)(count, in, out, other, time), ANY);
}

INTERPOSE(int, pselect,
	  (int count, fd_set *in, fd_set *out, fd_set *other, const struct timespec *time,
	   const sigset_t *mask))
{
	TAKES(int, REAL(pselect)(count, in, out, other, time, mask), ANY);
}

INTERPOSE(int, epoll_wait, (int fd, struct epoll_event *events, int count, int time))
{
	TAKES(int, REAL(epoll_wait)(fd, events, count, time), ANY);
}

INTERPOSE(int, epoll_pwait, (int fd, struct epoll_event *events, int count, int time, const sigset_t *mask))
{
	TAKES(int, REAL(epoll_pwait)(fd, events, count, time, mask), ANY);
}

INTERPOSE(int, eventfd_read, (int fd, eventfd_t *value))
{
	TAKES(int, REAL(eventfd_read)(fd, value), fd);
}

INTERPOSE(ssize_t, write, (int fd, const void *from, size_t size))
{
	GIVES(REAL(write)(fd, from, size), fd);
}

INTERPOSE(ssize_t, pwrite, (int fd, const void *from, size_t size, off_t at))
{
	GIVES(REAL(pwrite)(fd, from, size, at), fd);
}

INTERPOSE(ssize_t, pwrite64, (int fd, const void *from, size_t size, off64_t at))
{
	GIVES(REAL(pwrite64)(fd, from, size, at), fd);
}

INTERPOSE(ssize_t, writev, (int fd, const struct iovec *from, int count))
{
	GIVES(REAL(writev)(fd, from, count), fd);
}

INTERPOSE(ssize_t, send, (int fd, const void *from, size_t size, int flags))
{
	GIVES(REAL(send)(fd, from, size, flags), fd);
}

INTERPOSE(ssize_t, sendto,
	  (int fd, const void *from, size_t size, int flags, __CONST_SOCKADDR_ARG to, socklen_t length))
{
	GIVES(REAL(sendto)(fd, from, size, flags, to, length), fd);
}

INTERPOSE(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags))
{
	GIVES(REAL(sendmsg)(fd, message, flags), fd);
}

INTERPOSE(int, connect, (int fd, __CONST_SOCKADDR_ARG to, socklen_t length))
{
	GIVES(REAL(connect)(fd, to, length), fd);
}

INTERPOSE(int, shutdown, (int fd, int how))
{
	GIVES(REAL(shutdown)(fd, how), fd);
}

INTERPOSE(int, close, (int fd))
{
	GIVES(REAL(close)(fd), fd);
}

INTERPOSE(int, eventfd_write, (int fd, eventfd_t value))
{
	GIVES(REAL(eventfd_write)(fd, value), fd);
}

INTERPOSE(int, kill, (pid_t process, int signal))
{
	GIVES(REAL(kill)(process, signal), ANY);
}

INTERPOSE(int, pthread_kill, (pthread_t thread, int signal))
{
	GIVES(REAL(pthread_kill)(thread, signal), ANY);
}

INTERPOSE(int, sigqueue, (pid_t process, int signal, const union sigval value))
{
	GIVES(REAL(sigqueue)(process, signal, value), ANY);
}

INTERPOSE(int, pthread_sigqueue, (pthread_t thread, int signal, const union sigval value))
{
	GIVES(REAL(pthread_sigqueue)(thread, signal, value), ANY);
}

INTERPOSE(int, sigwait, (const sigset_t *set, int *signal))
{
	TAKES(int, REAL(sigwait)(set, signal), ANY);
}

INTERPOSE(int, sigwaitinfo, (const sigset_t *set, siginfo_t *info))
{
	TAKES(int, REAL(sigwaitinfo)(set, info), ANY);
}

INTERPOSE(int, sigtimedwait, (const sigset_t *set, siginfo_t *info, const struct timespec *time))
{
	TAKES(int, REAL(sigtimedwait)(set, info, time), ANY);
}

/* Records a system call that the program makes by its number.  It may be a call for which this file
 * interposes a function, or another call by which the kernel may order threads, such as futex(). */
static void note_call(long number, int fd, bool leaving)
{
	static const uint16_t takes[] = {SYS_read,   SYS_readv,	  SYS_recvfrom, SYS_recvmsg,
					 SYS_accept, SYS_accept4, SYS_pread64,	SYS_recvmmsg};
	static const uint16_t gives[] = {SYS_write, SYS_writev,	  SYS_sendto,	SYS_sendmsg, SYS_connect,
					 SYS_close, SYS_shutdown, SYS_sendmmsg, SYS_pwrite64};
	static const uint16_t both[] = {SYS_futex,	  SYS_futex_waitv,     SYS_poll,
					SYS_ppoll,	  SYS_select,	       SYS_pselect6,
					SYS_epoll_wait,	  SYS_epoll_pwait,     SYS_kill,
					SYS_tgkill,	  SYS_rt_sigtimedwait, SYS_semop,
					SYS_semtimedop,	  SYS_msgsnd,	       SYS_msgrcv,
					SYS_mq_timedsend, SYS_mq_timedreceive, SYS_flock,
					SYS_membarrier,	  SYS_io_uring_enter};

	for (size_t i = 0; i < sizeof takes / sizeof *takes; i++)
		if (number == takes[i] && !leaving)
			guard_note_descriptor(fd, leaving);
	for (size_t i = 0; i < sizeof gives / sizeof *gives; i++)
		if (number == gives[i] && leaving)
			guard_note_descriptor(fd, leaving);
	for (size_t i = 0; i < sizeof both / sizeof *both; i++)
		if (number == both[i])
			guard_note_outside(leaving);
}

INTERPOSE(long, syscall, (long number, ...))
{
	long a[6], r;
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (guard_tracks())
		note_call(number, (int)a[0], true);
	r = REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (guard_tracks())
		note_call(number, (int)a[0], false);
	return r;
}
