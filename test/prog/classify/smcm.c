// SPDX-License-Identifier: Apache-2.0
/*
 * The four micro-benchmarks that the thesis evaluates its memory models with (figure 31), as they are printed
 * and corrected (test/cli/classify-memory.sh, labels in memory-labels).  The first argument chooses one.
 *
 * As printed, no-sync-bug and sync-bug cannot fail under any model: they wait for globaly == 2, and it is 0
 * or 1. With 1 they fail under sequential consistency already, since main reads globalx first.  Corrected,
 * main reads globaly first: then globaly == 1 with globalx == 0 needs stores that come out of order.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile int globalx, globaly;
static pthread_barrier_t barr;

static void *both(void *arg)
{
	globalx = 2;
	globaly = 1;
	return arg;
}

static void *both_behind(void *arg)
{
	globalx = 2;
	pthread_barrier_wait(&barr);
	globaly = 1;
	return arg;
}

static void *both_before(void *arg)
{
	globalx = 2;
	globaly = 1;
	pthread_barrier_wait(&barr);
	return arg;
}

static void *one(void *arg)
{
	globalx = 2;
	return arg;
}

static void *one_before(void *arg)
{
	globalx = 2;
	pthread_barrier_wait(&barr);
	return arg;
}

static void print(void)
{
	printf("%d,%d\n", globalx, globaly);
}

static void print_y_first(void)
{
	int y = globaly, x = globalx;

	printf("%d,%d\n", x, y);
}

static void crash_printed(void)
{
	if (globalx == 0 && globaly == 2)
		abort();
}

static void crash_x_first(void)
{
	if (globalx == 0 && globaly == 1)
		abort();
}

static void crash_y_first(void)
{
	if (globaly == 1 && globalx == 0)
		abort();
}

static const struct program {
	const char *name;
	void *(*work[2])(void *);
	void (*look)(void);
} programs[] = {
	{"no-sync", {both, one}, print},
	{"no-sync-bug", {both, one}, crash_printed},
	{"no-sync-bug-x", {both, one}, crash_x_first},
	{"sync", {both_behind, one_before}, print},
	{"sync-bug", {both_before, one_before}, crash_printed},
	{"no-sync-y", {both, one}, print_y_first},
	{"no-sync-bug-y", {both, one}, crash_y_first},
	{"sync-y", {both_behind, one_before}, print_y_first},
	{"sync-bug-y", {both_before, one_before}, crash_y_first},
};

int main(int argc, char **argv)
{
	const struct program *p = NULL;
	pthread_t threads[2];

	for (size_t i = 0; i < sizeof programs / sizeof *programs && argc > 1; i++)
		if (!strcmp(programs[i].name, argv[1]))
			p = &programs[i];
	if (!p)
		return 2;
	pthread_barrier_init(&barr, NULL, 2);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, p->work[i], NULL);
	p->look();
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
