// SPDX-License-Identifier: Apache-2.0
/* A server thread answers questions that come through a socket pair. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2];

static void *serve(void *argument)
{
	char request[16], answer[16];
	(void)argument;
	while (recv(ends[1], request, sizeof request, 0) > 0) {
		int n = 0;
		if (sscanf(request, "square %d", &n) != 1)
			break;
		memset(answer, 0, sizeof answer);
		snprintf(answer, sizeof answer, "%d", n * n);
		send(ends[1], answer, sizeof answer, 0);
	}
	return NULL;
}

int main(void)
{
	pthread_t t;
	char request[16], answer[16];
	int sum = 0, n;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends))
		return 2;
	pthread_create(&t, NULL, serve, NULL);
	for (int i = 0; i < 6; i++) {
		memset(request, 0, sizeof request);
		snprintf(request, sizeof request, "square %d", i);
		send(ends[0], request, sizeof request, 0);
		if (recv(ends[0], answer, sizeof answer, 0) <= 0)
			return 3;
		if (sscanf(answer, "%d", &n) == 1)
			sum += n;
	}
	close(ends[0]);
	pthread_join(t, NULL);
	printf("%d\n", sum);
	return 0;
}
