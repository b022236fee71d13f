/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small actions for two threads, a and b, which can be led through them in any order
 * (test/unit/u-rt-steer.c).  The argument names a row of the table at the end.  The output shows
 * the order in which things happened.
 *
 * Comments such as "lock 2" number a thread's operations (doc/format/schedule.md); 1 is its start.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define PLACE __attribute__((noinline))

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_barrier_t barrier;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem;
static mtx_t c11;
static char said[64];
static _Atomic unsigned length;
static _Thread_local int self;

static void say(int c)
{
	said[atomic_fetch_add(&length, 1)] = (char)c;
}

static struct timespec far(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += 1000;
	return t;
}

/* lock 2, unlock 3, end 4 */

static void use_mutex(int c)
{
	pthread_mutex_lock(&first);
	say(c);
	pthread_mutex_unlock(&first);
}

static void use_timed(int c)
{
	struct timespec t = far();

	pthread_mutex_timedlock(&first, &t);
	say(c);
	pthread_mutex_unlock(&first);
}

static void use_c11(int c)
{
	mtx_lock(&c11);
	say(c);
	mtx_unlock(&c11);
}

static void use_try(int c)
{
	if (pthread_mutex_trylock(&first)) {
		say(c - 'a' + 'A');
		return;
	}
	say(c);
	pthread_mutex_unlock(&first);
}

static void use_rwlock(int c)
{
	if (c == 'a')
		pthread_rwlock_rdlock(&rwlock);
	else
		pthread_rwlock_wrlock(&rwlock);
	say(c);
	pthread_rwlock_unlock(&rwlock);
}

static void use_spin(int c)
{
	pthread_spin_lock(&spin);
	say(c);
	pthread_spin_unlock(&spin);
}

static void use_sem(int c)
{
	sem_wait(&sem);
	say(c);
	sem_post(&sem);
}

static void use_start(int c)
{
	say(c);
}

/* once-run 2, once-done 3 or once-pass 2 */

static void routine(void)
{
	say(self);
}

static void use_once(int c)
{
	self = c;
	pthread_once(&once, routine);
}

/* barrier-enter 2, barrier-exit 3 */

static void use_barrier(int c)
{
	if (pthread_barrier_wait(&barrier))
		say(c);
}

/* lock 2, cond-wait 3, cond-wake 4, unlock 5; main: lock 4, signal 5, unlock 6, lock 7, signal 8, unlock 9 */

static void use_cond(int c)
{
	pthread_mutex_lock(&first);
	pthread_cond_wait(&cond, &first);
	say(c);
	pthread_mutex_unlock(&first);
}

static void signal_twice(void)
{
	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&first);
		pthread_cond_signal(&cond);
		pthread_mutex_unlock(&first);
	}
}

/* lock 2, unlock 3, then the accesses */

static int shared, cells[32];
static _Atomic int flag;

static PLACE void write_a(void)
{
	shared = 'a';
}

static PLACE void write_b(void)
{
	shared = 'b';
}

static void use_race(int c)
{
	pthread_mutex_lock(&first);
	pthread_mutex_unlock(&first);
	if (c == 'a')
		write_a();
	else
		write_b();
}

static void use_often(int c)
{
	for (int i = 0; i < 100000; i++)
		use_race(c);
}

static PLACE void fill(int n)
{
	for (int i = 0; i < n; i++)
		cells[2 * i] = i;
}

static PLACE void look(int i)
{
	if (cells[i] > 100)
		say('!');
}

static void use_cells(int c)
{
	pthread_mutex_lock(&first);
	pthread_mutex_unlock(&first);
	if (c == 'a')
		fill(16);
	else
		look(14);
	pthread_mutex_lock(&first);
	pthread_mutex_unlock(&first);
}

static PLACE void store_flag(void)
{
	atomic_store(&flag, 1);
}

static PLACE int load_flag(void)
{
	return *(volatile int *)&flag;
}

static void use_atomic(int c)
{
	pthread_mutex_lock(&first);
	pthread_mutex_unlock(&first);
	if (c == 'a')
		store_flag();
	else
		load_flag();
}

static PLACE void clear_cells(void)
{
	memset(cells, 0, sizeof cells);
}

static void use_range(int c)
{
	pthread_mutex_lock(&first);
	pthread_mutex_unlock(&first);
	if (c == 'a')
		clear_cells();
	else
		look(3);
}

/* lock 2, lock 3 */

static void use_both(int c)
{
	pthread_mutex_t *one = c == 'a' ? &first : &second, *two = c == 'a' ? &second : &first;

	pthread_mutex_lock(one);
	pthread_mutex_lock(two);
	say(c);
	pthread_mutex_unlock(two);
	pthread_mutex_unlock(one);
}

/* lock 2, lock 3, of the same mutex */

static void use_twice(int c)
{
	if (c != 'a')
		return;
	pthread_mutex_lock(&first);
	pthread_mutex_lock(&first);
}

/* a: lock 2, cond-wait 3, cond-wake 4; b: lock 2, signal 3, unlock 4 */

static void use_lost(int c)
{
	pthread_mutex_lock(&first);
	if (c == 'a')
		pthread_cond_wait(&cond, &first);
	else
		pthread_cond_signal(&cond);
	pthread_mutex_unlock(&first);
}

/* a waits in a loop until b sets done */

static volatile int done;

static void use_spins(int c)
{
	while (c == 'a' && !done)
		;
	say(c);
	done = 1;
}

/* b yields until a has written.  Its loop has no access that Raddle can see. */

static void use_yields(int c)
{
	int seen = 0;

	if (c == 'a') {
		write_a();
		done = 1;
		return;
	}
	while (!seen) {
		sched_yield();
		__asm__ volatile("movl (%1), %0" : "=r"(seen) : "r"(&done));
	}
}

static const struct {
	const char *name;
	void (*work)(int c);
	void (*rest)(void);
} rows[] = {
	{"mutex", use_mutex, NULL},	{"timed", use_timed, NULL},	  {"c11", use_c11, NULL},
	{"try", use_try, NULL},		{"rwlock", use_rwlock, NULL},	  {"spin", use_spin, NULL},
	{"sem", use_sem, NULL},		{"start", use_start, NULL},	  {"once", use_once, NULL},
	{"barrier", use_barrier, NULL}, {"cond", use_cond, signal_twice}, {"race", use_race, NULL},
	{"often", use_often, NULL},	{"cells", use_cells, NULL},	  {"atomic", use_atomic, NULL},
	{"range", use_range, NULL},	{"both", use_both, NULL},	  {"twice", use_twice, NULL},
	{"lost", use_lost, NULL},	{"spins", use_spins, NULL},	  {"yields", use_yields, NULL},
};

static void (*work)(int c);

static void *thread(void *c)
{
	work((int)(intptr_t)c);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	void (*rest)(void) = NULL;

	for (size_t i = 0; argc > 1 && i < sizeof rows / sizeof rows[0]; i++)
		if (!strcmp(rows[i].name, argv[1])) {
			work = rows[i].work;
			rest = rows[i].rest;
		}
	if (!work)
		return 2;
	pthread_spin_init(&spin, 0);
	pthread_barrier_init(&barrier, NULL, 2);
	sem_init(&sem, 0, 1);
	mtx_init(&c11, mtx_plain);
	for (intptr_t i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, thread, (void *)('a' + i));
	if (rest)
		rest();
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	if (shared)
		say(shared);
	puts(said);
	return 0;
}
