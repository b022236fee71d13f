// SPDX-License-Identifier: Apache-2.0
/* After Cherokee 0.9.2: two threads refresh one cached time string, and one reads it while the
 * other has only half updated it. */
#include <assert.h>
#include <pthread.h>

static int length;

static void *refresh(void *unused)
{
	length = 0;
	length = 29;
	assert(length == 29);
	return unused;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, refresh, NULL);
	pthread_create(&b, NULL, refresh, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
