// SPDX-License-Identifier: Apache-2.0
/* One of two threads ends the program badly, in the way that the argument names. */
#include <assert.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all;
static int *volatile nothing;
static volatile int never;
static int worked;

static void fail(const char *how)
{
	pthread_mutex_lock(&lock);
	worked++;
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "assert") == 0)
		assert(worked == 2);
	if (strcmp(how, "crash") == 0)
		*nothing = 1;
	if (strcmp(how, "kill") == 0)
		kill(getpid(), SIGKILL);
	if (strcmp(how, "futex") == 0)
		syscall(SYS_futex, &never, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	while (strcmp(how, "spin") == 0 && !never)
		;
	pthread_mutex_unlock(&lock);
}

static void *work(void *how)
{
	pthread_barrier_wait(&all);
	fail(how);
	return NULL;
}

/* The other thread, which does nothing that contributes to the failure. */
static void *idle(void *unused)
{
	pthread_barrier_wait(&all);
	return unused;
}

/* Executes another program, which is not recorded.  If that program does not exist, this one ends
 * with status 5. */
static int become(const char *path)
{
	execl(path, path, "3", (char *)NULL);
	return 5;
}

/* Creates a file to show that it is ready, as a server opens a port; then waits, or leaves. */
static int serve(const char *how)
{
	close(open("serving", O_CREAT | O_WRONLY, 0600));
	return strcmp(how, "leave") ? pause() : 0;
}

int main(int argc, char **argv)
{
	char *how = argc > 1 ? argv[1] : "";
	pthread_t threads[2];

	pthread_barrier_init(&all, NULL, 2);
	pthread_create(&threads[0], NULL, idle, NULL);
	pthread_create(&threads[1], NULL, work, how);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	if (strcmp(how, "exec") == 0)
		return become(argv[2]);
	return strcmp(how, "serve") && strcmp(how, "leave") ? atoi(how) : serve(how);
}
