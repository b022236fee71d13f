// SPDX-License-Identifier: Apache-2.0
/* The lock guards only the pointer to an entry: the entry may be freed while a thread reads it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct entry {
	char *text;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *cached;

static struct entry *find(void)
{
	struct entry *found;

	pthread_mutex_lock(&lock);
	found = cached;
	pthread_mutex_unlock(&lock);
	return found;
}

static void *evict(void *unused)
{
	struct entry *old;

	pthread_mutex_lock(&lock);
	old = cached;
	cached = NULL;
	pthread_mutex_unlock(&lock);
	old->text = NULL;
	free(old);
	return unused;
}

static void *show(void *unused)
{
	struct entry *e = find();

	if (e)
		printf("%c\n", e->text[0]);
	return unused;
}

int main(void)
{
	static char text[] = "cached";
	pthread_t a, b;

	cached = malloc(sizeof *cached);
	cached->text = text;
	pthread_create(&a, NULL, show, NULL);
	pthread_create(&b, NULL, evict, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
