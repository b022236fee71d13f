/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that use libuv, selected by number.  Those below RACY are correct; the others race on
 * `total`.  Without an argument, RACY and the number of programs are printed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

static int total, ready;
static uv_mutex_t mutex;
static uv_cond_t cond;
static uv_rwlock_t rwlock;
static uv_sem_t sem;
static uv_barrier_t barrier;
static uv_once_t once = UV_ONCE_INIT;
static uv_async_t async;

static void run(uv_thread_cb function, int count)
{
	uv_thread_t threads[4];

	for (int i = 0; i < count; i++)
		uv_thread_create(&threads[i], function, NULL);
	for (int i = 0; i < count; i++)
		uv_thread_join(&threads[i]);
}

static void add_locked(void *unused)
{
	(void)unused;
	uv_mutex_lock(&mutex);
	total++;
	uv_mutex_unlock(&mutex);
}

static void with_mutex(void)
{
	uv_mutex_init(&mutex);
	run(add_locked, 3);
	uv_mutex_destroy(&mutex);
}

static void tell(void *unused)
{
	(void)unused;
	total = 5;
	uv_mutex_lock(&mutex);
	ready = 1;
	uv_cond_signal(&cond);
	uv_mutex_unlock(&mutex);
}

static void with_cond(void)
{
	uv_thread_t t;

	uv_mutex_init(&mutex);
	uv_cond_init(&cond);
	uv_thread_create(&t, tell, NULL);
	uv_mutex_lock(&mutex);
	while (!ready)
		uv_cond_wait(&cond, &mutex);
	uv_mutex_unlock(&mutex);
	total++;
	uv_thread_join(&t);
}

static void read_and_write(void *unused)
{
	(void)unused;
	uv_rwlock_rdlock(&rwlock);
	if (total > 100)
		abort();
	uv_rwlock_rdunlock(&rwlock);
	uv_rwlock_wrlock(&rwlock);
	total++;
	uv_rwlock_wrunlock(&rwlock);
}

static void with_rwlock(void)
{
	uv_rwlock_init(&rwlock);
	run(read_and_write, 2);
}

static void give(void *unused)
{
	(void)unused;
	total = 4;
	uv_sem_post(&sem);
}

static void with_sem(void)
{
	uv_thread_t t;

	uv_sem_init(&sem, 0);
	uv_thread_create(&t, give, NULL);
	uv_sem_wait(&sem);
	total++;
	uv_thread_join(&t);
}

static int parts[2];

static void meet(void *number)
{
	parts[(size_t)number] = 1;
	uv_barrier_wait(&barrier);
	if (parts[0] + parts[1] != 2)
		abort();
}

static void with_barrier(void)
{
	uv_thread_t t;

	uv_barrier_init(&barrier, 2);
	uv_thread_create(&t, meet, (void *)1);
	meet(NULL);
	uv_thread_join(&t);
	total = parts[0] + parts[1];
}

static void prepare(void)
{
	total = 7;
}

static void use_once(void *unused)
{
	(void)unused;
	uv_once(&once, prepare);
	if (total != 7)
		abort();
}

static void with_once(void)
{
	run(use_once, 3);
}

static void work(uv_work_t *job)
{
	*(int *)job->data += 2;
}

static void work_done(uv_work_t *job, int status)
{
	(void)status;
	total += *(int *)job->data;
}

static void with_work(void)
{
	uv_work_t jobs[3];
	int data[3];

	for (int i = 0; i < 3; i++) {
		data[i] = i;
		jobs[i].data = &data[i];
		uv_queue_work(uv_default_loop(), &jobs[i], work, work_done);
	}
	uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}

static void woken(uv_async_t *handle)
{
	total++;
	uv_close((uv_handle_t *)handle, NULL);
}

static void wake_loop(void *unused)
{
	(void)unused;
	total = 8;
	uv_async_send(&async);
}

static void with_async(void)
{
	uv_thread_t t;

	uv_async_init(uv_default_loop(), &async, woken);
	uv_thread_create(&t, wake_loop, NULL);
	uv_run(uv_default_loop(), UV_RUN_DEFAULT);
	uv_thread_join(&t);
}

static void add(void *unused)
{
	(void)unused;
	total++;
}

static void without_lock(void)
{
	run(add, 2);
}

/* The barrier forces two threads of the pool to run the two jobs at the same time. */
static void add_work(uv_work_t *job)
{
	(void)job;
	uv_barrier_wait(&barrier);
	total++;
}

static void with_racy_work(void)
{
	uv_work_t jobs[2];

	uv_barrier_init(&barrier, 2);
	for (int i = 0; i < 2; i++)
		uv_queue_work(uv_default_loop(), &jobs[i], add_work, NULL);
	uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}

static void send_early(void *unused)
{
	(void)unused;
	uv_async_send(&async);
	total = 8;
}

static void with_early_send(void)
{
	uv_thread_t t;

	uv_async_init(uv_default_loop(), &async, woken);
	uv_thread_create(&t, send_early, NULL);
	uv_run(uv_default_loop(), UV_RUN_DEFAULT);
	uv_thread_join(&t);
}

static void (*const programs[])(void) = {
	with_mutex, with_cond,	with_rwlock,  with_sem,	      with_barrier,    with_once,
	with_work,  with_async, without_lock, with_racy_work, with_early_send,
};
enum { COUNT = sizeof programs / sizeof programs[0], RACY = 8 };

int main(int argc, char **argv)
{
	if (argc < 2) {
		printf("%d %d\n", RACY, COUNT);
		return 0;
	}
	programs[atoi(argv[1]) % COUNT]();
	printf("%d\n", total);
	return 0;
}
