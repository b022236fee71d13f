// SPDX-License-Identifier: Apache-2.0
/* Messages pass through a box for one message, which two semaphores protect. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct message {
	int number;
	char *text;
};
static struct message *box;
static sem_t full, empty;

static void *receive(void *argument)
{
	long sum = 0;
	(void)argument;
	for (;;) {
		sem_wait(&full);
		struct message *m = box;
		sem_post(&empty);
		if (!m)
			return (void *)sum;
		sum = sum * 7 % 100003 + m->number + (long)strlen(m->text);
		free(m->text);
		free(m);
	}
}

static void put(struct message *m)
{
	sem_wait(&empty);
	box = m;
	sem_post(&full);
}

int main(void)
{
	pthread_t t;
	void *r;
	sem_init(&full, 0, 0);
	sem_init(&empty, 0, 1);
	pthread_create(&t, NULL, receive, NULL);
	for (int i = 0; i < 9; i++) {
		struct message *m = malloc(sizeof *m);
		m->number = i * i;
		m->text = malloc((size_t)i + 2);
		memset(m->text, 'm', (size_t)i + 1);
		m->text[i + 1] = 0;
		put(m);
	}
	put(NULL);
	pthread_join(t, &r);
	printf("%ld\n", (long)r);
	return 0;
}
