// SPDX-License-Identifier: Apache-2.0
/*
 * A race that happens only in runs that get all the resources they ask for.  The argument selects
 * what the system refuses from the second run on (when the file "seen" exists): memory, threads or
 * descriptors.  With "limits" the program sets its own limits, to more than it needs.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int value;

static void *count(void *unused)
{
	value++;
	return unused;
}

static void refuse(int resource)
{
	struct rlimit none = {0, 0};

	if (access("seen", F_OK) == 0 && setrlimit(resource, &none) != 0)
		abort();
}

static int has_memory(void)
{
	char *block;

	refuse(RLIMIT_AS);
	block = malloc(1 << 24);
	free(block);
	return block != NULL;
}

static int has_thread(pthread_t *thread)
{
	pthread_attr_t large;

	refuse(RLIMIT_AS);
	pthread_attr_init(&large);
	pthread_attr_setstacksize(&large, 1 << 26);
	return pthread_create(thread, &large, count, NULL) == 0;
}

static int has_descriptor(void)
{
	int file;

	refuse(RLIMIT_NOFILE);
	file = open("/dev/null", O_RDONLY);
	if (file >= 0)
		close(file);
	return file >= 0;
}

/* getrlimit() must return the limit that setrlimit() set, and malloc() must obey it. */
static void limit_itself(int resource)
{
	struct rlimit limit = {200 << 20, 200 << 20}, told;

	if (setrlimit(resource, &limit) || getrlimit(resource, &told) || told.rlim_cur != limit.rlim_cur ||
	    told.rlim_max != limit.rlim_max || malloc(300 << 20))
		abort();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	pthread_t threads[2];
	int made = 1;

	if (!strcmp(what, "limits")) {
		limit_itself(RLIMIT_DATA);
		limit_itself(RLIMIT_AS);
	}
	pthread_create(&threads[0], NULL, count, NULL);
	if ((!strcmp(what, "memory") && !has_memory()) || (!strcmp(what, "descriptors") && !has_descriptor()))
		made = 0;
	else if (!strcmp(what, "threads"))
		made = has_thread(&threads[1]);
	else
		pthread_create(&threads[1], NULL, count, NULL);
	pthread_join(threads[0], NULL);
	if (made)
		pthread_join(threads[1], NULL);
	else
		_exit(3);
	return 0;
}
