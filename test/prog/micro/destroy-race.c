// SPDX-License-Identifier: Apache-2.0
// expect: race m 2
// recorded: the worker is done with the mutex before it is destroyed.
/* A mutex is destroyed while another thread may still lock it. */
#include "case.h"

static pthread_mutex_t m;
static int x;
THREAD(work)
{
	UNUSED;
	LOCK(m);
	x++;
	UNLOCK(m);
	return NULL;
}
int main(void)
{
	pthread_t worker;

	pthread_mutex_init(&m, NULL);
	worker = start_settled(work, NULL);
	pthread_mutex_destroy(&m);
	join(worker);
	return x != 1;
}
