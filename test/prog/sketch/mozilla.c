// SPDX-License-Identifier: Apache-2.0
/* After Mozilla's I/O: the callback may clear `pending` before the requester sets it.  Then the
 * transfer seems to be pending forever. */
#include <assert.h>
#include <pthread.h>

static int pending, done;
static pthread_t callback_thread;

static void *callback(void *unused)
{
	pending = 0;
	done = 1;
	return unused;
}

static void start(void)
{
	pthread_create(&callback_thread, NULL, callback, NULL);
	pending = 1;
}

int main(void)
{
	start();
	pthread_join(callback_thread, NULL);
	assert(!pending);
	return !done;
}
