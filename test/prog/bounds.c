// SPDX-License-Identifier: Apache-2.0
/* Accesses variables and arrays with two threads:
 *
 *	bounds sound		correct and customary uses: pointers one past the end, flexible members, ...
 *	bounds MODE NUMBER	the mode is a kind of access, the number an index or a length; the arrays of
 *				all modes have 8 elements, so numbers from 0 to 7 are inside
 */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 8 };

struct short_tail {
	int n;
	int items[1];
};
struct flexible {
	long n;
	char more, data[];
};
struct link {
	struct link *next;
};
struct owner {
	long before[3];
	struct link link;
	long value;
};
struct inner {
	int n;
	char tail[4];
};
struct outer {
	struct inner in;
	char space[28];
};
union both {
	unsigned char bytes[4];
	uint32_t words[4];
};
struct table {
	short names[ELEMENTS];
	short locked;
	struct {
		int used, count;
	} slots[ELEMENTS];
	long end;
};

static const char *mode;
static long number;
static struct table shared;
static int numbers[ELEMENTS], after[ELEMENTS];
static const int primes[ELEMENTS] = {2, 3, 5, 7, 11, 13, 17, 19};
static _Atomic int counters[ELEMENTS];
static _Thread_local int own[ELEMENTS];
static struct {
	int n;
	char data[];
} filled = {3, {1, 2, 3}};
static int matrix[3][4];

static long containers(void)
{
	struct owner o = {.value = 4};
	struct link *l = &o.link;
	struct outer big;
	union both u;
	long sum = ((struct owner *)((char *)l - offsetof(struct owner, link)))->value;

	for (int i = 0; i < 16; i++)
		((unsigned char *)&u)[i] = (unsigned char)i;
	for (int i = 0; i < 30; i++)
		big.in.tail[i] = 0;
	for (int i = 0; i < 12; i++)
		sum += matrix[0][i] + (&matrix[0][0])[i];
	return sum + (u.words[3] != 0) + big.space[3];
}

static long tails(void)
{
	struct short_tail *h = malloc(sizeof *h + 9 * sizeof(int));
	struct flexible *f = malloc(offsetof(struct flexible, data) + 5), copy = {0};
	long sum = 0;

	*f = copy;
	h->n = 10;
	for (int i = 0; i < h->n; i++)
		h->items[i] = i;
	for (int i = 0; i < 5; i++)
		f->data[i] = (char)i;
	for (int i = 0; i < filled.n; i++)
		sum += filled.data[i];
	sum += h->items[9] + f->data[4];
	free(h);
	free(f);
	return sum;
}

static long pointers(void)
{
	int local[10], *one = local - 1, *p;
	int *volatile either = number ? local : numbers;
	long sum = 0;

	for (int i = 1; i <= 10; i++)
		one[i] = i;
	for (p = local; p < local + 10; p++)
		sum += *p;
	for (p = &local[10]; p-- > local;)
		sum += *p;
	p = number ? local : numbers;
	for (int i = 0; i < ELEMENTS; i++)
		sum += p[i] + either[i];
	memcpy(&local[10], numbers, 0);
	return sum;
}

/* Each block of the list is a new one, although the same call makes it. */
static long stack_blocks(void)
{
	struct {
		void *before;
		long n;
	} *head = NULL, *one;

	for (long i = 0; i < 5; i++) {
		one = __builtin_alloca(sizeof *one);
		one->before = head;
		one->n = i;
		head = one;
	}
	return head->n + ((long *)head->before)[1];
}

static long blocks(void)
{
	char *t = malloc(21), *end;
	long sum = 0;

	for (size_t i = 0; i < malloc_usable_size(t); i++)
		t[i] = 1;
	end = t + 21;
	while (end > t)
		sum += *--end;
	t = realloc(t, 13);
	memcpy(t, "hello, world", 13);
	sum += (long)strlen(t) + *(int *)(t + 8);
	free(t);
	return sum;
}

static void touch(int *p)
{
	*(volatile int *)p = 1;
}

static void text(char *to, int joins)
{
	char from[64] = "";

	memset(from, 'x', (size_t)number);
	joins ? strcat(to, from) : strcpy(to, from);
}

static void stray(void)
{
	int local[ELEMENTS] = {0}, neighbour[ELEMENTS] = {0}, size = ELEMENTS + (mode[0] == '?');
	int variable[size];
	char bytes[ELEMENTS] = "", room[64] = "";
	long n = number;
	char *block;

	if (!strcmp(mode, "local")) {
		local[n] = 1;
	} else if (!strcmp(mode, "loop")) {
		for (int *p = local; p <= local + n; p++)
			*(volatile int *)p = 1;
	} else if (!strcmp(mode, "variable")) {
		*(volatile int *)&variable[n] = 1;
	} else if (!strcmp(mode, "global")) {
		touch(&numbers[(n + 1) % ELEMENTS]);
		numbers[n] = 1;
	} else if (!strcmp(mode, "constant")) {
		own[0] = primes[n];
	} else if (!strcmp(mode, "thread")) {
		own[n] = 1;
	} else if (!strcmp(mode, "member")) {
		struct table *t = calloc(1, sizeof *t);
		t->names[n] = 1;
		free(t);
	} else if (!strcmp(mode, "inner")) {
		shared.slots[n].count = 1;
	} else if (!strcmp(mode, "atomic")) {
		atomic_fetch_add(&counters[n], 1);
	} else if (!strcmp(mode, "copy")) {
		memcpy(bytes, room, (size_t)n + 1);
	} else if (!strcmp(mode, "name")) {
		char name[ELEMENTS], from[64] = "";
		memset(from, 'x', (size_t)n);
		strcpy(name, from);
		strcat(room, name);
	} else if (!strcmp(mode, "block")) {
		block = malloc(ELEMENTS);
		text(block, 0);
		free(block);
	} else if (!strcmp(mode, "joined")) {
		block = calloc(1, 2 * ELEMENTS);
		memset(block, 'y', ELEMENTS);
		text(block, 1);
		free(block);
	}
	after[0] = bytes[1] + neighbour[n & 7] + room[3] + local[1];
}

static void *use(void *result)
{
	if (strcmp(mode, "sound") != 0)
		stray();
	*(long *)result = containers() + tails() + pointers() + stack_blocks() + blocks();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	long results[2];

	mode = argc > 1 ? argv[1] : "sound";
	number = argc > 2 ? atol(argv[2]) : 0;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, use, &results[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return results[0] != results[1];
}
