// SPDX-License-Identifier: Apache-2.0
// expect: race name[]
// recorded: the writer is done before the reader begins.
/* No code of the program reads name: snprintf() does, for the conversion %s. */
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
	UNLOCK(m);
	snprintf(text, sizeof text, "%d <%.*s>", 1, 8, name);
	return NULL;
}
int main(void)
{
	strcpy(name, "somebody");
	run_two(give, print);
	return 0;
}
