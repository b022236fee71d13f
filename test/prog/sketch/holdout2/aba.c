// SPDX-License-Identifier: Apache-2.0
/* The ABA problem: the first node is removed and put back while pop() has its old successor. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static int next[4] = {1, 2, 3, -1};
static atomic_int head;
static int used[4];

static int pop(void)
{
	int first, second;

	do {
		first = atomic_load(&head);
		second = next[first];
	} while (!atomic_compare_exchange_strong(&head, &first, second));
	return first;
}

static void push(int node)
{
	int first = atomic_load(&head);

	do
		next[node] = first;
	while (!atomic_compare_exchange_strong(&head, &first, node));
}

static void *one(void *unused)
{
	pop();
	used[pop()]++;
	return unused;
}

static void *two(void *unused)
{
	int a = pop();

	used[pop()]++;
	push(a);
	return unused;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, one, NULL);
	pthread_create(&b, NULL, two, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	assert(used[1] < 2);
	return 0;
}
