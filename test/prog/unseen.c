// SPDX-License-Identifier: Apache-2.0
/* Correct programs whose threads are ordered or woken by something other than
 * an ordinary lock operation, selected by the argument.  "file": a thread polls
 * for a file that the other makes after its write.  "cancel": a thread that
 * waits for a condition is cancelled.  "robust": a thread ends while it holds a
 * robust mutex. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int value;

static void *make_file(void *unused)
{
	value = 1;
	close(open("made", O_CREAT | O_WRONLY, 0600));
	return unused;
}

static int use_file(void)
{
	struct stat s;
	pthread_t other;
	int seen;

	unlink("made");
	pthread_create(&other, NULL, make_file, NULL);
	while (stat("made", &s))
		usleep(1000);
	seen = value;
	pthread_join(other, NULL);
	return seen != 1;
}

static void leave(void *unused)
{
	(void)unused;
	value++;
	pthread_mutex_unlock(&mutex);
}

static void *wait_on(void *unused)
{
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(leave, NULL);
	for (;;)
		pthread_cond_wait(&never, &mutex);
	pthread_cleanup_pop(1);
	return unused;
}

static int cancel(void)
{
	pthread_t other;

	pthread_create(&other, NULL, wait_on, NULL);
	usleep(1000);
	pthread_cancel(other);
	return pthread_join(other, NULL) || value != 1;
}

static void *take_along(void *unused)
{
	return pthread_mutex_lock(&mutex) ? &mutex : unused;
}

static int take_robust(void)
{
	pthread_mutexattr_t robust;
	pthread_t other;
	int result;

	pthread_mutexattr_init(&robust);
	pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&mutex, &robust);
	pthread_create(&other, NULL, take_along, NULL);
	result = pthread_mutex_lock(&mutex);
	if (result == EOWNERDEAD)
		pthread_mutex_consistent(&mutex);
	pthread_mutex_unlock(&mutex);
	return pthread_join(other, NULL) || (result && result != EOWNERDEAD);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	return !strcmp(what, "file") ? use_file() : !strcmp(what, "cancel") ? cancel() : take_robust();
}
