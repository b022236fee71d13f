// SPDX-License-Identifier: Apache-2.0
/*
 * Prints the order of its threads.  With an argument, status and standard error depend on it, too.
 */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char order[3];
static int count;

static void *come(void *name)
{
	pthread_mutex_lock(&lock);
	order[count++] = *(const char *)name;
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(int argc, char **argv)
{
	char names[] = "ab";
	pthread_t threads[2];

	(void)argv;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, come, &names[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%c %c\n", order[0], order[1]);
	if (argc > 1 && order[0] == 'b')
		fputs("late\n", stderr);
	return argc > 1 ? order[0] == 'b' ? 3 : 4 : 0;
}
