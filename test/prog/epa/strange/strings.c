// SPDX-License-Identifier: Apache-2.0
/* Threads call string functions on buffers on the stack and on the heap. */
#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *work(void *argument)
{
	const char *text = argument;
	char buffer[64], *copy = strdup(text), *at;
	long sum = 0;
	strncpy(buffer, text, sizeof buffer - 1);
	buffer[63] = 0;
	for (at = buffer; *at; at++)
		*at = (char)toupper((unsigned char)*at);
	strcat(buffer, "!");
	memmove(buffer + 2, buffer, strlen(buffer) + 1);
	at = strstr(buffer, "FOX");
	sum = at ? at - buffer : -1;
	at = strrchr(copy, ' ');
	sum = sum * 100 + (at ? (long)strspn(at + 1, "abcdefghijklmnopqrstuvwxyz") : 0);
	sum = sum * 100 + (long)strcspn(copy, "q");
	sum = sum * 10 + (strcasecmp(copy, buffer) > 0);
	sum += strtol("0x1f", &at, 0) + *at;
	free(copy);
	return (void *)sum;
}

int main(void)
{
	static char *texts[] = {"the quick brown fox jumps", "over the lazy dog", "fox"};
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, texts[i]);
	for (int i = 0; i < 3; i++) {
		void *r;
		pthread_join(t[i], &r);
		printf("%ld\n", (long)r);
	}
	return 0;
}
