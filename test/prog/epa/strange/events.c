// SPDX-License-Identifier: Apache-2.0
/* Main polls two eventfds one after the other; a thread writes to each. */
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int fds[2];
static int data[2];

static void *work(void *argument)
{
	long me = (long)argument;
	uint64_t one = 1;
	data[me] = (int)me * 10 + 5;
	if (write(fds[me], &one, sizeof one) != sizeof one)
		return NULL;
	return argument;
}

int main(void)
{
	pthread_t t[2];
	int sum = 0;
	for (long i = 0; i < 2; i++) {
		struct pollfd p = {.events = POLLIN};
		uint64_t n;
		p.fd = fds[i] = eventfd(0, 0);
		pthread_create(&t[i], NULL, work, (void *)i);
		if (poll(&p, 1, -1) != 1 || read(fds[i], &n, sizeof n) != sizeof n)
			return 2;
		sum = sum * 100 + data[i] + (int)n;
	}
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%d\n", sum);
	return 0;
}
