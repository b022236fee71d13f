// SPDX-License-Identifier: Apache-2.0
/*
 * Order through services of the kernel other than descriptors, and through the locks of files and
 * streams.  In: calls that send or take messages, post or take semaphores of System V, lock or
 * unlock a file, send a signal or wait for one.  Out: events of channels (channel.h).  A receiver
 * is ordered after everything that the sender did before it sent.  A thread that takes a lock is
 * ordered after all threads that have released it.
 *
 * Not covered: POSIX record locks, which belong to a process and not to a thread; and the actions
 * of a signal handler, since a trace only shows that the signal was sent.
 */
#include "rt/core/io/channel.h"
#include "rt/core/layer.h"
#include "rt/core/real.h"
#include "rt/core/tables.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>

void rt_member_kernel(void);
void rt_member_kernel(void)
{
}

/* ---- message queues ---- */

static uint64_t file_key(int fd)
{
	int saved = errno;
	struct stat s;
	bool there = !syscall(SYS_fstat, fd, &s);

	errno = saved;
	return there ? rt_channel_key(RT_FILE, rt_channel_mix(s.st_dev, s.st_ino)) : 0;
}

static bool alone(void)
{
	return !atomic_load_explicit(&rt.others, memory_order_relaxed);
}

static void gives(int fd)
{
	if (!alone())
		rt_channel_send(file_key(fd));
}

static void takes(int fd)
{
	if (!alone())
		rt_channel_receive(file_key(fd));
}

INTERPOSE(int, mq_send, (mqd_t queue, const char *from, size_t size, unsigned priority))
{
	gives(queue);
	return REAL(mq_send)(queue, from, size, priority);
}

INTERPOSE(int, mq_timedsend,
	  (mqd_t queue, const char *from, size_t size, unsigned priority, const struct timespec *limit))
{
	gives(queue);
	return REAL(mq_timedsend)(queue, from, size, priority, limit);
}

static ssize_t taken(mqd_t queue, ssize_t length)
{
	if (length >= 0)
		takes(queue);
	return length;
}

INTERPOSE(ssize_t, mq_receive, (mqd_t queue, char *restrict to, size_t size, unsigned *restrict priority))
{
	return taken(queue, REAL(mq_receive)(queue, to, size, priority));
}

INTERPOSE(ssize_t, mq_timedreceive,
	  (mqd_t queue, char *restrict to, size_t size, unsigned *restrict priority,
	   const struct timespec *restrict limit))
{
	return taken(queue, REAL(mq_timedreceive)(queue, to, size, priority, limit));
}

/* ---- System V ---- */

INTERPOSE(int, msgsnd, (int id, const void *from, size_t size, int flags))
{
	rt_channel_send(rt_channel_key(RT_MESSAGES, (uint64_t)id));
	return REAL(msgsnd)(id, from, size, flags);
}

INTERPOSE(ssize_t, msgrcv, (int id, void *to, size_t size, long type, int flags))
{
	ssize_t length = REAL(msgrcv)(id, to, size, type, flags);

	if (length >= 0)
		rt_channel_receive(rt_channel_key(RT_MESSAGES, (uint64_t)id));
	return length;
}

static uint64_t semaphore_key(enum rt_subject subject, int id, const struct sembuf *op)
{
	return rt_channel_key(subject, (uint64_t)id << 16 | op->sem_num);
}

static void posts(int id, const struct sembuf *ops, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (ops[i].sem_op)
			rt_channel_send(
				semaphore_key(ops[i].sem_op > 0 ? RT_SEMAPHORE : RT_ZERO, id, &ops[i]));
}

static int waited(int id, const struct sembuf *ops, size_t count, int r)
{
	for (size_t i = 0; i < count && !r; i++)
		if (ops[i].sem_op <= 0)
			rt_channel_receive(
				semaphore_key(ops[i].sem_op ? RT_SEMAPHORE : RT_ZERO, id, &ops[i]));
	return r;
}

INTERPOSE(int, semop, (int id, struct sembuf *ops, size_t count))
{
	posts(id, ops, count);
	return waited(id, ops, count, REAL(semop)(id, ops, count));
}

INTERPOSE(int, semtimedop, (int id, struct sembuf *ops, size_t count, const struct timespec *limit))
{
	posts(id, ops, count);
	return waited(id, ops, count, REAL(semtimedop)(id, ops, count, limit));
}

/* ---- locks of files and streams ---- */

/* Stores whether the descriptor holds a lock on its file, since closing it releases the lock. */
static void set_locking(int fd, bool is)
{
	atomic_store_explicit(&rt_tables.locking[(unsigned)fd % RT_DESCRIPTORS], is, memory_order_relaxed);
}

void rt_file_unlocks(int fd)
{
	if (!atomic_load_explicit(&rt_tables.locking[(unsigned)fd % RT_DESCRIPTORS], memory_order_relaxed))
		return;
	gives(fd);
	set_locking(fd, false);
}

