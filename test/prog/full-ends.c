/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways to interrupt or leave code in the middle of what a full trace records as one piece.
 *
 *	full-ends PART
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int numbers[64];
static int *volatile nowhere = (int *)8;
static sigjmp_buf back;
static atomic_int handled, stop;
static long noise[16];

/* One piece: a load, a store, and a load.  The store or the second load may crash. */
static __attribute__((noinline)) int touch(int *a, int *b, const int *c)
{
	*b = *a + 1;
	return *c;
}

static void say(int number)
{
	static const char text[] = "handler\n";
	(void)number;
	if (write(1, text, sizeof text - 1) < 0)
		_exit(3);
	_exit(4);
}

static void jump(int number)
{
	siglongjmp(back, number);
}

static void count(int number)
{
	for (int i = 0; i < 16; i++)
		noise[i] += number;
	atomic_fetch_add(&handled, 1);
}

static __attribute__((noinline)) int deeper(int n)
{
	return n == 0 ? touch(&numbers[1], &numbers[2], nowhere) : deeper(n - 1) + 1;
}

static void *send(void *to)
{
	for (int i = 0; i < 100; i++) {
		int before = atomic_load(&handled);
		pthread_kill(*(pthread_t *)to, SIGUSR1);
		while (atomic_load(&handled) == before)
			sched_yield();
	}
	atomic_store(&stop, 1);
	return NULL;
}

static void storm(void)
{
	pthread_t self = pthread_self(), sender;
	long sum = 0, rounds = 0;
	signal(SIGUSR1, count);
	pthread_create(&sender, NULL, send, &self);
	while (!atomic_load(&stop)) {
		for (int i = 0; i < 64; i++)
			numbers[i] = touch(&numbers[i], &numbers[(i + 1) % 64], &numbers[(i + 2) % 64]);
		if (rounds++ % 16 ==
		    15) /* otherwise the trace would grow on a busy machine until the sender runs */
			sched_yield();
		sum += numbers[rounds % 64] * 0;
	}
	pthread_join(sender, NULL);
	printf("%d %ld %ld\n", atomic_load(&handled), noise[3] / SIGUSR1, sum);
}

static void landings(void)
{
	volatile int times = 0;
	signal(SIGSEGV, jump);
	if (sigsetjmp(back, 1) != 0)
		times++;
	if (times < 3)
		deeper(times);
	printf("%d landings, %d\n", times, touch(&numbers[1], &numbers[2], &numbers[3]));
}

/* Writes one number in each page beyond the program's variables, but does not reach the heap. */
static void overrun(void)
{
	int *volatile at = numbers;
	for (int i = 0; i < 40; i++, at += 1024)
		*at += i;
}

int main(int argc, char **argv)
{
	const char *part = argc > 1 ? argv[1] : "";
	if (strcmp(part, "load") == 0)
		return touch(&numbers[1], &numbers[2], nowhere);
	if (strcmp(part, "store") == 0)
		return touch(&numbers[1], nowhere, &numbers[2]);
	if (strcmp(part, "overrun") == 0)
		overrun();
	if (strcmp(part, "handler") == 0) {
		signal(SIGSEGV, say);
		return touch(&numbers[1], &numbers[2], nowhere);
	}
	if (strcmp(part, "landings") == 0)
		landings();
	if (strcmp(part, "storm") == 0)
		storm();
	if (strcmp(part, "kill") == 0) {
		touch(&numbers[1], &numbers[2], &numbers[3]);
		raise(SIGKILL);
	}
	if (strcmp(part, "fork") == 0) {
		fflush(stdout);
		if (fork() == 0)
			_exit(touch(&numbers[1], &numbers[2], &numbers[3]));
		wait(NULL);
	}
	return 0;
}
