// SPDX-License-Identifier: Apache-2.0
/* Each thread makes, reverses and frees its own linked list. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct item {
	struct item *next;
	int value;
	char name[12];
};

static void *work(void *argument)
{
	long me = (long)argument, sum = 0;
	struct item *head = NULL, *back = NULL;
	for (int i = 0; i < 15; i++) {
		struct item *n = malloc(sizeof *n);
		n->next = head;
		n->value = i * (int)me;
		snprintf(n->name, sizeof n->name, "n%d", i);
		head = n;
	}
	while (head) {
		struct item *n = head;
		head = n->next;
		n->next = back;
		back = n;
	}
	for (struct item *n = back; n; n = n->next)
		sum = sum * 3 + n->value + n->name[1];
	while (back) {
		struct item *n = back->next;
		free(back);
		back = n;
	}
	return (void *)(sum % 100003);
}

int main(void)
{
	pthread_t t[3];
	void *r;
	for (long i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, (void *)(i + 1));
	for (int i = 0; i < 3; i++) {
		pthread_join(t[i], &r);
		printf("%ld\n", (long)r);
	}
	return 0;
}
