// SPDX-License-Identifier: Apache-2.0
// expect: race mode
// drop: race data 1
// recorded: main has set the mode before the thread looks at it.
/* Whether the thread writes the data depends on the mode, and its read of the mode races. */
#include "case.h"

MUTEX(m);
static int mode, data;
THREAD(look)
{
	settle();
	LOCK(m);
	UNLOCK(m);
	if (mode)
		data = 1;
	return argument;
}
int main(void)
{
	pthread_t looker = start(look, NULL);

	data = 2;
	LOCK(m);
	UNLOCK(m);
	mode = 1;
	join(looker);
	return 0;
}
