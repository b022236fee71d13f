// SPDX-License-Identifier: Apache-2.0
/* A server with a thread for each of two connections, which waits for requests.  A request is a
 * line.  The answer is the line and a random number that is the same in all answers.  The server
 * ends when both clients have closed their connections.
 *
 *	threads PORT MODE
 *
 *	noted    the threads store the latest request without a lock; it is never read
 *	counted  they count the requests without a lock, and the count is printed
 *	waits    before each answer, the thread sleeps until a time 20 ms later
 *	calls    the second thread connects to a port, unless the first has set a flag (no lock)
 */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const char *mode;
static unsigned number;
static long latest, count;
static int flag, called;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int is(const char *name)
{
	return !strcmp(mode, name);
}

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void wait_a_moment(void)
{
	struct timespec moment = {0, 1000000};
	long end = now() + 20;

	while (now() < end)
		nanosleep(&moment, NULL);
}

static void call(int port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	address.sin_port = htons((unsigned short)port);
	pthread_mutex_lock(&lock);
	called = connect(fd, (struct sockaddr *)&address, sizeof address) ? errno : -1;
	pthread_mutex_unlock(&lock);
	close(fd);
}

static void heed(int which, int port)
{
	if (is("noted"))
		latest = which;
	if (is("counted"))
		count++;
	if (is("waits"))
		wait_a_moment();
	if (is("calls") && !which)
		flag = 1;
	if (is("calls") && which && !flag)
		call(port);
}

struct client {
	int fd, which, port;
};

static void *serve(void *argument)
{
	struct client *c = argument;
	char line[256], answer[300];
	ssize_t n;

	while ((n = read(c->fd, line, sizeof line - 1)) > 0) {
		int length;

		line[n] = '\0';
		heed(c->which, c->port);
		length = snprintf(answer, sizeof answer, "%08x %s", number, line);
		if (write(c->fd, answer, (size_t)length) != length)
			return NULL;
	}
	close(c->fd);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}}, from;
	socklen_t size = sizeof from;
	struct client clients[2];
	pthread_t threads[2];
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	if (argc < 3 || getrandom(&number, sizeof number, 0) != sizeof number)
		return 2;
	mode = argv[2];
	address.sin_port = htons((unsigned short)atoi(argv[1]));
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 5)) {
		perror("threads");
		return 2;
	}
	for (int i = 0; i < 2; i++) {
		int fd = accept(listener, (struct sockaddr *)&from, &size);

		printf("from %s to %d\n", inet_ntoa(from.sin_addr),
		       getpeername(fd, (struct sockaddr *)&from, &size));
		clients[i] = (struct client){fd, i, atoi(argv[1]) + 1};
		pthread_create(&threads[i], NULL, serve, &clients[i]);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("count %ld, called %d\n", count, called);
	return 0;
}
