// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the first thread is done before the second begins.
/* google/sanitizers #488: one thread relocks a after b; the other never holds both locks. */
#include "case.h"

MUTEX(a);
MUTEX(b);
THREAD(first)
{
	UNUSED;
	LOCK(a);
	LOCK(b);
	UNLOCK(a);
	LOCK(a);
	UNLOCK(a);
	UNLOCK(b);
	return NULL;
}
THREAD(second)
{
	UNUSED;
	LOCK(a);
	UNLOCK(a);
	LOCK(b);
	UNLOCK(b);
	return NULL;
}
int main(void)
{
	run_two(first, second);
	return 0;
}
