// SPDX-License-Identifier: Apache-2.0
/*
 * A test with annotations (raddle/annotate.h).  The first argument selects which of them it uses.
 */
#include "raddle/annotate.h"

#include <string.h>

RADDLE_EXPLORE_LATER;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char order[4];
static unsigned count;

static void *come(void *name)
{
	pthread_mutex_lock(&lock);
	order[count++] = *(const char *)name;
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* Starts two threads and returns the name of the one that got the lock first. */
static char first_of_two(void)
{
	char names[] = "ab";
	pthread_t threads[2];

	count = 0;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, come, &names[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return order[0];
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	char first;

	if (!strcmp(what, "later")) /* before the explored part begins */
		raddle_assert(first_of_two() == 'a');
	raddle_explore_here();
	if (!strcmp(what, "choose")) {
		unsigned a = raddle_choose(3), b = raddle_choose(4);

		raddle_assert(a < 3 && b < 4);
		raddle_assert(a != 2 || b != 3);
	}
	first = first_of_two();
	if (!strcmp(what, "assume"))
		raddle_assume(first == 'a');
	if (!strcmp(what, "assume") || !strcmp(what, "assert"))
		raddle_assert(first == 'a');
	if (!strcmp(what, "never"))
		raddle_assume(first == 'c');
	return 0;
}
