// SPDX-License-Identifier: Apache-2.0
/* After Mozilla's I/O: the callback marks the transfer as done before the requester clears the mark and waits
 * for it, so it is written in the wrong order. */
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
