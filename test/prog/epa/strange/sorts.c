// SPDX-License-Identifier: Apache-2.0
/* Threads call qsort() on pointers and on structures, and bsearch(), with callbacks. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	int key;
	char name[8];
	const struct entry *friend;
};

static int by_key(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	return (x->key > y->key) - (x->key < y->key);
}

static int by_name(const void *a, const void *b)
{
	const struct entry *const *x = a, *const *y = b;
	return strcmp((*x)->name, (*y)->name);
}

static void *work(void *argument)
{
	unsigned x = *(unsigned *)argument;
	struct entry e[16], *p[16], look = {.key = 0};
	long sum = 0;
	for (int i = 0; i < 16; i++) {
		x = x * 1664525 + 1013904223;
		e[i].key = (int)(x >> 24);
		snprintf(e[i].name, sizeof e[i].name, "k%d", e[i].key * 7 % 256);
		e[i].friend = &e[(i + 5) % 16];
		p[i] = &e[i];
	}
	qsort(p, 16, sizeof *p, by_name);
	for (int i = 0; i < 16; i++)
		sum = sum * 5 % 10007 + p[i]->key + p[i]->friend->key;
	qsort(e, 16, sizeof *e, by_key);
	look.key = e[9].key;
	const struct entry *found = bsearch(&look, e, 16, sizeof *e, by_key);
	sum += found ? found->key : -1;
	*(unsigned *)argument = (unsigned)sum;
	return NULL;
}

int main(void)
{
	pthread_t t[2];
	unsigned seeds[2] = {3, 99};
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, &seeds[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%u %u\n", seeds[0], seeds[1]);
	return 0;
}
