/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Torture program: POSIX threads.  The argument names the part to run; the output must not depend
 * on timing.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_key_t key;
static int turns, destroyed;

static struct timespec soon(int ms)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += ms * 1000000l;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static void *add_one(void *p)
{
	pthread_mutex_lock(&lock);
	++*(long *)p;
	pthread_mutex_unlock(&lock);
	return p;
}

static void many_threads(void)
{
	enum { N = 1000 };
	static pthread_t thread[N];
	long total = 0;
	pthread_attr_t attr;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN + 65536);
	pthread_mutex_lock(&lock); /* so that all threads live at the same time */
	int made = 0;
	while (made < N && !pthread_create(&thread[made], &attr, add_one, &total))
		made++;
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < made; i++)
		pthread_join(thread[i], NULL);
	printf("threads %d total %ld\n", made, total);
	for (int i = 0; i < 3000; i++) {
		pthread_create(&thread[0], NULL, add_one, &total);
		pthread_join(thread[0], NULL);
	}
	printf("total %ld\n", total);
}

static void cleaned(void *what)
{
	printf("cleanup %s\n", (char *)what);
}

static void unlock(void *mutex)
{
	pthread_mutex_unlock(mutex);
}

static sem_t arrived;

static void *wait_forever(void *unused)
{
	pthread_cleanup_push(cleaned, "outer");
	pthread_cleanup_push(cleaned, "inner");
	pthread_mutex_lock(&lock);
	pthread_cleanup_push(unlock, &lock);
	sem_post(&arrived);
	for (;;)
		pthread_cond_wait(&cond, &lock);
	pthread_cleanup_pop(1);
	pthread_cleanup_pop(1);
	pthread_cleanup_pop(1);
	return unused;
}

static void *read_forever(void *fd)
{
	char c;
	pthread_cleanup_push(cleaned, "reader");
	sem_post(&arrived);
	while (read(*(int *)fd, &c, 1) >= 0)
		;
	pthread_cleanup_pop(1);
	return NULL;
}

static void *leave_by_exit(void *unused)
{
	(void)unused;
	pthread_cleanup_push(cleaned, "pthread_exit");
	pthread_exit("left");
	pthread_cleanup_pop(0);
	return NULL;
}

static void cancellation(void)
{
	pthread_t t;
	void *result;
	int fd[2];
	if (pipe(fd))
		return;
	sem_init(&arrived, 0, 0);
	pthread_create(&t, NULL, wait_forever, NULL);
	sem_wait(&arrived);
	pthread_cancel(t);
	pthread_join(t, &result);
	printf("cancelled %d, mutex free %d\n", result == PTHREAD_CANCELED,
	       pthread_mutex_trylock(&lock) == 0);
	pthread_mutex_unlock(&lock);
	pthread_create(&t, NULL, read_forever, fd);
	sem_wait(&arrived);
	pthread_cancel(t);
	pthread_join(t, &result);
	printf("cancelled %d\n", result == PTHREAD_CANCELED);
	pthread_create(&t, NULL, leave_by_exit, NULL);
	pthread_join(t, &result);
	printf("%s\n", (char *)result);
}

static void destroy_specific(void *p)
{
	destroyed++;
	if (--*(int *)p > 0)
		pthread_setspecific(key, p); /* so that the destructor is called again */
	else
		free(p);
}

static void *use_specific(void *unused)
{
	int *p = malloc(sizeof *p);
	*p = 3;
	pthread_setspecific(key, p);
	return unused;
}

static void specific_data(void)
{
	pthread_t t[5];
	pthread_key_create(&key, destroy_specific);
	for (int i = 0; i < 5; i++) {
		pthread_create(&t[i], NULL, use_specific, NULL);
		pthread_join(t[i], NULL);
	}
	printf("destructor calls %d\n", destroyed);
}

static void mutex_types(void)
{
	static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
				    PTHREAD_MUTEX_ADAPTIVE_NP};
	for (int i = 0; i < 4; i++) {
		pthread_mutexattr_t attr;
		pthread_mutex_t m;
		pthread_mutexattr_init(&attr);
		pthread_mutexattr_settype(&attr, types[i]);
		pthread_mutex_init(&m, &attr);
		int first = pthread_mutex_lock(&m);
		int again = types[i] == PTHREAD_MUTEX_RECURSIVE || types[i] == PTHREAD_MUTEX_ERRORCHECK
				    ? pthread_mutex_lock(&m)
				    : -1;
		int try = pthread_mutex_trylock(&m);
		struct timespec t = soon(5);
		int timed = types[i] == PTHREAD_MUTEX_ERRORCHECK ? pthread_mutex_timedlock(&m, &t) : -1;
		int unlocked = pthread_mutex_unlock(&m);
		int extra = types[i] == PTHREAD_MUTEX_ERRORCHECK ? pthread_mutex_unlock(&m) : -1;
		printf("mutex %d: %d %d %d %d %d %d\n", types[i], first, again, try, timed, unlocked, extra);
	}
}

