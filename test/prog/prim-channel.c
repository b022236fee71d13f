/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Order through descriptors: a pipe, a socket pair in both directions, an eventfd, a connection,
 * and the end of a pipe.  Files, and what a thread does before others exist, give no events.
 *
 * T_0: thread-start thread-create channel-send channel-receive channel-send
 * T_0: channel-receive channel-receive channel-send channel-receive channel-receive channel-receive
 * T_0: thread-join exit
 * T_0_0: thread-start channel-receive channel-send channel-receive channel-send
 * T_0_0: channel-receive channel-send channel-send channel-send thread-end
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static int ends[2], pair[2], event, answer, listener;
static struct sockaddr_in address;

static void want(int is_so)
{
	if (!is_so)
		abort();
}

static int to_itself(void)
{
	int s = socket(AF_INET, SOCK_STREAM, 0);

	want(connect(s, (struct sockaddr *)&address, sizeof address) == 0);
	return s;
}

static void *other(void *unused)
{
	eventfd_t got;
	char c;

	want(read(ends[0], &c, 1) == 1);
	want(send(pair[1], "x", 1, 0) == 1);
	want(recv(pair[1], &c, 1, 0) == 1);
	want(eventfd_write(event, 1) == 0);
	want(eventfd_read(answer, &got) == 0);
	int s = to_itself();
	want(write(s, "x", 1) == 1);
	close(ends[1]);
	return unused;
}

/* These calls give no events: there is no other thread yet, and a file is not a channel. */
static void alone(void)
{
	int file = open("/dev/null", O_WRONLY);
	char c;

	want(write(ends[1], "x", 1) == 1 && read(ends[0], &c, 1) == 1);
	want(write(file, "x", 1) == 1);
	close(file);
}

static void listen_locally(void)
{
	socklen_t size = sizeof address;

	listener = socket(AF_INET, SOCK_STREAM, 0);
	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	want(bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 1) == 0);
	want(getsockname(listener, (struct sockaddr *)&address, &size) == 0);
}

int main(void)
{
	struct iovec part = {"x", 1};
	struct pollfd ready;
	pthread_t t;
	eventfd_t got;
	char c;

	want(pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	alone();
	listen_locally();
	event = eventfd(0, 0);
	answer = eventfd(0, 0);
	want(pthread_create(&t, NULL, other, NULL) == 0);
	want(writev(ends[1], &part, 1) == 1);
	want(recv(pair[0], &c, 1, 0) == 1);
	want(write(pair[0], "x", 1) == 1);
	ready = (struct pollfd){.fd = event, .events = POLLIN};
	want(poll(&ready, 1, -1) == 1);
	want(eventfd_read(event, &got) == 0);
	want(eventfd_write(answer, 1) == 0);
	int s = accept(listener, NULL, NULL);
	want(read(s, &c, 1) == 1);
	want(read(ends[0], &c, 1) == 0);
	pthread_join(t, NULL);
	return 0;
}
