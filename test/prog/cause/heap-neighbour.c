// SPDX-License-Identifier: Apache-2.0
// A thread copies a message with a length that another thread raises, so it overwrites the next
// block. That block is neither printed nor freed, so only a bounds check of the heap finds this.
// expect: length spec-violated memory-error
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *packet, *neighbour;
static size_t length = 16; /* racy */
static char source[256];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int packets;

static void *sender(void *arg)
{
	(void)arg;
	size_t n = length;
	for (size_t i = 0; i < n; i++)
		packet[i] = source[i];
	pthread_mutex_lock(&lock);
	packets++;
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void *negotiator(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&lock);
	packets += 0;
	pthread_mutex_unlock(&lock);
	length = 64; /* the packet should have been reallocated */
	return NULL;
}

int main(void)
{
	packet = malloc(24);
	neighbour = malloc(24);
	memset(source, 'x', sizeof source);
	memset(packet, 0, 24);
	memset(neighbour, 0, 24);
	pthread_t a, b;
	pthread_create(&a, NULL, sender, NULL);
	pthread_create(&b, NULL, negotiator, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d packet\n", packets);
	return 0;
}
