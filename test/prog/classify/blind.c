// SPDX-License-Identifier: Apache-2.0
/*
 * Pairs of accesses that a detector would report if it did not know one kind of synchronisation.
 * None is a race: each has a fixed order or is mutually exclusive.  The first argument selects a
 * kind from the table at the end.  A comment with the kind's name marks the lines of its accesses.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER, recursive_mutex,
		       error_mutex;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t permits, handed;
static mtx_t c11;
static atomic_flag taken = ATOMIC_FLAG_INIT;
static volatile int shared, ready;

static void by_mutex(int n)
{
	pthread_mutex_lock(&mutex);
	shared += n; /* mutex */
	pthread_mutex_unlock(&mutex);
}

static void by_two(int n)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_lock(&second);
	shared += n; /* nested */
	pthread_mutex_unlock(&second);
	pthread_mutex_unlock(&mutex);
}

static void by_recursive(int n)
{
	pthread_mutex_lock(&recursive_mutex);
	pthread_mutex_lock(&recursive_mutex);
	shared += n; /* recursive */
	pthread_mutex_unlock(&recursive_mutex);
	pthread_mutex_unlock(&recursive_mutex);
}

static void by_error_check(int n)
{
	pthread_mutex_lock(&error_mutex);
	shared += n; /* errorcheck */
	pthread_mutex_unlock(&error_mutex);
}

static void by_rwlock(int n)
{
	if (n) {
		pthread_rwlock_wrlock(&rwlock);
		shared = 4; /* rwlock */
	} else {
		pthread_rwlock_rdlock(&rwlock);
		if (shared < 0) /* rwlock */
			puts("negative");
	}
	pthread_rwlock_unlock(&rwlock);
}

static void by_spin(int n)
{
	pthread_spin_lock(&spin);
	shared += n; /* spinlock */
	pthread_spin_unlock(&spin);
}

static void by_try(int n)
{
	while (pthread_mutex_trylock(&mutex))
		sched_yield();
	shared += n; /* trylock */
	pthread_mutex_unlock(&mutex);
}

static void by_semaphore(int n)
{
	sem_wait(&permits);
	shared += n; /* semaphore */
	sem_post(&permits);
}

static void by_handing(int n)
{
	if (n) {
		shared = 4; /* handed */
		sem_post(&handed);
	} else {
		sem_wait(&handed);
		printf("%d\n", shared); /* handed */
	}
}

static void by_condition(int n)
{
	if (n) {
		shared = 4; /* condition */
		pthread_mutex_lock(&mutex);
		ready = 1;
		pthread_cond_signal(&changed);
		pthread_mutex_unlock(&mutex);
	} else {
		pthread_mutex_lock(&mutex);
		while (!ready)
			pthread_cond_wait(&changed, &mutex);
		pthread_mutex_unlock(&mutex);
		printf("%d\n", shared); /* condition */
	}
}

static void by_barrier(int n)
{
	if (n)
		shared = 4; /* barrier */
	pthread_barrier_wait(&barrier);
	if (!n)
		printf("%d\n", shared); /* barrier */
}

static void by_c11(int n)
{
	mtx_lock(&c11);
	shared += n; /* c11 */
	mtx_unlock(&c11);
}

static void by_flag(int n)
{
	while (atomic_flag_test_and_set(&taken))
		sched_yield();
	shared += n; /* flag */
	atomic_flag_clear(&taken);
}

static const struct kind {
	const char *name;
	void (*work)(int n);
} kinds[] = {
	{"mutex", by_mutex},	     {"nested", by_two},
	{"recursive", by_recursive}, {"errorcheck", by_error_check},
	{"rwlock", by_rwlock},	     {"spinlock", by_spin},
	{"trylock", by_try},	     {"semaphore", by_semaphore},
	{"handed", by_handing},	     {"condition", by_condition},
	{"barrier", by_barrier},     {"c11", by_c11},
	{"flag", by_flag},
};

static const struct kind *kind;

static void *thread(void *n)
{
	kind->work((int)(long)n);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_mutexattr_t attr;
	pthread_t threads[2];

	for (size_t i = 0; argc > 1 && i < sizeof kinds / sizeof *kinds; i++)
		if (!strcmp(kinds[i].name, argv[1]))
			kind = &kinds[i];
	if (!kind)
		return 2;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&recursive_mutex, &attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&error_mutex, &attr);
	pthread_spin_init(&spin, 0);
	pthread_barrier_init(&barrier, NULL, 2);
	sem_init(&permits, 0, 1);
	sem_init(&handed, 0, 0);
	mtx_init(&c11, mtx_plain);
	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, thread, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
