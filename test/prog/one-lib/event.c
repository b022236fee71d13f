// SPDX-License-Identifier: Apache-2.0
/* Runs a loop of libevent.  Another thread writes to a pipe and activates an event; with an
 * argument, there is also a timer (test/cli/one-lib.sh). */
#include <event2/event.h>
#include <event2/thread.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static struct event_base *base;
static struct event *active;
static int ends[2], got, activated, ticked;

static void on_read(evutil_socket_t fd, short what, void *event)
{
	char c;

	(void)what;
	if (read(fd, &c, 1) == 1)
		got++;
	else
		event_del(*(struct event **)event);
}

static void on_active(evutil_socket_t fd, short what, void *unused)
{
	(void)fd;
	(void)what;
	(void)unused;
	activated++;
}

static void on_time(evutil_socket_t fd, short what, void *unused)
{
	(void)fd;
	(void)what;
	(void)unused;
	ticked++;
}

static void *feed(void *unused)
{
	for (int i = 0; i < 3; i++)
		if (write(ends[1], "x", 1) != 1)
			return NULL;
	event_active(active, EV_READ, 0);
	close(ends[1]);
	return unused;
}

int main(int argc, char **argv)
{
	struct timeval soon = {0, 5000};
	struct event *reads, *timer;
	pthread_t thread;

	evthread_use_pthreads();
	if (pipe(ends))
		return 2;
	base = event_base_new();
	reads = event_new(base, ends[0], EV_READ | EV_PERSIST, on_read, &reads);
	active = event_new(base, -1, 0, on_active, NULL);
	timer = event_new(base, -1, EV_TIMEOUT, on_time, NULL);
	event_add(reads, NULL);
	(void)argv;
	if (argc > 1)
		event_add(timer, &soon);
	pthread_create(&thread, NULL, feed, NULL);
	event_base_dispatch(base);
	pthread_join(thread, NULL);
	event_base_loop(base, EVLOOP_NONBLOCK);
	printf("%d %d %d\n", got, activated, ticked);
	return got != 3 || activated != 1 || ticked != (argc > 1);
}
