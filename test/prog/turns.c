// SPDX-License-Identifier: Apache-2.0
/*
 * Programs whose output depends only on the order of their threads (test/cli/turns.sh).
 *
 *	race     two threads write x, which main prints
 *	letters  three threads print their letter under a lock
 *	count    two threads add to a counter by a read and a write, which the other may separate
 *	update   the same with the read and the write in one statement
 *	spin     a thread reads a flag until another one has set it
 *	sleep    as spin, but with a sleep between two reads
 *	queue    three threads take numbers from a queue, with a condition variable
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define THREADS 3

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int x, items;
static volatile int counter, flag;
static char said[64];

static void say(int c)
{
	size_t n = strlen(said);

	said[n] = (char)c;
}

static void race(int c)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	if (c == 'a')
		x = 'a';
	if (c == 'b')
		x = 'b';
}

static void letters(int c)
{
	pthread_mutex_lock(&lock);
	say(c);
	pthread_mutex_unlock(&lock);
}

static __attribute__((noinline)) int get(void)
{
	return counter;
}

static __attribute__((noinline)) void put(int n)
{
	counter = n;
}

static void count(int c)
{
	for (int i = 0; i < 2 && c != 'c'; i++)
		put(get() + 1);
}

static void update(int c)
{
	for (int i = 0; i < 2 && c != 'c'; i++)
		counter = counter + 1;
}

static void spin(int c)
{
	while (c == 'a' && !flag)
		;
	say(c);
	if (c == 'b')
		flag = 1;
}

static void nap(int c)
{
	while (c == 'a' && !flag)
		usleep(1000);
	say(c);
	if (c == 'b')
		flag = 1;
}

static void queue(int c)
{
	pthread_mutex_lock(&lock);
	while (!items)
		pthread_cond_wait(&filled, &lock);
	items--;
	say(c);
	pthread_mutex_unlock(&lock);
}

static const struct {
	const char *name;
	void (*work)(int c);
} rows[] = {{"race", race}, {"letters", letters}, {"count", count}, {"update", update},
	    {"spin", spin}, {"sleep", nap},	  {"queue", queue}};
static void (*work)(int c);

static void *thread(void *c)
{
	work((int)(long)c);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	for (size_t i = 0; argc > 1 && i < sizeof rows / sizeof *rows; i++)
		if (!strcmp(rows[i].name, argv[1]))
			work = rows[i].work;
	if (!work)
		return 2;
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, thread, (void *)('a' + i));
	for (int i = 0; i < THREADS && work == queue; i++) {
		pthread_mutex_lock(&lock);
		items++;
		pthread_cond_signal(&filled);
		pthread_mutex_unlock(&lock);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%s%c%d\n", said, x ? x : '-', counter);
	return 0;
}
