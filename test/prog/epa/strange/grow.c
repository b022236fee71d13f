// SPDX-License-Identifier: Apache-2.0
/* In each thread, an array of pointers grows by realloc(). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct words {
	char **list;
	size_t count, capacity;
};

static void add(struct words *w, const char *text)
{
	if (w->count == w->capacity) {
		w->capacity = w->capacity ? 2 * w->capacity : 2;
		w->list = realloc(w->list, w->capacity * sizeof *w->list);
	}
	w->list[w->count++] = strdup(text);
}

static void *work(void *argument)
{
	struct words w = {0};
	char text[32];
	long *sum = argument;
	for (int i = 0; i < 21; i++) {
		snprintf(text, sizeof text, "word %ld-%d", *sum, i);
		add(&w, text);
	}
	*sum = 0;
	for (size_t i = 0; i < w.count; i++) {
		*sum = *sum * 7 % 1000003 + (long)strlen(w.list[i]) + w.list[i][5];
		free(w.list[i]);
	}
	free(w.list);
	return NULL;
}

int main(void)
{
	pthread_t t[2];
	long sums[2] = {1, 10};
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, &sums[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%ld %ld\n", sums[0], sums[1]);
	return 0;
}