static void *robust_owner(void *m)
{
	pthread_mutex_lock(m);
	return NULL;
}

static void robust_mutex(void)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t m;
	pthread_t t;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&m, &attr);
	pthread_create(&t, NULL, robust_owner, &m);
	pthread_join(t, NULL);
	int dead = pthread_mutex_lock(&m);
	int consistent = pthread_mutex_consistent(&m);
	printf("robust %d %d %d\n", dead == EOWNERDEAD, consistent, pthread_mutex_unlock(&m));
}

static void other_primitives(void)
{
	pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
	pthread_rwlock_rdlock(&rw);
	printf("rwlock %d %d", pthread_rwlock_tryrdlock(&rw), pthread_rwlock_trywrlock(&rw) == EBUSY);
	pthread_rwlock_unlock(&rw);
	pthread_rwlock_unlock(&rw);
	printf(" %d %d\n", pthread_rwlock_wrlock(&rw), pthread_rwlock_wrlock(&rw) == EDEADLK);
	pthread_spinlock_t spin;
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	pthread_spin_lock(&spin);
	printf("spin %d %d\n", pthread_spin_trylock(&spin) == EBUSY, pthread_spin_unlock(&spin));
	sem_t sem;
	sem_init(&sem, 0, 1);
	struct timespec t = soon(5);
	int value;
	printf("sem %d %d", sem_wait(&sem), sem_trywait(&sem) == -1 && errno == EAGAIN);
	printf(" %d %d", sem_timedwait(&sem, &t) == -1 && errno == ETIMEDOUT, sem_post(&sem));
	sem_getvalue(&sem, &value);
	printf(" value %d\n", value);
	pthread_mutex_lock(&lock);
	t = soon(5);
	printf("timedwait %d\n", pthread_cond_timedwait(&cond, &lock, &t) == ETIMEDOUT);
	pthread_mutex_unlock(&lock);
	pthread_barrier_t barrier;
	pthread_barrier_init(&barrier, NULL, 1);
	printf("barrier %d\n", pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD);
	printf("join self %d\n", pthread_join(pthread_self(), NULL) == EDEADLK);
}

static void *ping(void *parity)
{
	for (int i = 0; i < 1000; i++) {
		pthread_mutex_lock(&lock);
		while (turns % 2 != *(int *)parity)
			pthread_cond_wait(&cond, &lock);
		turns++;
		pthread_cond_broadcast(&cond);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static once_flag c11_flag = ONCE_FLAG_INIT;
static int once_runs;

static void run_once(void)
{
	once_runs++;
}

static int c11_thread(void *p)
{
	call_once(&c11_flag, run_once);
	mtx_lock(p);
	mtx_unlock(p);
	return 42;
}

static void alternate(void)
{
	pthread_t t[2];
	int parity[2] = {0, 1};
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, ping, &parity[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("turns %d\n", turns);
	thrd_t c[3];
	mtx_t m;
	int result = 0;
	mtx_init(&m, mtx_plain);
	for (int i = 0; i < 3; i++)
		thrd_create(&c[i], c11_thread, &m);
	for (int i = 0; i < 3; i++) {
		int code;
		thrd_join(c[i], &code);
		result += code;
	}
	printf("c11 %d once %d\n", result, once_runs);
}

static atomic_int detached_done;

static void *detached(void *unused)
{
	pthread_detach(pthread_self());
	pthread_setname_np(pthread_self(), "detached");
	atomic_fetch_add(&detached_done, 1);
	return unused;
}

static void detach(void)
{
	for (int i = 0; i < 50; i++) {
		pthread_t t;
		pthread_create(&t, NULL, detached, NULL);
	}
	while (atomic_load(&detached_done) < 50)
		sched_yield();
	puts("detached 50");
}

static void *outlive(void *unused)
{
	for (int i = 0; i < 3; i++)
		usleep(1000);
	puts("the last thread leaves");
	return unused;
}

static void main_leaves_first(void)
{
	pthread_t t;
	pthread_create(&t, NULL, outlive, NULL);
	pthread_detach(t);
	pthread_exit(NULL);
}

static const struct {
	const char *name;
	void (*run)(void);
} parts[] = {
	{"many", many_threads},	  {"cancel", cancellation}, {"specific", specific_data},
	{"mutex", mutex_types},	  {"robust", robust_mutex}, {"primitives", other_primitives},
	{"alternate", alternate}, {"detach", detach},	    {"outlive", main_leaves_first},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (argc > 1 && !strcmp(argv[1], parts[i].name)) {
			parts[i].run();
			return 0;
		}
	fprintf(stderr, "usage: threads PART\n");
	return 2;
}
