/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run with a fault may do to its environment.  Each mode does one thing:
 *
 *	file NAME   adds up the numbers in file NAME and standard input, and writes the sum to file "result"
 *	spin N      counts to N
 *	grow N      allocates N MiB of memory, and reports if that fails
 *	write N     writes a file of N KiB
 *	fork N      leaves a child behind that sleeps for a long time
 *	bomb N      N times, each process of the program forks another one
 *	sleep N     waits until a thread has sent N messages
 *	check N     calls abort() unless N is 5
 *	waste N     reads a number that is never used
 *	clock       prints the time
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile int wanted;

static int target(void)
{
	return wanted;
}

static int add_numbers(FILE *f)
{
	int n, sum = 0;
	while (fscanf(f, "%d", &n) == 1)
		sum += n;
	return sum;
}

static int file(const char *name)
{
	FILE *in = fopen(name, "r"), *out = fopen("result", "w");
	if (in == NULL || out == NULL)
		return 2;
	wanted = add_numbers(in) + add_numbers(stdin);
	fprintf(out, "%d\n", target());
	return fclose(in) + fclose(out);
}

static int spin(void)
{
	volatile int i = 0;
	int n = target();
	while (i != n)
		i++;
	printf("%d\n", i);
	return 0;
}

static int grow(void)
{
	int n = target();
	for (int i = 0; i < n; i++) {
		char *p = malloc(1 << 20);
		if (p == NULL)
			return 3;
		memset(p, i, 1 << 20);
	}
	puts("grown");
	return 0;
}

static int fill(void)
{
	static const char block[1024];
	FILE *out = fopen("filled", "w");
	int n = target();
	for (int i = 0; i < n; i++)
		if (fwrite(block, sizeof block, 1, out) != 1)
			return 4;
	return fclose(out);
}

/* Makes at most 512 processes, even if no limit stops it. */
static int multiply(void)
{
	int n = target();
	for (int i = 0; i < n && i < 9; i++)
		if (fork() < 0)
			return 5;
	if (n > 1)
		sleep(1);
	return 0;
}

static int leave(void)
{
	if (fork() == 0) {
		sleep(1000);
		_exit(0);
	}
	printf("%d\n", target());
	return 0;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int sent;

static void *send_all(void *number)
{
	pthread_mutex_lock(&mutex);
	sent = *(int *)number;
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static int receive(int number)
{
	pthread_t thread;
	pthread_create(&thread, NULL, send_all, &number);
	int n = target();
	pthread_mutex_lock(&mutex);
	while (sent < n)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
	pthread_join(thread, NULL);
	puts("received");
	return 0;
}

static int waste(void)
{
	(void)wanted;
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	wanted = argc > 2 ? atoi(argv[2]) : 0;
	if (!strcmp(mode, "file"))
		return file(argv[2]);
	if (!strcmp(mode, "spin"))
		return spin();
	if (!strcmp(mode, "grow"))
		return grow();
	if (!strcmp(mode, "write"))
		return fill();
	if (!strcmp(mode, "fork"))
		return leave();
	if (!strcmp(mode, "bomb"))
		return multiply();
	if (!strcmp(mode, "sleep"))
		return receive(wanted);
	if (!strcmp(mode, "waste"))
		return waste();
	if (!strcmp(mode, "clock"))
		printf("%ld\n", (long)time(NULL) * 1000000 + getpid());
	if (!strcmp(mode, "check") && target() != 5)
		abort();
	return 0;
}
