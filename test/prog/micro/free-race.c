// SPDX-License-Identifier: Apache-2.0
// expect: race heap 1
// recorded: the reader is done before the memory is released.
/* Memory is released while another thread may still read it. */
#include "case.h"

static int *table;
THREAD(look)
{
	return table[3] == 7 ? NULL : argument;
}
THREAD(release)
{
	UNUSED;
	free(table);
	return NULL;
}
int main(void)
{
	table = malloc(16 * sizeof *table);
	table[3] = 7;
	run_two(look, release);
	return 0;
}
