// SPDX-License-Identifier: Apache-2.0
/*
 * Tests what the kernel keeps for each thread, in runs on one kernel thread: signals MODE.
 *	raised	handlers run on the thread that raises the signal
 *	mask	no thread blocks signals that it did not block itself
 *	own	each thread has its own set of blocked signals
 *	ids	the IDs of threads differ
 *	raw	as ids, but the IDs come from a system call that the runtime does not see
 *	vfork	a child borrows the memory of a thread while others run
 *	kill	pthread_kill() is called with a thread that the kernel may not know
 * Every schedule ends with status 0.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, ROUNDS = 5 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int wrong;
static _Thread_local int caught;
static pid_t ids[THREADS];

static void catch (int number)
{
	caught += number;
}

static void meet(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

static void *raise_some(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		meet();
		raise(SIGUSR1);
	}
	wrong |= caught != ROUNDS * SIGUSR1;
	return unused;
}

/* Returns the set of blocked signals that the kernel has, not the one of libc. */
static uint64_t blocked(void)
{
	uint64_t mask = 0;

	syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof mask);
	return mask;
}

static void *look_at_mask(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		wrong |= blocked() != 0;
		meet();
	}
	wrong |= blocked() != 0;
	return unused;
}

static void *block_one(void *number)
{
	int own = SIGRTMIN + (int)(long)number;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, own);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		wrong |= blocked() != 1ull << (own - 1);
		meet();
	}
	return NULL;
}

static void *note_id(void *number)
{
	ids[(long)number] = gettid();
	meet();
	wrong |= ids[(long)number] != gettid();
	return NULL;
}

static void *note_raw_id(void *number)
{
	long id;

	__asm__ volatile("syscall" : "=a"(id) : "a"(SYS_gettid) : "rcx", "r11", "memory");
	ids[(long)number] = (pid_t)id;
	meet();
	return NULL;
}

/* The child stores to memory before it ends. */
static void *fork_one(void *number)
{
	volatile pid_t child = vfork();
	int status = 0;

	if (child == 0) {
		ids[(long)number] = getpid();
		_exit(7);
	}
	wrong |= waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7;
	wrong |= ids[(long)number] != child;
	meet();
	return NULL;
}

static void run(void *(*fn)(void *), int probes)
{
	pthread_t threads[THREADS];

	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, fn, (void *)i);
	for (int i = 0; i < THREADS && probes; i++)
		wrong |= pthread_kill(threads[i], 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (!strcmp(mode, "raised")) {
		signal(SIGUSR1, catch);
		run(raise_some, 0);
		caught = 0;
		kill(getpid(), SIGUSR1);
		wrong |= caught != SIGUSR1;
	} else if (!strcmp(mode, "mask")) {
		for (int i = 0; i < 2; i++) {
			run(look_at_mask, 0);
			wrong |= blocked() != 0;
		}
	} else if (!strcmp(mode, "own")) {
		run(block_one, 0);
		wrong |= blocked() != 0;
	} else if (!strcmp(mode, "vfork")) {
		run(fork_one, 0);
	} else if (!strcmp(mode, "ids") || !strcmp(mode, "raw")) {
		run(mode[0] == 'r' ? note_raw_id : note_id, 0);
		wrong |= gettid() != getpid();
		for (int i = 0; i < THREADS; i++)
			for (int k = 0; k <= i; k++)
				wrong |= ids[i] == (k == i ? getpid() : ids[k]);
	} else {
		run(look_at_mask, 1);
	}
	return wrong;
}
