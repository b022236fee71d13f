// SPDX-License-Identifier: Apache-2.0
/*
 * The client of server.c and threads.c sends lines on two connections in turn and waits for each
 * answer.  It retries until the server accepts the connections.
 *
 *	client PORT LINES
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int reach(const char *port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	struct timespec moment = {0, 20000000};

	address.sin_port = htons((unsigned short)atoi(port));
	for (int i = 0; i < 3000; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		if (!connect(fd, (struct sockaddr *)&address, sizeof address))
			return fd;
		close(fd);
		nanosleep(&moment, NULL);
	}
	return -1;
}

static int ask(int fd, int n)
{
	char text[64], answer[512] = "";
	size_t got = 0, length = (size_t)snprintf(text, sizeof text, "line %d of the client\n", n);

	if (write(fd, text, length) != (ssize_t)length)
		return 1;
	while (!strchr(answer, '\n')) {
		ssize_t r = read(fd, answer + got, sizeof answer - 1 - got);

		if (r <= 0)
			return 1;
		got += (size_t)r;
		answer[got] = '\0';
	}
	fputs(answer, stdout);
	return 0;
}

int main(int argc, char **argv)
{
	int fds[2], lines = argc > 2 ? atoi(argv[2]) : 4;

	for (int i = 0; i < 2; i++)
		if ((fds[i] = reach(argv[1])) < 0)
			return 1;
	for (int i = 0; i < lines; i++)
		if (ask(fds[i % 2], i))
			return 1;
	return 0;
}
