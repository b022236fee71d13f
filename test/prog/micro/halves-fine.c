// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: one thread is done before the other begins.
/* Each thread writes its own half of an array. */
#include "case.h"

static int cells[64];
THREAD(fill)
{
	int first = argument ? 32 : 0;

	for (int i = first; i < first + 32; i++)
		cells[i]++;
	return NULL;
}
int main(void)
{
	pthread_t a = start_settled(fill, NULL), b = start(fill, cells);

	join(a);
	join(b);
	return cells[0] != 1;
}