INTERPOSE(int, flock, (int fd, int how))
{
	int r;

	if (how & LOCK_UN)
		rt_file_unlocks(fd);
	r = REAL(flock)(fd, how);
	if (r || how & LOCK_UN)
		return r;
	takes(fd);
	set_locking(fd, true);
	return r;
}

/* Locks of open file descriptions work like flock().  Other locks belong to the process and order
 * no threads. */
static bool is_of_file(int command)
{
	return command == F_OFD_SETLK || command == F_OFD_SETLKW;
}

static void file_unlocks(int fd, int command, const struct flock *lock)
{
	if (is_of_file(command) && lock->l_type == F_UNLCK)
		rt_file_unlocks(fd);
}

static int file_locked(int fd, int command, const struct flock *lock, int r)
{
	if (r >= 0 && is_of_file(command) && lock->l_type != F_UNLCK) {
		takes(fd);
		set_locking(fd, true);
	}
	return r;
}

/* The kernel always takes a third argument, whether or not the caller passed one. */
#define CONTROL(name)                                                                                        \
	INTERPOSE(int, name, (int fd, int command, ...))                                                     \
	{                                                                                                    \
		va_list ap;                                                                                  \
		void *argument;                                                                              \
                                                                                                             \
		va_start(ap, command);                                                                       \
		argument = va_arg(ap, void *);                                                               \
		va_end(ap);                                                                                  \
		file_unlocks(fd, command, argument);                                                         \
		return file_locked(fd, command, argument, REAL(name)(fd, command, argument));                \
	}

CONTROL(fcntl)
CONTROL(fcntl64)

static uint64_t stream_key(const FILE *stream)
{
	return rt_channel_key(RT_STREAM, (uintptr_t)stream);
}

INTERPOSE(void, flockfile, (FILE * stream))
{
	REAL(flockfile)(stream);
	rt_channel_receive(stream_key(stream));
}

INTERPOSE(int, ftrylockfile, (FILE * stream))
{
	int r = REAL(ftrylockfile)(stream);

	if (!r)
		rt_channel_receive(stream_key(stream));
	return r;
}

INTERPOSE(void, funlockfile, (FILE * stream))
{
	rt_channel_send(stream_key(stream));
	REAL(funlockfile)(stream);
}

/* ---- signals ---- */

/* A thread that waits for the signal is ordered after this call.  If the signal starts a handler,
 * no event orders what the handler does. */
static void sends_signal(int signal)
{
	struct rt_thread *t = alone() || !signal ? NULL : rt_self();

	if (t && t->recording)
		rt_outside_event(t, RADDLE_OUTSIDE_HIDDEN);
	rt_channel_send(rt_channel_key(RT_SIGNAL, (uint64_t)signal));
}

static void got_signal(int signal)
{
	rt_channel_receive(rt_channel_key(RT_SIGNAL, (uint64_t)signal));
}

static bool reaches_us(pid_t process)
{
	return process <= 0 || process == rt.pid;
}

/* Returns the real process ID if the program passes its own.  In a replay of input, getpid() has
 * returned the ID of the recorded run; in a copy, that of the frozen process. */
static pid_t real_process(pid_t process)
{
	pid_t given = rt.replayed_pid ? rt.replayed_pid : rt.copied_pid;

	if (!given || (process != given && process != -given))
		return process;
	return process == given ? rt.pid : -rt.pid;
}

INTERPOSE(int, kill, (pid_t process, int signal))
{
	process = real_process(process);
	if (reaches_us(process))
		sends_signal(signal);
	return REAL(kill)(process, signal);
}

INTERPOSE(int, sigqueue, (pid_t process, int signal, union sigval value))
{
	process = real_process(process);
	if (reaches_us(process))
		sends_signal(signal);
	return REAL(sigqueue)(process, signal, value);
}

INTERPOSE(int, pthread_kill, (pthread_t thread, int signal))
{
	RT_NOTIFY(addresses);
	sends_signal(signal);
	return REAL(pthread_kill)(thread, signal);
}

INTERPOSE(int, pthread_sigqueue, (pthread_t thread, int signal, union sigval value))
{
	RT_NOTIFY(addresses);
	sends_signal(signal);
	return REAL(pthread_sigqueue)(thread, signal, value);
}

INTERPOSE(int, sigwait, (const sigset_t *restrict set, int *restrict signal))
{
	int r = REAL(sigwait)(set, signal);

	if (!r)
		got_signal(*signal);
	return r;
}

static int waited_for(int signal)
{
	if (signal > 0)
		got_signal(signal);
	return signal;
}

INTERPOSE(int, sigwaitinfo, (const sigset_t *restrict set, siginfo_t *restrict info))
{
	return waited_for(REAL(sigwaitinfo)(set, info));
}

INTERPOSE(int, sigtimedwait,
	  (const sigset_t *restrict set, siginfo_t *restrict info, const struct timespec *restrict limit))
{
	return waited_for(REAL(sigtimedwait)(set, info, limit));
}
