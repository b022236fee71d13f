// SPDX-License-Identifier: Apache-2.0
/*
 * A test in the style of Check: it loses an update in some schedules, and runs in a separate
 * process unless CK_FORK disables that.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum;

static void *add(void *unused)
{
	int seen;

	pthread_mutex_lock(&lock);
	seen = sum;
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&lock);
	sum = seen + 1;
	pthread_mutex_unlock(&lock);
	return unused;
}

static int test(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, add, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return sum != 2;
}

int main(void)
{
	const char *how = getenv("CK_FORK");
	int status = 0;
	pid_t child;

	if (how && strcmp(how, "no") == 0)
		return test();
	child = fork();
	if (child == 0)
		_exit(test());
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}
