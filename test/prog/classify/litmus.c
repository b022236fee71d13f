// SPDX-License-Identifier: Apache-2.0
/*
 * Small programs that abort at an outcome that only some memory models allow
 * (test/cli/check-memory.sh).  Usage: litmus NAME.  The four words after a name state whether sc,
 * tso, pso and weak allow the outcome.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int x, y, z, chatter;
static atomic_int flag;
static volatile unsigned seq;
static volatile struct {
	int x, y;
} point;
static int r[4];

/* isa2: no no yes yes.  A store overtakes another.  The third thread notices. */
static void isa2(int who)
{
	if (who == 0) {
		x = 1;
		y = 1;
	} else if (who == 1) {
		r[0] = y;
		z = 1;
	} else {
		r[1] = z;
		r[2] = x;
	}
}
static int isa2_bad(void)
{
	return r[0] == 1 && r[1] == 1 && r[2] == 0;
}

/* relaxed: no no yes yes.  A relaxed atomic flag publishes a plain variable. */
static void relaxed(int who)
{
	if (who == 0) {
		x = 1;
		atomic_store_explicit(&flag, 1, memory_order_relaxed);
	} else if (who == 1) {
		r[0] = atomic_load_explicit(&flag, memory_order_relaxed);
		r[1] = r[0] ? x : 1;
	}
}
static int relaxed_bad(void)
{
	return r[0] == 1 && r[1] == 0;
}

/* released: no no no no.  The same with release and acquire. */
static void released(int who)
{
	if (who == 0) {
		x = 1;
		atomic_store_explicit(&flag, 1, memory_order_release);
	} else if (who == 1) {
		r[0] = atomic_load_explicit(&flag, memory_order_acquire);
		r[1] = r[0] ? x : 1;
	}
	chatter = who;
}

/* unread: no no no yes.  The store releases, but the load does not acquire. */
static void unread(int who)
{
	if (who == 0) {
		x = 1;
		atomic_store_explicit(&flag, 1, memory_order_release);
	} else if (who == 1) {
		r[0] = atomic_load_explicit(&flag, memory_order_relaxed);
		r[1] = r[0] ? x : 1;
	}
}

/* seqlock: no no yes yes.  Each of two races alone lets the reader see half of an update. */
static void seqlock(int who)
{
	unsigned before;

	if (who == 0) {
		seq++;
		point.x = 5;
		point.y = 5;
		seq++;
	} else if (who == 1) {
		do {
			while ((before = seq) & 1)
				sched_yield();
			r[0] = point.x;
			r[1] = point.y;
		} while (seq != before);
	}
}
static int seqlock_bad(void)
{
	return r[0] != r[1];
}

/* company: no yes yes yes.  The outcome does not depend on the race on `chatter`. */
static void company(int who)
{
	if (who == 0) {
		x = 1;
		r[0] = y;
	} else if (who == 1) {
		y = 1;
		r[1] = x;
	}
	chatter = who;
}
static int company_bad(void)
{
	return r[0] == 0 && r[1] == 0;
}

static const struct {
	const char *name;
	void (*work)(int who);
	int (*bad)(void);
} programs[] = {
	{"isa2", isa2, isa2_bad},
	{"relaxed", relaxed, relaxed_bad},
	{"released", released, relaxed_bad},
	{"unread", unread, relaxed_bad},
	{"seqlock", seqlock, seqlock_bad},
	{"company", company, company_bad},
};
static size_t chosen;

static void *work(void *who)
{
	programs[chosen].work((int)(long)who);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[3];

	while (argc < 2 || strcmp(programs[chosen].name, argv[1]) != 0)
		if (++chosen == sizeof programs / sizeof *programs)
			return 2;
	r[0] = r[1] = r[2] = -1;
	for (long i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	if (programs[chosen].bad())
		abort();
	puts("ok");
	return 0;
}
