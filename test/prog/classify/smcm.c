// SPDX-License-Identifier: Apache-2.0
/* The four micro-benchmarks with which Kasikci's thesis evaluates its memory models (figure 31), as
 * printed and corrected (test/cli/classify-memory.sh, labels in memory-labels).  The first argument
 * selects one.
 *
 * As printed, no-sync-bug and sync-bug cannot fail under any model: they wait for globaly == 2, but
 * it is 0 or 1.  With 1 they already fail under sequential consistency, since main reads globalx
 * first.  In the corrected versions main reads globaly first; then globaly == 1 with globalx == 0
 * needs reordered stores. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile int globalx, globaly;
static pthread_barrier_t barr;

static void *both(void *arg)
{
	globalx = 2; /* both-x */
	globaly = 1; /* both-y */
	return arg;
}

static void *both_behind(void *arg)
{
	globalx = 2; /* behind-x */
	pthread_barrier_wait(&barr);
	globaly = 1; /* behind-y */
	return arg;
}

static void *both_before(void *arg)
{
	globalx = 2; /* before-both-x */
	globaly = 1; /* before-y */
	pthread_barrier_wait(&barr);
	return arg;
}

static void *one(void *arg)
{
	globalx = 2; /* one-x */
	return arg;
}

static void *one_before(void *arg)
{
	globalx = 2; /* before-x */
	pthread_barrier_wait(&barr);
	return arg;
}

static void print(void)
{
	printf("%d,%d\n", globalx, globaly); /* print */
}

static void print_y_first(void)
{
	int y = globaly, x = globalx; /* print-y */

	printf("%d,%d\n", x, y);
}

static void crash_printed(void)
{
	if (globalx == 0 && globaly == 2) /* crash-printed */
		abort();
}

static void crash_x_first(void)
{
	if (globalx == 0 && globaly == 1) /* crash-x-first */
		abort();
}

static void crash_y_first(void)
{
	if (globaly == 1 && globalx == 0) /* crash-y-first */
		abort();
}

/* ---- programs that are not from the thesis ---- */

/* Each thread announces itself and checks whether the other has.  At most one enters, unless stores
 * wait in store buffers. */
static int coming[2];
static int inside;

static void go_in(void)
{
	if (__atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST) != 0)
		abort();
}

static void *first(void *arg)
{
	coming[0] = 1;	/* first-comes */
	if (!coming[1]) /* first-looks */
		go_in();
	return arg;
}

static void *second(void *arg)
{
	coming[1] = 1;	/* second-comes */
	if (!coming[0]) /* second-looks */
		go_in();
	return arg;
}

/* With a fence between its store and its load, at most one thread enters in every model. */
static void *first_fenced(void *arg)
{
	coming[0] = 1; /* fenced-comes */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!coming[1])
		go_in();
	return arg;
}

static void *second_fenced(void *arg)
{
	coming[1] = 1;
	__asm__ volatile("mfence" ::: "memory");
	if (!coming[0]) /* fenced-looks */
		go_in();
	return arg;
}

/* The value in the box is stored before the pointer to the box is published. */
struct box {
	int value;
};
static struct box *box;

static void *publish(void *arg)
{
	struct box *b = malloc(sizeof *b);

	b->value = 7;
	box = b; /* publish */
	return arg;
}

static void *receive(void *arg)
{
	struct box *b = box; /* receive */

	if (b && b->value != 7)
		abort();
	return arg;
}

/* The pointer is published by release and acquire; only hits races, which no thread reads. */
static int hits;

static void *publish_rightly(void *arg)
{
	struct box *b = malloc(sizeof *b);

	b->value = 7;
	hits = 1; /* publish-rightly */
	__atomic_store_n(&box, b, __ATOMIC_RELEASE);
	return arg;
}

static void *receive_rightly(void *arg)
{
	struct box *b = __atomic_load_n(&box, __ATOMIC_ACQUIRE);

	hits = 1; /* receive-rightly */
	if (b && b->value != 7)
		abort();
	return arg;
}

static void nothing(void)
{
}

static const struct program {
	const char *name;
	void *(*work[2])(void *);
	void (*look)(void);
} programs[] = {
	{"no-sync", {both, one}, print},
	{"no-sync-bug", {both, one}, crash_printed},
	{"no-sync-bug-x", {both, one}, crash_x_first},
	{"sync", {both_behind, one_before}, print},
	{"sync-bug", {both_before, one_before}, crash_printed},
	{"no-sync-y", {both, one}, print_y_first},
	{"no-sync-bug-y", {both, one}, crash_y_first},
	{"sync-y", {both_behind, one_before}, print_y_first},
	{"sync-bug-y", {both_before, one_before}, crash_y_first},
	{"dekker", {first, second}, nothing},
	{"dekker-fenced", {first_fenced, second_fenced}, nothing},
	{"box", {publish, receive}, nothing},
	{"box-rightly", {publish_rightly, receive_rightly}, nothing},
};

int main(int argc, char **argv)
{
	const struct program *p = NULL;
	pthread_t threads[2];

	for (size_t i = 0; i < sizeof programs / sizeof *programs && argc > 1; i++)
		if (!strcmp(programs[i].name, argv[1]))
			p = &programs[i];
	if (!p)
		return 2;
	pthread_barrier_init(&barr, NULL, 2);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, p->work[i], NULL);
	p->look();
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
