// SPDX-License-Identifier: Apache-2.0
// expect: race cells[] 1
// recorded: one thread is done before the other begins.
/* Each thread writes one half of an array; one element belongs to both halves. */
#include "case.h"

static int cells[64];
THREAD(fill)
{
	int first = argument ? 32 : 0;

	for (int i = first; i < first + 33 && i < 64; i++)
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
