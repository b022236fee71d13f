// SPDX-License-Identifier: Apache-2.0
/* A server that renames the socket it has bound, as haproxy does, and fails if it cannot.  Its
 * threads race. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static long hits;

static void *work(void *argument)
{
	for (int i = 0; i < 10; i++)
		hits++;
	return argument;
}

int main(void)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	pthread_t threads[2];

	strcpy(name.sun_path, "renamed.tmp");
	unlink(name.sun_path);
	if (bind(listener, (struct sockaddr *)&name, sizeof name) || listen(listener, 5) ||
	    rename(name.sun_path, "renamed.sock")) {
		perror("renamed");
		return 1;
	}
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	unlink("renamed.sock");
	return 0;
}
