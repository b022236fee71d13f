// SPDX-License-Identifier: Apache-2.0
/*
 * A server with one thread that accepts and polls connections (epoll), and two that answer.  A
 * request is a line.  The answer is its number, the time in nanoseconds (CLOCK_MONOTONIC), and the
 * line in capitals.  SIGTERM ends the server.
 *
 *	server PORT [careless]     careless: requests are counted without the lock
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define QUEUE 64

struct request {
	int fd;
	char text[256];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, count_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static struct request queue[QUEUE];
static unsigned head, tail;
static int over, careless, wake;
static long served;

static void on_term(int number)
{
	eventfd_t one = 1;

	(void)number;
	if (write(wake, &one, sizeof one) < 0)
		_exit(3);
}

static long count(void)
{
	long n;

	if (careless)
		return ++served;
	pthread_mutex_lock(&count_lock);
	n = ++served;
	pthread_mutex_unlock(&count_lock);
	return n;
}

static void answer(struct request *r)
{
	char text[400];
	struct timespec now;
	int n;

	clock_gettime(CLOCK_MONOTONIC, &now);
	for (char *p = r->text; *p; p++)
		*p = (char)toupper((unsigned char)*p);
	n = snprintf(text, sizeof text, "%ld %ld%09ld %s\n", count(), (long)now.tv_sec, now.tv_nsec, r->text);
	if (send(r->fd, text, (size_t)n, MSG_NOSIGNAL) != n)
		perror("send");
}

static void *work(void *unused)
{
	struct request r;

	(void)unused;
	for (;;) {
		pthread_mutex_lock(&lock);
		while (head == tail && !over)
			pthread_cond_wait(&more, &lock);
		if (head == tail) {
			pthread_mutex_unlock(&lock);
			return NULL;
		}
		r = queue[head++ % QUEUE];
		pthread_mutex_unlock(&lock);
		answer(&r);
	}
}

/* Takes for granted that recv() returns whole lines, as the tests send them. */
static int take(int fd)
{
	char bytes[4096], *line, *rest;
	ssize_t n = recv(fd, bytes, sizeof bytes - 1, 0);

	if (n <= 0)
		return n < 0 && errno == EAGAIN;
	bytes[n] = '\0';
	for (line = strtok_r(bytes, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		pthread_mutex_lock(&lock);
		queue[tail % QUEUE].fd = fd;
		snprintf(queue[tail++ % QUEUE].text, sizeof queue[0].text, "%s", line);
		pthread_cond_signal(&more);
		pthread_mutex_unlock(&lock);
	}
	return 1;
}

static void watch(int poll, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data = {.fd = fd}};

	epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
}

static void serve(int listener)
{
	int poll = epoll_create1(0), one = 1;
	struct epoll_event event;

	watch(poll, listener);
	watch(poll, wake);
	for (;;) {
		if (epoll_wait(poll, &event, 1, -1) < 1)
			continue;
		if (event.data.fd == wake)
			return;
		if (event.data.fd == listener) {
			int fd = accept(listener, NULL, NULL);

			setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
			watch(poll, fd);
		} else if (!take(event.data.fd)) {
			close(event.data.fd);
		}
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	pthread_t threads[2];
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	if (argc < 2)
		return 2;
	careless = argc > 2;
	wake = eventfd(0, EFD_NONBLOCK);
	signal(SIGTERM, on_term);
	address.sin_port = htons((unsigned short)atoi(argv[1]));
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 5)) {
		perror("server");
		return 2;
	}
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	serve(listener);
	pthread_mutex_lock(&lock);
	over = 1;
	pthread_cond_broadcast(&more);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	pthread_mutex_lock(&count_lock);
	printf("served %ld\n", served);
	pthread_mutex_unlock(&count_lock);
	return 0;
}
