// SPDX-License-Identifier: Apache-2.0
/* The length of a message is checked, then read again; in between it may have grown. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct message {
	volatile unsigned length;
	char text[32];
};

static struct message message = {.length = 5, .text = "hello"};

static void *sender(void *unused)
{
	message.length = 1u << 28;
	return unused;
}

static void *receiver(void *unused)
{
	char copy[16];

	if (message.length > sizeof copy)
		return unused;
	memcpy(copy, message.text, message.length);
	printf("%.5s\n", copy);
	return unused;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, receiver, NULL);
	pthread_create(&b, NULL, sender, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
