// SPDX-License-Identifier: Apache-2.0
// recorded: the writer is done before the reader begins.
/* As in printed-race.c, but snprintf() is called under the lock. */
#include "case.h"

MUTEX(m);
static char name[16];
THREAD(give)
{
	UNUSED;
	LOCK(m);
	name[3] = 'x';
	UNLOCK(m);
	return NULL;
}
THREAD(print)
{
	char text[32];

	UNUSED;
	LOCK(m);
	snprintf(text, sizeof text, "%d <%.*s>", 1, 8, name);
	UNLOCK(m);
	return NULL;
}
int main(void)
{
	strcpy(name, "somebody");
	run_two(give, print);
	return 0;
}
