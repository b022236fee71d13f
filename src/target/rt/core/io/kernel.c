// SPDX-License-Identifier: Apache-2.0
/*
 * Records how threads are ordered by services of the kernel other than descriptors, and by the
 * locks of files and streams.  In: calls that send or take messages, post or take semaphores of
 * System V, lock or unlock a file, send a signal or wait for one.  Out: events of channels
 * (channel.h).  A receiver is ordered after everything that the sender did before it sent.  A
 * thread that takes a lock is ordered after all threads that have released it.
 *
 * Not covered: POSIX record locks, which belong to a process and not to a thread; and the actions
 * of a signal handler, since a trace only shows that the signal was sent.
 */
#include "rt/core/io/channel.h"
#include "rt/core/io/outside.h"
#include "rt/core/io/retry.h"
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

/* A time limit in the past.  A call with this limit does not wait. */
static const struct timespec past;

static int64_t time_left(const struct timespec *limit)
{
	struct timespec now;

	if (!limit)
		return -1;
	rt_bare(SYS_clock_gettime, CLOCK_REALTIME, (long)&now);
	if (limit->tv_sec < now.tv_sec)
		return 0;
	return (limit->tv_sec - now.tv_sec) * (int64_t)1000000000 + limit->tv_nsec - now.tv_nsec;
}

static bool sends(mqd_t queue, const char *from, size_t size, unsigned priority, const struct timespec *limit,
		  int *r)
{
	struct rt_retry call = {
		SYS_mq_timedsend, {queue, (long)from, (long)size, priority, (long)&past}, ETIMEDOUT};
	long result;

	if (!rt_retries(&call, time_left(limit), &result))
		return false;
	*r = (int)result;
	return true;
}

INTERPOSE(int, mq_send, (mqd_t queue, const char *from, size_t size, unsigned priority))
{
	int r;

	gives(queue);
	if (!sends(queue, from, size, priority, NULL, &r))
		r = REAL(mq_send)(queue, from, size, priority);
	RT_NOTIFY(moved);
	return r;
}

INTERPOSE(int, mq_timedsend,
	  (mqd_t queue, const char *from, size_t size, unsigned priority, const struct timespec *limit))
{
	int r;

	gives(queue);
	if (!sends(queue, from, size, priority, limit, &r))
		r = REAL(mq_timedsend)(queue, from, size, priority, limit);
	RT_NOTIFY(moved);
	return r;
}

static ssize_t taken(mqd_t queue, ssize_t length)
{
	if (length >= 0)
		takes(queue);
	RT_NOTIFY(moved);
	return length;
}

static bool receives(mqd_t queue, char *to, size_t size, unsigned *priority, const struct timespec *limit,
		     ssize_t *length)
{
	struct rt_retry call = {
		SYS_mq_timedreceive, {queue, (long)to, (long)size, (long)priority, (long)&past}, ETIMEDOUT};

	return rt_retries(&call, time_left(limit), length);
}

INTERPOSE(ssize_t, mq_receive, (mqd_t queue, char *restrict to, size_t size, unsigned *restrict priority))
{
	ssize_t r;

	if (!receives(queue, to, size, priority, NULL, &r))
		r = REAL(mq_receive)(queue, to, size, priority);
	return taken(queue, r);
}

INTERPOSE(ssize_t, mq_timedreceive,
	  (mqd_t queue, char *restrict to, size_t size, unsigned *restrict priority,
	   const struct timespec *restrict limit))
{
	ssize_t r;

	if (!receives(queue, to, size, priority, limit, &r))
		r = REAL(mq_timedreceive)(queue, to, size, priority, limit);
	return taken(queue, r);
}

/* ---- System V ---- */

INTERPOSE(int, msgsnd, (int id, const void *from, size_t size, int flags))
{
	struct rt_retry call = {SYS_msgsnd, {id, (long)from, (long)size, flags | IPC_NOWAIT}, EAGAIN};
	long r;

	rt_channel_send(rt_channel_key(RT_MESSAGES, (uint64_t)id));
	if (flags & IPC_NOWAIT || !rt_retries(&call, -1, &r))
		r = REAL(msgsnd)(id, from, size, flags);
	RT_NOTIFY(moved);
	return (int)r;
}

