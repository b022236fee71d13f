// SPDX-License-Identifier: Apache-2.0
/*
 * Programs with races whose classes once depended on how busy the machine was (bench/load).  The
 * first argument selects the program.
 *
 *   message   message passing: the reader may see the flag before the datum, under pso and weak
 *   fenced    store buffering with fences: no model allows both reads to return 0
 *   buffered  the same without fences: every model but sc allows it
 *   chain     three threads in a row, each of which waits in a loop that neither yields nor sleeps
 *   polls     a thread may withdraw a request to stop, and then polls for it and counts its polls
 *   tries     a thread polls for a flag up to 1000 times, and then gives up
 *   slow      the race is harmless; a long loop precedes another bug, which is not a race
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int x, y, seen_x = -1, seen_y = -1;

static void *write_message(void *arg)
{
	x = 1; /* message-x */
	y = 1; /* message-y */
	return arg;
}

static void *read_message(void *arg)
{
	seen_y = y; /* message-look-y */
	seen_x = x; /* message-look-x */
	return arg;
}

static void message_end(void)
{
	if (seen_y == 1 && seen_x == 0)
		abort();
	puts("ok");
}

static void *fenced_x(void *arg)
{
	x = 1; /* fenced-x */
	atomic_thread_fence(memory_order_seq_cst);
	seen_y = y; /* fenced-look-y */
	return arg;
}

static void *fenced_y(void *arg)
{
	y = 1; /* fenced-y */
	atomic_thread_fence(memory_order_seq_cst);
	seen_x = x; /* fenced-look-x */
	return arg;
}

static void *buffered_x(void *arg)
{
	x = 1;	    /* buffered-x */
	seen_y = y; /* buffered-look-y */
	return arg;
}

static void *buffered_y(void *arg)
{
	y = 1;	    /* buffered-y */
	seen_x = x; /* buffered-look-x */
	return arg;
}

static void buffered_end(void)
{
	if (seen_x == 0 && seen_y == 0)
		abort();
	puts("ok");
}

static int datum;
static volatile int stage;

static void *chain_first(void *arg)
{
	datum = 11; /* chain-datum */
	stage = 1;  /* chain-one */
	return arg;
}

static void *chain_second(void *arg)
{
	while (stage != 1) /* chain-wait-one */
		;
	stage = 2; /* chain-two */
	return arg;
}

static void *chain_third(void *arg)
{
	while (stage != 2) /* chain-wait-two */
		;
	printf("%d\n", datum); /* chain-look */
	return arg;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *box, tag;

static void *slow_maker(void *arg)
{
	tag = 1; /* slow-maker */
	pthread_mutex_lock(&lock);
	box = malloc(sizeof *box);
	pthread_mutex_unlock(&lock);
	return arg;
}

/* Takes the box, which is missing if this thread gets the lock first. */
static void *slow_taker(void *arg)
{
	tag = 2; /* slow-taker */
	pthread_mutex_lock(&lock);
	if (!box)
		abort();
	free(box);
	pthread_mutex_unlock(&lock);
	return arg;
}

static volatile int polls_stop, tries_ready;
static long polls;

/* Withdraws a request that may already have been made, and then waits for it. */
static void *poll_stop(void *arg)
{
	polls_stop = 0;
	while (!polls_stop) {
		polls++;
		sched_yield();
	}
	return arg;
}

static void *request_stop(void *arg)
{
	polls_stop = 1;
	return arg;
}

static void *try_often(void *arg)
{
	int tries = 0;

	while (!tries_ready && tries++ < 1000)
		sched_yield();
	return arg;
}

static void *make_ready(void *arg)
{
	tries_ready = 1;
	return arg;
}

static void nothing(void)
{
}

static const struct program {
	const char *name;
	void *(*threads[3])(void *);
	void (*end)(void);
	int loops; /* how long the initial thread computes after it has created a thread */
} programs[] = {
	{"message", {write_message, read_message}, message_end},
	{"fenced", {fenced_x, fenced_y}, buffered_end},
	{"buffered", {buffered_x, buffered_y}, buffered_end},
	{"chain", {chain_first, chain_second, chain_third}, nothing},
	{"polls", {poll_stop, request_stop}, nothing},
	{"tries", {try_often, make_ready}, nothing},
	{"slow", {slow_maker, slow_taker}, nothing, 200000},
};

static void run(const struct program *p)
{
	pthread_t threads[3];
	int count = 0;

	for (; count < 3 && p->threads[count]; count++) {
		pthread_create(&threads[count], NULL, p->threads[count], NULL);
		for (volatile int i = 0; i < p->loops; i++)
			;
	}
	while (count)
		pthread_join(threads[--count], NULL);
	p->end();
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof programs / sizeof *programs; i++)
		if (!strcmp(programs[i].name, argv[1])) {
			run(&programs[i]);
			return 0;
		}
	return 2;
}
