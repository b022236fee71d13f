// SPDX-License-Identifier: Apache-2.0
/* Each thread tests whether one is left before it takes it.  If both find one, left becomes -1. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int left = 1;

static int has(void)
{
	int some;

	pthread_mutex_lock(&lock);
	some = left > 0;
	pthread_mutex_unlock(&lock);
	return some;
}

static void take(void)
{
	pthread_mutex_lock(&lock);
	left--;
	assert(left >= 0);
	pthread_mutex_unlock(&lock);
}

static void *user(void *unused)
{
	if (has())
		take();
	return unused;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, user, NULL);
	pthread_create(&b, NULL, user, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
