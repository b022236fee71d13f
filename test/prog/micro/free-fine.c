// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the reader is done before the memory is released.
/* As in free-race.c, but the memory is released only after the reader has said that it is done. */
#include "case.h"

static int *table;
static sem_t done;
THREAD(look)
{
	int value = table[3];

	sem_post(&done);
	return value == 7 ? NULL : argument;
}
THREAD(release)
{
	UNUSED;
	sem_wait(&done);
	free(table);
	return NULL;
}
int main(void)
{
	sem_init(&done, 0, 0);
	table = malloc(16 * sizeof *table);
	table[3] = 7;
	run_two(look, release);
	return 0;
}