INTERPOSE(ssize_t, msgrcv, (int id, void *to, size_t size, long type, int flags))
{
	struct rt_retry call = {SYS_msgrcv, {id, (long)to, (long)size, type, flags | IPC_NOWAIT}, ENOMSG};
	ssize_t length;

	if (flags & IPC_NOWAIT || !rt_retries(&call, -1, &length))
		length = REAL(msgrcv)(id, to, size, type, flags);
	RT_NOTIFY(moved);
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

enum { SEMAPHORE_OPS = 64 }; /* a call with more operations, which is rare, is left to the system */

static bool does_ops(int id, const struct sembuf *ops, size_t count, const struct timespec *limit, int *r)
{
	struct sembuf tries[SEMAPHORE_OPS];
	struct rt_retry call = {SYS_semop, {id, (long)tries, (long)count}, EAGAIN};
	int64_t ns = limit ? limit->tv_sec * (int64_t)1000000000 + limit->tv_nsec : -1;
	long result;

	if (!rt.callbacks.waits || count > SEMAPHORE_OPS)
		return false;
	for (size_t i = 0; i < count; i++) {
		tries[i] = ops[i];
		if (ops[i].sem_flg & IPC_NOWAIT)
			return false;
		tries[i].sem_flg |= IPC_NOWAIT;
	}
	if (!rt_retries(&call, ns, &result))
		return false;
	*r = (int)result;
	return true;
}

INTERPOSE(int, semop, (int id, struct sembuf *ops, size_t count))
{
	int r;

	posts(id, ops, count);
	if (!does_ops(id, ops, count, NULL, &r))
		r = REAL(semop)(id, ops, count);
	RT_NOTIFY(moved);
	return waited(id, ops, count, r);
}

INTERPOSE(int, semtimedop, (int id, struct sembuf *ops, size_t count, const struct timespec *limit))
{
	int r;

	posts(id, ops, count);
	if (!does_ops(id, ops, count, limit, &r))
		r = REAL(semtimedop)(id, ops, count, limit);
	RT_NOTIFY(moved);
	return waited(id, ops, count, r);
}

/* ---- locks of files and streams ---- */

/* Notes whether the descriptor holds a lock on its file, since closing the descriptor releases the
 * lock. */
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
	struct rt_retry call = {SYS_flock, {fd, how | LOCK_NB}, EWOULDBLOCK};
	long tried;
	int r;

	if (how & LOCK_UN)
		rt_file_unlocks(fd);
	if (how & (LOCK_UN | LOCK_NB) || !rt_retries(&call, -1, &tried))
		r = REAL(flock)(fd, how);
	else
		r = (int)tried;
	RT_NOTIFY(moved);
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

/* Takes a lock on a part of a file if a layer performs waits.  Returns false if the caller must
 * make the real call. */
static bool locks(int fd, int command, const struct flock *lock, int *r)
{
	struct rt_retry call = {SYS_fcntl, {fd, F_SETLK, (long)lock}, EAGAIN};
	long result;

	if (command != F_SETLKW && command != F_OFD_SETLKW)
		return false;
	if (command == F_OFD_SETLKW)
		call.arguments[1] = F_OFD_SETLK;
	if (!rt_retries(&call, -1, &result))
		return false;
	*r = (int)result;
	return true;
}

/* A third argument is always passed to the kernel, whether or not the caller has passed one. */
#define CONTROL(name)                                                                                        \
	INTERPOSE(int, name, (int fd, int command, ...))                                                     \
	{                                                                                                    \
		va_list ap;                                                                                  \
		void *argument;                                                                              \
		int r;                                                                                       \
                                                                                                             \
		va_start(ap, command);                                                                       \
		argument = va_arg(ap, void *);                                                               \
		va_end(ap);                                                                                  \
		file_unlocks(fd, command, argument);                                                         \
		if (!locks(fd, command, argument, &r))                                                       \
			r = REAL(name)(fd, command, argument);                                               \
		if (is_of_file(command))                                                                     \
			RT_NOTIFY(moved);                                                                    \
		return file_locked(fd, command, argument, r);                                                \
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

/* Converts the process ID that the program believes to be its own into the real one.  In a replay
 * of input, getpid() has returned the ID of the recorded process.  In a copy of a frozen process
 * (rt/steer/freeze.c), it has returned the ID of the frozen process. */
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

/* Returns true if a layer has sent the signal; *r is then the result of the call. */
static bool is_sent(pthread_t thread, int signal, const union sigval *value, int *r)
{
	struct rt_signal s = {.number = signal, .value = value};

	sends_signal(signal);
	if (!rt.callbacks.signals)
		return false;
	s.thread = rt_handle_find((uint64_t)thread);
	RT_NOTIFY(signals, &s);
	*r = s.result;
	return s.handled;
}

INTERPOSE(int, pthread_kill, (pthread_t thread, int signal))
{
	int r;

	return is_sent(thread, signal, NULL, &r) ? r : REAL(pthread_kill)(thread, signal);
}

INTERPOSE(int, pthread_sigqueue, (pthread_t thread, int signal, union sigval value))
{
	int r;

	return is_sent(thread, signal, &value, &r) ? r : REAL(pthread_sigqueue)(thread, signal, value);
}

/* A wait for one of the signals in `set`.  A layer performs this wait, not the system. */
struct awaited {
	const sigset_t *set;
	siginfo_t info;
	long signal;
};

static int look_for_signal(void *context)
{
	struct awaited *a = context;
	struct rt_thread *t = rt_self();
	uint64_t set;

	__builtin_memcpy(&set, a->set, sizeof set);
	a->info.si_signo = 0;
	if (t)
		RT_NOTIFY(taken, t, set, &a->info);
	a->signal = a->info.si_signo ? a->info.si_signo
				     : rt_bare(SYS_rt_sigtimedwait, (long)&set, (long)&a->info, (long)&past,
					       sizeof set);
	return a->signal != -EAGAIN;
}

/* Waits for one of the signals if a layer performs the wait.  Returns false if the caller must let
 * the system wait. */
static bool awaits_signal(struct awaited *a, int64_t limit_ns)
{
	struct rt_thread *t = rt.callbacks.waits ? rt_self() : NULL;
	struct rt_look look = {.look = look_for_signal, .context = a, .retries = true};

	if (t)
		RT_NOTIFY(waits, t, &look, limit_ns);
	if (look.handled && look.result < 0)
		a->signal = -EINTR;
	return look.handled;
}

static int got_if(int r, const int *signal)
{
	if (!r)
		got_signal(*signal);
	return r;
}

INTERPOSE(int, sigwait, (const sigset_t *restrict set, int *restrict signal))
{
	struct awaited a = {.set = set};
	int r = 0;

	do
		if (!awaits_signal(&a, -1))
			return got_if(REAL(sigwait)(set, signal), signal);
	while (a.signal == -EINTR);
	if (a.signal < 0)
		r = (int)-a.signal;
	else
		*signal = (int)a.signal;
	return got_if(r, signal);
}

static int waited_for(int signal)
{
	if (signal > 0)
		got_signal(signal);
	return signal;
}

/* Returns the result of sigtimedwait() or sigwaitinfo() after a layer has waited. */
static int awaited_result(const struct awaited *a, siginfo_t *info)
{
	if (a->signal < 0) {
		errno = (int)-a->signal;
		return -1;
	}
	if (info)
		*info = a->info;
	return waited_for((int)a->signal);
}

INTERPOSE(int, sigwaitinfo, (const sigset_t *restrict set, siginfo_t *restrict info))
{
	struct awaited a = {.set = set};

	return awaits_signal(&a, -1) ? awaited_result(&a, info) : waited_for(REAL(sigwaitinfo)(set, info));
}

INTERPOSE(int, sigtimedwait,
	  (const sigset_t *restrict set, siginfo_t *restrict info, const struct timespec *restrict limit))
{
	struct awaited a = {.set = set};
	int64_t ns = limit ? limit->tv_sec * (int64_t)1000000000 + limit->tv_nsec : -1;

	return awaits_signal(&a, ns) ? awaited_result(&a, info)
				     : waited_for(REAL(sigtimedwait)(set, info, limit));
}
