// SPDX-License-Identifier: Apache-2.0
/* Each bound is accessed under a lock, but not both at once.  A reader between the two writes sees
 * bounds of different ranges. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int low = 1, high = 5;

static void set(int *bound, int value)
{
	pthread_mutex_lock(&lock);
	*bound = value;
	pthread_mutex_unlock(&lock);
}

static int get(const int *bound)
{
	int value;

	pthread_mutex_lock(&lock);
	value = *bound;
	pthread_mutex_unlock(&lock);
	return value;
}

static void *move(void *unused)
{
	set(&low, 11);
	set(&high, 15);
	return unused;
}

static void *look(void *unused)
{
	int from = get(&low);
	int to = get(&high);

	assert(from <= to);
	return unused;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, move, NULL);
	pthread_create(&b, NULL, look, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
