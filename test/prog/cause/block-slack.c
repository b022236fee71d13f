// SPDX-License-Identifier: Apache-2.0
// Two threads append to a block of 20 bytes without a lock: the 21st byte is within what malloc rounds up to.
// expect: length spec-violated memory-error
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static char *text;
static int length = 19;
static void *append(void *arg)
{
	if (length < 20)
		text[length++] = *(char *)arg;
	return NULL;
}
int main(void)
{
	pthread_t a, b;
	text = malloc(20);
	for (int i = 0; i < 20; i++)
		text[i] = 'x';
	pthread_create(&a, NULL, append, "a");
	pthread_create(&b, NULL, append, "b");
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	puts("done");
	free(text);
	return 0;
}
