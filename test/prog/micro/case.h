/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions for the programs in this directory: they start threads and let other threads run
 * first.
 *
 * settle() waits until every other thread of the process sleeps or has ended.  So the recorded
 * order is the same in every run, even on a busy machine.  But the program does not enforce
 * that order: a tool may stop a thread elsewhere, and settle() takes the thread for asleep.
 * It asks the kernel by system calls that no tool treats as synchronisation.  -DFREE_ORDER
 * disables it; the threads then run in any order.
 */
#ifndef CASE_H
#define CASE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#ifndef __cplusplus
#include <stdatomic.h>
#endif
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SETTLE_STEP_US 500
/* A thread that spins never sleeps, so settle() gives up after this many steps. */
#define SETTLE_STEPS 200

/* Returns whether the thread with this kernel thread ID is neither asleep nor ended. */
static inline bool is_running(const char *tid)
{
	char path[64], stat[256];
	const char *state;

	snprintf(path, sizeof path, "/proc/self/task/%s/stat", tid);
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
	if (fd < 0)
		return false;
	long size = syscall(SYS_read, fd, stat, sizeof stat - 1);
	syscall(SYS_close, fd);
	if (size <= 0)
		return false;
	stat[size] = '\0';
	state = strrchr(stat, ')');
	return state && (state[2] == 'R' || state[2] == 'D');
}

static inline bool others_run(void)
{
	char entries[4096];
	bool found = false;
	long self = syscall(SYS_gettid), size;
	int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		return false;
	while (!found && (size = syscall(SYS_getdents64, fd, entries, sizeof entries)) > 0) {
		for (long at = 0; at < size && !found;) {
			struct dirent64 *entry = (struct dirent64 *)(void *)(entries + at);

			at += entry->d_reclen;
			if (entry->d_name[0] != '.' && atol(entry->d_name) != self)
				found = is_running(entry->d_name);
		}
	}
	syscall(SYS_close, fd);
	return found;
}

static inline void settle(void)
{
#ifndef FREE_ORDER
	/* Two checks in a row must find the others asleep: a thread may sleep for an instant. */
	for (int steps = 0, still = 0; still < 2 && steps < SETTLE_STEPS; steps++) {
		usleep(SETTLE_STEP_US);
		still = others_run() ? 0 : still + 1;
	}
#endif
}

static inline pthread_t start(void *(*run)(void *), void *argument)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, argument) != 0)
		abort();
	return thread;
}

static inline pthread_t start_settled(void *(*run)(void *), void *argument)
{
	pthread_t thread = start(run, argument);

	settle();
	return thread;
}

static inline void join(pthread_t thread)
{
	if (pthread_join(thread, NULL) != 0)
		abort();
}

/* Runs two threads; the second one starts when the first sleeps or has ended. */
static inline void run_two(void *(*first)(void *), void *(*second)(void *))
{
	pthread_t a = start_settled(first, NULL), b = start(second, NULL);

	join(a);
	join(b);
}

/* Runs three threads; each of the others starts when all earlier ones sleep or have ended. */
static inline void run_three(void *(*first)(void *), void *(*second)(void *), void *(*third)(void *))
{
	pthread_t a = start_settled(first, NULL), b = start_settled(second, NULL), c = start(third, NULL);

	join(a);
	join(b);
	join(c);
}

/* Returns the time in ms milliseconds from now, for timed operations. */
static inline struct timespec in_ms(long ms)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_nsec += ms % 1000 * 1000000;
	now.tv_sec += ms / 1000 + now.tv_nsec / 1000000000;
	now.tv_nsec %= 1000000000;
	return now;
}

#define LOCK(m) pthread_mutex_lock(&(m))
#define UNLOCK(m) pthread_mutex_unlock(&(m))
#define MUTEX(name) static pthread_mutex_t name = PTHREAD_MUTEX_INITIALIZER
#define COND(name) static pthread_cond_t name = PTHREAD_COND_INITIALIZER
#define RWLOCK(name) static pthread_rwlock_t name = PTHREAD_RWLOCK_INITIALIZER
#define READ(rw) pthread_rwlock_rdlock(&(rw))
#define WRITE(rw) pthread_rwlock_wrlock(&(rw))
#define LEAVE(rw) pthread_rwlock_unlock(&(rw))
#define THREAD(name) static void *name(void *argument)
#define UNUSED (void)argument

#endif
