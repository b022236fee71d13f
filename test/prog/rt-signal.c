/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signal handlers interrupt threads that are busy recording, 10,000 times a second.  They first
 * lock and access memory on the thread's stack, then do so on an alternate stack.  Finally they
 * leave whatever code was interrupted by siglongjmp().
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum { JUMPS = 200, ROUNDS = 1000, CELLS = 1024 };

static pthread_mutex_t handlers_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t ticks, jumps;
static int data[CELLS], handlers_data[64];
static long sum;
static sigjmp_buf env;

__attribute__((noinline)) static void touch(int i)
{
	handlers_data[i % 64]++;
}

static void lock(int signal)
{
	(void)signal;
	if (pthread_mutex_trylock(&handlers_mutex) == 0) {
		touch(ticks);
		pthread_mutex_unlock(&handlers_mutex);
	}
	ticks++;
}

static void jump(int signal)
{
	(void)signal;
	if (jumps++ < JUMPS)
		siglongjmp(env, 1);
}

static void *work(void *argument)
{
	for (int k = 0; k < ROUNDS; k++) {
		pthread_mutex_lock(&mutex);
		for (int i = 0; i < CELLS; i++)
			sum += data[i]++;
		pthread_mutex_unlock(&mutex);
	}
	return argument;
}

static void handle(void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
	sigaction(SIGALRM, &action, NULL);
}

int main(void)
{
	struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
	stack_t alternate = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
	pthread_t t[3];

	sigaltstack(&alternate, NULL);
	handle(lock, SA_RESTART);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, NULL);
	work(NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	handle(lock, SA_RESTART | SA_ONSTACK);
	work(NULL);
	if (sigsetjmp(env, 1) == 0)
		handle(jump, 0);
	while (jumps < JUMPS)
		for (int i = 0; i < CELLS; i++)
			data[i]++;
	handle(SIG_IGN, 0);
	setitimer(ITIMER_REAL, &never, NULL);
	work(NULL);
	printf("%d\n", ticks > 0);
	return 0;
}
