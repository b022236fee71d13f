/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mixture of things that can confuse a comparison of runs, in threads that do not access each
 * other's data: heap blocks that grow, move and are freed in another order, private files, strings,
 * sorting, jumps, thread-local and variable-length objects, padding, pointers in integers,
 * destructors, nested threads.
 *
 *	mixed [THREADS [ROUNDS]]	prints a number for each thread
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS_MAX 16

struct padded {
	char letter;
	long number;
	short small;
	const char *name;
};

struct node {
	struct node *next, **owner;
	uintptr_t tagged;
	unsigned value;
};

struct job {
	int number;
	unsigned seed, result;
	sem_t done;
};

static int thread_count = 4, rounds = 3;
static __thread unsigned own = 7;
static __thread char own_text[16];
static pthread_key_t key;
static struct job jobs[THREADS_MAX];

static unsigned next(struct job *j)
{
	j->seed = j->seed * 1103515245u + 12345u;
	return j->seed >> 16;
}

static void add(struct job *j, uint64_t value)
{
	j->result = j->result * 31 + (unsigned)(value ^ value >> 32);
}

/* Allocates blocks of many sizes and releases them in a pseudo-random order. */
static void blocks(struct job *j)
{
	unsigned char *kept[12] = {0};
	for (int i = 0; i < 40; i++) {
		unsigned which = next(j) % 12, size = 1 + next(j) % 300;
		switch (next(j) % 3) {
		case 0:
			free(kept[which]);
			kept[which] = NULL;
			break;
		case 1:
			free(kept[which]);
			kept[which] = calloc(size, 1);
			break;
		default:
			kept[which] = realloc(kept[which], size);
			kept[which][size - 1] = (unsigned char)size;
			add(j, kept[which][size - 1]);
		}
	}
	for (int i = 0; i < 12; i++)
		free(kept[i]);
}

static int by_value(const void *a, const void *b)
{
	const struct node *x = *(struct node *const *)a, *y = *(struct node *const *)b;
	return x->value < y->value ? -1 : x->value > y->value;
}

/* Makes a list whose nodes point back to the pointers to them, and sorts an array of its nodes. */
static void list(struct job *j)
{
	struct node *head = NULL, **sorted;
	unsigned count = 5 + next(j) % 5, i = 0;
	for (i = 0; i < count; i++) {
		struct node *n = malloc(sizeof *n);
		*n = (struct node){head, &head, (uintptr_t)n | 1, next(j)};
		if (head)
			head->owner = &n->next;
		head = n;
	}
	sorted = malloc(count * sizeof(*sorted));
	i = 0;
	for (struct node *n = head; n; n = n->next)
		sorted[i++] = (struct node *)(n->tagged & ~(uintptr_t)1);
	qsort(sorted, count, sizeof(*sorted), by_value);
	for (i = 0; i < count; i++) {
		add(j, (*sorted[i]->owner)->value);
		*sorted[i]->owner = sorted[i]->next;
		if (sorted[i]->next)
			sorted[i]->next->owner = sorted[i]->owner;
		free(sorted[i]);
	}
	free(sorted);
}

/* Writes text to the thread's own file, reads it back and splits it into words. */
static void text(struct job *j)
{
	char *line = NULL, *rest, *copy;
	size_t size = 0;
	int number = 0, total = 0;
	FILE *f = tmpfile();
	for (int i = 0; i < 4; i++)
		fprintf(f, "%u %s %.3f\n", next(j) % 1000, i % 2 ? "odd" : "even", (double)next(j) / 7);
	rewind(f);
	while (getline(&line, &size, f) > 0) {
		copy = strdup(line);
		if (sscanf(copy, "%d", &number) == 1)
			total += number;
		for (char *word = strtok_r(copy, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest))
			total += (int)strlen(word);
		free(copy);
	}
	free(line);
	fclose(f);
	snprintf(own_text, sizeof own_text, "%d", total);
	add(j, (unsigned)atoi(own_text));
}

static void padding(struct job *j)
{
	struct padded few[4], *many = malloc(sizeof *many * 4);
	long n = 2 + next(j) % 20;
	long variable[n];
	for (int i = 0; i < 4; i++)
		few[i] = (struct padded){(char)('a' + i), (long)next(j), (short)i, i % 2 ? "one" : "other"};
	memcpy(many, few, sizeof few);
	memmove(many + 1, many, sizeof few - sizeof few[0]);
	many[0] = few[3];
	for (long i = 0; i < n; i++)
		variable[i] = i * many[i % 4].number;
	add(j, (uint64_t)variable[n - 1] + (unsigned char)many[2].name[1]);
	free(many);
}

static __attribute__((noinline)) void fall(jmp_buf *back, struct job *j, int depth)
{
	volatile int here = depth;
	if (next(j) % 5 == 0 || depth == 12)
		longjmp(*back, depth + 1);
	fall(back, j, here + 1);
	here = 0;
}

static void jumps(struct job *j)
{
	jmp_buf back;
	int depth = setjmp(back);
	if (depth == 0)
		fall(&back, j, 0);
	add(j, (unsigned)depth);
}

static void wide(struct job *j)
{
	__int128 product = (__int128)next(j) << 40;
	long double x = (long double)next(j) / 3;
	product *= next(j);
	add(j, (uint64_t)(product >> 20));
	add(j, (uint64_t)(x * 1000));
}

static void *child(void *argument)
{
	struct job *j = argument;
	own += (unsigned)j->number;
	blocks(j);
	add(j, own);
	pthread_exit(&own);
}

static void children(struct job *j)
{
	pthread_t t[2];
	void *result;
	struct job *inner = calloc(2, sizeof *inner);
	for (int i = 0; i < 2; i++) {
		inner[i] = (struct job){.number = i, .seed = next(j)};
		pthread_create(&t[i], NULL, child, &inner[i]);
	}
	for (int i = 0; i < 2; i++) {
		pthread_join(t[i], &result);
		add(j, inner[i].result);
	}
	free(inner);
}

static void at_end(void *p)
{
	struct job *j = *(struct job **)p;
	add(j, own);
	free(p);
	sem_post(&j->done);
}

static void *work(void *argument)
{
	static void (*const parts[])(struct job *) = {blocks, list, text, padding, jumps, wide, children};
	struct job *j = argument, **kept = malloc(sizeof(*kept));
	*kept = j;
	pthread_setspecific(key, kept);
	for (int i = 0; i < rounds; i++)
		for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
			parts[(k + (size_t)j->number) % (sizeof parts / sizeof *parts)](j);
	own = j->result;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;
	if (argc > 1)
		thread_count = atoi(argv[1]);
	if (argc > 2)
		rounds = atoi(argv[2]);
	if (thread_count > THREADS_MAX || pthread_key_create(&key, at_end) != 0)
		return 2;
	for (int i = 0; i < thread_count; i++) {
		jobs[i].number = i;
		jobs[i].seed = (unsigned)i * 977 + 5;
		sem_init(&jobs[i].done, 0, 0);
		pthread_create(&t, NULL, work, &jobs[i]);
		pthread_detach(t);
	}
	for (int i = 0; i < thread_count; i++) {
		sem_wait(&jobs[i].done);
		printf("%d: %u\n", i, jobs[i].result);
	}
	return 0;
}
