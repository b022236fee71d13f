/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that use GLib, selected by number.  Those below RACY are correct; the others race on
 * `total`.  Without an argument, RACY and the number of programs are printed.
 */
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>

static int total;
static GMutex mutex, other;
static GCond cond;
static GRWLock rwlock;
static GRecMutex recursive;
static GAsyncQueue *queue;
static gboolean ready;

static void run(GThreadFunc function, int count)
{
	GThread *threads[4];

	for (int i = 0; i < count; i++)
		threads[i] = g_thread_new("worker", function, NULL);
	for (int i = 0; i < count; i++)
		g_thread_join(threads[i]);
}

static gpointer add_locked(gpointer unused)
{
	for (int i = 0; i < 5; i++) {
		g_mutex_lock(&mutex);
		total++;
		g_mutex_unlock(&mutex);
	}
	return unused;
}

static gpointer add_tried(gpointer unused)
{
	while (!g_mutex_trylock(&mutex))
		g_thread_yield();
	total++;
	g_mutex_unlock(&mutex);
	return unused;
}

static void with_mutex(void)
{
	run(add_locked, 3);
	run(add_tried, 2);
}

static gpointer tell(gpointer unused)
{
	total = 5;
	g_mutex_lock(&mutex);
	ready = TRUE;
	g_cond_signal(&cond);
	g_mutex_unlock(&mutex);
	return unused;
}

static void with_cond(void)
{
	GThread *t = g_thread_new("tell", tell, NULL);

	g_mutex_lock(&mutex);
	while (!ready)
		g_cond_wait_until(&cond, &mutex, g_get_monotonic_time() + 1000000);
	g_mutex_unlock(&mutex);
	total++;
	g_thread_join(t);
}

static gpointer read_and_write(gpointer unused)
{
	g_rw_lock_reader_lock(&rwlock);
	if (total > 100)
		abort();
	g_rw_lock_reader_unlock(&rwlock);
	g_rw_lock_writer_lock(&rwlock);
	total++;
	g_rw_lock_writer_unlock(&rwlock);
	return unused;
}

static void with_rwlock(void)
{
	run(read_and_write, 2);
}

static gpointer add_twice(gpointer unused)
{
	g_rec_mutex_lock(&recursive);
	g_rec_mutex_lock(&recursive);
	total += 2;
	g_rec_mutex_unlock(&recursive);
	g_rec_mutex_unlock(&recursive);
	return unused;
}

static void with_recursion(void)
{
	run(add_twice, 2);
}

static gpointer produce(gpointer unused)
{
	for (int i = 1; i <= 3; i++) {
		int *item = g_new(int, 1);

		*item = i;
		g_async_queue_push(queue, item);
	}
	return unused;
}

static void consume(int count)
{
	for (int i = 0; i < count; i++) {
		int *item = i % 2 ? g_async_queue_pop(queue) : g_async_queue_timeout_pop(queue, 10000000);

		total += *item;
		g_free(item);
	}
}

static void with_queue(void)
{
	GThread *t[2];

	queue = g_async_queue_new();
	for (int i = 0; i < 2; i++)
		t[i] = g_thread_new("produce", produce, NULL);
	consume(6);
	for (int i = 0; i < 2; i++)
		g_thread_join(t[i]);
	g_async_queue_unref(queue);
}

static gpointer prepare(gpointer unused)
{
	total = 7;
	return unused;
}

static gpointer use_once(gpointer unused)
{
	static GOnce once = G_ONCE_INIT;
	static gsize initialised;
	static int value;

	g_once(&once, prepare, NULL);
	if (g_once_init_enter(&initialised)) {
		value = total;
		g_once_init_leave(&initialised, 1);
	}
	if (value != total)
		abort();
	return unused;
}

static void with_once(void)
{
	run(use_once, 3);
}

static void work(gpointer data, gpointer pool)
{
	int *item = data;

	(void)pool;
	g_mutex_lock(&other);
	total += *item;
	g_mutex_unlock(&other);
	*item = 0;
}

static void with_pool(void)
{
	GThreadPool *pool = g_thread_pool_new(work, NULL, 2, FALSE, NULL);
	int items[4];

	for (int i = 0; i < 4; i++) {
		items[i] = i + 1;
		g_thread_pool_push(pool, &items[i], NULL);
	}
	g_thread_pool_free(pool, FALSE, TRUE);
	for (int i = 0; i < 4; i++)
		total += items[i];
}

static gint word;
static gpointer pointer;

static gpointer add_with_bits(gpointer unused)
{
	g_bit_lock(&word, 3);
	g_pointer_bit_lock(&pointer, 0);
	total++;
	g_pointer_bit_unlock(&pointer, 0);
	g_bit_unlock(&word, 3);
	while (!g_bit_trylock(&word, 3))
		g_thread_yield();
	total++;
	g_bit_unlock(&word, 3);
	return unused;
}

static void with_bits(void)
{
	run(add_with_bits, 3);
}

static gpointer add(gpointer unused)
{
	total++;
	return unused;
}

static void without_lock(void)
{
	run(add, 2);
}

static gpointer add_by_other(gpointer unused)
{
	g_mutex_lock(&other);
	total++;
	g_mutex_unlock(&other);
	return unused;
}

static void with_two_locks(void)
{
	GThread *a = g_thread_new("a", add_locked, NULL), *b = g_thread_new("b", add_by_other, NULL);

	g_thread_join(a);
	g_thread_join(b);
}

static gpointer add_with_bit(gpointer number)
{
	g_bit_lock(&word, GPOINTER_TO_INT(number));
	total++;
	g_bit_unlock(&word, GPOINTER_TO_INT(number));
	return NULL;
}

static void with_two_bits(void)
{
	GThread *a = g_thread_new("a", add_with_bit, GINT_TO_POINTER(1));
	GThread *b = g_thread_new("b", add_with_bit, GINT_TO_POINTER(2));

	g_thread_join(a);
	g_thread_join(b);
}

static void push_and_add(gpointer data, gpointer unused)
{
	(void)data;
	(void)unused;
	total++;
}

static void with_racy_pool(void)
{
	GThreadPool *pool = g_thread_pool_new(push_and_add, NULL, 2, TRUE, NULL);

	g_thread_pool_push(pool, pool, NULL);
	g_thread_pool_push(pool, pool, NULL);
	total++;
	g_thread_pool_free(pool, FALSE, TRUE);
}

static gpointer push_early(gpointer unused)
{
	g_async_queue_push(queue, &total);
	total++;
	return unused;
}

static void with_late_write(void)
{
	GThread *t;

	queue = g_async_queue_new();
	t = g_thread_new("early", push_early, NULL);
	++*(int *)g_async_queue_pop(queue);
	g_thread_join(t);
	g_async_queue_unref(queue);
}

static void (*const programs[])(void) = {
	with_mutex, with_cond,	  with_rwlock,	  with_recursion, with_queue,	   with_once,	  with_pool,
	with_bits,  without_lock, with_two_locks, with_racy_pool, with_late_write, with_two_bits,
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
