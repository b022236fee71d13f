// SPDX-License-Identifier: Apache-2.0
/*
 * Programs that hang forever, or that only seem to hang.  The argument selects one.  The threads
 * are synchronised so that each program hangs, or seems to, in every run.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t left, right;
static pthread_barrier_t meeting, crowd;
static sem_t tokens;

static void meet(void)
{
	pthread_barrier_wait(&meeting);
}

/* Of each case, NAME_other() is what the other thread does, and NAME_main() what main does. */

static void *cycle_other(void *p)
{
	pthread_mutex_lock(&second);
	meet();
	pthread_mutex_lock(&first);
	return p;
}
static void cycle_main(void)
{
	pthread_mutex_lock(&first);
	meet();
	pthread_mutex_lock(&second);
}

static void self_main(void)
{
	pthread_mutex_lock(&first);
	pthread_mutex_lock(&first);
}

static void *spin_other(void *p)
{
	pthread_spin_lock(&right);
	meet();
	pthread_spin_lock(&left);
	return p;
}
static void spin_main(void)
{
	pthread_spin_lock(&left);
	meet();
	pthread_spin_lock(&right);
}

static void *cond_other(void *p)
{
	pthread_mutex_lock(&first);
	pthread_cond_wait(&news, &first);
	pthread_mutex_unlock(&first);
	return p;
}

static void *blocked_other(void *p)
{
	pthread_mutex_lock(&second);
	pthread_mutex_lock(&first);
	meet();
	pthread_cond_wait(&news, &first);
	return p;
}
static void blocked_main(void)
{
	meet();
	pthread_mutex_lock(&second);
	pthread_cond_signal(&news);
}

static void *sem_other(void *p)
{
	sem_wait(&tokens);
	return p;
}

static void *barrier_other(void *p)
{
	pthread_barrier_wait(&crowd);
	return p;
}

static void *ended_other(void *p)
{
	pthread_mutex_lock(&first);
	return p;
}
static void ended_main(void)
{
	sem_wait(&tokens);
	pthread_mutex_lock(&first);
}
static void *ended_joiner(void *p)
{
	pthread_t other;

	pthread_create(&other, NULL, ended_other, NULL);
	pthread_join(other, NULL);
	sem_post(&tokens);
	return p;
}

/* In the cases "timed" to "handed" (see the table), the threads can continue some time later. */

/* Each wait is long enough for the test to see it; then the test makes the file "go". */
static void timed_main(void)
{
	struct timespec limit;

	pthread_mutex_lock(&first);
	meet();
	do {
		clock_gettime(CLOCK_REALTIME, &limit);
		limit.tv_sec += 4;
		pthread_mutex_timedlock(&second, &limit);
	} while (access("go", F_OK) != 0);
	pthread_mutex_unlock(&first);
}

static void input_main(void)
{
	if (getchar() == EOF)
		abort();
	pthread_mutex_lock(&first);
	pthread_cond_signal(&news);
	pthread_mutex_unlock(&first);
}

/* Main waits for a mutex that it holds itself, until this thread unlocks it. */
static void *handed_other(void *p)
{
	if (getchar() == EOF)
		abort();
	pthread_mutex_unlock(&first);
	return p;
}

static void on_signal(int number)
{
	(void)number;
	sem_post(&tokens);
}
static void handler_main(void)
{
	signal(SIGUSR1, on_signal);
	puts("ready");
	fflush(stdout);
}

/* Waits for a byte from a pipe to which no thread will write. */
static void *pipe_other(void *p)
{
	int ends[2];
	char byte;

	if (pipe(ends) || read(ends[0], &byte, 1) < 0)
		abort();
	return p;
}

/* Waits for an eventfd, an epoll set and a socket pair to which no thread will write. */
static void *poll_other(void *p)
{
	struct pollfd watched[3] = {{.events = POLLIN}, {.events = POLLIN}, {.events = POLLIN}};
	struct epoll_event event = {.events = EPOLLIN};
	int pair[2], ends[2];

	watched[0].fd = eventfd(0, 0);
	watched[1].fd = epoll_create1(0);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || pipe(ends) ||
	    epoll_ctl(watched[1].fd, EPOLL_CTL_ADD, ends[0], &event))
		abort();
	watched[2].fd = pair[0];
	poll(watched, 3, -1);
	return p;
}

static const struct {
	const char *name;
	void *(*other)(void *);
	void (*main)(void);
} cases[] = {
	{"cycle", cycle_other, cycle_main},
	{"self", NULL, self_main},
	{"spin", spin_other, spin_main},
	{"cond", cond_other, NULL},
	{"blocked", blocked_other, blocked_main},
	{"sem", sem_other, NULL},
	{"barrier", barrier_other, NULL},
	{"ended", ended_joiner, ended_main},
	{"timed", cycle_other, timed_main},
	{"input", cond_other, input_main},
	{"handler", sem_other, handler_main},
	{"handed", handed_other, self_main},
	{"pipe", pipe_other, NULL},
	{"poll", poll_other, NULL},
};

int main(int argc, char **argv)
{
	pthread_t other;

	pthread_barrier_init(&meeting, NULL, 2);
	pthread_barrier_init(&crowd, NULL, 3);
	pthread_spin_init(&left, 0);
	pthread_spin_init(&right, 0);
	sem_init(&tokens, 0, 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		if (argc < 2 || strcmp(argv[1], cases[i].name) != 0)
			continue;
		if (cases[i].other)
			pthread_create(&other, NULL, cases[i].other, NULL);
		if (cases[i].main)
			cases[i].main();
		if (cases[i].other)
			pthread_join(other, NULL);
		puts("done");
	}
	return 0;
}
