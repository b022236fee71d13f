// SPDX-License-Identifier: Apache-2.0
/* Two threads set the state of a job.  If the user's write is last, a done job looks cancelled. */
#include <assert.h>
#include <pthread.h>

enum { IDLE, CANCELLED, DONE };
static volatile int state = IDLE;
static volatile int result;

static void *job(void *unused)
{
	result = 42;
	state = DONE;
	return unused;
}

static void *user(void *unused)
{
	state = CANCELLED;
	return unused;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, user, NULL);
	pthread_create(&b, NULL, job, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	assert(state == DONE);
	return 0;
}
