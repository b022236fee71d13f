// SPDX-License-Identifier: Apache-2.0
// expect: race done
// recorded: the thread is done before main looks again.
/* A detached thread sets a plain variable when it has finished. */
#include "case.h"

static volatile int done;
THREAD(work)
{
	UNUSED;
	done = 1;
	return NULL;
}
int main(void)
{
	pthread_detach(start(work, NULL));
	while (!done)
		settle();
	return 0;
}
