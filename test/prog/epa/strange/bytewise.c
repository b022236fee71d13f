/* SPDX-License-Identifier: Apache-2.0 */
/* List elements, which contain pointers, are copied byte by byte. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct element {
	struct element *next;
	int value;
};

static void copy(void *to, const void *from, size_t count)
{
	unsigned char *a = to;
	const unsigned char *b = from;
	while (count-- != 0)
		*a++ = *b++;
}

static void *work(void *argument)
{
	struct element *list = NULL, first;
	long sum = 0;
	for (int i = 0; i < 10; i++) {
		struct element one = {list, i + (int)(long)argument};
		list = malloc(sizeof one);
		copy(list, &one, sizeof one);
	}
	while (list != NULL) {
		copy(&first, list, sizeof first);
		sum = sum * 7 + first.value;
		free(list);
		list = first.next;
	}
	return (void *)sum;
}

int main(void)
{
	pthread_t threads[3];
	for (long i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i) != 0)
			abort();
	for (int i = 0; i < 3; i++) {
		void *sum;
		pthread_join(threads[i], &sum);
		printf("%ld\n", (long)sum);
	}
	return 0;
}
